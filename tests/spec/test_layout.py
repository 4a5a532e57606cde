"""The segment layout: the documents' own example, boundaries, refusals, and the speed of long histories."""

import ast
import random
import time
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

import spec
from models.laws.values import step
from spec.layout import (
    SegmentInfo,
    SegmentLayout,
    SegmentState,
    active_segment,
    ancestors,
    dag,
    descendants,
    find_active_segment,
    initial_layout,
    layout_of,
    lineage,
    merge_depth,
    merge_segments,
    prune_segment,
    sealed_segment,
    served_as,
    split_segment,
)
from spec.names import RegularName, TopicName
from spec.ranges import HashRange
from spec.refusals import Reason, Refused
from spec.soundness import flaws
from spec.surface import ENDPOINTS

EXAMPLE = {
    0: SegmentInfo(0, HashRange(0, 65535), SegmentState.SEALED, (), (1, 2), 0, 1),
    1: SegmentInfo(1, HashRange(0, 32767), SegmentState.SEALED, (0,), (3, 4), 1, 3),
    2: SegmentInfo(2, HashRange(32768, 65535), SegmentState.ACTIVE, (0,), (), 1, 0),
    3: SegmentInfo(3, HashRange(0, 16383), SegmentState.ACTIVE, (1,), (), 3, 0),
    4: SegmentInfo(4, HashRange(16384, 32767), SegmentState.ACTIVE, (1,), (), 3, 0),
}
"""The record that PIP-468 shows: two splits, with an epoch between them that left no trace."""


def diamond() -> SegmentLayout:
    """0 is split into 1 and 2, which are merged into 3."""
    return merge_segments(split_segment(initial_layout(1), 0), 1, 2)


def refusal(operation: Callable[[], object]) -> Reason:
    with pytest.raises(Refused) as refused:
        operation()
    return refused.value.reason


@pytest.mark.claims(
    "468-RECORD-09",
    "468-RECORD-10",
    "468-LAYOUT-12",
    "468-LAYOUT-13",
    "468-LAYOUT-14",
    "468-SEGMENT-07",
    "468-SEGMENT-08",
    "468-SEGMENT-09",
    "468-SEGMENT-10",
    "468-SEGMENT-11",
)
def test_two_splits_make_the_example_of_the_documents() -> None:
    once = split_segment(initial_layout(1), 0)
    assert (once.epoch, once.next_segment_id) == (1, 3)

    twice = split_segment(replace(once, epoch=2), 1)
    assert twice == layout_of(3, 5, EXAMPLE.values())
    assert flaws(twice) == ()


@pytest.mark.claims("468-CREATE-03", "468-CREATE-04", "468-LAYOUT-06", "468-SEGMENT-09")
@pytest.mark.parametrize("count", [1, 3, 65536])
def test_a_new_topic_has_active_roots_at_epoch_0(count: int) -> None:
    layout = initial_layout(count)

    assert (layout.epoch, layout.next_segment_id, len(layout.segments)) == (0, count, count)
    assert layout.active == layout.segments
    for place in (0, count // 2, count - 1):
        root = layout.segments[place]
        assert root == SegmentInfo(place, root.range, SegmentState.ACTIVE, (), (), 0, 0)


@pytest.mark.parametrize("count", [0, 65537])
def test_a_new_topic_needs_1_to_65536_segments(count: int) -> None:
    assert refusal(lambda: initial_layout(count)) is Reason.SEGMENT_COUNT_OUT_OF_RANGE


@pytest.mark.claims("468-LAYOUT-15", "468-LAYOUT-17", "468-LAYOUT-18", "468-SEGMENT-07")
@pytest.mark.parametrize("parents", [(1, 2), (2, 1)])
def test_a_merge_seals_both_parents(parents: tuple[int, int]) -> None:
    merged = merge_segments(split_segment(initial_layout(1), 0), *parents)

    assert (merged.epoch, merged.next_segment_id) == (2, 4)
    assert merged.segment(3) == SegmentInfo(
        3, HashRange(0, 65535), SegmentState.ACTIVE, parents, created_at_epoch=2
    )
    for parent in parents:
        sealed = merged.segment(parent)
        assert (sealed.state, sealed.child_ids, sealed.sealed_at_epoch) == (SegmentState.SEALED, (3,), 2)


def test_segments_of_different_parents_may_merge() -> None:
    halves_of_both = split_segment(split_segment(initial_layout(2), 0), 1)

    merged = merge_segments(halves_of_both, 3, 4)

    assert merged.segment(6).range == HashRange(0x4000, 0xBFFF)
    assert flaws(merged) == ()


@pytest.mark.claims("468-LAYOUT-03")
def test_a_prune_forgets_one_segment() -> None:
    pruned = prune_segment(diamond(), 1)

    assert (pruned.epoch, pruned.next_segment_id) == (3, 4)
    assert not pruned.has(1)
    assert pruned.segment(0).child_ids == (2,)
    assert pruned.segment(3).parent_ids == (2,)
    assert merge_depth(diamond(), 3) == 1
    assert merge_depth(pruned, 3) == 0
    assert flaws(pruned) == ()


@pytest.mark.claims("468-LAYOUT-19")
def test_a_diamond_has_one_lineage() -> None:
    layout = split_segment(diamond(), 3)

    assert lineage(layout, 3) == (0, 1, 2, 3, 4, 5)
    assert lineage(layout, 1) == (0, 1, 3, 4, 5)
    assert ancestors(layout, 3) == {0, 1, 2}
    assert descendants(layout, 1) == {3, 4, 5}
    assert lineage(prune_segment(prune_segment(layout, 1), 2), 3) == (3, 4, 5)
    assert sorted(dag(layout).edges) == [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5)]


