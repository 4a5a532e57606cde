"""
Values by number: each place has had some values so far, and a state is a row of their numbers, packed into
bits.

Everything that is known by (place, value) stands in flat tables, in which each place has room for some more
values than it has had. When it has too many, the tables are laid out anew; when its bits are too few, rows
are packed anew.
"""

from collections.abc import Sequence
from operator import getitem
from typing import Any

import numpy as np

from models.engine.program import Array
from models.engine.symmetry import Symmetry, word_of
from models.engine.trees import Growing
from spec.world import Model, State


class Values:
    """The values of each place, numbered, with what is known by (place, value)."""

    def __init__(self, model: Model, symmetry: Symmetry | None, salt: int) -> None:
        self.model, self.symmetry, self.salt = model, symmetry, salt
        self.known: list[list[Any]] = [[] for _ in model.slots]
        self.words: list[list[int]] = [[] for _ in model.slots]
        """The random word of each value, as Python reads it."""
        self._ids: list[dict[Any, int]] = [{} for _ in model.slots]
        self._room: Array = np.full(len(model.slots), 8, np.int64)
        self.offset: Array = np.concatenate(([0], np.cumsum(self._room)))[:-1]
        total = int(self._room.sum())
        self.random: Array = np.zeros((total, 1), np.uint64)
        """The same as the kernel reads it."""
        self.first: Array = np.full((total, 2), -1, np.int32)
        """Which actions begin with this place and are not disabled by this value, from and to."""
        self.false_by: Array = np.zeros((total, 1), np.uint64)
        """Which predicates begin with this place and are false by this value, a bit each."""
        self.orbit: Array = np.zeros((total, 3), np.int64)
        """With symmetry: the names that the value mentions, from and to, and where its words begin."""
        self.mention, self.sign = Growing(2), Growing(dtype=np.uint64)
        self.orbit_word = Growing(dtype=np.uint64)
        self.packing: Array = np.zeros((len(model.slots), 3), np.int64)
        """By place: word, shift, mask."""
        self.outgrown = True
        """Whether a place has more values than its bits can tell apart."""

    def intern(self, place: int, value: Any) -> int:
        """The number of a value at a place."""
        number = self._ids[place].setdefault(value, len(self.known[place]))
        if number == len(self.known[place]):
            self.known[place].append(value)
            self.outgrown |= bool(number > self.packing[place, 2])
            if number >= self._room[place]:
                self._make_room(place)
            self.words[place].append(word_of(self.model.slots[place], value, {}, self.salt))
            self.random[self.at(place, number)] = self.words[place][number]
            if self.symmetry is not None:
                self._learn_names(self.symmetry, place, number)
        return number

    def _learn_names(self, symmetry: Symmetry, place: int, number: int) -> None:
        """Note the interchangeable names that a value mentions, and its words under all renamings."""
        slot, value = self.model.slots[place], self.known[place][number]
        names = symmetry.mentioned(slot, value)
        words, strides = symmetry.words(slot, value, names)
        members = [symmetry.names.index(name) for name in names]
        begin = self.mention.append(*zip(members, strides, strict=True))
        self.sign.append(*(symmetry.sign(slot, value, name) for name in names))
        self.orbit[self.at(place, number)] = begin, begin + len(names), self.orbit_word.append(*words)

    def at(self, place: int, number: int) -> int:
        """Where a value stands in the flat tables."""
        return int(self.offset[place]) + number

    def _make_room(self, place: int) -> None:
        """Lay the flat tables out anew, with twice the room for one place."""
        old, sizes = self.offset.tolist(), self._room.tolist()
        self._room[place] *= 2
        self.offset = np.concatenate(([0], np.cumsum(self._room)))[:-1]
        total = int(self._room.sum())
        for name, empty in (("random", 0), ("first", -1), ("false_by", 0), ("orbit", 0)):
            table = getattr(self, name)
            larger = np.full((total, table.shape[1]), empty, table.dtype)
            for begin, size, to in zip(old, sizes, self.offset.tolist(), strict=True):
                larger[to : to + size] = table[begin : begin + size]
            setattr(self, name, larger)

    def state(self, ids: Sequence[int]) -> State:
        """The values behind a row of numbers."""
        return tuple(map(getitem, self.known, ids))

    # packing

    def pack_again(self) -> None:
        """Give every place a word and as few bits of it as its values need."""
        self.outgrown = False
        self.packing = np.zeros_like(self.packing)
        word = used = 0
        for place, known in enumerate(self.known):
            bits = (len(known) - 1).bit_length()
            if used + bits > 64:
                word, used = word + 1, 0
            self.packing[place] = word, used % 64, (1 << bits) - 1
            used += bits

    @property
    def row_words(self) -> int:
        return int(self.packing[:, 0].max()) + 1

    def pack(self, ids: Sequence[int]) -> list[int]:
        """The words of a row."""
        words = [0] * self.row_words
        for (word, shift, _), number in zip(self.packing.tolist(), ids, strict=True):
            words[word] |= number << shift
        return words

    def unpack_all(self, rows: Array) -> Array:
        """The value ids of many rows."""
        words, shifts, masks = self.packing.T
        found: Array = (rows[:, words] >> shifts.astype(np.uint64)) & masks.astype(np.uint64)
        return found.astype(np.int64)

    def unpack(self, words: Sequence[int]) -> list[int]:
        """The value ids in a row."""
        return [(int(words[word]) >> shift) & mask for word, shift, mask in self.packing.tolist()]
