"""
Consumers and the messages of their segments: attach, take, handle, acknowledge, release.

What a consumer has been told to read is not what it may read yet: the segment may still be in the hands of
its last owner, who has not heard or has a message in hand. A consumer takes one message at a time, and its
acknowledgement counts for all that lies before. A CheckpointConsumer keeps its positions elsewhere, so that
its subscription's cursors stay where they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.layout import ancestors
from spec.machine import (
    WEAK,
    Bound,
    Family,
    Memory,
    action,
    always,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.connections import Connections
from spec.protocols.coordination import CONSUMERS, SUBSCRIPTION, Life
from spec.protocols.topic import KEYS, SEGMENTS, append, owner_of


@dataclass(frozen=True, slots=True)
class Taken:
    """A message that was delivered and is not acknowledged yet: the segment, and its place there."""

    segment: int
    place: int
    handled: bool = False

    def __str__(self) -> str:
        return f"message {self.place + 1} of segment {self.segment}{', handled' if self.handled else ''}"


class Consuming(Connections):
    """What consumers do with the segments that they hold."""

    backlog = Bound()
    """How many messages of each key there are from the beginning."""
    checkpointing = Bound()
    """1 if these are CheckpointConsumers."""

    attached = Memory[tuple[str, int], bool]((CONSUMERS, SEGMENTS), False)
    in_hand = Memory[str, Taken | None](CONSUMERS, None)
    checkpoint = Family[int, int](SEGMENTS, 0)
    """How far CheckpointConsumers have come in a segment, as they have it on record themselves."""


@start
def there_is_something_to_read(w: Consuming) -> None:
    """Every key has its first messages in the segment that owns it."""
    record = w.record
    assert record is not None
    for key in w.sent:
        for _ in range(w.backlog):
            append(w, owner_of(w, record.layout, key), key)


@action("468-SESSION-08", "468-ASSIGN-08", consumer=CONSUMERS, segment=SEGMENTS, fair=WEAK)
def attach(w: Consuming, consumer: str, segment: int) -> None:
    """
    A consumer connects to a segment that it holds.

    The design has the segment's broker admit it only when nobody else of the subscription is there.
    """
    require(_is_held(w, consumer, segment))
    if w.design.segments_admit_one_consumer:
        require(not any(w.attached[other, segment] for other in w.life))

    w.attached[consumer, segment] = True


@action("468-ASSIGN-12", "468-NOTIFY-01", consumer=CONSUMERS, segment=SEGMENTS, fair=WEAK)
def release(w: Consuming, consumer: str, segment: int) -> None:
    """
    A consumer lets go of a segment that it no longer holds.

    The design has it finish first what it has in hand, for whoever comes next will go past that.
    """
    require(not _is_held(w, consumer, segment))
    if w.design.consumers_finish_before_releasing:
        taken = w.in_hand[consumer]
        require(taken is None or taken.segment != segment)

    w.attached[consumer, segment] = False


@action("468-SESSION-08", consumer=CONSUMERS, segment=SEGMENTS, fair=WEAK)
def take(w: Consuming, consumer: str, segment: int) -> None:
    """A segment delivers its next message to a consumer that is attached and has nothing in hand."""
    require(w.attached[consumer, segment] and w.in_hand[consumer] is None)
    others = [w.in_hand[other] for other in w.life if w.attached[other, segment]]
    delivered = [taken.place for taken in others if taken is not None and taken.segment == segment]
    waiting = [n for n in range(_position(w, segment), len(w.log[segment])) if n not in delivered]
    require(waiting)

    w.in_hand[consumer] = Taken(segment, waiting[0])


@action("468-ASSIGN-07", "468-ASSIGN-09", consumer=CONSUMERS, fair=WEAK)
def handle(w: Consuming, consumer: str) -> None:
    """A consumer handles the message that it has in hand; a repetition is not counted again."""
    taken = w.in_hand[consumer]
    require(taken is not None)
    assert taken is not None

    w.in_hand[consumer] = replace(taken, handled=True)
    message = w.log[taken.segment][taken.place]
    if message.number not in w.received[SUBSCRIPTION, message.key]:
        w.received[SUBSCRIPTION, message.key] += (message.number,)


@action("468-ASSIGN-07", "468-ASSIGN-10", consumer=CONSUMERS, fair=WEAK)
def acknowledge(w: Consuming, consumer: str) -> None:
    """A consumer acknowledges the message that it has handled, and with it all that lies before."""
    taken = w.in_hand[consumer]
    require(taken is not None and taken.handled)
    assert taken is not None

    w.in_hand[consumer] = None
    position = max(_position(w, taken.segment), taken.place + 1)
    if w.checkpointing:
        w.checkpoint[taken.segment] = position
    else:
        w.cursor[SUBSCRIPTION, taken.segment] = position


@action("468-ASSIGN-10", segment=SEGMENTS, fair=WEAK)
def move_the_cursor_to_the_checkpoint(w: Consuming, segment: int) -> None:
    """CheckpointConsumers move the cursor to where they are, so that a sealed segment looks drained."""
    require(w.design.checkpoints_say_what_is_drained)
    require(w.checkpoint[segment] > (w.cursor[SUBSCRIPTION, segment] or 0))

    w.cursor[SUBSCRIPTION, segment] = w.checkpoint[segment]


def _is_held(w: Consuming, consumer: str, segment: int) -> bool:
    held = w.holds[consumer]
    return held is not None and segment in held.segment_ids


def _position(w: Consuming, segment: int) -> int:
    """Where the next owner of a segment goes on."""
    return w.checkpoint[segment] if w.checkpointing else w.cursor[SUBSCRIPTION, segment] or 0


@always("468-ASSIGN-08", "468-ASSIGN-09", segment=SEGMENTS)
def one_consumer_reads_a_segment(w: Consuming, segment: int) -> Iterator[str]:
    """Whatever consumers believe to own, one at most is attached to a segment."""
    readers = [consumer for consumer in w.life if w.attached[consumer, segment]]
    if len(readers) > 1:
        yield f"{' and '.join(readers)} both read segment {segment}"


@step("468-ASSIGN-09", "468-ASSIGN-12", consumer=CONSUMERS)
def no_message_goes_past_one_in_hand(w: Consuming, after: Consuming, consumer: str) -> Iterator[str]:
    """While somebody has a message in hand, nobody handles a later one of the same segment."""
    before, done = w.in_hand[consumer], after.in_hand[consumer]
    if before is None or done is None or before.handled or not done.handled:
        return

    for other, taken in w.in_hand.items():
        if other != consumer and taken is not None and not taken.handled:
            if taken.segment == done.segment and taken.place < done.place:
                yield f"{consumer} handled {done}, while {other} has {taken} in hand"


@always("468-ASSIGN-08", "468-ASSIGN-07", segment=SEGMENTS)
def nothing_is_acknowledged_unhandled(w: Consuming, segment: int) -> Iterator[str]:
    """What is acknowledged was handled, or a living consumer has it in hand."""
    taken = [one.place for one in w.in_hand.values() if one is not None and one.segment == segment]
    for place, message in enumerate(w.log[segment][: _position(w, segment)]):
        if message.number not in w.received[SUBSCRIPTION, message.key] and place not in taken:
            yield f"message {message} is acknowledged in segment {segment}, and nobody has handled it"


@always("475-ROUTE-03", "468-ASSIGN-09", consumer=CONSUMERS)
def a_child_is_read_after_all_its_ancestors(w: Consuming, consumer: str) -> Iterator[str]:
    """Whoever has a message in hand comes after everything in the segments before it was handled."""
    taken, record = w.in_hand[consumer], w.record
    if taken is None or record is None or not record.layout.has(taken.segment):
        return

    for ancestor in sorted(ancestors(record.layout, taken.segment)):
        for message in w.log[ancestor]:
            if message.number not in w.received[SUBSCRIPTION, message.key]:
                yield f"{consumer} has {taken}, and nobody has handled {message} of segment {ancestor}"


@leads_to("468-ASSIGN-08", "468-SESSION-19", "468-SESSION-23", segment=SEGMENTS)
def every_segment_is_read_in_the_end(w: Consuming, segment: int) -> tuple[object, object]:
    """While a consumer runs, somebody attaches to every segment of the layout at some time."""
    record = w.record
    waits = record is not None and record.layout.has(segment) and record.layout.segment(segment).active
    waits = waits and any(life is Life.RUNNING for life in w.life.values())
    read = any(w.attached[consumer, segment] for consumer in w.life)
    return waits and not read, read or not waits


@leads_to("468-ASSIGN-08", "468-SPLIT-03", key=KEYS)
def every_message_is_handled(w: Consuming, key: int) -> tuple[object, object]:
    """While a consumer runs, every message is handled in the end."""
    waits = any(life is Life.RUNNING for life in w.life.values())
    behind = len(w.received[SUBSCRIPTION, key]) < w.sent[key]
    return waits and behind, not (waits and behind)


@sometimes("468-ASSIGN-12")
def an_owner_waits_for_its_predecessor(w: Consuming) -> object:
    """A consumer holds a segment to which another one is attached with a message in hand."""
    for (consumer, segment), attached in w.attached.items():
        taken = w.in_hand[consumer]
        if attached and taken is not None and taken.segment == segment:
            if any(other != consumer and _is_held(w, other, segment) for other in w.life):
                return True
    return False


@sometimes("475-ROUTE-01")
def somebody_reads_a_child(w: Consuming) -> object:
    """A message of a segment with parents is in hand."""
    record = w.record
    if record is None:
        return False
    taken = [one.segment for one in w.in_hand.values() if one is not None and record.layout.has(one.segment)]
    return any(record.layout.segment(segment).parent_ids for segment in taken)
