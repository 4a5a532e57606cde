"""Does a client that watches a topic see the next one of that name?"""

from spec.protocols.topic import Topic
from spec.protocols.watching import (
    Watching,
    clients_learn_the_published_layout,
    clients_never_go_back,
    clients_that_wait_go_on,
)
from spec.world import Holds, Violated, World

A_NEW_TOPIC_IS_SEEN = World(
    name="a-new-topic-is-seen",
    asks="When a topic is deleted and created again, does a client that watches it get the new one?",
    machines=(Topic, Watching),
    bounds={
        "brokers": 1,
        "clients": 1,
        "subscriptions": 0,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "publications": 1,
        "recreations": 1,
        "disconnections": 0,
    },
    properties=(clients_never_go_back, clients_learn_the_published_layout, clients_that_wait_go_on),
    idle=("disconnect", "notice_lost_broker", "end_session", "expire_watching_session"),
    expect=Holds(states=422, depth=14),
)

WORLDS = (
    A_NEW_TOPIC_IS_SEEN,
    A_NEW_TOPIC_IS_SEEN.without(
        "topics_have_incarnations", Violated("clients_learn_the_published_layout", steps=13)
    ),
)
