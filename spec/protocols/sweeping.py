"""
The sweeps by which coordinators abort what has expired and forget what has ended, each by its own clock.

A sweep goes through an index from entry to entry, while transactions move from one index to the other: what
it has found may have changed by the time at which it acts. So it writes only if the header is as it was read.
A store without indexes has to make up for them, and a coordinator can crash half-way through. What is
recorded of operations is left out here. [473-READ-06, 473-READ-51]
"""

from collections.abc import Iterator
from dataclasses import dataclass

from spec.design import Listing
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    forget,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.deciding import TRANSACTIONS, Deciding, tick
from spec.transactions import (
    TXN_BY_DEADLINE,
    TXN_BY_FINAL_STATE,
    Header,
    Index,
    KeyRange,
    TxnState,
    begin,
    collectable_ranges,
    end,
    expired_range,
    index_entries,
)

COORDINATORS = Domain("coordinator", "c")

Entry = tuple[str, str]
"""The name of an index, and a key under which it lists a transaction."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a header was and what it becomes; with second keys that takes more than one write."""

    before: Header | None
    after: Header | None

    def __str__(self) -> str:
        before, after = (header.state.value if header else "none" for header in (self.before, self.after))
        return f"{before} to {after}"


class Sweeping(Deciding):
    """What coordinators have found in the indexes, and when things happened by the true time."""

    crashes = Bound()
    skew = Bound()

    crashes_left = Variable[int](0)
    ahead = Family[str, int](COORDINATORS, 0)
    """By how much a coordinator's clock is ahead of the true time."""
    entries = Family[str, tuple[Entry, ...]](TRANSACTIONS, ())
    """The second keys that list a header, where a store without indexes keeps such keys."""
    changing = Memory[tuple[str, str], Change | None]((COORDINATORS, TRANSACTIONS), None)
    """A change of which a coordinator has made the first of two writes."""
    found = Memory[tuple[str, str], Header | None]((COORDINATORS, TRANSACTIONS), None)
    """A header as a sweep has read it, and has yet to act on it."""
    begun_at = Family[str, int | None](TRANSACTIONS, None)
    ended_at = Family[str, int | None](TRANSACTIONS, None)
    """When a transaction was begun and decided, by the true time; nobody can read this."""


@start
def clocks_differ(w: Sweeping) -> None:
    """All clocks but the first are ahead, and so many coordinators will crash."""
    w.crashes_left = w.crashes
    for coordinator in list(w.ahead)[1:]:
        w.ahead[coordinator] = w.skew


def clock(w: Sweeping, coordinator: str) -> int:
    """What time a coordinator believes it to be."""
    return w.now + w.ahead[coordinator]


def _lists(w: Sweeping, transaction: str, index: Index, *ranges: KeyRange) -> bool:
    """
    Whether a range query of an index comes across a transaction that belongs there.

    An index of the store lists what is stored at that moment, and to scan the records gives the same. A
    second key counts if the record, which is read for it, agrees.
    """
    header = w.header[transaction]
    key = None if header is None else index.key(header)
    listed = w.design.listing is Listing.SCANNED or (index.name, key) in w.entries[transaction]
    return key is not None and listed and any(key in range for range in ranges)


def _write(w: Sweeping, coordinator: str, transaction: str, after: Header | None) -> None:
    """
    Change a header, and what the indexes list of it: in one step, or else by the first of two writes.

    [473-INDEX-06]
    """
    change = Change(w.header[transaction], after)
    if w.design.listing is Listing.ENTRY_FIRST:
        _list(w, transaction, change)
    else:
        _store(w, transaction, change)
    if w.design.listing is not Listing.SCANNED:
        w.changing[coordinator, transaction] = change


def _store(w: Sweeping, transaction: str, change: Change) -> None:
    """The header is put, or deleted."""
    header = change.after
    w.header[transaction] = header
    if header is not None:
        w.outcome[transaction] = header.state
        w.ended_at[transaction] = None if header.state is TxnState.OPEN else w.now


def _list(w: Sweeping, transaction: str, change: Change) -> None:
    """The second keys for a header are put in the place of those that it had."""
    old, new = ({} if header is None else index_entries(header) for header in (change.before, change.after))
    kept = [entry for entry in w.entries[transaction] if entry not in old.items()]
    w.entries[transaction] = tuple(sorted({*kept, *new.items()}))


@action("473-STORE-08", "473-READ-51", coordinator=COORDINATORS, transaction=TRANSACTIONS, fair=WEAK)
def finish_change(w: Sweeping, coordinator: str, transaction: str) -> None:
    """Where indexes are second keys, the entries follow the header, or the header the entries."""
    change = w.changing[coordinator, transaction]
    require(change is not None)
    assert change is not None

    w.changing[coordinator, transaction] = None
    if w.design.listing is Listing.ENTRY_LAST:
        _list(w, transaction, change)
    elif w.header[transaction] == change.before:
        _store(w, transaction, change)


@action("473-COORD-05", "473-HEADER-04", coordinator=COORDINATORS, transaction=TRANSACTIONS)
def open_by_the_clock(w: Sweeping, coordinator: str, transaction: str) -> None:
    """A client gets a new transaction, whose deadline is counted from the time on the coordinator's clock."""
    require(w.begun_at[transaction] is None)

    w.begun_at[transaction] = w.now
    _write(w, coordinator, transaction, begin(clock(w, coordinator), w.timeout))


@action("473-COORD-08", "473-END-02", "473-READ-29", coordinator=COORDINATORS, transaction=TRANSACTIONS)
def commit_by_the_clock(w: Sweeping, coordinator: str, transaction: str) -> None:
    """A client commits, before the deadline or after it; only the state of the header counts."""
    require(w.changing[coordinator, transaction] is None)
    header = w.header[transaction]
    require(header is not None and header.state is TxnState.OPEN)

    _write(w, coordinator, transaction, end(header, TxnState.COMMITTED, clock(w, coordinator)))


