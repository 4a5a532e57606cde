"""
Consumers of one STREAM subscription and the leader that deals the segments out to them: sessions and who has
which segments.

A session is stored by name and outlives connections, processes and leaders; who is connected, and whose
grace period runs, only a leader's memory knows. Each registration is a store record of its own, so that a
rebalance is several writes. The timer of a grace period may fire as soon as it runs: what holds then, holds
for every length of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.assignment import ConsumerAssignment, assignable, difference
from spec.layout import SegmentInfo, SegmentLayout
from spec.machine import (
    WEAK,
    Domain,
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
from spec.names import TopicName
from spec.protocols.election import Election, in_office, leading
from spec.protocols.topic import BROKERS, Subscribed, drained
from spec.sessions import (
    Session,
    Subscription,
    layout_changed,
    persisted,
    register,
    restore,
    unregister,
)

CONSUMERS = Domain("consumer", "c")
TOPIC = TopicName("t", "n", "x")
NOW = 0
"""Timers have no length here, so that one moment is enough."""
SUBSCRIPTION = "s1"
"""The one subscription whose consumers these are."""

Registrations = tuple[tuple[str, ConsumerAssignment], ...]


class Life(Enum):
    """What has become of a consumer's process."""

    RUNNING = "it wants to consume"
    DEAD = "it is gone without a word"
    LEFT = "it has unregistered"


@dataclass(frozen=True, slots=True)
class Line:
    """A connection as the consumer has it: to whom, and which of its connections to that broker."""

    broker: str
    number: int

    def __str__(self) -> str:
        return f"{self.broker} by connection {self.number}"


class Coordination(Election):
    """The coordinators of the subscription on each broker, and the connections of consumers to them."""

    registration = Family[str, ConsumerAssignment | None](CONSUMERS, None)
    """What the store holds of a session. [468-SESSION-09, 468-SESSION-10, 468-PATH-06]"""
    life = Family[str, Life](CONSUMERS, Life.RUNNING)
    name = Family[str, str](CONSUMERS, "")
    """The name under which a consumer registers: its own, unless `spec.protocols.namesakes` takes part."""

    coordinator = Memory[str, Subscription | None](BROKERS, None)
    """Who is connected to a leader, or in its grace period, and what each has been dealt. [468-SESSION-13]"""
    restored = Memory[str, int](BROKERS, 0)
    """The term for which the coordinator was restored."""
    unwritten = Memory[str, tuple[str, ...]](BROKERS, ())
    """The consumers whose registration the coordinator has changed in memory and has yet to store."""
    loaded = Memory[str, tuple[int, Registrations] | None](BROKERS, None)
    """The registrations, if they were read before an election, and how many elections there were before."""
    ends = Memory[tuple[str, str], tuple[int, ...]]((BROKERS, CONSUMERS), ())
    """The connections of a consumer that look open to the broker, in the order in which they were made."""
    delayed = Memory[tuple[str, str], int | None]((BROKERS, CONSUMERS), None)
    """A connection on which a registration came that the broker has not come to yet."""

    line = Memory[str, Line | None](CONSUMERS, None)
    """The connection that looks open to the consumer. [468-SESSION-01]"""
    inbox = Memory[str, ConsumerAssignment | None](CONSUMERS, None)
    """What was last sent to the consumer on that connection, while it has not arrived."""


@start
def a_subscription_without_consumers(w: Coordination) -> None:
    """The subscription exists; its consumers run, and none has registered yet."""
    w.subscribed[SUBSCRIPTION] = Subscribed.CREATED
    record = w.record
    assert record is not None
    w.record = record.written(subscriptions=(SUBSCRIPTION,))
    for segment in record.layout.active:
        w.cursor[SUBSCRIPTION, segment.segment_id] = 0
    for consumer in w.name:
        w.name[consumer] = consumer


