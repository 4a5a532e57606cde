"""
What the outside sees, as tables: REST endpoints, wire commands, admin calls, settings, metrics.

Only the forms stand here. What an endpoint or command does is said where its operation is defined.
"""

from dataclasses import dataclass
from enum import Enum

from spec.authorization import Operation
from spec.autoscale import SUPPRESSION_COUNTERS, Why
from spec.layout import SegmentState
from spec.migration import NO_CONTENT
from spec.policy import BROKER_PROPERTIES
from spec.transactions import ACKS_BY_SEGMENT_SUBSCRIPTION, WRITES_BY_SEGMENT, Coordinator

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
    body: str | None = None
    """What the request may have in its body; it is always optional."""
    success: int | None = None
    """The status of success, where a document gives one."""


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
    Endpoint("POST", SCALABLE_TOPICS + TOPIC + "/migrate-to-scalable", Operation.MIGRATE, success=NO_CONTENT),
    Endpoint("PUT", SEGMENTS + DESCRIPTOR, Operation.CREATE_SEGMENT, body="names of subscriptions"),
    Endpoint("POST", SEGMENTS + DESCRIPTOR + "/terminate", Operation.TERMINATE_SEGMENT),
    Endpoint("DELETE", SEGMENTS + DESCRIPTOR, Operation.DELETE_SEGMENT),
)
"""
The REST interface: scalable topics, then segments.

[468-REST-05, 468-REST-06, 468-REST-07, 468-REST-08, 468-REST-09, 468-REST-11, 468-REST-12, 468-REST-13,
468-REST-14, 475-REST-01, 475-REST-02, 475-REST-03, 468-REST-01, 468-REST-02, 468-REST-03, 468-REST-04]
"""

STATS = (
    ("topic", "segment counts"),
    ("segment", "rates"),
    ("subscription", "state"),
    ("subscription", "consumer count"),
    ("segment", "most recent load record"),
    ("topic", "resolved policy"),
)
"""
What a topic's statistics show, and of what; the documents name no fields. Loads and policy together explain
why the controller acted or did not. [468-REST-10, 483-STATS-01, 483-STATS-02]
"""


class Direction(Enum):
    TO_BROKER = "client to broker"
    TO_CLIENT = "broker to client"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the binary protocol, with its number in `BaseCommand`."""

    name: str
    direction: Direction
    number: int
    meaning: str
    operation: Operation | None = None
    """What it asks for, unless whoever sends it has been let in already."""


COMMANDS = (
    Command(
        "CommandScalableTopicLookup",
        Direction.TO_BROKER,
        70,
        "open a DAG watch session",
        Operation.WATCH_LAYOUT,
    ),
    Command("CommandScalableTopicUpdate", Direction.TO_CLIENT, 71, "the first answer, and every later push"),
    Command("CommandScalableTopicClose", Direction.TO_BROKER, 72, "close the DAG watch session"),
)
"""
The commands that scalable topics add. The lookup takes every name that `spec.migration.look_up` does.

[468-WIRE-06, 468-WIRE-07, 468-WIRE-08, 468-WIRE-09, 475-WIRE-01]
"""

MESSAGES = {
    "ScalableTopicDAG": "the whole DAG, with the addresses of brokers and controller",
    "SegmentInfoProto": "one segment of the DAG",
    "SegmentBrokerAddress": "a segment's id and the broker that owns it",
}
"""The messages that these commands carry. [468-WIRE-10]"""

ENUMS = {"SegmentState": tuple(state.value for state in SegmentState)}
"""The enumerations that these messages use. [468-WIRE-11]"""

DAG_FIELDS = (
    ("epoch", "uint64", "the layout epoch"),
    ("segments", "repeated SegmentInfoProto", "the full DAG"),
    ("segment_brokers", "repeated SegmentBrokerAddress", "the broker URL of each active segment"),
    ("controller_broker_url", "string", "the controller leader's broker URL"),
    ("controller_broker_url_tls", "string", "the TLS variant of that URL"),
)
"""
The fields of `ScalableTopicDAG`, the message that carries a layout to a client.

