"""Laws of the records in the metadata store and of the documents that hold them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from models.laws.law import law, seen
from models.laws.values import (
    layouts,
    longs,
    ranges,
    regular_names,
    regular_topics,
    segment_names,
    step,
    texts,
    topic_names,
)
from spec.assignment import AssignedSegment, ConsumerAssignment
from spec.documents import LONG_MAX, LONG_MIN, Codec, Stored
from spec.layout import SegmentLayout, layout_of
from spec.migration import MigrationOrigin, RegularTopic, migrated_layout
from spec.names import SegmentName, TopicName, parse
from spec.policy import AutoScaleOverride, Rates
from spec.records import (
    HEADER,
    LOAD,
    OPERATION,
    OVERRIDE,
    REGISTRATION,
    SUBSCRIPTION,
    TOPIC,
    Registration,
    SubscriptionType,
    TopicRecord,
)
from spec.refusals import Reason, Refused
from spec.sessions import Subscription, persisted, register, restore
from spec.surface import LEGACY_PENDING_ACK_TOPIC
from spec.transactions import Ack, Header, Position, TxnState, Write

Document = Any
Place = tuple[str | int, ...]


def _as_pulsar_writes(layout: SegmentLayout) -> SegmentLayout:
    segments = (replace(s, sealed_at_epoch=-1) if s.active else s for s in layout.segments)
    return layout_of(layout.epoch, layout.next_segment_id, segments)


def _settings(name: str) -> SearchStrategy[Any]:
    if name == "enabled":
        return st.booleans()
    return finite if "_rate_" in name else st.integers(LONG_MIN, LONG_MAX)


finite = st.floats(allow_nan=False, allow_infinity=False)
rates: SearchStrategy[Rates] = st.builds(
    Rates, *[st.floats(0, allow_infinity=False) | st.integers(0, 9)] * len(fields(Rates))
)
overrides: SearchStrategy[AutoScaleOverride] = st.builds(
    AutoScaleOverride,
    **{field.name: st.none() | _settings(field.name) for field in fields(AutoScaleOverride)},
)
topic_records: SearchStrategy[TopicRecord] = st.builds(
    TopicRecord,
    layouts(steps=6, first=3)
    | layouts(steps=6, first=3).map(_as_pulsar_writes)
    | st.builds(RegularTopic, regular_topics, st.integers(0, 5)).map(migrated_layout),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3).map(
        lambda labels: tuple(sorted(labels.items()))
    ),
    st.none() | overrides,
    st.none() | st.builds(MigrationOrigin, regular_topics, st.integers(0, 9)),
)
assigned: SearchStrategy[AssignedSegment] = st.builds(
    AssignedSegment, longs, ranges(), segment_names | regular_names
)
registrations: SearchStrategy[Registration] = st.builds(
    Registration,
    texts,
    st.builds(
        ConsumerAssignment,
        longs,
        st.lists(assigned, max_size=4, unique_by=lambda s: s.segment_id).map(tuple),
    ),
)
positions = st.builds(Position, longs, longs | st.just(-1))

KINDS: dict[str, tuple[Codec[Any], SearchStrategy[Any]]] = {
    "topic": (TOPIC, topic_records),
    "subscription": (SUBSCRIPTION, st.sampled_from(SubscriptionType)),
    "registration": (REGISTRATION, registrations),
    "load": (LOAD, rates),
    "override": (OVERRIDE, overrides),
    "header": (
        HEADER,
        st.builds(Header, st.sampled_from(TxnState), longs, longs, st.none() | st.just(0) | longs),
    ),
    "write": (OPERATION, st.builds(Write, segment_names, positions)),
    "ack": (OPERATION, st.builds(Ack, segment_names, texts, positions, st.booleans())),
}
records: SearchStrategy[tuple[str, Any]] = st.one_of(
    *(st.tuples(st.just(kind), values) for kind, (_, values) in KINDS.items())
)
deep_records = st.booleans().flatmap(
    lambda deep: st.tuples(st.just("topic"), topic_records) if deep else records
)
"""Half of them are of the kind that has most places in it."""
codecs = st.sampled_from([codec for codec, _ in KINDS.values()])

json_values: SearchStrategy[Document] = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
extras = st.lists(st.tuples(st.text(max_size=5).map("~".__add__), json_values), min_size=1, max_size=5)
"""Fields that no record of ours has."""

MAPS = (("segments",), ("properties",))
"""Objects whose fields all have a meaning."""

OPTIONAL = {"autoScalePolicy", "migratedFrom", "legacyTopicName", "finalized_ms", "cumulative"}


@law(
    "468-RECORD-01",
    "468-RECORD-02",
    "473-HEADER-02",
    one=records,
    other=records,
    sometimes=tuple(KINDS),
)
def every_record_reads_back_as_it_was_written(one: tuple[str, Any], other: tuple[str, Any]) -> None:
    """What was written, of whatever kind, is read again from text or bytes, with nothing beside it."""
    for kind, value in (one, other):
        codec = KINDS[kind][0]
        seen(kind)

        text = codec.encode(Stored(value))

        assert codec.decode(text) == codec.decode(text.encode()) == Stored(value)
        assert codec.encode(codec.decode(text)) == text


@law(
    "468-RECORD-03",
    "468-RECORD-04",
    "468-RECORD-05",
    "468-RECORD-06",
    "468-RECORD-07",
    "483-POLICY-02",
    "475-ORIGIN-01",
    record=topic_records,
    sometimes=("an active segment", "a sealed segment", "a migrated segment", "a policy", "an origin"),
)
def a_topic_record_shows_its_layout_segment_by_segment(record: TopicRecord) -> None:
    """Every segment, sealed ones too, stands under its own id with all that the layout knows of it."""
    document = _document("topic", record)

    assert document["epoch"] == record.layout.epoch
    assert document["nextSegmentId"] == record.layout.next_segment_id
    assert document["properties"] == dict(record.properties)
    assert ("autoScalePolicy" in document) == (record.auto_scale is not None)
    assert ("migratedFrom" in document) == (record.migrated_from is not None)
    seen("a policy", record.auto_scale is not None)
    seen("an origin", record.migrated_from is not None)
    assert sorted(map(int, document["segments"])) == [s.segment_id for s in record.layout.segments]
    for s in record.layout.segments:
        seen(f"{'an active' if s.active else 'a sealed'} segment")
        seen("a migrated segment", s.legacy_topic is not None)
        assert document["segments"][str(s.segment_id)] == {
            "segmentId": s.segment_id,
            "hashRange": {"start": s.range.start, "end": s.range.end},
            "state": "ACTIVE" if s.active else "SEALED",
            "parentIds": list(s.parent_ids),
            "childIds": list(s.child_ids),
            "createdAtEpoch": s.created_at_epoch,
            "sealedAtEpoch": s.sealed_at_epoch,
        } | ({"legacyTopicName": str(s.legacy_topic)} if s.legacy_topic else {})


CHANGES = ("split", "merge", "prune", "policy", "no policy", "labels")


@law(
    "483-POLICY-02",
    record=topic_records,
    extras=extras,
    changes=st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 99)), min_size=1, max_size=4),
    override=overrides,
    sometimes=(
        *CHANGES,
        "a segment is gone",
        "the policy is gone",
        "a field in a policy",
        "a field in a range",
    ),
)
def fields_of_others_survive_a_rewrite(
    record: TopicRecord,
    extras: list[tuple[str, Any]],
    changes: list[tuple[str, int]],
    override: AutoScaleOverride,
) -> None:
    """A rewrite keeps every unknown field whose object still exists, and brings back nothing else."""
    document = _document("topic", record)
    added = _add_to_every_object(document, extras)
    stored = TOPIC.decode(json.dumps(document))
    assert stored.value == record

    changed = record
    for kind, choice in changes:
        before = changed
        changed = _change(changed, kind, choice, override)
        seen(kind, changed != before)
    bare = _document("topic", changed)
    rewritten = json.loads(TOPIC.encode(replace(stored, value=changed)))

    for place, name, value in added:
        if _at(bare, place) is None:
            seen("a segment is gone" if place[0] == "segments" else "the policy is gone")
            assert _at(rewritten, place) is None
        else:
            seen("a field in a policy", place == ("autoScalePolicy",))
            seen("a field in a range", place[-1:] == ("hashRange",))
            assert _same(_at(rewritten, place).pop(name), value)
    assert rewritten == bare


@law(
    registration=registrations,
    others=st.lists(assigned, max_size=2),
    order=st.randoms(use_true_random=False),
    kept=st.integers(0, 4),
    extras=extras,
    sometimes=(
        "a segment stays",
        "a segment moves in the list",
        "a segment is taken away",
        "a segment is new",
    ),
)
def unknown_fields_follow_their_segment_through_a_list(
    registration: Registration,
    others: list[AssignedSegment],
    order: Random,
    kept: int,
    extras: list[tuple[str, Any]],
) -> None:
    """When a consumer's segments are dealt anew, what else was said of a segment stays with that segment."""
    document = _document("registration", registration)
    _add_to_every_object(document, extras)
    stored = REGISTRATION.decode(json.dumps(document))
    was = {item["segmentId"]: item for item in document["assignment"]["assignedSegments"]}

    hand = [*registration.assignment.segments[:kept], *(s for s in others if s.segment_id not in was)]
    order.shuffle(hand)
    hand = list({s.segment_id: s for s in hand}.values())
    dealt = replace(registration, assignment=replace(registration.assignment, segments=tuple(hand)))
    rewritten = json.loads(REGISTRATION.encode(replace(stored, value=dealt)))

    items = rewritten["assignment"]["assignedSegments"]
    bare = _document("registration", dealt)["assignment"]["assignedSegments"]
    seen("a segment is taken away", kept < len(was))
    for place, (item, plain) in enumerate(zip(items, bare, strict=True)):
        known = item["segmentId"] in was
        assert _same(item, was[item["segmentId"]] if known else plain)
        seen("a segment stays" if known else "a segment is new")
        seen("a segment moves in the list", known and [*was].index(item["segmentId"]) != place)


