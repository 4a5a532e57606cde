"""
DAG watch sessions: any broker reads the record and the leader lock for a client, and pushes what changes.

What the store shows to a broker lags behind the store itself: a broker sees what was written, and is notified
of it, when it catches up, perhaps with several writes at once. An update travels, and on its way it can be
overtaken by those of another session. Who changes the layout does not matter here, so one action publishes
the next layout. [468-WATCH-01, 468-READ-23, 468-READ-24, 468-READ-42]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.design import Design
from spec.layout import initial_layout, split_segment
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
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
from spec.protocols.election import Controller, Election, in_office, open_controller
from spec.protocols.topic import BROKERS, Ledger, Record, View, view_of

CLIENTS = Domain("client", "c")


@dataclass(frozen=True, slots=True)
class Shown:
    """What the store has shown to a broker so far."""

    record: Record | None
    leader: str | None


@dataclass(frozen=True, slots=True)
class Update:
    """CommandScalableTopicUpdate: the DAG, or that there is no such topic, and the controller's address."""

    number: int
    """Of the session: the sessionId that the client chose, each larger than those before."""
    known: View | None
    leader: str | None


@dataclass(frozen=True, slots=True)
class Watch:
    """A session as its broker has it. It has no topic state that could be lost. [468-READ-27]"""

    number: int
    listens: bool = False
    updates: tuple[Update | None, ...] = ()
    """The updates that are being put together; None for one for which nothing has been read yet."""
    again: bool = False
    """A notification has come while an update was being put together."""


class Watching(Election):
    """The watch sessions on every broker, and what the clients have learned by them."""

    publications = Bound()
    recreations = Bound()
    disconnections = Bound()

    publications_left = Variable[int](0)
    recreations_left = Variable[int](0)
    disconnections_left = Variable[int](0)
    view = Memory[str, Shown | None](BROKERS, None)
    missing = Memory[str, bool](BROKERS, False)
    """The broker has lost its session, and what is written meanwhile it will not be notified of."""
    watch = Memory[tuple[str, str], Watch | None]((BROKERS, CLIENTS), None)
    update = Family[tuple[str, str], Update | None]((BROKERS, CLIENTS), None)
    """
    The update that is on its way from a broker to a client: more than one would only come in their order.
    """
    served_by = Family[str, str | None](CLIENTS, None)
    """The broker to which a client has opened its present session."""
    sessions = Family[str, int](CLIENTS, 0)
    """The sessionId of a client's present or last session."""
    known = Family[str, View | None](CLIENTS, None)
    address = Family[str, str | None](CLIENTS, None)
    """Where a client believes the controller leader to be. [468-WATCH-04]"""


@start
def nobody_watches_yet(w: Watching) -> None:
    """One broker has been asked for a controller; every broker has seen the topic as it was created."""
    w.publications_left = w.publications
    w.recreations_left = w.recreations
    w.disconnections_left = w.disconnections
    for broker in list(w.view)[1:]:
        w.controller[broker] = Controller.ABSENT
        w.stands[broker] = False
    for broker in w.view:
        w.view[broker] = Shown(w.record, None)


@action("468-SPLIT-10", "468-SPLIT-12")
def publish_next_layout(w: Watching) -> None:
    """The first active segment is split: its children exist, it is terminated, the record is written."""
    record = w.record
    require(w.publications_left and record is not None)
    assert record is not None
    parent = record.layout.active[0].segment_id
    after = split_segment(record.layout, parent)

    w.publications_left -= 1
    w.ledger[parent] = Ledger.TERMINATED
    for child in after.segment(parent).child_ids:
        w.ledger[child] = Ledger.OPEN
    w.record = record.written(layout=after)


@action("468-DELETE-04")
def delete_topic(w: Watching) -> None:
    """The record is removed, and the segments with it."""
    require(w.recreations_left)

    w.recreations_left -= 1
    w.record = None
    for segment in w.ledger:
        w.ledger[segment] = Ledger.ABSENT


