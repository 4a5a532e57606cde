"""A leader that crashes between the writes of one rebalance, and the leader after it."""

from models.worlds.half_open_connections import LISTENS_TO_ONE, OF_SESSIONS
from spec.protocols.connections import Connections, a_name_has_two_connections, somebody_died_and_is_back
from spec.protocols.coordination import Coordination, every_segment_is_dealt_once
from spec.protocols.election import Election, a_topic_gets_a_leader_again, one_broker_is_in_office
from spec.world import Holds, Violated, World

WORLD = World(
    name="leader-crashes-while-dealing",
    asks="If a leader crashes while it stores a rebalance, does the next one know every consumer, give each "
    "its whole grace period, and deal every segment once?",
    machines=(Election, Coordination, Connections),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 2,
        "initial_segments": 2,
        "crashes": 1,
        "expiries": 0,
        "consumers": 2,
        "drops": 0,
        "deaths": 0,
        "leaves": 0,
    },
    properties=(
        one_broker_is_in_office,
        a_topic_gets_a_leader_again,
        *(p for p in OF_SESSIONS if p not in (a_name_has_two_connections, somebody_died_and_is_back)),
    ),
    idle=(
        *LISTENS_TO_ONE,
        "expire_session",
        "notice_lost_session",
        "notice_later_term",
        "load_before_the_election",
        "deal_again",
        "hang_up",
        "drop_connection",
        "drop_while_registering",
        "register_late",
        "notice_the_end",
        "die",
        "start_again",
        "leave",
    ),
    expect=Holds(states=22_785, depth=26),
)

WORLDS = (
    WORLD,
    WORLD.without("restores_deal_anew", Violated("every_segment_is_dealt_once", steps=10)),
    WORLD.as_written(
        Violated("every_segment_is_dealt_once", steps=10), properties=(every_segment_is_dealt_once,)
    ),
)
