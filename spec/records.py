"""
The records of the metadata store as JSON: one codec per kind.

The topic record has the fields of PIP-468, those that PIP-483 and PIP-475 add to it, and `legacyTopicName` on
segments that a migration made, because the text gives no other way from such a segment to its ledger.
"""

from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

from spec.assignment import AssignedSegment, ConsumerAssignment
from spec.documents import DOUBLE_MAX, LONG_MIN, Codec, Fields
from spec.layout import SegmentInfo, SegmentLayout, SegmentState, layout_of
from spec.migration import MigrationOrigin
from spec.names import RegularName, SegmentName, parse
from spec.policy import BROKER_PROPERTIES, METRICS, AutoScaleOverride, Rates
from spec.ranges import LAST_HASH, HashRange
from spec.refusals import Reason, Refused
from spec.transactions import Ack, Header, Operation, TxnState, Write, parse_position


class SubscriptionType(Enum):
    """STREAM consumers are given segments by the controller; QUEUE consumers attach to all of them."""

    STREAM = "STREAM"
    QUEUE = "QUEUE"


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """Everything that is stored about a scalable topic as a whole. [468-RECORD-01]"""

    layout: SegmentLayout
    properties: tuple[tuple[str, str], ...] = ()
    """Free labels, sorted by name. [468-RECORD-08]"""
    auto_scale: AutoScaleOverride | None = None
    migrated_from: MigrationOrigin | None = None
    """
    What the topic was before, if it was migrated; told to people and asked by nobody.

    There is no further trace of the migration here: a migrated topic is routed like any other.
    [475-ORIGIN-01, 475-ORIGIN-03, 475-ORIGIN-04]
    """

    def with_layout(self, layout: SegmentLayout) -> "TopicRecord":
        """What a split, merge or prune writes: only the layout changes."""
        return replace(self, layout=layout)


@dataclass(frozen=True, slots=True)
class Registration:
    """A consumer's durable session: its name and what it was given. Connections are not stored."""

    consumer: str
    assignment: ConsumerAssignment


def _write_range(whole: HashRange) -> dict[str, int]:
    return {"start": whole.start, "end": whole.end}


def _read_range(of: Fields) -> HashRange:
    start = of.integer("start", high=LAST_HASH)
    end = of.integer("end", high=LAST_HASH)
    if end < start:
        of.refuse("end", f"the range ends before it starts: {start}..{end}")
    return HashRange(start, end)


def _write_segment(segment: SegmentInfo) -> dict[str, Any]:
    """A segment of either state, with its range in decimal. [468-RECORD-05, 468-RECORD-06, 468-RECORD-07]"""
    written: dict[str, Any] = {
        "segmentId": segment.segment_id,
        "hashRange": _write_range(segment.range),
        "state": segment.state.value,
        "parentIds": list(segment.parent_ids),
        "childIds": list(segment.child_ids),
        "createdAtEpoch": segment.created_at_epoch,
        "sealedAtEpoch": segment.sealed_at_epoch,
    }
    if segment.legacy_topic is not None:
        written["legacyTopicName"] = str(segment.legacy_topic)
    return written


def _read_segment(of: Fields) -> SegmentInfo:
    """Pulsar writes -1 for the sealing of an active segment where the text has 0; either stays as it is."""
    return SegmentInfo(
        of.integer("segmentId"),
        _read_range(of.nested("hashRange")),
        of.choice("state", SegmentState),
        of.integers("parentIds"),
        of.integers("childIds"),
        of.integer("createdAtEpoch"),
        of.integer("sealedAtEpoch", low=-1),
        of.read("legacyTopicName", _regular) if of.has("legacyTopicName") else None,
    )


def _write_topic(record: TopicRecord) -> dict[str, Any]:
    """
    The layout with its whole history, each segment under its id in decimal, and what stands beside it.

    [468-RECORD-02, 468-RECORD-03, 468-RECORD-04, 468-RECORD-09, 468-RECORD-10]
    """
    written: dict[str, Any] = {
        "epoch": record.layout.epoch,
        "nextSegmentId": record.layout.next_segment_id,
        "segments": {str(s.segment_id): _write_segment(s) for s in record.layout.segments},
        "properties": dict(record.properties),
    }
    if record.auto_scale is not None:
        written["autoScalePolicy"] = _write_override(record.auto_scale)
    if record.migrated_from is not None:
        written["migratedFrom"] = _write_origin(record.migrated_from)
    return written


def _read_topic(of: Fields) -> TopicRecord:
    by_id = of.nested("segments")
    segments = []
    for name in by_id.names():
        segment = _read_segment(by_id.nested(name))
        if name != str(segment.segment_id):
            by_id.refuse(name, f"the segment in this place has the id {segment.segment_id}")
        segments.append(segment)

    labels = of.nested("properties")
    return TopicRecord(
        layout_of(of.integer("epoch"), of.integer("nextSegmentId"), segments),
        tuple(sorted((name, labels.text(name)) for name in labels.names())),
        _read_override(of.nested("autoScalePolicy")) if of.has("autoScalePolicy") else None,
        _read_origin(of.nested("migratedFrom")) if of.has("migratedFrom") else None,
    )


def _write_origin(origin: MigrationOrigin) -> dict[str, Any]:
    """The old name and the partition count; the names of the two fields are ours. [475-ORIGIN-02]"""
    return {"topic": str(origin.topic), "partitions": origin.partitions}


