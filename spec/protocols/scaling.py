"""
Auto split and merge in motion: load that comes and goes, owners that report it, a leader that acts on it.

Times are counted back from now, so that they only grow until nothing depends on them any more. A change of
the layout is one step here: these machines ask what is decided and when, and not how a change is carried
out. That an automatic change takes the road of any other is asked of `AutomaticChange`, which begins the
steps of PIP-468. [483-GOAL-08]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from spec.layout import (
    SegmentInfo,
    SegmentLayout,
    ancestors,
    initial_layout,
    layout_of,
    merge_depth,
)
from spec.load import QUIET, LoadSample, at_most, worth_writing
from spec.machine import (
    STRONG,
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    always,
    choose,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.names import TopicName
from spec.policy import NO_OVERRIDE, AutoScaleOverride, AutoScalePolicy, Rates, resolve
from spec.protocols.election import Controller, Election, admitted, fenced, in_office, leading
from spec.protocols.layout_change import OPERATIONS, LayoutChange, begin_merge, begin_split
from spec.protocols.retention import Retention
from spec.protocols.topic import BROKERS, KEYS, SEGMENTS, Record, hash_of
from spec.ranges import LAST_HASH, HashRange, contains
from spec.refusals import Refused
from spec.sessions import Subscription, register, unregister

HOSTS = Domain("host", "h")
"""Brokers in so far as they own segments; that the same ones may lead makes no difference."""
NOBODY = Subscription(TopicName("tenant", "namespace", "topic"), 0, ())


@dataclass(frozen=True, slots=True)
class Report:
    """A sample on its way to the store."""

    rates: Rates
    overtaken: bool = False
    """The record was written or deleted since it was read, so that its version is another one."""


class Scaling(Election):
    """The load of a topic, what is reported of it, and what the leader makes of that."""

    max_segments = Bound()
    min_segments = Bound()
    max_dag_depth = Bound()
    split_cooldown = Bound()
    merge_cooldown = Bound()
    merge_window = Bound()
    split_above = Bound()
    merge_below = Bound()
    floor = Bound()
    """At or below this rate owners have nothing to report, if the design wants that."""
    skew = Bound()
    """How far the clocks of leaders are ahead of the store's."""

    rate = Family[int, int](KEYS, 0)
    """The true rate at which a key's messages come."""
    host = Family[int, str | None](SEGMENTS, None)
    """The broker that owns a segment. [483-GOAL-05]"""
    load = Family[int, LoadSample | None](SEGMENTS, None)
    """The load records of the active segments; those of others are never read. [483-READ-04]"""
    written = Memory[tuple[str, int], Rates | None]((HOSTS, SEGMENTS), None)
    """What a reporter has last written of a segment that it owns."""
    report = Memory[tuple[str, int], Report | None]((HOSTS, SEGMENTS), None)
    cold_for = Family[int, int](SEGMENTS, 0)
    """How long the true load of a segment has been below the merge threshold, as far as the window goes."""
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


@start
def segments_have_hosts(w: Scaling) -> None:
    """Every segment is on the first host, if there is one, and nothing was reported yet."""
    hosts = sorted({host for host, _ in w.written})
    for segment in _layout(w).active:
        w.host[segment.segment_id] = hosts[0] if hosts else None


def policy_of(w: Scaling) -> AutoScalePolicy:
    """The policy in force; only the rate of incoming messages matters here."""
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


def floor_of(w: Scaling) -> Rates:
    """Below which rates nothing is reported."""
    return Rates(w.floor, 0, 0, 0) if w.design.small_rates_are_not_news else QUIET


def true_rates(w: Scaling, segment: SegmentInfo) -> Rates:
    """What a segment really has to carry: the load of all keys in its range, however it is cut."""
    inside = [key for key in w.rate if contains(segment.range, hash_of(w, key))]
    return Rates(sum(w.rate[key] for key in inside), 0, 0, 0)


