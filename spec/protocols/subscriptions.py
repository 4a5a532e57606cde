"""
Subscriptions come and go: the leader gives each active segment a cursor, or takes it from every segment.

As written, the cursors are all that there is of a subscription. The design writes it into the topic record
first, so that every layout change sees it or fails, and the leader makes the cursors agree with the record.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.design import Discovery
from spec.machine import (
    WEAK,
    Bound,
    Memory,
    Variable,
    action,
    always,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.election import Election, admitted
from spec.protocols.topic import (
    BROKERS,
    SEGMENTS,
    SUBSCRIPTIONS,
    Ledger,
    Record,
    Subscribed,
    give_cursor,
    take_cursor,
)


@dataclass(frozen=True, slots=True)
class Errand:
    """A subscription that a broker is creating or deleting, and the segments that it has yet to visit."""

    subscription: str
    number: int
    """Which one of that name."""
    outcome: Subscribed
    segments: tuple[int, ...]


class Subscriptions(Election):
    """What brokers are asked to do about subscriptions."""

    errand = Memory[str, Errand | None](BROKERS, None)


@action("468-ADMIN-01", broker=BROKERS, subscription=SUBSCRIPTIONS)
def create_subscription(w: Subscriptions, broker: str, subscription: str) -> None:
    """
    The leader is asked to create a subscription: it will be created on every active segment.

    A request that came to nothing, because its broker crashed, may be repeated.
    """
    record = admitted(w, broker)
    require(w.errand[broker] is None)
    require(w.subscribed[subscription] in (Subscribed.NOT, Subscribed.ASKED))

    _begin_creation(w, broker, subscription, record)


def _begin_creation(w: Subscriptions, broker: str, subscription: str, record: Record) -> None:
    if w.design.discovery is Discovery.RECORD and subscription not in record.subscriptions:
        w.record = record.written(subscriptions=tuple(sorted((*record.subscriptions, subscription))))
    w.subscribed[subscription] = Subscribed.ASKED
    active = tuple(s.segment_id for s in record.layout.active)
    w.errand[broker] = Errand(subscription, w.number[subscription], Subscribed.CREATED, active)


@action("468-ADMIN-02", broker=BROKERS, subscription=SUBSCRIPTIONS)
def delete_subscription(w: Subscriptions, broker: str, subscription: str) -> None:
    """The leader is asked to delete a subscription: it will be deleted from every segment."""
    record = admitted(w, broker)
    require(w.errand[broker] is None)
    require(w.subscribed[subscription] is Subscribed.CREATED)

    if w.design.discovery is Discovery.RECORD:
        kept = tuple(s for s in record.subscriptions if s != subscription)
        w.record = record.written(subscriptions=kept)
    w.subscribed[subscription] = Subscribed.DELETED
    every = tuple(s.segment_id for s in record.layout.segments)
    w.errand[broker] = Errand(subscription, w.number[subscription], Subscribed.DELETED, every)


@action("468-ADMIN-01", "468-ADMIN-02", "468-SEGAPI-07", broker=BROKERS, fair=WEAK)
def visit_segment(w: Subscriptions, broker: str) -> None:
    """Create the cursor on the next segment, at its beginning, or delete it there."""
    errand = w.errand[broker]
    require(errand is not None and errand.segments)
    assert errand is not None

    segment, *rest = errand.segments
    if errand.outcome is Subscribed.DELETED:
        take_cursor(w, errand.subscription, segment, errand.number)
    elif w.ledger[segment] is not Ledger.ABSENT:
        give_cursor(w, errand.subscription, segment, errand.number)
    w.errand[broker] = replace(errand, segments=tuple(rest))


@action("468-ADMIN-01", "468-ADMIN-02", broker=BROKERS, fair=WEAK)
def acknowledge_errand(w: Subscriptions, broker: str) -> None:
    """Tell whoever asked that it is done, once every segment was visited."""
    errand = w.errand[broker]
    require(errand is not None and not errand.segments)
    assert errand is not None

    w.errand[broker] = None
    asked = w.subscribed[errand.subscription] is Subscribed.ASKED
    if asked and errand.number == w.number[errand.subscription]:
        w.subscribed[errand.subscription] = errand.outcome


@action("468-ADMIN-01", broker=BROKERS, subscription=SUBSCRIPTIONS, segment=SEGMENTS, fair=WEAK)
def add_missing_cursor(w: Subscriptions, broker: str, subscription: str, segment: int) -> None:
    """The leader gives an active segment the cursor that the record asks for."""
    record = _to_be_followed(w, broker)
    require(subscription in record.subscriptions)
    require(record.layout.has(segment) and record.layout.segment(segment).active)
    require(w.cursor[subscription, segment] is None)

    give_cursor(w, subscription, segment, w.number[subscription])


@action("468-ADMIN-02", broker=BROKERS, subscription=SUBSCRIPTIONS, segment=SEGMENTS, fair=WEAK)
def remove_stray_cursor(w: Subscriptions, broker: str, subscription: str, segment: int) -> None:
    """The leader removes a cursor of a subscription that the record does not know."""
    record = _to_be_followed(w, broker)
    older = w.design.subscriptions_have_numbers and w.made_for[subscription, segment] < w.number[subscription]
    require(subscription not in record.subscriptions or older)
    require(w.cursor[subscription, segment] is not None)

    take_cursor(w, subscription, segment, w.number[subscription])


def _to_be_followed(w: Subscriptions, broker: str) -> Record:
    require(w.design.cursors_follow_the_record and w.design.discovery is Discovery.RECORD)
    return admitted(w, broker)


@leads_to("468-ADMIN-02", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_deleted_subscription_leaves_no_cursor(
    w: Subscriptions, subscription: str, segment: int
) -> tuple[object, object]:
    """What holds back a segment for a subscription that is gone goes away."""
    held = w.subscribed[subscription] is Subscribed.DELETED and w.cursor[subscription, segment] is not None
    return held, not held


@leads_to("468-ADMIN-01", subscription=SUBSCRIPTIONS)
def a_subscription_is_whole_or_not_there(w: Subscriptions, subscription: str) -> tuple[object, object]:
    """Whatever became of the request, in the end every active segment has the cursor, or none has."""
    record = w.record
    if record is None:
        return False, True
    held = [w.cursor[subscription, s.segment_id] is not None for s in record.layout.active]
    return any(held) and not all(held), all(held) or not any(held)


@always("468-ADMIN-01", subscription=SUBSCRIPTIONS)
def whoever_is_subscribed_stands_in_the_record(w: Subscriptions, subscription: str) -> Iterator[str]:
    """If subscriptions are recorded, a created one is in the record until its deletion begins."""
    record = w.record
    if w.design.discovery is Discovery.RECORD and record is not None:
        if w.subscribed[subscription] is Subscribed.CREATED and subscription not in record.subscriptions:
            yield f"{subscription} was created and is not in the record"


@step("468-ADMIN-01", "468-ADMIN-02", broker=BROKERS)
def errands_are_run_to_the_end(w: Subscriptions, after: Subscriptions, broker: str) -> Iterator[str]:
    """Who is about a subscription takes nothing else on before it is done."""
    before, then = w.errand[broker], after.errand[broker]
    if before is None or then is None or before == then:
        return
    if (before.subscription, before.segments[1:]) != (then.subscription, then.segments):
        yield f"{broker} left subscription {before.subscription} half-way"


@step("468-ADMIN-02", subscription=SUBSCRIPTIONS)
def only_what_exists_is_deleted(w: Subscriptions, after: Subscriptions, subscription: str) -> Iterator[str]:
    """A subscription is deleted once, after it was created."""
    again = w.record != after.record and w.subscribed[subscription] is Subscribed.DELETED
    if again and w.errand != after.errand and _deletes(after, subscription) and not _deletes(w, subscription):
        yield f"{subscription} is deleted again"
    if after.subscribed[subscription] is Subscribed.DELETED and w.subscribed[subscription] in (
        Subscribed.NOT,
        Subscribed.ASKED,
    ):
        yield f"{subscription} is deleted and never existed"


def _deletes(w: Subscriptions, subscription: str) -> bool:
    about = [errand for errand in w.errand.values() if errand is not None]
    return any(e.subscription == subscription and e.outcome is Subscribed.DELETED for e in about)


@always("468-ADMIN-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def nobody_is_subscribed_unasked(w: Subscriptions, subscription: str, segment: int) -> Iterator[str]:
    """A cursor belongs to a subscription that somebody asked for."""
    if w.cursor[subscription, segment] is not None and w.subscribed[subscription] is Subscribed.NOT:
        yield f"segment {segment} has a cursor for {subscription}, for which nobody has asked"


@step("468-ADMIN-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def history_is_not_for_newcomers(
    w: Subscriptions, after: Subscriptions, subscription: str, segment: int
) -> Iterator[str]:
    """A new cursor is put on an active segment, unless that was sealed while the cursor was on its way."""
    new = w.cursor[subscription, segment] is None and after.cursor[subscription, segment] is not None
    record = w.record
    if new and after.ledger[segment] is Ledger.ABSENT:
        yield f"{subscription} got a cursor on segment {segment}, which does not exist"
    if not new or record is None or not record.layout.has(segment) or record.layout.segment(segment).active:
        return
    if not any(errand is not None and segment in errand.segments for errand in w.errand.values()):
        yield f"{subscription} got a cursor on segment {segment}, which had been sealed before"


@sometimes("468-READ-48", subscription=SUBSCRIPTIONS)
def a_creation_stopped_half_way(w: Subscriptions, subscription: str) -> object:
    """A subscription was asked for, nobody is about it any more, and it was never acknowledged."""
    about_it = any(errand is not None for errand in w.errand.values())
    return w.subscribed[subscription] is Subscribed.ASKED and not about_it


# Created again


class Resubscribing(Subscriptions):
    """Subscriptions that are deleted and created again under the same name."""

    returns = Bound()

    returns_left = Variable[int](0)


@start
def subscriptions_may_return(w: Resubscribing) -> None:
    """So many times."""
    w.returns_left = w.returns


@action("468-ADMIN-01", broker=BROKERS, subscription=SUBSCRIPTIONS)
def create_subscription_again(w: Resubscribing, broker: str, subscription: str) -> None:
    """The leader is asked for a subscription whose name was used before: it has its own past and no other."""
    record = admitted(w, broker)
    require(w.returns_left)
    require(w.errand[broker] is None)
    require(w.subscribed[subscription] is Subscribed.DELETED)

    w.returns_left -= 1
    w.number[subscription] += 1
    for key in w.sent:
        w.received[subscription, key] = ()
    _begin_creation(w, broker, subscription, record)


@always("468-ADMIN-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def nobody_inherits_a_cursor(w: Resubscribing, subscription: str, segment: int) -> Iterator[str]:
    """A subscription that was created again has no cursor that was made for the one before it."""
    held = w.cursor[subscription, segment] is not None
    if held and w.subscribed[subscription] is Subscribed.CREATED:
        if w.made_for[subscription, segment] < w.number[subscription] and _active(w, segment):
            yield f"{subscription} was created again, and in segment {segment} it goes on where it was before"


def _active(w: Resubscribing, segment: int) -> bool:
    layout = w.record.layout if w.record is not None else None
    return layout is not None and layout.has(segment) and layout.segment(segment).active


@step("468-ADMIN-01", subscription=SUBSCRIPTIONS)
def only_what_was_deleted_is_created_again(
    w: Resubscribing, after: Resubscribing, subscription: str
) -> Iterator[str]:
    """A name is used again once its subscription was deleted, and no more often than it may be."""
    again = after.number[subscription] > w.number[subscription]
    if again and w.subscribed[subscription] is not Subscribed.DELETED:
        yield f"{subscription} is created again and was not deleted"
    if after.returns_left < 0:
        yield f"{subscription} is created again too often"


@sometimes("468-ADMIN-02", subscription=SUBSCRIPTIONS)
def a_deletion_is_overtaken(w: Resubscribing, subscription: str) -> object:
    """A subscription exists again, and a broker has yet to delete a cursor of the one before it."""
    late = [e for e in w.errand.values() if e is not None and e.outcome is Subscribed.DELETED and e.segments]
    overtaken = any(e.number < w.number[subscription] for e in late)
    return w.subscribed[subscription] is Subscribed.CREATED and overtaken
