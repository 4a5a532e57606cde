"""
Metadata-driven transactions: the header that decides, the operations that it decides about, and what readers
may see.

Everything is a function of records in the metadata store: nothing is ever written into a data stream, and a
coordinator keeps nothing of its own. [473-COORD-01]
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from spec.names import MAX_ID, RegularName, SegmentName
from spec.paths import SEQUENCE_DIGITS, encode
from spec.refusals import Reason, Refused

_POSITION = re.compile(r"(0|[1-9][0-9]{0,18}):(-1|0|[1-9][0-9]{0,18})", re.ASCII)

EARLIEST_ENTRY = -1
"""The entry id just before the first entry of a ledger."""

RETENTION = 60_000
"""For how many milliseconds a finished transaction is remembered, unless configured. [473-GC-04]"""

TXN_CONFLICT = frozenset({Reason.TRANSACTION_CONFLICT, Reason.TRANSACTION_NOT_OPEN})
"""The refusals that a client hears as `TxnConflict`. [473-PUBLISH-02]"""


class Coordinator(Enum):
    """The two coordinators that run side by side; a transaction belongs to one of them. [473-COORD-02]"""

    LEGACY = "keeps a log in a system topic and tells every participant"
    V5 = "keeps records in the metadata store, which participants watch"


def coordinator_of(participant: SegmentName | RegularName) -> Coordinator:
    """Whose transactions a topic takes part in; its domain decides. [473-COORD-02]"""
    return Coordinator.V5 if isinstance(participant, SegmentName) else Coordinator.LEGACY


class TxnState(Enum):
    """Open until decided, and then decided for good. [473-HEADER-03]"""

    OPEN = "OPEN"
    COMMITTED = "COMMITTED"
    ABORTED = "ABORTED"


@dataclass(frozen=True, slots=True)
class Header:
    """
    One per transaction, and its linearization point: whoever changes the state first has decided.

    All times are epoch milliseconds. `finalized_at`, which the text's schema lacks, is written together with
    the final state. Written later, a crash in between would leave a header that the garbage collector never
    finds.

    [473-HEADER-01, 473-HEADER-02, 473-HEADER-04]
    """

    state: TxnState
    timeout_at: int
    created_at: int
    finalized_at: int | None = None


def begin(now: int, timeout: int) -> Header:
    """
    A new transaction is open until its deadline; with a timeout of 0 it has expired at once.

    A deadline beyond 64 bits is refused, because no record could hold it.

    [473-COORD-05]

    pre: 0 <= now and 0 <= timeout and now + timeout <= MAX_ID
    post: _.timeout_at - _.created_at == timeout
    post: timed_out(_, now) == (timeout == 0)
    """
    if timeout < 0 or now + timeout > MAX_ID:
        raise Refused(Reason.TIMEOUT_INVALID, str(timeout))
    return Header(TxnState.OPEN, timeout_at=now + timeout, created_at=now)


def add_participant(header: Header | None) -> Header | None:
    """Naming a topic or subscription beforehand succeeds and changes nothing. [473-COORD-06]"""
    return header


def end(header: Header | None, outcome: TxnState, now: int) -> Header:
    """
    Open becomes committed or aborted, once and for all; only the state counts, not the deadline.

    The same end asked for again changes nothing, so that a client whose reply was lost may ask again.

    [473-HEADER-06]
    """
    if header is None:
        raise Refused(Reason.TRANSACTION_UNKNOWN)
    if outcome is TxnState.OPEN or header.state not in (TxnState.OPEN, outcome):
        raise Refused(Reason.TRANSACTION_CONFLICT, f"{header.state.value} cannot become {outcome.value}")
    return replace(header, state=outcome, finalized_at=now) if header.state is TxnState.OPEN else header


def take_operation(header: Header | None) -> None:
    """
    Writes and acknowledgements are taken only by an open transaction, which takes any number of them.

    [473-PUBLISH-02, 473-OP-08]
    """
    if header is None or header.state is not TxnState.OPEN:
        raise Refused(Reason.TRANSACTION_NOT_OPEN, header.state.value if header else "it has no header")


def past(deadline: int, now: int) -> bool:
    """
    A deadline is past from its very millisecond on.

    post: _ == (not now < deadline)
    """
    return deadline <= now


def last_past(now: int, window: int = 0) -> int:
    """
    The latest time that is past when a window after it is waited for.

    post: past(_ + window, now) and not past(_ + window + 1, now)
    """
    return now - window


def timed_out(header: Header, now: int) -> bool:
    """An open transaction whose deadline is past is aborted by the coordinator's sweep. [473-COORD-09]"""
    return header.state is TxnState.OPEN and past(header.timeout_at, now)


