"""
Auto split and merge: a leader that reads load and consumers, decides, and changes the layout.

Times are counted back from now, so that they only grow until nothing depends on them any more. A change of
the layout is one step here: these machines ask what is decided and when, and not how a change is carried out.
That an automatic change takes the road of any other is asked in `automatic_change`.
"""

from collections.abc import Iterator
from itertools import pairwise

from spec.autoscale import (
    Decision,
    Merge,
    Split,
    Trigger,
    decide,
    dispatch,
    remembered_depths,
    stream_consumers,
)
from spec.layout import SegmentInfo, SegmentLayout, merge_depth
from spec.load import at_most
from spec.machine import (
    STRONG,
    Bound,
    Family,
    Memory,
    Variable,
    action,
    leads_to,
    require,
    sometimes,
    step,
)
from spec.names import TopicName
from spec.policy import NO_OVERRIDE, AutoScaleOverride, AutoScalePolicy, Rates, resolve
from spec.protocols.election import Election, admitted
from spec.protocols.load_reports import (
    Load,
    active_segments,
    floor_of,
    stop_reporting,
    true_rates,
)
from spec.protocols.topic import BROKERS, SEGMENTS, Record
from spec.refusals import Refused
from spec.sessions import Subscription

NOBODY = Subscription(TopicName("tenant", "namespace", "topic"), 0, ())


class Scaling(Load, Election):
    """What the leader knows, besides the load records, and what it remembers of what it did."""

    max_segments = Bound()
    min_segments = Bound()
    max_dag_depth = Bound()
    split_cooldown = Bound()
    merge_cooldown = Bound()
    merge_window = Bound()
    split_above = Bound()
    merge_below = Bound()
    skew = Bound()
    """How far the clocks of leaders are ahead of the store's."""

    depth = Family[int, int](SEGMENTS, 0)
    """How many merges lie behind a segment. The design says whether the segment itself remembers it."""
    split_ago = Variable[int | None](None)
    """How long ago the last split was, while a cooldown lasts. The design says whether the record has it."""
    merge_ago = Variable[int | None](None)
    remembered_split = Memory[str, int | None](BROKERS, None)
    """How long ago a leader's own last split was."""
    remembered_merge = Memory[str, int | None](BROKERS, None)
    consumers = Variable[Subscription](NOBODY)
    """The sessions of the STREAM subscription; they outlive leaders. [483-TRIGGER-01]"""
    override = Variable[AutoScaleOverride](NO_OVERRIDE)
    """The topic's own policy, which stands in the record beside the layout. [483-POLICY-02]"""
    by_hand = Variable[int](0)
    """How many layout changes an operator still asks for."""


def policy_of(w: Scaling) -> AutoScalePolicy:
    """The policy in force."""
    broker = AutoScalePolicy(
        max_segments=w.max_segments,
        min_segments=w.min_segments,
        max_dag_depth=w.max_dag_depth,
        split_cooldown=w.split_cooldown,
        merge_cooldown=w.merge_cooldown,
        merge_window=w.merge_window,
        split_msg_rate_in=w.split_above,
        merge_msg_rate_in=w.merge_below,
    )
    return resolve(broker, topic=w.override)


def required(w: Scaling) -> int:
    """How many segments the consumers could use."""
    return len(w.consumers.sessions)


# The decision


def decision(
    w: Scaling, layout: SegmentLayout, broker: str, trigger: Trigger, in_flight: bool = False
) -> Decision:
    """
    What the evaluator says to a leader.

    Cooldowns are measured by whoever set them; load records bear the time of the store, from which the
    leader's clock may differ. [483-TRIGGER-03, 483-TRIGGER-04, 483-READ-15, 483-READ-27, 483-READ-33]
    """
    now = 0 if w.design.windows_use_one_clock else w.skew
    ids = [s.segment_id for s in layout.active]
    split_ago, merge_ago = w.remembered_split[broker], w.remembered_merge[broker]
    if w.design.cooldowns_outlive_leaders:
        split_ago, merge_ago = w.split_ago, w.merge_ago

    return decide(
        layout,
        {i: load for i in ids if (load := w.load[i]) is not None},
        stream_consumers({"s": w.consumers}),
        policy_of(w),
        now,
        None if split_ago is None else now - split_ago,
        None if merge_ago is None else now - merge_ago,
        trigger=trigger,
        in_flight=in_flight,
        depths={i: w.depth[i] for i in ids},
        floor=floor_of(w),
        design=w.design,
    )


