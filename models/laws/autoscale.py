"""Laws of auto-scaling: the decision of the evaluator, and the load reports that it stands on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import log
from operator import add
from random import Random

import networkx as nx
from hypothesis import strategies as st

from models.laws.law import law, seen
from models.laws.scenes import (
    DESIGNS,
    FOR_MERGES,
    FOR_SPLITS,
    GATES,
    MERGED,
    NONE,
    NOW,
    SOME,
    TIMES,
    Scene,
    Tape,
    against,
    by_the_text,
    lifted,
    read,
    scenes,
    shape,
    thresholds,
    true_of,
    with_rate,
)
from models.laws.values import step
from spec.autoscale import (
    Decision,
    Merge,
    Split,
    Trigger,
    Why,
    counted,
    decide,
    dispatch,
    stream_consumers,
)
from spec.design import HARDENED, Design
from spec.layout import (
    SegmentLayout,
    dag,
    merge_depth,
    prune_segment,
)
from spec.load import CHANGE_THRESHOLD, QUIET, LoadSample, worth_writing
from spec.names import TopicName
from spec.policy import METRICS, AutoScalePolicy, Rates
from spec.ranges import HASH_COUNT, HashRange, contains, halves
from spec.refusals import Refused
from spec.sessions import Subscription, disconnect, evict_expired, register, unregister


@law(
    "483-SPLIT-04",
    "483-SPLIT-05",
    "483-SPLIT-06",
    "483-SPLIT-07",
    "483-SPLIT-08",
    "483-SPLIT-13",
    "483-SPLIT-14",
    "483-CAP-01",
    "483-CAP-02",
    "483-CAP-03",
    "483-MERGE-01",
    "483-MERGE-02",
    "483-MERGE-03",
    "483-MERGE-04",
    "483-MERGE-09",
    "483-MERGE-10",
    "483-MERGE-11",
    "483-GUARD-06",
    scene=scenes(DESIGNS),
    trigger=st.sampled_from([Trigger.TICK, Trigger.TICK, Trigger.TICK, Trigger.CONSUMER_CHANGE]),
    sometimes=(
        "a split for consumers",
        "a split for load",
        "a merge",
        "nothing",
        "one of several hot segments",
        "one of several cold pairs",
    ),
)
def the_decision_follows_the_pseudo_code(scene: Scene, trigger: Trigger) -> None:
    """The evaluator does what the pseudo-code says, for each combination of repairs."""
    scene = replace(scene, trigger=trigger)
    decision = scene.decision()
    seen("a split for consumers", decision.why is Why.MORE_CONSUMERS_THAN_SEGMENTS)
    seen("a split for load", decision.why is Why.OVERLOADED)
    seen("a merge", decision.why is Why.DURABLY_COLD)
    seen("nothing", decision.action is None)
    hot = [s for s in scene.active if scene.hot(scene.rates(s))]
    seen("one of several hot segments", decision.why is Why.OVERLOADED and len(hot) > 1)
    cold = [pair for pair in pairwise(scene.active) if all(scene.cold(scene.unreported(s)) for s in pair)]
    seen("one of several cold pairs", decision.why is Why.DURABLY_COLD and len(cold) > 1)

    assert decision.action == by_the_text(scene)


@law(
    "483-DECIDE-01",
    "483-DECIDE-04",
    "483-GOAL-07",
    "483-LOAD-09",
    scene=scenes(),
    other=scenes(),
    order=st.randoms(use_true_random=False),
    sometimes=("a record of a sealed segment", "an action"),
)
def only_the_topic_itself_decides(scene: Scene, other: Scene, order: Random) -> None:
    """The order of the inputs, records of sealed segments and evaluations of other topics change nothing."""
    decision = scene.decision()
    seen("an action", decision.action is not None)
    strangers = {s.segment_id for s in scene.layout.segments if not s.active} | {10**6}
    seen("a record of a sealed segment", len(strangers) > 1)
    records = [*scene.loads.items(), *((i, LoadSample(Rates(99, 99, 99, 99), 0)) for i in strangers)]
    counts = list(scene.consumers.items())
    order.shuffle(records)
    order.shuffle(counts)

    other.decision()

    assert replace(scene, loads=dict(records), consumers=dict(counts)).decision() == decision
    assert scene.decision() == decision


@law(
    "483-DECIDE-05",
    "483-DECIDE-06",
    "483-GOAL-04",
    "483-GOAL-06",
    "483-MERGE-03",
    scene=scenes(
        closed=[NONE, *map(frozenset, ([Why.SINGLE_HASH], [Why.AT_MAX_SEGMENTS], [Why.AT_MIN_SEGMENTS]))]
    ),
    sometimes=("a split", "a merge", "a split next to a single hash", "up to a cap", "not past a cap"),
)
def an_action_is_never_refused_and_stays_within_the_caps(scene: Scene) -> None:
    """Each action makes one segment more or one less, within the caps, and a split cuts at the midpoint."""
    decision, before = scene.decision(), len(scene.active)
    action = decision.action
    if action is None:
        seen("not past a cap", bool(decision.suppressed))
        return
    after = dispatch(scene.layout, action)
    seen("up to a cap", len(after.active) in (scene.policy.min_segments, scene.policy.max_segments))

    if isinstance(action, Split):
        seen("a split")
        seen("a split next to a single hash", any(s.range.width == 1 for s in scene.active))
        parent = scene.layout.segment(action.segment_id)
        children = [after.segment(i).range for i in after.segment(action.segment_id).child_ids]
        assert children == list(halves(parent.range))
        assert len(after.active) == before + 1 <= scene.policy.max_segments
    else:
        seen("a merge")
        left, right = (scene.layout.segment(i).range for i in action.segments)
        assert left.end + 1 == right.start
        assert len(after.active) == before - 1 >= scene.policy.min_segments


@law(
    "483-SPLIT-13",
    "483-MERGE-04",
    "483-MERGE-09",
    scene=scenes(DESIGNS, [NONE], ["cold", "hot"]),
    choice=st.integers(0, 99),
    more=st.sampled_from(
        [with_rate(QUIET, i, rate) for i in range(4) for rate in (1, 2, 9)] + [Rates(9, 9, 9, 9)]
    ),
    sometimes=("a split stays", "a split moves", "a merge stays", "a merge is gone", "a split appears"),
)
def more_load_moves_the_decision_only_towards_a_split(scene: Scene, choice: int, more: Rates) -> None:
    """When a rate rises, a split stays a split, and what was no merge does not become one."""
    if not scene.loads:
        return
    busier = sorted(scene.loads)[choice % len(scene.loads)]
    sample = scene.loads[busier]
    loads = {**scene.loads, busier: replace(sample, rates=sample.rates + more)}
    before, after = scene.decision().action, replace(scene, loads=loads).decision().action
    seen("a split stays", isinstance(before, Split) and before == after)
    seen("a split moves", isinstance(before, Split) and before != after)
    seen("a merge stays", isinstance(before, Merge) and before == after)
    seen("a merge is gone", isinstance(before, Merge) and not isinstance(after, Merge))
    seen("a split appears", isinstance(after, Split) and not isinstance(before, Split))

    if isinstance(before, Split):
        assert isinstance(after, Split)
    if isinstance(after, Merge):
        assert isinstance(before, Merge)


@law(
    "483-SPLIT-04",
    "483-MERGE-02",
    "483-MERGE-10",
    "483-LOAD-08",
    scene=scenes(DESIGNS, SOME),
    later=st.integers(0, 3),
    sometimes=("a gate opens", "nothing stays nothing", "a split stays"),
)
def waiting_only_opens_the_gates_of_time(scene: Scene, later: int) -> None:
    """Asked again later with all else equal, only what a cooldown or the window held back may happen."""
    first, second = scene.decision(), replace(scene, now=scene.now + later).decision()
    waiting = {s.segments: s.why for s in first.suppressed if s.why in TIMES}
    seen("a gate opens", first.action is None and second.action is not None)
    seen("nothing stays nothing", first.action is None and not waiting and later > 0)
    seen("a split stays", isinstance(first.action, Split) and later > 0)

    if second.action != first.action:
        assert second.action is not None
        assert second.action.segments in waiting
    if isinstance(first.action, Split) or not waiting:
        assert second == first
    assert all(s.segments in waiting for s in second.suppressed if s.why in TIMES)


@law(
    "483-SPLIT-16",
    scene=scenes(DESIGNS),
    shift=st.integers(-200, 10**13),
    ages=st.randoms(use_true_random=False),
    sometimes=("a split for load", "a merge"),
)
def only_differences_of_times_count(scene: Scene, shift: int, ages: Random) -> None:
    """Moving every time by the same amount changes nothing; the age of a record means nothing to a split."""
    decision = scene.decision()
    seen("a split for load", decision.why is Why.OVERLOADED)
    seen("a merge", decision.why is Why.DURABLY_COLD)

    def moved(time: int | None) -> int | None:
        return None if time is None else time + shift

    loads = {i: replace(sample, modified_at=sample.modified_at + shift) for i, sample in scene.loads.items()}
    elsewhen = replace(scene, loads=loads, now=scene.now + shift)
    elsewhen = replace(elsewhen, last_split=moved(scene.last_split), last_merge=moved(scene.last_merge))
    assert elsewhen.decision() == decision

    aged = {i: replace(sample, modified_at=ages.randint(0, 2 * NOW)) for i, sample in scene.loads.items()}
    if isinstance(decision.action, Split):
        assert replace(scene, loads=aged).decision() == decision


@law(
    "483-SPLIT-09",
    "483-SPLIT-10",
    "483-SPLIT-11",
    "483-SPLIT-12",
    "483-MERGE-05",
    "483-MERGE-06",
    "483-MERGE-07",
    "483-MERGE-08",
    "483-DECIDE-03",
    scene=scenes(DESIGNS),
    order=st.permutations(range(4)),
    factor=st.sampled_from([1, 2, 1024, 0.5]),
    sometimes=("a split for load", "a merge"),
)
def the_four_rates_count_alike(scene: Scene, order: list[int], factor: float) -> None:
    """Rates that change places or units together with their thresholds lead to the same action."""

    def converted(rates: Rates) -> Rates:
        return Rates(*(rates.each()[i] * factor for i in order))

    scene = replace(scene, consumers={})
    merge, split = converted(scene.policy.merge_below), converted(scene.policy.split_above)
    other = scene.setting(**thresholds(merge, split))
    loads = {i: replace(sample, rates=converted(sample.rates)) for i, sample in scene.loads.items()}
    before, after = scene.decision(), replace(other, loads=loads).decision()
    seen("a split for load", before.why is Why.OVERLOADED)
    seen("a merge", before.why is Why.DURABLY_COLD)

    assert replace(after, metric=before.metric) == before


@law(
    "483-SPLIT-14",
    scene=scenes(closed=[NONE], moods=["hot"]),
    sometimes=("msgRateIn", "bytesRateIn", "msgRateOut", "bytesRateOut", "a tie between metrics"),
)
def a_split_for_load_names_the_metric_that_caused_it(scene: Scene) -> None:
    """The named rate is over its threshold, by the largest factor, and is the first such rate."""
    decision = scene.decision()
    assert (decision.metric is None) == (decision.why is not Why.OVERLOADED)
    if decision.metric is None or not isinstance(decision.action, Split):
        return
    seen(decision.metric)

    rates = scene.rates(scene.layout.segment(decision.action.segment_id))
    factors = [Fraction(rate) / Fraction(limit) for rate, limit in against(rates, scene.policy.split_above)]
    place = METRICS.index(decision.metric)
    seen("a tie between metrics", factors.count(factors[place]) > 1)
    assert factors[place] > 1
    assert all(factor < factors[place] for factor in factors[:place])
    assert all(factor <= factors[place] for factor in factors[place:])


@law(
    "483-CAP-01",
    "483-CAP-02",
    "483-CAP-03",
    "483-SPLIT-04",
    "483-MERGE-02",
    "483-MERGE-10",
    scene=scenes(DESIGNS, [NONE, *SOME]),
    sometimes=tuple(why.name for why in GATES),
)
def whatever_is_held_back_is_reported_with_a_true_reason(scene: Scene) -> None:
    """A wanted split or a cold pair happens, loses to a better one, or is named with what is in its way."""
    decision = scene.decision()
    reported = {s.segments: s.why for s in decision.suppressed}
    assert len(reported) == len(decision.suppressed)
    for segments, why in reported.items():
        seen(why.name)
        assert true_of(why, scene, [scene.layout.segment(i) for i in segments])

    pressed = scene.required > len(scene.active)
    wanted = [s for s in scene.active if pressed or scene.hot(scene.rates(s))]
    if isinstance(decision.action, Split):
        assert scene.layout.segment(decision.action.segment_id) in wanted
        assert set(reported.values()) <= {Why.SINGLE_HASH}
        return
    assert all((s.segment_id,) in reported for s in wanted) or {
        Why.SPLIT_COOLING_DOWN,
        Why.AT_MAX_SEGMENTS,
    } & set(reported.values())

    for left, right in pairwise(scene.active):
        ids = (left.segment_id, right.segment_id)
        if not all(scene.cold(scene.unreported(s)) for s in (left, right)):
            assert ids not in reported
        elif ids not in reported:
            assert isinstance(decision.action, Merge)
            assert not any(true_of(why, scene, [left, right]) for why in FOR_MERGES)


@law(
    scene=scenes(closed=SOME),
    sometimes=tuple(why.name for why in GATES),
)
def taking_a_reason_away_leads_to_the_action_or_to_a_later_reason(scene: Scene) -> None:
    """Lifted, a reason is gone, and what it held back meets at most the reasons that come after it."""
    order = list(Why)
    for held in scene.decision().suppressed:
        seen(held.why.name)
        second = lifted(scene, held.why).decision()

        for again in second.suppressed:
            assert again.why is not held.why
            if again.segments == held.segments:
                assert order.index(again.why) > order.index(held.why)


@law(
    "483-METRIC-04",
    "483-METRIC-05",
    scene=scenes(
        closed=[c for why in (Why.AT_MAX_SEGMENTS, *[Why.TOO_MANY_MERGES] * 3) for c in SOME if why in c]
    ),
    sometimes=("a split is counted", "a merge is counted", "a cap is not to blame", "another pair is merged"),
)
def a_suppression_counts_when_the_cap_alone_withholds_the_action(scene: Scene) -> None:
    """Each counter rises exactly when, but for its cap, there would have been a split, or a merge."""
    decision = scene.decision()
    without_max = scene.setting(max_segments=HASH_COUNT).decision()
    without_depth = scene.setting(max_dag_depth=HASH_COUNT).decision()
    split = isinstance(without_max.action, Split) and not isinstance(decision.action, Split)
    merge = isinstance(without_depth.action, Merge) and not isinstance(decision.action, Merge)
    seen("a split is counted", split)
    seen("a merge is counted", merge)
    seen("a cap is not to blame", not split and len(scene.active) >= scene.policy.max_segments)
    too_deep = any(s.why is Why.TOO_MANY_MERGES for s in decision.suppressed)
    seen("another pair is merged", too_deep and isinstance(decision.action, Merge))

    counters = counted(decision)
    assert ("pulsar_scalable_topic_split_suppressed_max_segments_total" in counters) == split
    assert ("pulsar_scalable_topic_merge_suppressed_max_depth_total" in counters) == merge
    assert len(counters) == split + merge


@law(
    "483-GUARD-04",
    scene=scenes(DESIGNS, [frozenset({Why.TOO_MANY_MERGES})], ["hot"]),
    depth=st.integers(0, 20),
    sometimes=("a split at the cap",),
)
def depth_never_prevents_a_split(scene: Scene, depth: int) -> None:
    """A split is decided, or not, whatever maxDagDepth is."""
    one, other = scene.decision(), scene.setting(max_dag_depth=depth).decision()
    if isinstance(one.action, Split):
        deepest = merge_depth(scene.layout, one.action.segment_id)
        seen("a split at the cap", deepest >= min(depth, scene.policy.max_dag_depth))

    if isinstance(one.action, Split) or isinstance(other.action, Split):
        assert one == other


@law(
    "483-GUARD-06",
    "483-GUARD-07",
    layout=read(lambda tape: shape(tape, MERGED)),
    kind=st.sampled_from(["split", "merge", "prune"]),
    choice=st.integers(0, 99),
    sometimes=("a split below a merge", "a merge of merged segments", "a merge is forgotten"),
)
def only_merges_add_to_the_depth(layout: SegmentLayout, kind: str, choice: int) -> None:
    """A half is as deep as the whole; a merged segment is one deeper than its parents' pasts together."""
    after = step(layout, kind, choice)
    if after is layout:
        return
    history = dag(layout)

    def merges(*ids: int) -> int:
        past = set(ids).union(*(nx.ancestors(history, i) for i in ids))
        return sum(history.in_degree(i) >= 2 for i in past)

    if kind == "prune":
        shallower = any(merge_depth(after, s.segment_id) < merges(s.segment_id) for s in after.active)
        seen("a merge is forgotten", shallower)
        return
    for child in after.segments[len(layout.segments) :]:
        parents = child.parent_ids
        seen("a split below a merge", kind == "split" and merges(*parents) > 0)
        seen("a merge of merged segments", kind == "merge" and merges(*parents) > 1)
        assert merge_depth(after, child.segment_id) == merges(*parents) + (kind == "merge")


