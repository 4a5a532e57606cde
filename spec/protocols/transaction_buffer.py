"""
The transaction buffer of a segment: it takes writes in transactions, and decides what may be read.

An entry is appended first and recorded after that. It belongs to its transaction if it was recorded before
the transaction was decided: then its send is acknowledged. As written, what became of an entry is asked of
the header; else it is written down with the segment before anybody can read the entry, and whatever the
store knew of the transaction may go.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.design import Unknown
from spec.machine import (
    WEAK,
    Bound,
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
from spec.protocols.deciding import TRANSACTIONS
from spec.protocols.header_cache import HeaderCache, belongs, consult, may_answer, release, too_late
from spec.protocols.serving import OWNERS, owns
from spec.protocols.topic import SEGMENTS, Ledger, append, hash_of
from spec.refusals import Refused
from spec.transactions import (
    Header,
    Position,
    TxnState,
    Visibility,
    is_aborted,
    read_horizon,
    take_operation,
    visibility,
)

BUFFER = "buffer"
"""As whom it needs a header."""


class Stage(Enum):
    """How far a write in a transaction has come."""

    ALLOWED = "the header was open"
    APPENDED = "the entry is in the ledger"
    RECORDED = "the store has a record of it"
    WITHDRAWN = "its record is deleted, because the transaction was decided meanwhile"


@dataclass(frozen=True, slots=True)
class Sending:
    """A write in a transaction on its way through a broker."""

    stage: Stage
    position: int | None = None

    def __str__(self) -> str:
        return self.stage.name.lower() + (f" at {self.position}" if self.position is not None else "")


@dataclass(frozen=True, slots=True)
class Settled:
    """What is kept with a segment: up to where every entry is decided, and which of those are skipped."""

    through: int = -1
    skipped: tuple[int, ...] = ()

    def __str__(self) -> str:
        skipped = f" but {', '.join(map(str, self.skipped))}" if self.skipped else ""
        return f"through {self.through}{skipped}"


class TransactionBuffer(HeaderCache):
    """The buffers of the segments, and what became of the writes of clients."""

    transactional_writes = Bound()
    plain_writes = Bound()

    plain_left = Variable[int](0)
    to_write = Family[str, int](TRANSACTIONS, 0)
    accepted = Family[str, tuple[tuple[int, int], ...]](TRANSACTIONS, ())
    """Segment and position of the writes that the client knows to be part of its transaction."""
    refused = Family[str, tuple[tuple[int, int], ...]](TRANSACTIONS, ())
    """Those of which it knows that they are not."""
    settled = Family[int, Settled](SEGMENTS, Settled())
    recovered = Memory[tuple[str, int], bool]((OWNERS, SEGMENTS), False)
    """Whether a buffer has read everything that is stored of its segment."""
    claims = Memory[tuple[str, int, str], tuple[int, ...]]((OWNERS, SEGMENTS, TRANSACTIONS), ())
    """The positions of the writes of a transaction that the buffer knows of."""
    sending = Memory[tuple[str, int, str], Sending | None]((OWNERS, SEGMENTS, TRANSACTIONS), None)
    void = Memory[tuple[str, int], tuple[int, ...]]((OWNERS, SEGMENTS), ())
    """The positions of entries that belong to no transaction, whatever they say themselves."""
    scanned = Memory[tuple[str, int, str], bool]((OWNERS, SEGMENTS, TRANSACTIONS), False)


@start
def clients_have_something_to_write(w: TransactionBuffer) -> None:
    """Each transaction will write so often, and somebody outside of transactions, too."""
    w.plain_left = w.plain_writes
    for transaction in w.to_write:
        w.to_write[transaction] = w.transactional_writes
    for key, loaded in w.loaded.items():
        w.recovered[key] = loaded


def serves(w: TransactionBuffer, owner: str, segment: int) -> bool:
    """Whether a broker shows a segment to anybody; it waits for its recovery, if the design says so."""
    waits = w.design.serving_waits_for_recovery and not w.recovered[owner, segment]
    return w.loaded[owner, segment] and not waits


def keeps_outcomes(w: TransactionBuffer) -> bool:
    """Whether what became of an entry is kept with its segment."""
    return w.design.unknown is Unknown.NEVER_ASKED


def _key_in(w: TransactionBuffer, segment: int) -> int:
    """The first key whose messages a segment takes."""
    require(w.record is not None and w.record.layout.has(segment))
    assert w.record is not None
    range = w.record.layout.segment(segment).range
    keys = [key for key in w.sent if range.start <= hash_of(w, key) <= range.end]
    require(keys)
    return keys[0]


@action("473-BUFFER-06", owner=OWNERS, segment=SEGMENTS)
def write_outside_of_transactions(w: TransactionBuffer, owner: str, segment: int) -> None:
    """An ordinary message is appended and acknowledged."""
    require(w.plain_left)
    require(owns(w, owner, segment) and w.ledger[segment] is Ledger.OPEN)

    w.plain_left -= 1
    append(w, segment, _key_in(w, segment))


@action(
    "473-PUBLISH-01",
    "473-PUBLISH-02",
    "473-PUBLISH-03",
    "473-NOTIFY-03",
    "473-COORD-07",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
)
def allow_write(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """A client sends a message in a transaction, and is turned away if that is known to be decided."""
    require(w.to_write[transaction])
    require(serves(w, owner, segment) and w.sending[owner, segment, transaction] is None)
    _key_in(w, segment)

    w.to_write[transaction] -= 1
    try:
        take_operation(consult(w, owner, segment, transaction, BUFFER))
        w.sending[owner, segment, transaction] = Sending(Stage.ALLOWED)
    except Refused:
        _evict(w, owner, segment, transaction)


@action(
    "473-BUFFER-01",
    "473-GOAL-02",
    "473-SEAL-02",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def append_entry(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """The message is appended to the ledger, or the client is told that the segment is terminated."""
    require(_sending(w, owner, segment, transaction).stage is Stage.ALLOWED)
    require(owns(w, owner, segment))

    if w.ledger[segment] is Ledger.OPEN:
        w.sending[owner, segment, transaction] = Sending(Stage.APPENDED, len(w.log[segment]))
        append(w, segment, _key_in(w, segment), acknowledged=False, transaction=transaction)
    else:
        w.sending[owner, segment, transaction] = None
        _evict(w, owner, segment, transaction)


@action(
    "473-BUFFER-01",
    "473-OP-02",
    "473-COORD-07",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def record_write(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """The broker puts an operation record that says which entry belongs to the transaction."""
    sending = _sending(w, owner, segment, transaction)
    require(sending.stage is Stage.APPENDED)
    assert sending.position is not None

    w.writes[transaction, segment] = _with(w.writes[transaction, segment], sending.position)
    if w.design.writes_hold_the_horizon:
        known = w.claims[owner, segment, transaction]
        w.claims[owner, segment, transaction] = _with(known, sending.position)
    w.sending[owner, segment, transaction] = Sending(Stage.RECORDED, sending.position)


@action(
    "473-BUFFER-02",
    "473-LATE-01",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def acknowledge_write(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """The client is told that its message is part of the transaction, once that is certain."""
    sending = _sending(w, owner, segment, transaction)
    require(sending.stage is Stage.RECORDED)
    require(belongs(w, owner, segment, transaction))
    assert sending.position is not None

    w.accepted[transaction] += ((segment, sending.position),)
    w.sending[owner, segment, transaction] = None


@action("473-LATE-01", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS, fair=WEAK)
def withdraw_record(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """A broker that finds the transaction decided deletes its record, and the entry belongs to nobody."""
    sending = _sending(w, owner, segment, transaction)
    require(sending.stage is Stage.RECORDED)
    require(too_late(w, transaction))
    assert sending.position is not None

    w.writes[transaction, segment] = _without(w.writes[transaction, segment], sending.position)
    w.void[owner, segment] = _with(w.void[owner, segment], sending.position)
    w.sending[owner, segment, transaction] = Sending(Stage.WITHDRAWN, sending.position)


@action(
    "473-LATE-01",
    "473-PUBLISH-02",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def refuse_write(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """The client is told that its message came too late, when nothing of it is left."""
    sending = _sending(w, owner, segment, transaction)
    require(sending.stage is Stage.WITHDRAWN)
    require(may_answer(w, owner, segment))
    assert sending.position is not None

    w.refused[transaction] += ((segment, sending.position),)
    w.sending[owner, segment, transaction] = None
    _evict(w, owner, segment, transaction)


def _sending(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> Sending:
    sending = w.sending[owner, segment, transaction]
    require(sending is not None)
    assert sending is not None
    return sending


def _with(positions: tuple[int, ...], position: int) -> tuple[int, ...]:
    return tuple(sorted({*positions, position}))


def _without(positions: tuple[int, ...], position: int) -> tuple[int, ...]:
    return tuple(p for p in positions if p != position)


def _evict(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """The buffer forgets a header that it needs no more: none of its writes is left to be decided."""
    if not w.claims[owner, segment, transaction] and w.sending[owner, segment, transaction] is None:
        release(w, owner, segment, transaction, BUFFER)


@action("473-BUFFER-04", "473-READ-20", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS, fair=WEAK)
def hear_of_records(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """As written, the buffer learns from the watch of the index, some time later, what is recorded."""
    require(not w.design.writes_hold_the_horizon)
    require(w.loaded[owner, segment])
    require(w.claims[owner, segment, transaction] != w.writes[transaction, segment])

    w.claims[owner, segment, transaction] = w.writes[transaction, segment]


def horizon(w: TransactionBuffer, owner: str, segment: int) -> int:
    """
    The last entry that a broker lets anybody read: the one before the first that is undecided.

    [473-BUFFER-05, 473-BUFFER-06, 473-NOTIFY-05]
    """
    held = [
        position
        for transaction in w.header
        for position in w.claims[owner, segment, transaction]
        if (cached := w.cached[owner, segment, transaction]) is not None and cached.open
    ]
    if w.design.writes_hold_the_horizon:
        held += _under_way(w, owner, segment)
    if keeps_outcomes(w):
        through = w.settled[segment].through
        held += [p for p, m in enumerate(w.log[segment]) if m.transaction is not None and p > through]
    last = Position(0, len(w.log[segment]) - 1)
    return read_horizon((Position(0, position) for position in held), last).entry


def _under_way(w: TransactionBuffer, owner: str, segment: int) -> list[int]:
    """The entries of which a broker does not know yet whether they belong to their transactions."""
    sent = (w.sending[owner, segment, transaction] for transaction in w.header)
    return [one.position for one in sent if one is not None and one.position is not None]


def seen(w: TransactionBuffer, owner: str, segment: int, position: int) -> Visibility:
    """What a broker does with an entry when it comes to it. [473-DISPATCH-03]"""
    last = Position(0, horizon(w, owner, segment))
    message = w.log[segment][position]
    if message.transaction is None:
        return visibility(Position(0, position), last, transactional=False)
    if keeps_outcomes(w):
        skipped = position in w.settled[segment].skipped
        return visibility(Position(0, position), last, _SKIPPED if skipped else None, transactional=skipped)
    if position in w.void[owner, segment]:
        return visibility(Position(0, position), last, _SKIPPED)
    header = known_header(w, owner, segment, message.transaction)
    unknown = TxnState.COMMITTED if w.design.unknown is Unknown.COMMITTED else TxnState.ABORTED
    return visibility(Position(0, position), last, header, unknown=unknown)


_SKIPPED = Header(TxnState.ABORTED, 0, 0, 0)
"""What stands for the header of an entry that is known to be skipped."""


def known_header(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> Header | None:
    """The header of a transaction from memory, and if it is not there, from the store. [473-BUFFER-07]"""
    cached = w.cached[owner, segment, transaction]
    return w.header[transaction] if cached is None else cached.header


@action(
    "473-NOTIFY-05",
    "473-NOTIFY-06",
    "473-NOTIFY-08",
    "473-BUFFER-03",
    "473-END-01",
    "473-END-05",
    owner=OWNERS,
    segment=SEGMENTS,
    fair=WEAK,
)
def settle(w: TransactionBuffer, owner: str, segment: int) -> None:
    """
    The owner writes down what became of the next entries, as far as that is known.

    Nothing is appended to the segment, so it may be sealed. From then on the entries can be read, and
    neither their records nor their headers are needed. The write is refused to whoever is not the owner.
    """
    require(keeps_outcomes(w) and serves(w, owner, segment))
    if w.design.superseded_owners_are_fenced:
        require(w.owner[segment] == owner)
    settled = w.settled[segment]
    through, skipped = settled.through, settled.skipped
    for position, message in enumerate(w.log[segment]):
        if position <= settled.through or message.transaction is None:
            continue
        fate = _fate(w, owner, segment, position, message.transaction)
        if fate is Visibility.WITHHELD:
            break
        through = position
        skipped += (position,) if fate is Visibility.SKIPPED else ()
    require(through > settled.through)

    w.settled[segment] = Settled(through, skipped)
    w.void[owner, segment] = tuple(p for p in w.void[owner, segment] if p > through)
    for transaction in w.header:
        left = tuple(p for p in w.claims[owner, segment, transaction] if p > through)
        w.claims[owner, segment, transaction] = left
        _evict(w, owner, segment, transaction)


def _fate(w: TransactionBuffer, owner: str, segment: int, position: int, transaction: str) -> Visibility:
    """What is to become of an entry, as its buffer sees it; it is withheld as long as that is open."""
    if position in w.void[owner, segment]:
        return Visibility.SKIPPED
    known = position in w.claims[owner, segment, transaction]
    assert not known or w.cached[owner, segment, transaction] is not None
    header = known_header(w, owner, segment, transaction)
    if header is not None and header.state is TxnState.OPEN:
        held = known or w.design.writes_hold_the_horizon
        return Visibility.WITHHELD if held else Visibility.DELIVERED
    if w.design.writes_hold_the_horizon and position in _under_way(w, owner, segment):
        return Visibility.WITHHELD
    return Visibility.SKIPPED if is_aborted(header) else Visibility.DELIVERED


@action(
    "473-GC-01",
    "473-GC-02",
    "473-BUFFER-03",
    "473-END-03",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def drop_records(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """A broker deletes the records of writes in its segment that have served their purpose."""
    require(w.recovered[owner, segment])
    records = w.writes[transaction, segment]
    if keeps_outcomes(w):
        done = [p for p in records if p <= w.settled[segment].through]
    else:
        cached = w.cached[owner, segment, transaction]
        heard = cached is not None and not cached.open
        done = [p for p in records if p in w.claims[owner, segment, transaction]] if heard else []
    require(done)

    w.writes[transaction, segment] = tuple(p for p in records if p not in done)
    left = tuple(p for p in w.claims[owner, segment, transaction] if p not in done)
    w.claims[owner, segment, transaction] = left
    if keeps_outcomes(w) or not is_aborted(known_header(w, owner, segment, transaction)):
        _evict(w, owner, segment, transaction)


@action(
    "473-BUFFER-08",
    "473-RECOVER-01",
    "473-NOTIFY-11",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def recover_writes(w: TransactionBuffer, owner: str, segment: int, transaction: str) -> None:
    """
    A recovering buffer reads which writes of a transaction are recorded, and the header if there are any.

    It goes from one transaction to the next, and what it has read may have changed when it is through.
    """
    require(w.loaded[owner, segment] and not w.recovered[owner, segment])
    require(not w.scanned[owner, segment, transaction])

    w.scanned[owner, segment, transaction] = True
    undecided = tuple(p for p in w.writes[transaction, segment] if p > w.settled[segment].through)
    w.claims[owner, segment, transaction] = undecided
    if undecided:
        consult(w, owner, segment, transaction, BUFFER)


@action("473-RECOVER-01", "473-RECOVER-03", "473-BUFFER-08", owner=OWNERS, segment=SEGMENTS, fair=WEAK)
def finish_recovery(w: TransactionBuffer, owner: str, segment: int) -> None:
    """
    The buffer has read everything that is stored and is ready.

    Entries that nobody recorded were never acknowledged, and never will be: they belong to no transaction.
    """
    require(all(w.scanned[owner, segment, transaction] for transaction in w.header))

    w.recovered[owner, segment] = True
    for transaction in w.header:
        w.scanned[owner, segment, transaction] = False
    if w.design.unrecorded_entries_are_void:
        claimed = {p for transaction in w.header for p in w.claims[owner, segment, transaction]}
        through = w.settled[segment].through
        w.void[owner, segment] = tuple(
            position
            for position, message in enumerate(w.log[segment])
            if position > through and message.transaction is not None and position not in claimed
        )


@step("473-LATE-01", "473-HEADER-07", transaction=TRANSACTIONS)
def nothing_joins_a_decided_transaction(
    w: TransactionBuffer, after: TransactionBuffer, transaction: str
) -> Iterator[str]:
    """A write is acknowledged only while its transaction is open."""
    outcome = w.outcome[transaction]
    if outcome is None or outcome is TxnState.OPEN:
        return
    for segment, position in after.accepted[transaction][len(w.accepted[transaction]) :]:
        yield f"entry {position} of segment {segment} joined {transaction}, which was {outcome.value}"


@step("473-BUFFER-05", owner=OWNERS, segment=SEGMENTS)
def the_horizon_only_goes_forward(
    w: TransactionBuffer, after: TransactionBuffer, owner: str, segment: int
) -> Iterator[str]:
    """What a broker has once let anybody read, it does not take back."""
    if w.recovered[owner, segment] and after.recovered[owner, segment]:
        before, then = horizon(w, owner, segment), horizon(after, owner, segment)
        if then < before:
            yield f"{owner} let entry {before} of segment {segment} be read, and then only {then}"


@always("473-BUFFER-05", "473-NOTIFY-08", owner=OWNERS, segment=SEGMENTS)
def what_can_be_read_is_decided(w: TransactionBuffer, owner: str, segment: int) -> Iterator[str]:
    """No entry at or before the horizon belongs to a transaction that is open."""
    if not serves(w, owner, segment):
        return
    for position in range(horizon(w, owner, segment) + 1):
        transaction = w.log[segment][position].transaction
        if transaction is None or seen(w, owner, segment, position) is Visibility.SKIPPED:
            continue
        if w.outcome[transaction] is TxnState.OPEN:
            yield f"entry {position} of segment {segment} can be read, and {transaction} is open"


@step("473-GC-02", segment=SEGMENTS, transaction=TRANSACTIONS)
def records_go_when_their_work_is_done(
    w: TransactionBuffer, after: TransactionBuffer, segment: int, transaction: str
) -> Iterator[str]:
    """The record of an acknowledged write stays until its outcome is written down, or the segment is gone."""
    if w.record is None or not w.record.layout.has(segment):
        return
    gone = set(w.writes[transaction, segment]) - set(after.writes[transaction, segment])
    for position in sorted(gone):
        if (segment, position) in w.accepted[transaction] and position > w.settled[segment].through:
            yield f"the record of entry {position} of segment {segment} is deleted, and it is undecided"


@step("473-NOTIFY-01", "473-BUFFER-05", segment=SEGMENTS)
def what_is_settled_stays_so(w: TransactionBuffer, after: TransactionBuffer, segment: int) -> Iterator[str]:
    """Whoever owns the segment, an entry that was decided is never decided otherwise."""
    before, then = w.settled[segment], after.settled[segment]
    if then.through < before.through:
        yield f"segment {segment} was settled through {before.through}, and is through {then.through}"
    for position in {*then.skipped} - {*before.skipped}:
        if position <= before.through:
            yield f"entry {position} of segment {segment} was to be delivered, and is skipped"


@always("473-BUFFER-03", "473-NOTIFY-02", owner=OWNERS, segment=SEGMENTS)
def buffers_remember_what_is_undecided(w: TransactionBuffer, owner: str, segment: int) -> Iterator[str]:
    """An owner has in memory what is not settled yet, and a broker that has not opened a segment nothing."""
    known = {p for transaction in w.header for p in w.claims[owner, segment, transaction]}
    known.update(w.void[owner, segment])
    through = w.settled[segment].through
    if known and not w.loaded[owner, segment]:
        yield f"{owner} remembers entry {min(known)} of segment {segment}, which it has not opened"
    if known and owns(w, owner, segment) and min(known) <= through:
        yield f"{owner} remembers entry {min(known)} of segment {segment}, which is settled"


@step("473-BUFFER-01", "473-SEAL-02", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS)
def only_owners_append(
    w: TransactionBuffer, after: TransactionBuffer, owner: str, segment: int, transaction: str
) -> Iterator[str]:
    """An entry is appended by the owner of its segment, as long as that is open."""
    before, then = w.sending[owner, segment, transaction], after.sending[owner, segment, transaction]
    if before == then or then is None or then.stage is not Stage.APPENDED:
        return
    if w.owner[segment] != owner or w.ledger[segment] is not Ledger.OPEN:
        yield f"{owner} appended entry {then.position} to segment {segment}, which it may not"


@leads_to("473-NOTIFY-05", "473-BUFFER-05", segment=SEGMENTS)
def the_horizon_reaches_the_end(w: TransactionBuffer, segment: int) -> tuple[object, object]:
    """Where no transaction is open, everything can be read in the end."""
    owner = w.owner[segment]
    resting = TxnState.OPEN not in w.outcome.values() and w.ledger[segment] is not Ledger.ABSENT
    reached = owner is not None and serves(w, owner, segment)
    reached = reached and horizon(w, owner or "", segment) == len(w.log[segment]) - 1
    return resting and not reached, reached or not resting


@sometimes("473-BUFFER-05", owner=OWNERS, segment=SEGMENTS)
def an_ordinary_message_waits(w: TransactionBuffer, owner: str, segment: int) -> object:
    """A message outside of transactions stands behind one whose transaction is open."""
    log = w.log[segment]
    return bool(log) and log[-1].transaction is None and horizon(w, owner, segment) < len(log) - 1


@sometimes("473-LATE-01", transaction=TRANSACTIONS)
def a_write_came_too_late(w: TransactionBuffer, transaction: str) -> object:
    """An entry is in the ledger, its transaction is committed, and it is not part of it."""
    return w.refused[transaction] and w.outcome[transaction] is TxnState.COMMITTED


@sometimes("473-RECOVER-03", segment=SEGMENTS)
def an_entry_belongs_to_nobody(w: TransactionBuffer, segment: int) -> object:
    """An entry of a committed transaction is skipped, because its broker crashed before it was recorded."""
    handled = {p for owner, n in w.loaded if n == segment for p in _under_way(w, owner, segment)}
    return any(
        (t := w.log[segment][position].transaction) is not None
        and w.outcome[t] is TxnState.COMMITTED
        and (segment, position) not in w.refused[t]
        and position not in handled
        for position in w.settled[segment].skipped
    )