@pytest.mark.claims("483-GUARD-06", "483-GUARD-07")
def test_the_merge_depth_counts_merges_once() -> None:
    layout = diamond()
    for heir in (3, 6, 9):
        assert merge_depth(layout, heir) == heir // 3
        layout = split_segment(layout, heir)
        assert merge_depth(layout, heir + 1) == heir // 3
        layout = merge_segments(layout, heir + 1, heir + 2)


def test_edges_that_lead_nowhere_are_no_family() -> None:
    torn = layout_of(3, 5, (s for s in EXAMPLE.values() if s.segment_id != 0))

    assert lineage(torn, 3) == (1, 3)


@pytest.mark.claims("468-LAYOUT-21")
def test_no_rule_depends_on_the_lineage() -> None:
    modules = sorted(Path(spec.__path__[0]).glob("*.py"))
    called = {
        module.stem
        for module in modules
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Name | ast.Attribute | ast.alias)
        if "lineage" in (getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", ""))
    }

    assert "layout" in {module.stem for module in modules}
    assert called == set()


@pytest.mark.claims("468-LAYOUT-11", "468-LAYOUT-15", "468-LAYOUT-16")
def test_what_is_refused() -> None:
    layout = layout_of(3, 5, EXAMPLE.values())
    narrow = layout_of(0, 1, [SegmentInfo(0, HashRange(7, 7))])

    assert refusal(lambda: layout.segment(5)) is Reason.SEGMENT_UNKNOWN
    assert refusal(lambda: lineage(layout, 5)) is Reason.SEGMENT_UNKNOWN
    assert refusal(lambda: merge_depth(layout, -1)) is Reason.SEGMENT_UNKNOWN
    assert refusal(lambda: split_segment(layout, 5)) is Reason.SEGMENT_UNKNOWN
    assert refusal(lambda: split_segment(layout, 1)) is Reason.SEGMENT_NOT_ACTIVE
    assert refusal(lambda: split_segment(narrow, 0)) is Reason.RANGE_TOO_NARROW
    assert refusal(lambda: merge_segments(layout, 2, 2)) is Reason.SEGMENTS_IDENTICAL
    assert refusal(lambda: merge_segments(layout, 2, 5)) is Reason.SEGMENT_UNKNOWN
    assert refusal(lambda: merge_segments(layout, 4, 1)) is Reason.SEGMENT_NOT_ACTIVE
    assert refusal(lambda: merge_segments(layout, 1, 4)) is Reason.SEGMENT_NOT_ACTIVE
    assert refusal(lambda: merge_segments(layout, 2, 3)) is Reason.SEGMENTS_NOT_ADJACENT
    assert refusal(lambda: prune_segment(layout, 5)) is Reason.SEGMENT_UNKNOWN
    assert refusal(lambda: prune_segment(layout, 2)) is Reason.SEGMENT_NOT_SEALED
    assert layout == layout_of(3, 5, EXAMPLE.values())


@pytest.mark.claims("468-LAYOUT-16")
def test_the_ends_of_the_space_do_not_meet() -> None:
    assert refusal(lambda: merge_segments(initial_layout(3), 0, 2)) is Reason.SEGMENTS_NOT_ADJACENT


@pytest.mark.claims("468-LAYOUT-09")
def test_each_hash_has_the_owner_whose_range_it_lies_in() -> None:
    layout = layout_of(3, 5, EXAMPLE.values())
    owners = {0x0000: 3, 0x3FFF: 3, 0x4000: 4, 0x7FFF: 4, 0x8000: 2, 0xFFFF: 2}

    assert {hash: find_active_segment(layout, hash).segment_id for hash in owners} == owners
    assert refusal(lambda: find_active_segment(layout, -1)) is Reason.HASH_OUT_OF_SPACE
    assert refusal(lambda: find_active_segment(layout, 0x10000)) is Reason.HASH_OUT_OF_SPACE