@action(
    "483-GOAL-01",
    "483-TRIGGER-04",
    "483-TRIGGER-05",
    "483-TRIGGER-09",
    "483-TRIGGER-11",
    "483-SPLIT-15",
    "483-MERGE-12",
    broker=BROKERS,
    fair=STRONG,
)
def tick(w: Scaling, broker: str) -> None:
    """
    On its own timer the leader evaluates the whole policy, and does what comes out.

    The timer goes off again and again, so that it does not miss for ever what is due again and again.
    """
    evaluate(w, broker, Trigger.TICK)


def evaluate(w: Scaling, broker: str, trigger: Trigger) -> None:
    """
    Decide on the layout in the leader's memory, and do it to the record, which may refuse it.

    A refusal starts no cooldown. [483-READ-26, 483-READ-33]
    """
    record = admitted(w, broker)
    layout = w.current[broker]
    assert layout is not None
    wanted = decision(w, layout, broker, trigger).action
    if wanted is None:
        return

    try:
        carry_out(w, broker, record, wanted)
    except Refused:
        return


def carry_out(w: Scaling, broker: str, record: Record, change: Split | Merge) -> None:
    """
    Publish a change; its time is known to the leader, and stands in the record if the design wants that.

    [483-READ-10, 483-READ-26, 483-READ-57]
    """
    after = dispatch(record.layout, change)
    require(after.next_segment_id <= w.segments)

    w.record = record.written(layout=after)
    w.current[broker] = after
    if not w.design.changes_keep_the_policy:
        w.override = NO_OVERRIDE
    if isinstance(change, Split):
        w.split_ago = within_cooldown(0, w.split_cooldown)
        w.remembered_split[broker] = _remembered(w, w.split_ago)
    else:
        w.merge_ago = within_cooldown(0, w.merge_cooldown)
        w.remembered_merge[broker] = _remembered(w, w.merge_ago)

    known = {s.segment_id for s in record.layout.active}
    depths = remembered_depths({i: w.depth[i] for i in known}, after)
    for segment in after.active:
        if segment.segment_id not in known:
            w.host[segment.segment_id] = w.host[segment.parent_ids[0]]
            w.depth[segment.segment_id] = depths[segment.segment_id]
    for gone in sorted(known - depths.keys()):
        retire(w, gone)


def retire(w: Scaling, segment: int) -> None:
    """A segment takes no more messages, so that nobody owns it and nobody asks for its merges."""
    stop_reporting(w, segment)
    w.depth[segment] = 0


def within_cooldown(ago: int, cooldown: int) -> int | None:
    """How long ago something was, while a cooldown depends on it."""
    return ago if ago < cooldown else None


def _remembered(w: Scaling, ago: int | None) -> int | None:
    """Nobody looks into the memory of a leader for what stands in the record."""
    return None if w.design.cooldowns_outlive_leaders else ago


# What must hold


def growth(w: Scaling, after: Scaling) -> int:
    """By how many segments the leader changed the topic of its own accord in a step; 0 if it did not."""
    if w.record is None or after.record is None or w.by_hand != after.by_hand:
        return 0
    return len(active_segments(after)) - len(active_segments(w))


@step("483-GOAL-04", "483-CONFIG-04")
def automatic_splits_respect_the_ceiling(w: Scaling, after: Scaling) -> Iterator[str]:
    """No automatic split takes the number of active segments above maxSegments."""
    count = len(active_segments(after))
    if growth(w, after) > 0 and count > w.max_segments:
        yield f"an automatic split made {count} segments, {w.max_segments} are allowed"


@step("483-CAP-02", "483-CONFIG-05")
def automatic_merges_respect_the_floor(w: Scaling, after: Scaling) -> Iterator[str]:
    """No automatic merge takes the number of active segments below minSegments."""
    count = len(active_segments(after))
    if growth(w, after) < 0 and count < w.min_segments:
        yield f"an automatic merge left {count} segments, {w.min_segments} must stay"


