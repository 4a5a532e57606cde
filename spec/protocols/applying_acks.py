"""
What becomes of pending acks: a commit applies them to the cursor, an abort gives the messages back.

The broker applies acks in memory, writes the cursor down, and deletes the records, in this order. A broker
that opens the segment reads the cursor and all records before it serves the subscription.
"""

from collections.abc import Iterator

from spec.machine import WEAK, action, always, forget, leads_to, require, sometimes, step
from spec.protocols.deciding import TRANSACTIONS, AckRecord
from spec.protocols.header_cache import consult
from spec.protocols.pending_acks import (
    ACKS,
    Acked,
    Asked,
    PendingAcks,
    Stage,
    acknowledge,
    delete_ack_records,
    evict,
    opened,
    positions_of,
    written_down,
)
from spec.protocols.serving import OWNERS
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS
from spec.transactions import TxnState, is_aborted


class ApplyingAcks(PendingAcks):
    """Brokers that carry out what was decided about acks."""


def _own(w: PendingAcks, owner: str, segment: int, subscription: str, transaction: str) -> list[AckRecord]:
    """
    The acks of a transaction that the index lists for a subscription, and that are part of it.

    A broker that knows what it was the owner for leaves out what another one has put beside it.
    """
    known = {ack.sequence: ack for ack in w.pending[owner, segment, subscription, transaction]}
    acking = w.acking[owner, segment, subscription, transaction]
    under_way = acking.record.sequence if acking and acking.stage is Stage.RECORDED else None
    return [
        known.get(record.sequence, record)
        for record in w.acks[transaction, subscription, segment]
        if record.sequence in known
        or not (w.design.superseded_owners_are_fenced or record.sequence == under_way)
    ]


