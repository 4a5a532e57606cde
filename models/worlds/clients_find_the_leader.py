"""Do clients always learn where the leader is, and is there one again, as long as somebody watches?"""

from spec.protocols.election import Election
from spec.protocols.topic import Topic
from spec.protocols.watching import (
    Watching,
    a_broker_without_a_controller_serves,
    a_watched_topic_gets_a_leader,
    clients_learn_where_the_leader_is,
    forsaken_sessions_end,
    nobody_is_served_by_a_dead_broker,
)
from spec.world import Holds, Violated, World

CLIENTS_FIND_THE_LEADER = World(
    name="clients-find-the-leader",
    asks="When the only broker with a controller is gone, is there a leader again that clients find?",
    machines=(Topic, Election, Watching),
    bounds={
        "brokers": 2,
        "clients": 1,
        "subscriptions": 0,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 1,
        "expiries": 0,
        "publications": 0,
        "recreations": 0,
        "disconnections": 0,
    },
    properties=(
        nobody_is_served_by_a_dead_broker,
        clients_learn_where_the_leader_is,
        a_watched_topic_gets_a_leader,
        a_broker_without_a_controller_serves,
    ),
    idle=(
        "notice_later_term",
        "expire_session",
        "notice_lost_session",
        "publish_next_layout",
        "delete_topic",
        "create_topic_again",
        "disconnect",
        "end_session",
        "expire_watching_session",
    ),
    expect=Holds(states=49_381, depth=25),
)

AFTER_ANOTHER_SESSION = World(
    name="clients-find-the-leader-after-another-session",
    asks="Does a client that opens another session find the leader, although old updates come late?",
    machines=(Topic, Election, Watching),
    bounds={**CLIENTS_FIND_THE_LEADER.bounds, "crashes": 0, "disconnections": 1},
    properties=(
        clients_learn_where_the_leader_is,
        a_watched_topic_gets_a_leader,
        forsaken_sessions_end,
        a_broker_without_a_controller_serves,
    ),
    idle=(
        "notice_later_term",
        "expire_session",
        "notice_lost_session",
        "crash",
        "restart",
        "publish_next_layout",
        "delete_topic",
        "create_topic_again",
        "notice_lost_broker",
        "expire_watching_session",
    ),
    expect=Holds(states=33_731, depth=22),
)

AFTER_A_LOST_SESSION = World(
    name="clients-find-the-leader-after-a-lost-session",
    asks="When a leader, or a broker that serves, loses its session, do clients still find the leader?",
    machines=(Topic, Election, Watching),
    bounds={**CLIENTS_FIND_THE_LEADER.bounds, "crashes": 0, "expiries": 1},
    properties=(
        clients_learn_where_the_leader_is,
        a_watched_topic_gets_a_leader,
        a_broker_without_a_controller_serves,
    ),
    idle=(
        "crash",
        "restart",
        "publish_next_layout",
        "delete_topic",
        "create_topic_again",
        "disconnect",
        "notice_lost_broker",
        "end_session",
    ),
    expect=Holds(states=22_980, depth=19),
)

WORLDS = (
    CLIENTS_FIND_THE_LEADER,
    CLIENTS_FIND_THE_LEADER.without(
        "watches_follow_the_leader", Violated("a_watched_topic_gets_a_leader", steps=10)
    ),
    CLIENTS_FIND_THE_LEADER.without(
        "watches_open_controllers", Violated("a_watched_topic_gets_a_leader", steps=7)
    ),
    CLIENTS_FIND_THE_LEADER.without(
        "watches_push_in_order",
        Violated("clients_learn_where_the_leader_is", steps=11),
        bounds={**CLIENTS_FIND_THE_LEADER.bounds, "crashes": 0},
    ),
    CLIENTS_FIND_THE_LEADER.as_written(Violated("clients_learn_where_the_leader_is", steps=8)),
    AFTER_ANOTHER_SESSION,
    AFTER_ANOTHER_SESSION.without(
        "clients_keep_the_latest", Violated("clients_learn_where_the_leader_is", steps=15)
    ),
    AFTER_A_LOST_SESSION,
)
