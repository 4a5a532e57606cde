"""
What can happen to a topic that scales itself: time passes, consumers come and go, operators split, merge, opt
out, delete it and create it again, drained segments are pruned, or everything stays as it is for ever.
"""

from collections.abc import Iterator
from dataclasses import replace

from spec.autoscale import Merge, Split, Trigger
from spec.layout import SegmentInfo, ancestors, initial_layout, layout_of
from spec.machine import (
    STRONG,
    WEAK,
    Bound,
    Memory,
    Variable,
    action,
    always,
    choose,
    leads_to,
    require,
    start,
    step,
)
from spec.policy import AutoScaleOverride
from spec.protocols.election import Led, admitted, in_office, leading
from spec.protocols.load_reports import (
    active_segments,
    delete_load,
    everything_is_reported,
    segments_have_hosts,
    true_rates,
)
from spec.protocols.retention import Retention
from spec.protocols.scaling import (
    Scaling,
    carry_out,
    decision,
    evaluate,
    growth,
    policy_of,
    required,
    retire,
    within_cooldown,
)
from spec.protocols.topic import BROKERS, SEGMENTS, Record
from spec.ranges import LAST_HASH, HashRange
from spec.refusals import Refused
from spec.sessions import Subscription, register, unregister

# Leaders and time


class Clock(Scaling):
    """Time passes, one unit at a time."""


@action("483-SPLIT-03", fair=STRONG)
def pass_time(w: Clock) -> None:
    """
    Everything gets older by one; owners sample more often than that, so that none has a report overdue.

    What is older than anybody asks for stays as it is.
    """
    require(w.record is not None)
    require(everything_is_reported(w))

    for segment in active_segments(w):
        load = w.load[segment.segment_id]
        if load is not None:
            then = max(load.modified_at - 1, -w.merge_window)
            w.load[segment.segment_id] = replace(load, modified_at=then)
        cold = true_rates(w, segment).msg_in < w.merge_below
        cold_for = w.cold_for[segment.segment_id] + 1 if cold else 0
        w.cold_for[segment.segment_id] = min(cold_for, w.merge_window)
    w.split_ago = _older(w.split_ago, w.split_cooldown)
    w.merge_ago = _older(w.merge_ago, w.merge_cooldown)
    for broker in w.remembered_split:
        w.remembered_split[broker] = _older(w.remembered_split[broker], w.split_cooldown)
        w.remembered_merge[broker] = _older(w.remembered_merge[broker], w.merge_cooldown)


def _older(ago: int | None, cooldown: int) -> int | None:
    return None if ago is None else within_cooldown(ago + 1, cooldown)


# Consumers


class ForConsumers(Scaling):
    """Consumers come and go, and the leader looks at once whether there are segments for them."""

    membership_changes = Bound()
    membership_left = Variable[int](0)
    asked = Memory[str, bool](BROKERS, False)
    """A consumer has come or gone, and the leader has yet to evaluate that."""


@start
def nobody_has_come(w: ForConsumers) -> None:
    """Consumers come and go so many times."""
    w.membership_left = w.membership_changes


@action("483-TRIGGER-01", "483-TRIGGER-02", broker=BROKERS)
def register_consumer(w: ForConsumers, broker: str) -> None:
    """One more consumer registers with the leader."""
    _have_consumers(w, broker, register(w.consumers, f"c{len(w.consumers.sessions) + 1}", connection=1))


@action("483-TRIGGER-01", "483-TRIGGER-02", broker=BROKERS)
def unregister_consumer(w: ForConsumers, broker: str) -> None:
    """The consumer that came last leaves."""
    require(w.consumers.sessions)
    _have_consumers(w, broker, unregister(w.consumers, w.consumers.sessions[-1].consumer))


def _have_consumers(w: ForConsumers, broker: str, consumers: Subscription) -> None:
    require(w.membership_left)
    require(in_office(w, broker))

    w.membership_left -= 1
    w.consumers = consumers
    w.asked[broker] = True


@action("483-TRIGGER-02", "483-TRIGGER-06", "483-TRIGGER-07", "483-TRIGGER-10", broker=BROKERS, fair=WEAK)
def evaluate_for_consumers(w: ForConsumers, broker: str) -> None:
    """Right after a consumer has come or gone, the leader evaluates the rule for consumers alone."""
    require(w.asked[broker])

    w.asked[broker] = False
    evaluate(w, broker, Trigger.CONSUMER_CHANGE)


@step("483-TRIGGER-02", "483-TRIGGER-06", "483-TRIGGER-10", broker=BROKERS)
def consumers_are_served_at_once(w: ForConsumers, after: ForConsumers, broker: str) -> Iterator[str]:
    """When consumers have come or gone, a split for them follows without a tick, and nothing but that."""
    if not (w.asked[broker] and leading(after, broker) and not after.asked[broker]):
        return

    count, changed = len(active_segments(w)), growth(w, after)
    needed = required(w) > count
    free = policy_of(w).enabled and w.split_ago is None and count < w.max_segments
    if needed and free and not changed:
        yield f"{required(w)} consumers have {count} segments, and none was split for them"
    if changed and not needed:
        yield f"{count} segments became {count + changed}, though no consumer needed that"


# Operators


class ByHand(Scaling):
    """An operator splits and merges as well."""

    manual_changes = Bound()


@start
def operators_are_patient(w: ByHand) -> None:
    """So many changes are asked for by hand."""
    w.by_hand = w.manual_changes


