"""Laws of names and paths."""

import re

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from models.laws.law import law, seen
from models.laws.values import (
    awkward_locals,
    entities,
    longs,
    ranges,
    refusal_of,
    regular_names,
    regular_topics,
    segment_names,
    texts,
    topic_names,
)
from spec.migration import RegularTopic
from spec.names import (
    Name,
    RegularName,
    SegmentName,
    TopicName,
    parse,
    scalable_identity,
    segment_name,
)
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
from spec.refusals import Reason, Refused

awkward_names: SearchStrategy[TopicName] = st.builds(TopicName, entities, entities, awkward_locals)
names: SearchStrategy[Name] = st.one_of(
    awkward_names,
    topic_names,
    regular_names,
    segment_names,
    st.builds(SegmentName, awkward_names, ranges(), longs),
)

addresses: SearchStrategy[Address] = st.one_of(
    st.builds(TopicRecordAt, topic_names),
    st.builds(ControllerAt, topic_names),
    st.builds(SubscriptionAt, topic_names, texts),
    st.builds(ConsumerAt, topic_names, texts, texts),
    st.builds(SegmentLoadAt, topic_names, longs),
    st.builds(HeaderAt, texts),
    st.builds(OperationAt, texts, longs),
)

rival_topics = st.builds(
    TopicName,
    st.just("t"),
    st.just("n"),
    st.sampled_from(["x", "x/controller", "x/subscriptions/s", "x%2Fcontroller"]),
)
rival_texts = st.sampled_from(["s", "s/consumers/s", "s%2Fconsumers%2Fs", ".", "s s", "s+s"])
rivals: SearchStrategy[Address] = st.one_of(
    st.builds(TopicRecordAt, rival_topics),
    st.builds(ControllerAt, rival_topics),
    st.builds(SubscriptionAt, rival_topics, rival_texts),
    st.builds(ConsumerAt, rival_topics, rival_texts, rival_texts),
)
"""Addresses of one namespace whose names try to look like each other's places."""


def near(spellings: SearchStrategy[str]) -> SearchStrategy[str]:
    """Spellings, spellings with one place patched, and any text at all."""
    patches = st.sampled_from(
        ["", "/", ":", "-", "%", "+", "A", "0", "é", "~", " ", "\n", "\ud800", "9" * 20]
    )
    patched = st.builds(
        lambda text, place, patch: text[:place] + patch + text[place + 1 :],
        spellings,
        st.integers(0, 40),
        patches,
    )
    return st.one_of(spellings, patched, patched, st.text())


FORMS: dict[type, str] = {
    TopicRecordAt: "/topics/{tenant}/{namespace}/{topic}",
    ControllerAt: "/topics/{tenant}/{namespace}/{topic}/controller",
    SubscriptionAt: "/topics/{tenant}/{namespace}/{topic}/subscriptions/{subscription}",
    ConsumerAt: "/topics/{tenant}/{namespace}/{topic}/subscriptions/{subscription}/consumers/{consumerName}",
    SegmentLoadAt: "/topics/{tenant}/{ns}/{topic}/segments/{segmentId}/load",
    HeaderAt: "/txn/{txnId}",
    OperationAt: "/txn-op/{txnId}/{seq}",
}
"""The paths as the documents write them."""


@law(
    "468-SEGMENT-14",
    "468-SEGMENT-15",
    "475-NAME-01",
    "475-NAME-03",
    name=names,
    sometimes=("a slash", "a percent sign", "a plus", "a space", "dots", "beyond ASCII", "a partition"),
)
def every_name_reads_back_from_its_spelling(name: Name) -> None:
    """The domain stands in front, and the spelling says everything that the name says."""
    domain = {TopicName: "topic", SegmentName: "segment", RegularName: "persistent"}[type(name)]
    topic = name.topic if isinstance(name, SegmentName) else name
    for situation, mark in (("a slash", "/"), ("a percent sign", "%"), ("a plus", "+"), ("a space", " ")):
        seen(situation, mark in topic.local)
    seen("dots", topic.local == "..")
    seen("beyond ASCII", not topic.local.isascii())
    seen("a partition", isinstance(name, RegularName) and name.partition is not None)

    assert str(name).startswith(f"{domain}://{topic.tenant}/{topic.namespace}/{topic.local}")
    assert parse(str(name)) == name


@law(
    "475-NAME-02",
    "475-SDK-02",
    text=near(names.map(str))
    | st.sampled_from(["non-persistent://t/n/x", "file://t/n/x", "x", "t/n/x", " x", "x-partition-01"]),
    sometimes=("a refusal", "TopicName", "SegmentName", "RegularName"),
)
def any_text_is_a_name_or_is_refused(text: str) -> None:
    """A text that is read is the canonical spelling, or lacks only its beginning; nothing else is read."""
    try:
        name = parse(text)
    except Refused:
        seen("a refusal")
        return
    seen(type(name).__name__)

    assert str(name) in (text, f"persistent://{text}", f"persistent://public/default/{text}")
    assert parse(str(name)) == name
    assert not text.startswith("non-persistent:")


@law("475-NAME-05", "475-LOOKUP-10", name=regular_names)
def missing_parts_of_a_name_are_filled_in(name: RegularName) -> None:
    """Without a scheme a name is persistent, and without tenant and namespace it is public/default."""
    unscoped = RegularName("public", "default", name.local, name.partition)

    assert parse(str(name).removeprefix("persistent://")) == name
    assert parse(str(unscoped).removeprefix("persistent://public/default/")) == unscoped


