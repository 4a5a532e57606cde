"""
Producers: they route by key over the layout that they know, and are turned away by what is sealed.

A send is acknowledged, or pending because its acknowledgement was lost, or failed: given up, perhaps in vain.
What is pending is sent again, to whichever segment owns its key by then.
"""

from collections.abc import Iterator

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
    start,
)
from spec.protocols.topic import (
    KEYS,
    Ledger,
    Message,
    Topic,
    View,
    append,
    owed_now,
    owner_of,
    published,
    view_of,
)

PRODUCERS = Domain("producer", "p")


class Producing(Topic):
    """The producers of the topic."""

    messages = Bound()
    lost_acknowledgements = Bound()

    view = Family[str, View | None](PRODUCERS, None)
    """The layout that a producer routes by; nothing while it waits for another."""
    to_send = Family[str, int](PRODUCERS, 0)
    pending = Family[str, Message | None](PRODUCERS, None)
    acknowledgements_left = Variable[int](0)


@start
def producers_know_the_layout(w: Producing) -> None:
    """Every producer has the layout of the beginning and something to send."""
    w.acknowledgements_left = w.lost_acknowledgements
    for producer in w.view:
        w.view[producer] = view_of(w.record) if w.record is not None else None
        w.to_send[producer] = w.messages


@action("468-SPLIT-11", "468-SEGAPI-09", "468-LAYOUT-09", producer=PRODUCERS, key=KEYS)
def send(w: Producing, producer: str, key: int) -> None:
    """Append a message to the segment that owns its key, as far as the producer knows, or be turned away."""
    segment = _next_goes_to(w, producer, key)
    if segment is None:
        return

    append(w, segment, key)
    w.to_send[producer] -= 1


@action("468-READ-30", producer=PRODUCERS, key=KEYS, fault=True)
def send_unacknowledged(w: Producing, producer: str, key: int) -> None:
    """The message is appended, but the producer never hears of it; so far it is owed to nobody."""
    require(w.acknowledgements_left)
    segment = _next_goes_to(w, producer, key)
    if segment is None:
        return

    w.acknowledgements_left -= 1
    w.to_send[producer] -= 1
    w.pending[producer] = append(w, segment, key, acknowledged=False)


def _next_goes_to(w: Producing, producer: str, key: int) -> int | None:
    require(w.to_send[producer])
    return _writable(w, producer, key)


@action("468-READ-30", "468-SPLIT-11", producer=PRODUCERS, fair=WEAK)
def send_again(w: Producing, producer: str) -> None:
    """Send what was not acknowledged once more, to the segment that owns its key now."""
    message = w.pending[producer]
    require(message is not None)
    assert message is not None
    segment = _writable(w, producer, message.key)
    if segment is None:
        return

    w.log[segment] += (Message(message.key, message.number, owed_now(w)),)
    w.pending[producer] = None


@action("468-READ-30", producer=PRODUCERS)
def give_up(w: Producing, producer: str) -> None:
    """A producer tells its application that a send failed; the message may be delivered all the same."""
    require(w.pending[producer] is not None)

    w.pending[producer] = None


def _writable(w: Producing, producer: str, key: int) -> int | None:
    """The segment that takes the key; none if it is terminated, and then the producer needs a new layout."""
    view = w.view[producer]
    require(view is not None)
    assert view is not None

    segment = owner_of(w, view.layout, key)
    if w.ledger[segment] is Ledger.OPEN and w.born[segment] == view.incarnation:
        return segment
    w.view[producer] = None
    return None


class LookingUp(Producing):
    """
    Producers that ask for the layout when they need one, and are answered from the record.

    Where the ways of a layout to its clients are the question, `spec.protocols.watching` takes its place.
    """


@action("468-SPLIT-11", producer=PRODUCERS, fair=WEAK)
def look_up(w: LookingUp, producer: str) -> None:
    """A producer gets the layout that is published now: it asks when it was turned away, or is told."""
    record = published(w)
    require(record is not None)
    assert record is not None

    w.view[producer] = view_of(record)


@always("468-SPLIT-11", producer=PRODUCERS)
def nobody_sends_more_than_it_may(w: Producing, producer: str) -> Iterator[str]:
    """Messages and lost acknowledgements stay within their budgets."""
    if w.to_send[producer] < 0 or w.acknowledgements_left < 0:
        yield f"{producer} has sent too much, or too many acknowledgements are lost"


@leads_to("468-SPLIT-11", producer=PRODUCERS)
def what_is_pending_is_settled(w: Producing, producer: str) -> tuple[object, object]:
    """A message whose acknowledgement was lost is acknowledged in the end, or given up."""
    return w.pending[producer] is not None, w.pending[producer] is None


@sometimes("468-SPLIT-11", producer=PRODUCERS)
def a_producer_was_turned_away(w: Producing, producer: str) -> object:
    """A producer waits for a newer layout."""
    return w.view[producer] is None


@sometimes("468-READ-30", key=KEYS)
def a_message_stands_in_two_segments(w: Producing, key: int) -> object:
    """A repeated message was appended to another segment than the first time."""
    return sum(any(m.key == key and m.number == 1 for m in log) for log in w.log.values()) > 1
