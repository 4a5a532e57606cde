"""
The split/merge decision as a pure function of what the controller leader knows.

Two passes, split before merge, at most one action. Ties go to the lowest segment id for a split and to the
leftmost pair for a merge, so that two leaders with the same view decide the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from spec.design import HARDENED, Design
from spec.layout import SegmentInfo, SegmentLayout, merge_depth, merge_segments, split_segment
from spec.load import CHANGE_THRESHOLD, QUIET, LoadSample, at_most, unchanged_for
from spec.policy import METRICS, AutoScalePolicy, Rates, violations
from spec.ranges import adjacent
from spec.sessions import Subscription

NEVER: int | None = None
"""The time of the last split or merge, when there was none."""


class Trigger(Enum):
    """
    Why the evaluator runs: a tick looks at everything, a change of consumers at their number only.

    [483-READ-21, 483-READ-22, 483-READ-24]
    """

    TICK = "the periodic tick"
    CONSUMER_CHANGE = "a consumer registered or unregistered"


class Why(Enum):
    """Why the evaluator acts, or what keeps it from acting."""

    MORE_CONSUMERS_THAN_SEGMENTS = "a subscription has more consumers than there are segments"
    OVERLOADED = "a rate is above its split threshold"
    DURABLY_COLD = "both segments have been below every merge threshold for the whole window"

    DISABLED = "auto-scaling is switched off"
    POLICY_INVALID = "the policy breaks one of its own rules"
    IN_FLIGHT = "a split or merge of this topic is still under way"
    SINGLE_HASH = "the segment covers a single hash"
    SPLIT_COOLING_DOWN = "the last split was too short a time ago"
    AT_MAX_SEGMENTS = "there are as many segments as allowed"
    MERGE_COOLING_DOWN = "the last merge was too short a time ago"
    AT_MIN_SEGMENTS = "there are as few segments as allowed"
    NOT_COLD_FOR_LONG_ENOUGH = "the load record is younger than the merge window, or missing"
    NEEDED_BY_CONSUMERS = "a subscription has as many consumers as there are segments"
    TOO_HOT_TOGETHER = "together the two segments exceed a split threshold"
    TOO_MANY_MERGES = "the lineage has seen as many merges as allowed"


@dataclass(frozen=True, slots=True)
class Split:
    """Seal one segment and put its halves in its place."""

    segment_id: int

    @property
    def segments(self) -> tuple[int, ...]:
        return (self.segment_id,)


@dataclass(frozen=True, slots=True)
class Merge:
    """Seal two neighbours and put their union in their place."""

    left_id: int
    right_id: int

    @property
    def segments(self) -> tuple[int, ...]:
        return self.left_id, self.right_id


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Something that was not done: for the whole topic, or for the named segments."""

    why: Why
    segments: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """
    What to do (`None` for nothing), why, by which metric, and everything that was held back on the way.

    [483-DECIDE-05, 483-DECIDE-06]
    """

    action: Split | Merge | None
    why: Why | None = None
    metric: str | None = None
    suppressed: tuple[Suppressed, ...] = ()


def decide(
    layout: SegmentLayout,
    loads: Mapping[int, LoadSample],
    consumers: Mapping[str, int],
    policy: AutoScalePolicy,
    now: int,
    last_split: int | None = NEVER,
    last_merge: int | None = NEVER,
    *,
    trigger: Trigger = Trigger.TICK,
    in_flight: bool = False,
    depths: Mapping[int, int] = {},
    floor: Rates = QUIET,
    design: Design = HARDENED,
) -> Decision:
    """
    Split one segment, merge one adjacent pair, or leave the topic as it is.

    `consumers` is what `stream_consumers` counts; the largest subscription decides, not the sum. `depths` is
    what segments remember of their merges, and below `floor` owners report nothing, if the design has these.
    [483-DECIDE-01, 483-DECIDE-04, 483-MERGE-01, 483-SPLIT-05, 483-READ-02, 483-READ-30]
    """
    if not policy.enabled:
        return _nothing(Why.DISABLED)
    if any(violations(policy)):
        return _nothing(Why.POLICY_INVALID)
    if in_flight:
        return _nothing(Why.IN_FLIGHT)

    required = max(consumers.values(), default=0)
    topic = _Topic(layout, loads, required, policy, now, depths, floor, design)
    split = _split_pass(topic, last_split, trigger)
    if split.action is not None or trigger is Trigger.CONSUMER_CHANGE:
        return split
    merge = _merge_pass(topic, last_merge)
    return replace(merge, suppressed=split.suppressed + merge.suppressed)


