"""A long random walk of splits, merges and prunes on one layout, beside the obvious way to do the same."""

import random
import time
from collections.abc import Callable
from dataclasses import replace

from spec.layout import (
    SegmentInfo,
    SegmentLayout,
    SegmentState,
    initial_layout,
    layout_of,
    merge_segments,
    prune_segment,
    split_segment,
)
from spec.ranges import HashRange, halves, joined
from spec.refusals import Refused

Operation = Callable[..., SegmentLayout]


def walk(
    operations: int, split: Operation, merge: Operation, prune: Operation
) -> tuple[SegmentLayout, float]:
    """Apply as many operations as asked for, a third of each kind, and say how long they took."""
    chance = random.Random(468)
    layout, done, seconds = initial_layout(4), 0, 0.0
    sealed: list[int] = []
    while done < operations:
        kind = chance.randrange(3)
        place = chance.randrange(len(layout.active))
        pair = tuple(s.segment_id for s in layout.active[place : place + 2])
        try:
            started = time.perf_counter()
            if kind == 0:
                layout = split(layout, pair[0])
                sealed.append(pair[0])
            elif kind == 1 and len(pair) == 2:
                layout = merge(layout, *pair)
                sealed += pair
            elif kind == 2 and sealed:
                layout = prune(layout, sealed.pop(chance.randrange(len(sealed))))
            else:
                continue
        except Refused:
            continue
        seconds += time.perf_counter() - started
        done += 1
    return layout, seconds


def obvious_split(layout: SegmentLayout, segment_id: int) -> SegmentLayout:
    """Rebuild everything from a dictionary."""
    parent = layout.segment(segment_id)
    if parent.range.width == 1:
        return split_segment(layout, segment_id)
    return _succeed(layout, [parent], list(halves(parent.range)))


def obvious_merge(layout: SegmentLayout, one: int, other: int) -> SegmentLayout:
    """Rebuild everything from a dictionary."""
    parents = [layout.segment(one), layout.segment(other)]
    return _succeed(layout, parents, [joined(parents[0].range, parents[1].range)])


def obvious_prune(layout: SegmentLayout, segment_id: int) -> SegmentLayout:
    """Rebuild everything, and look at every edge."""
    kept = [
        replace(
            s,
            parent_ids=tuple(i for i in s.parent_ids if i != segment_id),
            child_ids=tuple(i for i in s.child_ids if i != segment_id),
        )
        for s in layout.segments
        if s.segment_id != segment_id
    ]
    return layout_of(layout.epoch + 1, layout.next_segment_id, kept)


def _succeed(layout: SegmentLayout, parents: list[SegmentInfo], ranges: list[HashRange]) -> SegmentLayout:
    epoch = layout.epoch + 1
    ids = tuple(range(layout.next_segment_id, layout.next_segment_id + len(ranges)))
    table = {s.segment_id: s for s in layout.segments}
    for parent in parents:
        table[parent.segment_id] = replace(
            parent, state=SegmentState.SEALED, child_ids=ids, sealed_at_epoch=epoch
        )
    for id, whole in zip(ids, ranges, strict=True):
        parent_ids = tuple(p.segment_id for p in parents)
        table[id] = SegmentInfo(id, whole, parent_ids=parent_ids, created_at_epoch=epoch)
    return layout_of(epoch, layout.next_segment_id + len(ids), table.values())


def measure(operations: int = 10_000, compared: int = 2_000) -> dict[str, float]:
    """A long walk, and a shorter one in both ways, which must end in the same layout."""
    end, seconds = walk(operations, split_segment, merge_segments, prune_segment)
    fast, fast_seconds = walk(compared, split_segment, merge_segments, prune_segment)
    slow, slow_seconds = walk(compared, obvious_split, obvious_merge, obvious_prune)
    if fast != slow:
        raise AssertionError("the two ways end in different layouts")
    return {
        "operations": operations,
        "seconds": seconds,
        "segments_at_the_end": len(end.segments),
        "compared_operations": compared,
        "compared_seconds": fast_seconds,
        "obvious_seconds": slow_seconds,
        "fast_over_obvious": slow_seconds / fast_seconds,
    }
