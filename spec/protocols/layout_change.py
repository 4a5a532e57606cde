"""
Split and merge, step by step: discover, create children, terminate parents, publish, notify.

A crash, a deposition or somebody else's write is possible between any two steps. What the design adds to the
text: the change is announced in the record before its first step, so that the next leader can finish it, and
every write of the record is refused to leaders of earlier terms. [468-SPLIT-04, 468-MERGE-01]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.design import Conflict, Discovery
from spec.layout import SegmentLayout, merge_segments, split_segment
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Memory,
    Variable,
    action,
    always,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.election import Election, admitted, fenced, in_office, leading
from spec.protocols.topic import (
    BROKERS,
    KEYS,
    SEGMENTS,
    Announced,
    Ledger,
    Record,
    Wanted,
    create_segment,
    owner_of,
    published,
    terminate_segment,
)

OPERATIONS = Domain("operation", "o")
"""Several layout changes can be under way at once on one leader: manual ones, and automatic ones."""


@dataclass(frozen=True, slots=True)
class Change:
    """A split or a merge that a broker is about: what it read, and how far it has come."""

    of: Announced
    read: tuple[int, int]
    """The stamp of the record as it was read."""
    subscriptions: Wanted = ()
    discovered: int = 0
    created: int = 0
    sealed: int = 0
    published: bool = False
    unsure: bool = False
    """Its last write was not answered."""

    @property
    def incarnation(self) -> int:
        return self.read[0]


class LayoutChange(Election):
    """The layout changes that brokers are about."""

    lost_replies = Bound()

    change = Memory[tuple[str, str], Change | None]((BROKERS, OPERATIONS), None)
    replies_left = Variable[int](0)


@start
def nothing_is_under_way(w: LayoutChange) -> None:
    """Nobody changes the layout yet."""
    w.replies_left = w.lost_replies


@action(
    "468-SPLIT-04", "468-CTRL-01", "468-SERVICE-03", broker=BROKERS, operation=OPERATIONS, segment=SEGMENTS
)
def begin_split(w: LayoutChange, broker: str, operation: str, segment: int) -> None:
    """The leader is asked to split an active segment."""
    record = _free_to_begin(w, broker, operation)
    require(_active(record.layout, segment))
    require(record.layout.segment(segment).range.width > 1)
    require(record.layout.next_segment_id + 2 <= w.segments)

    _begin(w, broker, operation, Announced((segment,), split_segment(record.layout, segment)))


@action(
    "468-MERGE-01", "468-CTRL-01", "468-SERVICE-03", broker=BROKERS, operation=OPERATIONS, segment=SEGMENTS
)
def begin_merge(w: LayoutChange, broker: str, operation: str, segment: int) -> None:
    """The leader is asked to merge an active segment with its right neighbour."""
    record = _free_to_begin(w, broker, operation)
    require(_active(record.layout, segment))
    place = [s.segment_id for s in record.layout.active].index(segment)
    require(place + 1 < len(record.layout.active))
    require(record.layout.next_segment_id + 1 <= w.segments)

    other = record.layout.active[place + 1].segment_id
    _begin(w, broker, operation, Announced((segment, other), merge_segments(record.layout, segment, other)))


def _free_to_begin(w: LayoutChange, broker: str, operation: str) -> Record:
    """A leader may begin where it has nothing under way in this place and no change is announced."""
    record = admitted(w, broker)
    require(w.change[broker, operation] is None)
    require(record.announced is None)
    return record


def _begin(w: LayoutChange, broker: str, operation: str, of: Announced) -> None:
    """Write into the record what is about to be done, if the design wants that, and remember the record."""
    record = w.record
    assert record is not None
    if w.design.changes_are_announced:
        record = w.record = record.written(announced=of)
    w.change[broker, operation] = _from_the_start(w, record, of)


def _from_the_start(w: LayoutChange, record: Record, of: Announced) -> Change:
    """A change before its first step."""
    if w.design.discovery is Discovery.RECORD:
        wanted = tuple((s, w.number[s]) for s in record.subscriptions)
        return Change(of, record.stamp, wanted, discovered=len(of.parents))
    return Change(of, record.stamp)


@action("468-SPLIT-05", "468-MERGE-02", broker=BROKERS, operation=OPERATIONS, fair=WEAK)
def discover(w: LayoutChange, broker: str, operation: str) -> None:
    """Step 1: ask the next parent for its subscriptions; a merge takes the union."""
    change = _under_way(w, broker, operation)
    require(change.discovered < len(change.of.parents))

    parent = change.of.parents[change.discovered]
    held = {(s, w.made_for[s, parent]) for s in w.subscribed if w.cursor[s, parent] is not None}
    found = tuple(sorted(held.union(change.subscriptions)))
    w.change[broker, operation] = replace(change, subscriptions=found, discovered=change.discovered + 1)


@action(
    "468-ROLE-01",
    "468-SPLIT-07",
    "468-SPLIT-08",
    "468-SPLIT-19",
    "468-MERGE-04",
    "468-SEGAPI-07",
    broker=BROKERS,
    operation=OPERATIONS,
    fair=WEAK,
)
def create_child(w: LayoutChange, broker: str, operation: str) -> None:
    """
    Step 2: create the next child's topic with a cursor at its beginning for each subscription.

    To create what exists already only adds what it lacks, so that the step can be repeated.
    """
    change = _under_way(w, broker, operation)
    require(change.discovered == len(change.of.parents))
    require(change.created < len(change.of.children))

    create_segment(w, change.of.children[change.created], change.incarnation, change.subscriptions)
    w.change[broker, operation] = replace(change, created=change.created + 1)


@action(
    "468-ROLE-01",
    "468-SPLIT-10",
    "468-MERGE-05",
    "468-MERGE-06",
    "468-SEGAPI-08",
    broker=BROKERS,
    operation=OPERATIONS,
    fair=WEAK,
)
def seal_parent(w: LayoutChange, broker: str, operation: str) -> None:
    """Step 3: terminate the next parent's topic, one after the other, once all children stand."""
    change = _under_way(w, broker, operation)
    require(change.created == len(change.of.children))
    require(change.sealed < len(change.of.parents))

    terminate_segment(w, change.of.parents[change.sealed], change.incarnation)
    w.change[broker, operation] = replace(change, sealed=change.sealed + 1)


