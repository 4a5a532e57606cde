"""
Where the ids of transactions come from: several brokers act as coordinator, and each can crash.

A coordinator has no state of its own, and what it has in memory it loses. An id outlives its transaction: it
stands in the entries of segments, in operation records that are put late, and in the hands of the client,
long after the header was collected. [473-READ-11]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.design import Ids
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
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
from spec.protocols.deciding import TRANSACTIONS
from spec.refusals import Refused
from spec.transactions import Header, TxnState, begin, collectable, end, take_operation, timed_out

COORDINATORS = Domain("coordinator", "c")
IDS = Domain("id")


class Stage(Enum):
    """How far a coordinator has come with a new transaction."""

    NUMBERED = "it has an id for it"
    CREATED = "the header is in the store"


@dataclass(frozen=True, slots=True)
class Opening:
    """A new transaction on its way through a coordinator."""

    transaction: str
    id: int
    stage: Stage

    def __str__(self) -> str:
        return f"{self.transaction} as {self.id}, {self.stage.name.lower()}"


class TransactionIds(Machine):
    """What is stored under each id, and which id each client was given for its transaction."""

    crashes = Bound()

    crashes_left = Variable[int](0)
    drawn = Variable[int](0)
    """How many numbers the store has given out; nobody ever deletes this."""
    header = Family[int, Header | None](IDS, None)
    operations = Family[int, tuple[str, ...]](IDS, ())
    """Whose writes and acknowledgements the operation records below an id are."""
    opened_for = Family[int, str | None](IDS, None)
    """For whom the header of an id was put last; nobody can read this."""
    counted = Memory[str, int](COORDINATORS, 0)
    """How many ids a coordinator has made up since it was started."""
    started = Memory[str, int | None](COORDINATORS, None)
    """The number that a coordinator has drawn for all its ids, if that is how it makes them."""
    opening = Memory[str, Opening | None](COORDINATORS, None)
    id = Family[str, int | None](TRANSACTIONS, None)
    """The id that a client was told."""
    asked = Family[str, TxnState | None](TRANSACTIONS, None)
    """The end that a client has asked for."""
    under_way = Family[str, bool](TRANSACTIONS, False)
    """A participant has read that the transaction is open, and has yet to put an operation record."""


@start
def coordinators_can_crash(w: TransactionIds) -> None:
    """So many of them will."""
    w.crashes_left = w.crashes


@action("473-COORD-05", "473-READ-11", coordinator=COORDINATORS, transaction=TRANSACTIONS, fair=WEAK)
def take_id(w: TransactionIds, coordinator: str, transaction: str) -> None:
    """
    A coordinator that is asked for a new transaction takes an id for it.

    As written it makes one up, and all that it can go by is what it has in memory. Else it draws the next
    number of a sequence that the store keeps, for each transaction or for the first since it was started.
    """
    require(w.id[transaction] is None and w.opening[coordinator] is None)
    require(all(other is None or other.transaction != transaction for other in w.opening.values()))

    w.opening[coordinator] = Opening(transaction, _next_id(w, coordinator), Stage.NUMBERED)


def _next_id(w: TransactionIds, coordinator: str) -> int:
    """The id that a coordinator takes; behind a number of the store there is room for all that it needs."""
    if w.design.transaction_ids is Ids.DRAWN:
        return _draw(w)
    count = w.counted[coordinator]
    w.counted[coordinator] = count + 1
    if w.design.transaction_ids is not Ids.DRAWN_AT_START:
        return count
    started = w.started[coordinator]
    if started is None:
        started = w.started[coordinator] = _draw(w)
    return started * len(w.id) + count


def _draw(w: TransactionIds) -> int:
    """The next number of the store's sequence."""
    drawn = w.drawn
    w.drawn += 1
    return drawn