[468-WIRE-01, 468-WIRE-02, 468-WIRE-03, 468-WIRE-04, 468-WIRE-05, 468-WATCH-04]
"""

ADMIN_PACKAGE = "org.apache.pulsar.client.admin"

ADMIN_INTERFACES = {"ScalableTopics": "admin.scalableTopics()", "Namespaces": "admin.namespaces()"}
"""How a program comes by each interface of the admin client. [475-ADMIN-01]"""


@dataclass(frozen=True, slots=True)
class AdminCall:
    """A call of the admin client, and the operation that it asks for."""

    name: str
    parameters: tuple[str, ...]
    operation: Operation
    returns: str | None = None
    """The type of the result, where a document gives one."""
    throws: str | None = None
    twin: bool = True
    """Whether there is another one with the suffix `Async`, which returns a `CompletableFuture` instead."""
    interface: str = "ScalableTopics"


ADMIN_CALLS = (
    AdminCall("listScalableTopics", ("namespace",), Operation.LIST_TOPICS),
    AdminCall("createScalableTopic", ("topic", "numSegments"), Operation.CREATE_TOPIC),
    AdminCall("getMetadata", ("topic",), Operation.GET_METADATA),
    AdminCall("getStats", ("topic",), Operation.GET_STATS),
    AdminCall("deleteScalableTopic", ("topic",), Operation.DELETE_TOPIC),
    AdminCall("createSubscription", ("topic", "subscription"), Operation.CREATE_SUBSCRIPTION),
    AdminCall("deleteSubscription", ("topic", "subscription"), Operation.DELETE_SUBSCRIPTION),
    AdminCall("splitSegment", ("topic", "segmentId"), Operation.SPLIT_SEGMENT),
    AdminCall("mergeSegments", ("topic", "segmentId1", "segmentId2"), Operation.MERGE_SEGMENTS),
    AdminCall("createSegment", ("segmentTopic", "subscriptions"), Operation.CREATE_SEGMENT),
    AdminCall("terminateSegment", ("segmentTopic",), Operation.TERMINATE_SEGMENT),
    AdminCall("deleteSegment", ("segmentTopic", "force"), Operation.DELETE_SEGMENT),
    AdminCall("migrateToScalable", ("String topic",), Operation.MIGRATE, "void", "PulsarAdminException"),
    AdminCall(
        "setAutoScalePolicy",
        ("String topic", "AutoScalePolicyOverride policy"),
        Operation.SET_TOPIC_POLICY,
        "void",
        "PulsarAdminException",
        twin=False,
    ),
    AdminCall(
        "getAutoScalePolicy",
        ("String topic",),
        Operation.GET_TOPIC_POLICY,
        "AutoScalePolicyOverride",
        "PulsarAdminException",
        twin=False,
    ),
    AdminCall(
        "removeAutoScalePolicy",
        ("String topic",),
        Operation.SET_TOPIC_POLICY,
        "void",
        "PulsarAdminException",
        twin=False,
    ),
    AdminCall(
        "setScalableTopicAutoScalePolicy",
        ("String namespace", "AutoScalePolicyOverride policy"),
        Operation.SET_NAMESPACE_POLICY,
        "void",
        twin=False,
        interface="Namespaces",
    ),
    AdminCall(
        "getScalableTopicAutoScalePolicy",
        ("String namespace",),
        Operation.GET_NAMESPACE_POLICY,
        "AutoScalePolicyOverride",
        twin=False,
        interface="Namespaces",
    ),
    AdminCall(
        "removeScalableTopicAutoScalePolicy",
        ("String namespace",),
        Operation.SET_NAMESPACE_POLICY,
        "void",
        twin=False,
        interface="Namespaces",
    ),
)
"""
The calls of the admin client, as far as each document spells them out. Removing asks for what setting does.

[468-ADMIN-05, 468-ADMIN-06, 468-ADMIN-07, 468-ADMIN-08, 468-ADMIN-09, 468-ADMIN-10, 468-ADMIN-11,
468-ADMIN-12, 468-ADMIN-13, 468-ADMIN-14, 468-ADMIN-15, 468-ADMIN-16, 475-ADMIN-02, 475-ADMIN-03,
483-ADMIN-01, 483-ADMIN-02, 483-ADMIN-03, 483-ADMIN-04, 483-ADMIN-05, 483-ADMIN-06]
"""

COMMAND_LINE = {"pulsar-admin scalable-topics migrate-to-scalable <topic>": Operation.MIGRATE}
"""What an operator types, and the operation that it asks for. [475-ADMIN-04]"""

PROPERTIES = {
    "PIP-468": ("scalableTopicEnabled",),
    "PIP-475": ("enableScalableTopicMigration",),
    "PIP-483": (
        "scalableTopicAutoScaleInterval",
        "scalableTopicLoadReportInterval",
        "scalableTopicLoadReportRateChangeThreshold",
        *BROKER_PROPERTIES.values(),
    ),
}
"""
Which document defines which properties of `broker.conf`; their defaults stand in `spec.policy`.