@pytest.mark.parametrize(("lost", "hole"), [(3, 0x0000), (3, 0x3FFF), (4, 0x4000), (4, 0x7FFF), (2, 0xFFFF)])
def test_a_hole_has_no_owner(lost: int, hole: int) -> None:
    torn = layout_of(3, 5, (s for s in EXAMPLE.values() if s.segment_id != lost))

    assert refusal(lambda: find_active_segment(torn, hole)) is Reason.HASH_UNOWNED


@pytest.mark.claims("468-LAYOUT-02", "468-SEGMENT-06")
def test_a_layout_never_changes() -> None:
    layout = initial_layout(2)

    with pytest.raises(FrozenInstanceError):
        layout.epoch = 1  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        layout.segments[0].state = SegmentState.SEALED  # type: ignore[misc]
    assert hash(layout) == hash(initial_layout(2))
    assert [state.value for state in SegmentState] == ["ACTIVE", "SEALED"]


@pytest.mark.claims("468-LAYOUT-07", "468-LAYOUT-08")
def test_a_layout_knows_all_segments_and_the_active_ones_by_range() -> None:
    layout = layout_of(3, 5, reversed(EXAMPLE.values()))

    assert [s.segment_id for s in layout.segments] == [0, 1, 2, 3, 4]
    assert [s.segment_id for s in layout.active] == [3, 4, 2]
    assert [layout.has(id) for id in (-1, 0, 4, 5)] == [False, True, True, False]


@pytest.mark.claims("468-SEGMENT-09", "468-SEGMENT-10", "468-SEGMENT-11", "468-SEGMENT-13")
def test_segments_are_made_active_and_sealed_later() -> None:
    whole = HashRange(0, 9)
    fresh = active_segment(7, whole, 4, (1, 2))

    assert active_segment(7, whole, 0) == SegmentInfo(7, whole)
    assert active_segment(7, whole, 4) == SegmentInfo(7, whole, SegmentState.ACTIVE, (), (), 4, 0)
    assert fresh == SegmentInfo(7, whole, SegmentState.ACTIVE, (1, 2), (), 4, 0)
    assert sealed_segment(fresh, 6, (8, 9)) == SegmentInfo(
        7, whole, SegmentState.SEALED, (1, 2), (8, 9), 4, 6
    )


@pytest.mark.claims("475-NAME-04", "468-SEGMENT-14")
def test_a_segment_is_served_as_a_topic_of_its_own() -> None:
    topic, legacy = TopicName("t", "n", "x"), RegularName("t", "n", "x", 0)

    assert str(served_as(topic, EXAMPLE[1])) == "segment://t/n/x/0000-7fff-1"
    assert served_as(topic, replace(EXAMPLE[1], legacy_topic=legacy)) == legacy


@pytest.mark.claims("468-ROLE-03", "468-SEGAPI-03")
def test_segments_are_managed_through_their_own_rest_group_only() -> None:
    of_468 = [e for e in ENDPOINTS if not e.path.startswith("/admin/v2/scalable-topics/")]
    groups = {"/".join(e.path.split("/")[:4]) for e in of_468}
    on_segment_topics = {
        (e.method, e.path.partition("{descriptor}")[2]) for e in of_468 if "descriptor" in e.path
    }

    assert groups == {"/admin/v2/scalable", "/admin/v2/segments"}
    assert all(("{descriptor}" in e.path) == e.path.startswith("/admin/v2/segments/") for e in ENDPOINTS)
    assert on_segment_topics == {("PUT", ""), ("POST", "/terminate"), ("DELETE", "")}


@pytest.mark.claims("468-LAYOUT-05", "468-SEGMENT-04", "468-SEGMENT-12")
def test_a_long_history_stays_sound_and_fast() -> None:
    chance = random.Random(468)
    layout = initial_layout(4)

    started = time.process_time()
    for _ in range(10_000):
        layout = step(layout, chance.choice(["split", "split", "merge", "prune"]), chance.randrange(2**16))
    seconds = time.process_time() - started

    assert flaws(layout) == ()
    assert len(layout.segments) > 5_000
    assert all(s.sealed_at_epoch > 0 for s in layout.segments if not s.active)
    assert seconds < 2


def test_a_layout_is_told_by_its_epoch_and_its_segments() -> None:
    assert str(split_segment(initial_layout(1), 0)) == "epoch 1: 0 sealed, 1 0000-7fff, 2 8000-ffff"
