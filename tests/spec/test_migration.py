"""Migration in figures: the layouts before and after, the precheck, lookups, and the guard for v4 clients."""

import pytest

from spec.assignment import assignable
from spec.layout import SegmentInfo, SegmentLayout, SegmentState, initial_layout
from spec.migration import (
    CLIENT_EXCEPTION,
    LOOKUP_COMMAND,
    NO_CONTENT,
    SERVER_ERROR,
    STATUS,
    Client,
    RegularTopic,
    guard_v4_lookup,
    ledger_of,
    look_up,
    migrated_layout,
    name_from_now_on,
    precheck,
    synthetic_view,
)
from spec.names import RegularName, SegmentName, TopicName, parse
from spec.ranges import FULL_RANGE, HashRange
from spec.refusals import Reason, Refused
from spec.routing import Routing, TopicView
from spec.soundness import flaws

X = RegularName("t", "n", "x")
IDENTITY = TopicName("t", "n", "x")
SEALED = SegmentState.SEALED


@pytest.mark.claims(
    "475-LAYOUT-01",
    "475-LAYOUT-02",
    "475-LAYOUT-04",
    "475-LAYOUT-05",
    "475-LAYOUT-06",
    "475-LAYOUT-09",
    "475-LAYOUT-10",
    "475-ROUTE-05",
)
def test_three_partitions_become_three_parents_and_three_children() -> None:
    thirds = HashRange(0x0000, 0x5554), HashRange(0x5555, 0xAAA9), HashRange(0xAAAA, 0xFFFF)
    layout = migrated_layout(RegularTopic(X, 3))

    parents = tuple(
        SegmentInfo(k, thirds[k], SEALED, child_ids=(3, 4, 5), legacy_topic=X.of_partition(k))
        for k in range(3)
    )
    children = tuple(SegmentInfo(3 + k, thirds[k], parent_ids=(0, 1, 2)) for k in range(3))
    assert layout == SegmentLayout(0, 6, (*parents, *children), children)
    assert [str(p.legacy_topic) for p in parents] == [f"persistent://t/n/x-partition-{k}" for k in range(3)]


@pytest.mark.claims("475-LAYOUT-03", "475-LAYOUT-04", "475-SPECIAL-05", "475-ROUTE-06")
def test_a_topic_without_partitions_becomes_one_parent_and_one_child() -> None:
    parent = SegmentInfo(0, FULL_RANGE, SEALED, child_ids=(1,), legacy_topic=X)
    child = SegmentInfo(1, FULL_RANGE, parent_ids=(0,))
    assert migrated_layout(RegularTopic(X)) == SegmentLayout(0, 2, (parent, child), (child,))


@pytest.mark.claims("475-SPECIAL-05")
def test_one_partition_is_not_the_same_as_none() -> None:
    names = [[str(n) for n in RegularTopic(X, count).ledgers()] for count in (0, 1, 2)]
    assert names == [
        ["persistent://t/n/x"],
        ["persistent://t/n/x-partition-0"],
        ["persistent://t/n/x-partition-0", "persistent://t/n/x-partition-1"],
    ]


@pytest.mark.claims("475-LAYOUT-01", "475-ROUTE-01")
def test_parents_sealed_at_epoch_0_are_sealed_and_sound() -> None:
    layout = migrated_layout(RegularTopic(X, 4))
    assert flaws(layout) == ()
    assert [(s.active, s.created_at_epoch, s.sealed_at_epoch) for s in layout.segments[:4]] == [
        (False, 0, 0)
    ] * 4
    assert [s.segment_id for s in assignable(layout, frozenset({0, 1, 2}))] == [3]


@pytest.mark.claims("475-LAYOUT-04", "475-LAYOUT-05")
def test_there_are_at_most_as_many_partitions_as_hashes() -> None:
    most = synthetic_view(RegularTopic(X, 0x10000)).layout
    assert {s.range.width for s in most.segments} == {1}

    for build in (migrated_layout, synthetic_view):
        with pytest.raises(Refused) as refusal:
            build(RegularTopic(X, 0x10001))
        assert refusal.value.reason is Reason.SEGMENT_COUNT_OUT_OF_RANGE


@pytest.mark.claims(
    "475-SPECIAL-01", "475-SPECIAL-02", "475-SPECIAL-03", "475-SPECIAL-06", "475-LOOKUP-12", "475-LOOKUP-13"
)
def test_a_partitioned_topic_shows_a_special_segment_per_partition() -> None:
    halves = HashRange(0x0000, 0x7FFF), HashRange(0x8000, 0xFFFF)
    special = tuple(SegmentInfo(k, halves[k], legacy_topic=X.of_partition(k)) for k in range(2))
    layout = SegmentLayout(0, 2, special, special)
    assert synthetic_view(RegularTopic(X, 2)) == TopicView(IDENTITY, layout, Routing.MOD_N)


