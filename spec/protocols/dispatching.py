"""
The dispatcher: it delivers what the transaction buffer lets it read, and skips what that calls aborted.

Each subscription goes at its own pace, so one that lags stands for a subscription that is created later and
begins at the earliest message.
"""

from collections.abc import Iterator

from spec.assignment import assignable
from spec.machine import WEAK, action, always, leads_to, require, sometimes
from spec.protocols.deciding import TRANSACTIONS
from spec.protocols.serving import OWNERS
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, Message, drained, receive, unread
from spec.protocols.transaction_buffer import TransactionBuffer, seen, serves
from spec.transactions import TxnState, Visibility


class Dispatching(TransactionBuffer):
    """Ordered consumers of every subscription, as one reader each."""


@action(
    "473-DISPATCH-03",
    "473-DISPATCH-01",
    "473-NOTIFY-06",
    owner=OWNERS,
    subscription=SUBSCRIPTIONS,
    segment=SEGMENTS,
    fair=WEAK,
)
def dispatch(w: Dispatching, owner: str, subscription: str, segment: int) -> None:
    """The next entry of a segment is delivered and acknowledged, or passed over if it is to be skipped."""
    record = w.record
    require(record is not None and serves(w, owner, segment))
    require(unread(w, subscription, segment))
    assert record is not None
    done = drained(w, subscription, record.layout)
    require(segment in [s.segment_id for s in assignable(record.layout, done, w.design)])
    position = w.cursor[subscription, segment]
    assert position is not None
    fate = seen(w, owner, segment, position)
    require(fate is not Visibility.WITHHELD)

    if fate is Visibility.SKIPPED:
        w.cursor[subscription, segment] = position + 1
    else:
        receive(w, subscription, segment)


def has(w: Dispatching, subscription: str, message: Message) -> bool:
    """Whether a message was delivered to a subscription."""
    return message.number in w.received[subscription, message.key]


@always("473-GOAL-01", "473-DISPATCH-03", "473-RECOVER-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def only_what_is_committed_is_delivered(w: Dispatching, subscription: str, segment: int) -> Iterator[str]:
    """Nothing of a transaction that is open or aborted ever reaches anybody."""
    for message in w.log[segment]:
        transaction = message.transaction
        if transaction is None or w.outcome[transaction] is TxnState.COMMITTED:
            continue
        if has(w, subscription, message):
            state = "open" if w.outcome[transaction] is TxnState.OPEN else "aborted"
            yield f"{subscription} received {message}, which is {state}"


@always("473-GOAL-01", "473-NOTIFY-08", subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def what_is_committed_is_not_passed_over(
    w: Dispatching, subscription: str, transaction: str
) -> Iterator[str]:
    """No subscription goes past an acknowledged message of a committed transaction without receiving it."""
    if w.outcome[transaction] is not TxnState.COMMITTED:
        return
    for segment, position in w.accepted[transaction]:
        cursor, message = w.cursor[subscription, segment], w.log[segment][position]
        if cursor is not None and cursor > position and not has(w, subscription, message):
            yield f"{subscription} went past {message}, which is committed, in segment {segment}"


@always("473-LATE-01", subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def what_was_refused_is_not_delivered(w: Dispatching, subscription: str, transaction: str) -> Iterator[str]:
    """A message whose client was told that it came too late reaches nobody."""
    for segment, position in w.refused[transaction]:
        message = w.log[segment][position]
        if has(w, subscription, message):
            yield f"{subscription} received {message}, which was refused"


@always("473-GOAL-01", "473-NOTIFY-01", segment=SEGMENTS)
def everybody_sees_the_same(w: Dispatching, segment: int) -> Iterator[str]:
    """Of two subscriptions that have passed an entry, both received it or neither did."""
    for position, message in enumerate(w.log[segment]):
        passed = [s for s in w.subscribed if (w.cursor[s, segment] or 0) > position]
        got = [s for s in passed if has(w, s, message)]
        if got and len(got) < len(passed):
            missed = next(s for s in passed if s not in got)
            yield f"{got[0]} received {message} of segment {segment}, and {missed} did not"


@leads_to("473-GOAL-01", "473-NOTIFY-08", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def every_entry_is_passed(w: Dispatching, subscription: str, segment: int) -> tuple[object, object]:
    """A subscription that goes on comes to the end of every segment."""
    left = unread(w, subscription, segment)
    return left, not left


@sometimes("473-NOTIFY-08", transaction=TRANSACTIONS)
def a_committed_message_was_delivered(w: Dispatching, transaction: str) -> object:
    """Somebody received a message of a committed transaction."""
    if w.outcome[transaction] is not TxnState.COMMITTED:
        return False
    return any(has(w, s, w.log[n][p]) for n, p in w.accepted[transaction] for s in w.subscribed)


@sometimes("473-NOTIFY-06", transaction=TRANSACTIONS)
def an_aborted_message_was_passed_over(w: Dispatching, transaction: str) -> object:
    """Somebody went past an acknowledged message of an aborted transaction."""
    if w.outcome[transaction] is not TxnState.ABORTED:
        return False
    return any((w.cursor[s, n] or 0) > p for n, p in w.accepted[transaction] for s in w.subscribed)
