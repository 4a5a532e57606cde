"""A leader that has lost its lock and does not know it yet, with consumers, timers and connections."""

from dataclasses import replace

from models.worlds.half_open_connections import LISTENS_TO_ONE, OF_SESSIONS
from spec.protocols.connections import (
    Connections,
    a_name_has_two_connections,
    sessions_of_connected_consumers_stay_stored,
    somebody_died_and_is_back,
)
from spec.protocols.coordination import Coordination, a_rebalance_is_half_stored
from spec.protocols.election import (
    Election,
    a_deposed_leader_acts_beside_its_successor,
    a_topic_gets_a_leader_again,
    one_broker_is_in_office,
)
from spec.world import Holds, Violated, World

WORLD = World(
    name="deposed-leader-keeps-consumers",
    asks="If a deposed leader goes on serving its consumers beside its successor, are all sessions safe from "
    "it, and do all consumers end up with the successor?",
    machines=(Election, Coordination, Connections),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 1,
        "consumers": 2,
        "drops": 0,
        "deaths": 0,
        "leaves": 0,
    },
    properties=(
        one_broker_is_in_office,
        a_topic_gets_a_leader_again,
        a_deposed_leader_acts_beside_its_successor,
        *(p for p in OF_SESSIONS if p not in (a_name_has_two_connections, somebody_died_and_is_back)),
    ),
    idle=(
        *LISTENS_TO_ONE,
        "open_controller",
        "crash",
        "restart",
        "load_before_the_election",
        "deal_again",
        "drop_connection",
        "drop_while_registering",
        "register_late",
        "notice_the_end",
        "die",
        "start_again",
        "leave",
    ),
    expect=Holds(states=30_494, depth=26),
)

LARGE = replace(
    WORLD,
    name="deposed-leader-keeps-consumers-large",
    bounds={**WORLD.bounds, "drops": 1, "deaths": 1, "consumers": 1, "crashes": 1},
    properties=tuple(p for p in OF_SESSIONS if p is not a_rebalance_is_half_stored),
    idle=(*LISTENS_TO_ONE, "load_before_the_election", "deal_again", "leave"),
    expect=Holds(states=385_337, depth=32),
    large=True,
)

WORLDS = (
    WORLD,
    WORLD.without(
        "sessions_are_fenced",
        Violated("sessions_of_connected_consumers_stay_stored", steps=11),
        properties=(sessions_of_connected_consumers_stay_stored,),
    ),
    WORLD.without("leaders_load_after_the_lock", Violated("the_leader_knows_every_session", steps=10)),
    WORLD.without("leaders_hang_up_when_deposed", Violated("nobody_is_evicted_while_connected", steps=11)),
    WORLD.as_written(
        Violated("sessions_of_connected_consumers_stay_stored", steps=11),
        properties=(sessions_of_connected_consumers_stay_stored,),
    ),
    LARGE,
)