@pytest.mark.claims("475-SPECIAL-01", "475-SPECIAL-04")
def test_a_topic_without_partitions_shows_one_special_segment() -> None:
    whole = SegmentInfo(0, FULL_RANGE, legacy_topic=X)
    assert synthetic_view(RegularTopic(X)).layout == SegmentLayout(0, 1, (whole,), (whole,))


@pytest.mark.claims("475-LAYOUT-07", "475-LAYOUT-08")
def test_a_parent_is_known_as_a_segment_and_keeps_its_ledger() -> None:
    layout = migrated_layout(RegularTopic(X, 2))
    parent, child = (parse(f"segment://t/n/x/8000-ffff-{i}") for i in (1, 3))
    assert isinstance(parent, SegmentName)
    assert isinstance(child, SegmentName)

    assert str(ledger_of(layout, parent)) == "persistent://t/n/x-partition-1"
    assert ledger_of(layout, child) == child
    for unknown in ("0000-ffff-1", "8000-ffff-4"):
        name = parse(f"segment://t/n/x/{unknown}")
        assert isinstance(name, SegmentName)
        with pytest.raises(Refused) as refusal:
            ledger_of(layout, name)
        assert refusal.value.reason is Reason.SEGMENT_UNKNOWN


OBSTACLES = [
    ("off", 405, Reason.MIGRATION_DISABLED, "enableScalableTopicMigration=false"),
    ("missing", 404, Reason.TOPIC_NOT_FOUND, ""),
    ("partition", 409, Reason.NAME_IS_A_PARTITION, "persistent://t/n/x-partition-0"),
    ("scalable", 409, Reason.ALREADY_SCALABLE, "persistent://t/n/x"),
    ("v4", 409, Reason.V4_CLIENTS_ATTACHED, "3 of them"),
]


@pytest.mark.claims(
    "475-CHECK-01", "475-CHECK-02", "475-CHECK-03", "475-CHECK-04", "475-CHECK-06", "475-CONFIG-01"
)
@pytest.mark.parametrize(("obstacle", "status", "reason", "detail"), OBSTACLES)
def test_what_is_in_the_way_of_a_migration(obstacle: str, status: int, reason: Reason, detail: str) -> None:
    name = X.of_partition(0) if obstacle == "partition" else X
    topic = RegularTopic(name, 2, v4_connections=3 if obstacle == "v4" else 0)
    with pytest.raises(Refused) as refusal:
        precheck(
            None if obstacle == "missing" else topic,
            scalable=obstacle == "scalable",
            enabled=obstacle != "off",
        )
    assert refusal.value.reason is reason
    assert refusal.value.detail == detail
    assert STATUS[reason] == status


@pytest.mark.claims("475-CHECK-02")
def test_the_refusal_says_how_many_v4_clients_are_left() -> None:
    with pytest.raises(Refused) as refusal:
        precheck(RegularTopic(X, v4_connections=12), scalable=False)
    assert str(refusal.value) == "v4 producers or consumers are still connected to the topic: 12 of them"


@pytest.mark.claims("475-CHECK-01", "475-CHECK-03", "475-CHECK-04", "475-CHECK-06")
@pytest.mark.parametrize(
    ("topic", "scalable", "enabled", "reason"),
    [
        (None, True, False, Reason.MIGRATION_DISABLED),
        (None, True, True, Reason.TOPIC_NOT_FOUND),
        (RegularTopic(X.of_partition(1), 0, 1), True, True, Reason.NAME_IS_A_PARTITION),
        (RegularTopic(X, 2, 1), True, True, Reason.ALREADY_SCALABLE),
        (RegularTopic(X, 2, 1), False, True, Reason.V4_CLIENTS_ATTACHED),
    ],
)
def test_of_several_obstacles_the_first_is_named(
    topic: RegularTopic | None, scalable: bool, enabled: bool, reason: Reason
) -> None:
    with pytest.raises(Refused) as refusal:
        precheck(topic, scalable, enabled)
    assert refusal.value.reason is reason


@pytest.mark.claims("475-CHECK-06", "475-REST-03")
@pytest.mark.parametrize("partitions", [0, 1, 3])
def test_nothing_in_the_way(partitions: int) -> None:
    topic = RegularTopic(X, partitions)
    assert precheck(topic, scalable=False) is topic
    assert NO_CONTENT == 204


REAL = initial_layout(2)
REGULAR = RegularTopic(X, 2)


