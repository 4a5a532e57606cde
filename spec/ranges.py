"""
Hash ranges: contiguous, inclusive slices of the 16-bit hash space.

The leaf functions carry contracts (`pre:`, `post:`) that CrossHair confirms over all paths; a request from
outside goes through `hash_range` and the layout operations, which refuse by name what the contracts exclude.
"""

from dataclasses import dataclass

from spec.refusals import Reason, Refused

FIRST_HASH = 0x0000
LAST_HASH = 0xFFFF
HASH_COUNT = 0x10000
"""The hash space, both ends included. [475-HASH-02]"""


@dataclass(frozen=True, slots=True, order=True)
class HashRange:
    """The hashes from `start` to `end`, both included. [468-SEGMENT-05]"""

    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.start:04x}-{self.end:04x}"

    @property
    def width(self) -> int:
        return self.end - self.start + 1


FULL_RANGE = HashRange(FIRST_HASH, LAST_HASH)


def hash_range(start: int, end: int) -> HashRange:
    """A range lies within the hash space and holds at least one hash."""
    if not FIRST_HASH <= start <= end <= LAST_HASH:
        raise Refused(Reason.RANGE_INVALID, f"{start:#06x}..{end:#06x}")
    return HashRange(start, end)


def contains(whole: HashRange, hash: int) -> bool:
    """
    Both ends belong to the range.

    post: __return__ == (hash in range(whole.start, whole.end + 1))
    """
    return whole.start <= hash <= whole.end


def adjacent(one: HashRange, other: HashRange) -> bool:
    """
    Two ranges are adjacent when one ends right before the other starts, whichever is named first.

    [468-LAYOUT-16]

    pre: 0 <= one.start <= one.end <= 0xFFFF and 0 <= other.start <= other.end <= 0xFFFF
    post: implies(_, one.end < other.start or other.end < one.start)
    post: _ == adjacent(other, one)
    """
    return one.end + 1 == other.start or other.end + 1 == one.start


def midpoint(start: int, end: int) -> int:
    """
    The last hash of the left half; an odd width leaves the extra hash on the left.

    [468-LAYOUT-12]

    pre: 0 <= start < end <= 0xFFFF
    post: start <= _ < end
    post: 0 <= (_ - start + 1) - (end - _) <= 1
    """
    return start + (end - start) // 2


def halves(whole: HashRange) -> tuple[HashRange, HashRange]:
    """
    Cut at the midpoint; together the halves are the whole, and neither is empty.

    [475-HASH-06]

    pre: 0 <= whole.start < whole.end <= 0xFFFF
    post: _[0].start == whole.start and _[1].end == whole.end
    post: _[0].end + 1 == _[1].start
    post: _[0].start <= _[0].end and _[1].start <= _[1].end
    """
    middle = midpoint(whole.start, whole.end)
    return HashRange(whole.start, middle), HashRange(middle + 1, whole.end)


def joined(one: HashRange, other: HashRange) -> HashRange:
    """
    The range that covers two adjacent ones.

    [468-LAYOUT-17, 475-HASH-06]

    pre: one.start <= one.end and other.start <= other.end
    pre: one.end + 1 == other.start or other.end + 1 == one.start
    post: _.start in (one.start, other.start) and _.end in (one.end, other.end)
    post: _.end - _.start + 1 == (one.end - one.start + 1) + (other.end - other.start + 1)
    """
    return HashRange(min(one.start, other.start), max(one.end, other.end))


def slice_of(index: int, count: int) -> HashRange:
    """
    The `index`-th of `count` ranges of equal width; the last one takes what the division leaves over.

    [468-CREATE-02]

    pre: 1 <= count <= 0x10000 and 0 <= index < count
    post: 0 <= _.start <= _.end <= 0xFFFF
    post: implies(index == 0, _.start == 0)
    post: implies(index == count - 1, _.end == 0xFFFF)
    """
    width = HASH_COUNT // count
    start = index * width
    return HashRange(start, LAST_HASH if index == count - 1 else start + width - 1)


def equal_slices(count: int) -> tuple[HashRange, ...]:
    """The hash space in `count` ranges, from left to right."""
    if not 1 <= count <= HASH_COUNT:
        raise Refused(Reason.SEGMENT_COUNT_OUT_OF_RANGE, str(count))
    return tuple(slice_of(index, count) for index in range(count))
