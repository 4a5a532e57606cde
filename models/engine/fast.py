"""
The default engine: breadth-first search over packed rows by a compiled kernel, on all cores.

The frontier is worked off in chunks. First every thread expands its part of a chunk and sorts the successors'
fingerprints by owner; then every owner, a slice of the fingerprint space with a visited table of its own,
inserts what it was sent. No table is ever touched by two threads, so there are no locks; and because
candidates reach an owner in the order of the frontier, the numbering of states, the parents and the traces
are the same for every number of threads.
"""

import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.engine import checkpoint, kernel, orbit
from models.engine.frontier import Block, Frontier, Parents
from models.engine.kernel import EDGE, EXPAND, FAILED, HITS, LOOK, MISSES, REST, STUCK
from models.engine.learn import STAY, Knowledge
from models.engine.program import Array, Program
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
from models.engine.symmetry import TooManyNames
from models.engine.visited import OWNERS, Fingerprints, Rows
from spec.machine import Sort
from spec.world import Alternative, Model, World

CHUNK = 1 << 17
"""How many rows are expanded before what they lead to is inserted."""
SMALL = 1 << 12
"""Chunks of fewer rows are left to one thread."""
RECENT = 1 << 15
"""How many fingerprints each thread remembers having sent lately."""
LEARN_AT_ONCE = 1 << 8
"""How many unknown rows are learned before the kernel tries again: many are unknown for the same reason."""

RUNS = Path(__file__).resolve().parents[2] / ".braid" / "runs"


@dataclass(frozen=True, slots=True)
class Options:
    """How to explore; none of it changes a verdict."""

    threads: int | None = None
    exact: bool = False
    """Compare whole states, not only fingerprints."""
    symmetry: bool = False
    partial_order: bool = False
    slicing: bool = False
    resume: bool = False
    """Go on where a run that was killed had last saved itself."""
    save_every: float = 60
    """Seconds between two saves."""
    salt: int = 0
    """Other numbers give other fingerprints."""
    chunk: int = CHUNK


class Full(Exception):
    """The memory limit does not allow another step."""


_UNLIMITED = Limits()
_DEFAULT = Options()


def explore(
    world: World, limits: Limits = _UNLIMITED, tell: Tell | None = None, options: Options = _DEFAULT
) -> Result:
    """Visit every state of a world, and say what was found."""
    try:
        return Search(Model(world), limits, tell, options).run()
    except TooManyNames as names:
        result = Search(Model(world), limits, tell, replace(options, symmetry=False)).run()
        result.notes.append(f"symmetry is left out: {names}")
        return result


