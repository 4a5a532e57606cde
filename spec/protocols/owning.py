"""
Where the segments are: each is owned by one broker, it can move, and clients have addresses of it.

An update of a DAG watch session gives the address of each active segment as it was at that moment. When a
segment moves the record stays as it is, so no update follows; of sealed segments it gives no address at all.
[468-READ-25, 468-READ-26]
"""

from spec.layout import split_segment
from spec.machine import WEAK, Bound, Family, Variable, action, leads_to, require, sometimes, start
from spec.protocols.topic import BROKERS, SEGMENTS, Record, Topic
from spec.protocols.watching import CLIENTS


class Owning(Topic):
    """The owners of the segments, and where clients believe them to be."""

    publications = Bound()
    moves = Bound()

    publications_left = Variable[int](0)
    moves_left = Variable[int](0)
    owner = Family[int, str](SEGMENTS, "")
    """The one broker that serves a segment. [468-SEGMENT-03]"""
    told = Family[str, int](CLIENTS, -1)
    """The version of the record of which a client had its last update."""
    believed = Family[tuple[str, int], str | None]((CLIENTS, SEGMENTS), None)
    """The address at which a client looks for a segment."""


@start
def one_broker_owns_everything(w: Owning) -> None:
    """Every segment is on the first broker, or will be as soon as it is created."""
    w.publications_left = w.publications
    w.moves_left = w.moves
    for segment in w.owner:
        w.owner[segment] = "b1"


@action("468-SPLIT-12")
def publish_a_split(w: Owning) -> None:
    """The first active segment is split."""
    require(w.publications_left)

    w.publications_left -= 1
    layout = _record(w).layout
    w.record = _record(w).written(layout=split_segment(layout, layout.active[0].segment_id))


@action("468-SEGMENT-02", "468-SESSION-26", "468-ROLE-06", segment=SEGMENTS, broker=BROKERS, fault=True)
def move_segment(w: Owning, segment: int, broker: str) -> None:
    """A segment's owner crashes or unloads it, and the load manager gives it to another broker."""
    require(w.moves_left)

    w.moves_left -= 1
    w.owner[segment] = broker


@action("468-WATCH-08", "468-WATCH-12", client=CLIENTS, fair=WEAK)
def tell_addresses(w: Owning, client: str) -> None:
    """After a write of the record, and only then, a client is told who owns each active segment."""
    record = _record(w)
    require(w.told[client] != record.version)

    w.told[client] = record.version
    for segment in record.layout.active:
        w.believed[client, segment.segment_id] = w.owner[segment.segment_id]


@action("468-SESSION-26", "468-SEGMENT-01", client=CLIENTS, segment=SEGMENTS, fair=WEAK)
def look_segment_up(w: Owning, client: str, segment: int) -> None:
    """
    A client that has no address of a segment, or is refused there, looks it up as it would any topic.

    As written, the addresses that clients go by are those that they are told.
    """
    require(w.design.clients_look_segments_up)

    w.believed[client, segment] = w.owner[segment]


def _record(w: Owning) -> Record:
    """The topic's record, which is never deleted here."""
    assert w.record is not None
    return w.record


@leads_to("468-SESSION-26", "468-WATCH-08", client=CLIENTS, segment=SEGMENTS)
def clients_reach_every_segment(w: Owning, client: str, segment: int) -> tuple[object, object]:
    """Whoever owns a segment of the layout, active or sealed, clients find it there."""
    reached = w.believed[client, segment] == w.owner[segment]
    return _record(w).layout.has(segment) and not reached, reached


@sometimes("468-READ-25", client=CLIENTS)
def an_address_is_out_of_date(w: Owning, client: str) -> object:
    """A client has had its last update and looks for a segment where it is no more."""
    late = w.told[client] == _record(w).version
    return late and any(w.believed[client, s] not in (None, owner) for s, owner in w.owner.items())


@sometimes("468-READ-26", client=CLIENTS)
def a_sealed_segment_has_no_address(w: Owning, client: str) -> object:
    """A client has had its first update when a segment was sealed already, and does not know where it is."""
    record = _record(w)
    late = w.told[client] == record.version
    return late and any(w.believed[client, s.segment_id] is None for s in record.layout.segments)