[468-CONFIG-02, 468-CONFIG-04, 475-CONFIG-01, 475-CONFIG-02]
"""


@dataclass(frozen=True, slots=True)
class UnnamedSetting:
    """A setting that a document asks for but gives no name; the first of its levels that is set wins."""

    document: str
    meaning: str
    levels: tuple[str, ...]


UNNAMED_SETTINGS = (
    UnnamedSetting("PIP-468", "the session grace period", ("broker",)),
    UnnamedSetting("PIP-473", "how transactions are decided", ("namespace", "broker")),
)
"""The settings left to an implementation to name. [468-CONFIG-01, 473-CONFIG-04, 473-CONFIG-07]"""


class MetricKind(Enum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric that a broker exposes, and what it counts, shows or times."""

    name: str
    kind: MetricKind
    of: str
    per_topic: bool = False
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()


METRICS = (
    Metric("pulsar_scalable_topic_active_segments", MetricKind.GAUGE, "active segments", per_topic=True),
    Metric("pulsar_scalable_topic_auto_splits_total", MetricKind.COUNTER, "automatic splits", per_topic=True),
    Metric("pulsar_scalable_topic_auto_merges_total", MetricKind.COUNTER, "automatic merges", per_topic=True),
    Metric(
        SUPPRESSION_COUNTERS[Why.AT_MAX_SEGMENTS],
        MetricKind.COUNTER,
        "splits withheld because of maxSegments",
        per_topic=True,
    ),
    Metric(
        SUPPRESSION_COUNTERS[Why.TOO_MANY_MERGES],
        MetricKind.COUNTER,
        "merges withheld because of maxDagDepth",
        per_topic=True,
    ),
    Metric("pulsar_txn_metadata_store_op_writes_total", MetricKind.COUNTER, "operation records written"),
    Metric(
        "pulsar_txn_metadata_store_header_cas_total",
        MetricKind.COUNTER,
        "header CAS attempts",
        labels=(("result", ("ok", "conflict", "reject")),),
    ),
    Metric(
        "pulsar_txn_metadata_store_index_query_seconds",
        MetricKind.HISTOGRAM,
        f"range queries over {WRITES_BY_SEGMENT.name} and {ACKS_BY_SEGMENT_SUBSCRIPTION.name}",
    ),
    Metric(
        "pulsar_txn_metadata_store_outstanding_op_records",
        MetricKind.GAUGE,
        "operation records not yet collected",
    ),
)
"""
Everything that the documents add to a broker's metrics.

[483-METRIC-01, 483-METRIC-02, 483-METRIC-03, 483-METRIC-04, 483-METRIC-05, 473-METRIC-02, 473-METRIC-03,
473-METRIC-04, 473-METRIC-05]
"""

TXN_COMMANDS = ("NEW_TXN", "ADD_PARTITION_TO_TXN", "ADD_SUBSCRIPTION_TO_TXN", "END_TXN")
"""What clients send to either transaction coordinator; unchanged from v4. [473-WIRE-02]"""


@dataclass(frozen=True, slots=True)
class TxnComponents:
    """What takes part in the transactions of one coordinator, and how it learns their outcome."""

    implementation: str
    buffer: str
    pending_acks: str
    told_by: tuple[str, ...]
    """The commands that the coordinator sends to participants."""


TXN_COMPONENTS = {
    Coordinator.LEGACY: TxnComponents(
        "in-stream-marker",
        "TopicTransactionBuffer",
        "MLPendingAckStore",
        ("END_TXN_ON_PARTITION", "END_TXN_ON_SUBSCRIPTION"),
    ),
    Coordinator.V5: TxnComponents(
        "metadata-driven", "MetadataTransactionBuffer", "MetadataPendingAckStore", ()
    ),
}
"""
The two implementations. By default a topic's domain chooses: see `spec.transactions.coordinator_of`.

[473-CONFIG-01, 473-CONFIG-03, 473-CONFIG-05, 473-CONFIG-06, 473-WIRE-05]
"""

LEGACY_TXN_STATES = ("OPEN", "COMMITTING", "COMMITTED", "ABORTING", "ABORTED", "TIME_OUT")
"""The states of a transaction in the legacy coordinator's log. [473-COMPAT-02]"""

LEGACY_PENDING_ACK_TOPIC = "{topic}-{subscription}__transaction_pending_ack"
"""
Where the legacy store keeps a subscription's acks. For a segment's own name the result is not a name.

[473-COMPAT-04, 473-COMPAT-07]
"""

SEGMENT_PENDING_ACK_TOPIC = (
    "persistent://{tenant}/{namespace}/{local}-{descriptor}-{subscription}__transaction_pending_ack"
)
"""Where a workaround kept the acks on a segment before there were records of them. [473-COMPAT-10]"""
