"""
Trimming: a ledger forgets what every subscription has passed, and what is kept about it goes after that.

What became of an entry is kept with its segment, and is needed for as long as anybody can come to the entry.
That is longer than until the last subscription has passed it: one that is created later begins at the first
entry that is left. So the ledger is trimmed first. [473-READ-19]
"""

from collections.abc import Iterator
from dataclasses import replace

from spec.machine import (
    WEAK,
    Family,
    action,
    always,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.dispatching import Dispatching
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, Subscribed
from spec.transactions import TxnState


class Trimming(Dispatching):
    """What ledgers have forgotten, and subscriptions that come late."""

    trimmed = Family[int, int](SEGMENTS, 0)
    """How many entries a ledger has forgotten, from the first on."""
    began = Family[tuple[str, int], int]((SUBSCRIPTIONS, SEGMENTS), 0)
    """Where a subscription began in a segment; nobody can read this."""


@start
def the_first_subscription_exists(w: Trimming) -> None:
    """One subscription has its cursor at the beginning, and all others are still to be created."""
    first, *_ = w.subscribed
    w.subscribed[first] = Subscribed.CREATED
    for segment in w.ledger:
        w.cursor[first, segment] = 0


@action("473-READ-04", subscription=SUBSCRIPTIONS)
def subscribe_at_earliest(w: Trimming, subscription: str) -> None:
    """A subscription is created, and begins at the first entry that is left."""
    require(w.subscribed[subscription] is Subscribed.NOT)

    w.subscribed[subscription] = Subscribed.CREATED
    for segment in w.ledger:
        w.cursor[subscription, segment] = w.began[subscription, segment] = w.trimmed[segment]


@action("473-READ-19", segment=SEGMENTS, fair=WEAK)
def trim(w: Trimming, segment: int) -> None:
    """A ledger forgets its first entry, once every subscription that exists has passed it."""
    first = w.trimmed[segment]
    require(first < passed_by_all(w, segment))

    w.trimmed[segment] = first + 1


def passed_by_all(w: Trimming, segment: int) -> int:
    """How many entries, from the first on, every subscription that exists has passed."""
    cursors = (w.cursor[subscription, segment] for subscription in w.subscribed)
    return min((cursor for cursor in cursors if cursor is not None), default=0)


@action("473-READ-19", segment=SEGMENTS, fair=WEAK)
def forget_outcomes(w: Trimming, segment: int) -> None:
    """
    What is kept about entries that the ledger has forgotten is deleted.

    It is one conditional write of what is kept with the segment. Whoever makes it does no harm, however late.
    """
    settled, first = w.settled[segment], w.trimmed[segment]

    w.settled[segment] = replace(settled, skipped=tuple(p for p in settled.skipped if p >= first))


@step("473-READ-19", "473-BUFFER-07", segment=SEGMENTS)
def outcomes_of_readable_entries_stay(w: Trimming, after: Trimming, segment: int) -> Iterator[str]:
    """What was once written down about an entry is there as long as the entry is."""
    before, then = w.settled[segment], after.settled[segment]
    for position in range(after.trimmed[segment], before.through + 1):
        if (position in before.skipped) != (position in then.skipped) or then.through < position:
            yield f"entry {position} of segment {segment} is left, and what became of it is not"


@always("473-GOAL-01", "473-READ-04", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def latecomers_miss_nothing_that_is_left(w: Trimming, subscription: str, segment: int) -> Iterator[str]:
    """From where a subscription began it receives whatever is committed, and of that all that is left."""
    began, cursor = w.began[subscription, segment], w.cursor[subscription, segment] or 0
    for position in range(began, cursor):
        message = w.log[segment][position]
        transaction = message.transaction
        due = transaction is None or (
            w.outcome[transaction] is TxnState.COMMITTED and (segment, position) in w.accepted[transaction]
        )
        if due and message.number not in w.received[subscription, message.key]:
            yield f"{subscription} began at {began} in segment {segment} and went past {message}"


@always("473-READ-19", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def nothing_unread_is_trimmed(w: Trimming, subscription: str, segment: int) -> Iterator[str]:
    """No subscription has anything before it that the ledger has forgotten."""
    cursor = w.cursor[subscription, segment]
    if cursor is not None and cursor < w.trimmed[segment]:
        yield f"{subscription} is at {cursor} in segment {segment}, which begins at {w.trimmed[segment]}"


@leads_to("473-READ-19", segment=SEGMENTS)
def what_everybody_has_passed_goes(w: Trimming, segment: int) -> tuple[object, object]:
    """Entries that every subscription has passed are forgotten, and what is kept about them as well."""
    passed = passed_by_all(w, segment)
    kept = w.trimmed[segment] < passed or any(p < passed for p in w.settled[segment].skipped)
    return kept, not kept


@sometimes("473-READ-19", segment=SEGMENTS)
def an_outcome_is_kept_for_nobody_yet(w: Trimming, segment: int) -> object:
    """Everybody has passed a skipped entry, and it is still there for whoever comes."""
    skipped = w.settled[segment].skipped
    return any(w.trimmed[segment] <= p < passed_by_all(w, segment) for p in skipped)


@sometimes("473-READ-19", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_latecomer_reads_what_is_left(w: Trimming, subscription: str, segment: int) -> object:
    """A subscription began after entries that were gone, and has read on from there."""
    return 0 < w.began[subscription, segment] < (w.cursor[subscription, segment] or 0)
