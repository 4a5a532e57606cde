"""The load of a segment: what its owner samples, and when a sample is worth a write."""

from dataclasses import dataclass

from spec.policy import BROKER_WIDE, Rates

QUIET = Rates(0, 0, 0, 0)

CHANGE_THRESHOLD = float(BROKER_WIDE["scalableTopicLoadReportRateChangeThreshold"])


@dataclass(frozen=True, slots=True)
class LoadSample:
    """A load record as the controller reads it, with the store's own time of its last write. [483-LOAD-09]"""

    rates: Rates
    modified_at: int


def moved(written: float, now: float, threshold: float, floor: float = 0) -> bool:
    """
    A rate has moved when it differs from the written one by more than the threshold, relative to that one.

    Relative to zero nothing can be measured, so any rate that leaves zero has moved. What stays at or below
    the floor, if there is one, has not moved, however much it wobbles there.
    [483-REPORT-04, 483-REPORT-07, 483-READ-05, 483-READ-14]
    """
    if max(written, now) <= floor:
        return False
    if written == 0:
        return now > 0
    return abs(now - written) > threshold * written


def worth_writing(
    written: Rates | None, now: Rates, threshold: float = CHANGE_THRESHOLD, floor: Rates = QUIET
) -> bool:
    """
    The owner writes its first sample, and later ones only when one of the four rates has moved.

    The first is written even when it is quiet, because the merge window starts with it.
    [483-REPORT-03, 483-REPORT-05, 483-READ-06]
    """
    if written is None:
        return True
    each = zip(written.each(), now.each(), floor.each(), strict=True)
    return any(moved(was, is_, threshold, least) for was, is_, least in each)


def at_most(written: Rates, threshold: float = CHANGE_THRESHOLD, floor: Rates = QUIET) -> Rates:
    """
    The highest rates that a segment can have without its owner writing anything new.

    [483-REPORT-03, 483-READ-12]
    """
    each = zip(written.each(), floor.each(), strict=True)
    return Rates(*(max(was + threshold * was, least) for was, least in each))


def unchanged_for(sample: LoadSample, now: int) -> int:
    """
    How long a record has been standing: since nobody rewrote it, the load has not moved in that time.

    [483-LOAD-08, 483-READ-12]
    """
    return now - sample.modified_at
