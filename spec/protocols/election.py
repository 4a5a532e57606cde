"""
Who leads a topic: controllers on demand, the leader lock, and brokers that crash or lose their session.

The lock is an ephemeral node of the metadata store; whoever holds it is the leader, and who believes to be is
another matter. A broker whose session has expired goes on until it notices. Notifications come late, and
those that fall into the gap between two sessions never come.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

from spec.layout import SegmentLayout
from spec.machine import (
    WEAK,
    Bound,
    Family,
    Memory,
    Variable,
    action,
    always,
    forget,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.topic import BROKERS, Record, Topic, published


class Controller(Enum):
    """What a broker has of the topic's controller, and how far it has come in the election. [468-CTRL-08]"""

    ABSENT = "there is none on this broker"
    FOLLOWER = "it knows of no lock of its own"
    ELECTED = "it holds the lock and has yet to take over"
    LEADER = "it believes to be the leader"


class Election(Topic):
    """The brokers, their controllers of the one topic, and the lock."""

    crashes = Bound()
    expiries = Bound()

    crashes_left = Variable[int](0)
    expiries_left = Variable[int](0)
    up = Family[str, bool](BROKERS, True)
    controller = Family[str, Controller](BROKERS, Controller.FOLLOWER)
    lock = Variable[str | None](None)
    """The broker whose address stands in the lock. [468-ELECT-03, 468-ELECT-04, 468-PATH-04]"""
    elections = Variable[int](0)
    """How often the lock was taken: the store numbers its nodes, so every holder has a later number."""
    stands = Memory[str, bool](BROKERS, False)
    """A controller that was just opened, or has a NoLeader notification on its way."""
    session_lost = Memory[str, bool](BROKERS, False)
    """The broker's session has expired, and it has not noticed yet."""
    term = Memory[str, int](BROKERS, 0)
    """The number of the lock that a controller holds or held; 0 for none."""
    leads = Memory[str, int](BROKERS, 0)
    """The incarnation of the topic that a leader took over."""
    current = Memory[str, SegmentLayout | None](BROKERS, None)
    """The layout that a controller has in memory. [468-CTRL-16]"""


@start
def nobody_leads_yet(w: Election) -> None:
    """Every broker has a controller and stands for election."""
    w.crashes_left = w.crashes
    w.expiries_left = w.expiries
    for broker in w.stands:
        w.stands[broker] = True


class Led(Election):
    """A topic that the first broker leads, for questions that are not about who leads."""


@start
def one_broker_leads(w: Led) -> None:
    """It has taken over, and nobody else stands."""
    record = w.record
    assert record is not None
    broker = next(iter(w.controller))
    w.elections = 1
    w.lock = broker
    w.record = replace(record, term=1)
    for other in w.stands:
        w.stands[other] = False
    w.term[broker] = 1
    w.controller[broker] = Controller.LEADER
    w.current[broker] = record.layout


@action("468-SERVICE-02", broker=BROKERS)
def open_controller(w: Election, broker: str) -> None:
    """A request for the topic (split, merge, registration, stats) makes the broker open a controller."""
    require(w.up[broker])
    require(w.controller[broker] is Controller.ABSENT)

    w.controller[broker] = Controller.FOLLOWER
    w.stands[broker] = True


@action(
    "468-ELECT-01",
    "468-ELECT-03",
    "468-ELECT-04",
    "468-ELECT-07",
    "468-SERVICE-11",
    broker=BROKERS,
    fair=WEAK,
)
def stand_for_election(w: Election, broker: str) -> None:
    """
    Load the layout and try to put the broker's address into the lock: whoever finds it free is elected.

    Loading comes first, so that what it has in memory may be older than its lock. [468-READ-21]
    """
    require(w.stands[broker] and not w.session_lost[broker])

    w.stands[broker] = False
    record = published(w)
    w.current[broker] = record.layout if record is not None else None
    if w.lock is None:
        w.lock = broker
        w.elections += 1
        w.term[broker] = w.elections
        w.controller[broker] = Controller.ELECTED