@action(
    "468-SPLIT-12",
    "468-SPLIT-13",
    "468-SPLIT-14",
    "468-MERGE-08",
    broker=BROKERS,
    operation=OPERATIONS,
    fair=WEAK,
)
def publish(w: LayoutChange, broker: str, operation: str) -> None:
    """
    Step 4: replace the record by the one with the children, if nobody has written it since it was read.

    This write is the change: before it no client can see the children, after it none can miss them. Once
    begun, a change asks nobody whether its broker still leads, unless the design fences it.
    """
    change = _ready_to_publish(w, broker, operation)
    _publish(w, broker, operation, change, replace(change, published=True))


@action("468-SPLIT-13", broker=BROKERS, operation=OPERATIONS, fault=True)
def publish_without_an_answer(w: LayoutChange, broker: str, operation: str) -> None:
    """The same write, whose answer is lost: whether it took effect, the broker does not know."""
    require(w.replies_left)
    change = _ready_to_publish(w, broker, operation)

    w.replies_left -= 1
    _publish(w, broker, operation, change, replace(change, unsure=True))


def _ready_to_publish(w: LayoutChange, broker: str, operation: str) -> Change:
    change = _under_way(w, broker, operation)
    require(change.sealed == len(change.of.parents))
    return change


def _publish(w: LayoutChange, broker: str, operation: str, change: Change, then: Change) -> None:
    record = published(w)
    if record is None or fenced(w, broker, record):
        w.change[broker, operation] = None
    elif change.read == record.stamp:
        w.record = record.written(layout=change.of.after, announced=None)
        w.change[broker, operation] = then
    else:
        _publish_after_conflict(w, broker, operation, change, then)