@law(
    "483-GUARD-01",
    scene=scenes(DESIGNS),
    sometimes=("between", "a split for load", "a merge"),
)
def between_the_thresholds_a_segment_is_left_alone(scene: Scene) -> None:
    """What is neither above a split threshold nor below every merge threshold is not touched for its load."""
    decision = scene.decision()
    seen("a split for load", decision.why is Why.OVERLOADED)
    seen("a merge", decision.why is Why.DURABLY_COLD)
    touched = decision.action.segments if decision.action else ()
    for segment in scene.active:
        rates = scene.rates(segment)
        assert not (scene.hot(rates) and scene.cold(rates))
        if not scene.hot(rates) and not scene.cold(rates):
            seen("between")
            assert segment.segment_id not in touched or decision.why is Why.MORE_CONSUMERS_THAN_SEGMENTS


@law(
    "483-GUARD-02",
    scene=scenes(closed=[NONE], moods=["cold"]),
    later=st.integers(0, 9),
    sometimes=("a merge of busy segments", "a merge of quiet segments"),
)
def a_segment_just_merged_does_not_qualify_for_a_split(scene: Scene, later: int) -> None:
    """With the load of both its parents and all else as it was, the merged segment is not to be split."""
    action = scene.decision().action
    if not isinstance(action, Merge):
        return
    both = reduce(add, (scene.loads[i].rates for i in action.segments))
    after = dispatch(scene.layout, action)
    heir = after.next_segment_id - 1
    seen("a merge of busy segments", not scene.cold(both))
    seen("a merge of quiet segments", scene.cold(both))

    loads = {**scene.loads, heir: LoadSample(both, scene.now)}
    second = replace(scene, layout=after, loads=loads, now=scene.now + later, last_split=None).decision()
    assert second.why is not Why.MORE_CONSUMERS_THAN_SEGMENTS
    assert second.action != Split(heir)


