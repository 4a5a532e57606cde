"""
The segment layout of one scalable topic: an immutable, versioned DAG of hash-range segments.

Every operation returns a new layout with a higher epoch, or refuses by name and changes nothing.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter

import networkx as nx

from spec.names import RegularName, SegmentName, TopicName
from spec.ranges import FIRST_HASH, LAST_HASH, HashRange, adjacent, equal_slices, halves, joined
from spec.refusals import Reason, Refused

_id = attrgetter("segment_id")
_start = attrgetter("range.start")
_place_in_space = attrgetter("range.start", "segment_id")


class SegmentState(Enum):
    """A segment takes writes, or it has been succeeded; there is no third state. [468-SEGMENT-06]"""

    ACTIVE = "ACTIVE"
    SEALED = "SEALED"


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """One segment of the DAG: what it covers, whether it takes writes, and where it stands in the history."""

    segment_id: int
    """Unique in its topic; later segments have larger ones. [468-SEGMENT-04]"""
    range: HashRange
    """What the segment covers. [468-SEGMENT-05]"""
    state: SegmentState = SegmentState.ACTIVE
    parent_ids: tuple[int, ...] = ()
    """In the order in which a merge named them; none for a root. [468-SEGMENT-07]"""
    child_ids: tuple[int, ...] = ()
    """None for a leaf. [468-SEGMENT-08]"""
    created_at_epoch: int = 0
    """0 for the initial segments. [468-SEGMENT-09]"""
    sealed_at_epoch: int = 0
    """
    Only means something while the segment is sealed: a migrated topic's parents are sealed at epoch 0.
    [468-SEGMENT-10, 468-SEGMENT-11]
    """
    legacy_topic: RegularName | None = None
    """The regular topic whose ledger this segment wraps, if it was made by a migration."""

    @property
    def active(self) -> bool:
        return self.state is SegmentState.ACTIVE


@dataclass(frozen=True, slots=True)
class SegmentLayout:
    """
    A snapshot of the DAG: all segments by id, and the active ones by the start of their range.
    [468-LAYOUT-02]
    """

    epoch: int
    """Grows with every change. [468-LAYOUT-05]"""
    next_segment_id: int
    """The id that the next new segment takes. [468-LAYOUT-06]"""
    segments: tuple[SegmentInfo, ...]
    """The whole history that is still known. [468-LAYOUT-07]"""
    active: tuple[SegmentInfo, ...]
    """Those of the segments that take writes. [468-LAYOUT-08]"""

    def __str__(self) -> str:
        told = (f"{s.segment_id} {s.range if s.active else 'sealed'}" for s in self.segments)
        return f"epoch {self.epoch}: {', '.join(told)}"

    def segment(self, segment_id: int) -> SegmentInfo:
        """The segment with that id."""
        place = _place(self.segments, segment_id)
        if place == len(self.segments) or self.segments[place].segment_id != segment_id:
            raise Refused(Reason.SEGMENT_UNKNOWN, str(segment_id))
        return self.segments[place]

    def has(self, segment_id: int) -> bool:
        place = _place(self.segments, segment_id)
        return place < len(self.segments) and self.segments[place].segment_id == segment_id


def active_segment(
    segment_id: int, whole: HashRange, epoch: int, parent_ids: tuple[int, ...] = ()
) -> SegmentInfo:
    """A segment that takes writes from that epoch on. [468-SEGMENT-09, 468-SEGMENT-13]"""
    return SegmentInfo(segment_id, whole, parent_ids=parent_ids, created_at_epoch=epoch)


def sealed_segment(segment: SegmentInfo, epoch: int, child_ids: tuple[int, ...]) -> SegmentInfo:
    """The same segment, succeeded by its children in that epoch. [468-SEGMENT-12, 468-SEGMENT-13]"""
    return replace(segment, state=SegmentState.SEALED, child_ids=child_ids, sealed_at_epoch=epoch)


def layout_of(epoch: int, next_segment_id: int, segments: Iterable[SegmentInfo]) -> SegmentLayout:
    """A layout from its segments in any order; nothing is judged here (see `spec.soundness`)."""
    by_id = tuple(sorted(segments, key=_id))
    active = sorted((s for s in by_id if s.active), key=_place_in_space)
    return SegmentLayout(epoch, next_segment_id, by_id, tuple(active))


def initial_layout(count: int) -> SegmentLayout:
    """
    A new topic has `count` active segments of equal width without parents, at epoch 0.
    [468-CREATE-02, 468-CREATE-03, 468-CREATE-04]
    """
    segments = tuple(active_segment(i, whole, 0) for i, whole in enumerate(equal_slices(count)))
    return SegmentLayout(0, count, segments, segments)


def find_active_segment(layout: SegmentLayout, hash: int) -> SegmentInfo:
    """The one active segment whose range contains the hash. [468-LAYOUT-09, 475-HASH-05]"""
    if not FIRST_HASH <= hash <= LAST_HASH:
        raise Refused(Reason.HASH_OUT_OF_SPACE, f"{hash:#x}")

    place = bisect_right(layout.active, hash, key=_start) - 1
    if place < 0 or hash > layout.active[place].range.end:
        raise Refused(Reason.HASH_UNOWNED, f"{hash:#06x}")
    return layout.active[place]


def split_segment(layout: SegmentLayout, segment_id: int) -> SegmentLayout:
    """
    Seal an active segment and put its two halves in its place, the left one with the lower id.
    [468-LAYOUT-03, 468-LAYOUT-11, 468-LAYOUT-12, 468-LAYOUT-13, 468-LAYOUT-14]
    """
    parent = _active(layout, segment_id)
    if parent.range.width == 1:
        raise Refused(Reason.RANGE_TOO_NARROW, f"segment {segment_id} is {parent.range}")

    return _succeed(layout, (parent,), halves(parent.range))


def merge_segments(layout: SegmentLayout, one_id: int, other_id: int) -> SegmentLayout:
    """
    Seal two adjacent active segments, named in either order, and put their union in their place.
    [468-LAYOUT-15, 468-LAYOUT-16, 468-LAYOUT-17, 468-LAYOUT-18]
    """
    if one_id == other_id:
        raise Refused(Reason.SEGMENTS_IDENTICAL, str(one_id))
    one, other = _active(layout, one_id), _active(layout, other_id)
    if not adjacent(one.range, other.range):
        raise Refused(Reason.SEGMENTS_NOT_ADJACENT, f"{one.range} and {other.range}")

    return _succeed(layout, (one, other), (joined(one.range, other.range),))


def prune_segment(layout: SegmentLayout, segment_id: int) -> SegmentLayout:
    """
    Forget a sealed segment, and with it the edges to its parents and children.

    Which segments may be forgotten is not decided here: whoever prunes must know that they are drained.
    [468-LAYOUT-03]
    """
    gone = layout.segment(segment_id)
    if gone.active:
        raise Refused(Reason.SEGMENT_NOT_SEALED, str(segment_id))

    parents = map(layout.segment, gone.parent_ids)
    children = map(layout.segment, gone.child_ids)
    changed = (
        *(replace(p, child_ids=_without(p.child_ids, segment_id)) for p in parents),
        *(replace(c, parent_ids=_without(c.parent_ids, segment_id)) for c in children),
    )
    return _next(layout, changed, gone=(gone,))


def ancestors(layout: SegmentLayout, segment_id: int) -> frozenset[int]:
    """Every segment from which this one descends, as far as the layout still knows them."""
    return _reachable(layout, segment_id, "parent_ids")


def descendants(layout: SegmentLayout, segment_id: int) -> frozenset[int]:
    """Every segment that descends from this one."""
    return _reachable(layout, segment_id, "child_ids")


def lineage(layout: SegmentLayout, segment_id: int) -> tuple[int, ...]:
    """
    Ancestors, the segment itself and descendants, each once and never before one of its parents.

    Children have larger ids than their parents, so the order of ids is an order of the history. No rule of
    ours depends on the lineage: its use is left to later documents. [468-LAYOUT-19, 468-LAYOUT-21]
    """
    return tuple(sorted(ancestors(layout, segment_id) | {segment_id} | descendants(layout, segment_id)))


def merge_depth(layout: SegmentLayout, segment_id: int) -> int:
    """
    How many merges lie in a segment's past: segments with two or more parents, among it and its
    ancestors.
    """
    past = ancestors(layout, segment_id) | {segment_id}
    return sum(len(layout.segment(s).parent_ids) >= 2 for s in past)


def dag(layout: SegmentLayout) -> "nx.DiGraph[int]":
    """The history as a graph, with an edge from each parent to each of its children."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(s.segment_id for s in layout.segments)
    graph.add_edges_from((s.segment_id, child) for s in layout.segments for child in s.child_ids)
    return graph


