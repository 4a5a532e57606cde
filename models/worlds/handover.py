"""A segment goes from one consumer to the next while messages are in hand."""

from models.worlds.half_open_connections import LISTENS_TO_ONE, WITHOUT_FAILURES_OF_BROKERS
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

OF_SPLITS = (a_child_is_read_after_all_its_ancestors, somebody_reads_a_child)

WORLD = World(
    name="handover",
    asks="When a segment goes from one consumer to another, which dies or is cut off at the worst moment, is "
    "every message handled, and in order?",
    machines=(Election, Coordination, Consuming),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "consumers": 2,
        "drops": 1,
        "deaths": 1,
        "leaves": 0,
        "backlog": 2,
        "checkpointing": 0,
    },
    properties=(
        keys_stay_in_order,
        *Coordination.properties,
        *(p for p in Consuming.properties if p not in OF_SPLITS),
    ),
    idle=(*WITHOUT_FAILURES_OF_BROKERS, *LISTENS_TO_ONE, "deal_again", "leave", "say_that_it_is_drained"),
    expect=Holds(),
)

WORLDS = (
    WORLD,
    WORLD.without(
        "segments_admit_one_consumer",
        Violated("nothing_is_acknowledged_unhandled"),
        properties=(nothing_is_acknowledged_unhandled,),
    ),
    WORLD.without("consumers_finish_before_releasing", Violated("no_message_goes_past_one_in_hand")),
    WORLD.as_written(Violated("keys_stay_in_order"), properties=(keys_stay_in_order,)),
)