@law(
    "483-SPLIT-05",
    scene=scenes(DESIGNS),
    sometimes=("several subscriptions", "no subscription", "the sum alone would split"),
)
def only_the_largest_subscription_counts(scene: Scene) -> None:
    """All subscriptions together weigh as much as the one with the most consumers; none weighs nothing."""
    counts = scene.consumers.values()
    seen("several subscriptions", len(counts) > 1)
    seen("no subscription", not counts)
    seen("the sum alone would split", sum(counts) > len(scene.active) >= scene.required)

    assert scene.decision() == replace(scene, consumers={"only": scene.required}).decision()


@law(
    "483-TRIGGER-07",
    "483-TRIGGER-10",
    scene=scenes(DESIGNS),
    sometimes=(
        "a split for consumers",
        "a load-driven split waits for the tick",
        "a merge waits for the tick",
    ),
)
def a_consumer_that_comes_or_goes_causes_only_a_split_for_consumers(scene: Scene) -> None:
    """The event path splits for consumers as the tick does, and does nothing else."""
    tick = scene.decision()
    event = replace(scene, trigger=Trigger.CONSUMER_CHANGE).decision()
    seen("a split for consumers", event.action is not None)
    seen("a load-driven split waits for the tick", tick.why is Why.OVERLOADED)
    seen("a merge waits for the tick", tick.why is Why.DURABLY_COLD)

    if tick.why is Why.MORE_CONSUMERS_THAN_SEGMENTS:
        assert event == tick
    else:
        assert event.action is None
        assert {s.why for s in event.suppressed} <= set(FOR_SPLITS)
        assert not event.suppressed or scene.required > len(scene.active)