def collectable(header: Header, now: int, retention: int = RETENTION) -> bool:
    """
    A finished transaction is forgotten when the retention window after its end is over.

    [473-GC-04]

    post: not (_ and timed_out(header, now))
    """
    if header.state is TxnState.OPEN or header.finalized_at is None:
        return False
    return past(header.finalized_at + retention, now)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a segment's data: entries of one ledger in order, ledgers in order. [473-OP-07]"""

    ledger: int
    entry: int

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}"

    def before(self) -> "Position":
        """
        The place just before; before the first entry of a ledger, it is the ledger's start.

        pre: self.entry >= 0
        post: _.ledger == self.ledger and _.entry + 1 == self.entry
        """
        return Position(self.ledger, max(self.entry - 1, EARLIEST_ENTRY))


def parse_position(text: str) -> Position:
    """A position reads `ledgerId:entryId`; the entry -1 is the start of the ledger. [473-OP-07]"""
    found = _POSITION.fullmatch(text)
    position = Position(int(found[1]), int(found[2])) if found else None
    if position is None or max(position.ledger, position.entry) > MAX_ID:
        raise Refused(Reason.RECORD_MALFORMED, f"expected ledgerId:entryId, found {text!r}")
    return position


@dataclass(frozen=True, slots=True)
class Write:
    """A message that was appended to a segment within a transaction."""

    segment: SegmentName
    position: Position


@dataclass(frozen=True, slots=True)
class Ack:
    """
    A message, or with `cumulative` all up to it, that was acknowledged within a transaction. [473-OP-06]
    """

    segment: SegmentName
    subscription: str
    position: Position
    cumulative: bool = False


Operation = Write | Ack
"""What a record of its own says about each write or ack. [473-OP-01, 473-OP-04, 473-OP-05]"""


@dataclass(frozen=True, slots=True)
class Index:
    """
    A secondary index of the store: the records below `prefix` that have a key, in the order of their keys.
    """

    name: str
    prefix: str
    key: Callable[[Header | Operation], str | None]


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The keys from `low` on and before `high`, in the order of their texts."""

    low: str
    high: str

    def __contains__(self, key: str) -> bool:
        return self.low <= key < self.high


def number_key(number: int) -> str:
    """A number, not negative, spelled so that the order of the texts is the order of the numbers."""
    return f"{number:0{SEQUENCE_DIGITS}}"


def write_key(segment: SegmentName) -> str:
    """Under which a segment's transactional writes are listed."""
    return str(segment)


def ack_key(segment: SegmentName, subscription: str) -> str:
    """
    Under which the transactional acknowledgements of a subscription on a segment are listed.

    The subscription is encoded into one element, so that no two pairs share a key.
    """
    return f"{segment}/{encode(subscription)}"


def final_key(state: TxnState, finalized_at: int) -> str:
    """Under which finished transactions are listed, oldest first within a state."""
    return f"{state.value}/{number_key(finalized_at)}"


def _write_key(record: Header | Operation) -> str | None:
    return write_key(record.segment) if isinstance(record, Write) else None


def _ack_key(record: Header | Operation) -> str | None:
    return ack_key(record.segment, record.subscription) if isinstance(record, Ack) else None


def _deadline_key(record: Header | Operation) -> str | None:
    match record:
        case Header(TxnState.OPEN, timeout_at):
            return number_key(timeout_at)
    return None