def _publish_after_conflict(
    w: LayoutChange, broker: str, operation: str, change: Change, then: Change
) -> None:
    """The record was written since it was read: the change must be retried, or is given up. [468-SPLIT-14]"""
    record = w.record
    assert record is not None
    of = _the_same_again(w, record, change.of)
    if of is None:
        w.change[broker, operation] = None
    elif w.design.conflict is Conflict.START_AGAIN:
        w.change[broker, operation] = _from_the_start(w, record, of)
    else:
        w.record = record.written(layout=of.after, announced=None)
        w.change[broker, operation] = replace(then, of=of)


def _the_same_again(w: LayoutChange, record: Record, of: Announced) -> Announced | None:
    """The same change of the record as it is now; None if it is out of place there."""
    if w.design.changes_are_announced:
        return record.announced if record.announced == of else None
    if not all(_active(record.layout, parent) for parent in of.parents):
        return None
    if record.layout.next_segment_id + len(of.children) > w.segments:
        return None
    after = split_segment(record.layout, *of.parents) if len(of.parents) == 1 else None
    return Announced(of.parents, after or merge_segments(record.layout, *of.parents))


@action("468-SPLIT-14", broker=BROKERS, operation=OPERATIONS, fair=WEAK)
def learn_the_outcome(w: LayoutChange, broker: str, operation: str) -> None:
    """
    After a write that was not answered, look whether it took effect.

    As written, no answer is a failure, and a change that failed is nobody's business any more.
    """
    change = w.change[broker, operation]
    require(change is not None and change.unsure)
    assert change is not None

    record = published(w)
    happened = record is not None and all(map(record.layout.has, change.of.children))
    if w.design.lost_replies_are_read_back and happened:
        w.change[broker, operation] = replace(change, published=True, unsure=False)
    else:
        w.change[broker, operation] = None


@action("468-SPLIT-15", "468-MERGE-09", "468-NOTIFY-02", broker=BROKERS, operation=OPERATIONS, fair=WEAK)
def notify(w: LayoutChange, broker: str, operation: str) -> None:
    """Step 5: load the new layout, from which the coordinators deal out the segments anew."""
    change = w.change[broker, operation]
    require(change is not None and change.published)

    record = published(w)
    if record is not None:
        w.current[broker] = record.layout
    w.change[broker, operation] = None


@action("468-SPLIT-14", "468-ELECT-07", broker=BROKERS, operation=OPERATIONS, fair=WEAK)
def finish_change(w: LayoutChange, broker: str, operation: str) -> None:
    """A leader goes on with a change that is announced and that nobody on this broker is about."""
    require(w.design.leaders_finish_changes)
    record = admitted(w, broker)
    require(record.announced is not None)
    assert record.announced is not None
    require(all(w.change[key] is None for key in w.change if key[0] == broker))

    w.change[broker, operation] = _from_the_start(w, record, record.announced)


def _under_way(w: LayoutChange, broker: str, operation: str) -> Change:
    """A change that is not published yet; each step is an action of its own."""
    change = w.change[broker, operation]
    require(change is not None and not change.published and not change.unsure)
    assert change is not None
    return change


def _active(layout: SegmentLayout, segment: int) -> bool:
    return layout.has(segment) and layout.segment(segment).active


@step("468-SERVICE-04", "468-CTRL-15", "468-CTRL-01", broker=BROKERS, operation=OPERATIONS)
def only_who_leads_begins(w: LayoutChange, after: LayoutChange, broker: str, operation: str) -> Iterator[str]:
    """A controller that is not the leader executes nothing that it is asked for."""
    began = w.change[broker, operation] is None and after.change[broker, operation] is not None
    if began and not leading(w, broker):
        yield f"{broker} began a change and does not lead"


@step("468-SPLIT-04", broker=BROKERS, operation=OPERATIONS)
def nobody_drops_one_change_for_another(
    w: LayoutChange, after: LayoutChange, broker: str, operation: str
) -> Iterator[str]:
    """What was begun is ended before another change takes its place."""
    before, then = w.change[broker, operation], after.change[broker, operation]
    if before is not None and then is not None and before.of.parents != then.of.parents:
        yield f"{broker} was about {before.of} and is now about {then.of}"


