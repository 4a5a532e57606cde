"""The tables of the surface against those of the documents."""

import pytest

from spec.authorization import NEEDS, Operation
from spec.layout import SegmentState, initial_layout
from spec.migration import (
    GONE,
    LOOKUP_COMMAND,
    SERVER_ERROR,
    STATUS,
    Client,
    RegularTopic,
    guard_v4_lookup,
    look_up,
)
from spec.names import RegularName, SegmentName, TopicName, parse
from spec.policy import BROKER_DEFAULTS
from spec.refusals import Reason, Refused
from spec.surface import (
    ADMIN_CALLS,
    ADMIN_INTERFACES,
    ADMIN_PACKAGE,
    COMMAND_LINE,
    COMMANDS,
    DAG_FIELDS,
    ENDPOINTS,
    ENUMS,
    LEGACY_PENDING_ACK_TOPIC,
    LEGACY_TXN_STATES,
    MESSAGES,
    METRICS,
    PROPERTIES,
    SEGMENT_PENDING_ACK_TOPIC,
    STATS,
    TXN_COMMANDS,
    TXN_COMPONENTS,
    UNNAMED_SETTINGS,
    AdminCall,
    Direction,
    MetricKind,
)
from spec.transactions import INDEXES, coordinator_of

X = RegularName("t", "n", "x")

SCALABLE_TOPICS_API = [
    ("GET", "/admin/v2/scalable/{tenant}/{namespace}", "LIST_TOPICS"),
    ("PUT", "/admin/v2/scalable/{tenant}/{namespace}/{topic}", "CREATE_TOPIC"),
    ("GET", "/admin/v2/scalable/{tenant}/{namespace}/{topic}", "GET_METADATA"),
    ("DELETE", "/admin/v2/scalable/{tenant}/{namespace}/{topic}", "DELETE_TOPIC"),
    ("GET", "/admin/v2/scalable/{tenant}/{namespace}/{topic}/stats", "GET_STATS"),
    (
        "PUT",
        "/admin/v2/scalable/{tenant}/{namespace}/{topic}/subscriptions/{subscription}",
        "CREATE_SUBSCRIPTION",
    ),
    (
        "DELETE",
        "/admin/v2/scalable/{tenant}/{namespace}/{topic}/subscriptions/{subscription}",
        "DELETE_SUBSCRIPTION",
    ),
    ("POST", "/admin/v2/scalable/{tenant}/{namespace}/{topic}/split/{segmentId}", "SPLIT_SEGMENT"),
    (
        "POST",
        "/admin/v2/scalable/{tenant}/{namespace}/{topic}/merge/{segmentId1}/{segmentId2}",
        "MERGE_SEGMENTS",
    ),
]
SEGMENTS_API = [
    ("PUT", "/admin/v2/segments/{tenant}/{namespace}/{topic}/{descriptor}", "CREATE_SEGMENT"),
    ("POST", "/admin/v2/segments/{tenant}/{namespace}/{topic}/{descriptor}/terminate", "TERMINATE_SEGMENT"),
    ("DELETE", "/admin/v2/segments/{tenant}/{namespace}/{topic}/{descriptor}", "DELETE_SEGMENT"),
]
MIGRATION_API = [
    ("POST", "/admin/v2/scalable-topics/{tenant}/{namespace}/{topic}/migrate-to-scalable", "MIGRATE")
]


def rows(base: str) -> list[tuple[str, str, str]]:
    return [(e.method, e.path, e.operation.name) for e in ENDPOINTS if e.path.startswith(base + "/")]


@pytest.mark.claims(
    "468-REST-05",
    "468-REST-06",
    "468-REST-07",
    "468-REST-08",
    "468-REST-09",
    "468-REST-11",
    "468-REST-12",
    "468-REST-13",
    "468-REST-14",
)
def test_the_rest_interface_of_scalable_topics() -> None:
    assert rows("/admin/v2/scalable") == SCALABLE_TOPICS_API


@pytest.mark.claims("468-REST-01", "468-REST-03", "468-REST-04", "468-SEGAPI-03")
def test_the_rest_interface_of_segments() -> None:
    assert rows("/admin/v2/segments") == SEGMENTS_API


