"""Every repair in `HARDENED` is needed: without it something goes wrong that does not go wrong with it."""

from dataclasses import fields, replace
from itertools import islice
from typing import Any

import pytest

from models.laws.autoscale import Round, Weights, play
from spec.assignment import assign, assignable
from spec.autoscale import Merge, Split, Why
from spec.design import AS_WRITTEN, HARDENED, Design, Readiness
from spec.layout import (
    SegmentInfo,
    initial_layout,
    layout_of,
    merge_segments,
    prune_segment,
    split_segment,
)
from spec.names import TopicName
from spec.policy import AutoScalePolicy, Rates
from spec.ranges import HashRange
from spec.refusals import Reason

POLICY = AutoScalePolicy()
TOPIC = TopicName("t", "n", "x")


def without(repair: str) -> Design:
    """`HARDENED` with one decision as the documents have it."""
    return replace(HARDENED, **{repair: getattr(AS_WRITTEN, repair)})


def rounds(count: int, *scene: Any, **more: Any) -> list[Round]:
    """So many evaluations under constant load."""
    return list(islice(play(*scene, **more), count))


def kinds(played: list[Round]) -> str:
    """The actions of a course: S for a split, M for a merge, a dot for nothing, R for what was refused."""
    letters = {Split: "S", Merge: "M", type(None): "."}
    return "".join("R" if each.refused else letters[type(each.decision.action)] for each in played)


def test_each_field_of_a_design_is_a_decision_that_the_two_designs_take_differently() -> None:
    names = [f.name for f in fields(Design)]

    assert all(getattr(AS_WRITTEN, name) != getattr(HARDENED, name) for name in names)


@pytest.mark.claims("483-SAFETY-02", "483-GUARD-05")
def test_without_room_for_consumers_a_quiet_topic_splits_and_merges_in_turn() -> None:
    scene = (initial_layout(1), (), 2, POLICY)
    literal = without("merge_leaves_room_for_consumers")

    assert kinds(rounds(30, *scene, HARDENED)) == "S" + "." * 29
    assert kinds(rounds(30, *scene, literal)) == "SM" * 10 + "S" + "." * 9
    assert kinds(rounds(60, *scene, literal, prune=True)) == "SM" * 30


@pytest.mark.claims("483-SAFETY-02", "483-GUARD-02", "483-GUARD-05")
def test_without_weighing_the_sum_a_cold_pair_is_merged_and_split_in_turn() -> None:
    policy = replace(POLICY, split_msg_rate_in=1_000, merge_msg_rate_in=900)
    weights: Weights = ((0x0000, Rates(699, 0, 0, 0)), (0xFFFF, Rates(699, 0, 0, 0)))
    scene = (initial_layout(2), weights, 0, policy)
    literal = without("merge_weighs_the_sum")

    assert kinds(rounds(30, *scene, HARDENED)) == "." * 30
    assert kinds(rounds(30, *scene, literal)) == "MS" * 10 + "." * 10
    assert kinds(rounds(60, *scene, literal, prune=True)) == "MS" * 30


@pytest.mark.parametrize(("required", "reason"), [(0, Why.OVERLOADED), (9, Why.MORE_CONSUMERS_THAN_SEGMENTS)])
def test_without_skipping_single_hashes_one_of_them_is_chosen_for_ever(required: int, reason: Why) -> None:
    layout = layout_of(0, 2, [SegmentInfo(0, HashRange(0, 0)), SegmentInfo(1, HashRange(1, 0xFFFF))])
    weights: Weights = ((0x0000, Rates(30_000, 0, 0, 0)), (0x0001, Rates(9_000, 0, 0, 0)))
    weights += ((0xFFFF, Rates(9_000, 0, 0, 0)),)

    stuck = rounds(20, layout, weights, required, POLICY, without("split_skips_single_hashes"))
    assert kinds(stuck) == "R" * 20
    assert {(each.decision.action, each.decision.why) for each in stuck} == {(Split(0), reason)}
    assert {each.refused.reason for each in stuck if each.refused} == {Reason.RANGE_TOO_NARROW}

    mended = kinds(rounds(20, layout, weights, required, POLICY, HARDENED))
    assert mended == ("S" * 7 if required else "S").ljust(20, ".")


def test_with_active_segments_alone_nobody_drains_a_sealed_one() -> None:
    layout = split_segment(initial_layout(1), 0)
    literal = assignable(layout, frozenset(), without("readiness"))

    assert ids(literal) == [1, 2]
    assert all(0 not in hand.segment_ids for hand in assign(TOPIC, 1, literal, ["c", "d"]).values())
    assert ids(assignable(layout)) == [0]
    assert ids(assignable(layout, frozenset({0}))) == [1, 2]


def test_with_drained_parents_alone_a_grandchild_is_read_before_its_grandparent() -> None:
    """An empty segment is drained as soon as it is sealed, however much lies before it."""
    layout = split_segment(split_segment(initial_layout(1), 0), 1)
    empty = frozenset({1})
    parents_only = replace(HARDENED, readiness=Readiness.PARENTS_DRAINED)

    assert ids(assignable(layout, empty, parents_only)) == [0, 3, 4]
    assert ids(assignable(layout, empty, HARDENED)) == [0]


def test_for_a_merge_too_every_ancestor_counts() -> None:
    layout = merge_segments(split_segment(initial_layout(2), 0), 3, 1)
    assert ids(layout.active) == [2, 4]
    parents_only = replace(HARDENED, readiness=Readiness.PARENTS_DRAINED)

    assert ids(assignable(layout, frozenset({1, 3}), parents_only)) == [0, 4]
    assert ids(assignable(layout, frozenset({1, 3}), HARDENED)) == [0]
    assert ids(assignable(layout, frozenset({0, 1, 3}), HARDENED)) == [2, 4]


def test_pruning_a_drained_segment_hides_its_undrained_ancestors_from_both() -> None:
    layout = prune_segment(split_segment(split_segment(initial_layout(1), 0), 1), 1)
    parents_only = replace(HARDENED, readiness=Readiness.PARENTS_DRAINED)

    assert ids(assignable(layout, frozenset(), parents_only)) == [0, 3, 4]
    assert ids(assignable(layout, frozenset(), HARDENED)) == [0, 3, 4]


def ids(segments: tuple[SegmentInfo, ...]) -> list[int]:
    return [s.segment_id for s in segments]