@action("473-COORD-05", "473-HEADER-01", coordinator=COORDINATORS, fair=WEAK)
def create_header(w: TransactionIds, coordinator: str) -> None:
    """The coordinator puts the header; if the put is conditional and there is one, it takes another id."""
    opening = _opening(w, coordinator, Stage.NUMBERED)

    if w.design.transaction_ids is Ids.COUNTED_AND_FREE and w.header[opening.id] is not None:
        w.opening[coordinator] = None
        return
    w.header[opening.id] = begin(0, 0)
    w.opened_for[opening.id] = opening.transaction
    w.opening[coordinator] = Opening(opening.transaction, opening.id, Stage.CREATED)


@action("473-COORD-05", coordinator=COORDINATORS, fair=WEAK)
def tell_id(w: TransactionIds, coordinator: str) -> None:
    """The client is told the id of its new transaction."""
    opening = _opening(w, coordinator, Stage.CREATED)

    w.id[opening.transaction] = opening.id
    w.opening[coordinator] = None


def _opening(w: TransactionIds, coordinator: str, stage: Stage) -> Opening:
    opening = w.opening[coordinator]
    require(opening is not None and opening.stage is stage)
    assert opening is not None
    return opening


@action("473-RECOVER-06", "473-STORE-01", coordinator=COORDINATORS, fault=True)
def crash_coordinator(w: TransactionIds, coordinator: str) -> None:
    """A coordinator crashes; its clients ask another one, or the same when it is back."""
    require(w.crashes_left)

    w.crashes_left -= 1
    forget(w, coordinator)


@action("473-PUBLISH-01", transaction=TRANSACTIONS)
def allow_operation(w: TransactionIds, transaction: str) -> None:
    """A client writes or acknowledges in its transaction, and the participant reads that it is open."""
    try:
        take_operation(_header_of(w, transaction))
        w.under_way[transaction] = True
    except Refused:
        return


@action("473-OP-01", transaction=TRANSACTIONS, fair=WEAK)
def record_operation(w: TransactionIds, transaction: str) -> None:
    """The participant puts the operation record, whatever has become of the header meanwhile."""
    id = w.id[transaction]
    require(w.under_way[transaction])
    assert id is not None

    w.under_way[transaction] = False
    w.operations[id] = tuple(sorted({*w.operations[id], transaction}))


@action("473-GC-02", "473-READ-23", id=IDS, fair=WEAK)
def drop_operations(w: TransactionIds, id: int) -> None:
    """The participants have done their work, or find records without a header, and delete them."""
    header = w.header[id]
    require(header is None or header.state is not TxnState.OPEN)

    w.operations[id] = ()


@action(
    "473-COORD-08",
    "473-HEADER-05",
    transaction=TRANSACTIONS,
    outcome=(TxnState.COMMITTED, TxnState.ABORTED),
)
def end_by_id(w: TransactionIds, transaction: str, outcome: TxnState) -> None:
    """A client asks any coordinator for an end of the transaction with its id, also again and too late."""
    require(w.asked[transaction] in (None, outcome))
    header = _header_of(w, transaction)
    id = w.id[transaction]
    assert id is not None

    w.asked[transaction] = outcome
    try:
        w.header[id] = end(header, outcome, 0)
    except Refused:
        return


def _header_of(w: TransactionIds, transaction: str) -> Header | None:
    """What is stored under the id that a client has."""
    id = w.id[transaction]
    require(id is not None)
    assert id is not None
    return w.header[id]


@action("473-COORD-09", "473-COORD-10", id=IDS, fair=WEAK)
def expire_id(w: TransactionIds, id: int) -> None:
    """The sweep of some coordinator aborts a transaction that nobody has ended."""
    header = w.header[id]
    require(header is not None and timed_out(header, 0))

    w.header[id] = end(header, TxnState.ABORTED, 0)


@action("473-GC-05", "473-GC-07", id=IDS, fair=WEAK)
def collect_header(w: TransactionIds, id: int) -> None:
    """The sweep deletes the header of a transaction that has ended and has no records left."""
    header = w.header[id]
    require(header is not None and collectable(header, 0, 0))
    require(not w.operations[id])

    w.header[id] = None