@law(record=records, extras=extras, sometimes=("several segments", "several fields of others"))
def the_order_of_fields_says_nothing(record: tuple[str, Any], extras: list[tuple[str, Any]]) -> None:
    """A document read backwards is the same record, and is written the same."""
    kind, value = record
    codec = KINDS[kind][0]
    document = _document(kind, value)
    added = _add_to_every_object(document, extras)
    seen("several segments", len(document.get("segments", ())) > 1)
    seen("several fields of others", len(added) > 1)

    forwards = codec.decode(json.dumps(document))
    backwards = codec.decode(json.dumps(_backwards(document)))

    assert forwards == backwards
    assert codec.decode(codec.encode(forwards)) == forwards


WRONG: dict[type, tuple[Any, ...]] = {
    dict: (True, 1, "x", []),
    list: (False, 0, "", {}),
    str: (True, 1, 0.5, [], {}),
    bool: (0, 1, "true", [], {}),
    int: (True, "1", [], {}),
    float: (False, "1.0", [], {}),
}


@law(
    "468-RECORD-05",
    "468-RECORD-06",
    record=deep_records,
    where=st.integers(0, 2**16),
    which=st.integers(0, 59),
    sometimes=("at the top", "in an object", "in a list", "a flag for a number"),
)
def a_value_of_the_wrong_type_is_refused_with_its_place(
    record: tuple[str, Any], where: int, which: int
) -> None:
    """One field of the wrong type spoils the record, and the refusal says exactly which."""
    document = _document(*record)
    places = list(_places(document))
    in_lists = [place for place in places if isinstance(place[-1], int)]
    place = _pick(in_lists if which % 3 == 0 else places, where) or _pick(places, where)
    if not place:
        return
    parent, name = _at(document, place[:-1]), place[-1]
    wrong = WRONG[type(parent[name])]
    parent[name] = wrong[which % len(wrong)]
    seen("at the top" if len(place) == 1 else "in a list" if isinstance(name, int) else "in an object")
    seen("a flag for a number", wrong is WRONG[int] and parent[name] is True)

    assert _why_refused(record[0], json.dumps(document)).startswith(_path(place) + ": ")


