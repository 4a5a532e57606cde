"""
Queue consumers: each attaches to every segment that it knows, and acknowledges messages one by one.

No controller takes part. How the layout reaches a consumer is a matter of the watch session: here it goes
forward, late and perhaps by several epochs at once. Who splits, and how, does not matter either, but for the
moment between preparing the children and publishing them. [468-QUEUE-01, 468-READ-49]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.design import Discovery
from spec.immutable import ordered
from spec.layout import SegmentLayout, split_segment
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Variable,
    action,
    always,
    choose,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.topic import (
    KEYS,
    SEGMENTS,
    Ledger,
    Record,
    Subscribed,
    Topic,
    append,
    create_segment,
    owner_of,
    terminate_segment,
)

QUEUE_CONSUMERS = Domain("queue_consumer", "q")
QUEUE = "s1"
"""The subscription to which all queue consumers belong."""


class Link(Enum):
    """What a consumer has to do with a segment."""

    NONE = "it is not attached"
    ATTACHED = "it is attached and is given messages"
    DROPPED = "it has done with it"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The children of a split that exist and are not published yet."""

    version: int
    """Of the record when the subscriptions were discovered."""
    after: SegmentLayout


class Queueing(Topic):
    """The consumers of one queue subscription."""

    sends = Bound()
    splits = Bound()
    departures = Bound()

    sends_left = Variable[int](0)
    splits_left = Variable[int](0)
    departures_left = Variable[int](0)
    prepared = Variable[Prepared | None](None)
    gone = Family[str, bool](QUEUE_CONSUMERS, False)
    layout = Family[str, SegmentLayout | None](QUEUE_CONSUMERS, None)
    """The layout that a consumer goes by."""
    link = Family[tuple[str, int], Link]((QUEUE_CONSUMERS, SEGMENTS), Link.NONE)
    held = Family[tuple[str, int], frozenset[int]]((QUEUE_CONSUMERS, SEGMENTS), frozenset())
    """The places in a segment's log of messages that a consumer was given and has not acknowledged."""
    acknowledged = Family[int, frozenset[int]](SEGMENTS, frozenset())


@start
def nobody_consumes_yet(w: Queueing) -> None:
    """No consumer knows anything yet."""
    w.sends_left = w.sends
    w.splits_left = w.splits
    w.departures_left = w.departures


@action("468-SPLIT-16", key=KEYS)
def send(w: Queueing, key: int) -> None:
    """A producer that knows the published layout has a message acknowledged."""
    require(w.sends_left)

    w.sends_left -= 1
    append(w, owner_of(w, _record(w).layout, key), key)


@action("468-SPLIT-05", "468-SPLIT-07", segment=SEGMENTS)
def prepare_split(w: Queueing, segment: int) -> None:
    """The children are created, with a cursor for every subscription that is discovered."""
    record = _record(w)
    require(w.splits_left)
    require(record.layout.has(segment) and record.layout.segment(segment).active)

    w.splits_left -= 1
    after = split_segment(record.layout, segment)
    w.prepared = Prepared(record.version, after)
    held = tuple(s for s in w.subscribed if w.cursor[s, segment] is not None)
    found = record.subscriptions if w.design.discovery is Discovery.RECORD else held
    for child in after.segment(segment).child_ids:
        create_segment(w, child, 0, tuple((subscription, 0) for subscription in found))


@action("468-SPLIT-10", "468-SPLIT-12", fair=WEAK)
def publish_split(w: Queueing) -> None:
    """The parent is terminated and the children are published, unless the record was written meanwhile."""
    prepared, record = w.prepared, _record(w)
    require(prepared is not None)
    assert prepared is not None

    w.prepared = None
    if prepared.version != record.version:
        w.splits_left += 1
        return
    for segment in record.layout.active:
        if not prepared.after.segment(segment.segment_id).active:
            terminate_segment(w, segment.segment_id, 0)
    w.record = record.written(layout=prepared.after)


@action("468-ADMIN-01", "468-QUEUE-01")
def subscribe_first(w: Queueing) -> None:
    """
    Before a consumer attaches, its subscription is created: in the record and on every active segment.

    That this is as good as one step is shown where subscriptions are created.
    """
    record = _record(w)
    require(w.subscribed[QUEUE] is Subscribed.NOT)

    w.subscribed[QUEUE] = Subscribed.CREATED
    w.record = record.written(subscriptions=(QUEUE,))
    for segment in record.layout.active:
        w.cursor[QUEUE, segment.segment_id] = 0