@action("483-MANUAL-01", broker=BROKERS, segment=SEGMENTS)
def split_by_hand(w: ByHand, broker: str, segment: int) -> None:
    """An operator splits a segment, whatever caps and cooldowns say, and the cooldown starts."""
    _by_hand(w, broker, admitted(w, broker), Split(segment))


@action("483-MANUAL-02", broker=BROKERS, segment=SEGMENTS)
def merge_by_hand(w: ByHand, broker: str, segment: int) -> None:
    """An operator merges a segment with the next one, as freely, and the cooldown starts."""
    record = admitted(w, broker)
    active = [s.segment_id for s in record.layout.active]
    require(segment in active[:-1])

    _by_hand(w, broker, record, Merge(segment, active[active.index(segment) + 1]))


def _by_hand(w: ByHand, broker: str, record: Record, asked: Split | Merge) -> None:
    require(w.by_hand)

    w.by_hand -= 1
    try:
        carry_out(w, broker, record, asked)
    except Refused:
        require(False)


class OptedOut(Scaling):
    """The operator takes the topic out of auto split and merge."""

    opted_out = Variable[bool](False)


@action("483-POLICY-06", "483-POLICY-02")
def opt_out(w: OptedOut) -> None:
    """The operator sets `enabled=false` for this topic."""
    w.opted_out = True
    w.override = AutoScaleOverride(enabled=False)


@step("483-POLICY-06", "483-SAFETY-03")
def opting_out_lasts(w: OptedOut, after: OptedOut) -> Iterator[str]:
    """A topic that was taken out of auto split and merge changes only by hand."""
    if w.opted_out and growth(w, after):
        yield f"the topic was opted out, and the leader changed it to {len(active_segments(after))} segments"


class Recreated(Scaling):
    """The topic is deleted and created again under the same name."""

    recreations = Bound()
    recreations_left = Variable[int](0)


@start
def it_may_be_recreated(w: Recreated) -> None:
    """So many times."""
    w.recreations_left = w.recreations


@action("468-DELETE-01")
def delete_topic(w: Recreated) -> None:
    """The topic goes with its segments; its load records are the reporters' and go only if that is said."""
    require(w.recreations_left)
    require(w.record is not None)

    w.recreations_left -= 1
    for segment in active_segments(w):
        retire(w, segment.segment_id)
    if w.design.load_records_go_with_the_topic:
        for id in w.load:
            delete_load(w, id)
    w.record = None


@action("468-CREATE-02", fair=WEAK)
def create_topic(w: Recreated) -> None:
    """The topic is created again: its segments have the ids that those of the last one had."""
    require(w.record is None)

    w.record = Record(initial_layout(w.initial_segments), term=w.elections)
    for broker in w.current:
        w.current[broker] = w.record.layout
    segments_have_hosts(w)


# Churn


class Forgetful(Retention, Scaling):
    """A topic whose drained segments are pruned, and all that the layout knew of their merges with them."""


@always("483-GUARD-05", "483-SAFETY-02", segment=SEGMENTS)
def no_range_is_merged_too_often(w: Forgetful, segment: int) -> Iterator[str]:
    """However often load comes and goes, a hash goes through maxDagDepth automatic merges at most."""
    if w.depth[segment] > w.max_dag_depth:
        yield f"segment {segment} has {w.depth[segment]} merges behind it, {w.max_dag_depth} are allowed"


class Constant(Led, Scaling):
    """A topic of any shape, under any load and with any number of consumers, none of which ever changes."""

    calm = Bound()
    busy = Bound()
    peak = Bound()


@start
def any_constant_load(w: Constant) -> None:
    """One, two or three segments of equal width, or one of a single hash and one with the rest."""
    lone = layout_of(0, 2, [SegmentInfo(0, HashRange(0, 0)), SegmentInfo(1, HashRange(1, LAST_HASH))])
    layout = choose(w, [initial_layout(1), initial_layout(2), initial_layout(3), lone])
    record = w.record
    assert record is not None
    w.record = replace(record, layout=layout)
    w.current["b1"] = layout
    for key in w.rate:
        w.rate[key] = choose(w, [w.calm, w.busy, w.peak])
    for consumer in range(choose(w, range(w.max_segments + 1))):
        w.consumers = register(w.consumers, f"c{consumer}", connection=1)
    segments_have_hosts(w)


@step("483-SAFETY-02", "483-GUARD-02", "483-GUARD-05")
def no_split_undoes_a_merge(w: Constant, after: Constant) -> Iterator[str]:
    """While load and consumers stay as they are, what was merged is not split again."""
    if growth(w, after) > 0 and w.record is not None:
        layout, left = w.record.layout, {s.segment_id for s in active_segments(after)}
        for parent in layout.active:
            past = {parent.segment_id} | ancestors(layout, parent.segment_id)
            merged = any(len(layout.segment(s).parent_ids) > 1 for s in past)
            if parent.segment_id not in left and merged:
                yield f"segment {parent.segment_id} was split, although {parent.range} came out of a merge"


@leads_to("483-SAFETY-02", "483-GOAL-04")
def constant_topics_come_to_rest(w: Constant) -> tuple[object, object]:
    """Once everything is reported the evaluator has nothing more to do: for good, if there are no pauses."""
    layout = w.current["b1"]
    assert layout is not None
    rests = everything_is_reported(w) and decision(w, layout, "b1", Trigger.TICK).action is None
    return not rests, rests
