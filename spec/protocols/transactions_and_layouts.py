"""
Transactions while the layout changes: segments are sealed, forgotten and deleted before a transaction ends.

A transaction ends without an append, so a sealed segment is a participant like any other. It is drained when
everything in it is decided and read, and its children wait for that. A segment that nobody needs any more may
go while transactions are open; what is recorded of it goes as well, because nobody else would ever come back
to it. [473-READ-43, 473-READ-44]
"""

from collections.abc import Iterator

from spec.layout import ancestors
from spec.machine import WEAK, action, always, forget, leads_to, require, sometimes, step
from spec.protocols.deciding import TRANSACTIONS
from spec.protocols.dispatching import Dispatching, has
from spec.protocols.serving import OWNERS, open_segment, served, wanted
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, Ledger, Subscribed, drained
from spec.transactions import TxnState


class AcrossLayouts(Dispatching):
    """Transactions whose segments are sealed, split and merged meanwhile."""


@step("473-SEAL-02", "473-END-01", "473-END-05", "473-STORE-02", segment=SEGMENTS)
def what_is_sealed_takes_no_append(w: AcrossLayouts, after: AcrossLayouts, segment: int) -> Iterator[str]:
    """Whatever becomes of the transactions that wrote to it, a sealed segment stays as it is."""
    if w.ledger[segment] is Ledger.TERMINATED and after.log[segment] != w.log[segment]:
        yield f"segment {segment} is sealed, and {after.log[segment][-1]} was appended to it"


