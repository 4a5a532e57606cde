"""
Split and merge of one scalable topic, step by step, while everybody else goes on.

Two brokers take turns to lead; whoever was deposed does not know and goes on with what it began. A change of
the layout begins by a write of the topic record, which takes the ids of the new segments and fences whoever
began before; it ends by a write that only succeeds if the record has not been written since. Creating a
subscription is a write of the same record, so that no change of the layout can miss it. [468-READ-11]

The hash space is a row of a few hashes, over which the keys that are written to are spread evenly. Segment
ids are never used twice: the bound `segments` is how many there are, and so how many changes can begin.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    choose,
    require,
    sometimes,
    start,
)
from spec.world import Holds, World

BROKERS = Domain("broker", "b")
PRODUCERS = Domain("producer", "p")
HASHES = Domain("hash", plural="hashes")
KEYS = Domain("key")
SEGMENTS = Domain("segment")


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment as the record names it: its id and the hashes that it covers, both ends included."""

    id: int
    first: int
    last: int

    def covers(self, hash: int) -> bool:
        return self.first <= hash <= self.last

    def __str__(self) -> str:
        return f"{self.id}:{self.first}–{self.last}"


Layout = tuple[Segment, ...]
"""The active segments, in the order of their hashes."""


@dataclass(frozen=True, slots=True)
class Record:
    """The topic record of the metadata store; every write counts one version further."""

    version: int
    active: Layout
    next_id: int = 1
    subscribed: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A split or a merge that a broker is about: what it read, and how far it has come."""

    version: int
    parents: Layout
    children: Layout
    subscribed: bool
    created: int = 0
    sealed: int = 0


class Rest(Enum):
    """A broker that is about nothing."""

    IDLE = "it has nothing to do"
    LOST = "its last change was refused, because the record had been written meanwhile"


class Topic(Enum):
    """What a segment's own topic says of itself."""

    ABSENT = "there is none"
    OPEN = "it takes writes"
    SEALED = "it is terminated"


@dataclass(frozen=True, slots=True)
class Message:
    """The n-th acknowledged message of a key, and whether it is owed to the subscription."""

    key: int
    number: int
    owed: bool

    def __str__(self) -> str:
        return f"{self.key}#{self.number}{'!' if self.owed else ''}"


class Scalable(Machine):
    """One topic, its brokers, its producers, and one subscription with one consumer."""

    hashes = Bound()
    keys = Bound()
    segments = Bound()
    messages = Bound()
    crashes = Bound()

    leader = Variable[str | None](None)
    faults_left = Variable[int](0)
    record = Variable[Record](Record(0, ()))
    ancestors = Family[int, tuple[int, ...]](SEGMENTS, ())
    """For each published segment all that came before it: in the record this follows from the parents."""
    change = Family[str, Change | Rest](BROKERS, Rest.IDLE)

    topic = Family[int, Topic](SEGMENTS, Topic.ABSENT)
    log = Family[int, tuple[Message, ...]](SEGMENTS, ())
    cursor = Family[int, int | None](SEGMENTS, None)

    layout = Family[str, Layout](PRODUCERS, ())
    """What a producer believes; nothing once it was turned away."""
    left = Family[str, int](PRODUCERS, 0)
    sent = Family[int, int](KEYS, 0)

    subscription = Variable[tuple[int, ...] | None](None)
    """The segments that still need a cursor: none once it is created, None before it is asked for."""
    received = Family[int, tuple[int, ...]](KEYS, ())


@start
def a_topic_of_one_segment(w: Scalable) -> None:
    """The topic starts with one segment, which all producers know."""
    root = Segment(0, 0, w.hashes - 1)
    w.record = Record(0, (root,))
    w.topic[0] = Topic.OPEN
    w.faults_left = w.crashes
    for producer in w.layout:
        w.layout[producer] = (root,)
        w.left[producer] = w.messages


@action("468-ELECT-01", "468-ELECT-02", broker=BROKERS, fair=WEAK)
def win_the_election(w: Scalable, broker: str) -> None:
    """Take the lock that nobody holds."""
    require(w.leader is None)

    w.leader = broker