def decision(
    w: Scaling, layout: SegmentLayout, broker: str | None, trigger: Trigger, in_flight: bool = False
) -> Decision:
    """
    What the evaluator says on behalf of a leader; of nobody, what it says when no pause holds it back.

    Cooldowns are measured by whoever set them; load records bear the time of the store, from which the
    leader's clock may differ. [483-TRIGGER-03, 483-TRIGGER-04, 483-READ-15, 483-READ-27, 483-READ-33]
    """
    now = 0 if w.design.windows_use_one_clock else w.skew
    ids = [s.segment_id for s in layout.active]
    loads = {i: load for i in ids if (load := w.load[i]) is not None}
    times: tuple[int | None, int | None] = (None, None)
    if broker is not None and w.design.cooldowns_outlive_leaders:
        times = w.split_ago, w.merge_ago
    elif broker is not None:
        times = w.remembered_split[broker], w.remembered_merge[broker]
    else:
        loads = {i: replace(load, modified_at=-w.merge_window) for i, load in loads.items()}

    return decide(
        layout,
        loads,
        stream_consumers({"s": w.consumers}),
        policy_of(w),
        now,
        *(None if ago is None else now - ago for ago in times),
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
        after = dispatch(record.layout, wanted)
    except Refused:
        return
    carry_out(w, broker, record, after, isinstance(wanted, Split))


def carry_out(w: Scaling, broker: str, record: Record, after: SegmentLayout, split: bool) -> None:
    """
    Publish a layout; its time is known to the leader, and stands in the record if the design wants that.

    [483-READ-10, 483-READ-26, 483-READ-57]
    """
    require(after.next_segment_id <= w.segments)
    w.record = record.written(layout=after)
    w.current[broker] = after
    if not w.design.changes_keep_the_policy:
        w.override = NO_OVERRIDE
    if split:
        w.split_ago = _just_now(w.split_cooldown)
        w.remembered_split[broker] = _remembered(w, w.split_ago)
    else:
        w.merge_ago = _just_now(w.merge_cooldown)
        w.remembered_merge[broker] = _remembered(w, w.merge_ago)

    known = {s.segment_id for s in record.layout.active}
    depths = remembered_depths({i: w.depth[i] for i in known}, after)
    for segment in after.active:
        if segment.segment_id not in known:
            w.host[segment.segment_id] = w.host[segment.parent_ids[0]]
            w.depth[segment.segment_id] = depths[segment.segment_id]
    for gone in sorted(known - depths.keys()):
        forget_segment(w, gone)


def _remembered(w: Scaling, ago: int | None) -> int | None:
    """Nobody looks into the memory of a leader for what stands in the record."""
    return None if w.design.cooldowns_outlive_leaders else ago


def _just_now(pause: int) -> int | None:
    return 0 if pause else None


def forget_segment(w: Scaling, segment: int) -> None:
    """A segment is sealed: nobody reports on it, and nobody reads what was reported or is still to come."""
    stop_reporting(w, segment)
    w.load[segment] = None
    for host, of in w.report:
        if of == segment:
            w.report[host, of] = None


def stop_reporting(w: Scaling, segment: int) -> None:
    """A segment has no owner any more; what was sent off is on its way."""
    w.host[segment] = None
    w.cold_for[segment] = 0
    w.depth[segment] = 0
    for host, of in w.written:
        if of == segment:
            w.written[host, of] = None


def delete_load(w: Scaling, segment: int) -> None:
    """A load record goes, and every write that names its version fails."""
    if w.load[segment] is not None:
        w.load[segment] = None
        _overtake(w, segment)


class Led(Scaling):
    """A topic that the first broker leads, for questions that are not about who leads."""


@start
def one_broker_leads(w: Led) -> None:
    """It has taken over, and nobody else stands."""
    record = w.record
    assert record is not None
    broker = next(iter(w.controller))
    w.elections = 1
    w.lock = broker
    w.record = replace(record, term=1)
    for other in w.stands:
        w.stands[other] = False
    w.term[broker] = 1
    w.controller[broker] = Controller.LEADER
    w.current[broker] = record.layout


class Clock(Scaling):
    """Time passes, one unit at a time."""


@action("483-SPLIT-03", fair=STRONG)
def pass_time(w: Clock) -> None:
    """
    Everything gets older by one; owners sample more often than that, so that none has a report overdue.

    What is older than anybody asks for stays as it is.
    """
    layout = _layout(w)
    require(not any(_report_is_due(w, s) for s in layout.active))

    for segment in layout.active:
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


def _older(ago: int | None, pause: int) -> int | None:
    return None if ago is None or ago + 1 >= pause else ago + 1


def _report_is_due(w: Scaling, segment: SegmentInfo) -> bool:
    """The owner of a segment has something to report, or is about to."""
    host = w.host[segment.segment_id]
    if host is None:
        return False
    written, rates = w.written[host, segment.segment_id], true_rates(w, segment)
    return w.report[host, segment.segment_id] is not None or worth_writing(written, rates, floor=floor_of(w))


class Reporting(Scaling):
    """Owners sample the load of their segments and write down what is news."""

    moves = Bound()
    moves_left = Variable[int](0)


@start
def segments_may_move(w: Reporting) -> None:
    """The load balancer has so many moves."""
    w.moves_left = w.moves


@action("483-REPORT-03", "483-REPORT-07", host=HOSTS, segment=SEGMENTS, fair=WEAK)
def sample(w: Reporting, host: str, segment: int) -> None:
    """The owner compares a segment's rates with what it wrote last, and sends them off if they are news."""
    require(w.host[segment] == host)
    rates = true_rates(w, _layout(w).segment(segment))
    require(worth_writing(w.written[host, segment], rates, floor=floor_of(w)))

    w.report[host, segment] = Report(rates)


@action("483-REPORT-03", "483-REPORT-05", host=HOSTS, segment=SEGMENTS, fair=WEAK)
def write_report(w: Reporting, host: str, segment: int) -> None:
    """
    A sample reaches the store, perhaps long after another broker has become the owner.

    If the write is conditional, one that was overtaken fails, and a reporter that still owns the segment
    samples again. [483-READ-08]
    """
    report = w.report[host, segment]
    require(report is not None)
    assert report is not None

    w.report[host, segment] = None
    if report.overtaken and w.design.load_reports_are_conditional:
        return
    w.load[segment] = LoadSample(report.rates, 0)
    if w.host[segment] == host:
        w.written[host, segment] = report.rates
    _overtake(w, segment)


def _overtake(w: Scaling, segment: int) -> None:
    """Whatever is on its way to this record was sampled before this."""
    for (host, of), late in w.report.items():
        if of == segment and late is not None and w.design.load_reports_are_conditional:
            w.report[host, of] = replace(late, overtaken=True)


@action("483-GOAL-05", host=HOSTS, segment=SEGMENTS)
def move_segment(w: Reporting, host: str, segment: int) -> None:
    """The load balancer gives a segment to another broker; what the old one has sent off is on its way."""
    require(w.moves_left)
    owner = w.host[segment]
    require(owner not in (None, host))
    assert owner is not None

    w.moves_left -= 1
    w.host[segment] = host
    w.written[owner, segment] = None


class Shifting(Scaling):
    """Load changes between three levels, two of which may be the same."""

    calm = Bound()
    busy = Bound()
    peak = Bound()
    shifts = Bound()
    """How often it may change; there is no limit below 0."""
    shifts_left = Variable[int](0)


@start
def everything_is_calm(w: Shifting) -> None:
    """Every key has the lowest rate."""
    w.shifts_left = w.shifts
    for key in w.rate:
        w.rate[key] = w.calm


@action("483-GOAL-02", "483-GOAL-03", key=KEYS)
def shift_load(w: Shifting, key: int) -> None:
    """A key's messages come faster or slower than before."""
    require(w.shifts_left)
    level = choose(w, [level for level in dict.fromkeys((w.calm, w.busy, w.peak)) if level != w.rate[key]])

    if w.shifts_left > 0:
        w.shifts_left -= 1
    w.rate[key] = level


class Wobbling(Scaling):
    """Load that goes up and down a little for ever, more slowly than it is reported."""

    calm = Bound()
    busy = Bound()


@start
def everything_wobbles(w: Wobbling) -> None:
    """Every key has the lower rate first."""
    for key in w.rate:
        w.rate[key] = w.calm


@action("483-GOAL-03", "483-REPORT-03", key=KEYS)
def wobble(w: Wobbling, key: int) -> None:
    """A key's messages come a little faster or slower, once all that was news is reported."""
    require(not any(_report_is_due(w, s) for s in _layout(w).active))

    w.rate[key] = w.busy if w.rate[key] == w.calm else w.calm


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
    _by_hand(w, broker, Split(segment))


@action("483-MANUAL-02", broker=BROKERS, segment=SEGMENTS)
def merge_by_hand(w: ByHand, broker: str, segment: int) -> None:
    """An operator merges a segment with the next one, as freely, and the cooldown starts."""
    record = admitted(w, broker)
    active = [s.segment_id for s in record.layout.active]
    require(segment in active[:-1])
    _by_hand(w, broker, Merge(segment, active[active.index(segment) + 1]))


def _by_hand(w: ByHand, broker: str, asked: Split | Merge) -> None:
    require(w.by_hand)
    record = admitted(w, broker)
    try:
        after = dispatch(record.layout, asked)
    except Refused:
        require(False)

    w.by_hand -= 1
    carry_out(w, broker, record, after, isinstance(asked, Split))


class Forgetful(Retention, Scaling):
    """A topic whose drained segments are pruned, and all that the layout knew of their merges with them."""


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
    record = w.record
    require(record is not None)
    assert record is not None

    w.recreations_left -= 1
    w.record = None
    for segment in record.layout.active:
        stop_reporting(w, segment.segment_id)
        if w.design.load_records_go_with_the_topic:
            delete_load(w, segment.segment_id)


@action("468-CREATE-02", fair=WEAK)
def create_topic(w: Recreated) -> None:
    """The topic is created again: its segments have the ids that those of the last one had."""
    require(w.record is None)

    w.record = Record(initial_layout(w.initial_segments), term=w.elections)
    for broker in w.current:
        w.current[broker] = w.record.layout
    segments_have_hosts(w)


class OptedOut(Scaling):
    """The operator takes the topic out of auto split and merge."""

    opted_out = Variable[bool](False)


@action("483-POLICY-06", "483-POLICY-02")
def opt_out(w: OptedOut) -> None:
    """The operator sets `enabled=false` for this topic."""
    w.opted_out = True
    w.override = AutoScaleOverride(enabled=False)


class Constant(Led):
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


def _layout(w: Scaling) -> SegmentLayout:
    record = w.record
    require(record is not None)
    assert record is not None
    return record.layout


def _active(w: Scaling) -> tuple[SegmentInfo, ...]:
    return () if w.record is None else w.record.layout.active


def _automatic(w: Scaling, after: Scaling) -> int:
    """By how many segments the leader changed the topic of its own accord in a step; 0 if it did not."""
    old, new = w.record, after.record
    if old is None or new is None or w.by_hand != after.by_hand:
        return 0
    return len(new.layout.active) - len(old.layout.active)


def required(w: Scaling) -> int:
    """How many segments the consumers could use."""
    return max(stream_consumers({"s": w.consumers}).values())


@step("483-GOAL-04", "483-CONFIG-04")
def automatic_splits_respect_the_ceiling(w: Scaling, after: Scaling) -> Iterator[str]:
    """No automatic split takes the number of active segments above maxSegments."""
    if _automatic(w, after) > 0 and len(_active(after)) > w.max_segments:
        yield f"an automatic split made {len(_active(after))} segments, {w.max_segments} are allowed"


@step("483-CAP-02", "483-CONFIG-05")
def automatic_merges_respect_the_floor(w: Scaling, after: Scaling) -> Iterator[str]:
    """No automatic merge takes the number of active segments below minSegments."""
    if _automatic(w, after) < 0 and len(_active(after)) < w.min_segments:
        yield f"an automatic merge left {len(_active(after))} segments, {w.min_segments} must stay"


@step("483-SAFETY-01", "483-SPLIT-02", "483-SPLIT-15", "483-TRIGGER-07", "483-MANUAL-01")
def automatic_splits_keep_their_distance(w: Scaling, after: Scaling) -> Iterator[str]:
    """Between a split, by whichever leader or by hand, and the next automatic one a cooldown passes."""
    if _automatic(w, after) > 0 and w.split_ago is not None:
        yield f"an automatic split came {w.split_ago} after the last one, the cooldown is {w.split_cooldown}"


@step("483-SAFETY-01", "483-MERGE-12", "483-MANUAL-02")
def automatic_merges_keep_their_distance(w: Scaling, after: Scaling) -> Iterator[str]:
    """Between a merge, by whichever leader or by hand, and the next automatic one a cooldown passes."""
    if _automatic(w, after) < 0 and w.merge_ago is not None:
        yield f"an automatic merge came {w.merge_ago} after the last one, the cooldown is {w.merge_cooldown}"


@step("483-GUARD-03", "483-LOAD-08", "483-MERGE-10")
def only_what_is_durably_cold_is_merged(w: Scaling, after: Scaling) -> Iterator[str]:
    """
    Both segments of an automatic merge were cold in truth for the whole window, and not only by the record.

    A load that has risen since the last unit of time began is excused: nobody has had time to report it.
    """
    if _automatic(w, after) < 0:
        left = {s.segment_id for s in _active(after)}
        for segment in _active(w):
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
    wanting = _wanting(w)
    return wanting, not wanting


def _wanting(w: Scaling) -> bool:
    """More segments are wanted, possible and allowed."""
    wide = [s for s in _active(w) if s.range.width > 1]
    overloaded = any(true_rates(w, s).msg_in > at_most(Rates(w.split_above, 0, 0, 0)).msg_in for s in wide)
    crowded = overloaded or (bool(wide) and required(w) > len(_active(w)))
    return crowded and policy_of(w).enabled and len(_active(w)) < w.max_segments


@step("483-GOAL-05", segment=SEGMENTS)
def only_the_load_balancer_moves_segments(w: Reporting, after: Reporting, segment: int) -> Iterator[str]:
    """While a segment is active its owner changes by a move of the load balancer, and by nothing else."""
    both = all(segment in [s.segment_id for s in _active(each)] for each in (w, after))
    if both and w.host[segment] != after.host[segment] and w.moves_left == after.moves_left:
        yield f"segment {segment} went from {w.host[segment]} to {after.host[segment]}"


@leads_to("483-GOAL-03")
def quiet_topics_lose_segments(w: Reporting) -> tuple[object, object]:
    """Two neighbours far below the merge threshold become one, unless consumers, floor or depth forbid it."""
    spare = len(_active(w)) > max(w.min_segments, required(w))
    quiet = spare and any(_quiet(w, one) and _quiet(w, other) for one, other in pairwise(_active(w)))
    return quiet, not quiet


def _quiet(w: Scaling, segment: SegmentInfo) -> bool:
    """A segment has less than half of what is cold, less than half of half a split, and merges to spare."""
    record = w.record
    assert record is not None
    depth = max(w.depth[segment.segment_id], merge_depth(record.layout, segment.segment_id))
    rate = true_rates(w, segment).msg_in
    return 2 * rate < w.merge_below and 4 * rate < w.split_above and depth < w.max_dag_depth


@step("483-SAFETY-02", "483-GUARD-02", "483-GUARD-05")
def no_split_undoes_a_merge(w: Constant, after: Constant) -> Iterator[str]:
    """While load and consumers stay as they are, what was merged is not split again."""
    if _automatic(w, after) > 0 and w.record is not None:
        left = {s.segment_id for s in _active(after)}
        for parent in _active(w):
            past = {parent.segment_id} | ancestors(w.record.layout, parent.segment_id)
            if parent.segment_id not in left and any(
                len(w.record.layout.segment(s).parent_ids) > 1 for s in past
            ):
                yield f"segment {parent.segment_id} was split, although {parent.range} came out of a merge"


@leads_to("483-SAFETY-02", "483-GOAL-04")
def constant_topics_come_to_rest(w: Constant) -> tuple[object, object]:
    """Once everything is reported, and however long it waits, the evaluator has nothing more to do."""
    record = w.record
    assert record is not None
    reported = not any(_report_is_due(w, s) for s in record.layout.active)
    rests = reported and decision(w, record.layout, None, Trigger.TICK).action is None
    return not rests, rests


@always("483-GUARD-05", "483-SAFETY-02", segment=SEGMENTS)
def no_range_is_merged_too_often(w: Forgetful, segment: int) -> Iterator[str]:
    """However often load comes and goes, a hash goes through maxDagDepth automatic merges at most."""
    if w.depth[segment] > w.max_dag_depth:
        yield f"segment {segment} has {w.depth[segment]} merges behind it, {w.max_dag_depth} are allowed"


@step("483-POLICY-06", "483-SAFETY-03")
def opting_out_lasts(w: OptedOut, after: OptedOut) -> Iterator[str]:
    """A topic that was taken out of auto split and merge changes only by hand."""
    if w.opted_out and _automatic(w, after):
        yield f"the topic was opted out, and the leader changed it to {len(_active(after))} segments"


@step("483-TRIGGER-02", "483-TRIGGER-06", "483-TRIGGER-10", broker=BROKERS)
def consumers_are_served_at_once(w: ForConsumers, after: ForConsumers, broker: str) -> Iterator[str]:
    """When consumers have come or gone, a split for them follows without a tick, and nothing but that."""
    if not (w.asked[broker] and leading(after, broker) and not after.asked[broker]):
        return
    needed, changed = required(w) > len(_active(w)), _automatic(w, after)
    free = policy_of(w).enabled and w.split_ago is None and len(_active(w)) < w.max_segments
    if needed and free and not changed:
        yield f"{required(w)} consumers have {len(_active(w))} segments, and none was split for them"
    if changed and not needed:
        yield f"{len(_active(w))} segments became {len(_active(after))}, though no consumer needed that"


@sometimes("483-GOAL-02")
def a_segment_was_split(w: Scaling) -> object:
    """An active segment came out of a split."""
    return any(len(s.parent_ids) == 1 for s in _active(w))


@sometimes("483-GOAL-03")
def segments_were_merged(w: Scaling) -> object:
    """An active segment came out of a merge."""
    return any(len(s.parent_ids) == 2 for s in _active(w))


class AutomaticChange(LayoutChange, Scaling):
    """The same decisions, carried out step by step by the protocol of PIP-468."""

    crowd = Bound()
    automatic = Memory[tuple[str, str], tuple[int, ...]]((BROKERS, OPERATIONS), ())
    """The parents of the change that a leader has last begun of its own accord."""


@start
def crowded_or_deserted(w: AutomaticChange) -> None:
    """There is a crowd of consumers, or nobody; nothing is sent, and that has been reported."""
    for consumer in range(choose(w, [0, w.crowd])):
        w.consumers = register(w.consumers, f"c{consumer + 1}", connection=1)
    for segment in _layout(w).active:
        w.load[segment.segment_id] = LoadSample(QUIET, 0)


@action("483-GOAL-01", "483-GOAL-08", "483-TRIGGER-05", broker=BROKERS, operation=OPERATIONS, fair=WEAK)
def begin_automatic_change(w: AutomaticChange, broker: str, operation: str) -> None:
    """
    The leader decides, and begins the very split or merge that an operator could have asked for.

    It holds back while it is about another change, or the record has one announced. [483-READ-30]
    """
    record = admitted(w, broker)
    layout = w.current[broker]
    assert layout is not None
    wanted = decision(w, layout, broker, Trigger.TICK, in_flight=_in_flight(w, broker, record)).action
    require(wanted is not None)
    assert wanted is not None

    w.automatic[broker, operation] = wanted.segments
    if isinstance(wanted, Split):
        begin_split(w, broker, operation, wanted.segment_id)
    else:
        begin_merge(w, broker, operation, wanted.left_id)


def _in_flight(w: AutomaticChange, broker: str, record: Record) -> bool:
    own = [change for (b, _), change in w.change.items() if b == broker]
    return any(change is not None for change in own) or record.announced is not None


@step("483-SPLIT-01", "483-GOAL-01", "483-TRIGGER-11", broker=BROKERS, operation=OPERATIONS)
def automatic_changes_begin_alone(
    w: AutomaticChange, after: AutomaticChange, broker: str, operation: str
) -> Iterator[str]:
    """Only the leader begins automatic changes, and none while another that can take effect is in flight."""
    record = w.record
    begun = after.change[broker, operation]
    if w.change[broker, operation] is not None or begun is None or record is None:
        return
    if w.automatic[broker, operation] == after.automatic[broker, operation]:
        return

    if w.lock is not None and w.lock != broker and leading(w, w.lock):
        yield f"{broker} began to change {begun.of}, although {w.lock} leads"
    for (other, _), change in w.change.items():
        if change is not None and not change.published and not fenced(w, other, record):
            yield f"{broker} began to change {begun.of} while {other} was about {change.of}"


@step("483-GOAL-04", "483-GOAL-08", broker=BROKERS, operation=OPERATIONS)
def what_is_published_respects_the_ceiling(
    w: AutomaticChange, after: AutomaticChange, broker: str, operation: str
) -> Iterator[str]:
    """An automatic split that is published takes the topic to maxSegments at most."""
    before = w.change[broker, operation]
    grown = len(_active(after)) > max(w.max_segments, len(_active(w)))
    if grown and before is not None and before != after.change[broker, operation]:
        if before.of.parents == w.automatic[broker, operation]:
            yield f"an automatic split made {len(_active(after))} segments, {w.max_segments} are allowed"


@leads_to("483-GOAL-02", "483-GOAL-08")
def crowds_get_their_segments(w: AutomaticChange) -> tuple[object, object]:
    """Step by step too, a topic is split while it has more consumers than segments, whoever leads it."""
    record = w.record
    wanting = _wanting(w) and record is not None and record.layout.next_segment_id + 2 <= w.segments
    return wanting, not wanting


@sometimes("483-GOAL-08", parents=(1, 2))
def a_leader_changes_the_layout_by_itself(w: AutomaticChange, parents: int) -> object:
    """A split, or a merge, that nobody asked for is under way."""
    return any(len(one) == parents for one in w.automatic.values())