class Search:
    """One exploration."""

    def __init__(self, model: Model, limits: Limits, tell: Tell | None, options: Options) -> None:
        self.model, self.limits, self.tell, self.options = model, limits, tell, options
        self.started = self.saved = time.perf_counter()
        self.threads = min(options.threads or os.cpu_count() or 1, OWNERS)
        self.memory = limits.memory or int(0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        self.result = blank(model, "fast")
        self.promises = [check for check in model.checks if check.of.sort is Sort.LEADS_TO]
        self.knowledge = Knowledge(
            model,
            symmetry=options.symmetry and self.applies("symmetry", model.world.interchangeable),
            partial_order=options.partial_order and self.applies("partial-order reduction"),
            slicing=options.slicing and self.applies("slicing"),
            exact=options.exact or bool(self.promises),
            salt=options.salt,
        )
        self.visited = Rows(len(model.slots)) if self.knowledge.exact else Fingerprints()
        self.parents, self.waiting, self.next = Parents(), Frontier(), Frontier()
        self.workers = [Worker(self) for _ in range(self.threads)]
        self.fired: Array = np.zeros(len(model.instances), np.int64)
        self.small = True
        self.missed: Array = np.zeros(0, np.int64)
        self.resting = False
        """Whether the rest of what a reduction put off is happening, which must not stop half-way."""
        self.looked: list[Breach] = []
        self.moved: list[Breach] = []
        self.before: tuple[int, int, Array] = 0, 0, self.fired
        self.folder = RUNS / checkpoint.name_of(model.world, options)

    def applies(self, reduction: str, there: object = True) -> bool:
        """A reduction that would not be sound here, or has nothing to work on, is left out with a word."""
        if self.promises:
            self.result.notes.append(f"{reduction} is left out: it does not preserve leads_to")
        elif reduction == "symmetry" and self.options.exact:
            self.result.notes.append("symmetry is left out: exact mode compares states, not orbits")
        elif reduction == "partial-order reduction" and any(
            c.of.sort is Sort.STEP for c in self.model.checks
        ):
            self.result.notes.append(
                f"{reduction} is left out: a step property could object to a hidden step"
            )
        elif self.model.world.within is not None and reduction == "partial-order reduction":
            self.result.notes.append(
                f"{reduction} is left out: `within` makes all actions depend on each other"
            )
        else:
            return bool(there)
        return False

    def run(self) -> Result:
        patience = sys.getswitchinterval()
        with ThreadPoolExecutor(self.threads) as self.pool:
            sys.setswitchinterval(0.0005)
            try:
                self.search()
            except Full as full:
                self.result.cut = str(full)
            if self.promises and not self.looked and not self.moved:
                from models.engine.promises import check_promises  # noqa: PLC0415 (scipy takes a while to load)

                check_promises(self)
        sys.setswitchinterval(patience)
        self.finish()
        if not self.result.cut:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.result

    def each(
        self, work: Callable[[Any], Any], over: Sequence[Any], meanwhile: Callable[[], None] = lambda: None
    ) -> list[Any]:
        """Do something for each, on all threads if it is worth it, and something else meanwhile."""
        if self.small or self.threads == 1:
            done = list(map(work, over))
            meanwhile()
            return done
        begun = [self.pool.submit(work, one) for one in over]
        try:
            meanwhile()
        finally:
            wait(begun)
        return [one.result() for one in begun]

    def search(self) -> None:
        """Level by level, until nothing is new or something is wrong."""
        result = self.result
        if self.options.resume and checkpoint.exists(self.folder):
            checkpoint.load(self)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.waiting = self.begin()
            self.begin_level()
        while True:
            enough = stop_here(self.limits, result, self.elapsed())
            if enough:
                self.save()
            self.level(LOOK if enough else EXPAND)
            if self.looked or result.cut:
                result.transitions, result.edge, self.fired = self.before
                result.states = sum(result.levels)
                return
            if self.moved and self.next:
                result.levels.append(len(self.next))
            if self.moved or not self.next:
                return
            self.waiting, self.next = self.next, Frontier()
            self.begin_level()

    def begin_level(self) -> None:
        self.result.levels.append(len(self.waiting))
        self.before = self.result.transitions, self.result.edge, self.fired.copy()

    def begin(self) -> Frontier:
        """The initial states, in their tables."""
        k = self.knowledge
        initial = list(map(k.sliced, self.model.initial))
        ids = [[k.values.intern(place, value) for place, value in enumerate(state)] for state in initial]
        self.pack_again()
        rows = np.array([k.values.pack(row) for row in ids], np.uint64)
        prints = self.fingerprints(rows)
        alike = prints.tolist() if k.symmetry else initial
        chosen = sorted({one: number for number, one in reversed([*enumerate(alike)])}.values())
        block = Block(
            np.ascontiguousarray(rows[chosen]),
            np.ascontiguousarray(prints[chosen]),
            np.full(len(chosen), k.everything(), np.uint64),
            np.arange(len(chosen), dtype=np.uint32),
            k.values.packing,
        )
        program, nothing = k.program(), np.zeros(len(chosen), np.uint8)
        bucket = self.workers[0]
        for number, mark in enumerate(block.prints.tolist()):
            owner = mark % OWNERS
            bucket.counts[owner] = 1
            bucket.candidates[owner, 0] = mark, number << 32 | STAY
            self.visited.reserve(owner, 1)
            self.visited.insert(program, block.rows, [bucket], range(owner, owner + 1), nothing)
            self.visited.number(owner, number)
            self.visited.store(block.rows[number : number + 1], k.values.packing)
        self.remember(np.array([[i, 0] for i in chosen], np.uint32))
        return Frontier([block])

    def fingerprints(self, rows: Array) -> Array:
        """The fingerprints of packed rows."""
        prints: Array = np.empty(len(rows), np.uint64)
        w = self.workers[0]
        kernel.fingerprints(self.knowledge.program(), rows, w.values, w.ranking, prints)
        return prints

    def remember(self, parents: Array) -> None:
        """Where new states came from; they are numbered in this order."""
        self.parents.append(parents)
        self.result.states += len(parents)

    def level(self, mode: int) -> None:
        """Look at every state of a level, and let everything happen in it."""
        total, unknown = self.result.levels[-1], None
        while self.waiting or unknown:
            unknown = self.round(unknown, LOOK if self.looked else mode)
            if self.tell:
                r = self.result
                self.tell(Standing(r.states, r.transitions, r.depth, total, total - len(self.waiting)))
            self.keep_within_memory()
            late = self.limits.seconds is not None and self.elapsed() > self.limits.seconds
            if mode == LOOK or self.looked:
                continue
            if late or self.elapsed(self.saved) > self.options.save_every:
                if unknown:
                    self.learn(self.knowledge.program(), unknown)
                    self.waiting.put_back(unknown)
                    self.pack_again()
                    unknown = None
                self.save()
            if late:
                stop_here(self.limits, self.result, self.elapsed())
                return

    def learn(self, program: Program, unknown: Block | None) -> None:
        """Run the specification where rows were left alone because some tree did not know them."""
        if unknown:
            some = slice(0, LEARN_AT_ONCE)
            ids = self.knowledge.values.unpack_all(unknown.rows[some])
            self.knowledge.learn(program, ids, unknown.todo[some])

    def round(self, unknown: Block | None, mode: int) -> Block | None:
        """
        Expand a chunk and insert what it leads to, and learn meanwhile what was unknown of the one before.

        Returns the rows that some tree did not know; those of the chunk before wait again, because they will
        be known when their turn comes.
        """
        k = self.knowledge
        program = k.program()
        chunk = self.waiting.take(self.options.chunk, k.values.packing) if self.waiting else None

        if unknown:
            self.waiting.put_back(unknown)
        if chunk is None:
            self.learn(program, unknown)
        else:
            self.visit(program, chunk, mode, lambda: self.learn(program, unknown))
        self.pack_again()
        if chunk is None or not len(self.missed):
            return None
        return chunk.part(self.missed).packed(k.values.packing)

    def visit(self, program: Program, chunk: Block, mode: int, meanwhile: Callable[[], None]) -> None:
        """Expand a chunk, note what is to be said of it, and insert what it leads to."""
        self.expand(program, chunk, mode, meanwhile)
        self.note(chunk)
        missed = np.concatenate([w.misses[: w.totals[MISSES]] for w in self.workers])
        if mode != LOOK:
            ignored = self.insert(program, chunk)
            if mode == EXPAND and len(ignored):
                self.resting = True
                self.visit(program, chunk.part(ignored), REST, lambda: None)
                self.resting = False
        self.missed = missed

    def expand(
        self, program: Program, chunk: Block, mode: int, meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Every thread expands its part of a chunk; a small one is not worth the trouble."""
        self.small, many = len(chunk) < SMALL, self.threads
        ends = [len(chunk)] * many if self.small else [len(chunk) * t // many for t in range(1, many + 1)]
        parts = list(zip(self.workers, [0, *ends], ends, strict=False))
        self.each(lambda part: part[0].expand(program, chunk, *part[1:], mode), parts, meanwhile)

    def insert(self, program: Program, chunk: Block) -> Array:
        """
        Let every owner insert what it was sent, and make rows of what is new.

        Returns the rows whose reduced set led to nothing new: there the rest must happen as well, or
        something could be put off for ever.
        """
        progressed: Array = np.zeros(len(chunk), np.uint8)
        sent = [sum(int(w.counts[owner]) for w in self.workers) for owner in range(OWNERS)]
        self.make_room(self.visited.extra(sent), chunk)
        if self.knowledge.exact:
            self.workers[0].make_room(max(sent))

        def settle(owners: range) -> tuple[Block, Array, Array]:
            for owner in owners:
                self.visited.reserve(owner, sent[owner])
            self.visited.insert(program, chunk.rows, self.workers, owners, progressed)
            fresh = np.array([w.fresh[owners.start : owners.stop] for w in self.workers])
            ends = np.cumsum(fresh.T.ravel())
            at: Array = np.zeros((len(self.workers), OWNERS), np.int64)
            at[:, owners.start : owners.stop] = (ends - fresh.T.ravel()).reshape(len(owners), -1).T
            block = Block.empty(int(ends[-1]), chunk)
            parents: Array = np.empty((len(block), 2), np.uint32)
            for w, begin in zip(self.workers, at, strict=True):
                source = (chunk.rows, chunk.ids, w.candidates, w.fresh, begin)
                made = (block.rows, block.prints, block.todo, parents)
                kernel.materialise(program, *source, owners.start, owners.stop, *made)
            return block, parents, at[0]

        many = self.threads
        hands = [range(OWNERS * t // many, OWNERS * (t + 1) // many) for t in range(many)]
        for owners, (block, parents, at) in zip(hands, self.each(settle, hands), strict=True):
            for owner in owners:
                self.visited.number(owner, self.result.states + int(at[owner]))
            self.visited.store(block.rows, chunk.packing)
            block.ids[:] = np.arange(self.result.states, self.result.states + len(block))
            self.remember(parents)
            if block:
                self.next.append(block)
        self.count()
        if not self.knowledge.partial_order:
            return np.zeros(0, np.int64)
        reduced = np.logical_or.reduce([w.reduced[: len(chunk)] == 1 for w in self.workers])
        return np.flatnonzero(reduced & (progressed == 0))

    def count(self) -> None:
        """Add up what the workers counted."""
        for w in self.workers:
            self.result.transitions += int(w.totals[kernel.TRANSITIONS])
            self.result.edge += int(w.totals[EDGE])
            self.fired += w.fired

    def pack_again(self) -> None:
        """Give rows more bits, if a variable has more values than its bits can tell apart."""
        if self.knowledge.values.outgrown:
            self.knowledge.values.pack_again()
            if isinstance(self.visited, Rows):
                self.visited.repack(self.knowledge.values.packing)

    # memory, disk, time

    def elapsed(self, since: float | None = None) -> float:
        return time.perf_counter() - (self.started if since is None else since)

    @property
    def nbytes(self) -> int:
        """What the search holds in memory."""
        waiting = self.waiting.nbytes + self.next.nbytes
        buckets = sum(int(w.candidates.nbytes) for w in self.workers)
        return self.visited.nbytes + waiting + self.parents.nbytes + buckets + self.knowledge.nbytes

    def keep_within_memory(self) -> None:
        """Put what is not needed now on disk, as soon as memory gets short."""
        if self.nbytes > 0.9 * self.memory:
            self.spill()

    def spill(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.parents.spill(self.folder / "parents.bin")
        self.waiting.spill(self.folder)
        self.next.spill(self.folder)

    def make_room(self, extra: int, chunk: Block) -> None:
        """Stop in good order if the visited set would not fit: the chunk waits again, and all is saved."""
        if self.nbytes + extra > self.memory:
            self.spill()
        if self.nbytes + extra > self.memory and not self.resting:
            self.waiting.put_back(chunk)
            self.save()
            raise Full(f"the memory limit of {self.memory / 2**30:.2f} GiB is reached")

    def save(self) -> None:
        """Save the search, so that it can go on from here after a crash."""
        with suppress(OSError):
            checkpoint.save(self)
        self.saved = time.perf_counter()

    # what was found

    def note(self, chunk: Block) -> None:
        """Turn what the workers noticed into breaches and witnesses."""
        k = self.knowledge
        for w in self.workers:
            for code, row, way in w.hits[: w.totals[HITS]].tolist():
                check = k.looks[code] if 0 <= code < len(k.looks) else None
                if check and check.of.sort is Sort.SOMETIMES:
                    self.witness(check.of.name, int(chunk.ids[row]))
                    continue
                trace = self.trace(int(chunk.ids[row]))
                if check:
                    said = self.model.look(check, replay(self.model, trace)[-1]).result
                    note(self.looked, breach_of(check.of, check.label, said, trace))
                elif code == STUCK:
                    sentences = ("nothing can happen here, and it is no final state",)
                    note(self.moved, breach_of(DEADLOCK, "", sentences, trace))
                else:
                    note(self.moved, self.breach_by_moving(code, trace, way))

    def witness(self, name: str, number: int) -> None:
        """Somebody was waiting for this state; from now on nobody is."""
        if self.result.witnesses[name] is None:
            self.result.witnesses[name] = self.trace(number)
            self.knowledge.retire(name)

    def breach_by_moving(self, code: int, trace: Trace, way: int) -> Breach:
        """An action that raised an exception, or a step that breaks a property."""
        before = replay(self.model, trace)[-1]
        instance, number = self.knowledge.move(int(self.knowledge.program().way[way, 2]))
        alternative = self.model.run(self.model.instances[instance], before).result[number]
        move = Move(self.model.instances[instance].label, alternative.decisions)
        longer = replace(trace, moves=(*trace.moves, move))
        if code == FAILED:
            return breach_of(FAILURE, "", (alternative.failure,), longer)
        check = self.knowledge.steps[code - len(self.knowledge.looks)]
        said = self.model.look(check, before, self.model.after(before, alternative)).result
        return breach_of(check.of, check.label, said, longer)

    def trace(self, number: int) -> Trace:
        """The way by which a state was first reached, from the parents of its parents."""
        found = []
        while (came := self.parents.of(number))[1]:
            found.append(self.knowledge.move(came[1]))
            number = came[0]
        start, moves = came[0], []
        state = self.model.initial[start]
        for instance, way in reversed(found):
            alternative: Alternative = self.model.run(self.model.instances[instance], state).result[way]
            moves.append(Move(self.model.instances[instance].label, alternative.decisions))
            state = self.model.after(state, alternative)
        return Trace(tuple(moves), start)

    def finish(self) -> None:
        """Complete the result."""
        result, k = self.result, self.knowledge
        result.breaches = self.looked or self.moved
        for instance, count in zip(self.model.instances, self.fired.tolist(), strict=True):
            result.fired[instance.of.name] += count
        for name in k.dropped:
            if not result.fired[name]:
                del result.fired[name]
        result.seconds = self.elapsed()
        result.notes += k.notes()
        result.details = {
            **k.details(),
            "table_bytes": self.visited.nbytes,
            "bytes_per_state": self.visited.nbytes / max(result.states, 1),
            "rate": result.states / max(result.seconds, 1e-9),
            "threads": self.threads,
        }
        if not k.exact:
            chance = min(1.0, result.states**2 / 2**65)
            result.details["collision_probability"] = chance
            result.notes.append(
                f"64-bit fingerprints: two states were confused with probability {chance:.1e}"
            )


def note(breaches: list[Breach], made: Breach) -> None:
    """Note a breach, the first of each property."""
    if made.property not in [known.property for known in breaches]:
        breaches.append(made)


def alone(*shape: int, dtype: Any = np.int64) -> Array:
    """An array that shares no cache line with another, so that threads do not slow each other down."""
    size, margin = math.prod(shape), 128
    whole: Array = np.zeros(size + 2 * margin, dtype)
    return whole[margin : margin + size].reshape(shape)


class Worker:
    """What one thread needs to expand rows: buckets for what it finds, and lists for what it notices."""

    def __init__(self, search: Search) -> None:
        codes = len(search.knowledge.looks) + len(search.knowledge.steps) + 2
        places, instances, chunk = len(search.model.slots), len(search.model.instances), search.options.chunk
        self.candidates: Array = np.empty((OWNERS, 1 << 10, 2), np.uint64)
        self.counts, self.fresh = alone(OWNERS), alone(OWNERS)
        self.recent = alone(1 if search.knowledge.exact else RECENT, dtype=np.uint64)
        self.misses, self.hits, self.seen = alone(chunk), alone(codes, 3), alone(codes, dtype=np.uint8)
        self.fired, self.totals, self.reduced = alone(instances), alone(4), alone(chunk, dtype=np.uint8)
        self.values, self.leaves, self.scratch = (
            alone(2 * places),
            alone(instances + 1),
            alone(4, instances + 1),
        )
        members = len(search.knowledge.symmetry.names) if search.knowledge.symmetry else 0
        self.ranking = alone(orbit.ROWS, members, dtype=np.uint64)

    def make_room(self, room: int) -> None:
        """Make sure that a bucket can hold so many."""
        short = room - self.candidates.shape[1]
        if short > 0:
            more: Array = np.empty((OWNERS, short, 2), np.uint64)
            self.candidates = np.concatenate((self.candidates, more), axis=1)

    def expand(self, program: Program, chunk: Block, begin: int, end: int, mode: int) -> None:
        """Expand some rows of a chunk; a bucket that runs full is made larger."""
        for cleared in (self.counts, self.seen, self.fired, self.totals, self.fresh, self.reduced):
            cleared[:] = 0
        source = (chunk.rows, chunk.prints, chunk.todo)
        found = (self.counts, self.recent, self.misses, self.hits, self.seen, self.fired, self.totals)
        scratch = (self.reduced, self.values, self.leaves, self.scratch, self.ranking)
        while True:
            begin = kernel.expand(program, *source, begin, end, mode, self.candidates, *found, *scratch)
            if begin == end:
                return
            self.make_room(2 * self.candidates.shape[1])