@pytest.mark.claims("475-REST-01", "468-ROLE-03")
def test_the_rest_interface_of_migration_and_no_other() -> None:
    assert rows("/admin/v2/scalable-topics") == MIGRATION_API
    assert len(ENDPOINTS) == len(SCALABLE_TOPICS_API + SEGMENTS_API + MIGRATION_API)


@pytest.mark.claims("468-REST-02", "475-REST-02", "475-REST-03")
def test_one_request_has_a_body_and_one_success_a_status() -> None:
    assert {e.operation: e.body for e in ENDPOINTS if e.body} == {
        Operation.CREATE_SEGMENT: "names of subscriptions"
    }
    assert {e.operation: e.success for e in ENDPOINTS if e.success} == {Operation.MIGRATE: 204}


@pytest.mark.claims("468-REST-10", "483-STATS-01", "483-STATS-02")
def test_the_statistics_show_loads_and_policy_beside_what_they_showed_before() -> None:
    before = [
        ("topic", "segment counts"),
        ("segment", "rates"),
        ("subscription", "state"),
        ("subscription", "consumer count"),
    ]
    assert list(STATS) == [*before, ("segment", "most recent load record"), ("topic", "resolved policy")]


@pytest.mark.claims("468-WIRE-06", "468-WIRE-07", "468-WIRE-08", "468-WIRE-09")
def test_the_commands_of_the_binary_protocol() -> None:
    assert [(c.name, c.direction.value, c.number, c.meaning) for c in COMMANDS] == [
        ("CommandScalableTopicLookup", "client to broker", 70, "open a DAG watch session"),
        ("CommandScalableTopicUpdate", "broker to client", 71, "the first answer, and every later push"),
        ("CommandScalableTopicClose", "client to broker", 72, "close the DAG watch session"),
    ]
    assert [d.name for d in Direction] == ["TO_BROKER", "TO_CLIENT"]


@pytest.mark.claims("468-SEC-03")
def test_only_the_lookup_asks_for_anything() -> None:
    assert [c.operation for c in COMMANDS] == [Operation.WATCH_LAYOUT, None, None]


@pytest.mark.claims("468-WIRE-10", "468-WIRE-11", "468-SEGMENT-06")
def test_the_messages_of_the_binary_protocol() -> None:
    assert list(MESSAGES) == ["ScalableTopicDAG", "SegmentInfoProto", "SegmentBrokerAddress"]
    assert MESSAGES["SegmentInfoProto"] == "one segment of the DAG"
    assert MESSAGES["SegmentBrokerAddress"] == "a segment's id and the broker that owns it"
    assert ENUMS == {"SegmentState": ("ACTIVE", "SEALED")}
    assert [state.name for state in SegmentState] == ["ACTIVE", "SEALED"]


@pytest.mark.claims("468-WIRE-01", "468-WIRE-02", "468-WIRE-03", "468-WIRE-04", "468-WIRE-05", "468-WATCH-04")
def test_the_fields_of_the_dag_message() -> None:
    assert DAG_FIELDS == (
        ("epoch", "uint64", "the layout epoch"),
        ("segments", "repeated SegmentInfoProto", "the full DAG"),
        ("segment_brokers", "repeated SegmentBrokerAddress", "the broker URL of each active segment"),
        ("controller_broker_url", "string", "the controller leader's broker URL"),
        ("controller_broker_url_tls", "string", "the TLS variant of that URL"),
    )
    assert {kind.removeprefix("repeated ") for _, kind, _ in DAG_FIELDS} - {"uint64", "string"} <= {*MESSAGES}


@pytest.mark.claims("475-WIRE-01")
@pytest.mark.parametrize("text", ["topic://public/default/x", "persistent://public/default/x", "x"])
def test_the_lookup_takes_every_form_of_a_topics_name(text: str) -> None:
    name = parse(text)
    assert not isinstance(name, SegmentName)
    identity = TopicName("public", "default", "x")

    assert look_up(name, initial_layout(2), None).identity == identity
    if isinstance(name, RegularName):
        assert look_up(name, None, RegularTopic(name)).identity == identity


