"""Does every layout reach every client, whichever broker serves it and whatever is lost on the way?"""

from spec.protocols.topic import Topic
from spec.protocols.watching import (
    Watching,
    a_layout_came_without_a_leader,
    an_update_comes_too_late,
    clients_learn_the_published_layout,
    clients_never_go_back,
    clients_that_wait_go_on,
    forsaken_sessions_end,
)
from spec.world import Holds, Violated, World

WATCH_MISSES_NOTHING = World(
    name="watch-misses-nothing",
    asks="Without any leader, does a client learn every published layout, and never an older one afterwards?",
    machines=(Topic, Watching),
    bounds={
        "brokers": 2,
        "clients": 1,
        "subscriptions": 0,
        "keys": 1,
        "segments": 5,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 1,
        "publications": 2,
        "recreations": 0,
        "disconnections": 1,
    },
    properties=(
        clients_never_go_back,
        clients_learn_the_published_layout,
        clients_that_wait_go_on,
        forsaken_sessions_end,
        a_layout_came_without_a_leader,
        an_update_comes_too_late,
    ),
    idle=("delete_topic", "create_topic_again", "notice_lost_broker"),
    expect=Holds(states=47_419, depth=22),
)

ONE_LAYOUT = {"publications": 1, "segments": 3}

WORLDS = (
    WATCH_MISSES_NOTHING,
    WATCH_MISSES_NOTHING.without(
        "watches_before_loading",
        Violated("clients_learn_the_published_layout", steps=7),
        bounds={**WATCH_MISSES_NOTHING.bounds, **ONE_LAYOUT},
    ),
    WATCH_MISSES_NOTHING.without(
        "clients_keep_the_latest",
        Violated("clients_never_go_back", steps=13),
        bounds={**WATCH_MISSES_NOTHING.bounds, **ONE_LAYOUT},
    ),
    WATCH_MISSES_NOTHING.without(
        "lost_sessions_read_again",
        Violated("clients_learn_the_published_layout", steps=8),
        bounds={**WATCH_MISSES_NOTHING.bounds, **ONE_LAYOUT},
    ),
    WATCH_MISSES_NOTHING.as_written(Violated("clients_never_go_back", steps=10)),
)