@pytest.mark.claims(
    "475-LOOKUP-05",
    "475-LOOKUP-06",
    "475-LOOKUP-07",
    "475-LOOKUP-09",
    "475-LOOKUP-10",
    "475-LOOKUP-12",
    "475-LOOKUP-13",
)
@pytest.mark.parametrize(
    ("asked", "scalable", "regular", "identity", "routing"),
    [
        ("topic://t/n/x", REAL, None, "topic://t/n/x", "range-based"),
        ("topic://t/n/x", REAL, REGULAR, "topic://t/n/x", "range-based"),
        ("topic://t/n/x", None, None, None, None),
        ("topic://t/n/x", None, REGULAR, None, None),
        ("persistent://t/n/x", REAL, REGULAR, "topic://t/n/x", "range-based"),
        ("persistent://t/n/x", REAL, None, "topic://t/n/x", "range-based"),
        ("persistent://t/n/x", None, REGULAR, "topic://t/n/x", "mod-N"),
        ("persistent://t/n/x", None, None, None, None),
        ("t/n/x", None, REGULAR, "topic://t/n/x", "mod-N"),
        ("my-topic", REAL, None, "topic://public/default/my-topic", "range-based"),
        ("my-topic", None, None, None, None),
    ],
)
def test_what_a_lookup_answers(
    asked: str,
    scalable: SegmentLayout | None,
    regular: RegularTopic | None,
    identity: str | None,
    routing: str | None,
) -> None:
    name = parse(asked)
    assert isinstance(name, TopicName | RegularName)
    if identity is None:
        with pytest.raises(Refused) as refusal:
            look_up(name, scalable, regular)
        assert refusal.value.reason is Reason.TOPIC_NOT_FOUND
        assert SERVER_ERROR[refusal.value.reason] == "NotFound"
        return
    view = look_up(name, scalable, regular)
    assert (str(view.identity), view.routing.value) == (identity, routing)
    assert view.layout == (scalable or synthetic_view(REGULAR).layout)


@pytest.mark.claims("475-LOOKUP-09", "475-LOOKUP-10")
def test_a_short_name_shows_the_partitions_in_public_default() -> None:
    name = parse("my-topic")
    assert isinstance(name, RegularName)
    view = look_up(name, None, RegularTopic(name, 2))
    assert [str(s.legacy_topic) for s in view.layout.active] == [
        "persistent://public/default/my-topic-partition-0",
        "persistent://public/default/my-topic-partition-1",
    ]


@pytest.mark.parametrize("scalable", [None, REAL])
def test_one_partition_is_not_a_topic_to_look_up(scalable: SegmentLayout | None) -> None:
    with pytest.raises(Refused) as refusal:
        look_up(X.of_partition(0), scalable, REGULAR)
    assert refusal.value.reason is Reason.NAME_IS_A_PARTITION


@pytest.mark.claims("475-LOOKUP-08")
def test_a_client_changes_over_to_the_identity_once_it_has_seen_a_real_layout() -> None:
    assert name_from_now_on(X, look_up(X, None, REGULAR)) == X
    assert name_from_now_on(X, look_up(X, REAL, REGULAR)) == IDENTITY
    assert name_from_now_on(IDENTITY, look_up(IDENTITY, REAL, None)) == IDENTITY


@pytest.mark.claims("475-SDK-02")
def test_non_persistent_names_are_refused() -> None:
    with pytest.raises(Refused) as refusal:
        parse("non-persistent://t/n/x")
    assert refusal.value.reason is Reason.DOMAIN_UNSUPPORTED
    assert CLIENT_EXCEPTION[refusal.value.reason] == "UnsupportedOperationException"


@pytest.mark.claims("475-GUARD-04", "475-GUARD-05", "475-GUARD-06", "475-WIRE-02")
@pytest.mark.parametrize("name", [X, X.of_partition(2)])
def test_a_v4_lookup_of_a_scalable_topic_gets_its_new_name(name: RegularName) -> None:
    with pytest.raises(Refused) as refusal:
        guard_v4_lookup(name, scalable=True)
    assert refusal.value.reason is Reason.TOPIC_MIGRATED
    assert refusal.value.detail == "topic://t/n/x"
    assert SERVER_ERROR[refusal.value.reason] == "TopicMigrated"
    assert STATUS[refusal.value.reason] == 410


@pytest.mark.claims("475-GUARD-04", "475-WIRE-03")
def test_everybody_else_passes_the_guard() -> None:
    guard_v4_lookup(X, scalable=False)
    guard_v4_lookup(X, scalable=False, client=Client.V5)
    guard_v4_lookup(X.of_partition(0), scalable=True, client=Client.V5)


@pytest.mark.claims("475-GUARD-03")
def test_each_generation_has_its_own_lookup() -> None:
    assert LOOKUP_COMMAND == {
        Client.V4: "CommandLookupTopic",
        Client.V5: "CommandScalableTopicLookup",
    }


def test_a_topic_with_more_partitions_than_hashes_is_not_migrated() -> None:
    most = RegularTopic(RegularName("t", "n", "x"), 65536)

    assert precheck(most, scalable=False) == most
    with pytest.raises(Refused) as refusal:
        precheck(RegularTopic(most.name, 65537), scalable=False)
    assert refusal.value.reason is Reason.SEGMENT_COUNT_OUT_OF_RANGE
    assert STATUS[refusal.value.reason] == 409


def test_another_topic_answers_no_lookup() -> None:
    with pytest.raises(Refused) as refusal:
        look_up(RegularName("t", "n", "y"), None, RegularTopic(RegularName("t", "n", "x"), 2))
    assert refusal.value.reason is Reason.TOPIC_NOT_FOUND
