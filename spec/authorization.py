"""Who may do what: one table, from each operation to the permission that it needs."""

from collections.abc import Set
from enum import Enum

from spec.refusals import Reason, Refused


class Permission(Enum):
    """What a caller can be allowed; each is about one topic or namespace, except the broker's own."""

    ADMIN = "administer the topic"
    NAMESPACE_ADMIN = "administer the policies of the namespace"
    LOOKUP = "look the topic up"
    PRODUCE = "write to the topic"
    CONSUME = "read from the topic"
    BROKER = "act as a broker of the cluster"


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
    Operation.LIST_TOPICS: Permission.ADMIN,
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


def authorize(operation: Operation, held: Set[Permission]) -> None:
    """An operation is open to exactly those who hold its permission; no permission implies another."""
    needed = NEEDS[operation]
    if needed not in held:
        raise Refused(Reason.UNAUTHORIZED, f"to {operation.value} takes the permission to {needed.value}")