@law(
    "483-CONFIG-02",
    "483-POLICY-06",
    "483-SAFETY-03",
    "483-SPLIT-01",
    scene=scenes(DESIGNS),
    broken=st.sampled_from([{"min_segments": 0}, {"merge_window": -1}, {"split_msg_rate_in": 0}]),
    sometimes=("it would act",),
)
def switched_off_invalid_or_in_flight_it_does_nothing(scene: Scene, broken: dict[str, int]) -> None:
    """A disabled or invalid policy, or an operation under way, leaves one answer: nothing, and why."""
    seen("it would act", scene.decision().action is not None)

    for other, why in (
        (scene.setting(enabled=False), Why.DISABLED),
        (scene.setting(enabled=False, **broken), Why.DISABLED),
        (scene.setting(**broken), Why.POLICY_INVALID),
        (replace(scene, in_flight=True), Why.IN_FLIGHT),
    ):
        decision = other.decision()
        assert decision == Decision(None, suppressed=decision.suppressed)
        assert [(s.why, s.segments) for s in decision.suppressed] == [(why, ())]


@law(
    "483-LOAD-10",
    "483-DECIDE-02",
    events=st.lists(
        st.tuples(
            st.sampled_from(["join", "join", "drop", "drop", "leave", "evict"]), st.sampled_from("abc")
        ),
        max_size=20,
    ),
    sometimes=("a disconnected consumer counts", "an evicted one does not"),
)
def every_session_counts_as_a_consumer(events: list[tuple[str, str]]) -> None:
    """A consumer counts from its registration until it leaves or is evicted, connected or not."""
    subscription = Subscription(TopicName("t", "n", "x"), 0, ())
    members: set[str] = set()
    gone: set[str] = set()
    for kind, name in events:
        if kind == "join":
            subscription = register(subscription, name, connection=1)
            members, gone = members | {name}, gone - {name}
        elif kind == "drop" and name in members:
            subscription = disconnect(subscription, name, connection=1, now=0)
            gone |= {name}
        elif kind == "leave" and name in members:
            subscription = unregister(subscription, name)
            members, gone = members - {name}, gone - {name}
        elif kind == "evict":
            seen("an evicted one does not", bool(gone))
            subscription = evict_expired(subscription, grace=5, now=5)
            members, gone = members - gone, set()
        seen("a disconnected consumer counts", bool(gone))
        assert stream_consumers({"s": subscription}) == {"s": len(members)}


