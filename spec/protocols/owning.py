"""
Where the segments are: brokers own them, the load manager moves them, and clients have addresses of them.

An update of a DAG watch session gives the address of each active segment as it was at that moment. When a
segment moves the record stays as it is, so no update follows; of sealed segments it gives no address at all.
[468-READ-25, 468-READ-26]
"""

from spec.layout import split_segment
from spec.machine import WEAK, Bound, Family, Variable, action, leads_to, require, sometimes, start
from spec.protocols.topic import BROKERS, SEGMENTS, Topic
from spec.protocols.watching import CLIENTS


class Owning(Topic):
    """The owners of the segments, and where clients believe them to be."""

    publications = Bound()
    moves = Bound()

    publications_left = Variable[int](0)
    moves_left = Variable[int](0)
    owner = Family[int, str | None](SEGMENTS, None)
    """The one broker that serves a segment. [468-SEGMENT-03]"""
    told = Family[str, int](CLIENTS, -1)
    """The version of the record of which a client had its last update."""
    believed = Family[tuple[str, int], str | None]((CLIENTS, SEGMENTS), None)
    """The address at which a client looks for a segment."""


@start
def nobody_owns_anything_yet(w: Owning) -> None:
    """The load manager has yet to place the segments."""
    w.publications_left = w.publications
    w.moves_left = w.moves


@action("468-SPLIT-12")
def publish_a_split(w: Owning) -> None:
    """The first active segment is split."""
    record = w.record
    require(w.publications_left and record is not None)
    assert record is not None

    w.publications_left -= 1
    w.record = record.written(layout=split_segment(record.layout, record.layout.active[0].segment_id))


@action("468-SEGMENT-02", "468-ROLE-06", segment=SEGMENTS, broker=BROKERS, fair=WEAK)
def place_segment(w: Owning, segment: int, broker: str) -> None:
    """The load manager gives a segment of the layout to some broker."""
    record = w.record
    require(record is not None and record.layout.has(segment))
    require(w.owner[segment] is None)

    w.owner[segment] = broker


@action("468-SEGMENT-02", "468-SESSION-26", segment=SEGMENTS, fault=True)
def lose_segment(w: Owning, segment: int) -> None:
    """A segment's owner crashes or unloads it, and it has to be placed anew."""
    require(w.moves_left and w.owner[segment] is not None)

    w.moves_left -= 1
    w.owner[segment] = None


@action("468-WATCH-08", "468-WATCH-12", client=CLIENTS, fair=WEAK)
def tell_addresses(w: Owning, client: str) -> None:
    """After a write of the record a client is told who owns each active segment, once all have an owner."""
    record = w.record
    require(record is not None)
    assert record is not None
    require(w.told[client] != record.version)
    require(all(w.owner[segment.segment_id] is not None for segment in record.layout.active))

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
    owner = w.owner[segment]
    require(owner is not None)
    require(w.believed[client, segment] != owner)

    w.believed[client, segment] = owner


@leads_to("468-SESSION-26", "468-WATCH-08", client=CLIENTS, segment=SEGMENTS)
def clients_reach_every_segment(w: Owning, client: str, segment: int) -> tuple[object, object]:
    """Whoever owns a segment of the layout, active or sealed, clients find it there."""
    record, owner = w.record, w.owner[segment]
    there = record is not None and record.layout.has(segment)
    reached = owner is not None and w.believed[client, segment] == owner
    return there and not reached, reached


@sometimes("468-READ-25", client=CLIENTS, segment=SEGMENTS)
def an_address_is_out_of_date(w: Owning, client: str, segment: int) -> object:
    """A client has had its last update and looks for a segment where it is no more."""
    record, owner = w.record, w.owner[segment]
    late = record is not None and w.told[client] == record.version
    return late and owner is not None and w.believed[client, segment] not in (None, owner)