@action("468-CREATE-04", fair=WEAK)
def create_topic_again(w: Watching) -> None:
    """A topic of the same name is created, with epoch and segment ids from 0 on."""
    require(w.record is None)

    layout = initial_layout(w.initial_segments)
    w.record = Record(layout, incarnation=w.recreations - w.recreations_left)
    for segment in layout.active:
        w.ledger[segment.segment_id] = Ledger.OPEN


@action("468-WATCH-01", "468-WATCH-06", client=CLIENTS, broker=BROKERS, fair=WEAK)
def open_session(w: Watching, client: str, broker: str) -> None:
    """A client that has no session opens one on any broker."""
    require(w.served_by[client] is None)
    require(w.up[broker])

    w.served_by[client] = broker
    w.sessions[client] += 1
    if w.design.watches_before_loading:
        w.watch[broker, client] = Watch(w.sessions[client])
    else:
        w.watch[broker, client] = Watch(w.sessions[client], updates=(None,))


@action("468-WATCH-10", broker=BROKERS, client=CLIENTS, fair=WEAK)
def listen(w: Watching, broker: str, client: str) -> None:
    """
    Register a listener with the store, before anything is read.

    As written this is the last step, and what was written since the record was read goes unnoticed.
    """
    watch = _watch(w, broker, client)
    require(not watch.listens)
    if w.design.watches_before_loading:
        w.watch[broker, client] = replace(watch, listens=True, updates=(None,))
        return

    require(watch.updates != (None,))
    w.watch[broker, client] = replace(watch, listens=True)


@action(
    "468-WATCH-07", "468-WATCH-09", "468-WATCH-12", broker=BROKERS, client=CLIENTS, place=(0, 1), fair=WEAK
)
def read_store(w: Watching, broker: str, client: str, place: int) -> None:
    """
    Read the record and the leader lock, as far as the store has shown them to this broker.

    Where there is no leader, the design has this broker open a controller, for somebody has to stand.
    """
    watch, view = _watch(w, broker, client), w.view[broker]
    require(place < len(watch.updates) and watch.updates[place] is None)
    require(view is not None)
    assert view is not None

    known = _known(view.record)
    update = Update(watch.number, known, view.leader)
    updates = tuple(update if at == place else other for at, other in enumerate(watch.updates))
    w.watch[broker, client] = replace(watch, updates=updates)
    if view.leader is None and w.design.watches_open_controllers:
        if w.controller[broker] is Controller.ABSENT:
            open_controller(w, broker)


@action(
    "468-ROLE-02", "468-WATCH-03", "468-WATCH-11", broker=BROKERS, client=CLIENTS, place=(0, 1), fair=WEAK
)
def send_update(w: Watching, broker: str, client: str, place: int) -> None:
    """Send what was read, as the first response or as a push; then begin again, if something has changed."""
    watch = _watch(w, broker, client)
    require(watch.listens and place < len(watch.updates))
    update = watch.updates[place]
    require(update is not None and w.update[broker, client] is None)

    w.update[broker, client] = update
    rest = tuple(other for at, other in enumerate(watch.updates) if at != place)
    w.watch[broker, client] = replace(watch, updates=rest + (None,) * watch.again, again=False)


@action("468-WATCH-03", "468-WATCH-12", broker=BROKERS, fair=WEAK)
def catch_up(w: Watching, broker: str) -> None:
    """
    The store shows a broker what was written, and the listeners on what has changed are notified.

    Several writes can come as one. What was written while the broker had no session comes without any
    notification, so the design has every session read again.
    """
    mine = _served(w, broker)
    require(mine and not w.session_lost[broker])
    before, now = w.view[broker], Shown(w.record, w.lock)
    missing = w.missing[broker]

    w.view[broker] = now
    w.missing[broker] = False
    for client in mine:
        watch = _watch(w, broker, client)
        notified = w.design.lost_sessions_read_again if missing else _concerns(w.design, before, now)
        if watch.listens and notified:
            w.watch[broker, client] = _read_again(w.design, watch)


