"""
What is stored of one scalable topic: its record in the metadata store, and the ledgers of its segments.

The record changes only by whole writes that count one version further. Segments take appends until they are
terminated; a subscription's position in a segment is its cursor there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any

from spec.design import Design
from spec.layout import SegmentLayout, find_active_segment, initial_layout
from spec.machine import Bound, Domain, Family, Machine, Variable, always, start, step
from spec.ranges import HASH_COUNT
from spec.soundness import flaws

BROKERS = Domain("broker", "b")
SUBSCRIPTIONS = Domain("subscription", "s")
SEGMENTS = Domain("segment")
KEYS = Domain("key")


@dataclass(frozen=True, slots=True)
class Announced:
    """A layout change that is under way: the segments to be sealed, and the layout it leads to."""

    parents: tuple[int, ...]
    after: SegmentLayout

    @property
    def children(self) -> tuple[int, ...]:
        return self.after.segment(self.parents[0]).child_ids

    def __str__(self) -> str:
        return f"{_listed(self.parents)} → {_listed(self.children)}"


class Stage(Enum):
    """What the record says of its topic, which is no topic to clients before and after it is published."""

    CLAIMED = "its name is taken, and its segments are being made"
    PUBLISHED = "it exists"
    DELETED = "it is deleted, and its segments are going"


@dataclass(frozen=True, slots=True)
class Record:
    """
    The topic record. Beyond the layout it holds what the design wants to be decided by the same write.

    [468-LAYOUT-02]
    """

    layout: SegmentLayout
    version: int = 0
    subscriptions: tuple[str, ...] = ()
    announced: Announced | None = None
    term: int = 0
    """How many leaders there were before the present one; it fences all of them."""
    incarnation: int = 0
    """How often the topic was created before."""
    stage: Stage = Stage.PUBLISHED
    claimant: str | None = None
    """Who claimed the name, where more than one kind of command can."""

    @property
    def stamp(self) -> tuple[int, int]:
        """What a conditional write compares; without incarnations a re-created record counts from 0 again."""
        return self.incarnation, self.version

    def written(self, **changes: Any) -> "Record":
        """The record after a write of it."""
        return replace(self, version=self.version + 1, **changes)


@dataclass(frozen=True, slots=True)
class View:
    """What a client knows of a topic: a layout, and in whose name its segments are to be found."""

    layout: SegmentLayout
    incarnation: int = 0

    def rank(self, design: Design) -> tuple[int, int]:
        """Of two layouts the higher one is later; epochs begin again when a topic is created again."""
        return self.incarnation if design.topics_have_incarnations else 0, self.layout.epoch


def view_of(record: Record) -> View:
    """What a client is told when it asks now."""
    return View(record.layout, record.incarnation)


class Ledger(Enum):
    """What a segment's own topic says of itself."""

    ABSENT = "there is none"
    OPEN = "it takes appends"
    TERMINATED = "it takes no more"


class Subscribed(Enum):
    """How far a subscription has come, as far as whoever asks for it knows."""

    NOT = "nobody asked for it"
    ASKED = "its creation is under way"
    CREATED = "its creation was acknowledged"
    DELETED = "its deletion was asked for"


@dataclass(frozen=True, slots=True)
class Message:
    """The n-th appended message of a key, to whom it is owed, and the transaction that it belongs to."""

    key: int
    number: int
    owed: tuple[str, ...] = ()
    transaction: str | None = None

    def __str__(self) -> str:
        owed = f" for {_listed(self.owed)}" if self.owed else ""
        return f"{self.key}#{self.number}{owed}" + (f" in {self.transaction}" if self.transaction else "")


