"""
What waits to be explored, and where everything came from: in memory as long as it fits, then on disk.

Rows keep the packing with which they were written; they are packed again when they are taken, if a variable
has outgrown its bits since. So nothing on disk is ever rewritten.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from models.engine import kernel
from models.engine.program import Array

_BY_ROW = ("rows", "prints", "todo", "ids")


@dataclass(slots=True)
class Block:
    """Some rows of a frontier: packed values, fingerprints, predicates to check, numbers, and the packing."""

    rows: Array
    prints: Array
    todo: Array
    ids: Array
    packing: Array

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes + self.prints.nbytes + self.todo.nbytes + self.ids.nbytes)

    def part(self, some: Any) -> "Block":
        """Some of the rows."""
        rows, prints, todo, ids = (np.ascontiguousarray(getattr(self, name)[some]) for name in _BY_ROW)
        return Block(rows, prints, todo, ids, self.packing)

    @staticmethod
    def empty(length: int, like: "Block") -> "Block":
        """Room for so many rows, packed like others."""
        rows: Array = np.empty((length, like.rows.shape[1]), np.uint64)
        prints, todo = np.empty(length, np.uint64), np.empty(length, np.uint64)
        return Block(rows, prints, todo, np.empty(length, np.uint32), like.packing)

    def packed(self, packing: Array) -> "Block":
        """The same rows, packed in this way."""
        if packing is self.packing:
            return self
        rows = repacked(self.rows, self.packing, packing)
        return Block(rows, self.prints, self.todo, self.ids, packing)


def repacked(rows: Array, old: Array, new: Array) -> Array:
    """Rows packed in one way become rows packed in another."""
    made: Array = np.zeros((len(rows), int(new[:, 0].max()) + 1), np.uint64)
    kernel.repack(old, rows, new, made)
    return made


@dataclass(slots=True)
class Stored:
    """A block on disk."""

    path: Path
    length: int

    def __len__(self) -> int:
        return self.length

    def load(self) -> Block:
        """The block, which is then no longer on disk."""
        block = read_block(self.path)
        self.path.unlink()
        return block


def write_block(path: Path, block: Block) -> None:
    """Write a block as it is."""
    np.savez(path, **{field.name: getattr(block, field.name) for field in fields(Block)})


def read_block(path: Path) -> Block:
    """Read a block again."""
    with np.load(path) as arrays:
        return Block(*(arrays[field.name] for field in fields(Block)))


class Frontier:
    """Blocks in the order in which they were found."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: deque[Block | Stored] = deque(blocks)
        self.rows = sum(map(len, self.blocks))
        self.nbytes = sum(block.nbytes for block in self.blocks if isinstance(block, Block))

    def __len__(self) -> int:
        return self.rows

    def append(self, block: Block) -> None:
        self.blocks.append(block)
        self.rows += len(block)
        self.nbytes += block.nbytes

    def put_back(self, block: Block) -> None:
        """These rows come next again."""
        self.blocks.appendleft(block)
        self.rows += len(block)
        self.nbytes += block.nbytes

    def take(self, most: int, packing: Array) -> Block:
        """The next rows, so many if there are as many."""
        taken: list[Block] = []
        size = 0
        while self.blocks and size < most:
            next_one = self.blocks.popleft()
            stored = isinstance(next_one, Stored)
            block = next_one.load() if isinstance(next_one, Stored) else next_one
            self.nbytes -= 0 if stored else block.nbytes
            block = block.packed(packing)
            if size + len(block) > most:
                later = block.part(slice(most - size, None))
                self.blocks.appendleft(later)
                self.nbytes += later.nbytes
                block = block.part(slice(0, most - size))
            taken.append(block)
            size += len(block)
        self.rows -= size
        return joined(taken)

    def spill(self, folder: Path) -> int:
        """Put all blocks but the next one on disk; returns how many bytes that freed."""
        freed = 0
        for place in range(1, len(self.blocks)):
            block = self.blocks[place]
            if isinstance(block, Block):
                path = folder / f"block-{int(block.ids[0])}-{len(block)}.npz"
                write_block(path, block)
                self.blocks[place] = Stored(path, len(block))
                freed += block.nbytes
        self.nbytes -= freed
        return freed


def joined(blocks: Sequence[Block]) -> Block:
    """Blocks one behind the other."""
    if len(blocks) == 1:
        return blocks[0]
    rows, prints, todo, ids = (np.concatenate([getattr(b, name) for b in blocks]) for name in _BY_ROW)
    return Block(rows, prints, todo, ids, blocks[0].packing)


class Parents:
    """For every state its parent and the move that led to it, by number; the oldest go to disk first."""

    def __init__(self) -> None:
        self.pieces: list[Array] = []
        self.bases: list[int] = []
        self.count = self.on_disk = self.nbytes = 0
        self.file: Path | None = None

    def append(self, piece: Array) -> None:
        self.nbytes += int(piece.nbytes)
        self.bases.append(self.count)
        self.pieces.append(piece)
        self.count += len(piece)

    def of(self, number: int) -> tuple[int, int]:
        """Parent and move of a state."""
        if number < self.on_disk:
            assert self.file is not None
            found = np.memmap(self.file, np.uint32, "r", shape=(self.on_disk, 2))[number]
        else:
            piece = bisect_right(self.bases, number) - 1
            found = self.pieces[piece][number - self.bases[piece]]
        return int(found[0]), int(found[1])

    def spill(self, file: Path) -> int:
        """Append everything in memory to a file; returns how many bytes that freed."""
        self.file = file
        freed = self.nbytes
        with file.open("r+b" if file.exists() else "wb") as out:
            out.seek(8 * self.on_disk)
            for piece in self.pieces:
                out.write(piece.tobytes())
        self.on_disk, self.pieces, self.bases, self.nbytes = self.count, [], [], 0
        return freed