@always("473-GOAL-01", "473-GOAL-04", "473-SEAL-03", subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def a_transaction_is_all_or_nothing(w: AcrossLayouts, subscription: str, transaction: str) -> Iterator[str]:
    """Of all writes of a transaction that a subscription has come past, it received each or none."""
    passed = [
        w.log[segment][position]
        for segment, position in w.accepted[transaction]
        if (w.cursor[subscription, segment] or 0) > position
    ]
    got = [message for message in passed if has(w, subscription, message)]
    if got and len(got) < len(passed):
        missed = next(message for message in passed if message not in got)
        yield f"{subscription} received {got[0]}, and went past {missed}"


@always("473-GOAL-04", "473-GOAL-01", subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def what_may_be_committed_is_kept(w: AcrossLayouts, subscription: str, transaction: str) -> Iterator[str]:
    """As long as a transaction is not aborted, its writes are kept for whoever has not come to them."""
    if w.outcome[transaction] is TxnState.ABORTED or w.subscribed[subscription] is not Subscribed.CREATED:
        return
    record = w.record
    for segment, position in w.accepted[transaction]:
        cursor = w.cursor[subscription, segment]
        if cursor is not None and cursor > position:
            continue
        listed = record is not None and record.layout.has(segment)
        if cursor is None or not listed or w.ledger[segment] is Ledger.ABSENT:
            yield f"entry {position} of segment {segment} belongs to {transaction}, and is out of reach"


@leads_to("473-END-05", "473-READ-43", "473-SEAL-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def what_is_sealed_is_drained(w: AcrossLayouts, subscription: str, segment: int) -> tuple[object, object]:
    """A sealed segment all of whose transactions are decided is drained by everybody, in the end."""
    record = w.record
    if record is None or not record.layout.has(segment) or record.layout.segment(segment).active:
        return False, True
    done = segment in drained(w, subscription, record.layout)
    resting = TxnState.OPEN not in w.outcome.values()
    return resting and not done, done or not resting


@leads_to("473-GOAL-01", "473-GOAL-04", subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def all_of_a_transaction_arrives(
    w: AcrossLayouts, subscription: str, transaction: str
) -> tuple[object, object]:
    """Every subscription receives every write of a committed transaction, in whichever segment it is."""
    if w.outcome[transaction] is not TxnState.COMMITTED:
        return False, True
    missing = [n for n, p in w.accepted[transaction] if not has(w, subscription, w.log[n][p])]
    return bool(missing), not missing


@sometimes("473-READ-43", segment=SEGMENTS)
def a_sealed_segment_waits_for_a_decision(w: AcrossLayouts, segment: int) -> object:
    """A segment is sealed, a write in it is undecided, and its transaction has written to a child as well."""
    record = w.record
    if record is None or w.ledger[segment] is not Ledger.TERMINATED or not record.layout.has(segment):
        return False
    children = record.layout.segment(segment).child_ids
    written = [{n for n, _ in w.accepted[t]} for t in w.header if w.outcome[t] is TxnState.OPEN]
    return any(segment in some and not some.isdisjoint(children) for some in written)


@sometimes("473-GOAL-04", "473-SEAL-03", subscription=SUBSCRIPTIONS)
def a_transaction_spans_a_change(w: AcrossLayouts, subscription: str) -> object:
    """A subscription received writes of one transaction from a segment and from one that came from it."""
    record = w.record
    if record is None:
        return False
    for accepted in w.accepted.values():
        got = {n for n, p in accepted if has(w, subscription, w.log[n][p])}
        if any(record.layout.has(n) and not got.isdisjoint(ancestors(record.layout, n)) for n in got):
            return True
    return False


class Vanishing(AcrossLayouts):
    """Transactions whose segments are gone before everything that is recorded of them is."""


def gone(w: Vanishing, segment: int) -> bool:
    """
    Whether a segment is in the layout no more; its name is never used again, so it never will be.

    A topic that is created again has names of its own for them (`topics_have_incarnations`). The
    children of a change under way are not there yet, but then nobody can have written to them.
    """
    record = w.record
    return record is None or not record.layout.has(segment)


@action("468-SEGAPI-11", owner=OWNERS, segment=SEGMENTS, fair=WEAK)
def close_deleted_segment(w: Vanishing, owner: str, segment: int) -> None:
    """A broker whose segment was deleted drops what it has in memory of it, whatever it was about."""
    require(w.ledger[segment] is Ledger.ABSENT)

    forget(w, owner, segment)


@action("473-GC-02", "473-READ-44", transaction=TRANSACTIONS, segment=SEGMENTS, fair=WEAK)
def collect_what_is_gone(w: Vanishing, transaction: str, segment: int) -> None:
    """
    The sweep deletes what is recorded of a segment that is gone: nobody needs it, and nobody else deletes it.

    It lists the records by their segments, so that it also finds those that have no header any more.
    """
    require(w.design.records_go_with_their_segment and gone(w, segment))

    w.writes[transaction, segment] = ()
    for subscription in w.subscribed:
        w.acks[transaction, subscription, segment] = ()


def _recorded(w: Vanishing, segment: int) -> bool:
    """Whether the store has operation records of a segment."""
    written = any(w.writes[transaction, segment] for transaction in w.header)
    return written or any(w.acks[t, subscription, segment] for t in w.header for subscription in w.subscribed)


@action("473-GC-05", "473-READ-17", owner=OWNERS, segment=SEGMENTS, fair=WEAK)
def load_for_leftovers(w: Vanishing, owner: str, segment: int) -> None:
    """
    A broker opens a segment that nobody serves, because the sweep has found records of it and asks for it.

    A sealed segment that everybody has drained is asked for by nobody else.
    """
    require(w.design.leftovers_load_their_segment)
    require(_recorded(w, segment))
    require(not served(w, segment))

    open_segment(w, owner, segment)


@step("468-SEGAPI-11", owner=OWNERS, segment=SEGMENTS)
def nobody_opens_what_is_deleted(w: Vanishing, after: Vanishing, owner: str, segment: int) -> Iterator[str]:
    """A segment that was deleted is served by nobody who did not serve it before."""
    if after.loaded[owner, segment] and not w.loaded[owner, segment] and w.ledger[segment] is Ledger.ABSENT:
        yield f"{owner} opens segment {segment}, which is deleted"


@step("473-GC-05", segment=SEGMENTS)
def drained_segments_are_left_alone(w: Vanishing, after: Vanishing, segment: int) -> Iterator[str]:
    """A segment is loaded because somebody asks for it, or because something is recorded of it."""
    if (
        not served(w, segment)
        and served(after, segment)
        and not (wanted(w, segment) or _recorded(w, segment))
    ):
        yield f"segment {segment} is loaded, and nobody needs it"


@sometimes("473-READ-44", transaction=TRANSACTIONS, segment=SEGMENTS)
def a_record_outlives_its_segment(w: Vanishing, transaction: str, segment: int) -> object:
    """A segment is deleted, no broker has anything of it in memory, and a write in it is still recorded."""
    closed = w.ledger[segment] is Ledger.ABSENT and not any(
        w.loaded[o, n] for o, n in w.loaded if n == segment
    )
    return closed and gone(w, segment) and w.writes[transaction, segment]
