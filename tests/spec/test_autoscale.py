"""The evaluator by examples: figures at and beside each boundary, and exact reasons."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import pytest

from spec.autoscale import (
    SUPPRESSION_COUNTERS,
    Decision,
    Merge,
    Split,
    Suppressed,
    Trigger,
    Why,
    counted,
    decide,
    dispatch,
    remembered_depths,
    stream_consumers,
)
from spec.design import AS_WRITTEN, HARDENED
from spec.layout import (
    SegmentInfo,
    SegmentLayout,
    initial_layout,
    layout_of,
    merge_depth,
    merge_segments,
    prune_segment,
    split_segment,
)
from spec.load import QUIET, LoadSample
from spec.migration import RegularTopic, migrated_layout
from spec.names import RegularName, TopicName
from spec.policy import METRICS, AutoScalePolicy, Rates
from spec.ranges import HashRange, halves
from spec.records import SubscriptionType
from spec.refusals import Reason, Refused
from spec.sessions import Subscription, disconnect, evict_expired, register
from spec.surface import METRICS as EXPORTED

NOW = 10_000_000
LONG_AGO = 0
POLICY = AutoScalePolicy()
SPLIT_LIMITS = dict(zip(METRICS, (10_000, 50_000_000, 50_000, 250_000_000), strict=True))
MERGE_LIMITS = dict(zip(METRICS, (1_000, 5_000_000, 5_000, 25_000_000), strict=True))
WARM = Rates(1_000, 0, 0, 0)
"""Neither cold enough to merge nor hot enough to split."""


def only(metric: str, rate: float) -> Rates:
    return Rates(*(rate if name == metric else 0 for name in METRICS))


def ask(
    layout: SegmentLayout | int,
    rates: Mapping[int, Rates] | None = None,
    consumers: Mapping[str, int] | None = None,
    *,
    ages: Mapping[int, int] | None = None,
    **more: Any,
) -> Decision:
    """Decide about a layout, or about so many equal segments; what is not said is warm, old or absent."""
    layout = initial_layout(layout) if isinstance(layout, int) else layout
    loads = {
        s.segment_id: LoadSample(
            (rates or {}).get(s.segment_id, WARM), NOW - (ages or {}).get(s.segment_id, NOW)
        )
        for s in layout.active
    }
    arguments: dict[str, Any] = {"policy": POLICY, "now": NOW} | more
    return decide(layout, loads, consumers or {}, **arguments)


def held(*suppressed: tuple[Why, tuple[int, ...]]) -> Decision:
    """Nothing is done, for these reasons."""
    return Decision(None, suppressed=tuple(Suppressed(why, segments) for why, segments in suppressed))


NOTHING = held()
COLD = {0: QUIET, 1: QUIET}
MERGE_0_1 = Decision(Merge(0, 1), Why.DURABLY_COLD)


# --- inputs and answers


@pytest.mark.claims("483-DECIDE-04", "483-DECIDE-01")
def test_the_inputs_of_the_decision() -> None:
    assert list(signature(decide).parameters) == [
        *("layout", "loads", "consumers", "policy", "now"),
        *("last_split", "last_merge", "trigger", "in_flight", "depths", "floor", "design"),
    ]


@pytest.mark.claims("483-DECIDE-05", "483-DECIDE-06")
def test_the_answer_is_a_split_a_merge_or_nothing() -> None:
    assert ask(1, {0: only("msgRateIn", 20_000)}).action == Split(0)
    assert ask(2, COLD).action == Merge(0, 1)
    assert Merge(0, 1).segments == (0, 1)
    assert ask(2).action is None
    assert ask(4, dict.fromkeys(range(4), only("msgRateIn", 20_000))).action == Split(0)


@pytest.mark.claims("483-GOAL-06")
def test_an_automatic_split_cuts_at_the_midpoint_wherever_the_load_lies() -> None:
    layout = initial_layout(3)
    after = dispatch(layout, Split(1))

    assert after == split_segment(layout, 1)
    assert [after.segment(i).range for i in (3, 4)] == list(halves(HashRange(0x5555, 0xAAA9)))
    assert dispatch(after, Merge(0, 3)) == merge_segments(after, 0, 3)


def test_a_split_of_a_single_hash_is_refused_where_it_is_dispatched() -> None:
    layout = layout_of(0, 2, [SegmentInfo(0, HashRange(0, 0)), SegmentInfo(1, HashRange(1, 0xFFFF))])
    with pytest.raises(Refused) as refusal:
        dispatch(layout, Split(0))
    assert refusal.value.reason is Reason.RANGE_TOO_NARROW


# --- splits for consumers


@pytest.mark.claims("483-SPLIT-06", "483-SPLIT-05")
@pytest.mark.parametrize(
    ("consumers", "splits"),
    [
        ({}, False),
        ({"a": 2}, False),
        ({"a": 3}, True),
        ({"a": 2, "b": 2, "c": 2}, False),
        ({"a": 1, "b": 3}, True),
    ],
)
def test_a_subscription_with_more_consumers_than_segments_splits(
    consumers: dict[str, int], splits: bool
) -> None:
    wanted = Decision(Split(0), Why.MORE_CONSUMERS_THAN_SEGMENTS)
    assert ask(2, consumers=consumers) == (wanted if splits else NOTHING)
    assert ask(2, consumers=consumers, trigger=Trigger.CONSUMER_CHANGE) == (wanted if splits else NOTHING)


@pytest.mark.claims("483-SPLIT-07")
def test_for_consumers_the_segment_with_the_most_messages_in_is_split() -> None:
    rates = {0: only("bytesRateIn", 1e9), 1: only("msgRateIn", 1_001), 2: only("msgRateIn", 1_000)}
    assert ask(3, rates, {"a": 4}).action == Split(1)


@pytest.mark.claims("483-SPLIT-07")
def test_of_equally_busy_segments_the_one_with_the_lowest_id_is_split() -> None:
    layout = split_segment(split_segment(initial_layout(1), 0), 1)
    assert [s.segment_id for s in layout.active] == [3, 4, 2]

    assert ask(layout, consumers={"a": 9}).action == Split(2)
    assert decide(layout, {}, {"a": 9}, POLICY, NOW).action == Split(2)
    assert decide(layout, {4: LoadSample(only("msgRateIn", 1), NOW)}, {"a": 9}, POLICY, NOW).action == Split(
        4
    )


@pytest.mark.claims("483-SPLIT-08")
def test_load_is_looked_at_only_when_consumers_do_not_press() -> None:
    rates = {0: only("msgRateIn", 10), 1: only("bytesRateIn", 1e9)}
    assert ask(2, rates, {"a": 3}) == Decision(Split(0), Why.MORE_CONSUMERS_THAN_SEGMENTS)
    assert ask(2, rates, {"a": 2}) == Decision(Split(1), Why.OVERLOADED, "bytesRateIn")


@pytest.mark.claims("483-DECIDE-02", "483-LOAD-10")
def test_every_registered_consumer_counts_and_a_queue_has_none() -> None:
    subscription = Subscription(TopicName("t", "n", "x"), 0, initial_layout(1).active)
    for connection, name in enumerate(["checkpoint", "stream", "stream-2"]):
        subscription = register(subscription, name, connection)
    away = disconnect(subscription, "stream", 1, now=0)

    assert stream_consumers({"s": subscription, "t": away}) == {"s": 3, "t": 3}
    assert stream_consumers({"t": evict_expired(away, grace=5, now=5)}) == {"t": 2}
    assert ask(2, consumers=stream_consumers({"s": away})).action == Split(0)
    assert ask(2, consumers=stream_consumers({})) == NOTHING
    assert {kind.name for kind in SubscriptionType} == {"STREAM", "QUEUE"}


# --- splits for load


@pytest.mark.claims(
    "483-SPLIT-09",
    "483-SPLIT-10",
    "483-SPLIT-11",
    "483-SPLIT-12",
    "483-SPLIT-13",
    "483-DECIDE-03",
    "483-CONFIG-10",
    "483-CONFIG-11",
    "483-CONFIG-12",
    "483-CONFIG-13",
)
@pytest.mark.parametrize("metric", METRICS)
def test_one_rate_above_its_split_threshold_splits_and_one_at_it_does_not(metric: str) -> None:
    limit = SPLIT_LIMITS[metric]
    assert ask(2, {1: only(metric, limit)}) == NOTHING
    assert ask(2, {1: only(metric, limit + 0.001)}) == Decision(Split(1), Why.OVERLOADED, metric)


@pytest.mark.claims("483-SPLIT-14")
def test_the_most_overloaded_segment_is_the_one_with_the_largest_factor() -> None:
    rates = {
        0: only("bytesRateIn", 60_000_000),
        1: Rates(15_000, 60_000_000, 0, 0),
        2: only("bytesRateOut", 370_000_000),
    }
    assert ask(3, rates) == Decision(Split(1), Why.OVERLOADED, "msgRateIn")
    assert ask(3, rates | {1: QUIET}) == Decision(Split(2), Why.OVERLOADED, "bytesRateOut")


@pytest.mark.claims("483-SPLIT-14")
def test_ties_go_to_the_lowest_id_and_to_the_metric_named_first() -> None:
    layout = split_segment(split_segment(initial_layout(1), 0), 1)
    doubled = Rates(0, 100_000_000, 0, 500_000_000)

    assert ask(layout, dict.fromkeys((3, 4, 2), doubled)) == Decision(Split(2), Why.OVERLOADED, "bytesRateIn")


@pytest.mark.claims("483-SPLIT-13")
def test_only_active_segments_are_candidates() -> None:
    layout = split_segment(initial_layout(1), 0)
    loads = {0: LoadSample(only("msgRateIn", 1e9), LONG_AGO), 1: LoadSample(WARM, LONG_AGO)}
    assert decide(layout, loads, {}, POLICY, NOW) == NOTHING


@pytest.mark.claims("483-SPLIT-16")
@pytest.mark.parametrize("age", [0, 1, NOW, -1])
def test_a_hot_record_of_any_age_splits(age: int) -> None:
    assert ask(1, {0: only("msgRateIn", 10_001)}, ages={0: age}).action == Split(0)


@pytest.mark.claims("483-GUARD-01")
@pytest.mark.parametrize("metric", METRICS)
def test_between_the_thresholds_nothing_happens(metric: str) -> None:
    for rate in (MERGE_LIMITS[metric], 3 * MERGE_LIMITS[metric], SPLIT_LIMITS[metric]):
        assert ask(2, dict.fromkeys((0, 1), only(metric, rate))) == NOTHING


# --- what withholds splits


@pytest.mark.claims("483-CAP-01", "483-CONFIG-04")
@pytest.mark.parametrize(("segments", "splits"), [(63, True), (64, False), (65, False)])
def test_no_split_at_the_maximum_or_above(segments: int, splits: bool) -> None:
    hot = {5: only("msgRateIn", 20_000)}
    assert ask(segments, hot) == (
        Decision(Split(5), Why.OVERLOADED, "msgRateIn") if splits else held((Why.AT_MAX_SEGMENTS, (5,)))
    )
    assert ask(segments, consumers={"a": 99}) == (
        Decision(Split(0), Why.MORE_CONSUMERS_THAN_SEGMENTS) if splits else held((Why.AT_MAX_SEGMENTS, (0,)))
    )


@pytest.mark.claims("483-SPLIT-04", "483-CONFIG-07", "483-TRIGGER-07")
@pytest.mark.parametrize(
    ("last_split", "splits"),
    [
        (None, True),
        (NOW - 60_001, True),
        (NOW - 60_000, True),
        (NOW - 59_999, False),
        (NOW, False),
        (NOW + 1, False),
    ],
)
def test_no_split_within_a_minute_of_the_last(last_split: int | None, splits: bool) -> None:
    waiting = held((Why.SPLIT_COOLING_DOWN, (0,)))
    by_load = ask(1, {0: only("msgRateIn", 10_001)}, last_split=last_split)
    by_consumers = ask(1, consumers={"a": 2}, last_split=last_split, trigger=Trigger.CONSUMER_CHANGE)

    assert by_load == (Decision(Split(0), Why.OVERLOADED, "msgRateIn") if splits else waiting)
    assert by_consumers == (Decision(Split(0), Why.MORE_CONSUMERS_THAN_SEGMENTS) if splits else waiting)


@pytest.mark.claims("483-MERGE-02", "483-SPLIT-04")
def test_neither_cooldown_holds_back_the_other_kind_of_action() -> None:
    assert ask(1, {0: only("msgRateIn", 10_001)}, last_merge=NOW).action == Split(0)
    assert ask(2, COLD, last_split=NOW) == MERGE_0_1


def test_a_cooldown_of_zero_still_waits_for_a_clock_that_runs_behind() -> None:
    policy = replace(POLICY, split_cooldown=0, merge_cooldown=0, merge_window=0)
    hot = {0: only("msgRateIn", 10_001)}

    assert ask(1, hot, policy=policy, last_split=NOW).action == Split(0)
    assert ask(1, hot, policy=policy, last_split=NOW + 1).action is None
    assert ask(2, COLD, policy=policy, last_merge=NOW, ages={0: 0, 1: 0}) == MERGE_0_1
    assert ask(2, COLD, policy=policy, last_merge=NOW + 1).action is None
    assert ask(2, COLD, policy=policy, ages={0: -1}).action is None


def test_two_hashes_are_enough_for_a_split() -> None:
    layout = layout_of(0, 2, [SegmentInfo(0, HashRange(0, 1)), SegmentInfo(1, HashRange(2, 0xFFFF))])
    assert ask(layout, {0: only("msgRateIn", 10_001)}) == Decision(Split(0), Why.OVERLOADED, "msgRateIn")
    assert ask(layout, {0: only("msgRateIn", 2_000)}, {"a": 3}).action == Split(0)


def test_single_hashes_are_passed_over_and_named() -> None:
    ranges = [HashRange(0, 0), HashRange(1, 1), HashRange(2, 0xFFFF)]
    layout = layout_of(0, 3, [SegmentInfo(i, whole) for i, whole in enumerate(ranges)])
    rates = {0: only("msgRateIn", 20_000), 1: only("msgRateIn", 30_000), 2: only("msgRateIn", 10_001)}
    passed_over = (Suppressed(Why.SINGLE_HASH, (1,)), Suppressed(Why.SINGLE_HASH, (0,)))

    assert ask(layout, rates) == Decision(Split(2), Why.OVERLOADED, "msgRateIn", passed_over)
    assert ask(layout, rates, last_split=NOW) == Decision(
        None, suppressed=(*passed_over, Suppressed(Why.SPLIT_COOLING_DOWN, (2,)))
    )
    assert ask(layout, rates | {2: WARM}) == Decision(None, suppressed=passed_over)
    assert ask(layout, rates, {"a": 4}) == Decision(
        Split(2), Why.MORE_CONSUMERS_THAN_SEGMENTS, suppressed=passed_over
    )
    assert ask(layout, consumers={"a": 4}).suppressed == passed_over[::-1]
    assert ask(layout, {2: only("msgRateIn", 1_001)}, {"a": 4}).suppressed == ()
    assert ask(layout, rates, design=AS_WRITTEN).action == Split(1)


# --- merges


@pytest.mark.claims(
    "483-MERGE-04",
    "483-MERGE-05",
    "483-MERGE-06",
    "483-MERGE-07",
    "483-MERGE-08",
    "483-MERGE-09",
    "483-CONFIG-14",
    "483-CONFIG-15",
    "483-CONFIG-16",
    "483-CONFIG-17",
)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("segment", [0, 1])
def test_both_must_be_below_every_merge_threshold(metric: str, segment: int) -> None:
    limit = MERGE_LIMITS[metric]
    literal = replace(HARDENED, merge_allows_for_silence=False)
    assert ask(2, COLD | {segment: only(metric, limit - 0.001)}, design=literal) == MERGE_0_1
    assert ask(2, COLD | {segment: only(metric, limit)}, design=literal) == NOTHING


@pytest.mark.claims("483-GUARD-03", "483-REPORT-03")
@pytest.mark.parametrize("metric", METRICS)
def test_a_rate_that_could_have_left_the_cold_unreported_is_not_cold(metric: str) -> None:
    limit = MERGE_LIMITS[metric]
    assert ask(2, COLD | {0: only(metric, limit * 0.8 - 0.001)}) == MERGE_0_1
    assert ask(2, COLD | {0: only(metric, limit * 0.8)}) == NOTHING


def test_below_the_floor_nothing_is_reported_so_nothing_is_cold_unless_the_floor_is() -> None:
    floor = only("msgRateIn", 999)
    assert ask(2, COLD, floor=floor) == MERGE_0_1
    assert ask(2, COLD, floor=only("msgRateIn", 1_000)) == NOTHING


def test_a_merge_threshold_of_zero_switches_merging_off() -> None:
    assert ask(2, COLD, policy=replace(POLICY, merge_msg_rate_out=0)) == NOTHING


@pytest.mark.claims("483-MERGE-10", "483-LOAD-08", "483-LOAD-09", "483-CONFIG-09")
@pytest.mark.parametrize(
    ("ages", "merges"),
    [
        ({0: 300_000, 1: 300_000}, True),
        ({0: 299_999, 1: 300_000}, False),
        ({0: 300_001, 1: 299_999}, False),
        ({0: 0, 1: 0}, False),
        ({0: -1, 1: NOW}, False),
    ],
)
def test_both_must_have_been_cold_for_five_minutes(ages: dict[int, int], merges: bool) -> None:
    waiting = held((Why.NOT_COLD_FOR_LONG_ENOUGH, (0, 1)))
    assert ask(2, COLD, ages=ages) == (MERGE_0_1 if merges else waiting)


@pytest.mark.claims("483-MERGE-10")
def test_a_segment_without_a_record_is_never_merged() -> None:
    loads = {0: LoadSample(QUIET, LONG_AGO)}
    assert decide(initial_layout(2), loads, {}, POLICY, NOW) == held((Why.NOT_COLD_FOR_LONG_ENOUGH, (0, 1)))
    assert decide(initial_layout(2), {}, {}, replace(POLICY, merge_window=0), NOW).action is None


@pytest.mark.claims("483-MERGE-02", "483-CONFIG-08")
@pytest.mark.parametrize(
    ("last_merge", "merges"),
    [
        (None, True),
        (NOW - 300_001, True),
        (NOW - 300_000, True),
        (NOW - 299_999, False),
        (NOW, False),
        (NOW + 1, False),
    ],
)
def test_no_merge_within_five_minutes_of_the_last(last_merge: int | None, merges: bool) -> None:
    waiting = held((Why.MERGE_COOLING_DOWN, (0, 1)))
    assert ask(2, COLD, last_merge=last_merge) == (MERGE_0_1 if merges else waiting)


@pytest.mark.claims("483-CAP-02", "483-CONFIG-05")
@pytest.mark.parametrize(("least", "merges"), [(1, True), (2, False), (3, False)])
def test_no_merge_at_the_minimum_or_below(least: int, merges: bool) -> None:
    decision = ask(2, COLD, policy=replace(POLICY, min_segments=least))
    assert decision == (MERGE_0_1 if merges else held((Why.AT_MIN_SEGMENTS, (0, 1))))
    assert ask(1, {0: QUIET}) == NOTHING


@pytest.mark.claims("483-MERGE-03")
def test_only_neighbours_are_merged() -> None:
    gap = layout_of(0, 2, [SegmentInfo(0, HashRange(0, 9)), SegmentInfo(1, HashRange(11, 0xFFFF))])
    assert ask(gap, COLD) == NOTHING
    assert ask(3, {0: QUIET, 2: QUIET}) == NOTHING

    sealed = split_segment(initial_layout(2), 1)
    loads = {i: LoadSample(QUIET, LONG_AGO) for i in (0, 1, 3)}
    assert decide(sealed, loads, {}, POLICY, NOW).action is None


@pytest.mark.claims("483-MERGE-11")
def test_the_pair_with_the_lowest_sum_of_all_rates_is_merged() -> None:
    rates = {0: Rates(700, 0, 1_100, 0), 1: QUIET, 2: only("bytesRateOut", 1_799), 3: WARM}
    assert ask(4, rates).action == Merge(1, 2)
    assert ask(4, rates | {2: only("bytesRateOut", 1_801)}).action == Merge(0, 1)
    assert ask(4, rates | {2: only("bytesRateOut", 1_800)}).action == Merge(0, 1)


@pytest.mark.claims("483-GUARD-05", "483-CAP-03")
def test_a_segment_that_remembers_its_merges_is_not_merged_again_after_pruning() -> None:
    layout = initial_layout(2)
    depths = remembered_depths({}, layout)
    for _ in range(POLICY.max_dag_depth):
        for action in (Merge(*(s.segment_id for s in layout.active)), Split(layout.next_segment_id)):
            layout = dispatch(layout, action)
            depths = remembered_depths(depths, layout)
            for sealed in [s.segment_id for s in layout.segments if not s.active]:
                layout = prune_segment(layout, sealed)
    quiet = {s.segment_id: QUIET for s in layout.active}
    pair = tuple(quiet)

    assert depths == dict.fromkeys(pair, POLICY.max_dag_depth)
    assert ask(layout, quiet, depths=depths) == held((Why.TOO_MANY_MERGES, pair))
    assert ask(layout, quiet).action == Merge(*pair)
    assert ask(layout, quiet, depths=depths, design=AS_WRITTEN).action == Merge(*pair)


@pytest.mark.claims("483-MERGE-11")
def test_of_equally_cold_pairs_the_leftmost_is_merged_left_segment_first() -> None:
    layout = split_segment(split_segment(initial_layout(1), 0), 1)
    assert ask(layout, dict.fromkeys((3, 4, 2), QUIET)).action == Merge(3, 4)
    assert ask(layout, {3: WARM, 4: QUIET, 2: QUIET}).action == Merge(4, 2)


def churned(merges: int) -> SegmentLayout:
    """Two equal halves of the hash space with a third neighbour, after so many merges of the halves."""
    layout = split_segment(initial_layout(2), 0)
    for _ in range(merges):
        layout = merge_segments(layout, *(s.segment_id for s in layout.active[:2]))
        layout = split_segment(layout, layout.active[0].segment_id)
    return layout


@pytest.mark.claims("483-CAP-03", "483-GUARD-06", "483-GUARD-07", "483-CONFIG-06")
def test_a_lineage_with_ten_merges_is_merged_no_more() -> None:
    nine, ten = churned(9), churned(10)
    left, right, outer = (s.segment_id for s in ten.active)
    assert [merge_depth(nine, s.segment_id) for s in nine.active] == [9, 9, 0]
    assert [merge_depth(ten, s.segment_id) for s in ten.active] == [10, 10, 0]

    assert isinstance(ask(nine, dict.fromkeys((s.segment_id for s in nine.active), QUIET)).action, Merge)
    assert ask(ten, dict.fromkeys((left, right, outer), QUIET)) == held(
        (Why.TOO_MANY_MERGES, (left, right)), (Why.TOO_MANY_MERGES, (right, outer))
    )
    assert merge_depth(prune_segment(ten, ten.segments[0].segment_id), left) == 10


@pytest.mark.claims("483-CAP-03")
def test_other_pairs_may_still_merge() -> None:
    layout = split_segment(churned(10), 1)
    left, right, third, fourth = (s.segment_id for s in layout.active)
    decision = ask(layout, dict.fromkeys((left, right, third, fourth), QUIET))

    assert decision.action == Merge(third, fourth)
    assert decision.suppressed == (
        Suppressed(Why.TOO_MANY_MERGES, (left, right)),
        Suppressed(Why.TOO_MANY_MERGES, (right, third)),
    )
    assert counted(decision) == ()


@pytest.mark.claims("483-GUARD-04")
def test_a_lineage_at_its_depth_still_splits() -> None:
    layout = churned(10)
    hot = {layout.active[0].segment_id: only("msgRateIn", 10_001)}
    assert ask(layout, hot).action == Split(layout.active[0].segment_id)
    assert ask(layout, consumers={"a": 4}, policy=replace(POLICY, max_dag_depth=0)).action is not None


@pytest.mark.claims("483-GUARD-06")
def test_a_migrated_topic_begins_one_merge_deep_until_its_old_partitions_are_pruned() -> None:
    layout = migrated_layout(RegularTopic(RegularName("t", "n", "x"), partitions=2))
    cold, policy = dict.fromkeys((2, 3), QUIET), replace(POLICY, max_dag_depth=1)
    assert ask(layout, cold, policy=policy) == held((Why.TOO_MANY_MERGES, (2, 3)))

    pruned = prune_segment(prune_segment(layout, 0), 1)
    assert ask(pruned, cold, policy=policy).action == Merge(2, 3)


@pytest.mark.claims("483-GUARD-02")
def test_what_was_just_merged_is_not_split_again() -> None:
    nearly_warm = Rates(799, 3_999_999, 3_999, 19_999_999)
    layout = initial_layout(2)
    merge = ask(layout, dict.fromkeys((0, 1), nearly_warm)).action
    assert merge == Merge(0, 1)

    assert ask(dispatch(layout, merge), {2: nearly_warm + nearly_warm}) == NOTHING


def test_a_merge_leaves_a_segment_for_each_consumer() -> None:
    quiet = dict.fromkeys(range(3), QUIET)
    needed = held((Why.NEEDED_BY_CONSUMERS, (0, 1)), (Why.NEEDED_BY_CONSUMERS, (1, 2)))

    assert ask(3, quiet, {"a": 2}).action == Merge(0, 1)
    assert ask(3, quiet, {"a": 3}) == needed
    assert ask(3, quiet, {"a": 3}, design=AS_WRITTEN).action == Merge(0, 1)


def test_a_pair_that_would_be_too_hot_together_stays_apart() -> None:
    policy = replace(POLICY, split_msg_rate_in=1_000, merge_msg_rate_in=900)
    half, more = (
        dict.fromkeys((0, 1), only("msgRateIn", 400)),
        dict.fromkeys((0, 1), only("msgRateIn", 400.5)),
    )
    literal = replace(HARDENED, merge_allows_for_silence=False)

    assert ask(2, half, policy=policy) == MERGE_0_1
    assert ask(2, more, policy=policy) == held((Why.TOO_HOT_TOGETHER, (0, 1)))
    assert ask(2, more, policy=policy, design=literal) == MERGE_0_1
    assert ask(2, more, policy=policy, design=AS_WRITTEN) == MERGE_0_1


# --- order of passes and reasons


@pytest.mark.claims("483-MERGE-01", "483-DECIDE-06")
def test_a_split_comes_before_a_merge_and_one_that_is_held_back_does_not_count() -> None:
    rates = COLD | {2: only("msgRateIn", 10_001)}
    assert ask(3, rates) == Decision(Split(2), Why.OVERLOADED, "msgRateIn")

    merge = Decision(Merge(0, 1), Why.DURABLY_COLD, suppressed=(Suppressed(Why.SPLIT_COOLING_DOWN, (2,)),))
    assert ask(3, rates, last_split=NOW) == merge


@pytest.mark.claims("483-TRIGGER-10", "483-CONFIG-03")
def test_a_consumer_event_looks_at_consumers_only() -> None:
    event = Trigger.CONSUMER_CHANGE
    assert ask(2, {0: only("msgRateIn", 1e6)}, {"a": 2}, trigger=event) == NOTHING
    assert ask(2, COLD, trigger=event) == NOTHING
    assert ask(2, COLD, {"a": 3}, trigger=event).action == Split(0)
    assert ask(2, COLD, {"a": 3}).action == Split(0)


@pytest.mark.claims("483-CONFIG-02", "483-POLICY-06", "483-SPLIT-01")
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"policy": replace(POLICY, enabled=False)}, Why.DISABLED),
        ({"policy": replace(POLICY, min_segments=0)}, Why.POLICY_INVALID),
        ({"policy": replace(POLICY, split_msg_rate_in=1_000)}, Why.POLICY_INVALID),
        ({"policy": replace(POLICY, enabled=False, min_segments=0), "in_flight": True}, Why.DISABLED),
        ({"in_flight": True}, Why.IN_FLIGHT),
    ],
)
def test_switched_off_invalid_or_in_flight_there_is_one_answer(more: dict[str, Any], why: Why) -> None:
    assert ask(1, {0: only("msgRateIn", 1e6)}, **more) == held((why, ()))
    assert ask(2, COLD, {"a": 3}, trigger=Trigger.CONSUMER_CHANGE, **more) == held((why, ()))
    assert ask(2, COLD, **more) == held((why, ()))


@pytest.mark.claims("483-SAFETY-03")
def test_manual_operations_know_no_policy() -> None:
    layout = initial_layout(64)
    assert ask(layout, {0: only("msgRateIn", 1e6)}, policy=replace(POLICY, enabled=False)).action is None
    assert len(split_segment(layout, 0).active) == 65
    assert len(merge_segments(initial_layout(2), 0, 1).active) == 1


@pytest.mark.claims("483-METRIC-04", "483-METRIC-05")
def test_a_cap_is_blamed_only_when_nothing_else_stands_in_the_way() -> None:
    full, shallow = replace(POLICY, max_segments=1), replace(POLICY, max_dag_depth=0)
    hot = {0: only("msgRateIn", 10_001)}
    split_counter, merge_counter = SUPPRESSION_COUNTERS.values()

    at_max = ask(1, hot, policy=full)
    assert at_max == held((Why.AT_MAX_SEGMENTS, (0,)))
    assert counted(at_max) == (split_counter,)
    assert ask(1, hot, policy=full, last_split=NOW) == held((Why.SPLIT_COOLING_DOWN, (0,)))
    assert counted(ask(1, policy=full)) == ()

    too_deep = ask(2, COLD, policy=shallow)
    assert too_deep == held((Why.TOO_MANY_MERGES, (0, 1)))
    assert counted(too_deep) == (merge_counter,)
    for other in (
        ask(2, COLD, policy=shallow, last_merge=NOW),
        ask(2, COLD, policy=replace(shallow, min_segments=2)),
        ask(2, COLD, policy=shallow, ages={0: 0}),
        ask(2, COLD, {"a": 2}, policy=shallow),
    ):
        assert counted(other) == ()

    both = ask(2, {0: QUIET, 1: QUIET} | hot, {"a": 3}, policy=replace(shallow, max_segments=2))
    assert counted(both) == (split_counter,)
    assert {split_counter, merge_counter} < {metric.name for metric in EXPORTED}


def test_everything_held_back_is_reported_in_order() -> None:
    policy = replace(POLICY, max_segments=5, split_msg_rate_in=1_500)
    rates = {
        0: only("msgRateIn", 790),
        1: only("msgRateIn", 790),
        2: QUIET,
        3: QUIET,
        4: only("msgRateIn", 2_000),
    }
    assert ask(5, rates, policy=policy, ages={3: 0}) == Decision(
        Merge(1, 2),
        Why.DURABLY_COLD,
        suppressed=(
            Suppressed(Why.AT_MAX_SEGMENTS, (4,)),
            Suppressed(Why.TOO_HOT_TOGETHER, (0, 1)),
            Suppressed(Why.NOT_COLD_FOR_LONG_ENOUGH, (2, 3)),
        ),
    )


@pytest.mark.claims("483-DECIDE-01", "483-GOAL-07")
def test_the_hardened_design_is_the_default_and_asking_changes_nothing() -> None:
    loads = {0: LoadSample(QUIET, LONG_AGO), 1: LoadSample(QUIET, LONG_AGO)}
    layout = initial_layout(2)
    first = decide(layout, loads, {"a": 1}, POLICY, NOW)

    assert first == decide(layout, loads, {"a": 1}, POLICY, NOW, None, None, design=HARDENED)
    assert loads == {0: LoadSample(QUIET, LONG_AGO), 1: LoadSample(QUIET, LONG_AGO)}
    assert layout == initial_layout(2)