@law(
    record=deep_records,
    where=st.integers(0, 2**16),
    wanted=st.sampled_from(("a required field", "an optional field", "an entry of a map")),
    sometimes=("a required field", "an optional field", "an entry of a map"),
)
def a_missing_field_is_refused_unless_it_is_optional(
    record: tuple[str, Any], where: int, wanted: str
) -> None:
    """Without a required field there is no record; without an optional one there is another."""
    kind, value = record
    document = _document(kind, value)
    place = _pick([p for p in _places(document) if _sort(kind, p) == wanted], where)
    if not place:
        return
    seen(wanted)

    del _at(document, place[:-1])[place[-1]]

    if wanted == "a required field":
        assert _why_refused(kind, json.dumps(document)) == f"{_path(place)}: the field is missing"
    else:
        assert KINDS[kind][0].decode(json.dumps(document)).value != value


@law(
    record=records,
    where=st.integers(0, 2**16),
    value=st.integers(0, 9) | json_values,
    whole=st.integers(0, 9).map(lambda n: n == 0),
    sometimes=("it was read", "it was refused"),
)
def any_json_is_a_record_or_is_refused(record: tuple[str, Any], where: int, value: Any, whole: bool) -> None:
    """Whatever stands somewhere in a document, it is read and can be written again, or is refused by name."""
    document = _document(*record)
    place = _pick(list(_places(document)), where)
    if whole or not place:
        document = value
    else:
        _at(document, place[:-1])[place[-1]] = value

    _read_or_refused(KINDS[record[0]][0], json.dumps(document))


