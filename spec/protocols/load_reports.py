"""
Load reports: what a segment has to carry, and what the broker that owns it writes down of that.

The owner pushes a sample into the metadata store when it is news, and the leader reads it there; neither asks
the other. Times are counted back from now: a record that was just written bears the time 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.layout import SegmentInfo
from spec.load import QUIET, LoadSample, worth_writing
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    choose,
    require,
    start,
    step,
)
from spec.policy import Rates
from spec.protocols.topic import KEYS, SEGMENTS, Topic, hash_of
from spec.ranges import contains

HOSTS = Domain("host", "h")
"""Brokers in so far as they own segments; that the same ones may lead makes no difference."""


@dataclass(frozen=True, slots=True)
class Report:
    """A sample on its way to the store."""

    rates: Rates
    overtaken: bool = False
    """The record was written or deleted since it was read: a conditional write of it will fail."""


class Load(Topic):
    """The load of a topic, and what is reported of it."""

    floor = Bound()
    """At or below this rate owners have nothing to report, if the design wants that."""

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


@start
def segments_have_hosts(w: Load) -> None:
    """Every segment is on the first host, if there is one, and nothing was reported yet."""
    hosts = sorted({host for host, _ in w.written})
    for segment in active_segments(w):
        w.host[segment.segment_id] = hosts[0] if hosts else None


def active_segments(w: Topic) -> tuple[SegmentInfo, ...]:
    """The active segments of the topic, if it exists."""
    return () if w.record is None else w.record.layout.active


def true_rates(w: Load, segment: SegmentInfo) -> Rates:
    """
    What a segment really has to carry: the load of all keys in its range, however it is cut.

    Only the rate of incoming messages matters here.
    """
    inside = [key for key in w.rate if contains(segment.range, hash_of(w, key))]
    return Rates(sum(w.rate[key] for key in inside), 0, 0, 0)


def floor_of(w: Load) -> Rates:
    """Below which rates nothing is reported."""
    return Rates(w.floor, 0, 0, 0) if w.design.small_rates_are_not_news else QUIET


def everything_is_reported(w: Load) -> bool:
    """No owner of a segment has anything to report, nor anything on its way."""
    return not any(_report_is_due(w, segment) for segment in active_segments(w))


def _report_is_due(w: Load, segment: SegmentInfo) -> bool:
    host = w.host[segment.segment_id]
    if host is None:
        return False
    written, rates = w.written[host, segment.segment_id], true_rates(w, segment)
    return w.report[host, segment.segment_id] is not None or worth_writing(written, rates, floor=floor_of(w))


def stop_reporting(w: Load, segment: int) -> None:
    """A segment has no owner any more; what was sent off is on its way."""
    w.host[segment] = None
    w.cold_for[segment] = 0
    for host, of in w.written:
        if of == segment:
            w.written[host, of] = None


def delete_load(w: Load, segment: int) -> None:
    """A load record goes, and every write that names its version fails."""
    if w.load[segment] is not None:
        w.load[segment] = None
        _overtake(w, segment)


def _overtake(w: Load, segment: int) -> None:
    """Whatever is on its way to this record was sampled before this; an unconditional write does not care."""
    for (host, of), late in w.report.items():
        if of == segment and late is not None and w.design.load_reports_are_conditional:
            w.report[host, of] = replace(late, overtaken=True)


# The owners of segments


class Reporting(Load):
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
    record = w.record
    assert record is not None
    rates = true_rates(w, record.layout.segment(segment))
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
    if report.overtaken:
        return
    w.load[segment] = LoadSample(report.rates, 0)
    if w.host[segment] == host:
        w.written[host, segment] = report.rates
    _overtake(w, segment)


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


@step("483-GOAL-05", segment=SEGMENTS)
def only_the_load_balancer_moves_segments(w: Reporting, after: Reporting, segment: int) -> Iterator[str]:
    """While a segment is active its owner changes by a move of the load balancer, and by nothing else."""
    both = all(segment in [s.segment_id for s in active_segments(each)] for each in (w, after))
    if both and w.host[segment] != after.host[segment] and w.moves_left == after.moves_left:
        yield f"segment {segment} went from {w.host[segment]} to {after.host[segment]}"


# Load that comes and goes


class Shifting(Load):
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


class Wobbling(Load):
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
    require(everything_is_reported(w))

    w.rate[key] = w.busy if w.rate[key] == w.calm else w.calm