def _final_key(record: Header | Operation) -> str | None:
    match record:
        case Header(TxnState.COMMITTED | TxnState.ABORTED as state, finalized_at=int(finalized_at)):
            return final_key(state, finalized_at)
    return None


WRITES_BY_SEGMENT = Index("idx:writes-by-segment", "/txn-op/", _write_key)
"""The transactional writes on a segment. [473-INDEX-02]"""

ACKS_BY_SEGMENT_SUBSCRIPTION = Index("idx:acks-by-segment-subscription", "/txn-op/", _ack_key)
"""The transactional acknowledgements of a subscription on a segment. [473-INDEX-03]"""

TXN_BY_DEADLINE = Index("idx:txn-by-deadline", "/txn/", _deadline_key)
"""The open transactions, for the sweep that aborts the expired ones. [473-INDEX-04]"""

TXN_BY_FINAL_STATE = Index("idx:txn-by-final-state", "/txn/", _final_key)
"""The finished transactions, for the sweep that forgets them. [473-INDEX-05]"""

INDEXES = (WRITES_BY_SEGMENT, ACKS_BY_SEGMENT_SUBSCRIPTION, TXN_BY_DEADLINE, TXN_BY_FINAL_STATE)
"""What the store keeps beside the records, by itself and in the same transaction."""


def index_entries(record: Header | Operation) -> dict[str, str]:
    """Under which key each index lists a record, for those that list it at all."""
    return {index.name: key for index in INDEXES if (key := index.key(record)) is not None}


def exactly(key: str) -> KeyRange:
    """The range of one key: what is listed for a segment, or for a subscription on it."""
    return KeyRange(key, key + "\0")


def expired_range(now: int) -> KeyRange:
    """The deadlines that are past: what the timeout sweep asks of its index. [473-COORD-09]"""
    return KeyRange(number_key(0), number_key(max(last_past(now) + 1, 0)))


def collectable_ranges(now: int, retention: int = RETENTION) -> tuple[KeyRange, ...]:
    """The ends past retention, one range for each final state: what the collecting sweep asks for."""
    first_kept = max(last_past(now, retention) + 1, 0)
    return tuple(
        KeyRange(final_key(state, 0), final_key(state, first_kept))
        for state in (TxnState.ABORTED, TxnState.COMMITTED)
    )


def read_horizon(open_positions: Iterable[Position], last_confirmed: Position) -> Position:
    """
    The last position that may be read: just before the first open write, and never beyond what is
    confirmed.

    [473-BUFFER-05, 473-BUFFER-06]
    """
    first = min(open_positions, default=None)
    return last_confirmed if first is None else min(first.before(), last_confirmed)


def is_aborted(transaction: Header | None, unknown: TxnState = TxnState.ABORTED) -> bool:
    """
    Whether a transaction's entries are to be skipped, as its header says.

    `unknown` is what a transaction without a header in the store is taken for; a header that is merely not
    cached is read first. The text says aborted, which is safe only where no committed header is ever
    forgotten before its last reader has passed.

    [473-BUFFER-07, 473-RECOVER-04]
    """
    return (unknown if transaction is None else transaction.state) is TxnState.ABORTED


class Visibility(Enum):
    """What a dispatcher does with an entry."""

    DELIVERED = "the entry is delivered"
    WITHHELD = "the entry lies beyond the read horizon and waits"
    SKIPPED = "the entry belongs to an aborted transaction"


def visibility(
    position: Position,
    horizon: Position,
    transaction: Header | None = None,
    *,
    transactional: bool = True,
    unknown: TxnState = TxnState.ABORTED,
) -> Visibility:
    """
    What becomes of one entry: beyond the horizon it waits, of an aborted transaction it is skipped.

    An open transaction holds its entries back by the horizon alone. One that the horizon does not know of,
    because its record is still missing, is delivered.
    """
    if position > horizon:
        return Visibility.WITHHELD
    if transactional and is_aborted(transaction, unknown):
        return Visibility.SKIPPED
    return Visibility.DELIVERED
