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


def moved(written: float, now: float, threshold: float) -> bool:
    """
    A rate has moved when it differs from the written one by more than the threshold, relative to that one.

    Relative to zero nothing can be measured, so any rate that leaves zero has moved.
    [483-REPORT-04, 483-REPORT-07, 483-READ-05]
    """
    if written == 0:
        return now > 0
    return abs(now - written) > threshold * written


def worth_writing(written: Rates | None, now: Rates, threshold: float = CHANGE_THRESHOLD) -> bool:
    """
    The owner writes its first sample, and later ones only when one of the four rates has moved.

    The first is written even when it is quiet, because the merge window starts with it.
    [483-REPORT-03, 483-REPORT-05, 483-READ-06]
    """
    if written is None:
        return True
    return any(moved(was, is_, threshold) for was, is_ in zip(written.each(), now.each(), strict=True))


def unchanged_for(sample: LoadSample, now: int) -> int:
    """
    How long a record has been standing: since nobody rewrote it, the load has not moved in that time.

    [483-LOAD-08, 483-READ-12]
    """
    return now - sample.modified_at