def dispatch(layout: SegmentLayout, action: Split | Merge) -> SegmentLayout:
    """What an action does: just what the same operation does when a person asks for it. [483-GOAL-06]"""
    if isinstance(action, Split):
        return split_segment(layout, action.segment_id)
    return merge_segments(layout, action.left_id, action.right_id)


def remembered_depths(depths: Mapping[int, int], layout: SegmentLayout) -> dict[int, int]:
    """
    How many merges lie behind each active segment on its longest line, for a layout that was just changed.

    A new segment takes over what its parents remember; a merge adds one. [483-GUARD-07, 483-READ-44]
    """
    return {
        s.segment_id: depths[s.segment_id]
        if s.segment_id in depths
        else max((depths.get(p, 0) for p in s.parent_ids), default=0) + (len(s.parent_ids) > 1)
        for s in layout.active
    }


def stream_consumers(subscriptions: Mapping[str, Subscription]) -> dict[str, int]:
    """
    How many consumers each STREAM subscription has: all with a session, even while they are disconnected.

    Stream and checkpoint consumers register alike, and registering is what makes a subscription STREAM.
    Queue consumers share segments and have no session, so nothing counts them.
    [483-LOAD-10, 483-DECIDE-02, 483-READ-17, 483-READ-18]
    """
    return {name: len(subscription.sessions) for name, subscription in subscriptions.items()}


SUPPRESSION_COUNTERS = {
    Why.AT_MAX_SEGMENTS: "pulsar_scalable_topic_split_suppressed_max_segments_total",
    Why.TOO_MANY_MERGES: "pulsar_scalable_topic_merge_suppressed_max_depth_total",
}
"""The metrics that count evaluations in which a cap alone withheld an action."""


def counted(decision: Decision) -> tuple[str, ...]:
    """
    The suppression counters that an evaluation raises, each by one.

    A merge that is made leaves nothing to count for the pairs that depth rules out.
    [483-METRIC-04, 483-METRIC-05, 483-READ-60]
    """
    reasons = {s.why for s in decision.suppressed}
    if isinstance(decision.action, Merge):
        reasons.discard(Why.TOO_MANY_MERGES)
    return tuple(name for why, name in SUPPRESSION_COUNTERS.items() if why in reasons)


@dataclass(frozen=True, slots=True)
class _Topic:
    """Everything that both passes look at."""

    layout: SegmentLayout
    loads: Mapping[int, LoadSample]
    required: int
    policy: AutoScalePolicy
    now: int
    depths: Mapping[int, int]
    floor: Rates
    design: Design

    def rates(self, segment: SegmentInfo) -> Rates:
        """A segment that nobody has reported on yet counts as quiet. [483-READ-07]"""
        sample = self.loads.get(segment.segment_id)
        return QUIET if sample is None else sample.rates

    def rates_at_most(self, segment: SegmentInfo) -> Rates:
        """What a segment may have to carry by now, although its record stands as it is. [483-READ-12]"""
        rates = self.rates(segment)
        if not self.design.merge_allows_for_silence:
            return rates
        return at_most(rates, CHANGE_THRESHOLD, self.floor)

    def since(self, then: int | None, pause: int) -> bool:
        """Whether the pause after an event is over; at its very end, it is. [483-READ-15, 483-READ-28]"""
        return then is None or self.now - then >= pause