@action("468-CTRL-10", "468-ELECT-07", broker=BROKERS, fair=WEAK)
def take_over(w: Election, broker: str) -> None:
    """
    Begin to act as the leader.

    The number of its lock, written into the record, makes every earlier leader's writes fail.
    """
    require(w.controller[broker] is Controller.ELECTED)
    record = published(w)
    require(record is not None)
    assert record is not None

    if w.design.leaders_are_fenced:
        if w.term[broker] < record.term:
            w.controller[broker] = Controller.FOLLOWER
            return
        record = w.record = record.written(term=w.term[broker])
    if w.design.leaders_load_after_the_lock:
        w.current[broker] = record.layout
    w.leads[broker] = record.incarnation
    w.controller[broker] = Controller.LEADER


@action("468-CTRL-14", broker=BROKERS, fair=WEAK)
def notice_later_term(w: Election, broker: str) -> None:
    """A leader whose write was refused looks at the lock: it is deposed, or this is another topic by now."""
    require(leading(w, broker) and not in_office(w, broker))

    w.controller[broker] = Controller.ELECTED if w.lock == broker else Controller.FOLLOWER


@action("468-ELECT-05", broker=BROKERS, fault=True)
def expire_session(w: Election, broker: str) -> None:
    """The store ends a broker's session and takes its lock away; the broker lives on and does not notice."""
    require(w.expiries_left)
    require(w.lock == broker or w.stands[broker])

    w.expiries_left -= 1
    w.session_lost[broker] = True
    w.stands[broker] = False
    clear_lock(w, broker)


@action("468-CTRL-14", broker=BROKERS, fair=WEAK)
def notice_lost_session(w: Election, broker: str) -> None:
    """
    A broker that has a new session keeps its controller, which no longer believes to lead.

    What was notified between the two sessions it never hears, so the design has it look for itself.
    """
    require(w.session_lost[broker])

    w.session_lost[broker] = False
    if w.controller[broker] in (Controller.ELECTED, Controller.LEADER):
        w.controller[broker] = Controller.FOLLOWER
    if w.design.lost_sessions_read_again and w.controller[broker] is Controller.FOLLOWER:
        w.stands[broker] = True


@action("468-ELECT-05", broker=BROKERS, fault=True)
def crash(w: Election, broker: str) -> None:
    """A broker is gone with all that it had in memory, and its session with it."""
    require(w.crashes_left)

    w.crashes_left -= 1
    w.up[broker] = False
    w.controller[broker] = Controller.ABSENT
    forget(w, broker)
    clear_lock(w, broker)


@action("468-ELECT-05", broker=BROKERS, fair=WEAK)
def restart(w: Election, broker: str) -> None:
    """A broker comes back and knows nothing."""
    require(not w.up[broker])

    w.up[broker] = True


def clear_lock(w: Election, broker: str) -> None:
    """
    The lock goes with the session that made it, and whoever has a controller and a session is notified.

    [468-ELECT-05, 468-ELECT-06]
    """
    if w.lock != broker:
        return
    w.lock = None
    for other in w.controller:
        if w.controller[other] is Controller.FOLLOWER and not w.session_lost[other]:
            w.stands[other] = True


def leading(w: Election, broker: str) -> bool:
    """What a broker believes: the check that stands before every mutating operation. [468-CTRL-15]"""
    return w.controller[broker] is Controller.LEADER


def fenced(w: Election, broker: str, record: Record) -> bool:
    """Whether the record refuses a broker's writes: another leader took over, or nobody did this topic."""
    if not w.design.leaders_are_fenced:
        return False
    return w.term[broker] < record.term or w.leads[broker] != record.incarnation


def in_office(w: Election, broker: str) -> bool:
    """Whether a broker believes to lead and its writes take effect."""
    record = published(w)
    return leading(w, broker) and record is not None and not fenced(w, broker, record)


