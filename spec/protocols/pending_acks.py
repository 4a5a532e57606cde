"""
Acknowledgements in transactions: recorded while the transaction is open, applied to the cursor if it commits.

An ack is held in memory first and recorded after that. It belongs to its transaction if it was recorded
before the transaction was decided, by the owner of the segment. A cursor moves in the memory of the owner
and is written down later; what is written down is `cursor`, all up to a position, and `apart`, those after.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from spec.machine import (
    WEAK,
    Bound,
    Family,
    Memory,
    Variable,
    action,
    choose,
    require,
    start,
)
from spec.protocols.deciding import TRANSACTIONS, AckRecord
from spec.protocols.header_cache import HeaderCache, belongs, consult, may_answer, release, too_late
from spec.protocols.serving import OWNERS
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, AlreadySubscribed, append
from spec.refusals import Refused
from spec.transactions import TxnState, take_operation

ACKS = "acks"
"""As whom they need a header."""


class Stage(Enum):
    """How far an ack in a transaction has come."""

    HELD = "the header was open, and nobody else gets the message"
    PUT = "the store has a record of it, and its broker does not know under which key"
    RECORDED = "the broker knows the key of its record"
    WITHDRAWN = "its record is deleted, because the transaction was decided meanwhile"


@dataclass(frozen=True, slots=True)
class Acking:
    """An ack in a transaction on its way through a broker."""

    stage: Stage
    record: AckRecord

    def __str__(self) -> str:
        return f"{self.stage.name.lower()} {self.record}"


@dataclass(frozen=True, slots=True)
class Acked:
    """A cursor in memory: which one it is of all that had its name, and what is acknowledged."""

    cursor: int
    positions: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.positions)) or 'nothing'} on cursor {self.cursor}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What nobody can read: an ack whose record was put, and what its client knows of it."""

    segment: int
    subscription: str
    record: AckRecord
    takes: tuple[int, ...]
    """The positions that it covers and that were not acknowledged before."""
    late: bool
    """Whether the transaction was decided when the record was put."""
    accepted: bool | None = None
    """What the client was told, if anything."""
    again: tuple[int, ...] = ()
    """The positions that were delivered again after an abort."""


class PendingAcks(HeaderCache, AlreadySubscribed):
    """The pending acks of the subscriptions on their segments, and what became of the acks of clients."""

    backlog = Bound()
    transactional_acks = Bound()
    plain_acks = Bound()
    cumulative_acks = Bound()
    """Whether clients also acknowledge everything up to a message."""

    plain_acks_left = Variable[int](0)
    to_ack = Family[str, int](TRANSACTIONS, 0)
    asked_acks = Family[str, tuple[Asked, ...]](TRANSACTIONS, ())
    next_sequence = Family[str, int](TRANSACTIONS, 0)
    """What the store puts into the key of the next operation record of a transaction."""
    apart = Family[tuple[str, int], tuple[int, ...]]((SUBSCRIPTIONS, SEGMENTS), ())
    """The positions after the mark-delete position that are acknowledged one by one, as written down."""
    cursor_number = Family[tuple[str, int], int]((SUBSCRIPTIONS, SEGMENTS), 0)
    """How many cursors of that name there were on the segment before."""
    plainly = Family[tuple[str, int], tuple[int, ...]]((SUBSCRIPTIONS, SEGMENTS), ())
    """What is written down because of acks outside of transactions; nobody can tell."""
    acked = Memory[tuple[str, int, str], Acked | None]((OWNERS, SEGMENTS, SUBSCRIPTIONS), None)
    plain = Memory[tuple[str, int, str], tuple[int, ...]]((OWNERS, SEGMENTS, SUBSCRIPTIONS), ())
    """Which positions were acknowledged outside of transactions since the cursor was opened."""
    outstanding = Memory[tuple[str, int, str], tuple[int, ...]]((OWNERS, SEGMENTS, SUBSCRIPTIONS), ())
    """What was sent to the consumers, and counts as being in their hands."""
    pending = Memory[tuple[str, int, str, str], tuple[AckRecord, ...]](
        (OWNERS, SEGMENTS, SUBSCRIPTIONS, TRANSACTIONS), ()
    )
    """The acks of a transaction that wait for its end."""
    acking = Memory[tuple[str, int, str, str], Acking | None](
        (OWNERS, SEGMENTS, SUBSCRIPTIONS, TRANSACTIONS), None
    )
    replayed = Memory[tuple[str, int, str, str], bool]((OWNERS, SEGMENTS, SUBSCRIPTIONS, TRANSACTIONS), False)
    acks_recovered = Memory[tuple[str, int, str], bool]((OWNERS, SEGMENTS, SUBSCRIPTIONS), False)
    """Whether a broker has read every ack that is recorded for the subscription on the segment."""


