"""
Where a producer sends a message: the layout carries its routing function as data.

A scalable topic routes by hash range. A regular topic that a V5 client sees through a synthetic layout routes
as v4 producers do, so that both send a key to the same partition.
"""

from dataclasses import dataclass
from enum import Enum

from spec.hashing import Profile, partition_of, round_robin, segment_hash
from spec.layout import SegmentInfo, SegmentLayout, find_active_segment
from spec.names import TopicName
from spec.refusals import Reason, Refused


class Routing(Enum):
    """How a layout maps a key to one of its active segments."""

    RANGE = "range-based"
    MOD_N = "mod-N"


@dataclass(frozen=True, slots=True)
class TopicView:
    """What a lookup session tells a client: the topic's identity, its layout, and how to route over it."""

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
    """
    if not view.layout.active:
        raise Refused(Reason.HASH_UNOWNED, "the layout has no active segment")

    if key is None:
        return view.layout.active[round_robin(sent_before, len(view.layout.active))]
    if view.routing is Routing.MOD_N:
        return view.layout.segment(partition_of(key, len(view.layout.active)))
    return find_active_segment(view.layout, segment_hash(key, profile))


def real(view: TopicView) -> SegmentLayout:
    """Splits, merges and checkpoint consumers need a topic that has been migrated or was born scalable."""
    if view.synthetic:
        raise Refused(Reason.LAYOUT_IS_SYNTHETIC, f"run migrate-to-scalable on {view.identity} first")
    return view.layout