def admitted(w: Election, broker: str) -> Record:
    """
    The record, if the leader may write it: a conditional write fails for a leader of an earlier term.

    Reading and writing are one action, because a write that somebody overtook fails and is repeated.
    """
    require(in_office(w, broker))
    record = w.record
    assert record is not None
    return record


@always("468-ELECT-01", "468-CTRL-01")
def one_broker_is_in_office(w: Election) -> Iterator[str]:
    """However many believe to lead, one of them at most may write."""
    acting = [broker for broker in w.controller if in_office(w, broker)]
    if len(acting) > 1:
        yield f"{' and '.join(acting)} both act as the leader"


@always("468-SERVICE-02", "468-PATH-04", broker=BROKERS)
def who_is_down_has_no_controller(w: Election, broker: str) -> Iterator[str]:
    """A broker that is not running keeps nothing in memory and holds no lock."""
    if w.up[broker]:
        return
    if w.controller[broker] is not Controller.ABSENT or w.lock == broker or w.session_lost[broker]:
        yield f"{broker} is down and has a controller, a session or the lock"


@always("468-ELECT-01", "468-CTRL-08", broker=BROKERS)
def whoever_holds_the_lock_was_elected(w: Election, broker: str) -> Iterator[str]:
    """Where the lock names a broker whose session lives, that broker knows it."""
    if w.lock == broker and w.controller[broker] in (Controller.ABSENT, Controller.FOLLOWER):
        yield f"{broker} holds the lock and does not know it"


@step("468-ELECT-06", broker=BROKERS)
def everybody_hears_that_nobody_leads(w: Election, after: Election, broker: str) -> Iterator[str]:
    """When the lock is cleared, every other controller whose broker has a session is notified."""
    cleared = w.lock is not None and after.lock is None
    waiting = after.controller[broker] is Controller.FOLLOWER and not after.session_lost[broker]
    if cleared and waiting and not after.stands[broker]:
        yield f"{w.lock} lost the lock, and {broker} will never hear of it"


@step("468-ELECT-01", "468-CTRL-14", broker=BROKERS)
def offices_are_won_and_lost_for_a_reason(w: Election, after: Election, broker: str) -> Iterator[str]:
    """Only who was elected takes over, and who is in office stays, unless its broker or session ends."""
    before, then = w.controller[broker], after.controller[broker]
    resigned = in_office(w, broker) and then in (Controller.FOLLOWER, Controller.ELECTED)
    if then is Controller.LEADER and before not in (Controller.ELECTED, Controller.LEADER):
        yield f"{broker} took over and was not elected"
    if resigned and not w.session_lost[broker]:
        yield f"{broker} gave up an office that was its own"


@always("468-CTRL-14", "468-CTRL-16", broker=BROKERS)
def whoever_led_can_still_be_read(w: Election, broker: str) -> Iterator[str]:
    """A controller that stood for election has a layout to show, whether it leads or not."""
    if w.term[broker] and w.controller[broker] is Controller.ABSENT:
        yield f"{broker} has no controller any more, and did not crash"
    if w.term[broker] and w.current[broker] is None and w.controller[broker] is Controller.LEADER:
        yield f"{broker} leads and has no layout"


@always("468-ELECT-05")
def no_more_breaks_than_there_may(w: Election) -> Iterator[str]:
    """Faults stay within their budgets."""
    if w.crashes_left < 0 or w.expiries_left < 0:
        yield f"{-min(w.crashes_left, w.expiries_left)} faults too many"


@leads_to("468-ELECT-02")
def a_topic_gets_a_leader_again(w: Election) -> tuple[object, object]:
    """A topic that exists, and that a living broker has a controller of, does not stay without a leader."""
    alive = published(w) is not None and any(
        state is not Controller.ABSENT for state in w.controller.values()
    )
    led = any(in_office(w, broker) for broker in w.controller)
    return alive and not led, led or not alive


@sometimes("468-ELECT-02", broker=BROKERS)
def a_deposed_leader_acts_beside_its_successor(w: Election, broker: str) -> object:
    """A broker believes to lead, and another one holds the lock."""
    return leading(w, broker) and w.lock not in (None, broker)
