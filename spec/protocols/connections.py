"""
The connections between consumers and the leader: what is heard on them, how they end, and who comes back.

Each side notices the end of a connection in its own time. A process that dies takes along what it had in
memory; its name, and with it its session, stays.
"""

from collections.abc import Iterator

from spec.assignment import ConsumerAssignment, latest
from spec.machine import (
    WEAK,
    Bound,
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
from spec.protocols.coordination import (
    CONSUMERS,
    NOW,
    Coordination,
    Life,
    Line,
    change,
    connect,
    coordinator_of,
    is_served,
    serving,
    serving_by_right,
    session_of,
)
from spec.protocols.topic import BROKERS
from spec.sessions import disconnect, persisted, unregister


class Connections(Coordination):
    """What consumers believe, and what happens to them and to their connections."""

    drops = Bound()
    deaths = Bound()
    leaves = Bound()

    drops_left = Variable[int](0)
    deaths_left = Variable[int](0)
    leaves_left = Variable[int](0)

    late = Memory[str, ConsumerAssignment | None](CONSUMERS, None)
    """What was sent on an earlier connection and has not arrived, if the consumer still listens there."""
    holds = Memory[str, ConsumerAssignment | None](CONSUMERS, None)
    """What the consumer believes to be its own."""


@start
def everybody_is_there(w: Connections) -> None:
    """Nobody has lost a connection, died or left."""
    w.drops_left = w.drops
    w.deaths_left = w.deaths
    w.leaves_left = w.leaves


# The broker's ends


@action("468-SESSION-14", "468-SESSION-16", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def notice_the_end(w: Connections, broker: str, consumer: str) -> None:
    """
    A broker notices that a connection has ended, and the consumer's grace period begins.

    As written, nobody asks whether it is still the consumer's connection that ended.
    """
    gone = [n for n in w.ends[broker, consumer] if w.line[consumer] != Line(broker, n)]
    number = choose(w, gone)

    _close(w, broker, consumer, number)
    session = session_of(w, broker, consumer)
    if session is not None:
        ended = number
        if not w.design.disconnects_name_their_connection and session.connection is not None:
            ended = session.connection
        w.coordinator[broker] = disconnect(coordinator_of(w, broker), w.name[consumer], ended, now=NOW)


@action("468-CTRL-14", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def hang_up(w: Connections, broker: str, consumer: str) -> None:
    """
    A broker that was deposed closes the connections of the consumers that registered with it.

    Else one who never left is a stranger to the same broker once that is elected again.
    """
    require(w.design.leaders_hang_up_when_deposed)
    require(w.ends[broker, consumer] and not serving(w, broker))

    w.ends[broker, consumer] = ()


# The consumers' ends


@action("468-NOTIFY-01", consumer=CONSUMERS, fair=WEAK)
def hear(w: Connections, consumer: str) -> None:
    """What the leader has sent arrives, and the consumer keeps it unless it is of an older layout."""
    _believe(w, consumer, w.inbox[consumer])
    w.inbox[consumer] = None


@action("468-NOTIFY-01", consumer=CONSUMERS)
def hear_late(w: Connections, consumer: str) -> None:
    """As written, what comes on an earlier connection counts like any other push."""
    _believe(w, consumer, w.late[consumer])
    w.late[consumer] = None


@action("468-SESSION-11", "468-SESSION-16", consumer=CONSUMERS, fault=True)
def drop_connection(w: Connections, consumer: str) -> None:
    """A consumer loses its connection; the broker's end stays open until it notices."""
    require(w.drops_left)
    require(w.line[consumer] is not None)

    w.drops_left -= 1
    _give_up(w, consumer)


@action("468-SESSION-11", "468-SESSION-05", broker=BROKERS, consumer=CONSUMERS, fault=True)
def drop_while_registering(w: Connections, broker: str, consumer: str) -> None:
    """A consumer connects, asks to be registered, and loses the connection before the broker comes to it."""
    require(w.drops_left)
    require(serving(w, broker))
    require(w.life[consumer] is Life.RUNNING and w.line[consumer] is None)

    w.drops_left -= 1
    w.delayed[broker, consumer] = connect(w, broker, consumer)


@action("468-SESSION-11", "468-ELECT-05", consumer=CONSUMERS, fair=WEAK)
def notice_the_broker_has_gone(w: Connections, consumer: str) -> None:
    """A consumer notices that the broker at the other end has crashed or hung up."""
    line = w.line[consumer]
    require(line is not None)
    assert line is not None
    require(line.number not in w.ends[line.broker, consumer])

    _give_up(w, consumer)


@action("468-SESSION-11", consumer=CONSUMERS, fault=True)
def die(w: Connections, consumer: str) -> None:
    """A consumer's process ends with all that it had in memory, and nobody is told."""
    require(w.deaths_left)
    require(w.life[consumer] is Life.RUNNING)

    w.deaths_left -= 1
    w.life[consumer] = Life.DEAD
    forget(w, consumer)


@action("468-SESSION-11", "468-SESSION-03", consumer=CONSUMERS)
def start_again(w: Connections, consumer: str) -> None:
    """The process is started again under the same name."""
    require(w.life[consumer] is Life.DEAD)

    w.life[consumer] = Life.RUNNING


@action("468-CTRL-12", "468-COORD-04", consumer=CONSUMERS)
def leave(w: Connections, consumer: str) -> None:
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
    _close(w, broker, consumer, line.number)
    if session_of(w, broker, consumer) is not None:
        change(w, broker, unregister(coordinator_of(w, broker), w.name[consumer]))


def _give_up(w: Connections, consumer: str) -> None:
    """The consumer gives its connection up; nothing that was sent on it counts, if the design says so."""
    w.line[consumer] = None
    if not w.design.consumers_listen_to_one_connection:
        w.late[consumer] = w.inbox[consumer]
    w.inbox[consumer] = None


def _close(w: Connections, broker: str, consumer: str, number: int) -> None:
    """The broker's end of a connection is closed."""
    w.ends[broker, consumer] = tuple(n for n in w.ends[broker, consumer] if n != number)


def _believe(w: Connections, consumer: str, pushed: ConsumerAssignment | None) -> None:
    """A consumer keeps what was pushed unless it is of an older layout than what it holds."""
    require(pushed is not None)
    assert pushed is not None

    held = w.holds[consumer]
    w.holds[consumer] = pushed if held is None else latest(held, pushed)


# What must hold


@step("468-SESSION-16", "468-SESSION-17", "468-SESSION-19", broker=BROKERS, consumer=CONSUMERS)
def nobody_is_evicted_while_connected(
    w: Connections, after: Connections, broker: str, consumer: str
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
    w: Connections, after: Connections, consumer: str
) -> Iterator[str]:
    """Nobody deletes the registration of a consumer that is connected to the leader and known to it."""
    if w.registration[consumer] is None or after.registration[consumer] is not None:
        return
    line = w.line[consumer]
    if line is None or not serving_by_right(w, line.broker):
        return

    if is_served(w, line.broker, consumer):
        yield f"the registration of {consumer} is deleted, although {line.broker} leads and serves it"


@step("468-SESSION-15", "468-SESSION-07", consumer=CONSUMERS)
def consumers_are_told_what_is_stored(w: Connections, after: Connections, consumer: str) -> Iterator[str]:
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
def what_is_half_open_was_lost(w: Connections) -> Iterator[str]:
    """A broker has no more connections that their consumers have given up than were lost, within bounds."""
    held = {(line.broker, consumer, line.number) for consumer, line in w.line.items() if line is not None}
    ends = {(broker, consumer, n) for (broker, consumer), numbers in w.ends.items() for n in numbers}
    lost = w.drops - w.drops_left + w.deaths - w.deaths_left
    if len(ends - held) > lost:
        yield f"{len(ends - held)} connections are half open, and {lost} were lost"
    if min(w.drops_left, w.deaths_left, w.leaves_left) < 0:
        yield "there were more faults than there may be"


@always("468-CTRL-12")
def whoever_unregistered_has_left(w: Connections) -> Iterator[str]:
    """As many have left for good as have unregistered."""
    left, asked = sum(life is Life.LEFT for life in w.life.values()), w.leaves - w.leaves_left
    if left != asked:
        yield f"{asked} have unregistered, and {left} have left"
    for consumer, life in w.life.items():
        if life is Life.LEFT and w.line[consumer] is not None:
            yield f"{consumer} has left and is connected"


@step("468-CTRL-12", "468-SESSION-05", consumer=CONSUMERS)
def only_the_running_connect(w: Connections, after: Connections, consumer: str) -> Iterator[str]:
    """Who has left stays away, and who is dead does not connect."""
    if w.life[consumer] is Life.LEFT and after.life[consumer] is not Life.LEFT:
        yield f"{consumer} had left and is back"
    if w.life[consumer] is not Life.RUNNING:
        if any(len(after.ends[broker, consumer]) > len(w.ends[broker, consumer]) for broker in w.controller):
            yield f"{consumer} connects and does not run"


@step("468-SESSION-09", "468-SESSION-13", "468-SESSION-14", "468-SESSION-25", consumer=CONSUMERS)
def connections_cost_no_writes(w: Connections, after: Connections, consumer: str) -> Iterator[str]:
    """Nothing is stored when a connection comes or goes."""
    ends = [key for key in w.ends if w.ends[key] != after.ends[key]]
    if (ends or w.line[consumer] != after.line[consumer]) and any(
        w.registration[c] != after.registration[c] for c in w.registration
    ):
        yield f"a registration was written because a connection of {consumer} changed"


@step("468-SESSION-17", "468-SESSION-18", "468-SESSION-22", broker=BROKERS)
def a_return_disturbs_nobody(w: Connections, after: Connections, broker: str) -> Iterator[str]:
    """When a known consumer connects, all assignments stay as they are and nothing is stored."""
    before, then = w.coordinator[broker], after.coordinator[broker]
    if before is None or then is None or w.restored[broker] != after.restored[broker]:
        return

    back = [s.consumer for s in then.sessions if s.connected and before.has(s.consumer)]
    back = [c for c in back if not before.session(c).connected]
    if back and (persisted(before) != persisted(then) or w.unwritten[broker] != after.unwritten[broker]):
        yield f"the return of {back[0]} makes {broker} deal out anew"


@leads_to("468-NOTIFY-01", "468-SESSION-08", "468-SESSION-11", "468-SESSION-22", consumer=CONSUMERS)
def every_consumer_learns_its_assignment(w: Connections, consumer: str) -> tuple[object, object]:
    """A running consumer holds, in the end, what the leader in office has dealt to it."""
    running = w.life[consumer] is Life.RUNNING
    agreed = running and any(_agree(w, broker, consumer) for broker in w.controller)
    return running and not agreed, agreed or not running


def _agree(w: Connections, broker: str, consumer: str) -> bool:
    session, held = session_of(w, broker, consumer), w.holds[consumer]
    if session is None or held is None or not serving_by_right(w, broker):
        return False
    return is_served(w, broker, consumer) and session.assignment.segment_ids == held.segment_ids


@leads_to("468-SESSION-19", "468-SESSION-23", "468-CTRL-12", consumer=CONSUMERS)
def the_dead_are_evicted(w: Connections, consumer: str) -> tuple[object, object]:
    """A consumer that is gone and does not come back loses its registration."""
    gone = w.life[consumer] is not Life.RUNNING
    return gone and w.registration[consumer] is not None, not gone or w.registration[consumer] is None


@leads_to("468-CTRL-11", broker=BROKERS, consumer=CONSUMERS)
def every_registration_is_dealt_with(w: Connections, broker: str, consumer: str) -> tuple[object, object]:
    """A broker comes to every request in the end, however late."""
    waits = w.delayed[broker, consumer] is not None
    return waits, not waits


@sometimes("468-SESSION-17")
def a_name_has_two_connections(w: Connections) -> object:
    """A broker has two open ends for one consumer."""
    return any(len(ends) > 1 for ends in w.ends.values())


@sometimes("468-SESSION-19", "468-SESSION-23")
def somebody_was_evicted_alive(w: Connections) -> object:
    """A consumer runs and holds segments, and no registration says so."""
    return any(
        w.life[c] is Life.RUNNING and w.holds[c] is not None and w.registration[c] is None for c in w.life
    )


@sometimes("468-SESSION-11", "468-SESSION-17")
def somebody_died_and_is_back(w: Connections) -> object:
    """A consumer has died, and all are running."""
    return w.deaths_left < w.deaths and all(life is Life.RUNNING for life in w.life.values())
