"""Who may do what: one table, from each operation to the permission that it needs."""

from collections.abc import Set
from enum import Enum

from spec.refusals import Reason, Refused


class Scope(Enum):
    """What a permission is granted on."""

    TOPIC = "a topic"
    NAMESPACE = "a namespace"
    CLUSTER = "the cluster"


class Permission(Enum):
    """What a caller can be allowed."""

    ADMIN = "administer the topic"
    NAMESPACE_ADMIN = "administer the namespace"
    LOOKUP = "look the topic up"
    PRODUCE = "write to the topic"
    CONSUME = "read from the topic"
    BROKER = "act as a broker of the cluster"


SCOPE = {
    Permission.ADMIN: Scope.TOPIC,
    Permission.NAMESPACE_ADMIN: Scope.NAMESPACE,
    Permission.LOOKUP: Scope.TOPIC,
    Permission.PRODUCE: Scope.TOPIC,
    Permission.CONSUME: Scope.TOPIC,
    Permission.BROKER: Scope.CLUSTER,
}
"""Scalable topics are granted like all others: by topic and namespace of a tenant. [468-SEC-01]"""


class Operation(Enum):
    """Everything that somebody outside can ask for."""

    LIST_TOPICS = "list scalable topics"
    CREATE_TOPIC = "create a scalable topic"
    GET_METADATA = "read a topic's metadata"
    DELETE_TOPIC = "delete a scalable topic"
    GET_STATS = "read a topic's statistics"
    CREATE_SUBSCRIPTION = "create a subscription"
    DELETE_SUBSCRIPTION = "delete a subscription"
    SPLIT_SEGMENT = "split a segment"
    MERGE_SEGMENTS = "merge two segments"
    MIGRATE = "migrate a regular topic"
    SET_TOPIC_POLICY = "set a topic's auto-scale policy"
    GET_TOPIC_POLICY = "read a topic's auto-scale policy"
    SET_NAMESPACE_POLICY = "set a namespace's auto-scale policy"
    GET_NAMESPACE_POLICY = "read a namespace's auto-scale policy"
    WATCH_LAYOUT = "open a DAG watch session"
    REGISTER_CONSUMER = "register a consumer with the controller"
    CREATE_SEGMENT = "create a segment topic"
    TERMINATE_SEGMENT = "terminate a segment topic"
    DELETE_SEGMENT = "delete a segment topic"
    REPORT_LOAD = "write a segment's load record"
    HOLD_LEADER_LOCK = "hold the controller leader lock"


NEEDS = {
    Operation.LIST_TOPICS: Permission.NAMESPACE_ADMIN,
    Operation.CREATE_TOPIC: Permission.ADMIN,
    Operation.GET_METADATA: Permission.ADMIN,
    Operation.DELETE_TOPIC: Permission.ADMIN,
    Operation.GET_STATS: Permission.ADMIN,
    Operation.CREATE_SUBSCRIPTION: Permission.ADMIN,
    Operation.DELETE_SUBSCRIPTION: Permission.ADMIN,
    Operation.SPLIT_SEGMENT: Permission.ADMIN,
    Operation.MERGE_SEGMENTS: Permission.ADMIN,
    Operation.MIGRATE: Permission.PRODUCE,
    Operation.SET_TOPIC_POLICY: Permission.ADMIN,
    Operation.GET_TOPIC_POLICY: Permission.ADMIN,
    Operation.SET_NAMESPACE_POLICY: Permission.NAMESPACE_ADMIN,
    Operation.GET_NAMESPACE_POLICY: Permission.NAMESPACE_ADMIN,
    Operation.WATCH_LAYOUT: Permission.LOOKUP,
    Operation.REGISTER_CONSUMER: Permission.CONSUME,
    Operation.CREATE_SEGMENT: Permission.BROKER,
    Operation.TERMINATE_SEGMENT: Permission.BROKER,
    Operation.DELETE_SEGMENT: Permission.BROKER,
    Operation.REPORT_LOAD: Permission.BROKER,
    Operation.HOLD_LEADER_LOCK: Permission.BROKER,
}
"""
The one permission of each operation. A list has no topic, so it is asked of the namespace.

[468-SEC-02, 468-SEC-03, 468-SEC-04, 468-SEC-05, 468-SEC-06, 483-SEC-01, 483-SEC-02, 483-SEC-03, 483-SEC-04,
475-SEC-01, 475-SEC-02]
"""


def authorize(operation: Operation, held: Set[Permission]) -> None:
    """
    An operation is open to exactly those who hold its permission; no permission implies another.

    `held` is what the caller may do with the topic, namespace or cluster in question.
    """
    needed = NEEDS[operation]
    if needed not in held:
        raise Refused(Reason.UNAUTHORIZED, f"to {operation.value} takes the permission to {needed.value}")
