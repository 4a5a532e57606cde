"""
Designs are data: one field per decision that the documents leave open or get wrong.

`AS_WRITTEN` is the documents taken literally. `HARDENED` is what we recommend. Every field in which they
differ is a finding: with that one repair taken out of `HARDENED`, a check fails
(`tests/spec/test_design.py`).
"""

from dataclasses import dataclass
from enum import Enum


class Readiness(Enum):
    """Which segments a subscription's consumers may be given."""

    ACTIVE_AT_ONCE = "every active segment, as soon as it is published"
    PARENTS_DRAINED = "every undrained segment whose parents are drained"
    ANCESTORS_DRAINED = "every undrained segment all of whose ancestors are drained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A set of decisions."""

    readiness: Readiness
    """
    468-READ-01: with active segments alone, nobody is ever told to drain a sealed one, and order is lost.
    """

    merge_leaves_room_for_consumers: bool
    """483-READ-40: without it, merging and splitting for consumers alternate for ever on a quiet topic."""

    merge_weighs_the_sum: bool
    """483-READ-41: without it, segments that are cold but too hot together are merged and split again."""

    split_skips_single_hashes: bool
    """483-READ-37: without it, a hot segment of one hash is chosen again and again, and each time refused."""


AS_WRITTEN = Design(
    readiness=Readiness.ACTIVE_AT_ONCE,
    merge_leaves_room_for_consumers=False,
    merge_weighs_the_sum=False,
    split_skips_single_hashes=False,
)

HARDENED = Design(
    readiness=Readiness.ANCESTORS_DRAINED,
    merge_leaves_room_for_consumers=True,
    merge_weighs_the_sum=True,
    split_skips_single_hashes=True,
)

NAMED = {"AS_WRITTEN": AS_WRITTEN, "HARDENED": HARDENED}
"""The designs that can be asked for by name."""
