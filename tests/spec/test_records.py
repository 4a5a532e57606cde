"""The records of the metadata store, letter by letter."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spec.assignment import AssignedSegment, ConsumerAssignment
from spec.documents import Codec, Stored
from spec.layout import (
    SegmentState,
    initial_layout,
    merge_segments,
    prune_segment,
    split_segment,
)
from spec.migration import MigrationOrigin, RegularTopic, migrated_layout
from spec.names import RegularName, SegmentName, TopicName
from spec.paths import ConsumerAt, SubscriptionAt, path_of
from spec.policy import AutoScaleOverride, AutoScalePolicy, Rates, resolve
from spec.ranges import FULL_RANGE, HashRange
from spec.records import (
    HEADER,
    LOAD,
    OPERATION,
    OVERRIDE,
    OVERRIDE_FIELDS,
    REGISTRATION,
    SUBSCRIPTION,
    TOPIC,
    Registration,
    SubscriptionType,
    TopicRecord,
)
from spec.refusals import Reason, Refused
from spec.soundness import flaws
from spec.transactions import Ack, Header, Position, TxnState, Write

EXAMPLE = """
{
  "epoch": 3,
  "nextSegmentId": 5,
  "segments": {
    "0": { "segmentId": 0, "hashRange": {"start": 0, "end": 65535}, "state": "SEALED",
           "parentIds": [], "childIds": [1, 2], "createdAtEpoch": 0, "sealedAtEpoch": 1 },
    "1": { "segmentId": 1, "hashRange": {"start": 0, "end": 32767}, "state": "SEALED",
           "parentIds": [0], "childIds": [3, 4], "createdAtEpoch": 1, "sealedAtEpoch": 3 },
    "2": { "segmentId": 2, "hashRange": {"start": 32768, "end": 65535}, "state": "ACTIVE",
           "parentIds": [0], "childIds": [], "createdAtEpoch": 1, "sealedAtEpoch": 0 },
    "3": { "segmentId": 3, "hashRange": {"start": 0, "end": 16383}, "state": "ACTIVE",
           "parentIds": [1], "childIds": [], "createdAtEpoch": 3, "sealedAtEpoch": 0 },
    "4": { "segmentId": 4, "hashRange": {"start": 16384, "end": 32767}, "state": "ACTIVE",
           "parentIds": [1], "childIds": [], "createdAtEpoch": 3, "sealedAtEpoch": 0 }
  },
  "properties": {}
}
"""
"""The example of PIP-468, section Metadata Store Schema."""

PULSAR = """
{
  "epoch": 1, "nextSegmentId": 3,
  "segments": {
    "0": { "segmentId": 0, "hashRange": {"start": 0, "end": 65535}, "state": "SEALED",
           "parentIds": [], "childIds": [1, 2], "createdAtEpoch": 0, "sealedAtEpoch": 1,
           "createdAtMs": 1700000000000, "sealedAtMs": 1700000060000,
           "entryBucketSplits": [16384, 32768, 49152],
           "active": false, "sealed": true, "root": true, "leaf": false, "legacy": false },
    "1": { "segmentId": 1, "hashRange": {"start": 0, "end": 32767}, "state": "ACTIVE",
           "parentIds": [0], "childIds": [], "createdAtEpoch": 1, "sealedAtEpoch": -1,
           "createdAtMs": 1700000060000, "sealedAtMs": -1, "entryBucketSplits": [32768],
           "active": true, "sealed": false, "root": false, "leaf": true, "legacy": false },
    "2": { "segmentId": 2, "hashRange": {"start": 32768, "end": 65535}, "state": "ACTIVE",
           "parentIds": [0], "childIds": [], "createdAtEpoch": 1, "sealedAtEpoch": -1,
           "createdAtMs": 1700000060000, "sealedAtMs": -1, "entryBucketSplits": [32768],
           "active": true, "sealed": false, "root": false, "leaf": true, "legacy": false }
  },
  "properties": {"team": "a"}
}
"""
"""A record as a Pulsar broker writes it, one split after creation."""

X = RegularName("t", "n", "x")
SEGMENT = SegmentName(TopicName("t", "n", "x"), HashRange(0, 0x7FFF), 1)


def why(codec: Codec[Any], document: object) -> str:
    with pytest.raises(Refused) as refusal:
        codec.decode(json.dumps(document))
    assert refusal.value.reason is Reason.RECORD_MALFORMED
    return refusal.value.detail


def written(codec: Codec[Any], value: object) -> Any:
    return json.loads(codec.encode(Stored(value)))


@pytest.mark.claims("468-RECORD-01", "468-RECORD-02", "468-RECORD-03", "468-RECORD-08")
def test_the_example_of_the_text_reads_back_as_it_was() -> None:
    stored = TOPIC.decode(EXAMPLE)

    assert json.loads(TOPIC.encode(stored)) == json.loads(EXAMPLE)
    assert stored.unknown == ()
    assert stored.value.properties == ()
    assert flaws(stored.value.layout) == ()


@pytest.mark.claims(
    "468-RECORD-04", "468-RECORD-05", "468-RECORD-06", "468-RECORD-07", "468-RECORD-09", "468-RECORD-10"
)
def test_the_example_of_the_text_is_two_splits_with_an_epoch_between() -> None:
    once = split_segment(initial_layout(1), 0)
    twice = split_segment(replace(once, epoch=2), 1)

    assert TOPIC.decode(EXAMPLE).value == TopicRecord(twice)
    assert [(s.segment_id, s.range.start, s.range.end) for s in twice.segments] == [
        (0, 0, 65535),
        (1, 0, 32767),
        (2, 32768, 65535),
        (3, 0, 16383),
        (4, 16384, 32767),
    ]
    assert [s.segment_id for s in twice.segments if s.state is SegmentState.SEALED] == [0, 1]
    assert [s.sealed_at_epoch for s in twice.segments] == [1, 3, 0, 0, 0]
    assert [s.created_at_epoch for s in twice.segments] == [0, 1, 1, 3, 3]


@pytest.mark.claims("468-RECORD-03", "468-RECORD-08", "468-CREATE-04")
def test_a_new_topic_is_written_with_four_members_and_no_labels() -> None:
    assert written(TOPIC, TopicRecord(initial_layout(1))) == {
        "epoch": 0,
        "nextSegmentId": 1,
        "segments": {
            "0": {
                "segmentId": 0,
                "hashRange": {"start": 0, "end": 65535},
                "state": "ACTIVE",
                "parentIds": [],
                "childIds": [],
                "createdAtEpoch": 0,
                "sealedAtEpoch": 0,
            }
        },
        "properties": {},
    }


def test_a_record_of_pulsar_is_read_and_loses_nothing() -> None:
    stored = TOPIC.decode(PULSAR)

    assert stored.value.layout.segment(1).sealed_at_epoch == -1
    assert stored.value.properties == (("team", "a"),)
    assert flaws(stored.value.layout) == ()
    assert len(stored.unknown) == 3 * 8
    assert json.loads(TOPIC.encode(stored)) == json.loads(PULSAR)


def test_what_pulsar_says_of_a_segment_survives_until_the_segment_is_pruned() -> None:
    stored = TOPIC.decode(PULSAR)
    layout = prune_segment(split_segment(stored.value.layout, 1), 0)

    rewritten = json.loads(TOPIC.encode(replace(stored, value=stored.value.with_layout(layout))))

    before = json.loads(PULSAR)["segments"]
    sealed = {"state": "SEALED", "parentIds": [], "childIds": [3, 4], "sealedAtEpoch": 2}
    assert rewritten["segments"].keys() == {"1", "2", "3", "4"}
    assert rewritten["segments"]["1"] == before["1"] | sealed
    assert rewritten["segments"]["2"] == before["2"] | {"parentIds": []}
    assert "createdAtMs" not in rewritten["segments"]["3"]
    assert (rewritten["epoch"], rewritten["nextSegmentId"]) == (3, 5)


@pytest.mark.claims("483-POLICY-02")
def test_a_split_keeps_the_policy_and_the_labels() -> None:
    record = TopicRecord(
        initial_layout(2), (("team", "a"),), AutoScaleOverride(enabled=False), MigrationOrigin(X, 2)
    )

    after = record.with_layout(merge_segments(record.layout, 0, 1))

    assert after == replace(record, layout=after.layout)
    document = written(TOPIC, after)
    assert document["properties"] == {"team": "a"}
    assert document["autoScalePolicy"] == {"enabled": False}
    assert document["migratedFrom"] == {"topic": "persistent://t/n/x", "partitions": 2}


def test_a_removed_policy_stays_removed_and_takes_its_unknown_fields_along() -> None:
    document = json.loads(EXAMPLE) | {"autoScalePolicy": {"maxSegments": 8, "zeal": 3}, "colour": "red"}
    stored = TOPIC.decode(json.dumps(document))
    assert stored.value.auto_scale == AutoScaleOverride(max_segments=8)

    changed = replace(stored.value, auto_scale=AutoScaleOverride(min_segments=2))
    removed = replace(stored.value, auto_scale=None)

    assert json.loads(TOPIC.encode(replace(stored, value=changed)))["autoScalePolicy"] == {
        "minSegments": 2,
        "zeal": 3,
    }
    assert json.loads(TOPIC.encode(replace(stored, value=removed))) == json.loads(EXAMPLE) | {"colour": "red"}


@pytest.mark.claims("475-ORIGIN-01", "475-ORIGIN-02", "475-ORIGIN-04", "475-SPECIAL-02")
def test_a_migrated_topic_says_what_it_was_and_nothing_about_routing() -> None:
    record = TopicRecord(migrated_layout(RegularTopic(X, 2)), migrated_from=MigrationOrigin(X, 2))
    document = written(TOPIC, record)

    assert document.keys() == {"epoch", "nextSegmentId", "segments", "properties", "migratedFrom"}
    assert document["migratedFrom"] == {"topic": "persistent://t/n/x", "partitions": 2}
    assert [s.get("legacyTopicName") for s in document["segments"].values()] == [
        "persistent://t/n/x-partition-0",
        "persistent://t/n/x-partition-1",
        None,
        None,
    ]
    plain = {"segmentId", "hashRange", "state", "parentIds", "childIds", "createdAtEpoch", "sealedAtEpoch"}
    assert [s.keys() - plain for s in document["segments"].values()] == [{"legacyTopicName"}] * 2 + [
        set()
    ] * 2

    flagged = TOPIC.decode(json.dumps(document | {"legacyModNRouting": True}))
    assert flagged == Stored(record, (((), "legacyModNRouting", "true"),))


@pytest.mark.claims("475-ORIGIN-01")
def test_the_origin_is_optional() -> None:
    assert TOPIC.decode(EXAMPLE).value.migrated_from is None
    assert TOPIC.decode(json.dumps(json.loads(EXAMPLE) | {"migratedFrom": None})).value.migrated_from is None


@pytest.mark.claims("475-ORIGIN-03")
def test_only_the_record_itself_knows_its_origin() -> None:
    spec = Path(__file__).parents[2] / "spec"

    knowing = {
        path.name
        for path in spec.glob("*.py")
        if "migrated_from" in path.read_text() or "MigrationOrigin" in path.read_text()
    }

    assert knowing == {"migration.py", "records.py"}
    assert (spec / "migration.py").read_text().count("MigrationOrigin") == 1
    assert "migrated_from" not in (spec / "migration.py").read_text()


OVERRIDE_JSON = {
    "enabled": True,
    "maxSegments": 64,
    "minSegments": 1,
    "maxDagDepth": 10,
    "splitCooldown": 60_000,
    "mergeCooldown": 300_000,
    "mergeWindow": 300_000,
    "splitMsgRateInThreshold": 10_000,
    "splitBytesRateInThreshold": 50_000_000,
    "splitMsgRateOutThreshold": 50_000,
    "splitBytesRateOutThreshold": 250_000_000,
    "mergeMsgRateInThreshold": 1_000,
    "mergeBytesRateInThreshold": 5_000_000,
    "mergeMsgRateOutThreshold": 5_000,
    "mergeBytesRateOutThreshold": 25_000_000,
}


@pytest.mark.claims("483-POLICY-04", "483-POLICY-05")
def test_an_override_names_each_setting_as_the_text_does() -> None:
    full = OVERRIDE.decode(json.dumps(OVERRIDE_JSON))

    assert list(OVERRIDE_FIELDS.values()) == list(OVERRIDE_JSON)
    assert full.unknown == ()
    assert resolve(AutoScalePolicy(), topic=full.value) == AutoScalePolicy()
    assert written(OVERRIDE, full.value) == OVERRIDE_JSON
    assert OVERRIDE.decode("{}") == Stored(AutoScaleOverride())
    assert written(OVERRIDE, AutoScaleOverride(max_segments=8)) == {"maxSegments": 8}


@pytest.mark.parametrize("setting", [{"minSegments": -1}, {"mergeMsgRateInThreshold": -0.5}])
def test_a_senseless_override_is_read_so_that_its_topic_can_be_read(setting: dict[str, float]) -> None:
    stored = TOPIC.decode(json.dumps(json.loads(EXAMPLE) | {"autoScalePolicy": setting}))

    assert stored.value.auto_scale is not None
    with pytest.raises(Refused) as refusal:
        resolve(AutoScalePolicy(), topic=stored.value.auto_scale)
    assert refusal.value.reason is Reason.POLICY_INVALID


@pytest.mark.claims("468-RECORD-11", "483-LOAD-10")
def test_a_subscription_has_a_type_and_its_consumers_below_it() -> None:
    topic = TopicName("t", "n", "x")

    assert written(SUBSCRIPTION, SubscriptionType.STREAM) == {"type": "STREAM"}
    assert written(SUBSCRIPTION, SubscriptionType.QUEUE) == {"type": "QUEUE"}
    assert [kind.value for kind in SubscriptionType] == ["STREAM", "QUEUE"]
    below = path_of(SubscriptionAt(topic, "s")) + "/consumers/"
    assert path_of(ConsumerAt(topic, "s", "c")) == below + "c"


@pytest.mark.claims("468-RECORD-11", "468-SESSION-10", "468-ASSIGN-04", "468-ASSIGN-05", "468-ASSIGN-06")
def test_a_registration_is_a_name_and_an_assignment() -> None:
    given = AssignedSegment(1, HashRange(0, 0x7FFF), SEGMENT)
    registration = Registration("c", ConsumerAssignment(7, (given,)))
    document = {
        "consumerName": "c",
        "assignment": {
            "layoutEpoch": 7,
            "assignedSegments": [
                {
                    "segmentId": 1,
                    "hashRange": {"start": 0, "end": 32767},
                    "underlyingTopicName": "segment://t/n/x/0000-7fff-1",
                }
            ],
        },
    }

    assert written(REGISTRATION, registration) == document
    assert REGISTRATION.decode(json.dumps(document)) == Stored(registration)


@pytest.mark.claims("483-LOAD-03", "483-LOAD-04")
def test_a_load_record_has_four_rates_and_no_time() -> None:
    text = '{"msgRateIn":12000.0,"bytesRateIn":64000000.0,"msgRateOut":48000.0,"bytesRateOut":256000000.0}'

    assert LOAD.decode(text) == Stored(Rates(12_000, 64_000_000, 48_000, 256_000_000))
    assert LOAD.encode(LOAD.decode(text)) == text


@pytest.mark.claims("473-HEADER-02", "473-HEADER-03")
@pytest.mark.parametrize("state", ["OPEN", "COMMITTED", "ABORTED"])
def test_a_header_has_a_state_and_two_times(state: str) -> None:
    document = {"state": state, "timeout_ms": 1_060, "created_ms": 1_000}

    assert HEADER.decode(json.dumps(document)) == Stored(Header(TxnState[state], 1_060, 1_000))
    assert written(HEADER, Header(TxnState[state], 1_060, 1_000)) == document
    assert written(HEADER, Header(TxnState[state], 1, 0, 0)) == {
        "state": state,
        "timeout_ms": 1,
        "created_ms": 0,
        "finalized_ms": 0,
    }


@pytest.mark.claims("473-OP-04", "473-OP-05", "473-OP-06", "473-OP-07")
@pytest.mark.parametrize(
    ("operation", "document"),
    [
        (Write(SEGMENT, Position(3, 4)), {"kind": "write", "position": "3:4"}),
        (Ack(SEGMENT, "s", Position(3, 4)), {"kind": "ack", "subscription": "s", "position": "3:4"}),
        (
            Ack(SEGMENT, "s", Position(3, 4), cumulative=True),
            {"kind": "ack", "subscription": "s", "position": "3:4", "cumulative": True},
        ),
    ],
)
def test_an_operation_is_a_write_or_an_ack(operation: Write | Ack, document: dict[str, object]) -> None:
    document = {"segment": "segment://t/n/x/0000-7fff-1"} | document

    assert written(OPERATION, operation) == document
    assert OPERATION.decode(json.dumps(document)) == Stored(operation)


WRITE = {"kind": "write", "segment": "segment://t/n/x/0000-7fff-1", "position": "3:4"}
ONE = json.loads(EXAMPLE)["segments"]["3"]


def topic_with(**segment: object) -> object:
    return {"epoch": 0, "nextSegmentId": 9, "segments": {"3": ONE | segment}, "properties": {}}


@pytest.mark.parametrize(
    ("codec", "document", "said"),
    [
        (TOPIC, topic_with(segmentId=4), "segments.3: the segment in this place has the id 4"),
        (
            TOPIC,
            topic_with(hashRange={"start": 5, "end": 4}),
            "segments.3.hashRange.end: the range ends before it starts: 5..4",
        ),
        (
            TOPIC,
            topic_with(hashRange={"start": 0, "end": 65536}),
            "segments.3.hashRange.end: expected a whole number from 0 to 65535, found 65536",
        ),
        (TOPIC, topic_with(state="OPEN"), 'segments.3.state: expected one of ACTIVE, SEALED, found "OPEN"'),
        (
            TOPIC,
            topic_with(parentIds=[1, "0"]),
            'segments.3.parentIds.1: expected a whole number from 0 to 9223372036854775807, found "0"',
        ),
        (
            TOPIC,
            topic_with(sealedAtEpoch=-2),
            "segments.3.sealedAtEpoch: expected a whole number from -1 to 9223372036854775807, found -2",
        ),
        (
            TOPIC,
            topic_with(legacyTopicName="topic://t/n/x"),
            "segments.3.legacyTopicName: the name does not have the form of a topic name: "
            "expected the full name of a regular topic: topic://t/n/x",
        ),
        (
            TOPIC,
            topic_with(legacyTopicName="x"),
            "segments.3.legacyTopicName: the name does not have the form of a topic name: "
            "expected the full name of a regular topic: x",
        ),
        (
            TOPIC,
            {"epoch": 0, "nextSegmentId": 9, "segments": {"03": ONE}, "properties": {}},
            "segments.03: the segment in this place has the id 3",
        ),
        (TOPIC, json.loads(EXAMPLE) | {"properties": {"a": 1}}, "properties.a: expected a text, found 1"),
        (
            TOPIC,
            json.loads(EXAMPLE) | {"autoScalePolicy": {"maxSegments": 1.5}},
            "autoScalePolicy.maxSegments: expected a whole number from -9223372036854775808 to "
            "9223372036854775807, found 1.5",
        ),
        (
            TOPIC,
            json.loads(EXAMPLE) | {"autoScalePolicy": {"enabled": 0}},
            "autoScalePolicy.enabled: expected true or false, found 0",
        ),
        (SUBSCRIPTION, {"type": "CHECKPOINT"}, 'type: expected one of STREAM, QUEUE, found "CHECKPOINT"'),
        (OPERATION, WRITE | {"kind": "read"}, 'kind: expected "write" or "ack", found "read"'),
        (OPERATION, WRITE | {"kind": "ack"}, "subscription: the field is missing"),
        (OPERATION, WRITE | {"subscription": "s"}, "subscription: a write has no such field"),
        (OPERATION, WRITE | {"cumulative": True}, "cumulative: a write has no such field"),
        (
            OPERATION,
            WRITE | {"segment": "topic://t/n/x"},
            "segment: the name does not have the form of a topic name: "
            "expected the canonical name of a segment: topic://t/n/x",
        ),
        (
            OPERATION,
            WRITE | {"segment": "t/n/x"},
            "segment: the name does not have the form of a topic name: "
            "expected the canonical name of a segment: t/n/x",
        ),
        (OPERATION, WRITE | {"position": "3:04"}, "position: expected ledgerId:entryId, found '3:04'"),
        (
            HEADER,
            {"state": "ENDING", "timeout_ms": 1, "created_ms": 0},
            'state: expected one of OPEN, COMMITTED, ABORTED, found "ENDING"',
        ),
        (LOAD, {"msgRateIn": -1.0}, "msgRateIn: expected a number from 0 to 1.79769e+308, found -1.0"),
    ],
)
def test_a_record_that_is_wrong_says_where(codec: Codec[Any], document: object, said: str) -> None:
    assert why(codec, document) == said


def test_the_form_of_a_record_is_not_its_soundness() -> None:
    lonely = TOPIC.decode(json.dumps(topic_with())).value.layout

    assert lonely.segment(3).range == HashRange(0, 16383) != FULL_RANGE
    assert flaws(lonely) != ()


@pytest.mark.claims("473-OP-05")
def test_an_operation_names_a_segment_and_no_regular_topic() -> None:
    named = '{{"kind": "write", "segment": "{}", "position": "1:2"}}'

    assert OPERATION.decode(named.format("segment://t/n/x/0000-7fff-1"))
    with pytest.raises(Refused, match="expected the name of a segment: persistent://t/n/x"):
        OPERATION.decode(named.format("persistent://t/n/x"))
