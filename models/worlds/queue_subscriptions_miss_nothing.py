"""Does a queue subscription, whose consumers ask no controller, have a cursor wherever it needs one?"""

from spec.protocols.queueing import (
    Queueing,
    consumers_attach_to_all_segments,
    every_message_is_acknowledged,
    only_drained_segments_are_dropped,
)
from spec.protocols.topic import (
    Topic,
    every_active_segment_has_every_cursor,
    no_acknowledged_message_is_lost,
)
from spec.world import Holds, Violated, World

QUEUE_SUBSCRIPTIONS_MISS_NOTHING = World(
    name="queue-subscriptions-miss-nothing",
    asks="If the first consumer of a queue subscription comes during a split, does it get all that follows?",
    machines=(Topic, Queueing),
    bounds={
        "queue_consumers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "sends": 2,
        "splits": 1,
        "departures": 0,
    },
    properties=(
        no_acknowledged_message_is_lost,
        every_active_segment_has_every_cursor,
        every_message_is_acknowledged,
        consumers_attach_to_all_segments,
        only_drained_segments_are_dropped,
    ),
    idle=("depart",),
    expect=Holds(states=670, depth=14),
)

WORLDS = (
    QUEUE_SUBSCRIPTIONS_MISS_NOTHING,
    QUEUE_SUBSCRIPTIONS_MISS_NOTHING.without(
        "queue_subscriptions_come_first",
        Violated("no_acknowledged_message_is_lost", steps=5),
        properties=(no_acknowledged_message_is_lost,),
    ),
    QUEUE_SUBSCRIPTIONS_MISS_NOTHING.as_written(
        Violated("no_acknowledged_message_is_lost", steps=5), properties=(no_acknowledged_message_is_lost,)
    ),
)
