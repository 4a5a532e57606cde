"""
What makes a layout sound. Each rule yields a sentence per breach, so a broken record explains itself.

Decoding a record judges only its form; whether the layout in it makes sense is asked here.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

import networkx as nx

from spec.layout import SegmentLayout, dag
from spec.ranges import FIRST_HASH, HASH_COUNT, LAST_HASH

Rule = Callable[[SegmentLayout], Iterator[str]]


def every_hash_has_one_owner(layout: SegmentLayout) -> Iterator[str]:
    """Active ranges meet end to end, from 0x0000 to 0xffff. [475-HASH-03]"""
    owned_up_to = FIRST_HASH - 1
    for segment in layout.active:
        start, end = segment.range.start, segment.range.end
        if start > owned_up_to + 1:
            yield f"nobody owns {owned_up_to + 1:#06x}..{start - 1:#06x}"
        if start <= owned_up_to:
            yield f"two segments own {start:#06x}..{min(end, owned_up_to):#06x}"
        owned_up_to = max(owned_up_to, end)

    if owned_up_to < LAST_HASH:
        yield f"nobody owns {owned_up_to + 1:#06x}..{LAST_HASH:#06x}"


def ranges_lie_in_the_hash_space(layout: SegmentLayout) -> Iterator[str]:
    """Every segment covers at least one hash, and none beyond the last."""
    for s in layout.segments:
        if not 0 <= s.range.start <= s.range.end < HASH_COUNT:
            yield f"segment {s.segment_id} covers {s.range.start:#x}..{s.range.end:#x}"


def edges_are_symmetric(layout: SegmentLayout) -> Iterator[str]:
    """A parent names each of its children, a child each of its parents, and both exist. [468-SEGMENT-07]"""
    downwards = {(s.segment_id, child) for s in layout.segments for child in s.child_ids}
    upwards = {(parent, s.segment_id) for s in layout.segments for parent in s.parent_ids}

    for parent, child in sorted(downwards - upwards):
        yield f"segment {parent} calls {child} its child, but {child} does not know it"
    for parent, child in sorted(upwards - downwards):
        yield f"segment {child} calls {parent} its parent, but {parent} does not know it"


def edges_are_drawn_once(layout: SegmentLayout) -> Iterator[str]:
    """No segment names a parent or a child twice: whoever counts parents counts merges."""
    for s in layout.segments:
        for kin, ids in (("parent", s.parent_ids), ("child", s.child_ids)):
            for id, times in sorted(Counter(ids).items()):
                if times > 1:
                    yield f"segment {s.segment_id} names its {kin} {id} {times} times"


def history_has_no_cycle(layout: SegmentLayout) -> Iterator[str]:
    """No segment descends from itself."""
    graph = dag(layout)
    if not nx.is_directed_acyclic_graph(graph):
        yield " → ".join(f"segment {parent}" for parent, _ in nx.find_cycle(graph)) + " → itself"


def ids_are_given_once(layout: SegmentLayout) -> Iterator[str]:
    """
    Ids are unique, below the next one to be given, and children are younger than their parents.
    [468-SEGMENT-04]
    """
    ids = [s.segment_id for s in layout.segments]
    for one, other in pairwise(ids):
        if one == other:
            yield f"two segments have the id {one}"
    for s in layout.segments:
        if s.segment_id >= layout.next_segment_id:
            yield f"segment {s.segment_id} exists, but {layout.next_segment_id} is said to be the next id"
        for parent in s.parent_ids:
            if parent >= s.segment_id:
                yield f"segment {s.segment_id} is older than its parent {parent}"


def epochs_follow_the_history(layout: SegmentLayout) -> Iterator[str]:
    """A segment is created before it is sealed, with its parents' sealing, and never in a future epoch."""
    for s in layout.segments:
        sealed = f"segment {s.segment_id}, sealed at epoch {s.sealed_at_epoch},"
        if s.created_at_epoch > layout.epoch:
            yield f"segment {s.segment_id} was created at epoch {s.created_at_epoch}, after {layout.epoch}"
        if s.active:
            continue
        if s.sealed_at_epoch > layout.epoch:
            yield f"{sealed} lies after the layout's epoch {layout.epoch}"
        if s.sealed_at_epoch < s.created_at_epoch:
            yield f"{sealed} was created only at {s.created_at_epoch}"
        for child in s.child_ids:
            if layout.has(child) and layout.segment(child).created_at_epoch != s.sealed_at_epoch:
                yield f"{sealed} has a child created at {layout.segment(child).created_at_epoch}"


def only_sealed_segments_have_children(layout: SegmentLayout) -> Iterator[str]:
    """A segment takes writes until it is succeeded, and never again afterwards. [468-SEGMENT-08]"""
    for s in layout.segments:
        if s.active and s.child_ids:
            yield f"segment {s.segment_id} is active but has the children {list(s.child_ids)}"


RULES: tuple[Rule, ...] = (
    ranges_lie_in_the_hash_space,
    every_hash_has_one_owner,
    edges_are_symmetric,
    edges_are_drawn_once,
    history_has_no_cycle,
    ids_are_given_once,
    epochs_follow_the_history,
    only_sealed_segments_have_children,
)


def flaws(layout: SegmentLayout) -> tuple[str, ...]:
    """Everything that is wrong with a layout; nothing, for every layout that the operations can make."""
    return tuple(sentence for rule in RULES for sentence in rule(layout))
