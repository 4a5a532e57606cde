"""
Scenes: what an auto-scale evaluation can be given, and the text's own pseudo-code as an oracle.

Each gate of the evaluator is closed in some scenes and open in others, so that every reason comes up.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, pairwise, product
from operator import add
from typing import Any, TypeVar

import networkx as nx
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from models.laws.values import step
from spec.autoscale import (
    Decision,
    Merge,
    Split,
    Trigger,
    Why,
    decide,
)
from spec.design import AS_WRITTEN, HARDENED, Design
from spec.layout import (
    SegmentInfo,
    SegmentLayout,
    dag,
    initial_layout,
    layout_of,
    merge_depth,
    merge_segments,
)
from spec.load import QUIET, LoadSample
from spec.policy import AutoScalePolicy, Rates
from spec.ranges import HASH_COUNT, HashRange

NOW = 100
TIMES = {Why.SPLIT_COOLING_DOWN, Why.MERGE_COOLING_DOWN, Why.NOT_COLD_FOR_LONG_ENOUGH}
FOR_SPLITS = (Why.SINGLE_HASH, Why.SPLIT_COOLING_DOWN, Why.AT_MAX_SEGMENTS)
FOR_MERGES = (
    Why.MERGE_COOLING_DOWN,
    Why.AT_MIN_SEGMENTS,
    Why.NOT_COLD_FOR_LONG_ENOUGH,
    Why.NEEDED_BY_CONSUMERS,
    Why.TOO_HOT_TOGETHER,
    Why.TOO_MANY_MERGES,
)
GATES = (*FOR_SPLITS, *FOR_MERGES)

T = TypeVar("T")


@dataclass(frozen=True)
class Scene:
    """Everything that one evaluation is given."""

    layout: SegmentLayout
    loads: Mapping[int, LoadSample]
    consumers: Mapping[str, int]
    policy: AutoScalePolicy
    now: int = NOW
    last_split: int | None = None
    last_merge: int | None = None
    trigger: Trigger = Trigger.TICK
    in_flight: bool = False
    design: Design = HARDENED

    def decision(self) -> Decision:
        """What the evaluator says."""
        return decide(
            self.layout,
            self.loads,
            self.consumers,
            self.policy,
            self.now,
            self.last_split,
            self.last_merge,
            trigger=self.trigger,
            in_flight=self.in_flight,
            design=self.design,
        )

    def setting(self, **changes: Any) -> "Scene":
        """The same under other settings."""
        return replace(self, policy=replace(self.policy, **changes))

    @property
    def active(self) -> tuple[SegmentInfo, ...]:
        return self.layout.active

    @property
    def required(self) -> int:
        return max([0, *self.consumers.values()])

    def rates(self, segment: SegmentInfo) -> Rates:
        sample = self.loads.get(segment.segment_id)
        return sample.rates if sample else QUIET

    def unreported(self, segment: SegmentInfo) -> Rates:
        """The most that a segment may carry while its record stands, if the design allows for that."""
        rates = self.rates(segment)
        quarter = Rates(*(rate / 4 for rate in rates.each()))
        return rates + quarter if self.design.merge_allows_for_silence else rates

    def hot(self, rates: Rates) -> bool:
        return any(rate > limit for rate, limit in against(rates, self.policy.split_above))

    def cold(self, rates: Rates) -> bool:
        return all(rate < limit for rate, limit in against(rates, self.policy.merge_below))


DESIGNS = (
    *[HARDENED] * 4,
    AS_WRITTEN,
    replace(HARDENED, merge_leaves_room_for_consumers=False),
    replace(HARDENED, merge_weighs_the_sum=False),
    replace(HARDENED, split_skips_single_hashes=False),
    replace(HARDENED, merge_allows_for_silence=False),
)


def against(rates: Rates, limits: Rates) -> Iterator[tuple[float, float]]:
    return zip(rates.each(), limits.each(), strict=True)


class Tape:
    """
    A row of random bytes from which choices are read, one byte each.

    Hypothesis simplifies every byte by itself, so the first option should be the simplest. With a strategy
    for each choice, most examples would be variations of the same few.
    """

    def __init__(self, row: bytes) -> None:
        self._bytes = iter(row)

    def pick(self, options: Sequence[T]) -> T:
        return options[next(self._bytes, 0) % len(options)]


rows: SearchStrategy[bytes] = st.binary(min_size=48, max_size=48)


@st.composite
def read(draw: DrawFn, make: Callable[[Tape], T]) -> T:
    """What a function makes of a tape; a failure shows the value, not the bytes."""
    return make(Tape(draw(rows)))


def cut(ids: Sequence[int], *cuts: int) -> SegmentLayout:
    """Active segments with these ids from left to right, divided at these hashes."""
    edges = pairwise([0, *cuts, HASH_COUNT])
    segments = [SegmentInfo(i, HashRange(a, b - 1)) for i, (a, b) in zip(ids, edges, strict=True)]
    return layout_of(0, len(segments), segments)


EVEN = tuple(map(initial_layout, (2, 1, 3, 4, 5)))
NARROW = (
    cut([1, 0], 1),
    cut([0, 1, 2], 1, 2),
    cut([2, 0, 1], 0x8000, 0xFFFF),
    cut([3, 1, 2, 0], 0x4000, 0x8000, 0x8001),
    cut([2, 3, 1, 0], 1, 2, 3),
)
"""With segments of one hash, and ids that do not follow their order in the hash space."""
MERGED = (
    merge_segments(initial_layout(4), 0, 1),
    merge_segments(initial_layout(5), 3, 2),
    merge_segments(merge_segments(initial_layout(5), 0, 1), 2, 3),
)
BEGINNINGS = (*EVEN, *NARROW, *MERGED)


def shape(tape: Tape, beginnings: Sequence[SegmentLayout] = BEGINNINGS) -> SegmentLayout:
    """A layout with a short history, in which merges are likely."""
    layout = tape.pick(beginnings)
    for _ in range(tape.pick([0, 1, 2, 3, 4, 5])):
        layout = step(layout, tape.pick(["split", "merge", "split", "merge", "prune"]), tape.pick(range(5)))
    return layout


THRESHOLDS = (
    (Rates(2, 2, 2, 2), Rates(4, 4, 4, 4)),
    (Rates(4, 3, 2, 1), Rates(5, 5, 5, 5)),
    (Rates(1, 2, 3, 4), Rates(2, 4, 6, 8)),
    (Rates(4, 4, 4, 4), Rates(5, 5, 5, 5)),
    (Rates(4, 4, 0, 4), Rates(8, 5, 1, 5)),
)
"""Merge and split thresholds: wide and narrow gaps, all alike and each different, and one without merges."""
LOOSE, TIGHT = THRESHOLDS[:4], THRESHOLDS[1:4:2]


def thresholds(merge: Rates, split: Rates) -> dict[str, Any]:
    """The eight fields of a policy that hold thresholds."""
    names = ("msg_rate_in", "bytes_rate_in", "msg_rate_out", "bytes_rate_out")
    return {f"merge_{name}": limit for name, limit in zip(names, merge.each(), strict=True)} | {
        f"split_{name}": limit for name, limit in zip(names, split.each(), strict=True)
    }


@cache
def records(merge: Rates, split: Rates, window: int, young: bool, mood: str) -> list[LoadSample | None]:
    """Load records with rates below, at, between and above the thresholds, all old enough unless `young`."""
    cold = Rates(*(max(0, limit - 1) for limit in merge.each()))
    nearly = Rates(*(limit * 0.8 for limit in merge.each()))
    rates = [QUIET, cold, nearly, Rates(0, 0, 0, cold.bytes_out)] * {"cold": 8, "any": 4, "hot": 1}[mood]
    rates += [with_rate(cold, i, merge.each()[i]) for i in range(4)]
    if mood != "cold":
        factors = [(1, 0), (1, 1), (2, 0)]
        rates += [
            with_rate(cold, i, split.each()[i] * factor + more) for i in range(4) for factor, more in factors
        ]
        rates += [split + split, split + split + split, split + merge]
    ages = [window, window + 3] + [window - 1, -1] * young
    return [*(LoadSample(each, NOW - age) for each, age in product(rates, ages)), *[None] * 6 * young]


def with_rate(rates: Rates, place: int, rate: float) -> Rates:
    return Rates(*(rate if i == place else other for i, other in enumerate(rates.each())))


OVER: Sequence[tuple[int, int | None]] = [(0, None), (2, None), (2, 2), (1, 1), (0, 0), (1, 5)]
RUNNING: Sequence[tuple[int, int | None]] = [(2, 1), (1, 0), (0, -1), (2, -1)]
"""A cooldown, and the time since the last action if there was one."""

Closed = frozenset[Why]
NONE: Closed = frozenset()
SOME = [frozenset(gates) for size in (1, 1, 1, 1, 1, 1, 2) for gates in combinations(GATES, size)]
MIXED = [NONE] * 90 + SOME


def scene_on(tape: Tape, designs: Sequence[Design], closed: Closed, moods: Sequence[str]) -> Scene:
    """One evaluation with these gates closed, where it depends on the input alone, and the others open."""
    implied = ["hot"] * bool(closed & {*FOR_SPLITS}) + ["cold"] * bool(closed & {*FOR_MERGES})
    mood = tape.pick(moods or implied or ["cold", "cold", "any", "hot"])
    beginnings = NARROW * (Why.SINGLE_HASH in closed) + MERGED * (Why.TOO_MANY_MERGES in closed)
    layout = shape(tape, beginnings or BEGINNINGS)
    n = len(layout.active)

    limits = LOOSE if closed & {*FOR_MERGES} else THRESHOLDS
    merge, split = tape.pick(TIGHT if Why.TOO_HOT_TOGETHER in closed else limits)
    least = tape.pick([n, n + 1] if Why.AT_MIN_SEGMENTS in closed else [1, max(1, n - 1)])
    most = max(least, tape.pick([n, n, n - 1] if Why.AT_MAX_SEGMENTS in closed else [n + 1, 64]))
    split_cooldown, split_age = tape.pick(RUNNING if Why.SPLIT_COOLING_DOWN in closed else OVER)
    merge_cooldown, merge_age = tape.pick(RUNNING if Why.MERGE_COOLING_DOWN in closed else OVER)
    window = tape.pick(range(3))
    policy = AutoScalePolicy(
        max_segments=most,
        min_segments=least,
        max_dag_depth=tape.pick([1, 1, 0] if Why.TOO_MANY_MERGES in closed else [10, 3]),
        split_cooldown=split_cooldown,
        merge_cooldown=merge_cooldown,
        merge_window=window,
        **thresholds(merge, split),
    )

    samples = records(merge, split, window, Why.NOT_COLD_FOR_LONG_ENOUGH in closed, mood)
    loads = {s.segment_id: sample for s in layout.active if (sample := tape.pick(samples)) is not None}
    relaxed = [0, 1, n - 1, *[n + 1] * (mood != "cold")]
    largest = tape.pick([n, n, n, n + 1] if Why.NEEDED_BY_CONSUMERS in closed else relaxed)
    counts = tape.pick([(largest,), (largest, largest), (0, largest, 1), (largest,) if largest > 1 else ()])
    return Scene(
        layout,
        loads,
        dict(zip("abc", counts, strict=False)),
        policy,
        last_split=None if split_age is None else NOW - split_age,
        last_merge=None if merge_age is None else NOW - merge_age,
        design=tape.pick(designs),
    )


def scenes(
    designs: Sequence[Design] = (HARDENED,), closed: Sequence[Closed] = MIXED, moods: Sequence[str] = ()
) -> SearchStrategy[Scene]:
    """Evaluations under one of these designs, with one of these sets of gates closed."""
    return read(lambda tape: scene_on(tape, designs, tape.pick(closed), moods))


def true_of(why: Why, scene: Scene, segments: list[SegmentInfo]) -> bool:
    """Whether a reason applies to segments that the evaluator might split or merge."""
    policy, now, active = scene.policy, scene.now, len(scene.active)
    samples = [scene.loads.get(s.segment_id) for s in segments]
    match why:
        case Why.SINGLE_HASH:
            return scene.design.split_skips_single_hashes and segments[0].range.width == 1
        case Why.SPLIT_COOLING_DOWN:
            return scene.last_split is not None and now < scene.last_split + policy.split_cooldown
        case Why.AT_MAX_SEGMENTS:
            return active >= policy.max_segments
        case Why.MERGE_COOLING_DOWN:
            return scene.last_merge is not None and now < scene.last_merge + policy.merge_cooldown
        case Why.AT_MIN_SEGMENTS:
            return active <= policy.min_segments
        case Why.NOT_COLD_FOR_LONG_ENOUGH:
            return any(s is None or now < s.modified_at + policy.merge_window for s in samples)
        case Why.NEEDED_BY_CONSUMERS:
            return scene.design.merge_leaves_room_for_consumers and scene.required > active - 1
        case Why.TOO_HOT_TOGETHER:
            return scene.design.merge_weighs_the_sum and scene.hot(
                reduce(add, map(scene.unreported, segments))
            )
        case Why.TOO_MANY_MERGES:
            return any(merge_depth(scene.layout, s.segment_id) >= policy.max_dag_depth for s in segments)
        case _:
            return False


def lifted(scene: Scene, why: Why) -> Scene:
    """The same without that one reason for anything."""
    match why:
        case Why.SINGLE_HASH:
            return replace(scene, design=replace(scene.design, split_skips_single_hashes=False))
        case Why.SPLIT_COOLING_DOWN:
            return replace(scene, last_split=None)
        case Why.AT_MAX_SEGMENTS:
            return scene.setting(max_segments=HASH_COUNT)
        case Why.MERGE_COOLING_DOWN:
            return replace(scene, last_merge=None)
        case Why.AT_MIN_SEGMENTS:
            return scene.setting(min_segments=1)
        case Why.NOT_COLD_FOR_LONG_ENOUGH:
            old = scene.now - scene.policy.merge_window
            loads = {s.segment_id: LoadSample(scene.rates(s), old) for s in scene.active}
            return replace(scene, loads=loads)
        case Why.NEEDED_BY_CONSUMERS:
            return replace(scene, consumers={})
        case Why.TOO_HOT_TOGETHER:
            return replace(scene, design=replace(scene.design, merge_weighs_the_sum=False))
        case _:
            return scene.setting(max_dag_depth=HASH_COUNT)


def by_the_text(scene: Scene) -> Split | Merge | None:
    """The pseudo-code of PIP-483, line by line; the repairs of a design are conditions of their own."""
    policy, design, now = scene.policy, scene.design, scene.now
    active = [s for s in scene.layout.segments if s.active]
    single = {
        s.segment_id for s in active if s.range.start == s.range.end and design.split_skips_single_hashes
    }
    of = {s.segment_id: scene.rates(s) for s in active}
    required = scene.required

    full = len(active) >= policy.max_segments
    cooling_down = scene.last_split is not None and now - scene.last_split < policy.split_cooldown
    if not full and not cooling_down and required > len(active):
        busiest = sorted((-of[i].msg_in, i) for i in of if i not in single)
        if busiest:
            return Split(busiest[0][1])
    elif not full and not cooling_down and scene.trigger is Trigger.TICK:
        scores = {
            i: max(
                Fraction(rates.msg_in) / Fraction(policy.split_msg_rate_in),
                Fraction(rates.bytes_in) / Fraction(policy.split_bytes_rate_in),
                Fraction(rates.msg_out) / Fraction(policy.split_msg_rate_out),
                Fraction(rates.bytes_out) / Fraction(policy.split_bytes_rate_out),
            )
            for i, rates in of.items()
        }
        overloaded = sorted((-score, i) for i, score in scores.items() if score > 1 and i not in single)
        if overloaded:
            return Split(overloaded[0][1])

    if scene.trigger is not Trigger.TICK:
        return None
    if scene.last_merge is not None and now - scene.last_merge < policy.merge_cooldown:
        return None
    if len(active) <= policy.min_segments:
        return None
    if design.merge_leaves_room_for_consumers and len(active) - 1 < required:
        return None

    history = dag(scene.layout)

    def cold_and_shallow(segment: SegmentInfo) -> bool:
        sample = scene.loads.get(segment.segment_id)
        past = nx.ancestors(history, segment.segment_id) | {segment.segment_id}
        rates = scene.unreported(segment)
        return (
            sample is not None
            and now - sample.modified_at >= policy.merge_window
            and rates.msg_in < policy.merge_msg_rate_in
            and rates.bytes_in < policy.merge_bytes_rate_in
            and rates.msg_out < policy.merge_msg_rate_out
            and rates.bytes_out < policy.merge_bytes_rate_out
            and sum(history.in_degree(s) >= 2 for s in past) < policy.max_dag_depth
        )

    candidates = filter(cold_and_shallow, active)
    pairs = [
        (sum(of[a.segment_id].each() + of[b.segment_id].each()), a.range.start, a.segment_id, b.segment_id)
        for one, other in combinations(candidates, 2)
        for a, b in [(one, other), (other, one)]
        if a.range.end + 1 == b.range.start
        and not (design.merge_weighs_the_sum and scene.hot(scene.unreported(a) + scene.unreported(b)))
    ]
    return Merge(*min(pairs)[2:]) if pairs else None