@action("468-ELECT-05", fault=True)
def expire_the_session(w: Scalable) -> None:
    """The store takes the lock from the leader, which does not notice and goes on."""
    require(w.faults_left)
    require(w.leader is not None)

    w.leader = None
    w.faults_left -= 1


@action("468-ELECT-05", broker=BROKERS, fault=True)
def crash(w: Scalable, broker: str) -> None:
    """A broker forgets what it was about, and the lock if it had it."""
    require(w.faults_left)
    require(isinstance(w.change[broker], Change))

    w.change[broker] = Rest.IDLE
    w.faults_left -= 1
    if w.leader == broker:
        w.leader = None


@action("468-SPLIT-05", "468-SPLIT-14", broker=BROKERS)
def begin_split(w: Scalable, broker: str) -> None:
    """
    Write into the record that two ids are taken, and keep what it says of segments and subscriptions.

    After this write nobody who began before can publish, and no two changes can name the same segment.
    """
    require(w.leader == broker)
    require(isinstance(w.change[broker], Rest))
    record = w.record
    require(record.next_id + 2 <= w.segments)

    parent = choose(w, [s for s in record.active if s.first < s.last])
    middle = (parent.first + parent.last) // 2
    left = Segment(record.next_id, parent.first, middle)
    right = Segment(record.next_id + 1, middle + 1, parent.last)

    w.record = replace(record, version=record.version + 1, next_id=record.next_id + 2)
    w.change[broker] = Change(w.record.version, (parent,), (left, right), record.subscribed)


@action("468-MERGE-02", broker=BROKERS)
def begin_merge(w: Scalable, broker: str) -> None:
    """Write into the record that one id is taken, for the segment that will cover two neighbours."""
    require(w.leader == broker)
    require(isinstance(w.change[broker], Rest))
    record = w.record
    require(record.next_id + 1 <= w.segments)

    left, right = choose(w, list(pairwise(record.active)))
    merged = Segment(record.next_id, left.first, right.last)

    w.record = replace(record, version=record.version + 1, next_id=record.next_id + 1)
    w.change[broker] = Change(w.record.version, (left, right), (merged,), record.subscribed)


@action("468-SPLIT-07", "468-SPLIT-08", "468-MERGE-04", broker=BROKERS, fair=WEAK)
def create_child(w: Scalable, broker: str) -> None:
    """Create the next child's topic, with a cursor at its beginning if there is a subscription."""
    change = _under_way(w, broker)
    require(change.created < len(change.children))

    child = change.children[change.created].id
    w.topic[child] = Topic.OPEN
    w.cursor[child] = 0 if change.subscribed else None
    w.change[broker] = replace(change, created=change.created + 1)


@action("468-SPLIT-10", "468-MERGE-05", "468-MERGE-06", broker=BROKERS, fair=WEAK)
def seal_parent(w: Scalable, broker: str) -> None:
    """Terminate the next parent's topic, once all children stand."""
    change = _under_way(w, broker)
    require(change.created == len(change.children))
    require(change.sealed < len(change.parents))

    w.topic[change.parents[change.sealed].id] = Topic.SEALED
    w.change[broker] = replace(change, sealed=change.sealed + 1)


@action("468-SPLIT-12", "468-SPLIT-13", "468-MERGE-08", broker=BROKERS, fair=WEAK)
def publish(w: Scalable, broker: str) -> None:
    """Replace the parents by the children in the record, if nobody has written it since."""
    change = _under_way(w, broker)
    require(change.sealed == len(change.parents))

    record = w.record
    if change.version != record.version:
        w.change[broker] = Rest.LOST
        return

    w.record = replace(record, version=record.version + 1, active=_replaced(record.active, change))
    before = {a for parent in change.parents for a in (parent.id, *w.ancestors[parent.id])}
    for child in change.children:
        w.ancestors[child.id] = tuple(sorted(before))
    w.change[broker] = Rest.IDLE


def _under_way(w: Scalable, broker: str) -> Change:
    change = w.change[broker]
    require(isinstance(change, Change))
    assert isinstance(change, Change)
    return change


