"""
The set of visited states, in slices that belong to one owner each, so that no two threads touch the same one.

`Fingerprints` keeps 64 bits per state. `Rows` keeps whole states too and compares them, so that nothing is
left to chance; it also knows the number of every state, which liveness needs.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from models.engine import kernel
from models.engine.frontier import repacked
from models.engine.program import Array, Program

OWNERS = 16


class Bucket(Protocol):
    """What a thread has found for each owner: candidates, how many, and how many of them were new."""

    candidates: Array
    counts: Array
    fresh: Array


FULL = 0.8
GROWTH = 1.5


class Fingerprints:
    """An open-addressing table of fingerprints per owner."""

    def __init__(self) -> None:
        self.tables: list[Array] = [np.zeros(64, np.uint64) for _ in range(OWNERS)]
        self.filled = [0] * OWNERS

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)

    def growth(self, owner: int, more: int) -> int:
        """How many slots a table needs in order to stay sparse when so many are added; 0 if it has them."""
        need, size = self.filled[owner] + more, len(self.tables[owner])
        return int(max(need / FULL, size * GROWTH)) + 1 if need > FULL * size else 0

    def extra(self, more: list[int]) -> int:
        """How many bytes it takes to make room for so many, by owner."""
        return 8 * sum(max(0, self.growth(o, n) - len(self.tables[o])) for o, n in enumerate(more))

    def reserve(self, owner: int, more: int) -> None:
        """Make room."""
        if size := self.growth(owner, more):
            grown: Array = np.zeros(size, np.uint64)
            kernel.move_table(self.tables[owner], grown)
            self.tables[owner] = grown

    def insert(
        self, program: Program, rows: Array, sent: Sequence[Bucket], owners: range, progressed: Array
    ) -> None:
        """Insert what these owners were sent, in this order; the new ones move to the front."""
        tables = tuple(self.tables)
        for bucket in sent:
            kernel.insert_all(
                tables, bucket.candidates, bucket.counts, bucket.fresh, owners.start, owners.stop, progressed
            )
        for owner in owners:
            self.filled[owner] += sum(int(bucket.fresh[owner]) for bucket in sent)

    def number(self, owner: int, first: int) -> None:
        """Numbers are of no use here."""

    def store(self, rows: Array, packing: Array) -> None:
        """Rows are of no use here."""


class Rows(Fingerprints):
    """The same with the number of each state, and all rows by number."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.numbers: list[Array] = [np.zeros(64, np.int64) for _ in range(OWNERS)]
        self.rows: Array = np.zeros((0, 1), np.uint64)
        self.packing: Array = np.zeros((places, 3), np.int64)
        self.count = 0
        self._slots: list[Array] = [np.zeros(0, np.int64)] * OWNERS

    @property
    def nbytes(self) -> int:
        return 2 * super().nbytes + self.rows.nbytes

    def reserve(self, owner: int, more: int) -> None:
        if size := self.growth(owner, more):
            grown, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int64)
            kernel.move_numbers(self.tables[owner], self.numbers[owner], grown, numbers)
            self.tables[owner], self.numbers[owner] = grown, numbers

    def insert(
        self, program: Program, rows: Array, sent: Sequence[Bucket], owners: range, progressed: Array
    ) -> None:
        for owner in owners:
            self._insert(program, rows, sent, owner, progressed)

    def _insert(
        self, program: Program, rows: Array, sent: Sequence[Bucket], owner: int, progressed: Array
    ) -> None:
        together = np.concatenate([bucket.candidates[owner, : bucket.counts[owner]] for bucket in sent])
        slots: Array = np.empty(len(together), np.int64)
        made: Array = np.empty((2, rows.shape[1]), np.uint64)
        fresh = kernel.insert_exactly(
            program,
            self.tables[owner],
            self.numbers[owner],
            together,
            len(together),
            rows,
            self.rows,
            slots,
            progressed,
            made,
        )
        self._slots[owner] = slots[:fresh]
        self.filled[owner] += fresh
        sent[0].candidates[owner, :fresh] = together[:fresh]
        for bucket in sent:
            bucket.fresh[owner] = 0
        sent[0].fresh[owner] = fresh

    def number(self, owner: int, first: int) -> None:
        """Give the new states of an owner their numbers, one after the other."""
        slots = self._slots[owner]
        self.numbers[owner][slots] = np.arange(first, first + len(slots))

    def store(self, rows: Array, packing: Array) -> None:
        """Keep the rows of new states, in the order of their numbers."""
        if packing is not self.packing:
            self.repack(packing)
        if self.count + len(rows) > len(self.rows):
            grown: Array = np.empty((int(1.5 * (self.count + len(rows))) + 64, rows.shape[1]), np.uint64)
            grown[: self.count] = self.rows[: self.count]
            self.rows = grown
        self.rows[self.count : self.count + len(rows)] = rows
        self.count += len(rows)

    def repack(self, packing: Array) -> None:
        """Follow a change of the packing."""
        width = int(packing[:, 0].max()) + 1
        kept = self.rows[: self.count]
        self.rows = repacked(kept, self.packing, packing) if self.count else np.zeros((0, width), np.uint64)
        self.packing = packing