class Topic(Machine):
    """One topic as it is stored, and what its subscriptions have received."""

    keys = Bound()
    segments = Bound()
    initial_segments = Bound()
    record = Variable[Record | None](None)
    ledger = Family[int, Ledger](SEGMENTS, Ledger.ABSENT)
    born = Family[int, int](SEGMENTS, 0)
    """The incarnation of the topic in whose name the segment's ledger was created."""
    log = Family[int, tuple[Message, ...]](SEGMENTS, ())
    cursor = Family[tuple[str, int], int | None]((SUBSCRIPTIONS, SEGMENTS), None)
    """How many messages of the segment the subscription has acknowledged, from the first on."""
    made_for = Family[tuple[str, int], int]((SUBSCRIPTIONS, SEGMENTS), 0)
    """Which subscription of its name a cursor belongs to; it says so itself, if the design wants that."""
    number = Family[str, int](SUBSCRIPTIONS, 0)
    """How often a subscription of that name was created before; the design has it stand in the record."""
    sent = Family[int, int](KEYS, 0)
    subscribed = Family[str, Subscribed](SUBSCRIPTIONS, Subscribed.NOT)
    received = Family[tuple[str, int], tuple[int, ...]]((SUBSCRIPTIONS, KEYS), ())
    """The numbers of a key's messages, in the order in which a subscription's consumers got them first."""


@start
def a_topic_that_exists(w: Topic) -> None:
    """The topic has been created with its first segments, none of which was ever written to."""
    layout = initial_layout(w.initial_segments)
    w.record = Record(layout)
    for segment in layout.active:
        w.ledger[segment.segment_id] = Ledger.OPEN


class AlreadySubscribed(Topic):
    """A topic whose subscriptions were all created before anything else happens."""


@start
def subscriptions_that_exist(w: AlreadySubscribed) -> None:
    """Every subscription has its cursor at the beginning of every segment."""
    assert w.record is not None
    subscriptions = tuple(w.subscribed)
    w.record = replace(w.record, subscriptions=subscriptions)
    for subscription in subscriptions:
        w.subscribed[subscription] = Subscribed.CREATED
        for segment in w.record.layout.active:
            w.cursor[subscription, segment.segment_id] = 0


def published(w: Topic) -> Record | None:
    """The record of a topic that exists; one that is only claimed, or being deleted, nobody may use."""
    record = w.record
    return record if record is not None and record.stage is Stage.PUBLISHED else None


Wanted = tuple[tuple[str, int], ...]
"""Subscriptions that are to have a cursor, each with its number."""


def create_segment(w: Topic, segment: int, incarnation: int, wanted: Wanted) -> None:
    """
    Make a segment's ledger with a cursor at its beginning for each subscription, or add what it lacks.

    Where the names carry the topic's incarnation, one of another incarnation is another ledger; there is room
    here for that of the topic whose name is taken. The design has the owner look at the record, and make
    nothing for a topic that is gone. [468-SEGAPI-07]
    """
    record = w.record
    gone = record is None or record.stage is Stage.DELETED
    if gone and w.design.segments_open_only_where_listed:
        return
    if record is not None and record.incarnation != incarnation:
        return
    if w.born[segment] != incarnation or w.ledger[segment] is Ledger.ABSENT:
        w.born[segment] = incarnation
        w.ledger[segment] = Ledger.OPEN
        w.log[segment] = ()
        for subscription in w.subscribed:
            w.cursor[subscription, segment] = None
    for subscription, number in wanted:
        give_cursor(w, subscription, segment, number)


def give_cursor(w: Topic, subscription: str, segment: int, number: int) -> None:
    """Make a subscription's cursor at the beginning of a segment, also in place of an earlier one's."""
    outdated = w.design.subscriptions_have_numbers and w.made_for[subscription, segment] < number
    if w.cursor[subscription, segment] is None or outdated:
        w.cursor[subscription, segment] = 0
        w.made_for[subscription, segment] = number


def take_cursor(w: Topic, subscription: str, segment: int, number: int) -> None:
    """Delete a subscription's cursor on a segment, but none of a later one of its name."""
    if w.design.subscriptions_have_numbers and w.made_for[subscription, segment] > number:
        return
    w.cursor[subscription, segment] = None
    w.made_for[subscription, segment] = 0


def terminate_segment(w: Topic, segment: int, incarnation: int) -> None:
    """Let a segment take no more appends, if it exists; to repeat it changes nothing. [468-SEGAPI-08]"""
    if w.born[segment] == incarnation and w.ledger[segment] is Ledger.OPEN:
        w.ledger[segment] = Ledger.TERMINATED