@pytest.mark.claims("475-REST-04", "475-WIRE-02")
def test_a_v4_lookup_of_a_scalable_topic_is_sent_away_with_its_new_name() -> None:
    with pytest.raises(Refused) as refusal:
        guard_v4_lookup(X, scalable=True)

    assert refusal.value.reason is Reason.TOPIC_MIGRATED
    assert refusal.value.detail == "topic://t/n/x"
    assert LOOKUP_COMMAND[Client.V4] == "CommandLookupTopic"
    assert SERVER_ERROR[Reason.TOPIC_MIGRATED] == "TopicMigrated"
    assert STATUS[Reason.TOPIC_MIGRATED] == GONE == 410
    guard_v4_lookup(X, scalable=False)


def signature(call: AdminCall) -> str:
    """A call as the documents write it."""
    words = [call.returns or "", f"{call.name}({', '.join(call.parameters)})"]
    return " ".join(words).strip() + (f" throws {call.throws}" if call.throws else "")


@pytest.mark.claims(
    "468-ADMIN-04",
    "468-ADMIN-05",
    "468-ADMIN-06",
    "468-ADMIN-07",
    "468-ADMIN-08",
    "468-ADMIN-09",
    "468-ADMIN-10",
    "468-ADMIN-11",
    "468-ADMIN-12",
    "468-ADMIN-13",
    "468-ADMIN-14",
    "468-ADMIN-15",
    "468-ADMIN-16",
)
def test_the_admin_calls_of_pip_468_exist_twice() -> None:
    calls = ADMIN_CALLS[:12]
    assert {signature(call): call.operation.name for call in calls} == {
        "listScalableTopics(namespace)": "LIST_TOPICS",
        "createScalableTopic(topic, numSegments)": "CREATE_TOPIC",
        "getMetadata(topic)": "GET_METADATA",
        "getStats(topic)": "GET_STATS",
        "deleteScalableTopic(topic)": "DELETE_TOPIC",
        "createSubscription(topic, subscription)": "CREATE_SUBSCRIPTION",
        "deleteSubscription(topic, subscription)": "DELETE_SUBSCRIPTION",
        "splitSegment(topic, segmentId)": "SPLIT_SEGMENT",
        "mergeSegments(topic, segmentId1, segmentId2)": "MERGE_SEGMENTS",
        "createSegment(segmentTopic, subscriptions)": "CREATE_SEGMENT",
        "terminateSegment(segmentTopic)": "TERMINATE_SEGMENT",
        "deleteSegment(segmentTopic, force)": "DELETE_SEGMENT",
    }
    assert {(call.interface, call.twin) for call in calls} == {("ScalableTopics", True)}


@pytest.mark.claims("475-ADMIN-01", "475-ADMIN-02", "475-ADMIN-03")
def test_the_admin_calls_of_migration() -> None:
    call = ADMIN_CALLS[12]
    assert signature(call) == "void migrateToScalable(String topic) throws PulsarAdminException"
    assert f"{ADMIN_PACKAGE}.{call.interface}" == "org.apache.pulsar.client.admin.ScalableTopics"
    assert f"{ADMIN_INTERFACES[call.interface]}.{call.name}" == "admin.scalableTopics().migrateToScalable"
    assert call.twin
    assert call.operation is Operation.MIGRATE