def _read_origin(of: Fields) -> MigrationOrigin:
    return MigrationOrigin(of.read("topic", _regular), of.integer("partitions"))


OVERRIDE_FIELDS = {
    field: "enabled" if field == "enabled" else name[13].lower() + name[14:]
    for field, name in BROKER_PROPERTIES.items()
}
"""What an override calls each setting: the broker's property without `scalableTopic`."""


def _write_override(override: AutoScaleOverride) -> dict[str, Any]:
    named = ((OVERRIDE_FIELDS[f.name], getattr(override, f.name)) for f in fields(override))
    return {name: value for name, value in named if value is not None}


def _read_override(of: Fields) -> AutoScaleOverride:
    """Any numbers are read: a policy that they make invalid stops auto-scaling, but not the topic."""
    settings: dict[str, Any] = {}
    for field, name in OVERRIDE_FIELDS.items():
        if not of.has(name):
            continue
        if field == "enabled":
            settings[field] = of.flag(name)
        elif "_rate_" in field:
            settings[field] = of.number(name, low=-DOUBLE_MAX)
        else:
            settings[field] = of.integer(name, low=LONG_MIN)
    return AutoScaleOverride(**settings)


def _write_subscription(kind: SubscriptionType) -> dict[str, Any]:
    return {"type": kind.value}


def _read_subscription(of: Fields) -> SubscriptionType:
    return of.choice("type", SubscriptionType)


def _write_registration(registration: Registration) -> dict[str, Any]:
    return {
        "consumerName": registration.consumer,
        "assignment": {
            "layoutEpoch": registration.assignment.layout_epoch,
            "assignedSegments": [
                {
                    "segmentId": s.segment_id,
                    "hashRange": _write_range(s.range),
                    "underlyingTopicName": str(s.topic),
                }
                for s in registration.assignment.segments
            ],
        },
    }


def _read_registration(of: Fields) -> Registration:
    assignment = of.nested("assignment")
    segments = tuple(
        AssignedSegment(
            s.integer("segmentId"), _read_range(s.nested("hashRange")), s.read("underlyingTopicName", _served)
        )
        for s in assignment.nested_list("assignedSegments", key="segmentId")
    )
    return Registration(
        of.text("consumerName"), ConsumerAssignment(assignment.integer("layoutEpoch"), segments)
    )


def _write_load(rates: Rates) -> dict[str, Any]:
    return dict(zip(METRICS, rates.each(), strict=True))


def _read_load(of: Fields) -> Rates:
    return Rates(*map(of.number, METRICS))


def _write_header(header: Header) -> dict[str, Any]:
    written: dict[str, Any] = {
        "state": header.state.value,
        "timeout_ms": header.timeout_at,
        "created_ms": header.created_at,
    }
    if header.finalized_at is not None:
        written["finalized_ms"] = header.finalized_at
    return written


def _read_header(of: Fields) -> Header:
    return Header(
        of.choice("state", TxnState),
        of.integer("timeout_ms"),
        of.integer("created_ms"),
        of.integer("finalized_ms") if of.has("finalized_ms") else None,
    )


def _write_operation(operation: Operation) -> dict[str, Any]:
    if isinstance(operation, Write):
        return {"kind": "write", "segment": str(operation.segment), "position": str(operation.position)}
    written: dict[str, Any] = {
        "kind": "ack",
        "segment": str(operation.segment),
        "subscription": operation.subscription,
        "position": str(operation.position),
    }
    if operation.cumulative:
        written["cumulative"] = True
    return written


def _read_operation(of: Fields) -> Operation:
    kind = of.text("kind")
    segment, position = of.read("segment", _segment), of.read("position", parse_position)
    if kind == "write":
        for name in ("subscription", "cumulative"):
            if of.has(name):
                of.refuse(name, "a write has no such field")
        return Write(segment, position)
    if kind == "ack":
        cumulative = of.flag("cumulative") if of.has("cumulative") else False
        return Ack(segment, of.text("subscription"), position, cumulative)
    of.refuse("kind", f'expected "write" or "ack", found "{kind}"')


def _served(text: str) -> SegmentName | RegularName:
    name = parse(text)
    if not isinstance(name, SegmentName | RegularName) or str(name) != text:
        raise Refused(Reason.NAME_MALFORMED, f"expected the canonical name of a segment: {text}")
    return name


def _segment(text: str) -> SegmentName:
    name = _served(text)
    if not isinstance(name, SegmentName):
        raise Refused(Reason.NAME_MALFORMED, f"expected the name of a segment: {text}")
    return name


def _regular(text: str) -> RegularName:
    name = parse(text)
    if not isinstance(name, RegularName) or str(name) != text:
        raise Refused(Reason.NAME_MALFORMED, f"expected the full name of a regular topic: {text}")
    return name


TOPIC: Codec[TopicRecord] = Codec(_read_topic, _write_topic)
SUBSCRIPTION: Codec[SubscriptionType] = Codec(_read_subscription, _write_subscription)
"""The subscription's own settings; its registrations are the records below its path. [468-RECORD-11]"""
REGISTRATION: Codec[Registration] = Codec(_read_registration, _write_registration)
LOAD: Codec[Rates] = Codec(_read_load, _write_load)
OVERRIDE: Codec[AutoScaleOverride] = Codec(_read_override, _write_override)
HEADER: Codec[Header] = Codec(_read_header, _write_header)
OPERATION: Codec[Operation] = Codec(_read_operation, _write_operation)