def delete_segment(w: Topic, segment: int, incarnation: int) -> None:
    """
    Delete a segment's ledger, if that is the one that is meant. [468-SEGAPI-11]

    What was in it stays on our record, so that nobody can delete a message and call it read.
    """
    if w.born[segment] == incarnation:
        w.ledger[segment] = Ledger.ABSENT


def hash_of(w: Topic, key: int) -> int:
    """Keys are spread evenly over the hash space."""
    return key * HASH_COUNT // w.keys


def owner_of(w: Topic, layout: SegmentLayout, key: int) -> int:
    """The segment that takes a key's messages."""
    return find_active_segment(layout, hash_of(w, key)).segment_id


def owed_now(w: Topic) -> tuple[str, ...]:
    """Who is owed a message that is acknowledged now: all whose subscription exists."""
    return tuple(s for s, state in w.subscribed.items() if state is Subscribed.CREATED)


def append(
    w: Topic, segment: int, key: int, acknowledged: bool = True, transaction: str | None = None
) -> Message:
    """Put the next message of a key at the end of a segment; once acknowledged it is owed."""
    message = Message(key, w.sent[key] + 1, owed_now(w) if acknowledged else (), transaction)
    w.sent[key] = message.number
    w.log[segment] += (message,)
    return message


def unread(w: Topic, subscription: str, segment: int) -> tuple[Message, ...]:
    """What a subscription has still to read in a segment; nothing where it never had a cursor."""
    position = w.cursor[subscription, segment]
    return () if position is None else w.log[segment][position:]


def drained(w: Topic, subscription: str, layout: SegmentLayout) -> frozenset[int]:
    """
    The sealed segments of which a subscription has read everything, and to which nothing can be added.

    A segment in which it has no cursor is none of its business. [468-READ-47]
    """
    sealed = (s.segment_id for s in layout.segments if not s.active)
    return frozenset(s for s in sealed if w.ledger[s] is not Ledger.OPEN and not unread(w, subscription, s))


def receive(w: Topic, subscription: str, segment: int) -> None:
    """Deliver the next message of a segment and acknowledge it; a repetition is not counted again."""
    message = unread(w, subscription, segment)[0]
    position = w.cursor[subscription, segment]
    assert position is not None
    if message.number not in w.received[subscription, message.key]:
        w.received[subscription, message.key] += (message.number,)
    w.cursor[subscription, segment] = position + 1


@always("468-LAYOUT-01", "468-SEGMENT-04")
def every_published_layout_is_sound(w: Topic) -> Iterator[str]:
    """Active ranges meet end to end, edges are symmetric and acyclic, ids are below the next one."""
    if w.record is not None:
        yield from map(str, flaws(w.record.layout))


@step("468-LAYOUT-05", "468-SEGMENT-06")
def layouts_only_go_forward(w: Topic, after: Topic) -> Iterator[str]:
    """Epochs strictly increase, ids are never used again, ranges stay, and what is sealed stays sealed."""
    old, new = w.record, after.record
    if old is None or new is None or old.layout == new.layout or old.incarnation != new.incarnation:
        return

    if new.layout.epoch <= old.layout.epoch:
        yield f"epoch {old.layout.epoch} is followed by another layout of epoch {new.layout.epoch}"
    if new.layout.next_segment_id < old.layout.next_segment_id:
        yield f"the next id goes back from {old.layout.next_segment_id} to {new.layout.next_segment_id}"
    for segment in new.layout.segments:
        id = segment.segment_id
        if not old.layout.has(id):
            if id < old.layout.next_segment_id:
                yield f"the id {id} is used again"
        elif segment.active and not old.layout.segment(id).active:
            yield f"segment {id} was sealed and is active again"
        elif segment.range != old.layout.segment(id).range:
            yield f"segment {id} covered {old.layout.segment(id).range} and covers {segment.range}"


@step("468-SPLIT-19", segment=SEGMENTS)
def what_is_published_is_empty(w: Topic, after: Topic, segment: int) -> Iterator[str]:
    """A segment that becomes active has never been written to, so that nothing in it is anybody's past."""
    if _active(after, segment) and not _known(w, after, segment) and after.log[segment]:
        if after.record is not None and after.record.layout.segment(segment).legacy_topic is None:
            yield f"segment {segment} is new and has {_listed(after.log[segment])} in it already"


