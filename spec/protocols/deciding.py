"""
The coordinator: it opens transactions, ends them by one conditional write of the header, and forgets them.

It keeps nothing: any broker can do any of this at any time, so a failover is no event here. Clients may ask
for either end, as often as they like and also too late, and may miss the answer. [473-READ-32]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.design import Sweep
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Variable,
    action,
    always,
    leads_to,
    require,
    sometimes,
    step,
)
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, Topic
from spec.refusals import Refused
from spec.transactions import Header, TxnState, begin, collectable, end, timed_out

TRANSACTIONS = Domain("transaction", "t")


@dataclass(frozen=True, slots=True)
class AckRecord:
    """An acknowledgement that a subscription makes in a transaction, as its operation record has it."""

    position: int
    cumulative: bool = False
    cursor: int = 0
    """For which of the cursors that had the subscription's name it was made."""
    sequence: int = -1
    """The last part of its key, which the store gives it. [473-OP-03]"""

    def __str__(self) -> str:
        return f"through {self.position}" if self.cumulative else str(self.position)


class Deciding(Topic):
    """What is stored of the transactions, and what their clients were told."""

    ticks = Bound()
    timeout = Bound()
    retention = Bound()

    now = Variable[int](0)
    header = Family[str, Header | None](TRANSACTIONS, None)
    writes = Family[tuple[str, int], tuple[int, ...]]((TRANSACTIONS, SEGMENTS), ())
    """The positions in a segment of which an operation record says that they belong to the transaction."""
    acks = Family[tuple[str, str, int], tuple[AckRecord, ...]]((TRANSACTIONS, SUBSCRIPTIONS, SEGMENTS), ())
    """What operation records say that a subscription acknowledged in a segment, in the transaction."""
    outcome = Family[str, TxnState | None](TRANSACTIONS, None)
    """What the header said last, also after it is gone; nobody can read this."""
    answered = Family[str, TxnState | None](TRANSACTIONS, None)
    """The end that the client was told."""
    undated = Family[str, bool](TRANSACTIONS, False)
    """Some coordinator has decided, and has yet to write when that was."""
    cleared = Family[str, bool](TRANSACTIONS, False)
    """Some coordinator has seen that no operation records are left, and has yet to delete the header."""


@action("473-COORD-05", "473-CONTENT-01", transaction=TRANSACTIONS)
def open_transaction(w: Deciding, transaction: str) -> None:
    """A client gets a new transaction, under an id that was never used before."""
    require(w.outcome[transaction] is None)

    w.header[transaction] = begin(w.now, w.timeout)
    w.outcome[transaction] = TxnState.OPEN


@action(
    "473-COORD-04",
    "473-COORD-08",
    "473-HEADER-05",
    "473-END-02",
    "473-NOTIFY-07",
    "473-NOTIFY-10",
    "473-READ-30",
    transaction=TRANSACTIONS,
    outcome=(TxnState.COMMITTED, TxnState.ABORTED),
)
def end_transaction(w: Deciding, transaction: str, outcome: TxnState) -> None:
    """
    A client asks for an end, and is told when the header says so; an error tells it nothing.

    It may ask when there is no header yet or any more. No participant is told anything.
    """
    if _decide(w, transaction, outcome):
        w.answered[transaction] = outcome


@action(
    "473-RECOVER-05",
    "473-RECOVER-06",
    transaction=TRANSACTIONS,
    outcome=(TxnState.COMMITTED, TxnState.ABORTED),
    fault=True,
)
def end_unanswered(w: Deciding, transaction: str, outcome: TxnState) -> None:
    """The coordinator fails right after the decision, and the client hears nothing."""
    _decide(w, transaction, outcome)
    w.undated[transaction] = False


@action("473-COORD-09", "473-COORD-10", "473-INDEX-04", transaction=TRANSACTIONS, fair=WEAK)
def expire(w: Deciding, transaction: str) -> None:
    """The sweep finds a transaction past its deadline and aborts it, by the same write as anybody."""
    header = w.header[transaction]
    require(header is not None)
    assert header is not None
    require(timed_out(header, w.now))

    _decide(w, transaction, TxnState.ABORTED)


def _decide(w: Deciding, transaction: str, outcome: TxnState) -> bool:
    """Whether the transaction has this end now."""
    try:
        ended = end(w.header[transaction], outcome, w.now)
    except Refused:
        return False

    if w.outcome[transaction] is TxnState.OPEN and not w.design.ends_are_dated_at_once:
        ended = replace(ended, finalized_at=None)
        w.undated[transaction] = True
    w.header[transaction] = ended
    w.outcome[transaction] = ended.state
    return True


@action("473-READ-01", transaction=TRANSACTIONS, fair=WEAK)
def date_the_end(w: Deciding, transaction: str) -> None:
    """As written, when the transaction ended is a write of its own, after the one that decided."""
    header = w.header[transaction]
    require(w.undated[transaction])
    assert header is not None

    w.header[transaction] = replace(header, finalized_at=w.now)
    w.undated[transaction] = False


@action("473-COORD-09", fair=WEAK)
def tick(w: Deciding) -> None:
    """Time passes."""
    require(w.now < w.ticks)

    w.now += 1


def recorded(w: Deciding, transaction: str) -> bool:
    """Whether operation records of a transaction are left. [473-GC-05]"""
    writes = any(w.writes[transaction, segment] for segment in w.ledger)
    return writes or any(w.acks[transaction, s, segment] for s in w.subscribed for segment in w.ledger)