def _concerns(design: Design, before: Shown | None, now: Shown) -> bool:
    """Whether the listeners of a session are notified of what has changed."""
    if before is None or before.record != now.record:
        return True
    return design.watches_follow_the_leader and before.leader != now.leader


def _read_again(design: Design, watch: Watch) -> Watch:
    """
    Put another update together: after the one that is in the making, or beside it, as the text would have it.
    """
    if not watch.updates:
        return replace(watch, updates=(None,))
    if design.watches_push_in_order or len(watch.updates) == 2:
        return replace(watch, again=True)
    return replace(watch, updates=(*watch.updates, None))


@action("468-WATCH-04", "468-WATCH-11", "468-WATCH-12", client=CLIENTS, broker=BROKERS, fair=WEAK)
def receive_update(w: Watching, client: str, broker: str) -> None:
    """
    A client takes over an update of its present session, and the layout in it if that is not an older one.

    As written, what comes is taken, from whichever session it comes.
    """
    update = w.update[broker, client]
    require(update is not None)
    assert update is not None

    w.update[broker, client] = None
    if w.design.clients_keep_the_latest and update.number < w.sessions[client]:
        return
    w.address[client] = update.leader
    w.known[client] = _later(w.design, w.known[client], update)


def _later(design: Design, known: View | None, update: Update) -> View | None:
    """The layout that a client goes by after an update; none where there is no topic."""
    offered = update.known
    if offered is None or known is None or not design.clients_keep_the_latest:
        return offered
    return max(offered, known, key=lambda one: one.rank(design))


@action("468-WATCH-13", client=CLIENTS, fault=True)
def disconnect(w: Watching, client: str) -> None:
    """A client gives up its connection, although the broker is there; what was sent may still arrive."""
    require(w.disconnections_left)

    w.disconnections_left -= 1
    w.served_by[client] = None


@action("468-WATCH-01", client=CLIENTS, fair=WEAK)
def notice_lost_broker(w: Watching, client: str) -> None:
    """A client whose broker has crashed has no session any more."""
    broker = w.served_by[client]
    require(broker is not None)
    assert broker is not None
    require(w.watch[broker, client] is None)

    w.served_by[client] = None


@action("468-WATCH-13", broker=BROKERS, client=CLIENTS, fair=WEAK)
def end_session(w: Watching, broker: str, client: str) -> None:
    """A broker ends a session when its client closes it or its connection is gone."""
    watch = _watch(w, broker, client)
    require(w.served_by[client] != broker or watch.number != w.sessions[client])

    w.watch[broker, client] = None
    if not _served(w, broker):
        w.view[broker] = None
        w.missing[broker] = False


@action("468-ELECT-05", broker=BROKERS, fault=True)
def expire_watching_session(w: Watching, broker: str) -> None:
    """The store ends the session of a broker that serves watch sessions and does not lead."""
    require(w.expiries_left)
    require(_served(w, broker) and w.lock != broker)

    w.expiries_left -= 1
    w.missing[broker] = True


def _served(w: Watching, broker: str) -> list[str]:
    """The clients of which a broker has a session."""
    return [client for client in w.served_by if w.watch[broker, client] is not None]


def _watch(w: Watching, broker: str, client: str) -> Watch:
    watch = w.watch[broker, client]
    require(watch is not None)
    assert watch is not None
    return watch


def _known(record: Record | None) -> View | None:
    """What a client is told of a record."""
    return None if record is None else view_of(record)


@step("468-WATCH-11", "468-WATCH-12", client=CLIENTS)
def clients_never_go_back(w: Watching, after: Watching, client: str) -> Iterator[str]:
    """The layout that a client goes by is never followed by an earlier one."""
    old, new = w.known[client], after.known[client]
    if old is None or new is None:
        return
    if (new.incarnation, new.layout.epoch) < (old.incarnation, old.layout.epoch):
        yield f"{client} goes back from epoch {old.layout.epoch} to {new.layout.epoch}"


@always("468-WATCH-01", broker=BROKERS, client=CLIENTS)
def nobody_is_served_by_a_dead_broker(w: Watching, broker: str, client: str) -> Iterator[str]:
    """A broker that is not there has no sessions."""
    if w.watch[broker, client] is not None and not w.up[broker]:
        yield f"{broker} is down and has a session of {client}"