def _known(w: Topic, after: Topic, segment: int) -> bool:
    """Whether a segment was part of this very topic before."""
    old, new = published(w), after.record
    return old is not None and new is not None and old.stamp <= new.stamp and old.layout.has(segment)


@always("468-SPLIT-16", "468-SPLIT-02", segment=SEGMENTS)
def every_active_segment_exists(w: Topic, segment: int) -> Iterator[str]:
    """An active segment of the record has a ledger."""
    if _active(w, segment):
        assert w.record is not None
        if w.ledger[segment] is Ledger.ABSENT or w.born[segment] != w.record.incarnation:
            yield f"segment {segment} is active and has no ledger"


@always("468-SPLIT-16", "468-SPLIT-02", "468-MERGE-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def every_active_segment_has_every_cursor(w: Topic, subscription: str, segment: int) -> Iterator[str]:
    """An active segment of the record has a cursor for each subscription that was created."""
    if w.subscribed[subscription] is Subscribed.CREATED and _active(w, segment):
        if w.cursor[subscription, segment] is None:
            yield f"segment {segment} is active and has no cursor for subscription {subscription}"


@always("468-SPLIT-01", "468-SPLIT-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def no_acknowledged_message_is_lost(w: Topic, subscription: str, segment: int) -> Iterator[str]:
    """What was acknowledged after a subscription was created is received, or kept where it can be read."""
    log = w.log[segment]
    if not log or w.subscribed[subscription] is not Subscribed.CREATED:
        return
    position = w.cursor[subscription, segment]
    owed = [m for m in log[position or 0 :] if subscription in m.owed]
    if not owed:
        return

    if position is None:
        yield f"message {owed[0]} was acknowledged in segment {segment}, which has no cursor for it"
    elif w.ledger[segment] is Ledger.ABSENT:
        yield f"message {owed[0]} was acknowledged in segment {segment}, which is deleted"
    elif w.record is None or not w.record.layout.has(segment):
        yield f"message {owed[0]} was acknowledged in segment {segment}, which is in no layout"


@step("468-SPLIT-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def cursors_only_go_forward(w: Topic, after: Topic, subscription: str, segment: int) -> Iterator[str]:
    """What a subscription has acknowledged in a segment stays acknowledged."""
    before, then = w.cursor[subscription, segment], after.cursor[subscription, segment]
    same = w.born[segment] == after.born[segment] and w.number[subscription] == after.number[subscription]
    replaced = w.made_for[subscription, segment] != after.made_for[subscription, segment]
    if before is not None and then is not None and then < before and same and not replaced:
        yield f"{subscription} went back in segment {segment} from {before} to {then}"


@always("468-SPLIT-17", "468-SPLIT-18", key=KEYS)
def no_hash_has_two_writable_owners(w: Topic, key: int) -> Iterator[str]:
    """Of all published segments that cover a hash, one at most takes appends."""
    if w.record is not None:
        covering = (
            s.segment_id for s in w.record.layout.segments if s.range.start <= hash_of(w, key) <= s.range.end
        )
        writable = [s for s in covering if w.ledger[s] is Ledger.OPEN]
        if len(writable) > 1:
            yield f"segments {_listed(writable)} both take messages of key {key}"


@always("468-ASSIGN-09", "475-ROUTE-03", subscription=SUBSCRIPTIONS, key=KEYS)
def keys_stay_in_order(w: Topic, subscription: str, key: int) -> Iterator[str]:
    """A subscription receives the messages of a key in the order in which they were appended."""
    for one, other in pairwise(w.received[subscription, key]):
        if one >= other:
            yield f"{subscription} received message {key}#{other} after {key}#{one}"


def _active(w: Topic, segment: int) -> bool:
    record = published(w)
    return record is not None and record.layout.has(segment) and record.layout.segment(segment).active


def _listed(some: Any) -> str:
    return ", ".join(map(str, some))
