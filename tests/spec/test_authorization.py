"""Who may do what, operation by operation."""

import pytest

from spec.authorization import NEEDS, SCOPE, Operation, Permission, Scope, authorize
from spec.refusals import Reason, Refused
from spec.surface import ADMIN_CALLS, COMMAND_LINE, COMMANDS, ENDPOINTS

ADMIN = {
    "CREATE_TOPIC",
    "GET_METADATA",
    "DELETE_TOPIC",
    "GET_STATS",
    "CREATE_SUBSCRIPTION",
    "DELETE_SUBSCRIPTION",
    "SPLIT_SEGMENT",
    "MERGE_SEGMENTS",
    "SET_TOPIC_POLICY",
    "GET_TOPIC_POLICY",
}
NAMESPACE_ADMIN = {"LIST_TOPICS", "SET_NAMESPACE_POLICY", "GET_NAMESPACE_POLICY"}
BROKER = {"CREATE_SEGMENT", "TERMINATE_SEGMENT", "DELETE_SEGMENT", "REPORT_LOAD", "HOLD_LEADER_LOCK"}


def open_to(*held: Permission) -> set[str]:
    """The operations that somebody with these permissions, and no others, may ask for."""
    allowed = set()
    for operation in Operation:
        try:
            authorize(operation, set(held))
        except Refused as refusal:
            if refusal.reason is not Reason.UNAUTHORIZED:
                raise
        else:
            allowed.add(operation.name)
    return allowed


@pytest.mark.claims(
    "468-SEC-02",
    "468-SEC-03",
    "468-SEC-04",
    "468-SEC-05",
    "468-SEC-06",
    "475-SEC-01",
    "483-SEC-01",
    "483-SEC-02",
    "483-SEC-03",
)
@pytest.mark.parametrize(
    ("permission", "operations"),
    [
        (Permission.ADMIN, ADMIN),
        (Permission.NAMESPACE_ADMIN, NAMESPACE_ADMIN),
        (Permission.LOOKUP, {"WATCH_LAYOUT"}),
        (Permission.PRODUCE, {"MIGRATE"}),
        (Permission.CONSUME, {"REGISTER_CONSUMER"}),
        (Permission.BROKER, BROKER),
    ],
)
def test_what_each_permission_opens(permission: Permission, operations: set[str]) -> None:
    assert open_to(permission) == operations


def test_without_a_permission_nothing_is_open_and_with_all_of_them_everything() -> None:
    assert open_to() == set()
    assert open_to(*Permission) == {operation.name for operation in Operation}
    assert NEEDS.keys() == {*Operation}


@pytest.mark.claims("475-SEC-02")
def test_migration_asks_for_no_more_than_writing_does() -> None:
    authorize(Operation.MIGRATE, {Permission.PRODUCE})
    assert "MIGRATE" not in open_to(*set(Permission) - {Permission.PRODUCE})


@pytest.mark.claims("468-SEC-01")
def test_permissions_are_granted_on_topics_and_namespaces_as_everywhere() -> None:
    assert {
        Permission.ADMIN: Scope.TOPIC,
        Permission.NAMESPACE_ADMIN: Scope.NAMESPACE,
        Permission.LOOKUP: Scope.TOPIC,
        Permission.PRODUCE: Scope.TOPIC,
        Permission.CONSUME: Scope.TOPIC,
        Permission.BROKER: Scope.CLUSTER,
    } == SCOPE


@pytest.mark.claims("468-SEC-05", "483-SEC-04")
def test_what_is_left_to_brokers_is_asked_for_by_segment_calls_only() -> None:
    asked = {row.operation for row in (*ENDPOINTS, *COMMANDS, *ADMIN_CALLS)} | {*COMMAND_LINE.values()}
    internal = {asks.name for asks in asked if asks is not None and NEEDS[asks] is Permission.BROKER}

    assert internal == {"CREATE_SEGMENT", "TERMINATE_SEGMENT", "DELETE_SEGMENT"}


def test_a_refusal_says_what_is_missing() -> None:
    with pytest.raises(Refused) as refusal:
        authorize(Operation.SPLIT_SEGMENT, {Permission.LOOKUP, Permission.PRODUCE, Permission.CONSUME})
    assert refusal.value.reason is Reason.UNAUTHORIZED
    assert str(refusal.value) == (
        "the caller lacks the permission that the operation needs: "
        "to split a segment takes the permission to administer the topic"
    )
