"""
Metadata-driven transactions: the header that decides, the operations that it decides about, and what readers
may see.

Everything is a function of records in the metadata store; nothing is ever written into a data stream.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from spec.names import RegularName, SegmentName
from spec.paths import SEQUENCE_DIGITS, encode
from spec.refusals import Reason, Refused

_POSITION = re.compile(r"(0|[1-9][0-9]{0,18}):(-1|0|[1-9][0-9]{0,18})", re.ASCII)

EARLIEST_ENTRY = -1
"""The entry id just before the first entry of a ledger."""


class TxnState(Enum):
    OPEN = "OPEN"
    COMMITTED = "COMMITTED"
    ABORTED = "ABORTED"


@dataclass(frozen=True, slots=True)
class Header:
    """
    One per transaction, and its linearization point: whoever changes the state first has decided.

    `finalized_at` is written together with the final state. Written later, a crash in between would leave a
    header that the garbage collector never finds.
    """

    state: TxnState
    timeout_at: int
    created_at: int
    finalized_at: int | None = None


def begin(now: int, timeout: int) -> Header:
    """A new transaction is open until its timeout."""
    if timeout <= 0:
        raise Refused(Reason.TIMEOUT_INVALID, str(timeout))
    return Header(TxnState.OPEN, timeout_at=now + timeout, created_at=now)


def end(header: Header | None, outcome: TxnState, now: int) -> Header:
    """
    Open becomes committed or aborted, once and for all.

    The same end asked for again changes nothing, so that a client whose reply was lost may ask again.
    """
    if header is None:
        raise Refused(Reason.TRANSACTION_UNKNOWN)
    if header.state is outcome and outcome is not TxnState.OPEN:
        return header
    if header.state is not TxnState.OPEN or outcome is TxnState.OPEN:
        raise Refused(Reason.TRANSACTION_CONFLICT, f"{header.state.value} cannot become {outcome.value}")
    return replace(header, state=outcome, finalized_at=now)


def take_operation(header: Header | None) -> None:
    """Writes and acknowledgements are taken only by an open transaction."""
    if header is None:
        raise Refused(Reason.TRANSACTION_UNKNOWN)
    if header.state is not TxnState.OPEN:
        raise Refused(Reason.TRANSACTION_NOT_OPEN, header.state.value)


def past(deadline: int, now: int) -> bool:
    """
    A deadline is past from its very millisecond on.

    post: _ == (not now < deadline)
    """
    return deadline <= now


def timed_out(header: Header, now: int) -> bool:
    """An open transaction whose deadline is past is aborted by the coordinator's sweep."""
    return header.state is TxnState.OPEN and past(header.timeout_at, now)


def collectable(header: Header, now: int, retention: int) -> bool:
    """A finished transaction is forgotten when the retention window after its end is over."""
    return header.finalized_at is not None and past(header.finalized_at + retention, now)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a segment's data: entries of one ledger in order, ledgers in order."""

    ledger: int
    entry: int

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}"

    def before(self) -> "Position":
        """The place just before; before the first entry of a ledger, it is the ledger's start."""
        return Position(self.ledger, max(self.entry - 1, EARLIEST_ENTRY))


def parse_position(text: str) -> Position:
    """A position reads `ledgerId:entryId`; the entry -1 is the start of the ledger."""
    found = _POSITION.fullmatch(text)
    if not found:
        raise Refused(Reason.RECORD_MALFORMED, f"expected ledgerId:entryId, found {text!r}")
    return Position(int(found[1]), int(found[2]))


@dataclass(frozen=True, slots=True)
class Write:
    """A message that was appended to a segment within a transaction."""

    segment: SegmentName | RegularName
    position: Position


@dataclass(frozen=True, slots=True)
class Ack:
    """A message, or with `cumulative` all up to it, that was acknowledged within a transaction."""

    segment: SegmentName | RegularName
    subscription: str
    position: Position
    cumulative: bool = False


Operation = Write | Ack


@dataclass(frozen=True, slots=True)
class Index:
    """
    A secondary index of the store: which records it lists, and under which key; keys sort as their parts
    do.
    """

    name: str
    prefix: str
    key: Callable[[Header | Operation], str | None]


def number_key(number: int) -> str:
    """A number spelled so that the order of the texts is the order of the numbers."""
    return f"{number:0{SEQUENCE_DIGITS}}"


def write_key(segment: SegmentName | RegularName) -> str:
    """Under which a segment's transactional writes are listed."""
    return str(segment)


def ack_key(segment: SegmentName | RegularName, subscription: str) -> str:
    """Under which the transactional acknowledgements of a subscription on a segment are listed."""
    return f"{segment}/{encode(subscription)}"


def final_key(state: TxnState, finalized_at: int) -> str:
    """Under which finished transactions are listed, oldest first within a state."""
    return f"{state.value}/{number_key(finalized_at)}"


def _writes_by_segment(record: Header | Operation) -> str | None:
    return write_key(record.segment) if isinstance(record, Write) else None


def _acks_by_segment_subscription(record: Header | Operation) -> str | None:
    return ack_key(record.segment, record.subscription) if isinstance(record, Ack) else None


def _txn_by_deadline(record: Header | Operation) -> str | None:
    is_open = isinstance(record, Header) and record.state is TxnState.OPEN
    return number_key(record.timeout_at) if isinstance(record, Header) and is_open else None


def _txn_by_final_state(record: Header | Operation) -> str | None:
    if isinstance(record, Header) and record.finalized_at is not None:
        return final_key(record.state, record.finalized_at)
    return None


INDEXES = (
    Index("idx:writes-by-segment", "/txn-op/", _writes_by_segment),
    Index("idx:acks-by-segment-subscription", "/txn-op/", _acks_by_segment_subscription),
    Index("idx:txn-by-deadline", "/txn/", _txn_by_deadline),
    Index("idx:txn-by-final-state", "/txn/", _txn_by_final_state),
)
"""What the store keeps beside the records, by itself and in the same transaction."""


def index_entries(record: Header | Operation) -> dict[str, str]:
    """Under which key each index lists a record, for those that list it at all."""
    return {index.name: key for index in INDEXES if (key := index.key(record)) is not None}


def read_horizon(open_positions: Iterable[Position], last_confirmed: Position) -> Position:
    """
    The last position that may be read: just before the first open write, and never beyond what is
    confirmed.
    """
    first = min(open_positions, default=None)
    return last_confirmed if first is None else min(first.before(), last_confirmed)


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

    `unknown` is what an entry whose header is gone is taken for. The text says aborted, which is safe only
    where no committed header is ever forgotten before its last reader has passed.
    """
    if position > horizon:
        return Visibility.WITHHELD
    if not transactional:
        return Visibility.DELIVERED
    state = unknown if transaction is None else transaction.state
    return Visibility.SKIPPED if state is TxnState.ABORTED else Visibility.DELIVERED
