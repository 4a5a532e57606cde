"""
What the participants of a transaction know of its header: a copy in memory, kept current by a watch.

A watch tells of what changes after it was set, late and only once for several changes, and it ends with the
session of its broker.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from spec.machine import WEAK, Bound, Memory, Variable, action, always, leads_to, require, sometimes, start
from spec.protocols.deciding import TRANSACTIONS, Deciding
from spec.protocols.serving import OWNERS, Serving
from spec.protocols.topic import SEGMENTS
from spec.transactions import Header, TxnState


class Watch(Enum):
    """Whether a broker will hear that a header changes."""

    UNSET = "it has yet to be set"
    SET = "it tells of the next change"
    MISSED = "it was set after the change that it should have told of"
    LOST = "it ended with the session"


@dataclass(frozen=True, slots=True)
class Cached:
    """A header as a broker read it last, and who needs it there; without one, it is gone from the store."""

    header: Header | None
    watch: Watch
    users: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        return self.header is not None and self.header.state is TxnState.OPEN

    def __str__(self) -> str:
        return f"{self.header.state.value if self.header else 'gone'}, watch {self.watch.name.lower()}"


class HeaderCache(Serving, Deciding):
    """The headers that the participants on a segment have in memory. [473-NOTIFY-02]"""

    lost_sessions = Bound()

    lost_sessions_left = Variable[int](0)
    cached = Memory[tuple[str, int, str], Cached | None]((OWNERS, SEGMENTS, TRANSACTIONS), None)


@start
def sessions_can_be_lost(w: HeaderCache) -> None:
    """So many sessions will be lost."""
    w.lost_sessions_left = w.lost_sessions


def consult(w: HeaderCache, owner: str, segment: int, transaction: str, user: str) -> Header | None:
    """
    The header from memory, or else from the store; what is read there is remembered and watched.

    [473-PUBLISH-03, 473-NOTIFY-03, 473-READ-18]
    """
    cached = w.cached[owner, segment, transaction]
    if cached is None:
        watch = Watch.SET if w.design.headers_are_watched_before_read else Watch.UNSET
        cached = Cached(w.header[transaction], watch)
    users = tuple(sorted({*cached.users, user}))
    w.cached[owner, segment, transaction] = replace(cached, users=users)
    return cached.header


def release(w: HeaderCache, owner: str, segment: int, transaction: str, user: str) -> None:
    """One who needed a header does so no more; when nobody does, it is forgotten. [473-NOTIFY-05]"""
    cached = w.cached[owner, segment, transaction]
    if cached is not None:
        users = tuple(one for one in cached.users if one != user)
        w.cached[owner, segment, transaction] = replace(cached, users=users) if users else None


def still_open(w: HeaderCache, transaction: str) -> bool:
    """Whether a transaction is open, as the store and no cache says."""
    header = w.header[transaction]
    return header is not None and header.state is TxnState.OPEN


def may_answer(w: HeaderCache, owner: str, segment: int) -> bool:
    """
    Whether a broker may tell a client what became of an operation.

    One that was superseded says nothing: the next owner may have read the record, or not.
    """
    return not w.design.superseded_owners_are_fenced or w.owner[segment] == owner


def belongs(w: HeaderCache, owner: str, segment: int, transaction: str) -> bool:
    """
    Whether an operation is certain to be part of its transaction, once its record was put.

    A header that is open after the put was open before it. A broker that is the owner after the put was so
    before it, and the next one will find the record. [473-LATE-01, 473-READ-14, 473-READ-26]
    """
    in_time = not w.design.operations_look_again or still_open(w, transaction)
    return in_time and may_answer(w, owner, segment)


def too_late(w: HeaderCache, transaction: str) -> bool:
    """Whether a broker that looks again finds a transaction decided, so that it withdraws its record."""
    return w.design.operations_look_again and not still_open(w, transaction)


@action(
    "473-NOTIFY-02",
    "473-NOTIFY-04",
    "473-PUBLISH-03",
    "473-END-03",
    owner=OWNERS,
    segment=SEGMENTS,
    transaction=TRANSACTIONS,
    fair=WEAK,
)
def hear_of_the_end(w: HeaderCache, owner: str, segment: int, transaction: str) -> None:
    """The watch on a header fires, and the participant has it as it is now."""
    cached, header = _cached(w, owner, segment, transaction), w.header[transaction]
    require(cached.watch is Watch.SET or (cached.watch is Watch.MISSED and header is None))
    require(cached.header != header)

    w.cached[owner, segment, transaction] = replace(cached, header=header, watch=Watch.SET)


@action("473-READ-41", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS, fair=WEAK)
def set_watch(w: HeaderCache, owner: str, segment: int, transaction: str) -> None:
    """As written, a header is watched once it is cached; what has changed by then is not told."""
    cached = _cached(w, owner, segment, transaction)
    require(cached.watch is Watch.UNSET)

    watch = Watch.SET if w.header[transaction] == cached.header else Watch.MISSED
    w.cached[owner, segment, transaction] = replace(cached, watch=watch)


@action("473-READ-40", owner=OWNERS, fault=True)
def lose_session(w: HeaderCache, owner: str) -> None:
    """A broker's session with the store expires, and its watches with it; it gets another one."""
    require(w.lost_sessions_left)

    w.lost_sessions_left -= 1
    for key, cached in w.cached.items():
        if key[0] == owner and cached is not None:
            w.cached[key] = replace(cached, watch=Watch.LOST)


