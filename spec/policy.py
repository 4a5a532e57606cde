"""
The auto-scale policy: every setting with its default, and how broker, namespace and topic levels combine.

Times are milliseconds, rates are per second, a megabyte is 1,000,000 bytes. [483-READ-49, 483-READ-50]
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from operator import add
from typing import Any

from spec.refusals import Reason, Refused

SECOND = 1_000
MINUTE = 60 * SECOND
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """
    The four rates of a segment, or a threshold for each of them.

    They are all that a load record says: no time, and nothing about who caused them, so that the traffic of
    queue consumers weighs as much as any other.
    [483-LOAD-03, 483-LOAD-04, 483-DECIDE-03]
    """

    msg_in: float
    bytes_in: float
    msg_out: float
    bytes_out: float

    def each(self) -> tuple[float, float, float, float]:
        return self.msg_in, self.bytes_in, self.msg_out, self.bytes_out

    def __str__(self) -> str:
        return "/".join(f"{rate:g}" for rate in self.each())

    def __add__(self, other: "Rates") -> "Rates":
        return Rates(*map(add, self.each(), other.each()))

    @property
    def total(self) -> float:
        """All four added up, units and all: this is how the coldest pair is found."""
        return self.msg_in + self.bytes_in + self.msg_out + self.bytes_out


METRICS = ("msgRateIn", "bytesRateIn", "msgRateOut", "bytesRateOut")
"""The names of the four rates, in the order of `Rates.each`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoScalePolicy:
    """
    What the evaluator goes by. The defaults are those of `broker.conf`.

    [483-CONFIG-02, 483-CONFIG-04, 483-CONFIG-05, 483-CONFIG-06, 483-CONFIG-07, 483-CONFIG-08, 483-CONFIG-09,
    483-CONFIG-10, 483-CONFIG-11, 483-CONFIG-12, 483-CONFIG-13, 483-CONFIG-14, 483-CONFIG-15, 483-CONFIG-16,
    483-CONFIG-17]
    """

    enabled: bool = True
    max_segments: int = 64
    min_segments: int = 1
    max_dag_depth: int = 10
    split_cooldown: int = 1 * MINUTE
    merge_cooldown: int = 5 * MINUTE
    merge_window: int = 5 * MINUTE
    split_msg_rate_in: float = 10_000
    split_bytes_rate_in: float = 50 * MEGABYTE
    split_msg_rate_out: float = 50_000
    split_bytes_rate_out: float = 250 * MEGABYTE
    merge_msg_rate_in: float = 1_000
    merge_bytes_rate_in: float = 5 * MEGABYTE
    merge_msg_rate_out: float = 5_000
    merge_bytes_rate_out: float = 25 * MEGABYTE

    @property
    def split_above(self) -> Rates:
        return Rates(
            self.split_msg_rate_in,
            self.split_bytes_rate_in,
            self.split_msg_rate_out,
            self.split_bytes_rate_out,
        )

    @property
    def merge_below(self) -> Rates:
        return Rates(
            self.merge_msg_rate_in,
            self.merge_bytes_rate_in,
            self.merge_msg_rate_out,
            self.merge_bytes_rate_out,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoScaleOverride:
    """
    What a namespace or a topic sets differently; `None` falls through to the next level.

    [483-POLICY-04, 483-POLICY-05]
    """

    enabled: bool | None = None
    max_segments: int | None = None
    min_segments: int | None = None
    max_dag_depth: int | None = None
    split_cooldown: int | None = None
    merge_cooldown: int | None = None
    merge_window: int | None = None
    split_msg_rate_in: float | None = None
    split_bytes_rate_in: float | None = None
    split_msg_rate_out: float | None = None
    split_bytes_rate_out: float | None = None
    merge_msg_rate_in: float | None = None
    merge_bytes_rate_in: float | None = None
    merge_msg_rate_out: float | None = None
    merge_bytes_rate_out: float | None = None


NO_OVERRIDE = AutoScaleOverride()

OVERRIDE_HOMES = {
    "topic": ("ScalableTopicMetadata", "autoScalePolicy"),
    "namespace": ("Policies", "scalableTopicAutoScalePolicy"),
}
"""Each level's override is a field of a record that exists anyway. [483-POLICY-02, 483-POLICY-03]"""

BROKER_PROPERTIES = {
    "enabled": "scalableTopicAutoScaleEnabled",
    "max_segments": "scalableTopicMaxSegments",
    "min_segments": "scalableTopicMinSegments",
    "max_dag_depth": "scalableTopicMaxDagDepth",
    "split_cooldown": "scalableTopicSplitCooldown",
    "merge_cooldown": "scalableTopicMergeCooldown",
    "merge_window": "scalableTopicMergeWindow",
    "split_msg_rate_in": "scalableTopicSplitMsgRateInThreshold",
    "split_bytes_rate_in": "scalableTopicSplitBytesRateInThreshold",
    "split_msg_rate_out": "scalableTopicSplitMsgRateOutThreshold",
    "split_bytes_rate_out": "scalableTopicSplitBytesRateOutThreshold",
    "merge_msg_rate_in": "scalableTopicMergeMsgRateInThreshold",
    "merge_bytes_rate_in": "scalableTopicMergeBytesRateInThreshold",
    "merge_msg_rate_out": "scalableTopicMergeMsgRateOutThreshold",
    "merge_bytes_rate_out": "scalableTopicMergeBytesRateOutThreshold",
}
"""What `broker.conf` calls each field of the policy."""

BROKER_WIDE: dict[str, int | float | bool] = {
    "scalableTopicEnabled": True,
    "enableScalableTopicMigration": True,
    "scalableTopicAutoScaleInterval": 60 * SECOND,
    "scalableTopicLoadReportInterval": 10 * SECOND,
    "scalableTopicLoadReportRateChangeThreshold": 0.25,
}
"""
Settings that no namespace or topic overrides, with their defaults.

[483-CONFIG-03, 483-CONFIG-18, 483-CONFIG-19, 483-READ-51]
"""

BROKER_DEFAULTS: dict[str, int | float | bool] = BROKER_WIDE | {
    name: getattr(AutoScalePolicy(), field) for field, name in BROKER_PROPERTIES.items()
}
"""Every property of `broker.conf` that the documents name, with its default."""


def combine(general: AutoScaleOverride, specific: AutoScaleOverride) -> AutoScaleOverride:
    """Two levels as one: a field that the specific level sets wins, all others come from the general one."""
    return replace(general, **_settings(specific))


def resolve(
    defaults: AutoScalePolicy,
    namespace: AutoScaleOverride = NO_OVERRIDE,
    topic: AutoScaleOverride = NO_OVERRIDE,
) -> AutoScalePolicy:
    """
    The policy in force: topic over namespace over broker, field by field, then judged as a whole.

    `enabled` is a field like any other: a topic that sets it is on, or off, whatever its namespace says.
    [483-CONFIG-01, 483-POLICY-01, 483-POLICY-05, 483-POLICY-06, 483-READ-52, 483-READ-53]
    """
    policy = replace(defaults, **_settings(combine(namespace, topic)))
    broken = "; ".join(violations(policy))
    if broken:
        raise Refused(Reason.POLICY_INVALID, broken)
    return policy


def violations(policy: AutoScalePolicy) -> Iterator[str]:
    """
    What is wrong with a policy; an invalid one is never acted upon.

    Between a merge threshold and its split threshold a segment is left alone, so the gap must not be empty.
    [483-GUARD-01, 483-READ-55]
    """
    if policy.min_segments < 1:
        yield f"minSegments is {policy.min_segments}, but a topic has at least 1"
    if policy.max_segments < policy.min_segments:
        yield f"maxSegments {policy.max_segments} is below minSegments {policy.min_segments}"
    if policy.max_dag_depth < 0:
        yield f"maxDagDepth {policy.max_dag_depth} is negative"
    for name, pause in (
        ("splitCooldown", policy.split_cooldown),
        ("mergeCooldown", policy.merge_cooldown),
        ("mergeWindow", policy.merge_window),
    ):
        if pause < 0:
            yield f"{name} {pause} is negative"
    for metric, split, merge in zip(
        METRICS, policy.split_above.each(), policy.merge_below.each(), strict=True
    ):
        if merge < 0:
            yield f"the merge threshold for {metric} is negative: {merge}"
        if not split > merge:
            yield f"the split threshold for {metric}, {split}, is not above its merge threshold, {merge}"


def _settings(override: AutoScaleOverride) -> dict[str, Any]:
    named = ((f.name, getattr(override, f.name)) for f in fields(override))
    return {name: value for name, value in named if value is not None}
