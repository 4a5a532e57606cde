"""Laws of the auto-scale policy: how the levels combine, and which results are valid."""

from dataclasses import asdict, fields, replace
from math import inf
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from models.laws.law import law, seen
from spec.policy import (
    NO_OVERRIDE,
    AutoScaleOverride,
    AutoScalePolicy,
    combine,
    resolve,
    violations,
)
from spec.refusals import Reason, Refused

FIELDS = tuple(f.name for f in fields(AutoScalePolicy))
RATES = ("msg_rate_in", "bytes_rate_in", "msg_rate_out", "bytes_rate_out")

VALUES: dict[str, tuple[Any, ...]] = {
    "enabled": (True, False),
    "max_segments": (1, 2, 64, 0),
    "min_segments": (1, 2, 0, 65),
    "max_dag_depth": (0, 10, -1),
    **dict.fromkeys(("split_cooldown", "merge_cooldown", "merge_window"), (0, 1, -1)),
    **{f"split_{rate}": (10**9, 2 * 10**9, 1.5) for rate in RATES},
    **{f"merge_{rate}": (0, 1, 10**9, -0.5) for rate in RATES},
}
"""What an override may say about each field; some of it is invalid, by itself or with other fields."""


@st.composite
def some_overrides(draw: DrawFn) -> AutoScaleOverride:
    """
    Each byte of a row chooses the value of one field, mostly none.

    With a strategy for each field, most examples would be variations of the same few.
    """
    row = draw(st.binary(min_size=len(FIELDS), max_size=len(FIELDS)))
    options = ((name, (*[None] * 8, *VALUES[name])) for name in FIELDS)
    return AutoScaleOverride(
        **{n: values[b % len(values)] for (n, values), b in zip(options, row, strict=True)}
    )


overrides: SearchStrategy[AutoScaleOverride] = some_overrides()
COMPLETE = AutoScaleOverride(**asdict(AutoScalePolicy()))


def valid(policy: AutoScalePolicy) -> bool:
    """What a policy must satisfy, as one formula."""
    p = policy
    pauses = (p.split_cooldown, p.merge_cooldown, p.merge_window)
    bands = (
        (p.merge_msg_rate_in, p.split_msg_rate_in),
        (p.merge_bytes_rate_in, p.split_bytes_rate_in),
        (p.merge_msg_rate_out, p.split_msg_rate_out),
        (p.merge_bytes_rate_out, p.split_bytes_rate_out),
    )
    return (
        1 <= p.min_segments <= p.max_segments
        and p.max_dag_depth >= 0
        and min(pauses) >= 0
        and all(0 <= merge < split < inf for merge, split in bands)
    )


def outcome(*levels: AutoScaleOverride, defaults: AutoScalePolicy) -> AutoScalePolicy | Refused:
    """The policy in force, or the refusal of one."""
    try:
        return resolve(defaults, *levels)
    except Refused as refused:
        return refused


@law(
    "483-POLICY-05",
    one=overrides,
    two=overrides,
    three=overrides,
    sometimes=("all three set the same field",),
)
def combining_levels_is_associative(
    one: AutoScaleOverride, two: AutoScaleOverride, three: AutoScaleOverride
) -> None:
    """In whichever grouping levels are combined, the result is the same; no override adds nothing."""
    levels = (one, two, three)
    seen(
        "all three set the same field",
        any(all(getattr(level, name) is not None for level in levels) for name in FIELDS),
    )

    assert combine(combine(one, two), three) == combine(one, combine(two, three))
    assert combine(NO_OVERRIDE, one) == combine(one, NO_OVERRIDE) == combine(one, one) == one


