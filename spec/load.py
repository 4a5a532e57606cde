"""The load of a segment: what its owner samples, and when a sample is worth a write."""

from dataclasses import dataclass

from spec.policy import BROKER_WIDE, Rates

QUIET = Rates(0, 0, 0, 0)

CHANGE_THRESHOLD = float(BROKER_WIDE["scalableTopicLoadReportRateChangeThreshold"])


@dataclass(frozen=True, slots=True)
class LoadSample:
    """A load record as the controller reads it, with the store's own time of its last write."""

    rates: Rates
    modified_at: int


def moved(written: float, now: float, threshold: float) -> bool:
    """
    A rate has moved when it differs from the last written one by more than the threshold, relative to that
    one.

    Relative to zero nothing can be measured, so any rate that leaves zero has moved.
    """
    if written == 0:
        return now > 0
    return abs(now - written) > threshold * written


def worth_writing(written: Rates | None, now: Rates, threshold: float = CHANGE_THRESHOLD) -> bool:
    """The owner writes its first sample, and later ones only when one of the four rates has moved."""
    if written is None:
        return True
    return any(moved(was, is_, threshold) for was, is_ in zip(written.each(), now.each(), strict=True))


def unchanged_for(sample: LoadSample, now: int) -> int:
    """How long a record has been standing: since nobody rewrote it, the load has not moved in that time."""
    return now - sample.modified_at
