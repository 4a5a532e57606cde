"""Assignment in figures: who reads what, what changes, and what has to wait."""

import itertools
from dataclasses import fields, replace

import pytest

from spec.assignment import (
    AssignedSegment,
    Change,
    ConsumerAssignment,
    assign,
    assignable,
    difference,
    latest,
)
from spec.design import AS_WRITTEN, HARDENED, Readiness
from spec.layout import initial_layout, merge_segments, split_segment
from spec.migration import RegularTopic, migrated_layout
from spec.names import RegularName, SegmentName, TopicName
from spec.ranges import HashRange

TOPIC = TopicName("t", "n", "x")
PARENTS_ONLY = replace(HARDENED, readiness=Readiness.PARENTS_DRAINED)

# 0 splits into 1 and 2; 1 into 3 and 4; 4 and 2 merge into 5.
LAYOUT = merge_segments(split_segment(split_segment(initial_layout(1), 0), 1), 4, 2)


def held(segments: int, *consumers: str) -> dict[str, tuple[int, ...]]:
    dealt = assign(TOPIC, 0, initial_layout(segments).active, consumers)
    return {name: hand.segment_ids for name, hand in dealt.items()}


@pytest.mark.claims("468-ASSIGN-03", "468-ASSIGN-05", "468-ASSIGN-08", "468-ASSIGN-11")
@pytest.mark.parametrize(
    ("segments", "consumers", "expected"),
    [
        (4, "", {}),
        (4, "a", {"a": (0, 1, 2, 3)}),
        (4, "ab", {"a": (0, 2), "b": (1, 3)}),
        (4, "abc", {"a": (0, 3), "b": (1,), "c": (2,)}),
        (4, "abcd", {"a": (0,), "b": (1,), "c": (2,), "d": (3,)}),
        (2, "abc", {"a": (0,), "b": (1,), "c": ()}),
    ],
)
def test_segments_are_dealt_out_in_turn(
    segments: int, consumers: str, expected: dict[str, tuple[int, ...]]
) -> None:
    assert held(segments, *consumers) == expected


@pytest.mark.claims("468-ASSIGN-02")
def test_consumers_are_ordered_by_code_point_whatever_the_order_of_arrival() -> None:
    names = ["c1", "c10", "c2", "\uffff", "\U00010000"]
    expected = {name: (place,) for place, name in enumerate(names)}
    for arrival in itertools.permutations(names):
        assert held(5, *arrival) == expected


@pytest.mark.claims("468-ASSIGN-02")
def test_a_name_that_is_given_twice_counts_once() -> None:
    assert held(2, "a", "b", "a") == held(2, "a", "b")


@pytest.mark.claims("468-ASSIGN-01", "468-ASSIGN-04")
def test_segments_are_ordered_by_range_start_and_not_by_id() -> None:
    layout = split_segment(initial_layout(2), 0)
    dealt = assign(TOPIC, layout.epoch, reversed(layout.active), ["a", "b"])

    assert [s.segment_id for s in layout.active] == [2, 3, 1]
    assert dealt["a"].segment_ids == (2, 1)
    assert dealt["b"].segment_ids == (3,)
    assert dealt["a"].layout_epoch == dealt["b"].layout_epoch == 1


@pytest.mark.claims("468-ASSIGN-05", "468-ASSIGN-06")
def test_an_assigned_segment_carries_id_range_and_topic() -> None:
    second = assign(TOPIC, 0, initial_layout(2).active, ["a", "b"])["b"]

    assert [f.name for f in fields(AssignedSegment)] == ["segment_id", "range", "topic"]
    upper = HashRange(0x8000, 0xFFFF)
    assert second.segments == (AssignedSegment(1, upper, SegmentName(TOPIC, upper, 1)),)
    assert str(second.segments[0].topic) == "segment://t/n/x/8000-ffff-1"


def test_a_wrapped_partition_is_assigned_under_its_old_name() -> None:
    layout = migrated_layout(RegularTopic(RegularName("t", "n", "x"), 2))
    dealt = assign(TOPIC, 0, assignable(layout), ["a"])["a"]
    assert [str(s.topic) for s in dealt.segments] == [
        "persistent://t/n/x-partition-0",
        "persistent://t/n/x-partition-1",
    ]


@pytest.mark.claims("468-NOTIFY-01")
def test_only_those_whose_segments_change_are_told() -> None:
    four = initial_layout(4)
    before = assign(TOPIC, 0, four.active, ["a", "b"])

    assert difference(before, assign(TOPIC, 0, four.active, ["a", "b", "c"])) == (
        Change("a", gained=(3,), lost=(2,)),
        Change("b", gained=(), lost=(3,)),
        Change("c", gained=(2,), lost=()),
    )
    assert difference(before, assign(TOPIC, 0, four.active, ["b"])) == (
        Change("a", gained=(), lost=(0, 2)),
        Change("b", gained=(0, 2), lost=()),
    )


@pytest.mark.claims("468-NOTIFY-01")
def test_a_new_epoch_or_an_empty_hand_is_no_difference() -> None:
    before = assign(TOPIC, 0, initial_layout(2).active, ["a", "b"])
    after = assign(TOPIC, 9, initial_layout(2).active, ["a", "b", "surplus"])
    assert difference(before, after) == ()
    assert difference(before, before) == difference({}, {}) == ()


@pytest.mark.claims("468-ASSIGN-04")
@pytest.mark.parametrize(("epoch", "taken"), [(4, False), (5, True), (6, True)])
def test_a_push_counts_unless_its_layout_is_older(epoch: int, taken: bool) -> None:
    mine, pushed = ConsumerAssignment(5), assign(TOPIC, epoch, initial_layout(1).active, ["a"])["a"]
    assert latest(mine, pushed) is (pushed if taken else mine)


@pytest.mark.claims("468-ASSIGN-01", "475-ROUTE-01", "475-ROUTE-02")
@pytest.mark.parametrize(
    ("drained", "as_written", "parents_only", "hardened"),
    [
        ((), (3, 5), (0,), (0,)),
        ((0,), (3, 5), (1, 2), (1, 2)),
        ((0, 1), (3, 5), (3, 4, 2), (3, 4, 2)),
        ((0, 1, 4), (3, 5), (3, 2), (3, 2)),
        ((0, 1, 2, 4), (3, 5), (3, 5), (3, 5)),
        ((0, 1, 2, 3, 4, 5), (3, 5), (), ()),
        ((1, 2, 4), (3, 5), (0, 3, 5), (0,)),
        ((2, 4), (3, 5), (0, 5), (0,)),
    ],
)
def test_what_may_be_read_under_each_rule(
    drained: tuple[int, ...],
    as_written: tuple[int, ...],
    parents_only: tuple[int, ...],
    hardened: tuple[int, ...],
) -> None:
    found = {
        design.readiness: tuple(s.segment_id for s in assignable(LAYOUT, frozenset(drained), design))
        for design in (AS_WRITTEN, PARENTS_ONLY, HARDENED)
    }
    assert found == {
        Readiness.ACTIVE_AT_ONCE: as_written,
        Readiness.PARENTS_DRAINED: parents_only,
        Readiness.ANCESTORS_DRAINED: hardened,
    }


def test_the_hardened_rule_is_the_default() -> None:
    assert assignable(LAYOUT) == assignable(LAYOUT, frozenset(), HARDENED)
