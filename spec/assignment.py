"""
Which consumer of a STREAM subscription reads which segment.

The assignment is a function of the assignable segments and the consumers' names alone, so that every leader
computes the same one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spec.design import HARDENED, Design, Readiness
from spec.layout import SegmentInfo, SegmentLayout, ancestors, served_as
from spec.names import RegularName, SegmentName, TopicName
from spec.ranges import HashRange


@dataclass(frozen=True, slots=True)
class AssignedSegment:
    """
    A segment as its consumer is told of it: where it stands in the hash space, and what to connect to.

    [468-ASSIGN-06]
    """

    segment_id: int
    range: HashRange
    topic: SegmentName | RegularName


@dataclass(frozen=True, slots=True)
class ConsumerAssignment:
    """
    Everything that one consumer reads, and the layout epoch from which it was computed.

    [468-ASSIGN-04, 468-ASSIGN-05]
    """

    layout_epoch: int
    segments: tuple[AssignedSegment, ...] = ()

    @property
    def segment_ids(self) -> tuple[int, ...]:
        return tuple(s.segment_id for s in self.segments)

    def __str__(self) -> str:
        segments = f"segments {', '.join(map(str, self.segment_ids))}" if self.segments else "nothing"
        return f"{segments} (epoch {self.layout_epoch})"


@dataclass(frozen=True, slots=True)
class Change:
    """What one consumer has to start and to stop reading."""

    consumer: str
    gained: tuple[int, ...]
    lost: tuple[int, ...]


Assignment = Mapping[str, ConsumerAssignment]


def assignable(
    layout: SegmentLayout, drained: frozenset[int] = frozenset(), design: Design = HARDENED
) -> tuple[SegmentInfo, ...]:
    """
    The segments that a subscription's consumers may read now, by the start of their range and then by id.

    A key's older messages lie in the ancestors of the segment that takes its newer ones. Reading a segment
    before its ancestors are drained would deliver the newer ones first. [475-ROUTE-01, 468-READ-01]
    """
    if design.readiness is Readiness.ACTIVE_AT_ONCE:
        return layout.active

    def waits_for(segment: SegmentInfo) -> Iterable[int]:
        if design.readiness is Readiness.PARENTS_DRAINED:
            return filter(layout.has, segment.parent_ids)
        return ancestors(layout, segment.segment_id)

    ready = (s for s in layout.segments if s.segment_id not in drained and drained.issuperset(waits_for(s)))
    return tuple(sorted(ready, key=_by_range))


def assign(
    topic: TopicName, epoch: int, segments: Iterable[SegmentInfo], consumers: Iterable[str]
) -> dict[str, ConsumerAssignment]:
    """
    Deal the segments out in turn, sorted by range start, to the consumers, sorted by name.

    Names are ordered by code point. A consumer for whom nothing is left holds an empty assignment.
    [468-ASSIGN-01, 468-ASSIGN-02, 468-ASSIGN-03, 468-ASSIGN-11, 468-READ-36, 468-READ-37]
    """
    names = sorted(set(consumers))
    hands: dict[str, list[AssignedSegment]] = {name: [] for name in names}
    for turn, segment in enumerate(sorted(segments, key=_by_range) if names else ()):
        given = AssignedSegment(segment.segment_id, segment.range, served_as(topic, segment))
        hands[names[turn % len(names)]].append(given)
    return {name: ConsumerAssignment(epoch, tuple(hand)) for name, hand in hands.items()}


def difference(before: Assignment, after: Assignment) -> tuple[Change, ...]:
    """Who has to be told, and what: a consumer whose segments stay the same is left alone. [468-NOTIFY-01]"""
    nothing = ConsumerAssignment(0)
    changes = []
    for consumer in sorted({*before, *after}):
        had = before.get(consumer, nothing).segment_ids
        has = after.get(consumer, nothing).segment_ids
        gained, lost = _minus(has, had), _minus(had, has)
        if gained or lost:
            changes.append(Change(consumer, gained, lost))
    return tuple(changes)


def latest(held: ConsumerAssignment, pushed: ConsumerAssignment) -> ConsumerAssignment:
    """
    Of what a client holds and what its controller pushes now, the push, unless its layout is the older one.

    A change of membership alone raises no epoch, so an equal one is no reason to ignore a push. [468-READ-41]
    """
    return held if pushed.layout_epoch < held.layout_epoch else pushed


def _by_range(segment: SegmentInfo) -> tuple[int, int]:
    return segment.range.start, segment.segment_id


def _minus(ids: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(i for i in ids if i not in others)