@pytest.mark.claims(
    "483-ADMIN-01", "483-ADMIN-02", "483-ADMIN-03", "483-ADMIN-04", "483-ADMIN-05", "483-ADMIN-06"
)
def test_the_admin_calls_of_auto_scaling() -> None:
    calls = ADMIN_CALLS[13:]
    assert [(call.interface, call.operation.name) for call in calls] == [
        ("ScalableTopics", "SET_TOPIC_POLICY"),
        ("ScalableTopics", "GET_TOPIC_POLICY"),
        ("ScalableTopics", "SET_TOPIC_POLICY"),
        ("Namespaces", "SET_NAMESPACE_POLICY"),
        ("Namespaces", "GET_NAMESPACE_POLICY"),
        ("Namespaces", "SET_NAMESPACE_POLICY"),
    ]
    throws = " throws PulsarAdminException"
    assert [signature(call) for call in calls] == [
        "void setAutoScalePolicy(String topic, AutoScalePolicyOverride policy)" + throws,
        "AutoScalePolicyOverride getAutoScalePolicy(String topic)" + throws,
        "void removeAutoScalePolicy(String topic)" + throws,
        "void setScalableTopicAutoScalePolicy(String namespace, AutoScalePolicyOverride policy)",
        "AutoScalePolicyOverride getScalableTopicAutoScalePolicy(String namespace)",
        "void removeScalableTopicAutoScalePolicy(String namespace)",
    ]
    assert not any(call.twin for call in calls)
    assert ADMIN_INTERFACES["Namespaces"] == "admin.namespaces()"


@pytest.mark.claims("475-ADMIN-04")
def test_the_command_line_of_migration() -> None:
    assert COMMAND_LINE == {"pulsar-admin scalable-topics migrate-to-scalable <topic>": Operation.MIGRATE}


def test_every_request_asks_for_an_operation_with_one_permission() -> None:
    asked = {e.operation for e in ENDPOINTS} | {c.operation for c in ADMIN_CALLS} | {*COMMAND_LINE.values()}
    assert asked <= NEEDS.keys()


@pytest.mark.claims("483-SEC-04")
def test_nothing_on_the_surface_writes_a_load_record() -> None:
    everything = (*ENDPOINTS, *COMMANDS, *ADMIN_CALLS)
    assert Operation.REPORT_LOAD not in {row.operation for row in everything} | {*COMMAND_LINE.values()}


@pytest.mark.claims("468-CONFIG-02", "468-CONFIG-04", "475-CONFIG-01", "475-CONFIG-02")
def test_each_document_defines_its_properties() -> None:
    """Names and defaults of all of them stand in test_policy; here, that each has one document."""
    assert PROPERTIES["PIP-468"] == ("scalableTopicEnabled",)
    assert PROPERTIES["PIP-475"] == ("enableScalableTopicMigration",)
    assert list(PROPERTIES) == ["PIP-468", "PIP-475", "PIP-483"]
    assert sorted(name for names in PROPERTIES.values() for name in names) == sorted(BROKER_DEFAULTS)


@pytest.mark.claims("468-CONFIG-01", "473-CONFIG-04", "473-CONFIG-07")
def test_two_settings_have_no_name() -> None:
    assert [(s.document, s.meaning, s.levels) for s in UNNAMED_SETTINGS] == [
        ("PIP-468", "the session grace period", ("broker",)),
        ("PIP-473", "how transactions are decided", ("namespace", "broker")),
    ]
    assert not [name for name in BROKER_DEFAULTS if "Grace" in name or "Transaction" in name]


@pytest.mark.claims(
    "483-METRIC-01",
    "483-METRIC-02",
    "483-METRIC-03",
    "483-METRIC-04",
    "483-METRIC-05",
)
def test_the_metrics_of_a_topic() -> None:
    assert [(m.name, m.kind.value, m.of, m.labels) for m in METRICS if m.per_topic] == [
        ("pulsar_scalable_topic_active_segments", "gauge", "active segments", ()),
        ("pulsar_scalable_topic_auto_splits_total", "counter", "automatic splits", ()),
        ("pulsar_scalable_topic_auto_merges_total", "counter", "automatic merges", ()),
        (
            "pulsar_scalable_topic_split_suppressed_max_segments_total",
            "counter",
            "splits withheld because of maxSegments",
            (),
        ),
        (
            "pulsar_scalable_topic_merge_suppressed_max_depth_total",
            "counter",
            "merges withheld because of maxDagDepth",
            (),
        ),
    ]