@action("473-READ-40", "473-NOTIFY-04", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS, fair=WEAK)
def read_again(w: HeaderCache, owner: str, segment: int, transaction: str) -> None:
    """In its new session a participant watches and reads all headers that it has cached."""
    require(w.design.lost_watches_read_again)
    cached = _cached(w, owner, segment, transaction)
    require(cached.watch is Watch.LOST)

    header = w.header[transaction]
    w.cached[owner, segment, transaction] = replace(cached, header=header, watch=Watch.SET)


def _cached(w: HeaderCache, owner: str, segment: int, transaction: str) -> Cached:
    cached = w.cached[owner, segment, transaction]
    require(cached is not None)
    assert cached is not None
    return cached


@always("473-NOTIFY-01", "473-NOTIFY-02", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS)
def nobody_believes_in_another_outcome(
    w: HeaderCache, owner: str, segment: int, transaction: str
) -> Iterator[str]:
    """A participant may not know yet that a transaction is decided, but it never believes what is not so."""
    cached = w.cached[owner, segment, transaction]
    if cached is None or cached.header is None or cached.open:
        return
    if cached.header.state is not w.outcome[transaction]:
        yield f"{owner} takes {transaction} for {cached.header.state.value}"


@always("473-NOTIFY-02", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS)
def only_who_serves_a_segment_caches_headers(
    w: HeaderCache, owner: str, segment: int, transaction: str
) -> Iterator[str]:
    """A broker has headers in memory for the segments that it has opened."""
    if w.cached[owner, segment, transaction] is not None and not w.loaded[owner, segment]:
        yield f"{owner} caches the header of {transaction} for segment {segment}, which it has not opened"


@leads_to("473-NOTIFY-04", "473-NOTIFY-05", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS)
def no_cache_keeps_a_decided_transaction(
    w: HeaderCache, owner: str, segment: int, transaction: str
) -> tuple[object, object]:
    """Some time after its end nobody has the header of a transaction in memory."""
    ended = w.outcome[transaction] is not TxnState.OPEN
    kept = w.cached[owner, segment, transaction] is not None
    return ended and kept, not kept


@leads_to("473-NOTIFY-04", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS)
def decisions_reach_everybody(
    w: HeaderCache, owner: str, segment: int, transaction: str
) -> tuple[object, object]:
    """Whoever has the header of a transaction cached as open hears of its end."""
    cached = w.cached[owner, segment, transaction]
    late = cached is not None and cached.open and w.outcome[transaction] is not TxnState.OPEN
    return late, not late


@sometimes("473-NOTIFY-08", owner=OWNERS, segment=SEGMENTS, transaction=TRANSACTIONS)
def somebody_has_not_heard(w: HeaderCache, owner: str, segment: int, transaction: str) -> object:
    """A transaction is committed, and a participant still takes it for open."""
    cached = w.cached[owner, segment, transaction]
    return cached is not None and cached.open and w.outcome[transaction] is TxnState.COMMITTED