@step("483-SAFETY-01", "483-SPLIT-02", "483-SPLIT-15", "483-TRIGGER-07", "483-MANUAL-01")
def automatic_splits_keep_their_distance(w: Scaling, after: Scaling) -> Iterator[str]:
    """Between a split, by whichever leader or by hand, and the next automatic one a cooldown passes."""
    if growth(w, after) > 0 and w.split_ago is not None:
        yield f"an automatic split came {w.split_ago} after the last one, the cooldown is {w.split_cooldown}"


@step("483-SAFETY-01", "483-MERGE-12", "483-MANUAL-02")
def automatic_merges_keep_their_distance(w: Scaling, after: Scaling) -> Iterator[str]:
    """Between a merge, by whichever leader or by hand, and the next automatic one a cooldown passes."""
    if growth(w, after) < 0 and w.merge_ago is not None:
        yield f"an automatic merge came {w.merge_ago} after the last one, the cooldown is {w.merge_cooldown}"


@step("483-GUARD-03", "483-LOAD-08", "483-MERGE-10")
def only_what_is_durably_cold_is_merged(w: Scaling, after: Scaling) -> Iterator[str]:
    """
    Both segments of an automatic merge were cold in truth for the whole window, and not only by the record.

    A load that has risen since the last unit of time began is excused: nobody has had time to report it.
    """
    if growth(w, after) < 0:
        left = {s.segment_id for s in active_segments(after)}
        for segment in active_segments(w):
            if segment.segment_id not in left and w.cold_for[segment.segment_id] < w.merge_window:
                cold, rate = w.cold_for[segment.segment_id], true_rates(w, segment).msg_in
                yield (
                    f"segment {segment.segment_id} was merged with a true rate of {rate}, "
                    f"after {cold} of {w.merge_window} units of time below {w.merge_below}"
                )


@leads_to("483-GOAL-02", "483-SPLIT-03", "483-TRIGGER-06")
def crowded_topics_gain_segments(w: Scaling) -> tuple[object, object]:
    """
    A topic with an overloaded segment, or more consumers than segments, is split as far as the cap allows.

    The load must be above the threshold by more than what is not worth a report. [483-READ-13]
    """
    crowded = is_crowded(w)
    return crowded, not crowded


def is_crowded(w: Scaling) -> bool:
    """More segments are wanted, possible and allowed."""
    active = active_segments(w)
    wide = [s for s in active if s.range.width > 1]
    overload = at_most(Rates(w.split_above, 0, 0, 0)).msg_in
    wanted = required(w) > len(active) or any(true_rates(w, s).msg_in > overload for s in wide)
    return bool(wide) and wanted and policy_of(w).enabled and len(active) < w.max_segments


@leads_to("483-GOAL-03")
def quiet_topics_lose_segments(w: Scaling) -> tuple[object, object]:
    """Two neighbours far below the merge threshold become one, unless consumers, floor or depth forbid it."""
    active = active_segments(w)
    spare = len(active) > max(w.min_segments, required(w))
    quiet = spare and any(_quiet(w, one) and _quiet(w, other) for one, other in pairwise(active))
    return quiet, not quiet


def _quiet(w: Scaling, segment: SegmentInfo) -> bool:
    """A segment has an owner, less than half of what is cold, a quarter of a split, and merges to spare."""
    record = w.record
    assert record is not None
    owned = w.host[segment.segment_id] is not None
    depth = max(w.depth[segment.segment_id], merge_depth(record.layout, segment.segment_id))
    rate = true_rates(w, segment).msg_in
    return owned and 2 * rate < w.merge_below and 4 * rate < w.split_above and depth < w.max_dag_depth


@sometimes("483-GOAL-02")
def a_segment_was_split(w: Scaling) -> object:
    """An active segment came out of a split."""
    return any(len(s.parent_ids) == 1 for s in active_segments(w))


@sometimes("483-GOAL-03")
def segments_were_merged(w: Scaling) -> object:
    """An active segment came out of a merge."""
    return any(len(s.parent_ids) == 2 for s in active_segments(w))