@always("473-HEADER-01", "473-READ-11", id=IDS)
def an_id_is_given_once(w: TransactionIds, id: int) -> Iterator[str]:
    """No two clients are given the same id."""
    given = [transaction for transaction, its in w.id.items() if its == id]
    if len(given) > 1:
        yield f"{' and '.join(given)} both have the id {id}"


@step("473-HEADER-07", "473-CONTENT-01", id=IDS)
def what_is_decided_is_not_opened_again(w: TransactionIds, after: TransactionIds, id: int) -> Iterator[str]:
    """The header of a decided transaction stays as it is until it is deleted."""
    before, then = w.header[id], after.header[id]
    if before is not None and before.state is not TxnState.OPEN and then not in (None, before):
        assert then is not None
        yield f"{w.opened_for[id]} was {before.state.value}, and what is stored of it is {then.state.value}"


@always("473-COORD-08", "473-GOAL-01", id=IDS)
def only_its_client_commits_a_transaction(w: TransactionIds, id: int) -> Iterator[str]:
    """A transaction is committed because its own client asked for that."""
    header, transaction = w.header[id], w.opened_for[id]
    if header is None or transaction is None or header.state is not TxnState.COMMITTED:
        return
    if w.asked[transaction] is not TxnState.COMMITTED:
        yield f"{transaction} is committed, and its client has not asked for that"


@always("473-OP-01", "473-GOAL-01", id=IDS)
def nobody_inherits_operations(w: TransactionIds, id: int) -> Iterator[str]:
    """What is recorded under the id of a transaction was done in that transaction."""
    if w.header[id] is None:
        return
    for transaction in w.operations[id]:
        if transaction != w.opened_for[id]:
            yield f"what {transaction} did counts as a part of {w.opened_for[id]}, which has its id {id}"


@step("473-GC-02", "473-GC-05", "473-GC-07", id=IDS)
def nothing_goes_too_early(w: TransactionIds, after: TransactionIds, id: int) -> Iterator[str]:
    """Operation records stay as long as their transaction is open, and its header as long as they do."""
    before, then = w.header[id], after.header[id]
    if before is not None and before.state is TxnState.OPEN and not after.operations[id]:
        for transaction in w.operations[id]:
            yield f"the records of {transaction} are deleted, and it is open"
    if before is not None and then is None and w.operations[id]:
        yield f"the header of {w.opened_for[id]} is deleted before its records"


@leads_to("473-COORD-05", "473-RECOVER-06", transaction=TRANSACTIONS)
def everybody_gets_an_id(w: TransactionIds, transaction: str) -> tuple[object, object]:
    """Whoever asks for a transaction gets one, whichever coordinators crash meanwhile."""
    return w.id[transaction] is None, w.id[transaction] is not None


@leads_to("473-COORD-05", coordinator=COORDINATORS)
def coordinators_come_to_an_end(w: TransactionIds, coordinator: str) -> tuple[object, object]:
    """A coordinator is done with a new transaction some time."""
    return w.opening[coordinator] is not None, w.opening[coordinator] is None


@leads_to("473-GC-01", "473-COORD-09", id=IDS)
def nothing_stays_under_an_id(w: TransactionIds, id: int) -> tuple[object, object]:
    """Headers and operation records go in the end, also of a transaction that no client was told of."""
    stored = w.header[id] is not None or w.operations[id]
    return stored, not stored


@sometimes("473-READ-11", id=IDS)
def an_id_belongs_to_nobody(w: TransactionIds, id: int) -> object:
    """A coordinator crashed between taking an id and telling it, and the next one is used already."""
    return id < w.drawn - 1 and w.header[id + 1] is not None and w.opened_for[id] is None


@sometimes("473-READ-23", id=IDS)
def a_record_outlives_its_header(w: TransactionIds, id: int) -> object:
    """An operation record is put when the header of its transaction was collected already."""
    return w.header[id] is None and w.operations[id]
