"""The load record, and when a sample is worth a write."""

import json
from dataclasses import fields
from typing import get_args

import pytest

from spec.documents import Stored
from spec.load import CHANGE_THRESHOLD, QUIET, LoadSample, at_most, moved, unchanged_for, worth_writing
from spec.names import TopicName
from spec.paths import Address, SegmentLoadAt, path_of
from spec.policy import METRICS, Rates
from spec.records import LOAD
from spec.refusals import Reason, Refused

EXAMPLE = {
    "msgRateIn": 12000.0,
    "bytesRateIn": 64000000.0,
    "msgRateOut": 48000.0,
    "bytesRateOut": 256000000.0,
}


def reports(*samples: Rates) -> list[Rates]:
    """What a reporter writes of the samples that it takes."""
    written: list[Rates] = []
    for sample in samples:
        if worth_writing(written[-1] if written else None, sample):
            written.append(sample)
    return written


@pytest.mark.claims("483-REPORT-03", "483-REPORT-04", "483-REPORT-07", "483-CONFIG-19")
@pytest.mark.parametrize(
    ("written", "now", "material"),
    [
        (100, 100, False),
        (100, 125, False),
        (100, 125.01, True),
        (100, 75, False),
        (100, 74.99, True),
        (100, 0, True),
        (0, 0, False),
        (0, 0.001, True),
        (0.004, 0.005, False),
        (1e9, 1.25e9, False),
        (1e9, 1.25e9 + 1, True),
    ],
)
def test_a_rate_has_moved_beyond_a_quarter_of_the_written_one(
    written: float, now: float, material: bool
) -> None:
    assert CHANGE_THRESHOLD == 0.25
    assert moved(written, now, CHANGE_THRESHOLD) is material


def test_what_stays_at_or_below_the_floor_is_no_news() -> None:
    floor = Rates(2, 0, 0, 0)
    assert not worth_writing(QUIET, Rates(2, 0, 0, 0), floor=floor)
    assert not worth_writing(Rates(2, 0, 0, 0), Rates(1, 0, 0, 0), floor=floor)
    assert worth_writing(Rates(2, 0, 0, 0), Rates(2.6, 0, 0, 0), floor=floor)
    assert worth_writing(Rates(3, 0, 0, 0), Rates(1, 0, 0, 0), floor=floor)
    assert worth_writing(QUIET, Rates(0, 1, 0, 0), floor=floor)
    assert worth_writing(None, QUIET, floor=floor)


def test_the_most_that_can_be_carried_in_silence_is_not_worth_a_write_and_no_more_is() -> None:
    written, floor = Rates(100, 1, 0, 4), Rates(0, 8, 0, 0)
    most = at_most(written, CHANGE_THRESHOLD, floor)

    assert most == Rates(125, 8, 0, 5)
    assert not worth_writing(written, most, floor=floor)
    for place in range(4):
        more = Rates(*(rate + 0.001 * (i == place) for i, rate in enumerate(most.each())))
        assert worth_writing(written, more, floor=floor)


@pytest.mark.claims("483-REPORT-03")
@pytest.mark.parametrize("place", range(4))
def test_any_one_of_the_four_rates_is_enough(place: int) -> None:
    changed = [100.0] * 4
    changed[place] = 126.0

    assert worth_writing(Rates(100, 100, 100, 100), Rates(*changed))
    assert not worth_writing(Rates(100, 100, 100, 100), Rates(110, 90, 125, 75))


@pytest.mark.claims("483-REPORT-05")
def test_the_first_sample_is_written_even_when_it_is_quiet() -> None:
    assert worth_writing(None, QUIET)
    assert reports(*[QUIET] * 360) == [QUIET]


@pytest.mark.claims("483-REPORT-07")
def test_a_sample_is_compared_with_the_last_write_and_not_with_the_last_sample() -> None:
    rising = [Rates(rate, 0, 0, 0) for rate in (100, 120, 125, 126, 150, 157.5, 158)]
    assert [r.msg_in for r in reports(*rising)] == [100, 126, 158]


@pytest.mark.claims("483-LOAD-08")
def test_a_record_may_hide_a_rate_that_is_a_quarter_higher_or_lower() -> None:
    cold = Rates(999, 0, 0, 0)
    assert not worth_writing(cold, Rates(1248.75, 0, 0, 0))
    assert worth_writing(cold, Rates(1248.76, 0, 0, 0))


def test_a_nearly_idle_segment_that_wobbles_is_written_again_and_again() -> None:
    wobble = [Rates(rate, 0, 0, 0) for rate in (1, 2, 1, 2)]
    assert reports(*wobble) == wobble


@pytest.mark.claims("483-LOAD-08", "483-LOAD-09")
def test_the_age_of_a_record_is_the_time_since_its_last_write() -> None:
    assert unchanged_for(LoadSample(QUIET, modified_at=1_000), now=301_000) == 300_000
    assert unchanged_for(LoadSample(QUIET, modified_at=1_000), now=900) == -100
    assert [f.name for f in fields(LoadSample)] == ["rates", "modified_at"]


@pytest.mark.claims("483-LOAD-03", "483-LOAD-04")
def test_a_load_record_has_four_rates_and_nothing_else() -> None:
    rates = Rates(12_000.0, 64_000_000.0, 48_000.0, 256_000_000.0)

    assert LOAD.decode(json.dumps(EXAMPLE)) == Stored(rates)
    assert json.loads(LOAD.encode(Stored(rates))) == EXAMPLE
    assert tuple(EXAMPLE) == METRICS


@pytest.mark.claims("483-LOAD-03")
@pytest.mark.parametrize("missing", EXAMPLE)
@pytest.mark.parametrize("instead", [None, "12000.0", True, -1.0])
def test_each_of_the_four_must_be_a_number(missing: str, instead: object) -> None:
    with pytest.raises(Refused) as refusal:
        LOAD.decode(json.dumps({**EXAMPLE, missing: instead}))
    assert refusal.value.reason is Reason.RECORD_MALFORMED

    with pytest.raises(Refused) as refusal:
        LOAD.decode(json.dumps({name: rate for name, rate in EXAMPLE.items() if name != missing}))
    assert refusal.value.reason is Reason.RECORD_MALFORMED


@pytest.mark.claims("483-LOAD-02")
def test_the_load_record_is_the_only_record_that_auto_scaling_adds() -> None:
    before = {"TopicRecordAt", "ControllerAt", "SubscriptionAt", "ConsumerAt"}
    transactions = {"HeaderAt", "OperationAt"}

    assert {kind.__name__ for kind in get_args(Address)} == before | transactions | {"SegmentLoadAt"}
    assert path_of(SegmentLoadAt(TopicName("t", "n", "x"), 3)) == "/topics/t/n/x/segments/3/load"


def test_a_quiet_segment_has_no_rate_at_all() -> None:
    assert Rates(0, 0, 0, 0) == QUIET
