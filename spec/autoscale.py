"""
The split/merge decision as a pure function of what the controller leader knows.

Two passes, split before merge, at most one action. Ties go to the lowest segment id for a split and to the
leftmost pair for a merge, so that two leaders with the same view decide the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from operator import add

from spec.design import HARDENED, Design
from spec.layout import SegmentInfo, SegmentLayout, merge_depth
from spec.load import QUIET, LoadSample, unchanged_for
from spec.policy import METRICS, AutoScalePolicy, Rates, violations

NEVER: int | None = None
"""The time of the last split or merge, when there was none."""


class Trigger(Enum):
    """Why the evaluator runs."""

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
    AT_MAX_SEGMENTS = "there are as many segments as allowed"
    SPLIT_COOLING_DOWN = "the last split was too short a time ago"
    SINGLE_HASH = "the segment covers a single hash"
    AT_MIN_SEGMENTS = "there are as few segments as allowed"
    MERGE_COOLING_DOWN = "the last merge was too short a time ago"
    NOT_COLD_FOR_LONG_ENOUGH = "the load record is younger than the merge window, or missing"
    TOO_MANY_MERGES = "the lineage has seen as many merges as allowed"
    NEEDED_BY_CONSUMERS = "a subscription has as many consumers as there are segments"
    TOO_HOT_TOGETHER = "together the two segments exceed a split threshold"


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
    """What to do (`None` for nothing), why, by which metric, and everything that was held back on the way."""

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
    design: Design = HARDENED,
) -> Decision:
    """
    Split one segment, merge one adjacent pair, or leave the topic as it is.

    `consumers` counts the consumers of each STREAM subscription; queue consumers share segments and do not
    count.
    """
    if not policy.enabled:
        return _nothing(Why.DISABLED)
    if any(violations(policy)):
        return _nothing(Why.POLICY_INVALID)
    if in_flight:
        return _nothing(Why.IN_FLIGHT)

    required = max(consumers.values(), default=0)
    topic = _Topic(layout, loads, required, policy, now, design)
    split = _split_pass(topic, last_split, trigger)
    if split.action is not None or trigger is Trigger.CONSUMER_CHANGE:
        return split
    merge = _merge_pass(topic, last_merge)
    return replace(merge, suppressed=split.suppressed + merge.suppressed)


@dataclass(frozen=True, slots=True)
class _Topic:
    """Everything that both passes look at."""

    layout: SegmentLayout
    loads: Mapping[int, LoadSample]
    required: int
    policy: AutoScalePolicy
    now: int
    design: Design

    def rates(self, segment: SegmentInfo) -> Rates:
        """A segment that nobody has reported on yet counts as quiet."""
        sample = self.loads.get(segment.segment_id)
        return QUIET if sample is None else sample.rates

    def since(self, then: int | None, pause: int) -> bool:
        """Whether the pause after an event is over; at its very end, it is."""
        return then is None or self.now - then >= pause


def _split_pass(topic: _Topic, last_split: int | None, trigger: Trigger) -> Decision:
    """Splits fire as soon as they are wanted, unless the cap is reached or the last one was just now."""
    wanted = _split_for_consumers(topic)
    if wanted is None and trigger is Trigger.TICK:
        wanted = _split_for_load(topic)
    if wanted is None or wanted.action is None:
        return wanted or Decision(None)

    if len(topic.layout.active) >= topic.policy.max_segments:
        return _held_back(wanted, Why.AT_MAX_SEGMENTS)
    if not topic.since(last_split, topic.policy.split_cooldown):
        return _held_back(wanted, Why.SPLIT_COOLING_DOWN)
    return wanted


def _split_for_consumers(topic: _Topic) -> Decision | None:
    """When a subscription has more consumers than there are segments, the busiest segment is split."""
    if topic.required <= len(topic.layout.active):
        return None

    eligible, narrow = _splittable(topic, topic.layout.active)
    if not eligible:
        return Decision(None, suppressed=narrow)
    busiest = max(eligible, key=lambda s: (topic.rates(s).msg_in, -s.segment_id))
    return Decision(Split(busiest.segment_id), Why.MORE_CONSUMERS_THAN_SEGMENTS, suppressed=narrow)


def _split_for_load(topic: _Topic) -> Decision | None:
    """When a rate exceeds its threshold, the segment that exceeds one by the largest factor is split."""
    overload = {s.segment_id: _overload(topic, s) for s in topic.layout.active}
    eligible, narrow = _splittable(topic, [s for s in topic.layout.active if overload[s.segment_id][0] > 1])
    if not eligible:
        return Decision(None, suppressed=narrow) if narrow else None

    hottest = max(eligible, key=lambda s: (overload[s.segment_id][0], -s.segment_id)).segment_id
    return Decision(Split(hottest), Why.OVERLOADED, overload[hottest][1], narrow)


def _merge_pass(topic: _Topic, last_merge: int | None) -> Decision:
    """Merges wait: for the window, for the cooldown, and for any reason not to."""
    cold = [pair for pair in pairwise(topic.layout.active) if all(_cold(topic, s) for s in pair)]
    obstacles = {pair: _obstacle(topic, *pair) for pair in cold}
    held = tuple(Suppressed(why, _ids(pair)) for pair, why in obstacles.items() if why is not None)
    ready = [pair for pair in cold if obstacles[pair] is None]
    if not ready:
        return Decision(None, suppressed=held)

    coldest = _ids(min(ready, key=lambda pair: sum(topic.rates(s).total for s in pair)))
    wanted = Decision(Merge(*coldest), Why.DURABLY_COLD, suppressed=held)
    if len(topic.layout.active) <= topic.policy.min_segments:
        return _held_back(wanted, Why.AT_MIN_SEGMENTS)
    if not topic.since(last_merge, topic.policy.merge_cooldown):
        return _held_back(wanted, Why.MERGE_COOLING_DOWN)
    return wanted


def _obstacle(topic: _Topic, left: SegmentInfo, right: SegmentInfo) -> Why | None:
    """What keeps a cold pair from being merged."""
    policy = topic.policy
    if not all(_cold_for_the_window(topic, s) for s in (left, right)):
        return Why.NOT_COLD_FOR_LONG_ENOUGH
    if any(merge_depth(topic.layout, s.segment_id) >= policy.max_dag_depth for s in (left, right)):
        return Why.TOO_MANY_MERGES
    if topic.design.merge_leaves_room_for_consumers and topic.required >= len(topic.layout.active):
        return Why.NEEDED_BY_CONSUMERS
    if topic.design.merge_weighs_the_sum and _too_hot_together(topic, left, right):
        return Why.TOO_HOT_TOGETHER
    return None


def _splittable(
    topic: _Topic, wanted: Iterable[SegmentInfo]
) -> tuple[list[SegmentInfo], tuple[Suppressed, ...]]:
    """The wanted segments that can be split, and a note for each that cannot."""
    if not topic.design.split_skips_single_hashes:
        return list(wanted), ()
    eligible = [s for s in wanted if s.range.width > 1]
    return eligible, tuple(Suppressed(Why.SINGLE_HASH, (s.segment_id,)) for s in wanted if s.range.width == 1)


def _overload(topic: _Topic, segment: SegmentInfo) -> tuple[float, str]:
    """By which factor a segment exceeds its thresholds, and in which metric (the first named, if several)."""
    thresholds = topic.policy.split_above.each()
    factors = [rate / limit for rate, limit in zip(topic.rates(segment).each(), thresholds, strict=True)]
    return max(factors), METRICS[factors.index(max(factors))]


def _cold(topic: _Topic, segment: SegmentInfo) -> bool:
    """Every rate is below its merge threshold."""
    limits = topic.policy.merge_below.each()
    return all(rate < limit for rate, limit in zip(topic.rates(segment).each(), limits, strict=True))


def _cold_for_the_window(topic: _Topic, segment: SegmentInfo) -> bool:
    """
    The record that reads cold has been standing for the whole window; without a record nothing is known.
    """
    sample = topic.loads.get(segment.segment_id)
    return sample is not None and unchanged_for(sample, topic.now) >= topic.policy.merge_window


def _too_hot_together(topic: _Topic, left: SegmentInfo, right: SegmentInfo) -> bool:
    """The merged segment would qualify for a split."""
    sums = map(add, topic.rates(left).each(), topic.rates(right).each())
    return any(both > limit for both, limit in zip(sums, topic.policy.split_above.each(), strict=True))


def _nothing(why: Why) -> Decision:
    return Decision(None, suppressed=(Suppressed(why),))


def _held_back(wanted: Decision, why: Why) -> Decision:
    """What would have been done, as one more thing that was not."""
    segments = wanted.action.segments if wanted.action else ()
    return Decision(None, suppressed=(*wanted.suppressed, Suppressed(why, segments)))


def _ids(pair: tuple[SegmentInfo, SegmentInfo]) -> tuple[int, int]:
    return pair[0].segment_id, pair[1].segment_id
