"""
Producers with several messages on their way, of which some come back while others have arrived.

The application numbers a key's messages as it sends them. Messages to one segment travel in order; one that
comes back from a terminated segment is sent again by the next layout. Whether a later message of its key may
take the new way before it, the documents do not say. [468-READ-30]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.machine import WEAK, Bound, Family, action, always, leads_to, require, sometimes, start
from spec.protocols.producing import PRODUCERS
from spec.protocols.topic import KEYS, SEGMENTS, Ledger, Message, Topic, View, owed_now, owner_of, view_of


@dataclass(frozen=True, slots=True)
class Send:
    """A message that the application has handed in, and the segment to which it is on its way, if it is."""

    key: int
    number: int
    segment: int | None = None

    def __str__(self) -> str:
        return f"{self.key}#{self.number} " + ("held" if self.segment is None else f"to {self.segment}")


class Pipelining(Topic):
    """Producers that do not wait for one acknowledgement before they send the next message."""

    messages = Bound()

    view = Family[str, View | None](PRODUCERS, None)
    """The layout that a producer routes by; nothing while it waits for another."""
    to_send = Family[str, int](PRODUCERS, 0)
    unsettled = Family[str, tuple[Send, ...]](PRODUCERS, ())
    """What was handed in and is not acknowledged, in the order of the application."""


@start
def producers_with_something_to_send(w: Pipelining) -> None:
    """Every producer has the layout of the beginning."""
    for producer in w.view:
        w.view[producer] = view_of(w.record) if w.record is not None else None
        w.to_send[producer] = w.messages


@action("468-SPLIT-11", "468-READ-30", producer=PRODUCERS, key=KEYS)
def hand_in(w: Pipelining, producer: str, key: int) -> None:
    """The application sends a message, which takes its number now and its way when it is sent off."""
    require(w.to_send[producer])

    w.to_send[producer] -= 1
    w.sent[key] += 1
    w.unsettled[producer] += (Send(key, w.sent[key]),)


@action("468-SPLIT-11", "468-LAYOUT-09", producer=PRODUCERS, fair=WEAK)
def send_off(w: Pipelining, producer: str) -> None:
    """
    Send the first message that is held to the segment that owns its key, as far as the producer knows.

    By the design it waits while an older one of its key is on its way to another segment.
    """
    view, unsettled = w.view[producer], w.unsettled[producer]
    require(view is not None)
    assert view is not None
    held = [place for place, one in enumerate(unsettled) if one.segment is None]
    require(held)
    one = unsettled[held[0]]
    segment = owner_of(w, view.layout, one.key)
    older = [other for other in unsettled[: held[0]] if other.key == one.key]
    if w.design.producers_settle_before_rerouting:
        require(all(other.segment == segment for other in older))

    w.unsettled[producer] = _put(unsettled, held[0], replace(one, segment=segment))


@action("468-SPLIT-11", "468-SEGAPI-09", producer=PRODUCERS, segment=SEGMENTS, fair=WEAK)
def arrive(w: Pipelining, producer: str, segment: int) -> None:
    """The first message that is on its way to a segment is appended and acknowledged, or comes back."""
    unsettled = w.unsettled[producer]
    coming = [place for place, one in enumerate(unsettled) if one.segment == segment]
    require(coming)
    place, one = coming[0], unsettled[coming[0]]

    if w.ledger[segment] is Ledger.OPEN:
        w.log[segment] += (Message(one.key, one.number, owed_now(w)),)
        w.unsettled[producer] = unsettled[:place] + unsettled[place + 1 :]
        return
    w.unsettled[producer] = _put(unsettled, place, replace(one, segment=None))
    w.view[producer] = None


@action("468-SPLIT-11", "468-ROLE-02", producer=PRODUCERS, fair=WEAK)
def learn_layout(w: Pipelining, producer: str) -> None:
    """A producer is told the layout that is published now."""
    assert w.record is not None
    require(w.view[producer] != view_of(w.record))

    w.view[producer] = view_of(w.record)


def _put(some: tuple[Send, ...], place: int, one: Send) -> tuple[Send, ...]:
    return (*some[:place], one, *some[place + 1 :])


@always("468-SPLIT-11", producer=PRODUCERS)
def nobody_hands_in_more_than_it_may(w: Pipelining, producer: str) -> Iterator[str]:
    """Messages stay within their budget."""
    if w.to_send[producer] < 0:
        yield f"{producer} has handed in too much"


@leads_to("468-SPLIT-11", producer=PRODUCERS)
def everything_handed_in_is_acknowledged(w: Pipelining, producer: str) -> tuple[object, object]:
    """What an application has sent does not stay on its way for ever."""
    return w.unsettled[producer] != (), w.unsettled[producer] == ()


@sometimes("468-READ-30", producer=PRODUCERS)
def a_message_came_back_while_another_is_on_its_way(w: Pipelining, producer: str) -> object:
    """A producer holds a message that was turned away, and a later one of its key is on its way."""
    unsettled = w.unsettled[producer]
    return len(unsettled) > 1 and unsettled[0].segment is None and unsettled[1].segment is not None
