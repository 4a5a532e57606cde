"""
Consumers of a subscription: they get what nobody has acknowledged, and what is given back they get again.

A message that a transaction has acknowledged is in nobody's hands and yet to nobody's use, until the
transaction ends.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from spec.machine import WEAK, Bound, Variable, action, always, leads_to, require, sometimes, start, step
from spec.protocols.applying_acks import ApplyingAcks, current
from spec.protocols.deciding import TRANSACTIONS
from spec.protocols.pending_acks import handed_out, held, offers, opened, written_down
from spec.protocols.serving import OWNERS
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS
from spec.transactions import TxnState


class Redelivering(ApplyingAcks):
    """Consumers that may leave, with or without having acknowledged what they have."""

    departures = Bound()

    departures_left = Variable[int](0)


@start
def consumers_may_leave(w: Redelivering) -> None:
    """So often will the consumers of a subscription leave and come back."""
    w.departures_left = w.departures


def send_out(w: Redelivering, owner: str, segment: int, subscription: str, readable: Iterable[int]) -> None:
    """Of what may be read, a broker sends what is neither acknowledged nor held nor with its consumers."""
    require(offers(w, owner, segment, subscription))
    out = w.outstanding[owner, segment, subscription]
    kept = {*opened(w, owner, segment, subscription).positions, *out}
    if w.design.held_messages_stay_held:
        kept |= held(w, owner, segment, subscription)
    sent = [position for position in readable if position not in kept]
    require(sent)

    w.outstanding[owner, segment, subscription] = tuple(sorted((*out, *sent)))
    for position in sent:
        message = w.log[segment][position]
        if message.number not in w.received[subscription, message.key]:
            w.received[subscription, message.key] += (message.number,)
    for transaction, outcome in w.outcome.items():
        if outcome is TxnState.ABORTED:
            w.asked_acks[transaction] = tuple(
                replace(one, again=tuple(p for p in one.takes if p in one.again or p in sent))
                if (one.segment, one.subscription) == (segment, subscription)
                else one
                for one in w.asked_acks[transaction]
            )


class Delivering(Redelivering):
    """Brokers that deliver everything, where no message is part of a transaction."""


@action("473-READ-28", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS, fair=WEAK)
def deliver(w: Delivering, owner: str, segment: int, subscription: str) -> None:
    """A broker sends its consumers what they are to get, for the first time or again."""
    send_out(w, owner, segment, subscription, range(len(w.log[segment])))


@action("473-READ-28", owner=OWNERS, segment=SEGMENTS, subscription=SUBSCRIPTIONS, fault=True)
def leave(w: Redelivering, owner: str, segment: int, subscription: str) -> None:
    """The consumers of a subscription leave, and what they have is to be delivered to others."""
    require(w.departures_left)

    w.departures_left -= 1
    w.outstanding[owner, segment, subscription] = ()


@always("473-READ-28")
def no_more_consumers_leave_than_may(w: Redelivering) -> Iterator[str]:
    """Departures stay within their budget."""
    if w.departures_left < 0:
        yield f"{-w.departures_left} departures too many"


@step("473-GOAL-01", "473-NOTIFY-08", "473-ACK-08", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def what_was_consumed_is_not_delivered_again(
    w: Redelivering, after: Redelivering, subscription: str, segment: int
) -> Iterator[str]:
    """The owner delivers no message that was acknowledged in a transaction, unless that is aborted."""
    owner = w.owner[segment]
    if owner is None or owner != after.owner[segment]:
        return
    key = owner, segment, subscription
    sent = {*after.outstanding[key]} - {*w.outstanding[key]}
    for transaction, outcome in w.outcome.items():
        if outcome is not TxnState.ABORTED:
            for one in current(w, transaction, segment, subscription):
                again = [p for p in one.takes if p in sent]
                if one.accepted and again:
                    yield f"{subscription} gets {again[0]} again, which it has consumed in {transaction}"


@always("473-GOAL-01", "473-READ-44", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_cursor_passes_nothing_unseen(w: Redelivering, subscription: str, segment: int) -> Iterator[str]:
    """What a subscription has acknowledged, some consumer of it has received."""
    seen = handed_out(w, segment, subscription)
    for position in written_down(w, subscription, segment):
        if position not in seen:
            yield f"{subscription} has acknowledged {position} of segment {segment}, and never received it"


@leads_to("473-ACK-07", "473-READ-28", transaction=TRANSACTIONS, subscription=SUBSCRIPTIONS)
def aborted_acks_are_delivered_again(
    w: Redelivering, transaction: str, subscription: str
) -> tuple[object, object]:
    """A message whose ack was aborted is delivered again, or acknowledged otherwise."""
    waiting = w.outcome[transaction] is TxnState.ABORTED and any(
        one.accepted and not {*one.takes} <= {*one.again} | _settled(w, segment, subscription)
        for segment in w.ledger
        for one in current(w, transaction, segment, subscription)
    )
    return waiting, not waiting


def _settled(w: Redelivering, segment: int, subscription: str) -> set[int]:
    """The positions that are acknowledged durably, or that the owner holds for a transaction."""
    owner = w.owner[segment]
    holds = held(w, owner, segment, subscription) if owner is not None else set()
    return holds | {*written_down(w, subscription, segment)}


@sometimes("473-ACK-07", transaction=TRANSACTIONS)
def an_aborted_ack_was_delivered_again(w: Redelivering, transaction: str) -> object:
    """A message whose ack was aborted is in somebody's hands again."""
    return any(one.accepted and one.again for one in w.asked_acks[transaction])
