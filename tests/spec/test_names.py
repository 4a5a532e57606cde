"""Names of topics: what is read, what it denotes, and what is refused."""

import pytest

from spec.migration import RegularTopic
from spec.names import (
    RegularName,
    SegmentName,
    TopicName,
    parse,
    regular_name,
    scalable_identity,
    segment_name,
    topic_name,
)
from spec.ranges import HashRange
from spec.refusals import Reason, Refused
from spec.surface import ENDPOINTS

TOPIC = TopicName("t", "n", "x")


@pytest.mark.claims("475-NAME-01", "475-NAME-03", "475-NAME-07", "468-SEGMENT-14", "468-SEGMENT-15")
@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("topic://t/n/x", TOPIC),
        ("persistent://t/n/x", RegularName("t", "n", "x")),
        ("persistent://t/n/x-partition-3", RegularName("t", "n", "x", 3)),
        ("segment://t/n/x/0000-7fff-1", SegmentName(TOPIC, HashRange(0x0000, 0x7FFF), 1)),
        ("segment://t/n/x/abcd-abcd-0", SegmentName(TOPIC, HashRange(0xABCD, 0xABCD), 0)),
    ],
)
def test_a_domain_says_what_a_name_denotes(spelling: str, name: object) -> None:
    assert parse(spelling) == name
    assert str(name) == spelling


@pytest.mark.claims("475-NAME-05", "475-LOOKUP-10")
@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("my-topic", "persistent://public/default/my-topic"),
        ("my-topic-partition-0", "persistent://public/default/my-topic-partition-0"),
        ("t/n/x", "persistent://t/n/x"),
    ],
)
def test_short_names_are_expanded(short: str, full: str) -> None:
    assert str(parse(short)) == full


@pytest.mark.parametrize(
    "local",
    [
        "a/b",
        "a//b",
        "/x",
        "x/",
        ".",
        "..",
        "100%",
        "%2F",
        "a+b",
        "a b",
        "é",
        "日本語",
        "🙂",
        "a://b",
        "0000-7fff-1",
    ],
)
def test_awkward_topics_and_their_segments_read_back(local: str) -> None:
    topic = topic_name("t", "n", local)
    segment = SegmentName(topic, HashRange(0, 0xFFFF), 7)

    assert parse(f"topic://t/n/{local}") == topic
    assert parse(f"segment://t/n/{local}/0000-ffff-7") == segment


@pytest.mark.parametrize(
    ("local", "name"),
    [
        ("x-partition-0", RegularName("t", "n", "x", 0)),
        ("x-partition-1-partition-2", RegularName("t", "n", "x-partition-1", 2)),
        ("x-partition-01", RegularName("t", "n", "x-partition-01")),
        ("x-partition-", RegularName("t", "n", "x-partition-")),
        ("x-partition-٣", RegularName("t", "n", "x-partition-٣")),
        ("-partition-1", RegularName("t", "n", "-partition-1")),
        ("x-partition-9223372036854775807", RegularName("t", "n", "x", 2**63 - 1)),
    ],
)
def test_only_a_plain_number_makes_a_partition(local: str, name: RegularName) -> None:
    assert regular_name("t", "n", local) == name
    assert parse(str(name)) == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.NAME_MALFORMED),
        (" x", Reason.NAME_MALFORMED),
        ("x\n", Reason.NAME_MALFORMED),
        ("a\x00b", Reason.NAME_MALFORMED),
        ("\ud800", Reason.NAME_MALFORMED),
        ("t/n", Reason.NAME_MALFORMED),
        ("t/n/a/b", Reason.NAME_MALFORMED),
        ("topic://t/n", Reason.NAME_MALFORMED),
        ("topic://t/n/", Reason.NAME_MALFORMED),
        ("topic:///n/x", Reason.NAME_MALFORMED),
        ("topic://t/n/ x", Reason.NAME_MALFORMED),
        ("topic://ü/n/x", Reason.NAME_MALFORMED),
        ("topic://t/a b/x", Reason.NAME_MALFORMED),
        ("persistent://t/n/a/b", Reason.NAME_MALFORMED),
        ("x-partition-9223372036854775808", Reason.NAME_MALFORMED),
        ("segment://t/n/x/0000-7fff-9223372036854775808", Reason.NAME_MALFORMED),
        ("segment://t/n/x/0000-7fff-99999999999999999999", Reason.NAME_MALFORMED),
        ("segment://t/n/0000-7fff-1", Reason.NAME_MALFORMED),
        ("segment://t/n/x", Reason.DESCRIPTOR_MALFORMED),
        ("segment://0000", Reason.DESCRIPTOR_MALFORMED),
        ("segment://t/n/x/8000-7fff-1", Reason.RANGE_INVALID),
        ("file://t/n/x", Reason.DOMAIN_UNKNOWN),
        ("TOPIC://t/n/x", Reason.DOMAIN_UNKNOWN),
        ("://t/n/x", Reason.DOMAIN_UNKNOWN),
    ],
)
def test_what_is_no_name_is_refused(text: str, reason: Reason) -> None:
    with pytest.raises(Refused) as refusal:
        parse(text)
    assert refusal.value.reason is reason