@action("473-GC-03", "473-GC-04", "473-GC-05", "473-GC-06", transaction=TRANSACTIONS, fair=WEAK)
def look_for_leftovers(w: Deciding, transaction: str) -> None:
    """
    The sweep lists the records of a transaction whose retention is over, to see whether its header can go.

    As written it deletes what it finds. Else it waits for those whose records they are.
    """
    header = w.header[transaction]
    require(header is not None)
    assert header is not None
    require(collectable(header, w.now, w.retention))
    if w.design.sweep is Sweep.FORCES:
        for segment in w.ledger:
            w.writes[transaction, segment] = ()
            for subscription in w.subscribed:
                w.acks[transaction, subscription, segment] = ()
    else:
        require(not recorded(w, transaction))

    w.cleared[transaction] = True


@action("473-GC-01", "473-GC-07", transaction=TRANSACTIONS, fair=WEAK)
def delete_header(w: Deciding, transaction: str) -> None:
    """The sweep deletes the header, last of all and whatever has happened since it looked."""
    require(w.cleared[transaction])

    w.header[transaction] = None
    w.cleared[transaction] = False


@always("473-END-04", "473-NOTIFY-01", transaction=TRANSACTIONS)
def the_header_says_what_was_decided(w: Deciding, transaction: str) -> Iterator[str]:
    """As long as there is a header, it has the one outcome that the transaction has."""
    header = w.header[transaction]
    if header is not None and header.state is not w.outcome[transaction]:
        yield f"the header of {transaction} says {header.state.value}, and it was decided otherwise"


@step("473-HEADER-06", "473-HEADER-07", "473-CONTENT-01", transaction=TRANSACTIONS)
def a_decision_is_final(w: Deciding, after: Deciding, transaction: str) -> Iterator[str]:
    """From open a transaction becomes committed or aborted, and then nothing else ever again."""
    before, then = w.outcome[transaction], after.outcome[transaction]
    if before in (TxnState.COMMITTED, TxnState.ABORTED) and then is not before:
        yield f"{transaction} was {before.value} and is {then and then.value}"
    if w.header[transaction] is None and after.header[transaction] is not None and before is not None:
        yield f"{transaction} had its header deleted, and has another one"


@step("473-CONTENT-01", "473-END-02", "473-RECOVER-05", "473-COORD-06", transaction=TRANSACTIONS)
def headers_are_written_twice(w: Deciding, after: Deciding, transaction: str) -> Iterator[str]:
    """A header is written when the transaction is opened and when it is decided, and at no other time."""
    before, then = w.header[transaction], after.header[transaction]
    if before is None or then is None or before == then:
        return
    if before.state is then.state:
        yield f"the header of {transaction} is {before.state.value} and is written once more"


@always("473-NOTIFY-07", "473-RECOVER-05", transaction=TRANSACTIONS)
def clients_are_told_what_was_decided(w: Deciding, transaction: str) -> Iterator[str]:
    """A client that was told that its transaction ended in a way knows how it ended."""
    told = w.answered[transaction]
    if told is not None and told is not w.outcome[transaction]:
        yield f"the client was told that {transaction} is {told.value}, and it is not"


@step("473-GC-07", "473-GC-05", transaction=TRANSACTIONS)
def open_headers_stay(w: Deciding, after: Deciding, transaction: str) -> Iterator[str]:
    """A header is deleted only when its transaction is decided and its retention over."""
    header = w.header[transaction]
    if header is None or after.header[transaction] is not None:
        return
    if not collectable(header, w.now, w.retention):
        yield f"the header of {transaction} is deleted, and it is {header.state.value}"


@leads_to("473-COORD-09", transaction=TRANSACTIONS)
def every_transaction_ends(w: Deciding, transaction: str) -> tuple[object, object]:
    """A transaction that nobody ends is aborted, if time goes on until its deadline."""
    header, ended = w.header[transaction], w.outcome[transaction] is not TxnState.OPEN
    return header is not None and timed_out(header, w.ticks), ended


@leads_to("473-GC-01", "473-GC-03", transaction=TRANSACTIONS)
def everything_stored_of_a_transaction_goes(w: Deciding, transaction: str) -> tuple[object, object]:
    """Nothing is stored of a transaction some time after its end, if time goes on until it is old enough."""
    header = w.header[transaction]
    gone = header is None and not recorded(w, transaction)
    dated = header is not None and header.finalized_at is not None
    kept = header is not None and dated and not collectable(header, w.ticks, w.retention)
    return w.outcome[transaction] not in (None, TxnState.OPEN) and not gone and not kept, gone


@sometimes("473-NOTIFY-07", transaction=TRANSACTIONS)
def a_client_knows_that_it_has_committed(w: Deciding, transaction: str) -> object:
    """A client was told that its transaction is committed, before anybody else can have noticed."""
    return w.answered[transaction] is TxnState.COMMITTED and w.header[transaction] is not None


@sometimes("473-READ-29", transaction=TRANSACTIONS)
def a_client_was_told_nothing(w: Deciding, transaction: str) -> object:
    """A transaction was decided and forgotten, and its client does not know how."""
    ended = w.outcome[transaction] in (TxnState.COMMITTED, TxnState.ABORTED)
    return ended and w.header[transaction] is None and w.answered[transaction] is None


@sometimes("473-GC-07", subscription=SUBSCRIPTIONS)
def a_header_is_gone(w: Deciding, subscription: str) -> object:
    """A committed transaction has no header any more, and a subscription has read nothing yet."""
    forgotten = any(w.outcome[t] is TxnState.COMMITTED and w.header[t] is None for t in w.header)
    return forgotten and not any(w.cursor[subscription, segment] for segment in w.ledger)
