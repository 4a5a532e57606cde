"""From a key to a hash, a segment and a partition: the vectors of the real clients."""

import pytest

from spec.hashing import (
    Profile,
    high_half,
    low_half,
    murmur3_32,
    partition_of,
    round_robin,
    segment_hash,
    sign_safe_mod,
    without_sign,
)
from spec.layout import find_active_segment, initial_layout
from spec.migration import RegularTopic, migrated_layout, synthetic_view
from spec.names import RegularName, TopicName
from spec.refusals import Reason, Refused
from spec.routing import Routing, TopicView, route

TOPIC = TopicName("t", "n", "x")
REGULAR = RegularName("t", "n", "x")

VECTORS = [
    # key, murmur3_32, high half, low half, v4 hash, mod 4, mod 3, of 4 segments: by high half, by low half
    ("", 0x00000000, 0x0000, 0x0000, 0, 0, 0, 0, 0),
    ("a", 0x3C2569B2, 0x3C25, 0x69B2, 1009084850, 2, 2, 0, 1),
    ("b", 0x95DE7E03, 0x95DE, 0x7E03, 366902787, 3, 0, 2, 1),
    ("key-0", 0xE337F8BF, 0xE337, 0xF8BF, 1664612543, 3, 2, 3, 3),
    ("key-1", 0x98B115A0, 0x98B1, 0x15A0, 414258592, 0, 1, 2, 0),
    ("k-0", 0x5A771F53, 0x5A77, 0x1F53, 1517756243, 3, 2, 1, 0),
    ("hello", 0x248BFA47, 0x248B, 0xFA47, 613153351, 3, 1, 0, 3),
    ("user-42", 0xB972DAD0, 0xB972, 0xDAD0, 963828432, 0, 0, 2, 3),
    ("orders/123", 0x62571CFF, 0x6257, 0x1CFF, 1649876223, 3, 0, 1, 0),
    ("kéy", 0xF32156C4, 0xF321, 0x56C4, 1931564740, 0, 1, 3, 1),
    ("pulsar", 0x80547BBB, 0x8054, 0x7BBB, 5536699, 3, 1, 2, 1),
    ("test-key", 0xC79BA543, 0xC79B, 0xA543, 1201382723, 3, 2, 3, 2),
]


@pytest.mark.claims("475-HASH-01", "475-HASH-04", "475-HASH-05", "475-HASH-09", "475-HASH-12")
@pytest.mark.parametrize(
    ("key", "raw", "high", "low", "v4", "mod4", "mod3", "by_high", "by_low"), VECTORS, ids=repr
)
def test_vectors(
    key: str, raw: int, high: int, low: int, v4: int, mod4: int, mod3: int, by_high: int, by_low: int
) -> None:
    assert murmur3_32(key) == raw
    assert high_half(raw) == high == segment_hash(key, Profile.HIGH16)
    assert low_half(raw) == low == segment_hash(key, Profile.LOW16) == segment_hash(key)
    assert without_sign(raw) == v4
    assert partition_of(key, 4) == mod4
    assert partition_of(key, 3) == mod3

    view = TopicView(TOPIC, initial_layout(4), Routing.RANGE)
    assert route(view, key, profile=Profile.HIGH16).segment_id == by_high
    assert route(view, key, profile=Profile.LOW16).segment_id == by_low
    for partitions, partition in ((4, mod4), (3, mod3)):
        special = route(synthetic_view(RegularTopic(REGULAR, partitions)), key)
        assert special.legacy_topic == REGULAR.of_partition(partition)


@pytest.mark.claims("475-HASH-07")
@pytest.mark.parametrize("profile", Profile)
def test_some_keys_change_place_at_the_flip(profile: Profile) -> None:
    topic = RegularTopic(REGULAR, 4)
    after = migrated_layout(topic)

    moved = [
        key
        for key, *_ in VECTORS
        if find_active_segment(after, segment_hash(key, profile)).segment_id - 4 != partition_of(key, 4)
    ]
    stayed = {Profile.LOW16: ["", "key-0", "key-1", "hello"], Profile.HIGH16: ["", "key-0", "test-key"]}[
        profile
    ]
    assert moved == [key for key, *_ in VECTORS if key not in stayed]


@pytest.mark.claims("475-HASH-01")
def test_the_signed_hash_divided_gives_another_partition() -> None:
    signed = murmur3_32("b") - 2**32

    assert sign_safe_mod(signed, 3) == 1
    assert partition_of("b", 3) == 0
    assert sign_safe_mod(signed, 4) == partition_of("b", 4) == 3


@pytest.mark.claims("475-HASH-08", "475-HASH-11")
def test_the_view_says_how_to_route() -> None:
    unpartitioned = synthetic_view(RegularTopic(REGULAR))
    assert {route(unpartitioned, key).segment_id for key, *_ in VECTORS} == {0}

    partitioned = synthetic_view(RegularTopic(REGULAR, 4))
    by_range = TopicView(TOPIC, partitioned.layout, Routing.RANGE)
    assert (partitioned.routing, by_range.routing) == (Routing.MOD_N, Routing.RANGE)
    assert (route(partitioned, "a").segment_id, route(by_range, "a").segment_id) == (2, 1)


@pytest.mark.parametrize(
    ("number", "divisor", "remainder"), [(-1, 3, 2), (-3, 3, 0), (0, 1, 0), (7, 3, 1), (-(2**31), 7, 5)]
)
def test_the_remainder_is_never_negative(number: int, divisor: int, remainder: int) -> None:
    assert sign_safe_mod(number, divisor) == remainder


def test_messages_without_a_key_take_turns() -> None:
    view = TopicView(TOPIC, initial_layout(3), Routing.RANGE)

    assert [round_robin(sent, 3) for sent in range(5)] == [0, 1, 2, 0, 1]
    assert [route(view, None, sent).segment_id for sent in range(5)] == [0, 1, 2, 0, 1]


def test_a_key_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(Refused) as refusal:
        murmur3_32("\ud800")
    assert refusal.value.reason is Reason.NAME_MALFORMED
