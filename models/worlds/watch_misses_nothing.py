"""Does every layout reach every client, whichever broker serves it and whatever is lost on the way?"""

from dataclasses import replace

from spec.protocols.topic import Topic
from spec.protocols.watching import (
    Watching,
    a_layout_came_without_a_leader,
    an_epoch_is_skipped,
    an_update_comes_too_late,
    clients_learn_the_published_layout,
    clients_never_go_back,
    clients_that_wait_go_on,
    forsaken_sessions_end,
    updates_are_not_lost,
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
        "segments": 3,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 1,
        "publications": 1,
        "recreations": 0,
        "disconnections": 1,
    },
    properties=(
        clients_never_go_back,
        updates_are_not_lost,
        clients_learn_the_published_layout,
        clients_that_wait_go_on,
        forsaken_sessions_end,
        a_layout_came_without_a_leader,
        an_update_comes_too_late,
    ),
    idle=("delete_topic", "create_topic_again", "notice_lost_broker"),
    expect=Holds(states=8_637, depth=19),
)

EVERYTHING_AT_ONCE = replace(
    WATCH_MISSES_NOTHING,
    name="watch-misses-nothing-large",
    bounds={**WATCH_MISSES_NOTHING.bounds, "publications": 2, "segments": 5},
    expect=Holds(states=48_144, depth=22),
    large=True,
)

WATCH_JUMPS_OVER_LAYOUTS = replace(
    WATCH_MISSES_NOTHING,
    name="watch-jumps-over-layouts",
    asks="When several layouts are published between two updates, does a client learn the last of them?",
    bounds={**WATCH_MISSES_NOTHING.bounds, "publications": 2, "segments": 5, "disconnections": 0},
    properties=(
        clients_never_go_back,
        clients_learn_the_published_layout,
        clients_that_wait_go_on,
        an_epoch_is_skipped,
    ),
    idle=("delete_topic", "create_topic_again", "notice_lost_broker", "disconnect", "end_session"),
    expect=Holds(states=725, depth=14),
)

WORLDS = (
    WATCH_MISSES_NOTHING,
    WATCH_MISSES_NOTHING.without(
        "watches_before_loading", Violated("clients_learn_the_published_layout", steps=7)
    ),
    WATCH_MISSES_NOTHING.without("clients_keep_the_latest", Violated("clients_never_go_back", steps=13)),
    WATCH_MISSES_NOTHING.without(
        "lost_sessions_read_again", Violated("clients_learn_the_published_layout", steps=8)
    ),
    WATCH_MISSES_NOTHING.as_written(Violated("clients_never_go_back", steps=10)),
    WATCH_JUMPS_OVER_LAYOUTS,
    EVERYTHING_AT_ONCE,
)
