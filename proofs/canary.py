"""A contract with a planted bug, no part of the specification: CrossHair must refute it on every run."""


def midpoint_with_a_bug(start: int, end: int) -> int:
    """
    Rounds up, so the right half of a range of two hashes would be empty.

    pre: 0 <= start < end <= 0xFFFF
    post: start <= _ < end
    """
    return start + (end - start + 1) // 2
