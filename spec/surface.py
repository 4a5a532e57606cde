"""
What the outside sees, as tables: REST endpoints, wire commands, client calls, metrics.

Only the forms stand here. What an endpoint or command does is said where its operation is defined.
"""

from dataclasses import dataclass
from enum import Enum

from spec.authorization import Operation

SCALABLE = "/admin/v2/scalable"
SCALABLE_TOPICS = "/admin/v2/scalable-topics"
"""PIP-475 spells the base path differently from PIP-468; each endpoint stands as its own document says."""
SEGMENTS = "/admin/v2/segments"

TOPIC = "/{tenant}/{namespace}/{topic}"
SUBSCRIPTION = TOPIC + "/subscriptions/{subscription}"
DESCRIPTOR = TOPIC + "/{descriptor}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A REST call: its method, its path, and the operation that it asks for."""

    method: str
    path: str
    operation: Operation


ENDPOINTS = (
    Endpoint("GET", SCALABLE + "/{tenant}/{namespace}", Operation.LIST_TOPICS),
    Endpoint("PUT", SCALABLE + TOPIC, Operation.CREATE_TOPIC),
    Endpoint("GET", SCALABLE + TOPIC, Operation.GET_METADATA),
    Endpoint("DELETE", SCALABLE + TOPIC, Operation.DELETE_TOPIC),
    Endpoint("GET", SCALABLE + TOPIC + "/stats", Operation.GET_STATS),
    Endpoint("PUT", SCALABLE + SUBSCRIPTION, Operation.CREATE_SUBSCRIPTION),
    Endpoint("DELETE", SCALABLE + SUBSCRIPTION, Operation.DELETE_SUBSCRIPTION),
    Endpoint("POST", SCALABLE + TOPIC + "/split/{segmentId}", Operation.SPLIT_SEGMENT),
    Endpoint("POST", SCALABLE + TOPIC + "/merge/{segmentId1}/{segmentId2}", Operation.MERGE_SEGMENTS),
    Endpoint("POST", SCALABLE_TOPICS + TOPIC + "/migrate-to-scalable", Operation.MIGRATE),
    Endpoint("PUT", SEGMENTS + DESCRIPTOR, Operation.CREATE_SEGMENT),
    Endpoint("POST", SEGMENTS + DESCRIPTOR + "/terminate", Operation.TERMINATE_SEGMENT),
    Endpoint("DELETE", SEGMENTS + DESCRIPTOR, Operation.DELETE_SEGMENT),
)


class Direction(Enum):
    TO_BROKER = "client to broker"
    TO_CLIENT = "broker to client"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the binary protocol, with its number in `BaseCommand`."""

    name: str
    direction: Direction
    number: int


COMMANDS = (
    Command("CommandScalableTopicLookup", Direction.TO_BROKER, 70),
    Command("CommandScalableTopicUpdate", Direction.TO_CLIENT, 71),
    Command("CommandScalableTopicClose", Direction.TO_BROKER, 72),
)

DAG_FIELDS = (
    ("epoch", "uint64"),
    ("segments", "repeated SegmentInfoProto"),
    ("segment_brokers", "repeated SegmentBrokerAddress"),
    ("controller_broker_url", "string"),
    ("controller_broker_url_tls", "string"),
)
"""The fields of `ScalableTopicDAG`, the message that carries a layout to a client."""

METRICS = (
    "pulsar_scalable_topic_active_segments",
    "pulsar_scalable_topic_auto_splits_total",
    "pulsar_scalable_topic_auto_merges_total",
    "pulsar_scalable_topic_split_suppressed_max_segments_total",
    "pulsar_scalable_topic_merge_suppressed_max_depth_total",
    "pulsar_txn_metadata_store_op_writes_total",
    "pulsar_txn_metadata_store_header_cas_total",
    "pulsar_txn_metadata_store_index_query_seconds",
    "pulsar_txn_metadata_store_outstanding_op_records",
)

CAS_RESULTS = ("ok", "conflict", "reject")
"""The values of the label `result` on the header CAS counter."""

TXN_COMMANDS = ("NEW_TXN", "ADD_PARTITION_TO_TXN", "ADD_SUBSCRIPTION_TO_TXN", "END_TXN")
"""What clients send to a transaction coordinator; unchanged from v4."""

ADMIN_CALLS = {
    "listScalableTopics": Operation.LIST_TOPICS,
    "createScalableTopic": Operation.CREATE_TOPIC,
    "getMetadata": Operation.GET_METADATA,
    "getStats": Operation.GET_STATS,
    "deleteScalableTopic": Operation.DELETE_TOPIC,
    "createSubscription": Operation.CREATE_SUBSCRIPTION,
    "deleteSubscription": Operation.DELETE_SUBSCRIPTION,
    "splitSegment": Operation.SPLIT_SEGMENT,
    "mergeSegments": Operation.MERGE_SEGMENTS,
    "createSegment": Operation.CREATE_SEGMENT,
    "terminateSegment": Operation.TERMINATE_SEGMENT,
    "deleteSegment": Operation.DELETE_SEGMENT,
    "migrateToScalable": Operation.MIGRATE,
    "setAutoScalePolicy": Operation.SET_TOPIC_POLICY,
    "getAutoScalePolicy": Operation.GET_TOPIC_POLICY,
    "removeAutoScalePolicy": Operation.SET_TOPIC_POLICY,
    "setScalableTopicAutoScalePolicy": Operation.SET_NAMESPACE_POLICY,
    "getScalableTopicAutoScalePolicy": Operation.GET_NAMESPACE_POLICY,
    "removeScalableTopicAutoScalePolicy": Operation.SET_NAMESPACE_POLICY,
}
"""The calls of the admin client and the operation that each asks for."""