Weights = tuple[tuple[int, Rates], ...]
"""A load that stays as it is: how much of each rate falls on which hash."""


@dataclass(frozen=True)
class Round:
    """One evaluation of a topic under constant load, and the layout that it leads to."""

    decision: Decision
    layout: SegmentLayout
    refused: Refused | None = None


def load_of(weights: Weights, whole: HashRange) -> Rates:
    """What a segment of that range has to carry."""
    return sum((rates for hash, rates in weights if contains(whole, hash)), start=QUIET)


def play(
    layout: SegmentLayout,
    weights: Weights,
    required: int,
    policy: AutoScalePolicy,
    design: Design,
    prune: bool = False,
) -> Iterator[Round]:
    """
    Evaluate a topic under constant load again and again, each time long after the last.

    Every record is as old as the merge window and no cooldown ever holds, so that what is held back is held
    back for good. With `prune`, sealed segments are forgotten at once, and their merges with them.
    """
    pause = max(policy.split_cooldown, policy.merge_cooldown, policy.merge_window)
    now, last_split, last_merge = NOW, None, None
    while True:
        now += pause
        loads = {
            s.segment_id: LoadSample(load_of(weights, s.range), now - policy.merge_window)
            for s in layout.active
        }
        decision = decide(layout, loads, {"s": required}, policy, now, last_split, last_merge, design=design)
        try:
            layout = dispatch(layout, decision.action) if decision.action else layout
        except Refused as refused:
            yield Round(decision, layout, refused)
            continue
        last_split = now if isinstance(decision.action, Split) else last_split
        last_merge = now if isinstance(decision.action, Merge) else last_merge
        for sealed in [s.segment_id for s in layout.segments if not s.active and prune]:
            layout = prune_segment(layout, sealed)
        yield Round(decision, layout)


