"""
Consume, transform, produce: a transaction acknowledges a message and writes its result, across a split.

The message is in a parent that is sealed, and the result goes to a child. Whoever reads both must find one
result for each message, whatever crashes: the ack and the result take effect together or not at all.
"""

from collections.abc import Iterator
from dataclasses import replace

from spec.assignment import assignable
from spec.layout import split_segment
from spec.machine import WEAK, action, always, require, sometimes, start
from spec.protocols.applying_acks import current
from spec.protocols.dispatching import has
from spec.protocols.pending_acks import acknowledge, offers, opened, written_down
from spec.protocols.redelivering import Redelivering, send_out
from spec.protocols.serving import OWNERS
from spec.protocols.topic import (
    SEGMENTS,
    SUBSCRIPTIONS,
    AlreadySubscribed,
    Ledger,
    drained,
)
from spec.protocols.transaction_buffer import seen, serves
from spec.protocols.transactions_and_layouts import AcrossLayouts
from spec.transactions import TxnState, Visibility


class AlreadySplit(AlreadySubscribed):
    """A topic whose first segment was split before anything else happens."""


@start
def the_first_segment_is_sealed(w: AlreadySplit) -> None:
    """What was in it is still to be read, and its children are empty."""
    assert w.record is not None
    layout = split_segment(w.record.layout, 0)
    w.record = replace(w.record, layout=layout)
    w.ledger[0] = Ledger.TERMINATED
    for child in layout.segment(0).child_ids:
        w.ledger[child] = Ledger.OPEN
        for subscription in w.subscribed:
            w.cursor[subscription, child] = 0


class Transforming(Redelivering, AcrossLayouts):
    """Consumers that acknowledge in the transaction in which they write what they made of a message."""


@action(
    "473-DISPATCH-03",
    "473-READ-28",
    "473-READ-43",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    fair=WEAK,
)
def deliver_what_is_decided(w: Transforming, owner: str, segment: int, subscription: str) -> None:
    """A broker sends what may be read and was not acknowledged, of a segment whose ancestors are drained."""
    record = w.record
    assert record is not None
    require(serves(w, owner, segment))
    done = drained(w, subscription, record.layout)
    require(segment in [s.segment_id for s in assignable(record.layout, done, w.design)])
    entries = range(len(w.log[segment]))
    readable = [p for p in entries if seen(w, owner, segment, p) is Visibility.DELIVERED]

    send_out(w, owner, segment, subscription, readable)


@action(
    "473-DISPATCH-03",
    "473-NOTIFY-06",
    "473-READ-43",
    owner=OWNERS,
    segment=SEGMENTS,
    subscription=SUBSCRIPTIONS,
    fair=WEAK,
)
def pass_over_what_is_skipped(w: Transforming, owner: str, segment: int, subscription: str) -> None:
    """A broker acknowledges entries that nobody is to get; else no cursor would ever come past them."""
    require(serves(w, owner, segment) and offers(w, owner, segment, subscription))
    acked = opened(w, owner, segment, subscription).positions
    entries = (p for p in range(len(w.log[segment])) if p not in acked)
    skipped = [p for p in entries if seen(w, owner, segment, p) is Visibility.SKIPPED]
    require(skipped)

    acknowledge(w, owner, segment, subscription, skipped)


@always("473-GOAL-01", "473-GOAL-04", subscription=SUBSCRIPTIONS)
def one_result_for_each_message(w: Transforming, subscription: str) -> Iterator[str]:
    """No message has two results that anybody received, and no result is received of what is not consumed."""
    made: dict[tuple[int, int], str] = {}
    for transaction, accepted in w.accepted.items():
        if not any(has(w, subscription, w.log[n][p]) for n, p in accepted):
            continue
        if w.outcome[transaction] is not TxnState.COMMITTED:
            yield f"{subscription} received a result of {transaction}, which is not committed"
        for segment in w.ledger:
            for one in current(w, transaction, segment, subscription):
                for position in one.takes if one.accepted else ():
                    other = made.setdefault((segment, position), transaction)
                    if other != transaction:
                        yield f"message {position} has a result in {other}, and another in {transaction}"


@always("473-GOAL-01", "473-GOAL-04", "473-END-05", subscription=SUBSCRIPTIONS)
def results_come_after_their_messages(w: Transforming, subscription: str) -> Iterator[str]:
    """Who received a result in a child has acknowledged its message in the parent for good."""
    for transaction, accepted in w.accepted.items():
        if not any(has(w, subscription, w.log[n][p]) for n, p in accepted):
            continue
        for segment in w.ledger:
            taken = {p for o in current(w, transaction, segment, subscription) if o.accepted for p in o.takes}
            for position in sorted(taken - {*written_down(w, subscription, segment)}):
                yield f"{subscription} received a result of message {position}, which is not acknowledged"


@sometimes("473-READ-43", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_cursor_is_past_what_is_skipped(w: Transforming, subscription: str, segment: int) -> object:
    """A subscription has acknowledged for good an entry that it never got and never will."""
    return not {*w.settled[segment].skipped}.isdisjoint(written_down(w, subscription, segment))


@sometimes("473-GOAL-04", "473-END-05", subscription=SUBSCRIPTIONS)
def a_result_was_received(w: Transforming, subscription: str) -> object:
    """A subscription received a result from a child, whose message was consumed in the sealed parent."""
    return any(
        has(w, subscription, w.log[segment][position])
        and any(one.accepted and one.takes for one in current(w, transaction, 0, subscription))
        for transaction, accepted in w.accepted.items()
        for segment, position in accepted
        if segment
    )