@action("468-CTRL-10", "468-ELECT-07", broker=BROKERS)
def load_before_the_election(w: Coordination, broker: str) -> None:
    """A controller reads the registrations, as written before it knows whether it will lead."""
    require(not w.design.leaders_load_after_the_lock)

    w.loaded[broker] = w.elections, _stored(w)


@action(
    "468-SESSION-06",
    "468-SESSION-12",
    "468-SESSION-20",
    "468-SESSION-21",
    "468-ELECT-07",
    broker=BROKERS,
    fair=WEAK,
)
def restore_sessions(w: Coordination, broker: str) -> None:
    """
    A new leader takes over the stored sessions, all of them as just disconnected.

    What its predecessor left half written it mends by dealing out anew.
    """
    require(leading(w, broker) and not serving(w, broker))
    if w.design.leaders_hang_up_when_deposed:
        require(not any(w.ends[broker, consumer] for consumer in w.life))

    early = w.loaded[broker]
    found = early[1] if early is not None and early[0] + 1 == w.term[broker] else _stored(w)
    w.restored[broker] = w.term[broker]
    layout, segments = _to_deal(w, broker)
    old = restore(TOPIC, layout.epoch, segments, dict(found), now=NOW)
    w.coordinator[broker] = old
    if w.design.restores_deal_anew:
        change(w, broker, layout_changed(old, layout.epoch, segments))


@action(
    "468-CTRL-02",
    "468-CTRL-11",
    "468-COORD-02",
    "468-COORD-03",
    "468-SESSION-05",
    "468-SESSION-06",
    "468-SESSION-07",
    "468-SESSION-15",
    "468-SESSION-17",
    "468-SESSION-22",
    "468-ASSIGN-07",
    "468-ASSIGN-10",
    broker=BROKERS,
    consumer=CONSUMERS,
    fair=WEAK,
)
def register_consumer(w: Coordination, broker: str, consumer: str) -> None:
    """
    A consumer without a connection registers with whoever it takes for the leader and believes to be it.

    One that is known resumes and is answered at once; a newcomer is answered when its registration is stored.
    """
    require(serving(w, broker))
    require(w.life[consumer] is Life.RUNNING and w.line[consumer] is None)
    subscription = coordinator_of(w, broker)

    number, name = connect(w, broker, consumer), w.name[consumer]
    w.line[consumer] = Line(broker, number)
    change(w, broker, register(subscription, name, number))
    if name not in w.unwritten[broker]:
        _tell(w, broker, name)