def _replaced(active: Layout, change: Change) -> Layout:
    stay = [s for s in active if s not in change.parents]
    return tuple(sorted((*stay, *change.children), key=lambda s: (s.first, s.id)))


@action("468-SPLIT-11", producer=PRODUCERS, key=KEYS)
def send(w: Scalable, producer: str, key: int) -> None:
    """Append a message to the segment that the producer believes to own the key, or be turned away."""
    require(w.left[producer])
    layout = w.layout[producer]
    require(layout)

    hash = key * w.hashes // w.keys
    owner = next(segment.id for segment in layout if segment.covers(hash))
    if w.topic[owner] is Topic.SEALED:
        w.layout[producer] = ()
        return

    number = w.sent[key] + 1
    w.log[owner] += (Message(key, number, owed=w.subscription == ()),)
    w.sent[key] = number
    w.left[producer] -= 1


@action("468-SPLIT-11", producer=PRODUCERS, fair=WEAK)
def look_up(w: Scalable, producer: str) -> None:
    """A producer that was turned away reads the layout that is published now."""
    require(not w.layout[producer])

    w.layout[producer] = w.record.active


@action("468-ADMIN-01")
def ask_for_subscription(w: Scalable) -> None:
    """Write the subscription into the record: every change that began before is refused from now on."""
    require(w.subscription is None)

    record = w.record
    w.subscription = tuple(sorted(segment.id for segment in record.active))
    w.record = replace(record, version=record.version + 1, subscribed=True)


@action("468-ADMIN-01", fair=WEAK)
def create_cursor(w: Scalable) -> None:
    """Give the subscription a cursor at the end of one of the segments; with the last it is created."""
    waiting = w.subscription or ()

    segment = choose(w, waiting)
    w.cursor[segment] = len(w.log[segment])
    w.subscription = tuple(s for s in waiting if s != segment)


@action("475-ROUTE-01", segment=SEGMENTS, fair=WEAK)
def consume(w: Scalable, segment: int) -> None:
    """Receive the next message of a segment, once everything that came before the segment is drained."""
    unread = _unread(w, segment)
    require(unread)
    require(not any(_unread(w, before) for before in w.ancestors[segment]))

    message = unread[0]
    w.received[message.key] += (message.number,)
    w.cursor[segment] = len(w.log[segment]) - len(unread) + 1


def _unread(w: Scalable, segment: int) -> tuple[Message, ...]:
    """What the subscription has still to read in a segment; nothing where it never had a cursor."""
    position = w.cursor[segment]
    return () if position is None else w.log[segment][position:]


@always("468-LAYOUT-01", hash=HASHES)
def every_hash_has_one_owner(w: Scalable, hash: int) -> Iterator[str]:
    """Each hash belongs to exactly one active segment of the record."""
    owners = [segment.id for segment in w.record.active if segment.covers(hash)]

    if not owners:
        yield f"nobody owns hash {hash}"
    if len(owners) > 1:
        yield f"segments {', '.join(map(str, owners))} all own hash {hash}"


@always("468-SPLIT-01", "468-SPLIT-02", "468-MERGE-03", segment=SEGMENTS)
def no_acknowledged_message_is_lost(w: Scalable, segment: int) -> Iterator[str]:
    """What was acknowledged after the subscription was created stands in a segment with a cursor of it."""
    log = w.log[segment]
    if log and log[-1].owed and w.cursor[segment] is None:
        yield f"message {log[-1]} was acknowledged in segment {segment}, which has no cursor"


@always("468-SPLIT-17", "468-SPLIT-18", segment=SEGMENTS)
def what_has_children_takes_no_writes(w: Scalable, segment: int) -> Iterator[str]:
    """When a segment is published, all those that came before it are sealed."""
    for before in w.ancestors[segment]:
        if w.topic[before] is not Topic.SEALED:
            yield f"segment {segment} is published, and segment {before} before it still takes writes"