@pytest.mark.claims("475-NAME-02", "475-SDK-02")
def test_a_non_persistent_name_is_understood_and_not_supported() -> None:
    with pytest.raises(Refused) as refusal:
        parse("non-persistent://t/n/x")
    assert refusal.value.reason is Reason.DOMAIN_UNSUPPORTED
    assert str(refusal.value) == "non-persistent topics are not supported: 'non-persistent://t/n/x'"


@pytest.mark.claims("468-SEGMENT-15")
@pytest.mark.parametrize(
    "descriptor",
    [
        "0-7fff-1",
        "0000-7FFF-1",
        "0000-7fff-01",
        "0000-7fff",
        "0000-7fff-1-2",
        "0000-7fff--1",
        "00000-7fff-1",
        "",
    ],
)
def test_a_descriptor_has_one_spelling(descriptor: str) -> None:
    with pytest.raises(Refused) as refusal:
        segment_name("t", "n", "x", descriptor)
    assert refusal.value.reason is Reason.DESCRIPTOR_MALFORMED


@pytest.mark.claims("468-SEGAPI-04")
def test_the_components_of_a_rest_path_make_a_segments_name() -> None:
    create = next(e for e in ENDPOINTS if e.path.endswith("/{descriptor}") and e.method == "PUT")
    components = create.path.removeprefix("/admin/v2/segments/").split("/")

    assert components == ["{tenant}", "{namespace}", "{topic}", "{descriptor}"]
    assert str(segment_name("t", "n", "x", "0000-7fff-1")) == "segment://t/n/x/0000-7fff-1"


@pytest.mark.claims("475-NAME-06", "475-NAME-07", "475-NAME-08")
@pytest.mark.parametrize(
    ("partitions", "ledgers"),
    [
        (0, ["persistent://t/n/x"]),
        (1, ["persistent://t/n/x-partition-0"]),
        (3, [f"persistent://t/n/x-partition-{k}" for k in (0, 1, 2)]),
    ],
)
def test_each_topic_that_holds_data_has_a_ledger(partitions: int, ledgers: list[str]) -> None:
    assert [str(name) for name in RegularTopic(RegularName("t", "n", "x"), partitions).ledgers()] == ledgers


@pytest.mark.claims("475-LOOKUP-12")
def test_all_forms_of_a_name_have_one_scalable_identity() -> None:
    assert scalable_identity(TOPIC) == scalable_identity(RegularName("t", "n", "x")) == TOPIC

    with pytest.raises(Refused) as refusal:
        scalable_identity(RegularName("t", "n", "x", 0))
    assert refusal.value.reason is Reason.NAME_IS_A_PARTITION