@law(
    "483-POLICY-01",
    "483-POLICY-05",
    "483-CONFIG-01",
    defaults=overrides,
    namespace=overrides,
    topic=overrides,
    sometimes=("the topic overrules the namespace", "a namespace setting", "a broker setting", "a refusal"),
)
def the_most_specific_level_wins_field_by_field(
    defaults: AutoScaleOverride, namespace: AutoScaleOverride, topic: AutoScaleOverride
) -> None:
    """Each field comes from the topic, else from the namespace, else from the broker, on its own."""
    broker = replace(AutoScalePolicy(), **{n: v for n in FIELDS if (v := getattr(defaults, n)) is not None})
    expected = AutoScalePolicy(
        **{
            name: next(
                value for level in (topic, namespace, broker) if (value := getattr(level, name)) is not None
            )
            for name in FIELDS
        }
    )
    seen("the topic overrules the namespace", combine(namespace, topic) != combine(topic, namespace))
    seen("a namespace setting", combine(namespace, topic) != topic)
    seen("a broker setting", expected != broker)
    seen("a refusal", not valid(expected))

    found = outcome(namespace, topic, defaults=broker)
    assert found == (expected if valid(expected) else Refused(Reason.POLICY_INVALID))


@law(
    "483-POLICY-01",
    namespace=overrides,
    topic=overrides | st.just(COMPLETE),
    sometimes=("an invalid namespace that the topic mends", "two valid steps"),
)
def resolving_step_by_step_is_resolving_at_once(
    namespace: AutoScaleOverride, topic: AutoScaleOverride
) -> None:
    """A valid policy of a namespace may serve as its topics' defaults; only the final result is judged."""
    at_once = outcome(namespace, topic, defaults=AutoScalePolicy())
    halfway = outcome(namespace, defaults=AutoScalePolicy())
    mended = isinstance(halfway, Refused) and isinstance(at_once, AutoScalePolicy)
    seen("an invalid namespace that the topic mends", mended)
    seen("two valid steps", isinstance(halfway, AutoScalePolicy) and isinstance(at_once, AutoScalePolicy))

    assert at_once == outcome(combine(namespace, topic), defaults=AutoScalePolicy())
    if isinstance(halfway, AutoScalePolicy):
        assert at_once == outcome(topic, defaults=halfway)


@law(
    "483-POLICY-06",
    "483-SAFETY-03",
    broker=st.booleans(),
    namespace=st.none() | st.booleans(),
    topic=st.none() | st.booleans(),
    sometimes=("off by the topic", "off by the namespace", "off by the broker", "on below an off"),
)
def off_at_a_level_is_off_unless_a_level_below_says_on(
    broker: bool, namespace: bool | None, topic: bool | None
) -> None:
    """The last level that says anything about `enabled` has the say."""
    said = [level for level in (broker, namespace, topic) if level is not None]
    seen("off by the topic", topic is False)
    seen("off by the namespace", topic is None and namespace is False)
    seen("off by the broker", topic is None and namespace is None and not broker)
    seen("on below an off", said[-1] and False in said)

    policy = resolve(
        AutoScalePolicy(enabled=broker),
        AutoScaleOverride(enabled=namespace),
        AutoScaleOverride(enabled=topic),
    )
    assert policy.enabled is said[-1]


@law(
    "483-GUARD-01",
    "483-CAP-01",
    "483-CAP-02",
    settings=overrides,
    sometimes=("valid", "one violation", "several violations"),
)
def a_policy_is_refused_with_one_sentence_for_each_rule_it_breaks(settings: AutoScaleOverride) -> None:
    """A policy without violations satisfies the formula, and any other is refused with all of them."""
    policy = replace(AutoScalePolicy(), **{n: v for n in FIELDS if (v := getattr(settings, n)) is not None})
    broken = list(violations(policy))
    seen("valid", not broken)
    seen("one violation", len(broken) == 1)
    seen("several violations", len(broken) > 1)

    assert valid(policy) == (not broken)
    assert len(set(broken)) == len(broken)
    found = outcome(settings, defaults=AutoScalePolicy())
    assert found == (Refused(Reason.POLICY_INVALID) if broken else policy)
    assert not isinstance(found, Refused) or found.detail == "; ".join(broken)