@always("468-SPLIT-03", "475-ROUTE-01", key=KEYS)
def keys_stay_in_order(w: Scalable, key: int) -> Iterator[str]:
    """The consumer receives the messages of a key in the order in which they were acknowledged."""
    for one, other in pairwise(w.received[key]):
        if one >= other:
            yield f"message {key}#{other} was received after {key}#{one}"


@sometimes("468-SPLIT-12")
def a_split_was_published(w: Scalable) -> bool:
    return len(w.record.active) > 1


@sometimes("468-MERGE-08", segment=SEGMENTS)
def a_merge_was_published(w: Scalable, segment: int) -> bool:
    """The root's whole range is covered by a later segment."""
    return len(w.ancestors[segment]) > 1 and len(w.record.active) == 1


@sometimes("468-SPLIT-13", broker=BROKERS)
def a_stale_leader_lost_the_race(w: Scalable, broker: str) -> bool:
    """A broker was refused by the record, and another one leads."""
    return w.change[broker] is Rest.LOST and w.leader not in (None, broker)


@sometimes("468-SPLIT-11", producer=PRODUCERS)
def a_producer_was_turned_away(w: Scalable, producer: str) -> bool:
    return not w.layout[producer]


@sometimes("468-READ-11", broker=BROKERS)
def a_subscription_came_in_between(w: Scalable, broker: str) -> bool:
    """A change is about to be published that does not know of the subscription."""
    change = w.change[broker]
    if not isinstance(change, Change) or change.subscribed or change.sealed < len(change.parents):
        return False
    return w.subscription == ()


@sometimes("475-ROUTE-01", segment=SEGMENTS)
def a_child_was_consumed(w: Scalable, segment: int) -> bool:
    """The consumer has received what was written to a segment with ancestors."""
    log = w.log[segment]
    return bool(log and w.ancestors[segment]) and log[0].number in w.received[log[0].key]


def split_merge(name: str, bounds: dict[str, int], expect: Holds, large: bool = False) -> World:
    """The question, within these bounds."""
    return World(
        name=name,
        asks="While segments split and merge under two brokers, does every acknowledged message reach the "
        "subscription, and in the order of its key?",
        machines=(Scalable,),
        bounds=bounds,
        interchangeable=(BROKERS, PRODUCERS),
        expect=expect,
        large=large,
    )


def _bounds(**bounds: int) -> dict[str, int]:
    return {"brokers": 2, **bounds}


SIZES: dict[int, dict[str, int]] = {
    10**4: _bounds(producers=1, hashes=2, keys=1, segments=4, messages=2, crashes=1),
    10**5: _bounds(producers=1, hashes=2, keys=2, segments=5, messages=2, crashes=1),
    10**6: _bounds(producers=1, hashes=4, keys=2, segments=6, messages=2, crashes=1),
    2 * 10**6: _bounds(producers=2, hashes=2, keys=2, segments=4, messages=2, crashes=2),
    10**7: _bounds(producers=2, hashes=4, keys=2, segments=5, messages=2, crashes=1),
    5 * 10**7: _bounds(producers=2, hashes=4, keys=2, segments=6, messages=2, crashes=1),
    10**8: _bounds(producers=2, hashes=4, keys=2, segments=5, messages=3, crashes=1),
}
"""Bounds by the number of states that they lead to, roughly."""

COUNTS: dict[int, tuple[int, int]] = {
    10**4: (13_871, 39_771),
    10**5: (134_918, 382_505),
    10**6: (1_050_956, 3_223_326),
    2 * 10**6: (2_342_943, 9_448_678),
    10**7: (7_500_586, 26_820_713),
    5 * 10**7: (52_728_679, 197_889_016),
    10**8: (84_310_490, 314_887_603),
}
"""
The exact states and transitions of these sizes. Spin counts the same with full state vectors, as far as it
was let: not at 5 * 10^7, and at 10^8 it prints only eight digits of the transitions.
"""

SMALL = split_merge("split-merge", SIZES[10**4], Holds(states=13_871, depth=24))
LARGE = split_merge("split-merge-large", SIZES[2 * 10**6], Holds(states=2_342_943, depth=34), large=True)
WORLDS = (SMALL, LARGE)