@pytest.mark.claims("473-METRIC-02", "473-METRIC-03", "473-METRIC-04", "473-METRIC-05")
def test_the_metrics_of_transactions() -> None:
    assert [(m.name, m.kind.value, m.of, dict(m.labels)) for m in METRICS if not m.per_topic] == [
        ("pulsar_txn_metadata_store_op_writes_total", "counter", "operation records written", {}),
        (
            "pulsar_txn_metadata_store_header_cas_total",
            "counter",
            "header CAS attempts",
            {"result": ("ok", "conflict", "reject")},
        ),
        (
            "pulsar_txn_metadata_store_index_query_seconds",
            "histogram",
            "range queries over idx:writes-by-segment and idx:acks-by-segment-subscription",
            {},
        ),
        (
            "pulsar_txn_metadata_store_outstanding_op_records",
            "gauge",
            "operation records not yet collected",
            {},
        ),
    ]
    assert {"idx:writes-by-segment", "idx:acks-by-segment-subscription"} <= {index.name for index in INDEXES}


def test_counters_and_only_counters_are_called_total() -> None:
    for metric in METRICS:
        assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)


@pytest.mark.claims("473-WIRE-02", "473-WIRE-05", "473-WIRE-06")
def test_the_commands_of_transactions() -> None:
    assert TXN_COMMANDS == ("NEW_TXN", "ADD_PARTITION_TO_TXN", "ADD_SUBSCRIPTION_TO_TXN", "END_TXN")
    assert [(parts.buffer, parts.told_by) for parts in TXN_COMPONENTS.values()] == [
        ("TopicTransactionBuffer", ("END_TXN_ON_PARTITION", "END_TXN_ON_SUBSCRIPTION")),
        ("MetadataTransactionBuffer", ()),
    ]


@pytest.mark.claims("473-CONFIG-01", "473-CONFIG-03", "473-CONFIG-05", "473-CONFIG-06")
@pytest.mark.parametrize(
    ("topic", "implementation", "buffer", "pending_acks"),
    [
        ("persistent://t/n/x", "in-stream-marker", "TopicTransactionBuffer", "MLPendingAckStore"),
        ("persistent://t/n/x-partition-0", "in-stream-marker", "TopicTransactionBuffer", "MLPendingAckStore"),
        (
            "segment://t/n/x/0000-ffff-0",
            "metadata-driven",
            "MetadataTransactionBuffer",
            "MetadataPendingAckStore",
        ),
    ],
)
def test_the_domain_of_a_topic_chooses_its_part_in_transactions(
    topic: str, implementation: str, buffer: str, pending_acks: str
) -> None:
    name = parse(topic)
    assert not isinstance(name, TopicName)

    parts = TXN_COMPONENTS[coordinator_of(name)]

    assert (parts.implementation, parts.buffer, parts.pending_acks) == (implementation, buffer, pending_acks)


@pytest.mark.claims("473-COMPAT-02")
def test_the_states_of_a_legacy_transaction() -> None:
    assert LEGACY_TXN_STATES == ("OPEN", "COMMITTING", "COMMITTED", "ABORTING", "ABORTED", "TIME_OUT")


@pytest.mark.claims("473-COMPAT-04", "473-COMPAT-07", "473-COMPAT-10")
def test_the_names_under_which_acks_were_kept() -> None:
    name = LEGACY_PENDING_ACK_TOPIC.format(topic=X, subscription="sub")
    assert name == "persistent://t/n/x-sub__transaction_pending_ack"
    assert parse(name) == RegularName("t", "n", "x-sub__transaction_pending_ack")

    segment = parse("segment://t/n/x/0000-7fff-1")
    assert isinstance(segment, SegmentName)
    with pytest.raises(Refused) as refusal:
        parse(LEGACY_PENDING_ACK_TOPIC.format(topic=segment, subscription="sub"))
    assert refusal.value.reason is Reason.DESCRIPTOR_MALFORMED

    workaround = SEGMENT_PENDING_ACK_TOPIC.format(
        tenant="t", namespace="n", local="x", descriptor=segment.descriptor, subscription="sub"
    )
    assert workaround == "persistent://t/n/x-0000-7fff-1-sub__transaction_pending_ack"
    assert str(parse(workaround)) == workaround
