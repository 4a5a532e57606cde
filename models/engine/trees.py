"""
Decision trees in one array: a node asks for a place, and has a child for each value seen there so far.

The children for the values that were known when a node was made stand right behind it, those for later ones
in a hash table. A child is a node (by its position), a leaf (negative), or 0 if nothing is known.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from models.engine import kernel
from models.engine.program import Array


class Growing:
    """An array with room behind its end."""

    def __init__(self, *shape: int, dtype: Any = np.int32, fill: int = 0) -> None:
        self.fill, self.size = fill, 0
        self.array: Array = np.full((64, *shape), fill, dtype)

    def append(self, *rows: Any) -> int:
        """Add rows at the end and return the number of the first."""
        begin = self.size
        self.reserve(begin + len(rows))
        for i, row in enumerate(rows):
            self.array[begin + i] = row
        self.size = begin + len(rows)
        return begin

    def extend(self, count: int) -> int:
        """Add so many empty rows."""
        begin = self.size
        self.reserve(begin + count)
        self.size = begin + count
        return begin

    def reserve(self, size: int) -> None:
        if size > len(self.array):
            grown = np.full(
                (max(size, 2 * len(self.array)), *self.array.shape[1:]), self.fill, self.array.dtype
            )
            grown[: self.size] = self.array[: self.size]
            self.array = grown


class Trees:
    """All trees of a world."""

    def __init__(self) -> None:
        self.tree = Growing()
        self.tree.extend(1)
        self.places: dict[int, int] = {}
        """The place that each node asks for."""
        self.hash_key: Array = np.zeros(1024, np.uint64)
        self.hash_child: Array = np.zeros(1024, np.int32)
        self.children: dict[tuple[int, int], int] = {}
        """The same for Python: by node and value."""
        self._hashed = 0
        self._pending: list[tuple[int, int, int]] = []

    def new_node(self, place: int, values: int) -> int:
        """A node that asks for a place which has had so many values."""
        room = min(256, max(8, 1 << (values - 1).bit_length()))
        node = self.tree.extend(2 + room)
        self.tree.array[node], self.tree.array[node + 1] = place, room
        self.places[node] = place
        return node

    def leaf(self, root: int, ids: Sequence[int]) -> int:
        """The leaf to which a row leads from a root; 0 if that is not known."""
        node = root
        while node > 0:
            node = self.children.get((node, ids[self.places[node]]), 0)
        return -node

    def grow(
        self, root: int, reads: Sequence[int], ids: Sequence[int], leaf: int, values: Sequence[Any]
    ) -> None:
        """Add the path that these reads take from a root to a leaf; `values` has the values of each place."""
        node = root
        for place, following in pairwise(reads):
            child = self.children.get((node, ids[place]), 0)
            if child == 0:
                child = self.new_node(following, len(values[following % len(values)]))
                self._set_child(node, ids[place], child)
            node = child
        self._set_child(node, ids[reads[-1]], -leaf)

    def _set_child(self, node: int, value: int, child: int) -> None:
        self.children[node, value] = child
        self._pending.append((node, value, child))

    def publish(self) -> None:
        """Let the kernel see what was learned; until then it may go on reading what it knows."""
        for node, value, child in self._pending:
            self._store(node, value, child)
        self._pending.clear()

    def _store(self, node: int, value: int, child: int) -> None:
        if value < self.tree.array[node + 1]:
            self.tree.array[node + 2 + value] = child
            return
        if 2 * self._hashed >= len(self.hash_key):
            self._grow_hash()
        self._hashed += 1
        kernel.hash_insert(self.hash_key, self.hash_child, node, value, child)

    def _grow_hash(self) -> None:
        old = zip(self.hash_key.tolist(), self.hash_child.tolist(), strict=True)
        size = 4 * len(self.hash_key)
        self.hash_key, self.hash_child = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        for key, child in old:
            if key:
                kernel.hash_insert(self.hash_key, self.hash_child, key >> 32, key & 0xFFFFFFFF, child)