@action(
    "473-ACK-03",
    "473-ACK-04",
    "473-ACK-05",
    "473-END-05",
    "473-NOTIFY-08",
    "473-INDEX-03",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def apply_acks(w: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """A broker that knows of a commit asks the index for the acks and applies them, in memory."""
    acked = opened(w, owner, segment, subscription)
    require(w.pending[owner, segment, subscription, transaction])
    header = consult(w, owner, segment, transaction, ACKS)
    require(header is not None and header.state is TxnState.COMMITTED)
    covered = positions_of(_own(w, owner, segment, subscription, transaction))
    require(covered - {*acked.positions})

    acknowledge(w, owner, segment, subscription, covered)


@action("473-ACK-05", "473-READ-24", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS, fair=WEAK)
def write_cursor(w: ApplyingAcks, owner: str, segment: int, subscription: str) -> None:
    """The owner writes its cursor down; whoever is not the owner is refused, and drops what it has."""
    acked = opened(w, owner, segment, subscription)
    require(acked.positions != written_down(w, subscription, segment))

    if w.owner[segment] != owner:
        forget(w, owner, segment)
        return
    marked = next(p for p in range(len(w.log[segment]) + 1) if p not in acked.positions)
    w.cursor[subscription, segment] = marked
    w.apart[subscription, segment] = tuple(p for p in acked.positions if p > marked)
    plainly = {*w.plainly[subscription, segment], *w.plain[owner, segment, subscription]}
    w.plainly[subscription, segment] = tuple(sorted(plainly))


@action(
    "473-ACK-06",
    "473-GC-01",
    "473-GC-02",
    "473-END-03",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def drop_applied_acks(w: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """A broker deletes the records of acks that have reached the cursor as it is written down."""
    acked = opened(w, owner, segment, subscription)
    require(w.pending[owner, segment, subscription, transaction])
    header = consult(w, owner, segment, transaction, ACKS)
    require(header is not None and header.state is TxnState.COMMITTED)
    own = _own(w, owner, segment, subscription, transaction)
    durably = w.design.acks_are_durable_before_records_go
    done = written_down(w, subscription, segment) if durably else acked.positions
    require(positions_of(own) <= {*done})

    _finish(w, owner, segment, subscription, transaction, own)


@action(
    "473-ACK-07",
    "473-GC-01",
    "473-NOTIFY-06",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def drop_aborted_acks(w: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """A broker that knows of an abort deletes the records, and the messages are to be delivered again."""
    opened(w, owner, segment, subscription)
    pending = w.pending[owner, segment, subscription, transaction]
    require(pending)
    require(is_aborted(consult(w, owner, segment, transaction, ACKS)))

    _finish(w, owner, segment, subscription, transaction, _own(w, owner, segment, subscription, transaction))
    if w.design.aborted_acks_are_redelivered:
        released = positions_of(pending)
        left = tuple(p for p in w.outstanding[owner, segment, subscription] if p not in released)
        w.outstanding[owner, segment, subscription] = left


def _finish(
    w: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str, own: list[AckRecord]
) -> None:
    """
    The records are deleted, and nothing of the transaction is pending.

    As written they are deleted as one range of keys, in which there may be those of others.
    """
    if w.design.participants_delete_their_own_records:
        delete_ack_records(w, transaction, segment, subscription, own)
    elif own:
        first, last = own[0].sequence, own[-1].sequence
        for (t, s, n), records in w.acks.items():
            if t == transaction:
                w.acks[t, s, n] = tuple(r for r in records if not first <= r.sequence <= last)
    w.pending[owner, segment, subscription, transaction] = ()
    evict(w, owner, segment, transaction)


@action(
    "473-GC-02",
    "473-READ-44",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def drop_strays(w: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """
    The owner deletes records that are no part of what it has to do.

    It lists them and makes sure then that it is still the owner. Whatever it does not know was put by a
    broker that was superseded and told nobody, or was made for a cursor that is gone; or by itself just now,
    so it waits for the answer to its own put.
    """
    require(w.design.superseded_owners_are_fenced and w.owner[segment] == owner)
    acking = w.acking[owner, segment, subscription, transaction]
    require(acking is None or acking.stage is not Stage.PUT)
    records = w.acks[transaction, subscription, segment]
    strays = [r for r in records if r.cursor != _cursor(w, segment, subscription)]
    if not w.design.acks_name_their_cursor:
        strays = []
    if w.acks_recovered[owner, segment, subscription]:
        known = [*w.pending[owner, segment, subscription, transaction]]
        known += [acking.record] if acking and acking.stage is not Stage.PUT else []
        strays = [r for r in records if r.sequence not in [one.sequence for one in known]]
    require(strays)

    delete_ack_records(w, transaction, segment, subscription, strays)


def _cursor(w: PendingAcks, segment: int, subscription: str) -> int | None:
    """The cursor that a subscription has on a segment now, if any."""
    exists = w.cursor[subscription, segment] is not None
    return w.cursor_number[subscription, segment] if exists else None


@action("473-RECOVER-01", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS, fair=WEAK)
def open_cursor(w: ApplyingAcks, owner: str, segment: int, subscription: str) -> None:
    """A broker that has opened a segment reads what is written down of a cursor."""
    require(w.loaded[owner, segment] and w.owner[segment] == owner)
    require(w.acked[owner, segment, subscription] is None)
    require(w.cursor[subscription, segment] is not None)

    number = w.cursor_number[subscription, segment]
    w.acked[owner, segment, subscription] = Acked(number, written_down(w, subscription, segment))


@action(
    "473-ACK-08",
    "473-NOTIFY-11",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def replay_acks(w: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str) -> None:
    """
    A recovering broker reads which acks of a transaction are recorded, and the header if there are any.

    It goes from one transaction to the next, and what it has read may have changed when it is through.
    """
    acked = opened(w, owner, segment, subscription)
    require(not w.acks_recovered[owner, segment, subscription])
    require(not w.replayed[owner, segment, subscription, transaction])

    w.replayed[owner, segment, subscription, transaction] = True
    known = w.pending[owner, segment, subscription, transaction]
    found = [
        record
        for record in w.acks[transaction, subscription, segment]
        if record.cursor == acked.cursor or not w.design.acks_name_their_cursor
    ]
    new = tuple(r for r in found if r.sequence not in [one.sequence for one in known])
    w.pending[owner, segment, subscription, transaction] = known + new
    if known + new:
        consult(w, owner, segment, transaction, ACKS)


@action("473-ACK-08", "473-RECOVER-01", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS, fair=WEAK)
def finish_replay(w: ApplyingAcks, owner: str, segment: int, subscription: str) -> None:
    """The broker has read every ack that is recorded for the subscription, and serves it."""
    require(all(w.replayed[owner, segment, subscription, transaction] for transaction in w.header))

    w.acks_recovered[owner, segment, subscription] = True
    for transaction in w.header:
        w.replayed[owner, segment, subscription, transaction] = False


def current(w: PendingAcks, transaction: str, segment: int, subscription: str) -> list[Asked]:
    """The acks of a transaction that were made for the cursor that a subscription has on a segment now."""
    return [
        one
        for one in w.asked_acks[transaction]
        if (one.segment, one.subscription) == (segment, subscription)
        and one.record.cursor == _cursor(w, segment, subscription)
    ]


@always("473-GOAL-01", "473-ACK-07", "473-ACK-05", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def nothing_is_acknowledged_unasked(w: ApplyingAcks, subscription: str, segment: int) -> Iterator[str]:
    """What a cursor has acknowledged was acknowledged plainly, or in a transaction that committed."""
    owner = w.owner[segment]
    committed = [
        one
        for transaction, outcome in w.outcome.items()
        if outcome is TxnState.COMMITTED
        for one in current(w, transaction, segment, subscription)
        if one.accepted is not False
    ]
    allowed = positions_of(one.record for one in committed) | {*w.plainly[subscription, segment]}
    done = {*written_down(w, subscription, segment)}
    if owner is not None and (acked := w.acked[owner, segment, subscription]) is not None:
        allowed |= {*w.plain[owner, segment, subscription]}
        done |= {*acked.positions}
    for position in sorted(done - allowed):
        yield f"{subscription} has acknowledged {position} in segment {segment}, and nobody asked for that"


@always("473-LATE-01", "473-HEADER-07", transaction=TRANSACTIONS)
def no_ack_joins_a_decided_transaction(w: ApplyingAcks, transaction: str) -> Iterator[str]:
    """An ack is accepted only if it was recorded while its transaction was open."""
    for one in w.asked_acks[transaction]:
        if one.accepted and one.late:
            yield f"the ack of {one.record} joined {transaction}, which was decided"


@always("473-LATE-01", "473-READ-26", transaction=TRANSACTIONS, subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_refused_ack_leaves_nothing(
    w: ApplyingAcks, transaction: str, subscription: str, segment: int
) -> Iterator[str]:
    """Of an ack whose client was told that it came too late, nothing is recorded and nothing held."""
    gone = [one.record.sequence for one in w.asked_acks[transaction] if one.accepted is False]
    if not gone:
        return
    left, owner = [*w.acks[transaction, subscription, segment]], w.owner[segment]
    left += w.pending[owner, segment, subscription, transaction] if owner is not None else ()
    for record in left:
        if record.sequence in gone:
            yield f"the ack of {record} was refused, and is left in {transaction} for {subscription}"


@always("473-OP-02", "473-ACK-01", "473-ACK-02", transaction=TRANSACTIONS)
def every_ack_has_one_record(w: ApplyingAcks, transaction: str) -> Iterator[str]:
    """No more records are put than acks were made, and no more acks are made than clients have."""
    made, put = w.transactional_acks - w.to_ack[transaction], len(w.asked_acks[transaction])
    if w.to_ack[transaction] < 0 or w.plain_acks_left < 0 or put > made:
        yield f"{put} records were put in {transaction}, for {made} acks of {w.transactional_acks}"


@step("473-ACK-01", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def an_ack_is_answered_before_the_next(
    w: ApplyingAcks, after: ApplyingAcks, owner: str, segment: int, subscription: str, transaction: str
) -> Iterator[str]:
    """A broker deals with one ack of a transaction on a subscription after the other."""
    before, then = (view.acking[owner, segment, subscription, transaction] for view in (w, after))
    if before is not None and then is not None and then.stage is Stage.HELD and before != then:
        yield f"{owner} drops the ack of {before.record}, because there is one of {then.record}"


@always("473-STORE-01", "473-ACK-08", subscription=SUBSCRIPTIONS, segment=SEGMENTS, transaction=TRANSACTIONS)
def what_is_pending_is_recorded(
    w: ApplyingAcks, subscription: str, segment: int, transaction: str
) -> Iterator[str]:
    """Every ack that the owner of a segment keeps for an open transaction is in the store, too."""
    owner = w.owner[segment]
    if owner is None or w.outcome[transaction] is not TxnState.OPEN:
        return
    stored = [record.sequence for record in w.acks[transaction, subscription, segment]]
    for ack in w.pending[owner, segment, subscription, transaction]:
        if ack.sequence not in stored:
            yield f"{owner} keeps the ack of {ack} for {transaction}, and no record says so"


@always("473-GC-02", "473-ACK-06", "473-STORE-01", transaction=TRANSACTIONS)
def records_stay_until_cursors_are_written(w: ApplyingAcks, transaction: str) -> Iterator[str]:
    """An accepted ack is recorded until its transaction is aborted or the cursor that has it is written."""
    if w.outcome[transaction] is TxnState.ABORTED:
        return
    for one in w.asked_acks[transaction]:
        if not one.accepted or one.record.cursor != _cursor(w, one.segment, one.subscription):
            continue
        records = w.acks[transaction, one.subscription, one.segment]
        done = {*written_down(w, one.subscription, one.segment)}
        if one.record.sequence not in [r.sequence for r in records] and not {*one.takes} <= done:
            yield f"the record of {transaction} for {one.record} is gone, and the cursor does not have it"


@step("473-GOAL-01", "473-NOTIFY-11", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def what_is_written_down_stays(
    w: ApplyingAcks, after: ApplyingAcks, subscription: str, segment: int
) -> Iterator[str]:
    """As long as a cursor exists, nothing that it has acknowledged durably is ever taken back."""
    if _cursor(w, segment, subscription) == _cursor(after, segment, subscription):
        before, then = written_down(w, subscription, segment), written_down(after, subscription, segment)
        for position in sorted({*before} - {*then}):
            yield f"{subscription} had acknowledged {position} in segment {segment}, and has it no more"


@always("473-RECOVER-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def the_owner_knows_what_is_written_down(w: ApplyingAcks, subscription: str, segment: int) -> Iterator[str]:
    """Whoever owns a segment has acknowledged at least what is stored."""
    owner = w.owner[segment]
    acked = w.acked[owner, segment, subscription] if owner is not None else None
    if acked is not None:
        for position in sorted({*written_down(w, subscription, segment)} - {*acked.positions}):
            yield f"{owner} does not know that {subscription} has acknowledged {position}"


@always("473-GOAL-01", "473-READ-27", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_message_is_consumed_once(w: ApplyingAcks, subscription: str, segment: int) -> Iterator[str]:
    """No message is acknowledged by two transactions that commit, nor by one and plainly as well."""
    owner = w.owner[segment]
    plain = {*w.plainly[subscription, segment]}
    if owner is not None:
        plain |= {*w.plain[owner, segment, subscription]}
    for position in range(len(w.log[segment])):
        by = [
            transaction
            for transaction, outcome in w.outcome.items()
            if outcome is TxnState.COMMITTED
            and any(
                position in o.takes and o.accepted for o in current(w, transaction, segment, subscription)
            )
        ]
        if len(by) > 1:
            yield f"{subscription} consumed {position} of segment {segment} in {' and in '.join(by)}"
        if by and position in plain:
            yield f"{subscription} consumed {position} of segment {segment} in {by[0]} and plainly"


def _taken(w: PendingAcks, transaction: str, segment: int, subscription: str) -> set[int]:
    """The positions that a transaction's accepted acks have taken."""
    return {p for one in current(w, transaction, segment, subscription) if one.accepted for p in one.takes}


@leads_to(
    "473-NOTIFY-04", "473-NOTIFY-11", "473-ACK-05", transaction=TRANSACTIONS, subscription=SUBSCRIPTIONS
)
def committed_acks_are_written_down(
    w: ApplyingAcks, transaction: str, subscription: str
) -> tuple[object, object]:
    """An accepted ack of a committed transaction is durable in the end, if its cursor lives so long."""
    waiting = w.outcome[transaction] is TxnState.COMMITTED and any(
        one.accepted and not {*one.takes} <= {*written_down(w, subscription, segment)}
        for segment in w.ledger
        for one in current(w, transaction, segment, subscription)
    )
    return waiting, not waiting


@sometimes("473-ACK-05", transaction=TRANSACTIONS)
def an_ack_was_applied(w: ApplyingAcks, transaction: str) -> object:
    """An ack of a committed transaction is in a cursor that was written down."""
    return w.outcome[transaction] is TxnState.COMMITTED and any(
        one.accepted and one.takes and {*one.takes} <= {*written_down(w, one.subscription, one.segment)}
        for one in w.asked_acks[transaction]
    )


@sometimes("473-LATE-01", transaction=TRANSACTIONS)
def an_ack_came_too_late(w: ApplyingAcks, transaction: str) -> object:
    """An ack was recorded after its transaction was committed, and was refused."""
    return any(one.late and one.accepted is False for one in w.asked_acks[transaction])
