"""
From a key to a hash, and from a hash to a place: which hash a message carries, before any layout is asked.

Two profiles exist in the field, because Pulsar moved the segment hash from the low to the high half of the
same 32-bit value; a topic must be written with one of them, or a key's messages land in two segments.
"""

from enum import Enum

import mmh3

from spec.refusals import Reason, Refused


class Profile(Enum):
    """Which half of the 32-bit hash chooses the segment."""

    LOW16 = "low16"
    """The documents, and release 5.0.0-M1."""
    HIGH16 = "high16"
    """Pulsar builds since June 2026; the low half chooses the entry bucket there."""


def murmur3_32(key: str) -> int:
    """MurmurHash3 x86 32-bit, seed 0, over the UTF-8 bytes of the key, as an unsigned number."""
    try:
        data = key.encode()
    except UnicodeEncodeError as broken:
        raise Refused(Reason.NAME_MALFORMED, "the key is not valid Unicode") from broken
    return mmh3.hash(data, seed=0, signed=False)


def low_half(hash32: int) -> int:
    """
    The lower 16 of 32 bits.

    pre: 0 <= hash32 <= 0xFFFFFFFF
    post: 0 <= _ <= 0xFFFF
    post: (hash32 - _) % 0x10000 == 0
    """
    return hash32 % 0x10000


def high_half(hash32: int) -> int:
    """
    The upper 16 of 32 bits; with the lower ones it makes up the whole.

    pre: 0 <= hash32 <= 0xFFFFFFFF
    post: 0 <= _ <= 0xFFFF
    post: _ * 0x10000 + low_half(hash32) == hash32
    """
    return hash32 // 0x10000


def segment_hash(key: str, profile: Profile = Profile.LOW16) -> int:
    """The 16-bit hash by which a keyed message finds its segment. The empty key is a key. [475-HASH-04]"""
    half = low_half if profile is Profile.LOW16 else high_half
    return half(murmur3_32(key))


def without_sign(hash32: int) -> int:
    """
    The hash that v4 clients use: the sign bit is dropped, so that the number is never negative.

    pre: 0 <= hash32 <= 0xFFFFFFFF
    post: 0 <= _ <= 0x7FFFFFFF
    post: _ == hash32 or _ == hash32 - 0x80000000
    """
    return hash32 % 0x80000000


def sign_safe_mod(number: int, divisor: int) -> int:
    """
    The remainder that is never negative, whatever the sign of the number.

    [475-HASH-01]

    pre: divisor > 0
    post: 0 <= _ < divisor
    post: (number - _) % divisor == 0
    """
    return number % divisor


def partition_of(key: str, partitions: int) -> int:
    """
    The partition that a v4 producer chooses for a key; the key's range may well have another number.

    The sign is dropped before the division. Dividing the signed number gives other partitions for half of all
    keys as soon as the number of partitions is not a power of two. [475-HASH-01, 475-HASH-07]
    """
    return sign_safe_mod(without_sign(murmur3_32(key)), partitions)


def round_robin(sent_before: int, places: int) -> int:
    """
    Messages without a key take turns over the places.

    pre: sent_before >= 0 and places > 0
    post: 0 <= _ < places
    """
    return sent_before % places
