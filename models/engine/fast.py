"""
The default engine: breadth-first search over packed rows by a compiled kernel, on all cores.

The frontier is worked off in chunks. First every thread expands its part of a chunk and sorts the successors'
fingerprints by owner; then every owner, a slice of the fingerprint space with a visited table of its own,
inserts what it was sent. No table is ever touched by two threads, so there are no locks; and because
candidates reach an owner in the order of the frontier, the numbering of states, the parents and the traces
are the same for every number of threads.
"""

import os
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from models.engine import kernel
from models.engine.kernel import EDGE, EXPAND, FAILED, HITS, LOOK, MISSES, STUCK, TRANSITIONS, Array
from models.engine.learn import Knowledge
from models.engine.result import (
    DEADLOCK,
    FAILURE,
    Breach,
    Limits,
    Move,
    Result,
    Standing,
    Tell,
    Trace,
    blank,
    breach_of,
    replay,
    stop_here,
)
from models.engine.symmetry import renamings
from spec.machine import Sort
from spec.world import Alternative, Model, World

OWNERS = 16
CHUNK = 1 << 15
RECENT = 1 << 15
LEARN_AT_ONCE = 64
FULL = 0.8
GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class Options:
    """How to explore; none of it changes a verdict."""

    threads: int | None = None
    exact: bool = False
    symmetry: bool = False
    partial_order: bool = False
    slicing: bool = False
    resume: bool = False
    salt: int = 0


@dataclass(slots=True)
class Block:
    """Some rows of a frontier."""

    rows: Array
    prints: Array
    todo: Array
    ids: Array

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, some: Any) -> "Block":
        return Block(*(np.ascontiguousarray(a[some]) for a in (self.rows, self.prints, self.todo, self.ids)))


def joined(blocks: Sequence[Block]) -> Block:
    """Blocks one behind the other."""
    if len(blocks) == 1:
        return blocks[0]
    return Block(
        *(np.concatenate([getattr(b, f) for b in blocks]) for f in ("rows", "prints", "todo", "ids"))
    )


def explore(
    world: World,
    limits: Limits = Limits(),  # noqa: B008
    tell: Tell | None = None,
    options: Options = Options(),  # noqa: B008
) -> Result:
    """Visit every state of a world, and say what was found."""
    return Search(Model(world), limits, tell, options).run()


