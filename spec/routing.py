"""
Where a producer sends a message, and how a client follows a layout that changes.

The layout carries its routing function as data: a scalable topic routes by hash range. A regular topic that a
V5 client sees through a synthetic layout routes as v4 producers do, so that both send a key to the same
partition.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from spec.hashing import Profile, partition_of, round_robin, segment_hash
from spec.layout import SegmentInfo, SegmentLayout, find_active_segment, served_as
from spec.names import RegularName, SegmentName, TopicName
from spec.refusals import Reason, Refused


class Routing(Enum):
    """How a layout maps a key to one of its active segments. [475-LOOKUP-13]"""

    RANGE = "range-based"
    MOD_N = "mod-N"


@dataclass(frozen=True, slots=True)
class TopicView:
    """
    What a lookup session tells a client: the topic's identity, its layout, and how to route over it.

    [475-LOOKUP-12, 475-HASH-08]
    """

    identity: TopicName
    layout: SegmentLayout
    routing: Routing

    @property
    def synthetic(self) -> bool:
        """A view of a regular topic: its segments are special ones, that stand for the old partitions."""
        return self.routing is Routing.MOD_N


def route(
    view: TopicView, key: str | None, sent_before: int = 0, profile: Profile = Profile.LOW16
) -> SegmentInfo:
    """
    The segment that takes the message; messages without a key take turns over the active segments.

    With mod-N routing the number that the key yields is the segment's id, which is the partition's number.
    [475-HASH-05, 475-HASH-09, 475-HASH-11, 475-HASH-12]
    """
    if not view.layout.active:
        raise Refused(Reason.HASH_UNOWNED, "the layout has no active segment")

    if key is None:
        return view.layout.active[round_robin(sent_before, len(view.layout.active))]
    if view.routing is Routing.MOD_N:
        return view.layout.segment(partition_of(key, len(view.layout.active)))
    return find_active_segment(view.layout, segment_hash(key, profile))


def real(view: TopicView) -> SegmentLayout:
    """
    Splits, merges and checkpoint consumers need a topic that has been migrated or was born scalable.

    [475-SPECIAL-07, 475-SPECIAL-08, 475-SPECIAL-09]
    """
    if view.synthetic:
        regular = RegularName(view.identity.tenant, view.identity.namespace, view.identity.local)
        raise Refused(Reason.LAYOUT_IS_SYNTHETIC, f"run migrate-to-scalable on {regular} first")
    return view.layout


def latest(held: TopicView, pushed: TopicView) -> TopicView:
    """
    Of what a client holds and what its session pushes now, the push, unless it is older.

    A real layout follows every synthetic one, whatever their epochs, and never the other way round. Synthetic
    ones have no history, so the later push counts. [475-LOOKUP-11, 475-READ-11, 475-READ-27]
    """
    return held if _age(pushed) < _age(held) else pushed


Attachments = Mapping[int, SegmentName | RegularName]
"""The topic to which a client's producer or consumer of each segment is attached."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Which per-segment producers or consumers a client closes, opens, and moves to another topic."""

    closed: tuple[int, ...]
    opened: tuple[int, ...]
    rebuilt: tuple[int, ...]


def attachments(view: TopicView, segments: Iterable[SegmentInfo]) -> dict[int, SegmentName | RegularName]:
    """
    Where the producers or consumers of these segments belong; producers take the active ones.

    [475-SPECIAL-06]
    """
    return {s.segment_id: served_as(view.identity, s) for s in segments}


def reconcile(before: Attachments, after: Attachments) -> Reconciliation:
    """
    What a new layout, or a new assignment, changes: what stays under the same name is not touched.

    [475-SDK-08, 475-SDK-09, 475-SDK-10]
    """
    return Reconciliation(
        closed=tuple(sorted(before.keys() - after.keys())),
        opened=tuple(sorted(after.keys() - before.keys())),
        rebuilt=tuple(sorted(i for i in before.keys() & after.keys() if before[i] != after[i])),
    )


def _age(view: TopicView) -> tuple[bool, int]:
    return not view.synthetic, view.layout.epoch
