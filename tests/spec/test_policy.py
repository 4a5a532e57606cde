"""The settings of auto-scaling, their defaults, and what is in force for a topic."""

import json
from dataclasses import asdict, fields
from typing import Any, get_args

import pytest

from spec.documents import Stored
from spec.layout import initial_layout, split_segment
from spec.paths import Address
from spec.policy import (
    BROKER_DEFAULTS,
    BROKER_PROPERTIES,
    BROKER_WIDE,
    NO_OVERRIDE,
    OVERRIDE_HOMES,
    AutoScaleOverride,
    AutoScalePolicy,
    Rates,
    combine,
    resolve,
    violations,
)
from spec.records import TOPIC, TopicRecord
from spec.refusals import Reason, Refused

DEFAULTS = AutoScalePolicy()


@pytest.mark.claims(
    "483-CONFIG-02",
    "483-CONFIG-03",
    "483-CONFIG-04",
    "483-CONFIG-05",
    "483-CONFIG-06",
    "483-CONFIG-07",
    "483-CONFIG-08",
    "483-CONFIG-09",
    "483-CONFIG-10",
    "483-CONFIG-11",
    "483-CONFIG-12",
    "483-CONFIG-13",
    "483-CONFIG-14",
    "483-CONFIG-15",
    "483-CONFIG-16",
    "483-CONFIG-17",
    "483-CONFIG-18",
    "483-CONFIG-19",
    "468-CONFIG-02",
    "475-CONFIG-02",
)
def test_the_defaults_of_the_broker() -> None:
    assert BROKER_DEFAULTS == {
        "scalableTopicEnabled": True,
        "enableScalableTopicMigration": True,
        "scalableTopicAutoScaleEnabled": True,
        "scalableTopicAutoScaleInterval": 60_000,
        "scalableTopicMaxSegments": 64,
        "scalableTopicMinSegments": 1,
        "scalableTopicMaxDagDepth": 10,
        "scalableTopicSplitCooldown": 60_000,
        "scalableTopicMergeCooldown": 300_000,
        "scalableTopicMergeWindow": 300_000,
        "scalableTopicSplitMsgRateInThreshold": 10_000,
        "scalableTopicSplitBytesRateInThreshold": 50_000_000,
        "scalableTopicSplitMsgRateOutThreshold": 50_000,
        "scalableTopicSplitBytesRateOutThreshold": 250_000_000,
        "scalableTopicMergeMsgRateInThreshold": 1_000,
        "scalableTopicMergeBytesRateInThreshold": 5_000_000,
        "scalableTopicMergeMsgRateOutThreshold": 5_000,
        "scalableTopicMergeBytesRateOutThreshold": 25_000_000,
        "scalableTopicLoadReportInterval": 10_000,
        "scalableTopicLoadReportRateChangeThreshold": 0.25,
    }
    assert not [name for name in BROKER_WIDE if name in BROKER_PROPERTIES.values()]


@pytest.mark.claims("483-GUARD-01", "483-CONFIG-10", "483-CONFIG-14")
def test_by_default_each_split_threshold_is_ten_times_its_merge_threshold() -> None:
    assert DEFAULTS.split_above == Rates(10_000, 50_000_000, 50_000, 250_000_000)
    assert DEFAULTS.merge_below == Rates(1_000, 5_000_000, 5_000, 25_000_000)
    assert DEFAULTS.split_above.each() == tuple(10 * limit for limit in DEFAULTS.merge_below.each())


@pytest.mark.claims("483-POLICY-04", "483-POLICY-05")
def test_an_override_has_fifteen_optional_fields() -> None:
    names = [
        "enabled",
        "max_segments",
        "min_segments",
        "max_dag_depth",
        "split_cooldown",
        "merge_cooldown",
        "merge_window",
        "split_msg_rate_in",
        "split_bytes_rate_in",
        "split_msg_rate_out",
        "split_bytes_rate_out",
        "merge_msg_rate_in",
        "merge_bytes_rate_in",
        "merge_msg_rate_out",
        "merge_bytes_rate_out",
    ]
    assert [f.name for f in fields(AutoScaleOverride)] == names
    assert [f.name for f in fields(AutoScalePolicy)] == list(BROKER_PROPERTIES) == names
    assert asdict(NO_OVERRIDE) == dict.fromkeys(names)


@pytest.mark.claims("483-POLICY-02")
def test_the_override_of_a_topic_is_a_field_of_its_record_and_survives_a_split() -> None:
    record = TopicRecord(initial_layout(1), auto_scale=AutoScaleOverride(enabled=False, max_segments=4))
    divided = record.with_layout(split_segment(record.layout, 0))

    for each in (record, divided):
        assert json.loads(TOPIC.encode(Stored(each)))["autoScalePolicy"] == {
            "enabled": False,
            "maxSegments": 4,
        }
    assert OVERRIDE_HOMES["topic"] == ("ScalableTopicMetadata", "autoScalePolicy")


@pytest.mark.claims("483-POLICY-02", "483-POLICY-03")
def test_no_override_has_a_path_of_its_own() -> None:
    assert OVERRIDE_HOMES == {
        "topic": ("ScalableTopicMetadata", "autoScalePolicy"),
        "namespace": ("Policies", "scalableTopicAutoScalePolicy"),
    }
    assert not [kind.__name__ for kind in get_args(Address) if "Policy" in kind.__name__]