def _split_pass(topic: _Topic, last_split: int | None, trigger: Trigger) -> Decision:
    """
    Splits fire as soon as they are wanted, unless the last one was just now or the cap is reached.

    The cap comes last, so that it is blamed only for a split that nothing else withholds.
    [483-SPLIT-04, 483-CAP-01, 483-SPLIT-08, 483-READ-46, 483-READ-60]
    """
    if topic.required > len(topic.layout.active):
        wanted = _split_for_consumers(topic)
    elif trigger is Trigger.TICK:
        wanted = _split_for_load(topic)
    else:
        wanted = Decision(None)

    if wanted.action is None:
        return wanted
    if not topic.since(last_split, topic.policy.split_cooldown):
        return _held_back(wanted.action, Why.SPLIT_COOLING_DOWN, wanted.suppressed)
    if len(topic.layout.active) >= topic.policy.max_segments:
        return _held_back(wanted.action, Why.AT_MAX_SEGMENTS, wanted.suppressed)
    return wanted


def _split_for_consumers(topic: _Topic) -> Decision:
    """
    When a subscription has more consumers than there are segments, the busiest segment is split.

    [483-SPLIT-06, 483-SPLIT-07, 483-READ-36]
    """
    busiest = sorted(topic.layout.active, key=lambda s: (-topic.rates(s).msg_in, s.segment_id))
    return _split_first(topic, ((s, None) for s in busiest), Why.MORE_CONSUMERS_THAN_SEGMENTS)


def _split_for_load(topic: _Topic) -> Decision:
    """
    When a rate exceeds its threshold, the segment that exceeds one by the largest factor is split.

    Rates are averages over a minute, so one record is enough and its age does not matter.
    [483-SPLIT-13, 483-SPLIT-14, 483-SPLIT-16, 483-READ-35]
    """
    hot = [(s, *_overload(topic, s)) for s in topic.layout.active if _hot(topic, topic.rates(s))]
    hottest = sorted(hot, key=lambda each: (-each[1], each[0].segment_id))
    return _split_first(topic, ((s, metric) for s, _, metric in hottest), Why.OVERLOADED)


def _split_first(topic: _Topic, ranked: Iterable[tuple[SegmentInfo, str | None]], why: Why) -> Decision:
    """
    The first segment that can be split, with a note of each that was passed over because it cannot.

    [483-READ-37]
    """
    passed_over: list[Suppressed] = []
    for segment, metric in ranked:
        if segment.range.width > 1 or not topic.design.split_skips_single_hashes:
            return Decision(Split(segment.segment_id), why, metric, tuple(passed_over))
        passed_over.append(Suppressed(Why.SINGLE_HASH, (segment.segment_id,)))
    return Decision(None, suppressed=tuple(passed_over))


def _merge_pass(topic: _Topic, last_merge: int | None) -> Decision:
    """
    Merges wait: for the cooldown, for the window, and for any reason not to.

    [483-MERGE-03, 483-MERGE-04, 483-MERGE-11, 483-READ-38]
    """
    neighbours = (pair for pair in pairwise(topic.layout.active) if adjacent(pair[0].range, pair[1].range))
    cold = [pair for pair in neighbours if all(_cold(topic, s) for s in pair)]
    obstacles = {_ids(pair): _obstacle(topic, last_merge, *pair) for pair in cold}
    held = tuple(Suppressed(why, ids) for ids, why in obstacles.items() if why is not None)

    ready = [pair for pair in cold if obstacles[_ids(pair)] is None]
    if not ready:
        return Decision(None, suppressed=held)
    coldest = min(ready, key=lambda pair: topic.rates(pair[0]).total + topic.rates(pair[1]).total)
    return Decision(Merge(*_ids(coldest)), Why.DURABLY_COLD, suppressed=held)


