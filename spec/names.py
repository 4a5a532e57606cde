"""
Names of topics: what a person writes, what it denotes, and the one canonical spelling of each.

`topic://t/n/x` is a scalable topic, `segment://t/n/x/0000-7fff-1` one of its segments, `persistent://t/n/x` a
regular topic and `persistent://t/n/x-partition-3` one partition of it.
"""

import re
from dataclasses import dataclass

from spec.ranges import HashRange, hash_range
from spec.refusals import Reason, Refused

MAX_ID = 2**63 - 1

_ENTITY = re.compile(r"[-=:.\w]+", re.ASCII)
_DESCRIPTOR = re.compile(r"([0-9a-f]{4})-([0-9a-f]{4})-(0|[1-9][0-9]*)", re.ASCII)
_PARTITION = re.compile(r"(.+)-partition-(0|[1-9][0-9]*)", re.ASCII | re.DOTALL)
_SCHEME = re.compile(r"([^/]*)://(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class TopicName:
    """A scalable topic. Its local name may contain slashes. [475-NAME-03]"""

    tenant: str
    namespace: str
    local: str

    def __str__(self) -> str:
        return f"topic://{self.tenant}/{self.namespace}/{self.local}"


@dataclass(frozen=True, slots=True, order=True)
class SegmentName:
    """One segment of a scalable topic, as the topic that a broker serves. [468-SEGMENT-14, 475-NAME-04]"""

    topic: TopicName
    range: HashRange
    segment_id: int

    @property
    def descriptor(self) -> str:
        """Four lower-case hex digits for each end of the range, and the id. [468-SEGMENT-15]"""
        return f"{self.range}-{self.segment_id}"

    def __str__(self) -> str:
        return f"segment://{self.topic.tenant}/{self.topic.namespace}/{self.topic.local}/{self.descriptor}"


@dataclass(frozen=True, slots=True, order=True)
class RegularName:
    """
    A regular topic, or one partition of it; each that holds data has a managed ledger of its own.
    [475-NAME-01, 475-NAME-06, 475-NAME-07, 475-NAME-08]
    """

    tenant: str
    namespace: str
    local: str
    partition: int | None = None

    def __str__(self) -> str:
        suffix = "" if self.partition is None else f"-partition-{self.partition}"
        return f"persistent://{self.tenant}/{self.namespace}/{self.local}{suffix}"

    def of_partition(self, partition: int) -> "RegularName":
        return RegularName(self.tenant, self.namespace, self.local, partition)


Name = TopicName | SegmentName | RegularName


def parse(text: str) -> Name:
    """
    Read a name in any of its forms; `str` of the result is the canonical spelling.

    A name without a scheme is persistent, and without tenant and namespace it lives in `public/default`. Of
    the spellings with a scheme only the canonical one is read. [475-NAME-02, 475-NAME-05]
    """
    if scheme := _SCHEME.fullmatch(text):
        domain, rest = scheme.groups()
    else:
        domain, rest = "persistent", text if "/" in text else f"public/default/{text}"

    match domain:
        case "topic":
            return topic_name(*_three_parts(rest, text))
        case "segment":
            parent, _, descriptor = rest.rpartition("/")
            whole, segment_id = _read_descriptor(descriptor)
            return SegmentName(topic_name(*_three_parts(parent, text)), whole, segment_id)
        case "persistent":
            return regular_name(*_three_parts(rest, text))
        case "non-persistent":
            raise Refused(Reason.DOMAIN_UNSUPPORTED, repr(text))
        case _:
            raise Refused(Reason.DOMAIN_UNKNOWN, repr(text))


def scalable_identity(name: TopicName | RegularName) -> TopicName:
    """
    The scalable topic that a name stands for once the topic is scalable: the same three parts, another
    domain.
    """
    if isinstance(name, TopicName):
        return name
    if name.partition is not None:
        raise Refused(Reason.NAME_IS_A_PARTITION, str(name))
    return TopicName(name.tenant, name.namespace, name.local)


def topic_name(tenant: str, namespace: str, local: str) -> TopicName:
    """A scalable topic's name from its parts."""
    _check(tenant, namespace, local)
    return TopicName(tenant, namespace, local)


def segment_name(tenant: str, namespace: str, local: str, descriptor: str) -> SegmentName:
    """A segment's name from the components of its path in the REST interface. [468-SEGAPI-04]"""
    whole, segment_id = _read_descriptor(descriptor)
    return SegmentName(topic_name(tenant, namespace, local), whole, segment_id)


def regular_name(tenant: str, namespace: str, local: str) -> RegularName:
    """A regular topic's name from its parts; a local name that ends in `-partition-K` is that partition."""
    _check(tenant, namespace, local)
    if "/" in local:
        raise Refused(
            Reason.NAME_MALFORMED, f"persistent names have three parts: {tenant}/{namespace}/{local}"
        )
    if found := _PARTITION.fullmatch(local):
        return RegularName(tenant, namespace, found[1], _number(found[2], local))
    return RegularName(tenant, namespace, local)


def _read_descriptor(descriptor: str) -> tuple[HashRange, int]:
    found = _DESCRIPTOR.fullmatch(descriptor)
    if not found:
        raise Refused(Reason.DESCRIPTOR_MALFORMED, repr(descriptor))
    return hash_range(int(found[1], 16), int(found[2], 16)), _number(found[3], descriptor)


def _three_parts(rest: str, text: str) -> tuple[str, str, str]:
    parts = rest.split("/", 2)
    if len(parts) != 3:
        raise Refused(Reason.NAME_MALFORMED, f"expected tenant/namespace/topic: {text!r}")
    return parts[0], parts[1], parts[2]


def _check(tenant: str, namespace: str, local: str) -> None:
    for entity in (tenant, namespace):
        if not _ENTITY.fullmatch(entity):
            raise Refused(Reason.NAME_MALFORMED, f"{entity!r} is not a tenant or namespace")
    if not local or local != local.strip() or not local.isprintable():
        raise Refused(Reason.NAME_MALFORMED, f"{local!r} is not a topic")


def _number(digits: str, text: str) -> int:
    if len(digits) > len(str(MAX_ID)) or int(digits) > MAX_ID:
        raise Refused(Reason.NAME_MALFORMED, f"the number does not fit 64 bits: {text}")
    return int(digits)
