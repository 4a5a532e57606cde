"""
Subscriptions that are deleted and created again under the same name, while transactions are open.

The new one begins at the earliest message, with a cursor of its own. As far as pending acks are concerned,
a cursor that is reset is the same: what was acknowledged before is to be read again.
"""

from collections.abc import Iterator

from spec.machine import Bound, Variable, action, always, require, sometimes, start
from spec.protocols.deciding import TRANSACTIONS
from spec.protocols.pending_acks import evict
from spec.protocols.redelivering import Redelivering
from spec.protocols.serving import OWNERS
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, Subscribed
from spec.transactions import TxnState


class ReturningSubscriptions(Redelivering):
    """Subscriptions on the one segment of a topic, deleted by whoever owns it."""

    deletions = Bound()

    deletions_left = Variable[int](0)


@start
def subscriptions_may_be_deleted(w: ReturningSubscriptions) -> None:
    """So many subscriptions will be deleted."""
    w.deletions_left = w.deletions


@action("473-READ-44", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS)
def unsubscribe(w: ReturningSubscriptions, owner: str, segment: int, subscription: str) -> None:
    """The owner deletes a subscription's cursor, and with it all that it has in memory of it."""
    require(w.deletions_left)
    require(w.owner[segment] == owner)

    w.deletions_left -= 1
    w.subscribed[subscription] = Subscribed.DELETED
    w.cursor[subscription, segment] = None
    w.apart[subscription, segment] = ()
    w.plainly[subscription, segment] = ()
    w.acked[owner, segment, subscription] = None
    w.plain[owner, segment, subscription] = ()
    w.outstanding[owner, segment, subscription] = ()
    w.acks_recovered[owner, segment, subscription] = False
    for transaction in w.header:
        w.pending[owner, segment, subscription, transaction] = ()
        w.acking[owner, segment, subscription, transaction] = None
        w.replayed[owner, segment, subscription, transaction] = False
        evict(w, owner, segment, transaction)


@action("473-READ-44", segment=SEGMENTS, subscription=SUBSCRIPTIONS)
def subscribe_again(w: ReturningSubscriptions, segment: int, subscription: str) -> None:
    """A subscription of that name is created, which has received nothing and begins at the beginning."""
    require(w.subscribed[subscription] is Subscribed.DELETED)

    w.subscribed[subscription] = Subscribed.CREATED
    w.cursor[subscription, segment] = 0
    w.cursor_number[subscription, segment] += 1
    for key in w.sent:
        w.received[subscription, key] = ()


@always("473-READ-44")
def no_more_subscriptions_are_deleted_than_may(w: ReturningSubscriptions) -> Iterator[str]:
    """Deletions stay within their budget."""
    if w.deletions_left < 0:
        yield f"{-w.deletions_left} deletions too many"


@sometimes("473-READ-44", segment=SEGMENTS, subscription=SUBSCRIPTIONS, transaction=TRANSACTIONS)
def acks_outlive_their_subscription(
    w: ReturningSubscriptions, segment: int, subscription: str, transaction: str
) -> object:
    """A transaction is committed, and its record speaks of a cursor that exists no more."""
    records, number = w.acks[transaction, subscription, segment], w.cursor_number[subscription, segment]
    exists = w.cursor[subscription, segment] is not None
    old = exists and any(record.cursor < number for record in records)
    return old and w.outcome[transaction] is TxnState.COMMITTED
