"""
Consumers of one STREAM subscription and the leader that deals the segments out to them.

A session is stored by name and outlives connections, processes and leaders; who is connected, and whose
grace period runs, only a leader's memory knows. Each registration is a store record of its own, so that a
rebalance is several writes. Each side notices the end of a connection in its own time. The timer of a grace
period may fire as soon as it runs: what holds then, holds for every length of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.assignment import ConsumerAssignment, assignable, difference, latest
from spec.layout import SegmentInfo, SegmentLayout
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    always,
    choose,
    forget,
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
    disconnect,
    layout_changed,
    persisted,
    register,
    restore,
    unregister,
)

CONSUMERS = Domain("consumer", "c")
TOPIC = TopicName("t", "n", "x")
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
    """The coordinators of the subscription on each broker, and the consumers' ends of the conversation."""

    drops = Bound()
    deaths = Bound()
    leaves = Bound()

    drops_left = Variable[int](0)
    deaths_left = Variable[int](0)
    leaves_left = Variable[int](0)

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
    late = Memory[str, ConsumerAssignment | None](CONSUMERS, None)
    """What was sent on an earlier connection and has not arrived, if the consumer still listens there."""
    holds = Memory[str, ConsumerAssignment | None](CONSUMERS, None)
    """What the consumer believes to be its own."""


@start
def a_subscription_without_consumers(w: Coordination) -> None:
    """The subscription exists; its consumers run, and none has registered yet."""
    w.drops_left = w.drops
    w.deaths_left = w.deaths
    w.leaves_left = w.leaves
    w.subscribed[SUBSCRIPTION] = Subscribed.CREATED
    record = w.record
    assert record is not None
    w.record = record.written(subscriptions=(SUBSCRIPTION,))
    for segment in record.layout.active:
        w.cursor[SUBSCRIPTION, segment.segment_id] = 0
    for consumer in w.name:
        w.name[consumer] = consumer


# The leader


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
    old = restore(TOPIC, layout.epoch, segments, dict(found), now=0)
    w.coordinator[broker] = old
    if w.design.restores_deal_anew:
        _change(w, broker, layout_changed(old, layout.epoch, segments))


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
    subscription = _coordinator(w, broker)

    number, name = _connect(w, broker, consumer), w.name[consumer]
    w.line[consumer] = Line(broker, number)
    _change(w, broker, register(subscription, name, number))
    if name not in w.unwritten[broker]:
        _tell(w, broker, name)