@always("468-SPLIT-13")
def no_more_replies_are_lost_than_may_be(w: LayoutChange) -> Iterator[str]:
    """Lost replies stay within their budget."""
    if w.replies_left < 0:
        yield f"{-w.replies_left} replies too many are lost"


@step("468-ELECT-01", "468-CTRL-01", broker=BROKERS, operation=OPERATIONS)
def a_deposed_leader_publishes_nothing(
    w: LayoutChange, after: LayoutChange, broker: str, operation: str
) -> Iterator[str]:
    """Once another leader has taken over, no change of an earlier leader is published."""
    before, then = w.change[broker, operation], after.change[broker, operation]
    published = then is not None and (then.published or then.unsure)
    if published and before is not None and not before.published and not before.unsure:
        others = [b for b in w.controller if b != broker and leading(w, b) and w.lock == b]
        for other in others:
            yield f"{broker} published a change while {other} was the leader"


@step("468-ELECT-01", "468-CTRL-01", segment=SEGMENTS)
def a_deposed_leader_seals_nothing(w: LayoutChange, after: LayoutChange, segment: int) -> Iterator[str]:
    """A segment is terminated by the leader, or because the record says that it will be."""
    record = w.record
    sealed = w.ledger[segment] is Ledger.OPEN and after.ledger[segment] is Ledger.TERMINATED
    if not sealed or record is None or record.incarnation != w.born[segment]:
        return
    if record.announced is not None and segment in record.announced.parents:
        return

    for (broker, operation), change in w.change.items():
        if change != after.change[broker, operation] and w.lock not in (None, broker):
            yield f"{broker} sealed segment {segment}, although {w.lock} holds the lock"


@leads_to("468-SPLIT-18", "468-SPLIT-14", key=KEYS)
def every_hash_gets_a_writable_owner_again(w: LayoutChange, key: int) -> tuple[object, object]:
    """A range whose segment was sealed is soon published with another that takes writes."""
    record = published(w)
    if record is None:
        return False, True
    writable = w.ledger[owner_of(w, record.layout, key)] is Ledger.OPEN
    return not writable, writable


@leads_to("468-SPLIT-14", "468-ELECT-07")
def what_is_announced_is_finished(w: LayoutChange) -> tuple[object, object]:
    """A split or merge that stands in the record is published in the end, whoever crashes."""
    record = published(w)
    announced = record is not None and record.announced is not None
    return announced, not announced


@leads_to("468-SPLIT-15", "468-NOTIFY-02")
def leaders_learn_what_was_published(w: LayoutChange) -> tuple[object, object]:
    """The layout in the memory of whoever leads is the published one, in the end."""
    record = published(w)
    if record is None:
        return False, True
    behind = [b for b in w.current if in_office(w, b) and w.current[b] != record.layout]
    return bool(behind), not behind


@sometimes("468-SPLIT-12")
def a_split_was_published(w: LayoutChange) -> object:
    """A segment has two children."""
    record = w.record
    return record is not None and any(len(s.child_ids) == 2 for s in record.layout.segments)


@sometimes("468-MERGE-08")
def a_merge_was_published(w: LayoutChange) -> object:
    """A segment has two parents."""
    record = w.record
    return record is not None and any(len(s.parent_ids) == 2 for s in record.layout.segments)


@sometimes("468-MERGE-07", "468-READ-29")
def one_parent_of_a_merge_is_sealed_before_the_other(w: LayoutChange) -> object:
    """
    For a moment producers of one parent can write and those of the other cannot.

    Sealing in sequence was meant to exclude this, and cannot; no key is concerned by both.
    """
    record = w.record
    if record is None or record.announced is None or len(record.announced.parents) < 2:
        return False
    return {w.ledger[parent] for parent in record.announced.parents} == {Ledger.OPEN, Ledger.TERMINATED}