def _obstacle(topic: _Topic, last_merge: int | None, left: SegmentInfo, right: SegmentInfo) -> Why | None:
    """
    What keeps a cold pair from being merged.

    Depth comes last, so that it is blamed only for a merge that nothing else withholds.
    [483-MERGE-02, 483-CAP-02, 483-MERGE-10, 483-CAP-03, 483-READ-40, 483-READ-41, 483-READ-60]
    """
    policy, active = topic.policy, len(topic.layout.active)
    if not topic.since(last_merge, policy.merge_cooldown):
        return Why.MERGE_COOLING_DOWN
    if active <= policy.min_segments:
        return Why.AT_MIN_SEGMENTS
    if not all(_cold_for_the_window(topic, s) for s in (left, right)):
        return Why.NOT_COLD_FOR_LONG_ENOUGH
    if topic.design.merge_leaves_room_for_consumers and topic.required >= active:
        return Why.NEEDED_BY_CONSUMERS
    if topic.design.merge_weighs_the_sum and _hot(
        topic, topic.rates_at_most(left) + topic.rates_at_most(right)
    ):
        return Why.TOO_HOT_TOGETHER
    if any(_merged_too_often(topic, s) for s in (left, right)):
        return Why.TOO_MANY_MERGES
    return None


def _hot(topic: _Topic, rates: Rates) -> bool:
    """
    Some rate is above its split threshold.

    [483-SPLIT-09, 483-SPLIT-10, 483-SPLIT-11, 483-SPLIT-12]
    """
    return any(
        rate > limit for rate, limit in zip(rates.each(), topic.policy.split_above.each(), strict=True)
    )


def _overload(topic: _Topic, segment: SegmentInfo) -> tuple[float, str]:
    """
    By which factor a segment exceeds its thresholds, and in which metric (the first named, if several).

    [483-SPLIT-14]
    """
    limits = topic.policy.split_above.each()
    factors = [rate / limit for rate, limit in zip(topic.rates(segment).each(), limits, strict=True)]
    return max(factors), METRICS[factors.index(max(factors))]


def _cold(topic: _Topic, segment: SegmentInfo) -> bool:
    """
    Every rate is below its merge threshold, and still would be after a rise that is not worth a report.

    [483-MERGE-05, 483-MERGE-06, 483-MERGE-07, 483-MERGE-08, 483-MERGE-09]
    """
    limits = topic.policy.merge_below.each()
    return all(rate < limit for rate, limit in zip(topic.rates_at_most(segment).each(), limits, strict=True))


def _cold_for_the_window(topic: _Topic, segment: SegmentInfo) -> bool:
    """
    The record that reads cold has been standing for the whole window; without a record nothing is known.

    [483-MERGE-10]
    """
    sample = topic.loads.get(segment.segment_id)
    return sample is not None and unchanged_for(sample, topic.now) >= topic.policy.merge_window


def _merged_too_often(topic: _Topic, segment: SegmentInfo) -> bool:
    """
    The lineage has had its share of merges; splits are free.

    The layout forgets merges with the segments that are pruned; what a segment remembers, it does not.
    [483-CAP-03, 483-GUARD-06, 483-GUARD-07, 483-READ-43, 483-READ-44]
    """
    depth = merge_depth(topic.layout, segment.segment_id)
    if topic.design.depth_outlives_pruning:
        depth = max(depth, topic.depths.get(segment.segment_id, 0))
    return depth >= topic.policy.max_dag_depth


def _nothing(why: Why) -> Decision:
    return Decision(None, suppressed=(Suppressed(why),))


def _held_back(action: Split | Merge, why: Why, suppressed: tuple[Suppressed, ...]) -> Decision:
    """What would have been done, as one more thing that was not."""
    return Decision(None, suppressed=(*suppressed, Suppressed(why, action.segments)))


def _ids(pair: tuple[SegmentInfo, SegmentInfo]) -> tuple[int, int]:
    return pair[0].segment_id, pair[1].segment_id