@action("468-QUEUE-04", consumer=QUEUE_CONSUMERS, fair=WEAK)
def learn_layout(w: Queueing, consumer: str) -> None:
    """The watch session brings the published layout, whatever a consumer has missed in between."""
    require(not w.gone[consumer])

    w.layout[consumer] = _record(w).layout


@action("468-QUEUE-02", "468-QUEUE-04", consumer=QUEUE_CONSUMERS, segment=SEGMENTS, fair=WEAK)
def attach(w: Queueing, consumer: str, segment: int) -> None:
    """
    A consumer attaches to a segment of its layout, active or sealed, in which its subscription has a cursor.

    As written nobody is asked whether there is such a subscription: attaching makes the cursor, at the end.
    """
    layout = w.layout[consumer]
    require(layout is not None and layout.has(segment))
    assert layout is not None
    require(w.link[consumer, segment] is Link.NONE)
    if w.cursor[QUEUE, segment] is None:
        require(not w.design.queue_subscriptions_come_first)
        w.cursor[QUEUE, segment] = len(w.log[segment])

    w.link[consumer, segment] = Link.ATTACHED
    if all(w.link[consumer, s.segment_id] is not Link.NONE for s in layout.active):
        w.subscribed[QUEUE] = Subscribed.CREATED


@action("468-QUEUE-03", "468-QUEUE-06", consumer=QUEUE_CONSUMERS, segment=SEGMENTS, fair=WEAK)
def deliver(w: Queueing, consumer: str, segment: int) -> None:
    """The owner of a segment gives the next message that nobody has to one of those who are attached."""
    require(w.link[consumer, segment] is Link.ATTACHED)
    waiting = _waiting(w, segment)
    require(waiting)

    w.held[consumer, segment] |= {waiting[0]}


@action("468-QUEUE-01", consumer=QUEUE_CONSUMERS, segment=SEGMENTS, fair=WEAK)
def acknowledge(w: Queueing, consumer: str, segment: int) -> None:
    """A consumer acknowledges any one of the messages that it was given."""
    place = choose(w, ordered(w.held[consumer, segment]))

    w.held[consumer, segment] -= {place}
    w.acknowledged[segment] |= {place}


@action("468-QUEUE-05", consumer=QUEUE_CONSUMERS, segment=SEGMENTS, fair=WEAK)
def drop(w: Queueing, consumer: str, segment: int) -> None:
    """
    A consumer leaves a sealed segment when nothing in it is unacknowledged.

    As written it is drained as soon as nothing is left to be given out, whatever others still hold.
    """
    require(w.link[consumer, segment] is Link.ATTACHED)
    layout = w.layout[consumer]
    assert layout is not None
    require(not layout.segment(segment).active)
    if w.design.queues_drain_by_acknowledgement:
        require(not _unacknowledged(w, segment))
    else:
        require(not _waiting(w, segment) and not w.held[consumer, segment])

    w.link[consumer, segment] = Link.DROPPED


@action("468-QUEUE-03", consumer=QUEUE_CONSUMERS, fault=True)
def depart(w: Queueing, consumer: str) -> None:
    """A consumer goes for good, and what it held waits for the others."""
    require(w.departures_left)

    w.departures_left -= 1
    w.gone[consumer] = True
    w.layout[consumer] = None
    for segment in w.ledger:
        w.link[consumer, segment] = Link.NONE
        w.held[consumer, segment] = frozenset()


def _record(w: Queueing) -> Record:
    """The topic's record, which is never deleted here."""
    assert w.record is not None
    return w.record


def _unacknowledged(w: Queueing, segment: int) -> list[int]:
    """The places of the messages that the subscription has yet to acknowledge."""
    cursor = w.cursor[QUEUE, segment]
    begin = len(w.log[segment]) if cursor is None else cursor
    return [place for place in range(begin, len(w.log[segment])) if place not in w.acknowledged[segment]]


def _waiting(w: Queueing, segment: int) -> list[int]:
    """The places of the messages that nobody has acknowledged or holds."""
    held = [w.held[consumer, segment] for consumer in w.gone]
    return [place for place in _unacknowledged(w, segment) if not any(place in some for some in held)]


@leads_to("468-QUEUE-01", "468-QUEUE-05", segment=SEGMENTS)
def every_message_is_acknowledged(w: Queueing, segment: int) -> tuple[object, object]:
    """As long as a consumer is there, whatever a segment holds for the subscription is acknowledged."""
    behind = _unacknowledged(w, segment)
    present = not all(w.gone.values())
    return behind and present, not behind or not present


