"""Every way in which the specification says no, with the sentence that a person reads."""

from enum import Enum


class Reason(Enum):
    """Why a request was refused. The name is stable, the value is the sentence."""

    NAME_MALFORMED = "the name does not have the form of a topic name"
    DOMAIN_UNKNOWN = "the name starts with a scheme that is not a topic domain"
    DOMAIN_UNSUPPORTED = "non-persistent topics are not supported"
    DESCRIPTOR_MALFORMED = "a segment descriptor reads {hexStart}-{hexEnd}-{segmentId}"
    NAME_IS_A_PARTITION = "the name is one partition of a topic, not the topic"
    PATH_UNKNOWN = "no record of scalable topics lives at that path"

    RANGE_INVALID = "a hash range lies within 0x0000..0xffff and does not end before it starts"
    RANGE_TOO_NARROW = "a range of a single hash cannot be split"
    HASH_OUT_OF_SPACE = "the hash lies outside 0x0000..0xffff"
    SEGMENT_COUNT_OUT_OF_RANGE = "a topic has from 1 to 65536 segments"
    SEGMENT_UNKNOWN = "the layout has no segment with that id"
    SEGMENT_NOT_ACTIVE = "the segment is sealed"
    SEGMENT_NOT_SEALED = "the segment is still active"
    SEGMENTS_NOT_ADJACENT = "the two segments do not meet end to end"
    SEGMENTS_IDENTICAL = "a segment cannot be merged with itself"
    HASH_UNOWNED = "no active segment owns the hash"

    RECORD_MALFORMED = "the record does not have the form that the specification gives it"

    CONSUMER_UNKNOWN = "no consumer of that name has a session"

    POLICY_INVALID = "the resolved auto-scale policy breaks one of its own rules"

    TRANSACTION_UNKNOWN = "no transaction has that id"
    TRANSACTION_CONFLICT = "the transaction has already ended the other way"
    TRANSACTION_NOT_OPEN = "the transaction no longer takes writes and acknowledgements"
    TIMEOUT_INVALID = "a transaction's timeout is not negative, and its deadline fits 64 bits"

    TOPIC_NOT_FOUND = "the topic does not exist"
    ALREADY_SCALABLE = "the topic is scalable already"
    V4_CLIENTS_ATTACHED = "v4 producers or consumers are still connected to the topic"
    MIGRATION_DISABLED = "the broker's configuration switches migration off"
    LAYOUT_IS_SYNTHETIC = "the topic has not been migrated, so it has no segments of its own"
    TOPIC_MIGRATED = "the topic is scalable now; v4 clients cannot reach it"

    CLAIM_UNKNOWN = "the ledger has no claim with that id"

    UNAUTHORIZED = "the caller lacks the permission that the operation needs"


class Refused(Exception):
    """
    The specification's only exception: a request that has no effect, and why.

    Values are frozen, so raising it leaves everything as it was.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Refused) and self.reason is other.reason

    def __hash__(self) -> int:
        return hash(self.reason)