class Search:
    """One exploration."""

    def __init__(self, model: Model, limits: Limits, tell: Tell | None, options: Options) -> None:
        self.model, self.limits, self.tell, self.options = model, limits, tell, options
        self.started = time.perf_counter()
        self.threads = options.threads or os.cpu_count() or 1
        self.result = blank(model, "fast")
        self.knowledge = Knowledge(model, renamings(model) if options.symmetry else (), options.salt)
        self.tables: list[Array] = [np.zeros(64, np.uint64) for _ in range(OWNERS)]
        self.filled = [0] * OWNERS
        self.parents: list[Array] = []
        self.bases: list[int] = []
        self.waiting: deque[Block] = deque()
        self.next: list[Block] = []
        self.workers = [Worker(self) for _ in range(self.threads)]
        self.fired: Array = np.zeros(len(model.instances), np.int64)
        self.breached_by_looking = False

    def run(self) -> Result:
        with ThreadPoolExecutor(self.threads) as pool:
            self.each: Callable[..., list[Any]] = (
                (lambda f, *a: list(pool.map(f, *a)))
                if self.threads > 1
                else (lambda f, *a: list(map(f, *a)))
            )
            self.search()
        self.finish()
        return self.result

    def search(self) -> None:
        result = self.result
        self.waiting = deque(self.begin())
        while self.waiting:
            result.levels.append(sum(map(len, self.waiting)))
            before = result.transitions, result.edge, self.fired.copy()
            self.level(LOOK if self.exhausted() else EXPAND)
            if self.breached_by_looking:
                result.transitions, result.edge, self.fired = before
                result.states = sum(result.levels)
                break
            if result.cut:
                break
            if result.breaches:
                result.levels += [sum(map(len, self.next))] if self.next else []
                break
            self.waiting, self.next = deque(self.next), []

    def begin(self) -> list[Block]:
        """The initial states, in their tables."""
        k = self.knowledge
        rows = [[k.intern(place, value) for place, value in enumerate(state)] for state in self.model.initial]
        if k.outgrown():
            k.pack_again()
        prints = np.array([k.prints(ids) for ids in rows], np.uint64)
        chosen = sorted(np.unique(prints.min(axis=1), return_index=True)[1].tolist())
        block = Block(
            np.array([k.pack(rows[i]) for i in chosen], np.uint64),
            prints[chosen],
            np.full(len(chosen), k.everything(), np.uint64),
            np.arange(len(chosen), dtype=np.uint32),
        )
        for mark in block.prints.min(axis=1).tolist():
            owner = mark % OWNERS
            self.reserve(owner, 1)
            once = np.array([[mark, 0]], np.uint64)
            self.filled[owner] += kernel.insert(self.tables[owner], once, 1, np.zeros(1, np.uint8))
        self.remember(np.array([[i, 0] for i in chosen], np.uint32))
        return [block]

    def remember(self, parents: Array) -> None:
        """Where new states came from; they are numbered in this order."""
        self.bases.append(self.result.states)
        self.parents.append(parents)
        self.result.states += len(parents)

    def level(self, mode: int) -> None:
        """Look at every state of a level, and let everything happen in it."""
        total = self.result.levels[-1]
        while self.waiting:
            chunk = self.take()
            while len(chunk):
                chunk = self.round(chunk, LOOK if self.breached_by_looking else mode)
            if self.tell:
                r, left = self.result, sum(map(len, self.waiting))
                self.tell(Standing(r.states, r.transitions, r.depth, total, total - left))

    def take(self) -> Block:
        """The next rows of the frontier, as many as make a chunk."""
        taken, size = [], 0
        while self.waiting and size < CHUNK:
            block = self.waiting.popleft()
            if size + len(block) > CHUNK:
                cut = CHUNK - size
                self.waiting.appendleft(block.part(slice(cut, None)))
                block = block.part(slice(0, cut))
            taken.append(block)
            size += len(block)
        return joined(taken)

    def round(self, chunk: Block, mode: int) -> Block:
        """Expand a chunk and insert what it leads to; returns the rows that some tree did not know."""
        k = self.knowledge
        program = k.program()
        cuts = np.linspace(0, len(chunk), self.threads + 1).astype(np.int64).tolist()
        self.each(
            lambda part: part[0].expand(program, chunk, *part[1:], mode),
            list(zip(self.workers, cuts, cuts[1:], strict=False)),
        )
        self.note(chunk)
        if mode == EXPAND:
            self.insert(program, chunk)
        rest = chunk.part(np.concatenate([w.misses[: w.totals[MISSES]] for w in self.workers]))
        for i in range(min(len(rest), LEARN_AT_ONCE)):
            k.learn(k.unpack(rest.rows[i].tolist()), int(rest.todo[i]))
            if k.outgrown():
                self.pack_again(rest)
        return rest

    def insert(self, program: kernel.Program, chunk: Block) -> None:
        """Let every owner insert what it was sent, and make rows of what is new."""
        progressed: Array = np.zeros(len(chunk), np.uint8)
        for owner in range(OWNERS):
            self.reserve(owner, sum(int(w.counts[owner]) for w in self.workers))
        hands = [
            range(OWNERS * t // self.threads, OWNERS * (t + 1) // self.threads) for t in range(self.threads)
        ]

        def insert(owners: range) -> None:
            for owner in owners:
                for w in self.workers:
                    count = int(w.counts[owner])
                    w.fresh[owner] = count and kernel.insert(
                        self.tables[owner], w.candidates[owner], count, progressed
                    )

        self.each(insert, hands)
        fresh = np.array([w.fresh for w in self.workers])
        for owner, many in enumerate(fresh.sum(axis=0).tolist()):
            self.filled[owner] += many
        total = int(fresh.sum())
        self.count()
        if not total:
            return
        at = np.concatenate(([0], np.cumsum(fresh.T.ravel())))[:-1].reshape(OWNERS, -1).T
        block = Block(
            np.empty((total, chunk.rows.shape[1]), np.uint64),
            np.empty((total, chunk.prints.shape[1]), np.uint64),
            np.empty(total, np.uint64),
            np.arange(self.result.states, self.result.states + total, dtype=np.uint32),
        )
        parents: Array = np.empty((total, 2), np.uint32)

        def make(owners: range) -> None:
            for w, begin in zip(self.workers, at, strict=True):
                kernel.materialise(
                    program,
                    chunk.rows,
                    chunk.prints,
                    chunk.ids,
                    w.candidates,
                    w.fresh,
                    np.ascontiguousarray(begin),
                    owners.start,
                    owners.stop,
                    block.rows,
                    block.prints,
                    block.todo,
                    parents,
                )

        self.each(make, hands)
        self.next.append(block)
        self.remember(parents)

    def count(self) -> None:
        """Add up what the workers counted."""
        for w in self.workers:
            self.result.transitions += int(w.totals[TRANSITIONS])
            self.result.edge += int(w.totals[EDGE])
            self.fired += w.fired

    def reserve(self, owner: int, more: int) -> None:
        """Make sure that an owner's table stays sparse enough when so many are added."""
        table = self.tables[owner]
        need = self.filled[owner] + more
        if need > FULL * len(table):
            grown: Array = np.zeros(int(max(need / FULL, len(table) * GROWTH)) + 1, np.uint64)
            kernel.move_table(table, grown)
            self.tables[owner] = grown

    def pack_again(self, rest: Block) -> None:
        """Give every row more bits, because a variable has more values than before."""
        old = self.knowledge.pack_again()
        for block in (rest, *self.waiting, *self.next):
            packed: Array = np.zeros((len(block), self.knowledge.row_words), np.uint64)
            kernel.repack(old, block.rows, self.knowledge.packing, packed)
            block.rows = packed

    # what was found

    def note(self, chunk: Block) -> None:
        """Turn what the workers noticed into breaches and witnesses."""
        k = self.knowledge
        for w in self.workers:
            for code, row, way in w.hits[: w.totals[HITS]].tolist():
                trace = self.trace(int(chunk.ids[row]))
                if code == STUCK:
                    sentences: tuple[str, ...] = ("nothing can happen here, and it is no final state",)
                    self.breach(breach_of(DEADLOCK, "", sentences, trace))
                elif code == FAILED:
                    self.breach(self.failure(trace, way))
                elif code >= len(k.looks):
                    self.breach(self.step_breach(trace, code - len(k.looks), way))
                elif k.looks[code].of.sort is Sort.SOMETIMES:
                    name = k.looks[code].of.name
                    if self.result.witnesses[name] is None:
                        self.result.witnesses[name] = trace
                        for number, check in enumerate(k.looks):
                            k.idle[number] |= check.of.name == name
                else:
                    self.breached_by_looking = True
                    said = self.model.look(k.looks[code], replay(self.model, trace)[-1]).result
                    self.breach(breach_of(k.looks[code].of, "", said, trace))

    def breach(self, made: Breach) -> None:
        """Note a breach, the first of each property."""
        if made.property not in [known.property for known in self.result.breaches]:
            self.result.breaches.append(made)

    def failure(self, trace: Trace, way: int) -> Breach:
        """An action that raised an exception, and what it said."""
        longer, alternative = self.one_more(trace, way)
        return breach_of(FAILURE, "", (alternative.failure,), longer)

    def step_breach(self, trace: Trace, number: int, way: int) -> Breach:
        """A step that breaks a property, and its sentences."""
        longer, alternative = self.one_more(trace, way)
        before = replay(self.model, trace)[-1]
        check = self.knowledge.steps[number]
        said = self.model.look(check, before, self.model.after(before, alternative)).result
        return breach_of(check.of, "", said, longer)

    def one_more(self, trace: Trace, way: int) -> tuple[Trace, Alternative]:
        """A trace with one more step, by the number of its alternative."""
        instance, number = self.knowledge.move(int(self.knowledge.program().way[way, 2]))
        alternative = self.model.run(self.model.instances[instance], replay(self.model, trace)[-1]).result[
            number
        ]
        move = Move(self.model.instances[instance].label, alternative.decisions)
        return replace(trace, moves=(*trace.moves, move)), alternative

    def trace(self, id: int) -> Trace:
        """The way by which a state was first reached, from the parents of its parents."""
        numbers = []
        while True:
            piece = bisect_right(self.bases, id) - 1
            parent, move = self.parents[piece][id - self.bases[piece]].tolist()
            if not move:
                break
            numbers.append(self.knowledge.move(move))
            id = parent
        start, moves = parent, []
        state = self.model.initial[start]
        for instance, number in reversed(numbers):
            alternative = self.model.run(self.model.instances[instance], state).result[number]
            moves.append(Move(self.model.instances[instance].label, alternative.decisions))
            state = self.model.after(state, alternative)
        return Trace(tuple(moves), start)

    def exhausted(self) -> bool:
        """Whether a limit says that this is enough."""
        return stop_here(self.limits, self.result, time.perf_counter() - self.started)

    def finish(self) -> None:
        """Complete the result."""
        result, k = self.result, self.knowledge
        for instance, count in zip(self.model.instances, self.fired.tolist(), strict=True):
            result.fired[instance.of.name] += count
        result.seconds = time.perf_counter() - self.started
        table = sum(t.nbytes for t in self.tables)
        result.details = {
            "contexts": dict(sorted(k.contexts.items(), key=lambda item: -item[1])),
            "evaluations": k.evaluations,
            "nodes": k._node.size,
            "values": {s.name: len(v) for s, v in zip(self.model.slots, k.values.known, strict=True)},
            "row_bytes": 8 * k.row_words,
            "table_bytes": table,
            "bytes_per_state": table / max(result.states, 1),
            "rate": result.states / max(result.seconds, 1e-9),
            "threads": self.threads,
        }
        if not self.options.exact:
            chance = result.states**2 / 2**65
            result.notes.append(
                f"fingerprints of 64 bits: two states were confused with probability {chance:.1e}"
            )


class Worker:
    """What one thread needs to expand rows: buckets for what it finds, and lists for what it notices."""

    def __init__(self, search: Search) -> None:
        codes = len(search.knowledge.looks) + len(search.knowledge.steps) + 2
        self.candidates: Array = np.empty((OWNERS, 1 << 10, 2), np.uint64)
        self.counts: Array = np.zeros(OWNERS, np.int64)
        self.fresh: Array = np.zeros(OWNERS, np.int64)
        self.recent: Array = np.zeros(RECENT, np.uint64)
        self.misses: Array = np.empty(CHUNK, np.int64)
        self.hits: Array = np.empty((codes, 3), np.int64)
        self.seen: Array = np.zeros(codes, np.uint8)
        self.fired: Array = np.zeros(len(search.model.instances), np.int64)
        self.totals: Array = np.zeros(4, np.int64)
        self.reduced: Array = np.zeros(CHUNK, np.uint8)
        self.values: Array = np.empty(2 * len(search.model.slots), np.int64)
        self.leaves: Array = np.empty(len(search.model.instances) + 1, np.int64)
        self.scratch: Array = np.zeros((4, len(search.model.instances)), np.int64)

    def expand(self, program: kernel.Program, chunk: Block, begin: int, end: int, mode: int) -> None:
        """Expand some rows of a chunk; a bucket that runs full is made larger."""
        for cleared in (self.counts, self.seen, self.fired, self.totals, self.fresh):
            cleared[:] = 0
        while True:
            begin = kernel.expand(
                program,
                chunk.rows,
                chunk.prints,
                chunk.todo,
                begin,
                end,
                mode,
                self.candidates,
                self.counts,
                self.recent,
                self.misses,
                self.hits,
                self.seen,
                self.fired,
                self.totals,
                self.reduced,
                self.values,
                self.leaves,
                self.scratch,
            )
            if begin == end:
                return
            self.candidates = np.concatenate((self.candidates, np.empty_like(self.candidates)), axis=1)