@action("468-SESSION-05", "468-SESSION-17", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def register_late(w: Coordination, broker: str, consumer: str) -> None:
    """
    A broker comes to a registration whose connection the consumer has given up meanwhile.

    The design ignores it if that connection has ended, or a later one of the same consumer has registered.
    """
    subscription = _coordinator(w, broker)
    number, open_ends = w.delayed[broker, consumer], w.ends[broker, consumer]
    require(number is not None)
    assert number is not None

    w.delayed[broker, consumer] = None
    if w.design.late_registrations_are_ignored:
        session = session_of(w, broker, consumer)
        held = session.connection if session is not None else None
        if number not in open_ends or held in open_ends[open_ends.index(number) + 1 :]:
            return
    _change(w, broker, register(subscription, w.name[consumer], number))


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
    w.registration[name] = persisted(_coordinator(w, broker)).get(name)
    _tell(w, broker, name)


@action(
    "468-COORD-02", "468-COORD-05", "468-NOTIFY-03", "468-CTRL-03", "468-CTRL-04", broker=BROKERS, fair=WEAK
)
def deal_again(w: Coordination, broker: str) -> None:
    """The leader deals the segments out anew after a layout change, or when a sealed one is drained."""
    subscription = _coordinator(w, broker)
    layout, segments = _to_deal(w, broker)
    require((layout.epoch, segments) != (subscription.epoch, subscription.segments))

    _change(w, broker, layout_changed(subscription, layout.epoch, segments))


@action("468-SESSION-14", "468-SESSION-16", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def notice_the_end(w: Coordination, broker: str, consumer: str) -> None:
    """
    A broker notices that a connection has ended, and the consumer's grace period begins.

    As written, nobody asks whether it is still the consumer's connection that ended.
    """
    gone = [n for n in w.ends[broker, consumer] if w.line[consumer] != Line(broker, n)]
    number = choose(w, gone)

    w.ends[broker, consumer] = tuple(n for n in w.ends[broker, consumer] if n != number)
    session = session_of(w, broker, consumer)
    if session is not None:
        by_name = not w.design.disconnects_name_their_connection and session.connection is not None
        ended = session.connection if by_name else number
        assert ended is not None
        w.coordinator[broker] = disconnect(_coordinator(w, broker), w.name[consumer], ended, now=0)


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
    subscription = _coordinator(w, broker)
    require(subscription.has(consumer) and not subscription.session(consumer).connected)

    _change(w, broker, unregister(subscription, consumer))


@action("468-CTRL-14", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def hang_up(w: Coordination, broker: str, consumer: str) -> None:
    """
    A broker that was deposed closes the connections of the consumers that registered with it.

    Else one who never left is a stranger to the same broker once that is elected again.
    """
    require(w.design.leaders_hang_up_when_deposed)
    require(w.ends[broker, consumer] and not serving(w, broker))

    w.ends[broker, consumer] = ()


# The consumers


@action("468-NOTIFY-01", consumer=CONSUMERS, fair=WEAK)
def hear(w: Coordination, consumer: str) -> None:
    """What the leader has sent arrives, and the consumer keeps it unless it is of an older layout."""
    pushed, held = w.inbox[consumer], w.holds[consumer]
    require(pushed is not None)
    assert pushed is not None

    w.inbox[consumer] = None
    w.holds[consumer] = pushed if held is None else latest(held, pushed)


@action("468-SESSION-11", "468-SESSION-16", consumer=CONSUMERS, fault=True)
def drop_connection(w: Coordination, consumer: str) -> None:
    """A consumer loses its connection; the broker's end stays open until it notices."""
    require(w.drops_left)
    require(w.line[consumer] is not None)

    w.drops_left -= 1
    _hang_up_too(w, consumer)


@action("468-SESSION-11", "468-SESSION-05", broker=BROKERS, consumer=CONSUMERS, fault=True)
def drop_while_registering(w: Coordination, broker: str, consumer: str) -> None:
    """A consumer connects, asks to be registered, and loses the connection before the broker comes to it."""
    require(w.drops_left)
    require(serving(w, broker))
    require(w.life[consumer] is Life.RUNNING and w.line[consumer] is None)

    w.drops_left -= 1
    w.delayed[broker, consumer] = _connect(w, broker, consumer)


@action("468-NOTIFY-01", consumer=CONSUMERS)
def hear_late(w: Coordination, consumer: str) -> None:
    """As written, what comes on an earlier connection counts like any other push."""
    pushed, held = w.late[consumer], w.holds[consumer]
    require(pushed is not None)
    assert pushed is not None

    w.late[consumer] = None
    w.holds[consumer] = pushed if held is None else latest(held, pushed)


@action("468-SESSION-11", "468-ELECT-05", consumer=CONSUMERS, fair=WEAK)
def notice_the_broker_has_gone(w: Coordination, consumer: str) -> None:
    """A consumer notices that the broker at the other end has crashed or hung up."""
    line = w.line[consumer]
    require(line is not None)
    assert line is not None
    require(line.number not in w.ends[line.broker, consumer])

    _hang_up_too(w, consumer)


@action("468-SESSION-11", consumer=CONSUMERS, fault=True)
def die(w: Coordination, consumer: str) -> None:
    """A consumer's process ends with all that it had in memory, and nobody is told."""
    require(w.deaths_left)
    require(w.life[consumer] is Life.RUNNING)

    w.deaths_left -= 1
    w.life[consumer] = Life.DEAD
    forget(w, consumer)


@action("468-SESSION-11", "468-SESSION-03", consumer=CONSUMERS)
def start_again(w: Coordination, consumer: str) -> None:
    """The process is started again under the same name."""
    require(w.life[consumer] is Life.DEAD)

    w.life[consumer] = Life.RUNNING


@action("468-CTRL-12", "468-COORD-04", consumer=CONSUMERS)
def leave(w: Coordination, consumer: str) -> None:
    """
    A consumer unregisters and is gone for good; the others take over its segments at once.

    If the broker at the other end is not the leader any more, that changes nothing, but its timer will.
    """
    require(w.leaves_left)
    line = w.line[consumer]
    require(line is not None)
    assert line is not None
    broker = line.broker
    require(line.number in w.ends[broker, consumer])

    w.leaves_left -= 1
    w.life[consumer] = Life.LEFT
    forget(w, consumer)
    w.ends[broker, consumer] = tuple(n for n in w.ends[broker, consumer] if n != line.number)
    if session_of(w, broker, consumer) is not None:
        _change(w, broker, unregister(_coordinator(w, broker), w.name[consumer]))


def serving(w: Coordination, broker: str) -> bool:
    """Whether a broker believes to lead and has the sessions for it. [468-CTRL-15]"""
    return leading(w, broker) and w.restored[broker] == w.term[broker]


def _may_store(w: Coordination, broker: str) -> bool:
    """The design admits a leader in office, and what it has dealt since it took over. [468-READ-40]"""
    return not w.design.sessions_are_fenced or (in_office(w, broker) and serving(w, broker))


def _coordinator(w: Coordination, broker: str) -> Subscription:
    subscription = w.coordinator[broker]
    require(subscription is not None)
    assert subscription is not None
    return subscription


def _stored(w: Coordination) -> Registrations:
    return tuple((name, found) for name, found in w.registration.items() if found is not None)


def _to_deal(w: Coordination, broker: str) -> tuple[SegmentLayout, tuple[SegmentInfo, ...]]:
    """The layout that a leader has in memory, and which of its segments may be read now."""
    layout = w.current[broker]
    require(layout is not None)
    assert layout is not None
    return layout, assignable(layout, drained(w, SUBSCRIPTION, layout), w.design)


def _change(w: Coordination, broker: str, after: Subscription) -> None:
    """A coordinator changes its memory at once; what that changes in the store is written one by one."""
    before = _coordinator(w, broker)
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


def is_served(w: Coordination, broker: str, consumer: str) -> bool:
    """Whether the connection that a consumer has is the one by which the broker knows it."""
    session = session_of(w, broker, consumer)
    if session is None or session.connection is None:
        return False
    return w.line[consumer] == Line(broker, session.connection)


def _connect(w: Coordination, broker: str, consumer: str) -> int:
    """A new connection, by a number that means no other one of that name to the broker."""
    alike = [other for other in w.name if w.name[other] == w.name[consumer]]
    taken = [n for other in alike for n in (*w.ends[broker, other], w.delayed[broker, other])]
    number = min(n for n in range(len(taken) + 1) if n not in taken)
    w.ends[broker, consumer] += (number,)
    return number


def _hang_up_too(w: Coordination, consumer: str) -> None:
    """The consumer gives its connection up; nothing that was sent on it counts, if the design says so."""
    w.line[consumer] = None
    if not w.design.consumers_listen_to_one_connection:
        w.late[consumer] = w.inbox[consumer]
    w.inbox[consumer] = None


def session_of(w: Coordination, broker: str, consumer: str) -> Session | None:
    """The session that a broker has for a consumer."""
    subscription, name = w.coordinator[broker], w.name[consumer]
    if subscription is None or not subscription.has(name):
        return None
    return subscription.session(name)


@always("468-ASSIGN-08", "468-SESSION-20", "468-COORD-01", broker=BROKERS)
def every_segment_is_dealt_once(w: Coordination, broker: str) -> Iterator[str]:
    """A leader that has consumers has dealt each segment to one of them."""
    subscription = w.coordinator[broker]
    if subscription is None or not subscription.sessions or not (serving(w, broker) and w.lock == broker):
        return

    for segment in subscription.segments:
        owners = [s.consumer for s in subscription.sessions if segment.segment_id in s.assignment.segment_ids]
        if len(owners) != 1:
            names = " and ".join(owners) or "nobody"
            yield f"{broker} has dealt segment {segment.segment_id} to {names}"


@step("468-SESSION-16", "468-SESSION-17", "468-SESSION-19", broker=BROKERS, consumer=CONSUMERS)
def nobody_is_evicted_while_connected(
    w: Coordination, after: Coordination, broker: str, consumer: str
) -> Iterator[str]:
    """A consumer whose connection to the leader is open on both sides keeps its session."""
    line = after.line[consumer]
    if line is None or line.broker != broker or line.number not in after.ends[broker, consumer]:
        return

    known, still_known = session_of(w, broker, consumer), session_of(after, broker, consumer)
    if known is not None and still_known is None and w.restored[broker] == after.restored[broker]:
        yield f"{broker} evicted {consumer}, which is connected to it"


@step("468-SESSION-12", "468-SESSION-22", "468-SESSION-24", consumer=CONSUMERS)
def sessions_of_connected_consumers_stay_stored(
    w: Coordination, after: Coordination, consumer: str
) -> Iterator[str]:
    """Nobody deletes the registration of a consumer that is connected to the leader and known to it."""
    if w.registration[consumer] is None or after.registration[consumer] is not None:
        return
    line = w.line[consumer]
    if line is None or w.lock != line.broker or not serving(w, line.broker):
        return

    if is_served(w, line.broker, consumer):
        yield f"the registration of {consumer} is deleted, although {line.broker} leads and serves it"


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
    if subscription is None or not (serving(w, broker) and w.lock == broker):
        return

    for consumer, registration in w.registration.items():
        if (registration is not None) != subscription.has(consumer) and consumer not in w.unwritten[broker]:
            known = "knows" if subscription.has(consumer) else "does not know"
            stored = "is not" if registration is None else "is"
            yield f"{broker} leads and {known} {consumer}, which {stored} registered"


@step("468-SESSION-15", "468-SESSION-07", consumer=CONSUMERS)
def consumers_are_told_what_is_stored(w: Coordination, after: Coordination, consumer: str) -> Iterator[str]:
    """A leader sends a consumer what stands in its registration, and nothing that could still be lost."""
    line, told, stored = after.line[consumer], after.inbox[consumer], after.registration[after.name[consumer]]
    if told is None or told == w.inbox[consumer]:
        return
    if line is None:
        yield f"{told} is sent to {consumer}, which has no connection"
        return
    if w.lock != line.broker:
        return

    if stored is None or stored.segment_ids != told.segment_ids:
        yield f"{line.broker} sends {consumer} {told}, and {stored or 'nothing'} is stored"


@always("468-SESSION-16", "468-SESSION-11")
def what_is_half_open_was_lost(w: Coordination) -> Iterator[str]:
    """A broker has no more connections that their consumers have given up than were lost, within bounds."""
    held = {(line.broker, consumer, line.number) for consumer, line in w.line.items() if line is not None}
    ends = {(broker, consumer, n) for (broker, consumer), numbers in w.ends.items() for n in numbers}
    lost = w.drops - w.drops_left + w.deaths - w.deaths_left
    if len(ends - held) > lost:
        yield f"{len(ends - held)} connections are half open, and {lost} were lost"
    if min(w.drops_left, w.deaths_left, w.leaves_left) < 0:
        yield "there were more faults than there may be"


@always("468-CTRL-12")
def whoever_unregistered_has_left(w: Coordination) -> Iterator[str]:
    """As many have left for good as have unregistered."""
    left, asked = sum(life is Life.LEFT for life in w.life.values()), w.leaves - w.leaves_left
    if left != asked:
        yield f"{asked} have unregistered, and {left} have left"
    for consumer, life in w.life.items():
        if life is Life.LEFT and w.line[consumer] is not None:
            yield f"{consumer} has left and is connected"


@step("468-CTRL-12", "468-SESSION-05", consumer=CONSUMERS)
def only_the_running_connect(w: Coordination, after: Coordination, consumer: str) -> Iterator[str]:
    """Who has left stays away, and who is dead does not connect."""
    if w.life[consumer] is Life.LEFT and after.life[consumer] is not Life.LEFT:
        yield f"{consumer} had left and is back"
    if w.life[consumer] is not Life.RUNNING:
        if any(len(after.ends[broker, consumer]) > len(w.ends[broker, consumer]) for broker in w.controller):
            yield f"{consumer} connects and does not run"


@step("468-SESSION-17", "468-SESSION-18", "468-SESSION-22", broker=BROKERS)
def a_return_disturbs_nobody(w: Coordination, after: Coordination, broker: str) -> Iterator[str]:
    """When a known consumer connects, all assignments stay as they are and nothing is stored."""
    before, then = w.coordinator[broker], after.coordinator[broker]
    if before is None or then is None or w.restored[broker] != after.restored[broker]:
        return

    back = [s.consumer for s in then.sessions if s.connected and before.has(s.consumer)]
    back = [c for c in back if not before.session(c).connected]
    if back and (persisted(before) != persisted(then) or w.unwritten[broker] != after.unwritten[broker]):
        yield f"the return of {back[0]} makes {broker} deal out anew"


@step("468-SESSION-09", "468-SESSION-13", "468-SESSION-14", "468-SESSION-25", consumer=CONSUMERS)
def connections_cost_no_writes(w: Coordination, after: Coordination, consumer: str) -> Iterator[str]:
    """Nothing is stored when a connection comes or goes."""
    ends = [key for key in w.ends if w.ends[key] != after.ends[key]]
    if (ends or w.line[consumer] != after.line[consumer]) and any(
        w.registration[c] != after.registration[c] for c in w.registration
    ):
        yield f"a registration was written because a connection of {consumer} changed"


@leads_to("468-NOTIFY-01", "468-SESSION-08", "468-SESSION-11", "468-SESSION-22", consumer=CONSUMERS)
def every_consumer_learns_its_assignment(w: Coordination, consumer: str) -> tuple[object, object]:
    """A running consumer holds, in the end, what the leader in office has dealt to it."""
    running = w.life[consumer] is Life.RUNNING
    agreed = running and any(_agree(w, broker, consumer) for broker in w.controller)
    return running and not agreed, agreed or not running


def _agree(w: Coordination, broker: str, consumer: str) -> bool:
    session, held = session_of(w, broker, consumer), w.holds[consumer]
    if session is None or held is None or w.lock != broker or not serving(w, broker):
        return False
    return is_served(w, broker, consumer) and session.assignment.segment_ids == held.segment_ids


@leads_to("468-SESSION-19", "468-SESSION-23", "468-CTRL-12", consumer=CONSUMERS)
def the_dead_are_evicted(w: Coordination, consumer: str) -> tuple[object, object]:
    """A consumer that is gone and does not come back loses its registration."""
    gone = w.life[consumer] is not Life.RUNNING
    return gone and w.registration[consumer] is not None, not gone or w.registration[consumer] is None


@leads_to("468-CTRL-11", broker=BROKERS, consumer=CONSUMERS)
def every_registration_is_dealt_with(w: Coordination, broker: str, consumer: str) -> tuple[object, object]:
    """A broker comes to every request in the end, however late."""
    waits = w.delayed[broker, consumer] is not None
    return waits, not waits


@leads_to("468-SESSION-15", "468-SESSION-12")
def what_is_dealt_is_stored(w: Coordination) -> tuple[object, object]:
    """What the leader has dealt, stands in the store in the end."""
    agreed = any(serving(w, b) and w.lock == b and _is_stored(w, b) for b in w.controller)
    return not agreed, agreed


def _is_stored(w: Coordination, broker: str) -> bool:
    dealt = persisted(_coordinator(w, broker))
    stored = dict(_stored(w))
    return dealt.keys() == stored.keys() and not difference(dealt, stored)


@sometimes("468-SESSION-16")
def a_rebalance_is_half_stored(w: Coordination) -> object:
    """Two registrations name the same segment."""
    held = [s for _, registration in _stored(w) for s in registration.segment_ids]
    return len(held) > len(set(held))


@sometimes("468-SESSION-17")
def a_name_has_two_connections(w: Coordination) -> object:
    """A broker has two open ends for one consumer."""
    return any(len(ends) > 1 for ends in w.ends.values())


@sometimes("468-SESSION-19", "468-SESSION-23")
def somebody_was_evicted_alive(w: Coordination) -> object:
    """A consumer runs and holds segments, and no registration says so."""
    return any(
        w.life[c] is Life.RUNNING and w.holds[c] is not None and w.registration[c] is None for c in w.life
    )


@sometimes("468-SESSION-11", "468-SESSION-17")
def somebody_died_and_is_back(w: Coordination) -> object:
    """A consumer has died, and all are running."""
    return w.deaths_left < w.deaths and all(life is Life.RUNNING for life in w.life.values())