@law(
    codec=codecs,
    record=records,
    noise=st.binary(max_size=6) | st.sampled_from([b"", b"{", b"}", b'"', b"[", b",", b"0", b"-1", b"null"]),
    start=st.integers(0, 2**16),
    length=st.integers(0, 8),
    whole=st.integers(0, 9).map(lambda n: n == 0),
    sometimes=("it was read", "it was refused", "it is not even text"),
)
def any_bytes_are_a_record_or_are_refused(
    codec: Codec[Any], record: tuple[str, Any], noise: bytes, start: int, length: int, whole: bool
) -> None:
    """Whatever stands in the store, be it a torn record or noise, it is read or refused by name."""
    own, value = KINDS[record[0]][0], record[1]
    text = own.encode(Stored(value)).encode()
    start %= len(text) + 1
    torn = noise if whole else text[:start] + noise + text[start + length :]

    _read_or_refused(codec if whole else own, torn)
    try:
        _read_or_refused(own, torn.decode())
    except UnicodeDecodeError:
        seen("it is not even text")


@law(
    record=records,
    extras=extras,
    where=st.integers(0, 2**16),
    sometimes=("a known field", "an unknown field", "deep inside"),
)
def a_field_named_twice_is_refused(
    record: tuple[str, Any], extras: list[tuple[str, Any]], where: int
) -> None:
    """No object, known or not, may name a field twice, even with the same value."""
    kind, value = record
    document = _document(kind, value)
    _add_to_every_object(document, extras)
    place = _pick([place for place in _places(document) if isinstance(place[-1], str)], where)
    seen("an unknown field" if str(place[-1]).startswith("~") else "a known field")
    seen("deep inside", len(place) > 2)

    text = _spelled(document, (), place)

    assert json.loads(text) == document
    assert _why_refused(kind, text) == "not JSON: an object names a field twice"


@law(
    "468-RECORD-11",
    "468-SESSION-10",
    topic=topic_names,
    layout=layouts(),
    consumers=st.lists(texts, max_size=5),
    sometimes=("several consumers", "a consumer without a segment"),
)
def a_subscription_is_restored_from_the_records_of_its_consumers(
    topic: TopicName, layout: SegmentLayout, consumers: list[str]
) -> None:
    """A new leader that reads every registration knows each consumer and what it was given."""
    subscription = Subscription(topic, layout.epoch, layout.active)
    for connection, consumer in enumerate(consumers):
        subscription = register(subscription, consumer, connection)
    seen("several consumers", len(subscription.sessions) > 1)
    seen("a consumer without a segment", any(not s.assignment.segments for s in subscription.sessions))

    stored = [REGISTRATION.encode(Stored(Registration(*item))) for item in persisted(subscription).items()]
    read = [REGISTRATION.decode(text).value for text in stored]
    again = restore(topic, layout.epoch, layout.active, {r.consumer: r.assignment for r in read}, now=0)

    assert persisted(again) == persisted(subscription)