def splits_for_load(policy: AutoScalePolicy, weights: Weights, whole: HashRange) -> int:
    """How often a range and its halves can be split, until none that can be split is overloaded."""
    calm = all(rate <= limit for rate, limit in against(load_of(weights, whole), policy.split_above))
    if calm or whole.width == 1:
        return 0
    return 1 + sum(splits_for_load(policy, weights, half) for half in halves(whole))


def constant_load(tape: Tape) -> Weights:
    """A few heavy hashes, and a few ranges over which the load is spread."""

    def amount() -> Rates:
        return Rates(*(tape.pick([0, 1, 2, 0, 3, 0, 5]) for _ in range(4)))

    places = (0, 1, 2, 0x7FFF, 0x8000, 0xFFFF)
    points = [(tape.pick(places), amount()) for _ in range(tape.pick(range(4)))]
    for _ in range(tape.pick(range(3))):
        start, width, each = tape.pick(places), tape.pick([16, 0x1000, 0x8000]), amount()
        points += [((start + i * width // 5) % HASH_COUNT, each) for i in range(5)]
    return tuple(points)


def any_policy(tape: Tape) -> AutoScalePolicy:
    """A valid policy of whatever thresholds, caps and pauses; often two cold segments are hot together."""
    lows, gaps = tape.pick([([6, 7], [1]), ([2, 1, 3, 4, 5, 0], [1, 2, 3, 20])])
    merge, gap = (Rates(*(tape.pick(options) for _ in range(4))) for options in (lows, gaps))
    least = tape.pick([1, 1, 2, 4])
    return AutoScalePolicy(
        min_segments=least,
        max_segments=least + tape.pick([9, 4, 2, 1, 0]),
        max_dag_depth=tape.pick([10, 2, 1, 0]),
        split_cooldown=tape.pick(range(4)),
        merge_cooldown=tape.pick(range(4)),
        merge_window=tape.pick(range(4)),
        **thresholds(merge, merge + gap),
    )


@law(
    "483-GUARD-02",
    "483-SAFETY-02",
    "483-GOAL-04",
    layout=read(shape),
    weights=read(constant_load),
    required=st.integers(0, 8),
    policy=read(any_policy),
    prune=st.booleans(),
    sometimes=("a split for consumers", "a split for load", "a merge after a split", "a split after a merge"),
)
def under_constant_load_the_topic_comes_to_rest(
    layout: SegmentLayout,
    weights: Weights,
    required: int,
    policy: AutoScalePolicy,
    prune: bool,
) -> None:
    """Splits and merges end within a known number of rounds, and no split undoes a merge."""
    initial = len(layout.active)
    splits = max(0, required - initial) + sum(
        splits_for_load(policy, weights, s.range) for s in layout.active
    )
    merges = initial + splits - 1
    merged: set[HashRange] = set()
    reasons: list[Why | None] = []

    for turn in play(layout, weights, required, policy, HARDENED, prune):
        before, layout = layout, turn.layout
        action = turn.decision.action
        if action is None:
            break
        assert turn.refused is None
        seen("a split after a merge", Why.DURABLY_COLD in reasons and isinstance(action, Split))
        seen("a merge after a split", {*reasons} - {Why.DURABLY_COLD} != set() and isinstance(action, Merge))
        reasons.append(turn.decision.why)
        assert reasons.count(Why.DURABLY_COLD) <= merges
        assert len(reasons) - reasons.count(Why.DURABLY_COLD) <= splits
        touched = [before.segment(i).range for i in action.segments]
        if isinstance(action, Merge):
            merged.add(HashRange(touched[0].start, touched[1].end))
        else:
            assert not any(
                whole.start <= touched[0].start and touched[0].end <= whole.end for whole in merged
            )
    seen("a split for consumers", Why.MORE_CONSUMERS_THAN_SEGMENTS in reasons)
    seen("a split for load", Why.OVERLOADED in reasons)


def two_samples(tape: Tape) -> tuple[Rates | None, Rates]:
    """What was written last, if anything, and a new sample, often just as far apart as the threshold."""
    written, now = (Rates(*(tape.pick([4, 0, 4, 3, 4, 5, 4, 8]) for _ in range(4))) for _ in range(2))
    return (written if tape.pick(range(6)) else None), now


def reports(samples: Iterable[Rates], threshold: float = CHANGE_THRESHOLD) -> list[Rates]:
    """What a reporter writes of the samples that it takes."""
    written: list[Rates] = []
    for sample in samples:
        if worth_writing(written[-1] if written else None, sample, threshold):
            written.append(sample)
    return written


@law(
    "483-REPORT-03",
    "483-REPORT-04",
    samples=read(two_samples),
    percent=st.sampled_from([25, 25, 50, 100]),
    sometimes=(
        "exactly the threshold",
        "a rise",
        "a fall",
        "from zero",
        "to zero",
        "silence",
        "a first report",
    ),
)
def a_sample_is_written_when_a_rate_leaves_its_band(
    samples: tuple[Rates | None, Rates], percent: int
) -> None:
    """Beyond the band around the written value, whichever way and in whichever rate, and not at its edge."""
    written, now = samples
    worth = worth_writing(written, now, percent / 100)
    seen("a first report", written is None)
    if written is None:
        assert worth
        return
    pairs = list(against(written, now))
    rises = [new > 0 if old == 0 else 100 * new > (100 + percent) * old for old, new in pairs]
    falls = [100 * new < (100 - percent) * old for old, new in pairs]
    edges = [old > 0 and 100 * abs(new - old) == percent * old for old, new in pairs]
    seen("exactly the threshold", any(edges) and not any(rises) and not any(falls))
    seen("a rise", any(rises) and not any(falls))
    seen("a fall", any(falls) and not any(rises))
    seen("from zero", any(old == 0 < new for old, new in pairs))
    seen("to zero", any(old > 0 == new for old, new in pairs))
    seen("silence", not worth)

    assert worth == (any(rises) or any(falls))


@law(
    "483-REPORT-05",
    "483-REPORT-06",
    base=st.just(QUIET) | st.builds(Rates, *[st.integers(0, 10**9)] * 4),
    wobbles=st.lists(st.tuples(*[st.integers(-10, 10)] * 4), min_size=1, max_size=9),
    sometimes=("a wobble", "a quiet segment"),
)
def a_steady_segment_is_written_once(base: Rates, wobbles: list[tuple[int, ...]]) -> None:
    """As long as every rate stays within a tenth of some value, only the first sample is written."""
    samples = [
        Rates(*(rate * (100 + percent) / 100 for rate, percent in zip(base.each(), wobble, strict=True)))
        for wobble in wobbles
    ]
    seen("a wobble", len(set(samples)) > 1)
    seen("a quiet segment", base == QUIET)

    assert reports(samples) == samples[:1]


@law(
    "483-REPORT-03",
    "483-REPORT-07",
    start=st.integers(1, 10**6),
    growth=st.lists(st.integers(100, 125), min_size=1, max_size=40),
    falling=st.booleans(),
    sometimes=("a slow drift is noticed", "a drift within the band", "several writes"),
)
def a_drift_is_written_once_per_band(start: int, growth: list[int], falling: bool) -> None:
    """However slowly a rate drifts, the record keeps up, at the cost of one write for each band crossed."""
    rates = [float(start)]
    for percent in growth:
        rates.append(rates[-1] * percent / 100)
    rates = rates[::-1] if falling else rates
    written = reports(Rates(rate, 0, 0, 0) for rate in rates)
    beyond = max(rates) > min(rates) * 1.34
    seen("a slow drift is noticed", beyond)
    seen("a drift within the band", len(written) == 1)
    seen("several writes", len(written) > 2)

    assert len(written) <= 1 + log(max(rates) / min(rates), 1.25 if not falling else 4 / 3) + 1e-9
    assert len(written) > 1 or not beyond
    assert abs(rates[-1] - written[-1].msg_in) <= CHANGE_THRESHOLD * written[-1].msg_in
