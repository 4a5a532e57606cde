"""
How the owner of a segment learns of operation records that it has not put itself: by watching the index.

A broker that was superseded may still put a record, or crash before it withdraws one. For what may be read
the owner does not need to know, since it knows its own writes. But the record has to go in the end, or the
header never does. The watch of a range tells that something has changed, late, once for several changes, and
nothing of what happened before it was set. [473-READ-40, 473-READ-20]
"""

from collections.abc import Iterator

from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
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
from spec.protocols.header_cache import Watch
from spec.protocols.serving import OWNERS

RECORDS = Domain("record", "r")


class RangeWatches(Machine):
    """The records of one segment, and what its owner has found in the index."""

    stops = Bound()
    lost_sessions = Bound()

    stops_left = Variable[int](0)
    lost_sessions_left = Variable[int](0)
    stored = Family[str, bool](RECORDS, False)
    """Whether a record is in the store that somebody else than the owner has put."""
    watch = Memory[str, Watch](OWNERS, Watch.UNSET)
    fired = Memory[str, bool](OWNERS, False)
    """The store has something to tell, and has yet to tell it."""
    read = Memory[tuple[str, str], bool]((OWNERS, RECORDS), False)
    """The owner has come past a record's place, and will not look there again unless it hears something."""
    known = Memory[tuple[str, str], bool]((OWNERS, RECORDS), False)


@start
def owners_can_fail(w: RangeWatches) -> None:
    """So many crashes and lost sessions."""
    w.stops_left = w.stops
    w.lost_sessions_left = w.lost_sessions


@action("473-BUFFER-04", record=RECORDS)
def put_stray_record(w: RangeWatches, record: str) -> None:
    """A broker that does not know yet that it was superseded puts an operation record."""
    w.stored[record] = True
    for owner, watch in w.watch.items():
        w.fired[owner] = watch is Watch.SET


@action("473-BUFFER-08", "473-RECOVER-01", owner=OWNERS, fair=WEAK)
def watch_range(w: RangeWatches, owner: str) -> None:
    """An owner that recovers watches its range of the index, before it reads any of it."""
    require(w.watch[owner] is Watch.UNSET)

    w.watch[owner] = Watch.SET


@action("473-BUFFER-08", "473-RECOVER-01", owner=OWNERS, record=RECORDS, fair=WEAK)
def read_entry(w: RangeWatches, owner: str, record: str) -> None:
    """The owner reads on in its range of the index, from entry to entry."""
    require(w.watch[owner] is Watch.SET)
    require(not w.read[owner, record])

    w.read[owner, record] = True
    w.known[owner, record] = w.stored[record]


@action("473-BUFFER-04", "473-STORE-06", owner=OWNERS, fair=WEAK)
def hear_of_changes(w: RangeWatches, owner: str) -> None:
    """The watch fires, and the owner sets it again and reads its range once more."""
    require(w.fired[owner])

    _read_again(w, owner)


@action("473-READ-40", owner=OWNERS, fault=True)
def lose_range_watch(w: RangeWatches, owner: str) -> None:
    """The session of the owner expires, and with it the watch and what it had to tell."""
    require(w.lost_sessions_left)
    require(w.watch[owner] is Watch.SET)

    w.lost_sessions_left -= 1
    w.watch[owner] = Watch.LOST
    w.fired[owner] = False


@action("473-READ-40", owner=OWNERS, fair=WEAK)
def watch_range_again(w: RangeWatches, owner: str) -> None:
    """In its new session the owner watches its range and reads it once more."""
    require(w.design.lost_watches_read_again)
    require(w.watch[owner] is Watch.LOST)

    _read_again(w, owner)


def _read_again(w: RangeWatches, owner: str) -> None:
    w.watch[owner] = Watch.SET
    w.fired[owner] = False
    for record in w.stored:
        w.read[owner, record] = False


@action("473-GC-02", "473-BUFFER-03", owner=OWNERS, record=RECORDS, fair=WEAK)
def drop_stray_record(w: RangeWatches, owner: str, record: str) -> None:
    """The owner deletes a record that has no purpose, because what became of its entry is settled."""
    require(w.known[owner, record])

    w.stored[record] = False
    w.known[owner, record] = False


@action("473-RECOVER-03", owner=OWNERS, fault=True)
def stop_owner(w: RangeWatches, owner: str) -> None:
    """The owner crashes; whoever is the next one recovers in the same way."""
    require(w.stops_left)

    w.stops_left -= 1
    forget(w, owner)


@always("473-BUFFER-04", owner=OWNERS, record=RECORDS)
def owners_know_what_is_stored(w: RangeWatches, owner: str, record: str) -> Iterator[str]:
    """An owner knows of no record that is not there."""
    if w.known[owner, record] and not w.stored[record]:
        yield f"{owner} knows of {record}, which is not stored"


@always("473-READ-40")
def no_more_is_lost_than_may(w: RangeWatches) -> Iterator[str]:
    """Crashes and lost sessions stay within their budgets."""
    if w.stops_left < 0 or w.lost_sessions_left < 0:
        yield f"{-min(w.stops_left, w.lost_sessions_left)} faults too many"


@step("473-BUFFER-04", "473-RECOVER-01", owner=OWNERS, record=RECORDS)
def nobody_reads_again_without_a_reason(
    w: RangeWatches, after: RangeWatches, owner: str, record: str
) -> Iterator[str]:
    """An owner that watches its range and has read it leaves the store alone until it hears something."""
    quiet = w.watch[owner] is Watch.SET and not w.fired[owner] and after.watch[owner] is Watch.SET
    learned = after.known[owner, record] and not w.known[owner, record]
    if w.read[owner, record] and (learned or (quiet and not after.read[owner, record])):
        yield f"{owner} looks for {record} once more, and has heard nothing"


@leads_to("473-BUFFER-04", owner=OWNERS)
def changes_are_heard_of(w: RangeWatches, owner: str) -> tuple[object, object]:
    """What the store has to tell is told, and only once."""
    return w.fired[owner], not w.fired[owner]


@leads_to("473-GC-01", "473-GC-02", "473-BUFFER-04", record=RECORDS)
def no_record_stays_for_ever(w: RangeWatches, record: str) -> tuple[object, object]:
    """A record that somebody else has put is deleted in the end."""
    return w.stored[record], not w.stored[record]


@sometimes("473-READ-20", owner=OWNERS, record=RECORDS)
def a_record_comes_after_it_was_looked_for(w: RangeWatches, owner: str, record: str) -> object:
    """A record is put where the owner has looked already, and it has not heard of it."""
    return w.read[owner, record] and not w.known[owner, record] and w.stored[record]


@sometimes("473-READ-40", owner=OWNERS)
def a_record_comes_without_a_session(w: RangeWatches, owner: str) -> object:
    """A record is stored of which no watch has told, nor ever will."""
    return w.watch[owner] is Watch.LOST and any(w.stored.values())


@sometimes("473-RECOVER-03", owner=OWNERS)
def an_owner_begins_anew(w: RangeWatches, owner: str) -> object:
    """There was a watch once, and the owner of today has yet to set one."""
    return w.lost_sessions_left < w.lost_sessions and w.watch[owner] is Watch.UNSET