def served_as(topic: TopicName, segment: SegmentInfo) -> SegmentName | RegularName:
    """The topic to which producers and consumers of a segment connect. [475-NAME-04]"""
    return segment.legacy_topic or SegmentName(topic, segment.range, segment.segment_id)


def _active(layout: SegmentLayout, segment_id: int) -> SegmentInfo:
    segment = layout.segment(segment_id)
    if not segment.active:
        raise Refused(Reason.SEGMENT_NOT_ACTIVE, str(segment_id))
    return segment


def _succeed(
    layout: SegmentLayout, parents: tuple[SegmentInfo, ...], ranges: tuple[HashRange, ...]
) -> SegmentLayout:
    """Seal the parents and add an active child for each range, in one new epoch."""
    epoch = layout.epoch + 1
    parent_ids = tuple(p.segment_id for p in parents)
    children = tuple(
        active_segment(layout.next_segment_id + i, whole, epoch, parent_ids) for i, whole in enumerate(ranges)
    )
    child_ids = tuple(c.segment_id for c in children)
    return _next(layout, tuple(sealed_segment(p, epoch, child_ids) for p in parents), added=children)


def _next(
    layout: SegmentLayout,
    changed: tuple[SegmentInfo, ...],
    added: tuple[SegmentInfo, ...] = (),
    gone: tuple[SegmentInfo, ...] = (),
) -> SegmentLayout:
    """The layout one epoch on; the history can be long, so it is copied and never walked."""
    segments, active = list(layout.segments), list(layout.active)

    for segment in changed:
        segments[_place(segments, segment.segment_id)] = segment
        place = bisect_left(active, _place_in_space(segment), key=_place_in_space)
        if place < len(active) and active[place].segment_id == segment.segment_id:
            active[place : place + 1] = [segment] if segment.active else []
    for segment in gone:
        del segments[_place(segments, segment.segment_id)]
    for segment in added:
        insort(active, segment, key=_place_in_space)

    return SegmentLayout(
        layout.epoch + 1, layout.next_segment_id + len(added), (*segments, *added), tuple(active)
    )


def _reachable(layout: SegmentLayout, segment_id: int, edges: str) -> frozenset[int]:
    """Segments beyond the layout's horizon are left out: what was pruned is past caring for."""
    found: set[int] = set()
    ahead = [segment_id]
    while ahead:
        for neighbour in getattr(layout.segment(ahead.pop()), edges):
            if neighbour not in found and layout.has(neighbour):
                found.add(neighbour)
                ahead.append(neighbour)
    return frozenset(found)


def _place(segments: Sequence[SegmentInfo], segment_id: int) -> int:
    return bisect_left(segments, segment_id, key=_id)


def _without(ids: tuple[int, ...], gone: int) -> tuple[int, ...]:
    return tuple(i for i in ids if i != gone)