@action(
    "473-COORD-09",
    "473-INDEX-04",
    "473-READ-06",
    coordinator=COORDINATORS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def find_expired(w: Sweeping, coordinator: str, transaction: str) -> None:
    """The sweep comes to a transaction in the index of deadlines, and reads its header."""
    require(_lists(w, transaction, TXN_BY_DEADLINE, expired_range(clock(w, coordinator))))

    w.found[coordinator, transaction] = w.header[transaction]


@action(
    "473-GC-03", "473-INDEX-05", "473-GC-04", coordinator=COORDINATORS, transaction=TRANSACTIONS, fair=WEAK
)
def find_finished(w: Sweeping, coordinator: str, transaction: str) -> None:
    """The sweep comes to a transaction in the index of finished ones, and reads its header."""
    ranges = collectable_ranges(clock(w, coordinator), w.retention)
    require(_lists(w, transaction, TXN_BY_FINAL_STATE, *ranges))

    w.found[coordinator, transaction] = w.header[transaction]


@action("473-COORD-10", "473-HEADER-05", coordinator=COORDINATORS, transaction=TRANSACTIONS, fair=WEAK)
def abort_found(w: Sweeping, coordinator: str, transaction: str) -> None:
    """The sweep aborts a transaction, on condition that its header is as it was found."""
    found = _found(w, coordinator, transaction)
    require(found.state is TxnState.OPEN)

    w.found[coordinator, transaction] = None
    if w.header[transaction] == found:
        _write(w, coordinator, transaction, end(found, TxnState.ABORTED, clock(w, coordinator)))


@action("473-GC-07", coordinator=COORDINATORS, transaction=TRANSACTIONS, fair=WEAK)
def delete_found(w: Sweeping, coordinator: str, transaction: str) -> None:
    """The sweep deletes the header of a finished transaction, which nobody can have changed."""
    found = _found(w, coordinator, transaction)
    require(found.state is not TxnState.OPEN)

    w.found[coordinator, transaction] = None
    _write(w, coordinator, transaction, None)


def _found(w: Sweeping, coordinator: str, transaction: str) -> Header:
    found = w.found[coordinator, transaction]
    require(found is not None)
    assert found is not None
    return found


@action("473-RECOVER-06", "473-STORE-01", coordinator=COORDINATORS, fault=True)
def crash_sweeper(w: Sweeping, coordinator: str) -> None:
    """A coordinator crashes; what it has begun stays as it is."""
    require(w.crashes_left)

    w.crashes_left -= 1
    forget(w, coordinator)


@action("473-COORD-09", fair=WEAK)
def pass_time(w: Sweeping) -> None:
    """All clocks go on, each as far ahead as before."""
    tick(w)


@step("473-COORD-09", "473-READ-06", transaction=TRANSACTIONS)
def nothing_expires_before_its_deadline(w: Sweeping, after: Sweeping, transaction: str) -> Iterator[str]:
    """A transaction is left alone for as long as it may take, but for what the clocks differ by."""
    begun = w.begun_at[transaction]
    if w.outcome[transaction] is TxnState.OPEN and after.outcome[transaction] is TxnState.ABORTED:
        assert begun is not None
        if w.now - begun < w.timeout - w.skew:
            yield f"{transaction} may take {w.timeout}, and is aborted after {w.now - begun}"


@step("473-GC-03", "473-GC-04", transaction=TRANSACTIONS)
def nothing_is_collected_before_its_time(w: Sweeping, after: Sweeping, transaction: str) -> Iterator[str]:
    """A header is kept for the retention after its end, but for what the clocks differ by."""
    ended = w.ended_at[transaction]
    if w.header[transaction] is not None and after.header[transaction] is None:
        if ended is None:
            yield f"{transaction} is open, and its header is deleted"
        elif w.now - ended < w.retention - w.skew:
            yield f"{transaction} is to be kept for {w.retention}, and is deleted after {w.now - ended}"


@leads_to("473-INDEX-06", "473-READ-51", transaction=TRANSACTIONS)
def entries_go_with_their_records(w: Sweeping, transaction: str) -> tuple[object, object]:
    """No index lists for ever what is not stored."""
    dangling = w.header[transaction] is None and w.entries[transaction]
    return dangling, not dangling


@leads_to("473-COORD-09", "473-GC-03", coordinator=COORDINATORS, transaction=TRANSACTIONS)
def sweeps_come_to_an_end(w: Sweeping, coordinator: str, transaction: str) -> tuple[object, object]:
    """A sweep is done some time with what it has found."""
    return w.found[coordinator, transaction] is not None, w.found[coordinator, transaction] is None


@sometimes("473-READ-29", coordinator=COORDINATORS, transaction=TRANSACTIONS)
def a_sweep_comes_too_late(w: Sweeping, coordinator: str, transaction: str) -> object:
    """A sweep is about to abort a transaction, and it was committed since it was found."""
    found, header = w.found[coordinator, transaction], w.header[transaction]
    open = found is not None and found.state is TxnState.OPEN
    return open and header is not None and header.state is TxnState.COMMITTED


@sometimes("473-READ-06", transaction=TRANSACTIONS)
def a_clock_ahead_aborts_early(w: Sweeping, transaction: str) -> object:
    """A transaction was aborted before it had its time, by a coordinator whose clock is ahead."""
    begun, ended = w.begun_at[transaction], w.ended_at[transaction]
    aborted = w.outcome[transaction] is TxnState.ABORTED
    return aborted and begun is not None and ended is not None and ended - begun < w.timeout
