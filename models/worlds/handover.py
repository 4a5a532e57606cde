"""A segment goes from one consumer to the next while messages are in hand."""

from dataclasses import replace

from models.worlds.half_open_connections import LISTENS_TO_ONE, OF_SESSIONS, WITHOUT_FAILURES_OF_BROKERS
from spec.protocols.connections import (
    Connections,
    a_name_has_two_connections,
    somebody_died_and_is_back,
    somebody_was_evicted_alive,
)
from spec.protocols.consuming import (
    Consuming,
    a_child_is_read_after_all_its_ancestors,
    nothing_is_acknowledged_unhandled,
    somebody_reads_a_child,
)
from spec.protocols.coordination import Coordination
from spec.protocols.election import Election
from spec.protocols.topic import keys_stay_in_order
from spec.world import Holds, Violated, World

NOT_HERE = (
    *WITHOUT_FAILURES_OF_BROKERS,
    *LISTENS_TO_ONE,
    "deal_again",
    "leave",
    "move_the_cursor_to_the_checkpoint",
)
LATE_OR_LOST = ("drop_connection", "drop_while_registering", "register_late")
OF_SPLITS = (a_child_is_read_after_all_its_ancestors, somebody_reads_a_child)

WORLD = World(
    name="handover",
    asks="When a segment goes from one consumer to another, and one dies at the worst moment, is every "
    "message handled, and in order?",
    machines=(Election, Coordination, Connections, Consuming),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "consumers": 2,
        "drops": 0,
        "deaths": 1,
        "leaves": 0,
        "backlog": 2,
        "checkpointing": 0,
    },
    properties=(
        keys_stay_in_order,
        *(
            p
            for p in (*OF_SESSIONS, *Consuming.properties)
            if p not in (*OF_SPLITS, a_name_has_two_connections, somebody_was_evicted_alive)
        ),
    ),
    idle=(*NOT_HERE, *LATE_OR_LOST),
    expect=Holds(states=2_885, depth=28),
)

CUT_OFF = replace(
    WORLD,
    name="evicted-consumer-reads-on",
    asks="If a consumer is cut off from the leader, but not from its segment, and evicted, does it hand over "
    "in the end what it reads?",
    bounds={**WORLD.bounds, "drops": 1, "deaths": 0},
    properties=(
        keys_stay_in_order,
        *(p for p in OF_SESSIONS if p is not somebody_died_and_is_back),
        *(p for p in Consuming.properties if p not in OF_SPLITS),
    ),
    idle=(*NOT_HERE, "die", "start_again"),
    expect=Holds(states=3_235, depth=28),
)

LARGE = replace(
    CUT_OFF,
    name="handover-large",
    bounds={**WORLD.bounds, "drops": 1, "deaths": 1},
    idle=NOT_HERE,
    expect=Holds(states=55_432, depth=32),
    large=True,
)

WORLDS = (
    WORLD,
    WORLD.without(
        "segments_admit_one_consumer",
        Violated("nothing_is_acknowledged_unhandled", steps=16),
        properties=(nothing_is_acknowledged_unhandled,),
    ),
    WORLD.without(
        "consumers_finish_before_releasing", Violated("no_message_goes_past_one_in_hand", steps=20)
    ),
    WORLD.as_written(Violated("keys_stay_in_order", steps=15), properties=(keys_stay_in_order,)),
    CUT_OFF,
    LARGE,
)
