"""Laws of hashing: from a key to a hash, and from a hash to a partition."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from models.laws.law import law, seen
from spec.hashing import Profile, murmur3_32, partition_of, segment_hash, sign_safe_mod

keys: SearchStrategy[str] = st.text(max_size=20) | st.sampled_from(["", "a", "b", "key-0", "kéy", "ключ"])


def murmur_by_hand(data: bytes) -> int:
    """MurmurHash3 x86 32-bit with seed 0, as published: whole words, the tail, the length, the avalanche."""

    def rotated(word: int, by: int) -> int:
        return (word << by | word >> 32 - by) & 0xFFFFFFFF

    def mixed(word: int) -> int:
        return rotated(word * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF

    whole = len(data) // 4 * 4
    hash = 0
    for at in range(0, whole, 4):
        hash = rotated(hash ^ mixed(int.from_bytes(data[at : at + 4], "little")), 13) * 5 + 0xE6546B64
        hash &= 0xFFFFFFFF
    hash ^= mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        hash = (hash ^ hash >> shift) * factor & 0xFFFFFFFF
    return hash


@law(
    "475-HASH-04",
    key=keys,
    sometimes=("the empty key", "beyond ASCII", "a negative number in Java", "the halves differ"),
)
def a_key_is_hashed_by_murmur3_over_its_utf8_bytes(key: str) -> None:
    """The documents take the low half of the 32 bits for the segment, later builds the high half."""
    hash32 = murmur_by_hand(key.encode())
    seen("the empty key", key == "")
    seen("beyond ASCII", not key.isascii())
    seen("a negative number in Java", hash32 > 0x7FFFFFFF)
    seen("the halves differ", hash32 >> 16 != hash32 & 0xFFFF)

    assert murmur3_32(key) == hash32
    assert segment_hash(key) == segment_hash(key, Profile.LOW16) == hash32 & 0xFFFF
    assert segment_hash(key, Profile.HIGH16) == hash32 >> 16


@law(
    "475-HASH-01",
    key=keys,
    partitions=st.integers(1, 9),
    sometimes=("another partition by the signed number", "a power of two"),
)
def the_sign_is_dropped_before_the_division(key: str, partitions: int) -> None:
    """Dividing the signed number differs for every negative one, unless the divisor is a power of two."""
    hash32 = murmur_by_hand(key.encode())
    signed = hash32 - 0x100000000 if hash32 & 0x80000000 else hash32
    power_of_two = partitions in (1, 2, 4, 8)
    seen("a power of two", power_of_two)
    seen("another partition by the signed number", partition_of(key, partitions) != signed % partitions)

    assert partition_of(key, partitions) == (hash32 & 0x7FFFFFFF) % partitions
    assert (partition_of(key, partitions) == signed % partitions) == (signed >= 0 or power_of_two)


@law(
    "475-HASH-01",
    number=st.integers(-(2**31), 2**31 - 1) | st.integers(-9, 9),
    divisor=st.integers(1, 100),
    sometimes=("a correction",),
)
def a_sign_safe_remainder_is_javas_put_right(number: int, divisor: int) -> None:
    """Java's remainder has the sign of the number; where it is negative, the divisor is added."""
    remainder = abs(number) % divisor * (-1 if number < 0 else 1)
    seen("a correction", remainder < 0)
    assert sign_safe_mod(number, divisor) == (remainder + divisor if remainder < 0 else remainder)
