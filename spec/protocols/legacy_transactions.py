"""
Old partitions with transactions of the legacy coordinator, and what becomes of those when the topic is
migrated.

The legacy buffer finds out what to deliver from markers, which stand in the partition's data behind what they
decide. A migrated topic serves the same data under a `segment://` name, and a partition that is terminated
takes no more markers. [473-COMPAT-05, 473-COMPAT-06, 475-LAYOUT-08, 473-READ-35]
"""

from collections.abc import Iterator

from spec.assignment import assignable
from spec.layout import served_as
from spec.machine import (
    WEAK,
    Bound,
    Family,
    Variable,
    action,
    always,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.migration import RegularTopic, migrated_layout
from spec.names import SegmentName, scalable_identity
from spec.protocols.deciding import TRANSACTIONS
from spec.protocols.one_name import NAME
from spec.protocols.topic import (
    SEGMENTS,
    SUBSCRIPTIONS,
    Ledger,
    Message,
    Record,
    Subscribed,
    Topic,
    append,
    drained,
    receive,
    unread,
)
from spec.transactions import (
    Coordinator,
    Header,
    Position,
    TxnState,
    Visibility,
    coordinator_of,
    read_horizon,
    visibility,
)


class LegacyTransactions(Topic):
    """A regular topic, transactions that write to it, and its migration."""

    legacy_writes = Bound()
    plain_writes = Bound()

    writes_left = Variable[int](0)
    plain_left = Variable[int](0)
    migrating = Variable[bool](False)
    """An operator has given the command."""
    legacy = Family[str, TxnState | None](TRANSACTIONS, None)
    """What the log of the legacy coordinator says."""
    marker = Family[tuple[str, int], TxnState | None]((TRANSACTIONS, SEGMENTS), None)
    """The marker of a transaction in the data of a partition, behind all that it wrote there."""


@start
def partitions_of_a_regular_topic(w: LegacyTransactions) -> None:
    """Nothing was ever written, and every subscription has its cursor on every partition."""
    w.record = None
    w.writes_left = w.legacy_writes
    w.plain_left = w.plain_writes
    for subscription in w.subscribed:
        w.subscribed[subscription] = Subscribed.CREATED
        for partition in range(w.initial_segments):
            w.cursor[subscription, partition] = 0


# Clients and the legacy coordinator


@action("473-COMPAT-02", transaction=TRANSACTIONS)
def open_legacy_transaction(w: LegacyTransactions, transaction: str) -> None:
    """A client gets a transaction from the legacy coordinator."""
    require(w.legacy[transaction] is None)

    w.legacy[transaction] = TxnState.OPEN


@action("473-COMPAT-05", transaction=TRANSACTIONS, segment=SEGMENTS)
def write_in_legacy_transaction(w: LegacyTransactions, transaction: str, segment: int) -> None:
    """A message is appended to an old partition, and acknowledged as a part of its transaction."""
    require(w.writes_left and segment < w.initial_segments and w.ledger[segment] is Ledger.OPEN)
    require(w.legacy[transaction] is TxnState.OPEN)

    w.writes_left -= 1
    append(w, segment, 0, acknowledged=False, transaction=transaction)


@action("475-STEP-06", segment=SEGMENTS)
def write_without_a_transaction(w: LegacyTransactions, segment: int) -> None:
    """An ordinary message is appended to whatever takes one, and acknowledged."""
    require(w.plain_left and w.ledger[segment] is Ledger.OPEN)

    w.plain_left -= 1
    append(w, segment, 0)


@action("473-COMPAT-02", transaction=TRANSACTIONS, outcome=(TxnState.COMMITTED, TxnState.ABORTED))
def end_legacy_transaction(w: LegacyTransactions, transaction: str, outcome: TxnState) -> None:
    """A client ends its transaction, and the coordinator logs that."""
    require(w.legacy[transaction] is TxnState.OPEN)

    w.legacy[transaction] = outcome


@action("473-COMPAT-02", transaction=TRANSACTIONS, fair=WEAK)
def expire_legacy_transaction(w: LegacyTransactions, transaction: str) -> None:
    """The coordinator aborts a transaction that nobody has ended, at its timeout or because it is told to."""
    require(w.legacy[transaction] is TxnState.OPEN)

    w.legacy[transaction] = TxnState.ABORTED


@action("473-COMPAT-05", "473-COMPAT-06", transaction=TRANSACTIONS, segment=SEGMENTS, fair=WEAK)
def append_marker(w: LegacyTransactions, transaction: str, segment: int) -> None:
    """A partition is told how a transaction ended, and appends that to its data if it can append anything."""
    require(w.legacy[transaction] in (TxnState.COMMITTED, TxnState.ABORTED))
    require(transaction in _undecided(w, segment) and w.ledger[segment] is Ledger.OPEN)

    w.marker[transaction, segment] = w.legacy[transaction]


def _undecided(w: LegacyTransactions, segment: int) -> dict[str, int]:
    """The first entries of the transactions that have written to a partition and have no marker there."""
    found: dict[str, int] = {}
    for position, message in enumerate(w.log[segment]):
        if message.transaction is not None and w.marker[message.transaction, segment] is None:
            found.setdefault(message.transaction, position)
    return found


# The migration


@action("475-STEP-01")
def begin_migration(w: LegacyTransactions) -> None:
    """An operator gives the command."""
    w.migrating = True


@action("473-READ-35", "475-ROUTE-01", "475-LAYOUT-11", segment=SEGMENTS, fair=WEAK)
def terminate_partition(w: LegacyTransactions, segment: int) -> None:
    """
    An old partition takes nothing any more.

    As written nobody asks for open transactions. Else the partition waits for the last marker; the command
    has the coordinator abort what is still open, so that this takes no longer than that.
    """
    require(w.migrating and segment < w.initial_segments)
    if w.design.migration_ends_open_transactions:
        require(not _undecided(w, segment))

    w.ledger[segment] = Ledger.TERMINATED


@action("475-STEP-05", "475-STEP-06", "475-LAYOUT-08", fair=WEAK)
def flip(w: LegacyTransactions) -> None:
    """The topic becomes a scalable one: its partitions are sealed parents, and new children take writes."""
    require(w.record is None)
    require(all(w.ledger[partition] is Ledger.TERMINATED for partition in range(w.initial_segments)))

    layout = migrated_layout(RegularTopic(NAME, w.initial_segments))
    for segment in layout.active:
        w.ledger[segment.segment_id] = Ledger.OPEN
        for subscription in w.subscribed:
            w.cursor[subscription, segment.segment_id] = 0
    w.record = Record(layout, subscriptions=tuple(w.subscribed))


# Reading


def _buffer(w: LegacyTransactions, segment: int) -> Coordinator:
    """
    Whose rules decide what of a segment is delivered.

    As written it is the domain of the name under which it is served. Else it is that of the name under which
    it was written: a wrapped partition keeps the buffer that it always had. [473-CONFIG-01, 473-CONFIG-03]
    """
    if w.record is None:
        return coordinator_of(NAME)
    info, topic = w.record.layout.segment(segment), scalable_identity(NAME)
    if w.design.legacy_ledgers_keep_their_buffer:
        return coordinator_of(served_as(topic, info))
    return coordinator_of(SegmentName(topic, info.range, info.segment_id))


def _seen(w: LegacyTransactions, segment: int, position: int) -> Visibility:
    """
    What becomes of an entry: markers say it, or else a header that a legacy transaction has never had.

    [473-DISPATCH-03, 473-RECOVER-04]
    """
    transaction = w.log[segment][position].transaction
    last, header = Position(0, len(w.log[segment]) - 1), None
    if _buffer(w, segment) is Coordinator.LEGACY:
        last = read_horizon((Position(0, first) for first in _undecided(w, segment).values()), last)
        header = _as_marked(w, segment, transaction)
    return visibility(Position(0, position), last, header, transactional=transaction is not None)


def _as_marked(w: LegacyTransactions, segment: int, transaction: str | None) -> Header | None:
    """What stands for the header of a transaction in a partition: its marker."""
    state = w.marker[transaction, segment] if transaction is not None else None
    return Header(state, timeout_at=0, created_at=0) if state is not None else None


@action(
    "473-COMPAT-03", "473-CONFIG-06", "475-ROUTE-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS, fair=WEAK
)
def read_on(w: LegacyTransactions, subscription: str, segment: int) -> None:
    """
    The next entry of a partition or of a segment is delivered, or passed over if it is to be skipped.

    That parents are drained before their children is what PIP-475 takes for granted, and so it is here.
    """
    require(unread(w, subscription, segment))
    if w.record is not None:
        done = drained(w, subscription, w.record.layout)
        require(segment in [s.segment_id for s in assignable(w.record.layout, done)])
    position = w.cursor[subscription, segment]
    assert position is not None
    fate = _seen(w, segment, position)
    require(fate is not Visibility.WITHHELD)

    if fate is Visibility.SKIPPED:
        w.cursor[subscription, segment] = position + 1
    else:
        receive(w, subscription, segment)


# What must hold


def _passed(
    w: LegacyTransactions, subscription: str, segment: int
) -> Iterator[tuple[Message, TxnState, bool]]:
    """What a subscription has gone past in transactions, how those ended, and whether it received it."""
    for message in w.log[segment][: w.cursor[subscription, segment] or 0]:
        if message.transaction is not None:
            outcome = w.legacy[message.transaction]
            assert outcome is not None
            yield message, outcome, message.number in w.received[subscription, message.key]


@always("473-GOAL-01", "473-COMPAT-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def no_legacy_transaction_is_read_uncommitted(
    w: LegacyTransactions, subscription: str, segment: int
) -> Iterator[str]:
    """Nothing of a legacy transaction that is open or aborted reaches anybody, before or after."""
    for message, outcome, received in _passed(w, subscription, segment):
        if received and outcome is not TxnState.COMMITTED:
            yield f"{subscription} received {message}, which is {outcome.value}"


@always("473-READ-35", "475-GOAL-02", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def committed_legacy_data_is_not_passed_over(
    w: LegacyTransactions, subscription: str, segment: int
) -> Iterator[str]:
    """What a legacy transaction has committed is received by everybody who comes to it, however late."""
    for message, outcome, received in _passed(w, subscription, segment):
        if not received and outcome is TxnState.COMMITTED:
            yield f"{subscription} went past {message}, which is committed, in partition {segment}"


@step("473-COMPAT-05", transaction=TRANSACTIONS, segment=SEGMENTS)
def markers_say_what_was_decided(
    w: LegacyTransactions, after: LegacyTransactions, transaction: str, segment: int
) -> Iterator[str]:
    """A marker is the outcome that the coordinator has logged, and it stays."""
    before, then = w.marker[transaction, segment], after.marker[transaction, segment]
    if then is not before and (before is not None or then is not w.legacy[transaction]):
        yield f"partition {segment} has {transaction} marked as {then and then.value}"


@step("473-SEAL-02", "473-COMPAT-06", segment=SEGMENTS)
def what_is_terminated_stays_as_it_is(
    w: LegacyTransactions, after: LegacyTransactions, segment: int
) -> Iterator[str]:
    """Neither messages nor markers are appended to a partition that takes no appends."""
    if w.ledger[segment] is Ledger.OPEN:
        return
    if after.log[segment] != w.log[segment]:
        yield f"{after.log[segment][-1]} is appended to {segment}, which takes nothing"
    for transaction in w.legacy:
        if after.marker[transaction, segment] is not w.marker[transaction, segment]:
            yield f"a marker of {transaction} is appended to {segment}, which takes nothing"


@step("475-ROUTE-01", "475-ROUTE-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def children_wait_for_every_partition(
    w: LegacyTransactions, after: LegacyTransactions, subscription: str, segment: int
) -> Iterator[str]:
    """Nothing is read from a child while something is unread in a partition, and nobody ever goes back."""
    before, then = w.cursor[subscription, segment] or 0, after.cursor[subscription, segment] or 0
    if then < before:
        yield f"{subscription} goes back in segment {segment} from {before} to {then}"
    if then > before and segment >= w.initial_segments:
        left = [k for k in range(w.initial_segments) if unread(w, subscription, k)]
        if left:
            yield f"{subscription} reads segment {segment} before the end of partition {left[0]}"


@always("473-COMPAT-05")
def clients_write_no_more_than_they_may(w: LegacyTransactions) -> Iterator[str]:
    """Writes stay within their budgets."""
    written = [message.transaction is not None for log in w.log.values() for message in log]
    if written.count(True) > w.legacy_writes or written.count(False) > w.plain_writes:
        yield f"{len(written)} messages are too many"


@leads_to("473-READ-35", "475-ROUTE-01", "475-GOAL-02", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def every_partition_is_drained(
    w: LegacyTransactions, subscription: str, segment: int
) -> tuple[object, object]:
    """A subscription that goes on comes to the end of every partition, and of the segments after them."""
    left = unread(w, subscription, segment)
    return left, not left


@leads_to("475-STEP-06")
def the_migration_comes_to_its_end(w: LegacyTransactions) -> tuple[object, object]:
    """Once the command is given, the topic becomes a scalable one."""
    return w.migrating, w.record is not None


@sometimes("473-READ-35", transaction=TRANSACTIONS)
def the_migration_waits_for_a_transaction(w: LegacyTransactions, transaction: str) -> object:
    """The command is given, and a transaction that has written is still open."""
    return w.migrating and w.legacy[transaction] is TxnState.OPEN and any(w.log.values())


@sometimes("475-LAYOUT-08", subscription=SUBSCRIPTIONS)
def legacy_data_is_left_after_the_flip(w: LegacyTransactions, subscription: str) -> object:
    """The topic is a scalable one, and what a legacy transaction committed is still to be read."""
    left = (m for segment in w.ledger for m in unread(w, subscription, segment))
    committed = any(m.transaction and w.legacy[m.transaction] is TxnState.COMMITTED for m in left)
    return w.record is not None and committed


@sometimes("473-COMPAT-03", subscription=SUBSCRIPTIONS)
def an_aborted_entry_was_passed_over_after_the_flip(w: LegacyTransactions, subscription: str) -> object:
    """A subscription has come to a child, past what a legacy transaction aborted."""
    read = any(w.cursor[subscription, segment] for segment in range(w.initial_segments, w.segments))
    return read and TxnState.ABORTED in w.marker.values()