@law(
    "468-SEGMENT-15",
    "468-SEGAPI-04",
    name=segment_names,
    sometimes=("upper case", "no padding", "a leading zero"),
)
def a_segment_has_one_descriptor(name: SegmentName) -> None:
    """The components of a REST path make up the name, and no other spelling of the descriptor is read."""
    parts = (name.topic.tenant, name.topic.namespace, name.topic.local)
    start, end, number = name.descriptor.split("-")

    assert (len(start), len(end)) == (4, 4)
    assert (int(start, 16), int(end, 16), int(number)) == (name.range.start, name.range.end, name.segment_id)
    assert segment_name(*parts, name.descriptor) == name

    for situation, other in (
        ("upper case", name.descriptor.upper()),
        ("no padding", f"{name.range.start:x}-{name.range.end:x}-{number}"),
        ("a leading zero", f"{start}-{end}-0{number}"),
    ):
        if other == name.descriptor:
            continue
        seen(situation)
        assert refusal_of(segment_name, *parts, other) is Reason.DESCRIPTOR_MALFORMED


@law("475-NAME-06", "475-NAME-07", "475-NAME-08", name=regular_topics, partitions=st.integers(0, 9))
def each_partition_has_a_ledger_of_its_own(name: RegularName, partitions: int) -> None:
    """The data of a topic are in x-partition-0 to x-partition-(N-1), or in x itself if it has none."""
    expected = [f"{name}-partition-{k}" for k in range(partitions)] or [str(name)]

    ledgers = RegularTopic(name, partitions).ledgers()

    assert [str(ledger) for ledger in ledgers] == expected
    assert [parse(spelling) for spelling in expected] == list(ledgers)


@law("475-LOOKUP-12", name=topic_names | regular_names, sometimes=("a partition",))
def the_identity_keeps_the_three_parts(name: TopicName | RegularName) -> None:
    """Every form of a topic's name stands for one scalable topic; a partition stands for none."""
    if isinstance(name, RegularName) and name.partition is not None:
        seen("a partition")
        assert refusal_of(scalable_identity, name) is Reason.NAME_IS_A_PARTITION
        return

    identity = scalable_identity(name)

    assert str(identity).partition("://")[2] == str(name).partition("://")[2]
    assert scalable_identity(identity) == identity


@law(
    "468-PATH-01",
    "468-PATH-02",
    "468-PATH-05",
    "468-PATH-06",
    "483-PATH-01",
    "473-STORE-03",
    "473-HEADER-01",
    "473-OP-01",
    address=addresses,
    sometimes=tuple(cls.__name__ for cls in FORMS),
)
def every_record_stands_where_the_documents_say(address: Address) -> None:
    """Whatever the names are, the path has the form of its kind, and reads back as the same address."""
    seen(type(address).__name__)
    path = path_of(address)

    assert re.fullmatch(re.sub(r"{\w+}", "[^/]+", FORMS[type(address)]), path)
    assert address_of(path) == address
    assert path.isascii()
    assert path.isprintable()
    assert not {"", ".", ".."} & set(path.split("/")[1:])


@law(path=near(addresses.map(path_of)), sometimes=("a record", "no record"))
def any_text_is_a_path_or_is_refused(path: str) -> None:
    """A text is the one path of one record, or no record lives there."""
    refusal = refusal_of(address_of, path)

    seen("no record" if refusal else "a record")
    assert refusal is Reason.PATH_UNKNOWN or path_of(address_of(path)) == path


@law(
    "468-PATH-01",
    "468-PATH-05",
    "468-PATH-06",
    one=rivals,
    other=rivals,
    sometimes=("the same place", "one below the other", "apart"),
)
def no_name_reaches_into_anothers_place(one: Address, other: Address) -> None:
    """Records share a path only if they are one, and lie below each other only if they belong together."""
    path, other_path = path_of(one), path_of(other)
    seen("the same place", path == other_path)
    assert (path == other_path) == (one == other)

    match one, other:
        case TopicRecordAt(topic), ControllerAt(owner) | SubscriptionAt(owner) | ConsumerAt(owner):
            belongs = topic == owner
        case SubscriptionAt(topic, subscription), ConsumerAt(owner, of_subscription):
            belongs = (topic, subscription) == (owner, of_subscription)
        case _:
            belongs = False
    seen("one below the other" if belongs else "apart")
    assert other_path.startswith(path + "/") == belongs


@law("468-PATH-01", element=texts, sometimes=("dots", "encoded", "plain"))
def an_element_is_spelled_like_a_form_field(element: str) -> None:
    """Letters, digits and -_.* stand for themselves, a space is a plus, any other byte is %XX."""
    spelled = "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-_.*") else f"%{byte:02X}"
        for byte in element.encode()
    ).replace("%20", "+")
    if element in (".", ".."):
        seen("dots")
        spelled = "%2E" * len(element)
    seen("plain" if spelled == element else "encoded")

    assert encode(element) == spelled
    assert decode(spelled) == element


@law("473-STORE-04", "473-HEADER-01", "473-OP-01", transaction=texts, one=longs, other=longs)
def a_transactions_records_share_a_partition_in_order(transaction: str, one: int, other: int) -> None:
    """Header and operations have the transaction as partition key; operations sort by their number."""
    first, second = OperationAt(transaction, one), OperationAt(transaction, other)

    for record in (HeaderAt(transaction), first, second):
        assert partition_key(record) == transaction
    assert (path_of(first) < path_of(second)) == (one < other)
