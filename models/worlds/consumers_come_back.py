"""Consumers that die, come back or leave, and what becomes of their segments."""

from models.worlds.half_open_connections import LISTENS_TO_ONE, OF_SESSIONS, WITHOUT_FAILURES_OF_BROKERS
from spec.protocols.connections import Connections, the_dead_are_evicted
from spec.protocols.coordination import Coordination
from spec.protocols.election import Election
from spec.world import Holds, Violated, World

WORLD = World(
    name="consumers-come-back",
    asks="If consumers die, start again, lose connections and leave, does a return disturb nobody, and are "
    "the segments of those who stay away taken over?",
    machines=(Election, Coordination, Connections),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 2,
        "initial_segments": 2,
        "crashes": 0,
        "expiries": 0,
        "consumers": 2,
        "drops": 1,
        "deaths": 1,
        "leaves": 1,
    },
    properties=OF_SESSIONS,
    idle=(*WITHOUT_FAILURES_OF_BROKERS, *LISTENS_TO_ONE, "deal_again"),
    expect=Holds(states=12_625, depth=22),
)

WORLDS = (
    WORLD,
    WORLD.without(
        "late_registrations_are_ignored",
        Violated("the_dead_are_evicted", steps=10),
        properties=(the_dead_are_evicted,),
    ),
    WORLD.as_written(Violated("nobody_is_evicted_while_connected", steps=7)),
)
