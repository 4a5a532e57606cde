"""
Partial-order reduction: of actions that do not concern each other, only one order is explored.

In a state, a stubborn set contains with every action that can happen all those that could change what it
reads or writes, or read what it writes; and with every action that cannot happen all those that could change
what it read before it said so. What an action reads and writes *here* is recorded; what others could do
elsewhere is known from their text (`footprint`), and each recorded read and write must lie within that.

Only sets whose enabled actions no property can notice are used, and only if they lead to some new state, so
that nothing is put off for ever. Then every deadlock and every breach is still found, but not always by a
shortest trace.
"""

from collections.abc import Iterable
from functools import reduce
from operator import or_

import numpy as np

from models.engine.footprint import Footprint, check_footprints, footprints
from models.engine.program import Array
from spec.world import Model


class Dependence:
    """Which instances must come along with which."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.prints: list[Footprint] = footprints(model)
        self.words = (len(model.instances) + 63) // 64
        self.writers, self.readers = [0] * len(model.slots), [0] * len(model.slots)
        for number, may in enumerate(self.prints):
            for place in may.writes:
                self.writers[place] |= 1 << number
            for place in may.reads:
                self.readers[place] |= 1 << number
        self.watched = frozenset[int]().union(*(may.reads for may in check_footprints(model)))

    def brought(self, reads: Iterable[int], writes: Iterable[int]) -> Array:
        """The instances that come along with one that reads and writes these places here, a bit each."""
        writes = list(writes)
        bits = reduce(
            or_, [self.writers[p] for p in (*reads, *writes)] + [self.readers[p] for p in writes], 0
        )
        return np.array([(bits >> (64 * word)) & (2**64 - 1) for word in range(self.words)], np.uint64)

    def hidden(self, writes: Iterable[int]) -> bool:
        """Whether no property could notice these writes."""
        return self.watched.isdisjoint(writes)
