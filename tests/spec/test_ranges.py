"""Hash ranges: ends, halves, unions and equal slices."""

import pytest

from spec.ranges import (
    FIRST_HASH,
    FULL_RANGE,
    HASH_COUNT,
    LAST_HASH,
    HashRange,
    adjacent,
    contains,
    equal_slices,
    halves,
    hash_range,
    joined,
    midpoint,
    slice_of,
)
from spec.refusals import Reason, Refused


@pytest.mark.claims("475-HASH-02", "468-SEGMENT-05")
def test_the_hash_space_has_65536_hashes_with_both_ends() -> None:
    assert (FIRST_HASH, LAST_HASH, HASH_COUNT) == (0x0000, 0xFFFF, 65536)
    assert HashRange(0x0000, 0xFFFF) == FULL_RANGE
    assert FULL_RANGE.width == HASH_COUNT
    assert [contains(HashRange(3, 5), hash) for hash in range(2, 7)] == [False, True, True, True, False]
    assert str(HashRange(0, 0xABC)) == "0000-0abc"


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (1, 0), (0, 0x10000), (0x10000, 0x10000)])
def test_a_range_outside_the_space_is_refused(start: int, end: int) -> None:
    with pytest.raises(Refused) as refusal:
        hash_range(start, end)
    assert refusal.value.reason is Reason.RANGE_INVALID


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 0xFFFF), (0xFFFF, 0xFFFF)])
def test_a_range_may_be_one_hash_or_all(start: int, end: int) -> None:
    assert hash_range(start, end) == HashRange(start, end)


@pytest.mark.claims("468-LAYOUT-12", "475-HASH-06")
@pytest.mark.parametrize(
    ("whole", "left", "right"),
    [
        ((0x0000, 0xFFFF), (0x0000, 0x7FFF), (0x8000, 0xFFFF)),
        ((0x0000, 0x7FFF), (0x0000, 0x3FFF), (0x4000, 0x7FFF)),
        ((5, 6), (5, 5), (6, 6)),
        ((5, 7), (5, 6), (7, 7)),
        ((0xAAAA, 0xFFFF), (0xAAAA, 0xD554), (0xD555, 0xFFFF)),
    ],
)
def test_a_range_is_cut_at_its_midpoint(
    whole: tuple[int, int], left: tuple[int, int], right: tuple[int, int]
) -> None:
    assert midpoint(*whole) == left[1]
    assert halves(HashRange(*whole)) == (HashRange(*left), HashRange(*right))
    assert joined(HashRange(*right), HashRange(*left)) == HashRange(*whole)


@pytest.mark.claims("468-LAYOUT-16")
@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ((0, 4), (5, 9), True),
        ((0, 4), (6, 9), False),
        ((0, 4), (4, 9), False),
        ((0, 4), (0, 4), False),
        ((0, 9), (3, 4), False),
        ((0x0000, 0x0000), (0xFFFF, 0xFFFF), False),
    ],
)
def test_adjacent_means_end_to_end(one: tuple[int, int], other: tuple[int, int], meet: bool) -> None:
    assert adjacent(HashRange(*one), HashRange(*other)) is meet
    assert adjacent(HashRange(*other), HashRange(*one)) is meet


@pytest.mark.claims("468-CREATE-02")
@pytest.mark.parametrize(
    ("count", "slices"),
    [
        (1, ["0000-ffff"]),
        (2, ["0000-7fff", "8000-ffff"]),
        (3, ["0000-5554", "5555-aaa9", "aaaa-ffff"]),
        (4, ["0000-3fff", "4000-7fff", "8000-bfff", "c000-ffff"]),
    ],
)
def test_the_space_in_equal_slices(count: int, slices: list[str]) -> None:
    assert list(map(str, equal_slices(count))) == slices


@pytest.mark.claims("468-CREATE-02")
def test_the_last_slice_takes_the_remainder() -> None:
    assert slice_of(65534, 65535) == HashRange(0xFFFE, 0xFFFF)
    assert slice_of(40000, 40001) == HashRange(40000, 0xFFFF)
    assert {s.width for s in equal_slices(65536)} == {1}


@pytest.mark.parametrize("count", [-1, 0, 65537])
def test_a_count_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(Refused) as refusal:
        equal_slices(count)
    assert refusal.value.reason is Reason.SEGMENT_COUNT_OUT_OF_RANGE