@step("468-WATCH-12", broker=BROKERS, client=CLIENTS)
def updates_are_not_lost(w: Watching, after: Watching, broker: str, client: str) -> Iterator[str]:
    """An update that is on its way arrives before another one is sent on the same connection."""
    before, then = w.update[broker, client], after.update[broker, client]
    if before is not None and then is not None and before != then:
        yield f"an update of session {before.number} from {broker} to {client} is lost"


@leads_to("468-ROLE-02", "468-WATCH-03", "468-WATCH-12", client=CLIENTS)
def clients_learn_the_published_layout(w: Watching, client: str) -> tuple[object, object]:
    """Whatever is published reaches every client, in the end."""
    learned = w.known[client] == _known(w.record)
    return not learned, learned


@leads_to("468-SPLIT-11", "468-ROLE-02", client=CLIENTS)
def clients_that_wait_go_on(w: Watching, client: str) -> tuple[object, object]:
    """A client whose segment turns out to be terminated gets to know one that is not."""
    known = w.known[client]
    if known is None or w.record is None or known.incarnation != w.record.incarnation:
        return False, True
    waits = w.ledger[known.layout.active[0].segment_id] is Ledger.TERMINATED
    return waits, not waits


@leads_to("468-WATCH-04", "468-WATCH-09", "468-ELECT-04", client=CLIENTS)
def clients_learn_where_the_leader_is(w: Watching, client: str) -> tuple[object, object]:
    """A client learns the address of every leader that stays, so that a consumer can register there."""
    lost = w.lock is not None and w.address[client] != w.lock
    return lost, not lost


@leads_to("468-ELECT-02", "468-SERVICE-11")
def a_watched_topic_gets_a_leader(w: Watching) -> tuple[object, object]:
    """A topic that is watched does not stay without a leader, even if no controller is left."""
    led = any(in_office(w, broker) for broker in w.controller)
    watched = any(broker is not None for broker in w.served_by.values())
    return watched and not led, led or w.record is None


@leads_to("468-WATCH-13", broker=BROKERS, client=CLIENTS)
def forsaken_sessions_end(w: Watching, broker: str, client: str) -> tuple[object, object]:
    """A broker does not keep a session to which nobody listens."""
    watch = w.watch[broker, client]
    forsaken = watch is not None and watch.number != w.sessions[client]
    return forsaken, not forsaken


@sometimes("468-WATCH-05", client=CLIENTS)
def a_layout_came_without_a_leader(w: Watching, client: str) -> object:
    """A client has the published layout, and there never was a leader."""
    known = w.known[client]
    return known is not None and known.layout.epoch and known == _known(w.record) and not w.elections


@sometimes("468-WATCH-01", "468-ROLE-06", client=CLIENTS)
def a_broker_without_a_controller_serves(w: Watching, client: str) -> object:
    """A client has learned by a broker without a controller that another one leads."""
    broker = w.served_by[client]
    return (
        broker is not None
        and w.controller[broker] is Controller.ABSENT
        and w.address[client] not in (None, broker)
        and w.address[client] == w.lock
    )


@sometimes("468-WATCH-12", client=CLIENTS)
def an_update_comes_too_late(w: Watching, client: str) -> object:
    """An update of an earlier session is still on its way."""
    known = w.known[client]
    return known is not None and any(
        update is not None and update.known is not None and update.known.layout.epoch < known.layout.epoch
        for (_, to), update in w.update.items()
        if to == client
    )


@sometimes("468-WATCH-12", "468-READ-42", client=CLIENTS)
def an_epoch_is_skipped(w: Watching, client: str) -> object:
    """A client that goes by one layout is about to be told not of the next, but of the one after it."""
    known = w.known[client]
    return known is not None and any(
        update is not None and update.known is not None and update.known.layout.epoch > known.layout.epoch + 1
        for (_, to), update in w.update.items()
        if to == client
    )