@leads_to("468-QUEUE-02", "468-QUEUE-04", consumer=QUEUE_CONSUMERS, segment=SEGMENTS)
def consumers_attach_to_all_segments(w: Queueing, consumer: str, segment: int) -> tuple[object, object]:
    """A consumer attaches to each segment in which its subscription has a cursor, however it came about."""
    wanted = _record(w).layout.has(segment) and w.cursor[QUEUE, segment] is not None
    done = w.gone[consumer] or w.link[consumer, segment] is not Link.NONE
    return wanted and not done, done


@leads_to("468-QUEUE-05", consumer=QUEUE_CONSUMERS, segment=SEGMENTS)
def drained_segments_are_dropped(w: Queueing, consumer: str, segment: int) -> tuple[object, object]:
    """Nobody stays attached to a sealed segment for ever."""
    attached = w.link[consumer, segment] is Link.ATTACHED and w.ledger[segment] is Ledger.TERMINATED
    return attached, not attached


@always("468-QUEUE-05", consumer=QUEUE_CONSUMERS, segment=SEGMENTS)
def only_drained_segments_are_dropped(w: Queueing, consumer: str, segment: int) -> Iterator[str]:
    """Whoever has dropped a segment has left nothing in it that anybody could still be given."""
    if w.link[consumer, segment] is Link.DROPPED:
        for place in _unacknowledged(w, segment):
            message = w.log[segment][place]
            yield f"{consumer} has dropped segment {segment}, in which {message} is unacknowledged"


@step("468-QUEUE-05", consumer=QUEUE_CONSUMERS, segment=SEGMENTS)
def what_is_dropped_was_attached_once(
    w: Queueing, after: Queueing, consumer: str, segment: int
) -> Iterator[str]:
    """A consumer drops what it was attached to, and does not attach to it again."""
    before, then = w.link[consumer, segment], after.link[consumer, segment]
    if (before, then) in ((Link.NONE, Link.DROPPED), (Link.DROPPED, Link.ATTACHED)):
        yield f"segment {segment} was {before.name} for {consumer}, and then {then.name}"


@always("468-QUEUE-03", "468-QUEUE-04", consumer=QUEUE_CONSUMERS, segment=SEGMENTS)
def messages_go_to_those_attached(w: Queueing, consumer: str, segment: int) -> Iterator[str]:
    """Who has messages of a segment is attached to it; who is attached is there, and knows the segment."""
    layout = w.layout[consumer]
    if w.held[consumer, segment] and w.link[consumer, segment] is not Link.ATTACHED:
        yield f"{consumer} has messages of segment {segment} and is not attached to it"
    if w.link[consumer, segment] is Link.ATTACHED and (layout is None or not layout.has(segment)):
        yield f"{consumer} is attached to segment {segment}, which is in no layout that it knows"
    if w.link[consumer, segment] is Link.ATTACHED and w.gone[consumer]:
        yield f"{consumer} is attached to segment {segment}, although it has gone"


@always("468-QUEUE-03", segment=SEGMENTS)
def nobody_shares_a_message(w: Queueing, segment: int) -> Iterator[str]:
    """A message is with one consumer at a time, and with none once it is acknowledged."""
    for place, message in enumerate(w.log[segment]):
        holders = [consumer for consumer in w.gone if place in w.held[consumer, segment]]
        if len(holders) > 1:
            yield f"{' and '.join(holders)} both have {message}"
        if holders and place in w.acknowledged[segment]:
            yield f"{holders[0]} has {message}, which is acknowledged"


@sometimes("468-QUEUE-01", segment=SEGMENTS)
def a_later_message_was_acknowledged_first(w: Queueing, segment: int) -> object:
    """The second message of a segment is acknowledged, and the first is not."""
    return 1 in w.acknowledged[segment] and 0 not in w.acknowledged[segment]


@sometimes("468-QUEUE-05", consumer=QUEUE_CONSUMERS)
def a_sealed_segment_serves(w: Queueing, consumer: str) -> object:
    """A consumer has a message of a segment of which it knows that it is sealed."""
    layout = w.layout[consumer]
    return layout is not None and any(w.held[consumer, s.segment_id] for s in layout.segments if not s.active)


@sometimes("468-QUEUE-04", consumer=QUEUE_CONSUMERS)
def a_segment_was_sealed_before_it_was_known(w: Queueing, consumer: str) -> object:
    """A consumer has yet to attach to a segment that had its whole life between two of its layouts."""
    layout = w.layout[consumer]
    return layout is not None and any(
        s.parent_ids and s.child_ids and w.link[consumer, s.segment_id] is Link.NONE and w.log[s.segment_id]
        for s in layout.segments
    )