@law("473-COMPAT-07", segment=segment_names, subscription=texts)
def the_legacy_pending_ack_name_of_a_segment_is_no_name(segment: SegmentName, subscription: str) -> None:
    """The old convention, applied to a segment, gives a text that is not the name of any topic."""
    name = LEGACY_PENDING_ACK_TOPIC.format(topic=segment, subscription=subscription)

    refusal = _refusal(parse, name)

    assert refusal is not None
    assert refusal.reason in (Reason.DESCRIPTOR_MALFORMED, Reason.NAME_MALFORMED)


def _document(kind: str, value: Any) -> Document:
    """The JSON that we write for a value."""
    return json.loads(KINDS[kind][0].encode(Stored(value)))


def _places(document: Document, place: Place = ()) -> Iterator[Place]:
    """Where each value within a document stands, except the document itself."""
    inner = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in inner:
        yield (*place, name)
        if isinstance(value, dict | list):
            yield from _places(value, (*place, name))


def _sort(kind: str, place: Place) -> str:
    """Whether a record can do without the field in a place."""
    if isinstance(place[-1], int):
        return "an item of a list"
    if place[:-1] in MAPS:
        return "an entry of a map"
    setting = kind == "override" or place[:-1] == ("autoScalePolicy",)
    return "an optional field" if setting or place[-1] in OPTIONAL else "a required field"


def _at(document: Document, place: Place) -> Document:
    for name in place:
        if isinstance(document, dict) and name not in document:
            return None
        document = document[name]
    return document


def _pick(places: list[Place], where: int) -> Place:
    return places[where % len(places)] if places else ()


def _path(place: Place) -> str:
    return ".".join(map(str, place))


def _add_to_every_object(document: Document, extras: list[tuple[str, Any]]) -> list[tuple[Place, str, Any]]:
    """Give each object of a document one field that we do not know, and say where and what it is."""
    places = [(), *_places(document)]
    objects = [p for p in places if isinstance(_at(document, p), dict) and p not in MAPS]
    added = [(place, *extras[turn % len(extras)]) for turn, place in enumerate(objects)]
    for place, name, value in added:
        _at(document, place)[name] = value
    return added


def _change(record: TopicRecord, kind: str, choice: int, override: AutoScaleOverride) -> TopicRecord:
    match kind:
        case "policy":
            return replace(record, auto_scale=override)
        case "no policy":
            return replace(record, auto_scale=None)
        case "labels":
            return replace(record, properties=(("owner", str(choice)),))
    return record.with_layout(step(record.layout, kind, choice))


def _backwards(document: Document) -> Document:
    if isinstance(document, dict):
        return {name: _backwards(value) for name, value in reversed(document.items())}
    return [_backwards(value) for value in document] if isinstance(document, list) else document


def _spelled(document: Document, place: Place, twice: Place) -> str:
    """A document as text in which one field stands twice."""
    if isinstance(document, dict):
        named = [
            f"{json.dumps(name)}: {_spelled(value, (*place, name), twice)}"
            for name, value in document.items()
            for _ in range(2 if (*place, name) == twice else 1)
        ]
        return "{" + ", ".join(named) + "}"
    if isinstance(document, list):
        items = (_spelled(value, (*place, turn), twice) for turn, value in enumerate(document))
        return "[" + ", ".join(items) + "]"
    return json.dumps(document)


def _same(one: Document, other: Document) -> bool:
    """Equal as JSON, where 1, 1.0 and true are three values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _refusal(read: Callable[[Any], object], text: str | bytes) -> Refused | None:
    try:
        read(text)
    except Refused as refusal:
        return refusal
    return None


def _why_refused(kind: str, text: str) -> str:
    """What is said of a text that is no record of a kind."""
    refusal = _refusal(KINDS[kind][0].decode, text)
    assert refusal is not None
    assert refusal.reason is Reason.RECORD_MALFORMED
    return refusal.detail


def _read_or_refused(codec: Codec[Any], text: str | bytes) -> None:
    refusal = _refusal(codec.decode, text)
    if refusal is not None:
        seen("it was refused")
        assert refusal.reason is Reason.RECORD_MALFORMED
    else:
        seen("it was read")
        stored = codec.decode(text)
        assert codec.decode(codec.encode(stored)) == stored