@start
def there_is_something_to_acknowledge(w: PendingAcks) -> None:
    """The first segment has a backlog that nobody has read; each transaction will acknowledge so often."""
    for _ in range(w.backlog):
        append(w, 0, 0)
    w.plain_acks_left = w.plain_acks
    for transaction in w.to_ack:
        w.to_ack[transaction] = w.transactional_acks
    for (owner, segment), loaded in w.loaded.items():
        for subscription in w.subscribed:
            if loaded:
                w.acked[owner, segment, subscription] = Acked(0)
                w.acks_recovered[owner, segment, subscription] = True


def positions_of(acks: Iterable[AckRecord]) -> set[int]:
    """The positions that some acks cover: a cumulative one covers all up to its own."""
    return {p for ack in acks for p in (range(ack.position + 1) if ack.cumulative else (ack.position,))}


def written_down(w: PendingAcks, subscription: str, segment: int) -> tuple[int, ...]:
    """The positions that are acknowledged by what is stored of a cursor."""
    return (*range(w.cursor[subscription, segment] or 0), *w.apart[subscription, segment])


def offers(w: PendingAcks, owner: str, segment: int, subscription: str) -> bool:
    """Whether a broker serves a subscription; it waits for its recovery, if the design says so."""
    waits = w.design.serving_waits_for_recovery and not w.acks_recovered[owner, segment, subscription]
    return w.acked[owner, segment, subscription] is not None and not waits


def held(w: PendingAcks, owner: str, segment: int, subscription: str, but: str | None = None) -> set[int]:
    """The positions that transactions have acknowledged and not yet ended; one of them can be left out."""
    acks: list[AckRecord] = []
    for transaction in w.header:
        if transaction != but:
            acks += w.pending[owner, segment, subscription, transaction]
            acking = w.acking[owner, segment, subscription, transaction]
            acks += [acking.record] if acking is not None else []
    return positions_of(acks)


def handed_out(w: PendingAcks, segment: int, subscription: str) -> list[int]:
    """The positions of the messages that some consumer of a subscription has received at some time."""
    log = enumerate(w.log[segment])
    return [p for p, message in log if message.number in w.received[subscription, message.key]]


def opened(w: PendingAcks, owner: str, segment: int, subscription: str) -> Acked:
    acked = w.acked[owner, segment, subscription]
    require(acked is not None)
    assert acked is not None
    return acked


def _with(positions: tuple[int, ...], more: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({*positions, *more}))


