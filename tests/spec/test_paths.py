"""Where each record lives in the metadata store."""

import pytest

from spec.layout import SegmentState
from spec.names import TopicName
from spec.paths import (
    Address,
    ConsumerAt,
    ControllerAt,
    HeaderAt,
    OperationAt,
    SegmentLoadAt,
    SubscriptionAt,
    TopicRecordAt,
    address_of,
    decode,
    encode,
    partition_key,
    path_of,
)
from spec.policy import Rates
from spec.records import LOAD, REGISTRATION, SUBSCRIPTION, TOPIC, SubscriptionType
from spec.refusals import Reason, Refused
from spec.transactions import INDEXES

X = TopicName("t", "n", "x")
AWKWARD = TopicName("a:b=c", "..", "a/b c+ü%.~*")


@pytest.mark.claims(
    "468-PATH-01",
    "468-PATH-02",
    "468-PATH-05",
    "468-PATH-06",
    "483-PATH-01",
    "473-HEADER-01",
    "473-OP-01",
)
@pytest.mark.parametrize(
    ("address", "path"),
    [
        (TopicRecordAt(X), "/topics/t/n/x"),
        (ControllerAt(X), "/topics/t/n/x/controller"),
        (SubscriptionAt(X, "s"), "/topics/t/n/x/subscriptions/s"),
        (ConsumerAt(X, "s", "c"), "/topics/t/n/x/subscriptions/s/consumers/c"),
        (SegmentLoadAt(X, 12), "/topics/t/n/x/segments/12/load"),
        (HeaderAt("(1,2)"), "/txn/%281%2C2%29"),
        (OperationAt("t1", 7), "/txn-op/t1/00000000000000000007"),
        (TopicRecordAt(AWKWARD), "/topics/a:b=c/%2E%2E/a%2Fb+c%2B%C3%BC%25.%7E*"),
        (SubscriptionAt(X, "a/consumers/b"), "/topics/t/n/x/subscriptions/a%2Fconsumers%2Fb"),
        (ConsumerAt(X, "..", "."), "/topics/t/n/x/subscriptions/%2E%2E/consumers/%2E"),
        (SegmentLoadAt(X, 2**63 - 1), "/topics/t/n/x/segments/9223372036854775807/load"),
    ],
)
def test_every_record_has_its_path(address: Address, path: str) -> None:
    assert path_of(address) == path
    assert address_of(path) == address


@pytest.mark.claims("468-PATH-03", "468-PATH-05", "468-PATH-06", "483-PATH-02")
def test_what_stands_at_each_path() -> None:
    topic = TOPIC.decode(
        '{"epoch":3,"nextSegmentId":1,"properties":{"k":"v"},"segments":{"0":{"segmentId":0,"hashRange":'
        '{"start":0,"end":65535},"state":"ACTIVE","parentIds":[],"childIds":[],"createdAtEpoch":0,'
        '"sealedAtEpoch":0}}}'
    ).value
    assert topic.layout.epoch == 3
    assert topic.layout.segment(0).state is SegmentState.ACTIVE
    assert topic.properties == (("k", "v"),)

    assert SUBSCRIPTION.decode('{"type":"STREAM"}').value is SubscriptionType.STREAM

    assigned = (
        '{"segmentId":1,"hashRange":{"start":0,"end":9},"underlyingTopicName":"segment://t/n/x/0000-0009-1"}'
    )
    registered = REGISTRATION.decode(
        '{"consumerName":"c","assignment":{"layoutEpoch":2,"assignedSegments":[' + assigned + "]}}"
    ).value
    assert registered.consumer == "c"
    assert [s.segment_id for s in registered.assignment.segments] == [1]

    load = LOAD.decode('{"msgRateIn":1.5,"bytesRateIn":2,"msgRateOut":3,"bytesRateOut":4}').value
    assert load == Rates(1.5, 2, 3, 4)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "topics/t/n/x",
        "/topics/t/n",
        "/topics/t/n/",
        "/topics/t/n/x/",
        "/topics//n/x",
        "/topics/t/n/x/leader",
        "/topics/t/n/x/subscriptions",
        "/topics/t/n/x/subscriptions/s/consumers",
        "/topics/t/n/x/subscriptions//consumers/c",
        "/topics/t/n/x/segments/07/load",
        "/topics/t/n/x/segments/-1/load",
        "/topics/t/n/x/segments/٣/load",
        "/topics/t/n/x/segments/9223372036854775808/load",
        "/topics/t/n/x/segments/1/loads",
        "/topics/t/n/..",
        "/topics/t/n/a%2fb",
        "/topics/t/n/a%20b",
        "/topics/t/n/a b",
        "/topics/t/n/%FF",
        "/topics/t/n/%0A",
        "/topics/t/n/%",
        "/topics/t/n/é",
        "/topics/t/n/\ud800",
        "/topics/t%20u/n/x",
        "/txn/",
        "/txn-op/t1/7",
        "/txn-op/t1/0000000000000000000x",
        "/txn-op/t1/000000000000000000007",
        "/admin/local-policies",
    ],
)
def test_no_record_lives_anywhere_else(path: str) -> None:
    with pytest.raises(Refused) as refusal:
        address_of(path)
    assert refusal.value.reason is Reason.PATH_UNKNOWN
    assert refusal.value.detail == repr(path)


@pytest.mark.parametrize(
    ("element", "spelled"),
    [
        ("a b", "a+b"),
        ("a+b", "a%2Bb"),
        ("-_.*", "-_.*"),
        ("~", "%7E"),
        ("/", "%2F"),
        ("...", "..."),
        (".", "%2E"),
    ],
)
def test_elements_are_spelled_like_form_fields(element: str, spelled: str) -> None:
    assert encode(element) == spelled
    assert decode(spelled) == element


@pytest.mark.parametrize("element", ["", "\ud800"])
def test_what_cannot_be_an_element_is_refused(element: str) -> None:
    with pytest.raises(Refused) as refusal:
        path_of(HeaderAt(element))
    assert refusal.value.reason is Reason.NAME_MALFORMED


@pytest.mark.claims("473-STORE-03", "473-STORE-04", "473-HEADER-01", "473-OP-01")
def test_transactions_have_two_kinds_of_records_and_four_indexes() -> None:
    header, operation = HeaderAt("t1"), OperationAt("t1", 0)
    folders = {path_of(record).split("/")[1] for record in (header, operation)}

    assert folders == {"txn", "txn-op"}
    assert {index.prefix.strip("/") for index in INDEXES} == folders
    assert [index.name for index in INDEXES] == [
        "idx:writes-by-segment",
        "idx:acks-by-segment-subscription",
        "idx:txn-by-deadline",
        "idx:txn-by-final-state",
    ]
    assert partition_key(header) == partition_key(operation) == "t1"
