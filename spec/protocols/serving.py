"""
Segments and the brokers that serve them: each has one owner, it can move, and its last owner may not know.

Whoever takes a segment over opens its ledger, and from then on nobody else can append to it. An owner that
was superseded finds that out when it appends; until then it goes on with what it has in memory.
"""

from collections.abc import Iterator

from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    always,
    forget,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.topic import SEGMENTS, Ledger, Topic, unread

OWNERS = Domain("owner", "n")
"""Brokers as owners of segments; what they do as controllers is a part of its own."""


class Serving(Topic):
    """Who owns the segments, and who believes to."""

    moves = Bound()
    stops = Bound()

    moves_left = Variable[int](0)
    stops_left = Variable[int](0)
    owner = Family[int, str | None](SEGMENTS, None)
    """Whoever opened the ledger last, and wrote its name into what is stored of the segment."""
    loaded = Memory[tuple[str, int], bool]((OWNERS, SEGMENTS), False)
    """Whether a broker has opened a segment, and has not noticed that another one did so after it."""


@start
def the_first_broker_owns_what_there_is(w: Serving) -> None:
    """Nothing was ever written, so there is nothing to recover."""
    w.moves_left = w.moves
    w.stops_left = w.stops
    for segment, ledger in w.ledger.items():
        if ledger is not Ledger.ABSENT:
            w.owner[segment] = "n1"
            w.loaded["n1", segment] = True


@action("468-SEGMENT-03", owner=OWNERS, segment=SEGMENTS, fair=WEAK)
def take_over_segment(w: Serving, owner: str, segment: int) -> None:
    """
    A broker opens a segment that nobody serves, because somebody asks for it.

    Producers ask for active segments, and readers for those in which they have something left.
    """
    require(wanted(w, segment) and not served(w, segment))

    open_segment(w, owner, segment)


@action("468-SEGMENT-03", owner=OWNERS, segment=SEGMENTS, fault=True)
def move(w: Serving, owner: str, segment: int) -> None:
    """A broker opens a segment that is served; its owner, which may be itself, has not heard of it."""
    require(w.moves_left and served(w, segment))

    w.moves_left -= 1
    open_segment(w, owner, segment)


def wanted(w: Serving, segment: int) -> bool:
    """Whether a producer or a reader asks for a segment."""
    record = w.record
    active = record is not None and record.layout.has(segment) and record.layout.segment(segment).active
    return active or any(unread(w, subscription, segment) for subscription in w.subscribed)


def served(w: Serving, segment: int) -> bool:
    """Whether the owner of a segment has not crashed since it opened it."""
    owner = w.owner[segment]
    return owner is not None and w.loaded[owner, segment]


def open_segment(w: Serving, owner: str, segment: int) -> None:
    """A segment that exists is opened; what the broker still had in memory of it, from before, it drops."""
    require(w.ledger[segment] is not Ledger.ABSENT)

    forget(w, owner, segment)
    w.owner[segment] = owner
    w.loaded[owner, segment] = True


@action("473-RECOVER-03", "473-RECOVER-05", owner=OWNERS, fault=True)
def stop(w: Serving, owner: str) -> None:
    """A broker crashes; all that it had in memory is gone."""
    require(w.stops_left)

    w.stops_left -= 1
    forget(w, owner)


@action("468-SEGMENT-03", owner=OWNERS, segment=SEGMENTS, fair=WEAK)
def notice_the_next_owner(w: Serving, owner: str, segment: int) -> None:
    """A broker finds a segment in another one's hands, and drops all that it has in memory of it."""
    require(w.loaded[owner, segment] and w.owner[segment] != owner)

    forget(w, owner, segment)


def owns(w: Serving, owner: str, segment: int) -> bool:
    """Whether a broker serves a segment that is its own; only then does the ledger take its appends."""
    return w.loaded[owner, segment] and w.owner[segment] == owner


@always("468-SEGMENT-03")
def no_more_owners_fail_than_may(w: Serving) -> Iterator[str]:
    """Moves and crashes stay within their budgets."""
    if w.moves_left < 0 or w.stops_left < 0:
        yield f"{-min(w.moves_left, w.stops_left)} faults too many"


@step("468-SEGMENT-03", owner=OWNERS, segment=SEGMENTS)
def who_opens_a_segment_owns_it(w: Serving, after: Serving, owner: str, segment: int) -> Iterator[str]:
    """Opening a segment takes it away from whoever had it."""
    if after.loaded[owner, segment] and not w.loaded[owner, segment] and after.owner[segment] != owner:
        yield f"{owner} has opened segment {segment}, and its owner is {after.owner[segment]}"


@leads_to("473-RECOVER-01", segment=SEGMENTS)
def segments_are_served_again(w: Serving, segment: int) -> tuple[object, object]:
    """A segment whose owner crashed gets another one, if anybody asks for it."""
    asked_for = w.ledger[segment] is not Ledger.ABSENT and wanted(w, segment)
    return asked_for and not served(w, segment), not asked_for or served(w, segment)


@sometimes("468-SEGMENT-03", owner=OWNERS, segment=SEGMENTS)
def a_superseded_owner_goes_on(w: Serving, owner: str, segment: int) -> object:
    """A broker believes to own a segment that another one has opened since."""
    return w.loaded[owner, segment] and w.owner[segment] != owner