@action(
    "473-ACK-01",
    "473-ACK-02",
    "473-NOTIFY-02",
    "473-READ-26",
    "473-READ-27",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
)
def hold_ack(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """
    A client acknowledges a message in a transaction, and is turned away if that is known to be decided.

    It is also turned away if another transaction holds any of the messages, or if all are acknowledged.
    """
    require(w.to_ack[transaction])
    require(offers(w, owner, segment, subscription))
    require(w.acking[owner, segment, subscription, transaction] is None)
    record = _chosen(w, owner, segment, subscription)
    if w.design.held_messages_are_refused:
        require(_free(w, owner, segment, subscription, record, transaction))

    w.to_ack[transaction] -= 1
    try:
        take_operation(consult(w, owner, segment, transaction, ACKS))
        w.acking[owner, segment, subscription, transaction] = Acking(Stage.HELD, record)
    except Refused:
        evict(w, owner, segment, transaction)


def _chosen(w: PendingAcks, owner: str, segment: int, subscription: str) -> AckRecord:
    """What a client acknowledges: a message that it has received, or all up to one."""
    cursor = opened(w, owner, segment, subscription).cursor
    position = choose(w, handed_out(w, segment, subscription))
    cumulative = choose(w, (False, True) if w.cumulative_acks else (False,))
    return AckRecord(position, cumulative, cursor)


def _free(
    w: PendingAcks, owner: str, segment: int, subscription: str, ack: AckRecord, transaction: str | None
) -> bool:
    """Whether an ack takes something, and nothing that another transaction holds."""
    covered = positions_of([ack])
    new = covered - {*opened(w, owner, segment, subscription).positions}
    return bool(new) and not covered & held(w, owner, segment, subscription, but=transaction)


@action(
    "473-ACK-01",
    "473-ACK-02",
    "473-OP-02",
    "473-OP-03",
    "473-COORD-07",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def record_ack(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """The broker puts an operation record, to which the store gives the next number of the transaction."""
    acking = _acking(w, owner, segment, subscription, transaction)
    require(acking.stage is Stage.HELD)

    record = replace(acking.record, sequence=w.next_sequence[transaction])
    w.next_sequence[transaction] += 1
    stored = record if w.design.cumulative_acks_say_so else replace(record, cumulative=False)
    w.acks[transaction, subscription, segment] += (stored,)
    w.acking[owner, segment, subscription, transaction] = Acking(Stage.PUT, record)
    done = opened(w, owner, segment, subscription).positions
    takes = tuple(sorted(positions_of([record]) - {*done}))
    late = w.outcome[transaction] is not TxnState.OPEN
    w.asked_acks[transaction] += (Asked(segment, subscription, record, takes, late),)


@action(
    "473-OP-03",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def learn_key(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """The store answers a put with the key that it has given to the record."""
    acking = _acking(w, owner, segment, subscription, transaction)
    require(acking.stage is Stage.PUT)

    w.acking[owner, segment, subscription, transaction] = replace(acking, stage=Stage.RECORDED)


@action(
    "473-LATE-01",
    "473-READ-26",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def accept_ack(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """The client is told that its ack is part of the transaction, once that is certain."""
    acking = _acking(w, owner, segment, subscription, transaction)
    require(acking.stage is Stage.RECORDED)
    require(belongs(w, owner, segment, transaction))

    w.pending[owner, segment, subscription, transaction] += (acking.record,)
    w.acking[owner, segment, subscription, transaction] = None
    _tell(w, transaction, acking.record, accepted=True)


@action(
    "473-LATE-01",
    "473-READ-26",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def withdraw_ack(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """A broker that finds the transaction decided deletes its record."""
    acking = _acking(w, owner, segment, subscription, transaction)
    require(acking.stage is Stage.RECORDED)
    require(too_late(w, transaction))

    delete_ack_records(w, transaction, segment, subscription, [acking.record])
    w.acking[owner, segment, subscription, transaction] = replace(acking, stage=Stage.WITHDRAWN)


@action(
    "473-LATE-01",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def refuse_ack(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """The client is told that its ack came too late, and the message is held no more."""
    acking = _acking(w, owner, segment, subscription, transaction)
    require(acking.stage is Stage.WITHDRAWN)
    require(may_answer(w, owner, segment))

    w.acking[owner, segment, subscription, transaction] = None
    _tell(w, transaction, acking.record, accepted=False)
    evict(w, owner, segment, transaction)


def _acking(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> Acking:
    acking = w.acking[owner, segment, subscription, transaction]
    require(acking is not None)
    assert acking is not None
    return acking


def _tell(w: PendingAcks, transaction: str, record: AckRecord, accepted: bool) -> None:
    """What the client of a transaction is told of one of its acks."""
    w.asked_acks[transaction] = tuple(
        replace(one, accepted=accepted) if one.record.sequence == record.sequence else one
        for one in w.asked_acks[transaction]
    )


def delete_ack_records(
    w: PendingAcks, transaction: str, segment: int, subscription: str, records: Iterable[AckRecord]
) -> None:
    """The operation records of some acks are deleted, each by its key."""
    keys = {record.sequence for record in records}
    left = tuple(r for r in w.acks[transaction, subscription, segment] if r.sequence not in keys)
    w.acks[transaction, subscription, segment] = left


def evict(w: PendingAcks, owner: str, segment: int, transaction: str) -> None:
    """A broker forgets a header that it needs no more: no ack on the segment waits for it."""
    for subscription in w.subscribed:
        if w.pending[owner, segment, subscription, transaction]:
            return
        if w.acking[owner, segment, subscription, transaction] is not None:
            return
    release(w, owner, segment, transaction, ACKS)


@action("473-READ-27", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS)
def acknowledge_plainly(w: PendingAcks, owner: str, segment: int, subscription: str) -> None:
    """A message is acknowledged outside of transactions, unless a transaction holds it."""
    require(w.plain_acks_left)
    require(offers(w, owner, segment, subscription))
    ack = _chosen(w, owner, segment, subscription)
    if w.design.held_messages_are_refused:
        require(_free(w, owner, segment, subscription, ack, None))

    w.plain_acks_left -= 1
    done = opened(w, owner, segment, subscription).positions
    taken = sorted(positions_of([ack]) - {*done})
    w.plain[owner, segment, subscription] = _with(w.plain[owner, segment, subscription], taken)
    acknowledge(w, owner, segment, subscription, taken)


def acknowledge(
    w: PendingAcks, owner: str, segment: int, subscription: str, positions: Iterable[int]
) -> None:
    """The cursor moves in memory, and what is acknowledged is in nobody's hands."""
    acked = opened(w, owner, segment, subscription)
    done = _with(acked.positions, positions)
    w.acked[owner, segment, subscription] = replace(acked, positions=done)
    left = tuple(p for p in w.outstanding[owner, segment, subscription] if p not in done)
    w.outstanding[owner, segment, subscription] = left