@pytest.mark.claims("483-CONFIG-01")
def test_without_overrides_the_policy_is_that_of_the_broker() -> None:
    assert resolve(DEFAULTS) == DEFAULTS
    assert resolve(AutoScalePolicy(max_segments=7), NO_OVERRIDE, NO_OVERRIDE) == AutoScalePolicy(
        max_segments=7
    )


@pytest.mark.claims("483-POLICY-01", "483-POLICY-05")
def test_each_field_comes_from_the_most_specific_level_that_sets_it() -> None:
    namespace = AutoScaleOverride(max_segments=32, min_segments=2, merge_window=0)
    topic = AutoScaleOverride(max_segments=8, merge_window=1)

    assert resolve(DEFAULTS, namespace, topic) == AutoScalePolicy(
        max_segments=8, min_segments=2, merge_window=1
    )
    assert combine(namespace, topic) == AutoScaleOverride(max_segments=8, min_segments=2, merge_window=1)


@pytest.mark.claims("483-CONFIG-02", "483-POLICY-01", "483-POLICY-06", "483-SAFETY-03")
@pytest.mark.parametrize(
    ("broker", "namespace", "topic", "enabled"),
    [
        (True, None, None, True),
        (False, None, None, False),
        (True, False, None, False),
        (True, None, False, False),
        (True, True, False, False),
        (False, True, None, True),
        (False, False, True, True),
        (True, False, True, True),
    ],
)
def test_the_last_level_that_sets_enabled_has_the_say(
    broker: bool, namespace: bool | None, topic: bool | None, enabled: bool
) -> None:
    policy = resolve(
        AutoScalePolicy(enabled=broker),
        AutoScaleOverride(enabled=namespace),
        AutoScaleOverride(enabled=topic),
    )
    assert policy.enabled is enabled


@pytest.mark.parametrize(
    ("settings", "sentences"),
    [
        ({"min_segments": 0}, ["minSegments is 0, but a topic has at least 1"]),
        ({"max_segments": 1, "min_segments": 2}, ["maxSegments 1 is below minSegments 2"]),
        ({"max_dag_depth": -1}, ["maxDagDepth -1 is negative"]),
        ({"split_cooldown": -1}, ["splitCooldown -1 is negative"]),
        ({"merge_cooldown": -2}, ["mergeCooldown -2 is negative"]),
        ({"merge_window": -3}, ["mergeWindow -3 is negative"]),
        ({"merge_msg_rate_in": -1}, ["the merge threshold for msgRateIn is negative: -1"]),
        ({"merge_bytes_rate_in": -1}, ["the merge threshold for bytesRateIn is negative: -1"]),
        ({"merge_msg_rate_out": -1}, ["the merge threshold for msgRateOut is negative: -1"]),
        ({"merge_bytes_rate_out": -0.5}, ["the merge threshold for bytesRateOut is negative: -0.5"]),
        (
            {"split_msg_rate_in": 1_000},
            ["the split threshold for msgRateIn, 1000, is not above its merge threshold, 1000"],
        ),
        (
            {"split_bytes_rate_in": 2},
            ["the split threshold for bytesRateIn, 2, is not above its merge threshold, 5000000"],
        ),
        (
            {"split_msg_rate_out": 0, "merge_msg_rate_out": 0},
            ["the split threshold for msgRateOut, 0, is not above its merge threshold, 0"],
        ),
        (
            {"merge_bytes_rate_out": 250_000_000.5},
            [
                "the split threshold for bytesRateOut, 250000000, "
                "is not above its merge threshold, 250000000.5"
            ],
        ),
        (
            {"min_segments": 0, "max_segments": -1, "merge_window": -1},
            [
                "minSegments is 0, but a topic has at least 1",
                "maxSegments -1 is below minSegments 0",
                "mergeWindow -1 is negative",
            ],
        ),
        (
            {"split_msg_rate_in": -2, "merge_msg_rate_in": -1},
            [
                "the merge threshold for msgRateIn is negative: -1",
                "the split threshold for msgRateIn, -2, is not above its merge threshold, -1",
            ],
        ),
    ],
)
@pytest.mark.claims("483-GUARD-01")
def test_an_invalid_policy_is_refused_with_every_rule_that_it_breaks(
    settings: dict[str, Any], sentences: list[str]
) -> None:
    assert list(violations(AutoScalePolicy(**settings))) == sentences
    with pytest.raises(Refused) as refusal:
        resolve(DEFAULTS, topic=AutoScaleOverride(**settings))
    assert refusal.value.reason is Reason.POLICY_INVALID
    assert str(refusal.value) == (
        "the resolved auto-scale policy breaks one of its own rules: " + "; ".join(sentences)
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"min_segments": 64},
        {"min_segments": 1, "max_segments": 1},
        {"max_dag_depth": 0},
        {"split_cooldown": 0, "merge_cooldown": 0, "merge_window": 0},
        {"merge_msg_rate_in": 0},
        {"split_msg_rate_in": 1_000.1},
        {"split_bytes_rate_out": 0.1, "merge_bytes_rate_out": 0},
    ],
)
def test_the_extremes_are_valid(settings: dict[str, Any]) -> None:
    assert resolve(DEFAULTS, AutoScaleOverride(**settings)) == AutoScalePolicy(**settings)


@pytest.mark.claims("483-POLICY-01")
def test_only_what_the_levels_amount_to_is_judged() -> None:
    invalid = AutoScaleOverride(min_segments=65)
    with pytest.raises(Refused) as refusal:
        resolve(DEFAULTS, invalid)
    assert refusal.value.reason is Reason.POLICY_INVALID

    assert resolve(DEFAULTS, invalid, AutoScaleOverride(max_segments=65)).min_segments == 65
