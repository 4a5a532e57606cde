"""Do queue consumers get every message, from sealed segments too, whoever of them goes?"""

from spec.protocols.queueing import (
    Queueing,
    a_later_message_was_acknowledged_first,
    a_sealed_segment_serves,
    a_segment_was_sealed_before_it_was_known,
    consumers_attach_to_all_segments,
    drained_segments_are_dropped,
    every_message_is_acknowledged,
    messages_go_to_those_attached,
    nobody_shares_a_message,
    only_drained_segments_are_dropped,
    what_is_dropped_was_attached_once,
)
from spec.protocols.topic import AlreadySubscribed, Topic, no_acknowledged_message_is_lost
from spec.world import Holds, Violated, World

QUEUE_CONSUMERS_GET_EVERYTHING = World(
    name="queue-consumers-get-everything",
    asks="Is every message acknowledged by a queue consumer that stays, from sealed segments too?",
    machines=(Topic, AlreadySubscribed, Queueing),
    bounds={
        "queue_consumers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "sends": 2,
        "splits": 1,
        "departures": 1,
    },
    properties=(
        no_acknowledged_message_is_lost,
        every_message_is_acknowledged,
        consumers_attach_to_all_segments,
        drained_segments_are_dropped,
        only_drained_segments_are_dropped,
        what_is_dropped_was_attached_once,
        messages_go_to_those_attached,
        nobody_shares_a_message,
        a_later_message_was_acknowledged_first,
        a_sealed_segment_serves,
    ),
    idle=("subscribe_first",),
    expect=Holds(states=5_290, depth=18),
)

QUEUE_CONSUMERS_JUMP_OVER_LAYOUTS = World(
    name="queue-consumers-jump-over-layouts",
    asks="Does a queue consumer get what is in a segment that was created and sealed between two pushes?",
    machines=(Topic, AlreadySubscribed, Queueing),
    bounds={
        **QUEUE_CONSUMERS_GET_EVERYTHING.bounds,
        "queue_consumers": 1,
        "segments": 5,
        "splits": 2,
        "departures": 0,
    },
    properties=(
        every_message_is_acknowledged,
        consumers_attach_to_all_segments,
        drained_segments_are_dropped,
        only_drained_segments_are_dropped,
        a_segment_was_sealed_before_it_was_known,
    ),
    idle=("subscribe_first", "depart"),
    expect=Holds(states=4_317, depth=18),
)

WORLDS = (
    QUEUE_CONSUMERS_GET_EVERYTHING,
    QUEUE_CONSUMERS_GET_EVERYTHING.without(
        "queues_drain_by_acknowledgement",
        Violated("every_message_is_acknowledged", steps=12),
        properties=(every_message_is_acknowledged,),
    ),
    QUEUE_CONSUMERS_GET_EVERYTHING.as_written(Violated("only_drained_segments_are_dropped", steps=9)),
    QUEUE_CONSUMERS_JUMP_OVER_LAYOUTS,
)