@action("468-SESSION-05", "468-SESSION-17", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def register_late(w: Coordination, broker: str, consumer: str) -> None:
    """
    A broker comes to a registration whose connection the consumer has given up meanwhile.

    The design ignores it if that connection has ended, or a later one of the same consumer has registered.
    """
    subscription = coordinator_of(w, broker)
    number, open_ends = w.delayed[broker, consumer], w.ends[broker, consumer]
    require(number is not None)
    assert number is not None

    w.delayed[broker, consumer] = None
    if w.design.late_registrations_are_ignored:
        session = session_of(w, broker, consumer)
        held = session.connection if session is not None else None
        if number not in open_ends or held in open_ends[open_ends.index(number) + 1 :]:
            return
    change(w, broker, register(subscription, w.name[consumer], number))


@action(
    "468-SESSION-15",
    "468-SESSION-19",
    "468-NOTIFY-01",
    "468-CTRL-03",
    "468-PATH-06",
    broker=BROKERS,
    fair=WEAK,
)
def store_registration(w: Coordination, broker: str) -> None:
    """
    Write the next registration that has changed, or delete it, and then tell its consumer.

    The design has the store refuse it to a leader that has a successor.
    """
    require(w.unwritten[broker])
    require(_may_store(w, broker))

    name, *others = w.unwritten[broker]
    w.unwritten[broker] = tuple(others)
    w.registration[name] = persisted(coordinator_of(w, broker)).get(name)
    _tell(w, broker, name)


@action(
    "468-COORD-02", "468-COORD-05", "468-NOTIFY-03", "468-CTRL-03", "468-CTRL-04", broker=BROKERS, fair=WEAK
)
def deal_again(w: Coordination, broker: str) -> None:
    """The leader deals the segments out anew after a layout change, or when a sealed one is drained."""
    subscription = coordinator_of(w, broker)
    layout, segments = _to_deal(w, broker)
    require((layout.epoch, segments) != (subscription.epoch, subscription.segments))

    change(w, broker, layout_changed(subscription, layout.epoch, segments))


@action(
    "468-SESSION-19",
    "468-SESSION-23",
    "468-COORD-02",
    "468-COORD-04",
    broker=BROKERS,
    consumer=CONSUMERS,
    fair=WEAK,
)
def let_the_grace_period_end(w: Coordination, broker: str, consumer: str) -> None:
    """
    The timer of a disconnected consumer fires: its session ends, and the others take over its segments.

    Timers ask nobody whether their broker still leads; the design has the store refuse what they lead to.
    """
    subscription = coordinator_of(w, broker)
    require(subscription.has(consumer) and not subscription.session(consumer).connected)

    change(w, broker, unregister(subscription, consumer))


# What a broker knows, and how it changes that


def serving(w: Coordination, broker: str) -> bool:
    """Whether a broker believes to lead and has the sessions for it. [468-CTRL-15]"""
    return leading(w, broker) and w.restored[broker] == w.term[broker]


def serving_by_right(w: Coordination, broker: str) -> bool:
    """Whether a broker serves and the lock says that it is the leader."""
    return serving(w, broker) and w.lock == broker


def _may_store(w: Coordination, broker: str) -> bool:
    """The design admits a leader in office, and what it has dealt since it took over. [468-READ-40]"""
    return not w.design.sessions_are_fenced or (in_office(w, broker) and serving(w, broker))


def coordinator_of(w: Coordination, broker: str) -> Subscription:
    """What a broker has in memory of the subscription, if it has anything."""
    subscription = w.coordinator[broker]
    require(subscription is not None)
    assert subscription is not None
    return subscription


def session_of(w: Coordination, broker: str, consumer: str) -> Session | None:
    """The session that a broker has for a consumer."""
    subscription, name = w.coordinator[broker], w.name[consumer]
    if subscription is None or not subscription.has(name):
        return None
    return subscription.session(name)


def is_served(w: Coordination, broker: str, consumer: str) -> bool:
    """Whether the connection that a consumer has is the one by which the broker knows it."""
    session = session_of(w, broker, consumer)
    if session is None or session.connection is None:
        return False
    return w.line[consumer] == Line(broker, session.connection)


def _stored(w: Coordination) -> Registrations:
    """The registrations as the store has them."""
    return tuple((name, found) for name, found in w.registration.items() if found is not None)


def _to_deal(w: Coordination, broker: str) -> tuple[SegmentLayout, tuple[SegmentInfo, ...]]:
    """The layout that a leader has in memory, and which of its segments may be read now."""
    layout = w.current[broker]
    require(layout is not None)
    assert layout is not None
    return layout, assignable(layout, drained(w, SUBSCRIPTION, layout), w.design)


def change(w: Coordination, broker: str, after: Subscription) -> None:
    """A coordinator changes its memory at once; what that changes in the store is written one by one."""
    before = coordinator_of(w, broker)
    old, new = persisted(before), persisted(after)
    changed = {c.consumer for c in difference(old, new)} | (old.keys() ^ new.keys())
    w.coordinator[broker] = after
    w.unwritten[broker] = tuple(sorted(changed.union(w.unwritten[broker]), key=lambda c: (c in new, c)))


def _tell(w: Coordination, broker: str, name: str) -> None:
    """Send a consumer its assignment, if it has a connection; on one that is half open nothing arrives."""
    for consumer in w.life:
        session = session_of(w, broker, consumer)
        if session is not None and session.consumer == name and is_served(w, broker, consumer):
            w.inbox[consumer] = session.assignment


def connect(w: Coordination, broker: str, consumer: str) -> int:
    """A new connection, by a number that means no other one of that name to the broker."""
    alike = [other for other in w.name if w.name[other] == w.name[consumer]]
    taken = [n for other in alike for n in (*w.ends[broker, other], w.delayed[broker, other])]
    number = min(n for n in range(len(taken) + 1) if n not in taken)
    w.ends[broker, consumer] += (number,)
    return number


# What must hold


@step("468-SESSION-21", "468-SESSION-24", broker=BROKERS)
def a_failover_gives_everybody_a_whole_grace_period(
    w: Coordination, after: Coordination, broker: str
) -> Iterator[str]:
    """To a leader that has just taken the sessions over, every consumer has dropped at this moment."""
    taken_over, coordinator = after.restored[broker], after.coordinator[broker]
    if not taken_over or taken_over == w.restored[broker] or coordinator is None:
        return
    for session in coordinator.sessions:
        if session.connected or session.disconnected_at != NOW:
            yield f"{broker} took {session.consumer} over with less than a whole grace period"


@always("468-ASSIGN-08", "468-SESSION-20", "468-COORD-01", broker=BROKERS)
def every_segment_is_dealt_once(w: Coordination, broker: str) -> Iterator[str]:
    """A leader that has consumers has dealt each segment to one of them."""
    subscription = w.coordinator[broker]
    if subscription is None or not subscription.sessions or not serving_by_right(w, broker):
        return

    for segment in subscription.segments:
        owners = [s.consumer for s in subscription.sessions if segment.segment_id in s.assignment.segment_ids]
        if len(owners) != 1:
            names = " and ".join(owners) or "nobody"
            yield f"{broker} has dealt segment {segment.segment_id} to {names}"


@step("468-CTRL-02", "468-CTRL-15", "468-ELECT-01", broker=BROKERS)
def a_deposed_leader_changes_no_registration(
    w: Coordination, after: Coordination, broker: str
) -> Iterator[str]:
    """Once another leader has taken over, nothing is stored by an earlier one."""
    stored = [c for c in w.registration if w.registration[c] != after.registration[c]]
    if not stored or w.unwritten[broker] == after.unwritten[broker]:
        return
    if w.restored[broker] != w.term[broker]:
        yield f"{broker} changed the registration of {stored[0]} as it had decided before it was deposed"
    for other in w.controller:
        if other != broker and leading(w, other) and w.lock == other:
            yield f"{broker} changed the registration of {stored[0]} while {other} was the leader"


@always("468-SESSION-20", "468-SESSION-21", "468-SESSION-24", "468-SESSION-12", broker=BROKERS)
def the_leader_knows_every_session(w: Coordination, broker: str) -> Iterator[str]:
    """Who is registered has a session with the leader, and the other way round, but for what is unwritten."""
    subscription = w.coordinator[broker]
    if subscription is None or not serving_by_right(w, broker):
        return

    for consumer, registration in w.registration.items():
        if (registration is not None) != subscription.has(consumer) and consumer not in w.unwritten[broker]:
            known = "knows" if subscription.has(consumer) else "does not know"
            stored = "is not" if registration is None else "is"
            yield f"{broker} leads and {known} {consumer}, which {stored} registered"


@leads_to("468-SESSION-15", "468-SESSION-12")
def what_is_dealt_is_stored(w: Coordination) -> tuple[object, object]:
    """What the leader has dealt, stands in the store in the end."""
    agreed = any(serving_by_right(w, b) and _is_stored(w, b) for b in w.controller)
    return not agreed, agreed


def _is_stored(w: Coordination, broker: str) -> bool:
    dealt = persisted(coordinator_of(w, broker))
    stored = dict(_stored(w))
    return dealt.keys() == stored.keys() and not difference(dealt, stored)


@sometimes("468-SESSION-16")
def a_rebalance_is_half_stored(w: Coordination) -> object:
    """Two registrations name the same segment."""
    held = [s for _, registration in _stored(w) for s in registration.segment_ids]
    return len(held) > len(set(held))
