"""
Where each record lives in the metadata store, and which record lives at a path.

Every element of a path that comes from a user is encoded, so that no name, however awkward, can reach into
another record's place: a subscription called `a/consumers/b` stays one element.
"""

from dataclasses import dataclass
from urllib.parse import quote_plus, unquote_to_bytes

from spec.names import MAX_ID, TopicName, topic_name
from spec.refusals import Reason, Refused

SEQUENCE_DIGITS = 20


@dataclass(frozen=True, slots=True)
class TopicRecordAt:
    """The layout and global state of one scalable topic. [468-PATH-01, 468-PATH-03]"""

    topic: TopicName


@dataclass(frozen=True, slots=True)
class ControllerAt:
    """The leader lock: ephemeral, holds the leader's address. [468-PATH-02]"""

    topic: TopicName


@dataclass(frozen=True, slots=True)
class SubscriptionAt:
    """What a subscription is, and the parent of its consumers. [468-PATH-05]"""

    topic: TopicName
    subscription: str


@dataclass(frozen=True, slots=True)
class ConsumerAt:
    """The durable session of one consumer. [468-PATH-06]"""

    topic: TopicName
    subscription: str
    consumer: str


@dataclass(frozen=True, slots=True)
class SegmentLoadAt:
    """What the owner of a segment last reported about its load. [483-PATH-01, 483-PATH-02]"""

    topic: TopicName
    segment_id: int


@dataclass(frozen=True, slots=True)
class HeaderAt:
    """The header of one transaction: its linearization point. [473-STORE-03]"""

    transaction: str


@dataclass(frozen=True, slots=True)
class OperationAt:
    """One write or acknowledgement within a transaction, numbered by the store. [473-STORE-03]"""

    transaction: str
    sequence: int


Address = TopicRecordAt | ControllerAt | SubscriptionAt | ConsumerAt | SegmentLoadAt | HeaderAt | OperationAt


def path_of(address: Address) -> str:
    """The path at which the store keeps a record."""
    match address:
        case TopicRecordAt(topic):
            return (
                f"/topics/{encode(topic.tenant, ':=')}/{encode(topic.namespace, ':=')}/{encode(topic.local)}"
            )
        case ControllerAt(topic):
            return path_of(TopicRecordAt(topic)) + "/controller"
        case SubscriptionAt(topic, subscription):
            return path_of(TopicRecordAt(topic)) + _join("subscriptions", subscription)
        case ConsumerAt(topic, subscription, consumer):
            return path_of(SubscriptionAt(topic, subscription)) + _join("consumers", consumer)
        case SegmentLoadAt(topic, segment_id):
            return path_of(TopicRecordAt(topic)) + f"/segments/{segment_id}/load"
        case HeaderAt(transaction):
            return _join("txn", transaction)
        case OperationAt(transaction, sequence):
            return _join("txn-op", transaction) + f"/{sequence:0{SEQUENCE_DIGITS}}"


def address_of(path: str) -> Address:
    """Which record lives at a path; the inverse of `path_of`, and a refusal for every other text."""
    try:
        address = _read(path)
        if path_of(address) != path:
            raise ValueError("another spelling of the path")
    except (ValueError, Refused) as broken:
        raise Refused(Reason.PATH_UNKNOWN, repr(path)) from broken
    return address


def partition_key(address: HeaderAt | OperationAt) -> str:
    """
    A transaction's header and operations share one partition of the store, named by the transaction.
    [473-STORE-04]
    """
    return address.transaction


def encode(element: str, plain: str = "*") -> str:
    """
    One element of a path, spelled like a field of a URL-encoded form.

    `.` and `..` are spelled out too, because ZooKeeper takes no such element. Tenants and namespaces keep the
    punctuation that they may have (`plain`), since only the topic's name is said to be encoded.
    """
    if not element:
        raise Refused(Reason.NAME_MALFORMED, "an element of a path cannot be empty")
    if element in (".", ".."):
        return element.replace(".", "%2E")
    try:
        return quote_plus(element, safe=plain).replace("~", "%7E")
    except UnicodeEncodeError as broken:
        raise Refused(Reason.NAME_MALFORMED, f"{element!r} is not valid Unicode") from broken


def decode(element: str) -> str:
    """The inverse of `encode`."""
    return unquote_to_bytes(element.replace("+", " ")).decode()


def _join(folder: str, *elements: str) -> str:
    return "/".join(("", folder, *map(encode, elements)))


def _read(path: str) -> Address:
    match path.split("/"):
        case ["", "topics", tenant, namespace, local, *rest]:
            return _below(topic_name(decode(tenant), decode(namespace), decode(local)), rest)
        case ["", "txn", transaction]:
            return HeaderAt(decode(transaction))
        case ["", "txn-op", transaction, sequence]:
            return OperationAt(decode(transaction), _number(sequence))
        case _:
            raise ValueError("no folder of ours")


def _below(topic: TopicName, rest: list[str]) -> Address:
    match rest:
        case []:
            return TopicRecordAt(topic)
        case ["controller"]:
            return ControllerAt(topic)
        case ["subscriptions", subscription]:
            return SubscriptionAt(topic, decode(subscription))
        case ["subscriptions", subscription, "consumers", consumer]:
            return ConsumerAt(topic, decode(subscription), decode(consumer))
        case ["segments", segment_id, "load"]:
            return SegmentLoadAt(topic, _number(segment_id))
        case _:
            raise ValueError("no record below a topic")


def _number(digits: str) -> int:
    if not digits.isascii() or not digits.isdigit() or len(digits) > SEQUENCE_DIGITS or int(digits) > MAX_ID:
        raise ValueError(digits)
    return int(digits)
