"""
Fair behaviours without end in a graph of numbered states: where they can stay, and one that shows it.

A behaviour without end stays, from some point on, in states that it visits again and again; they and the
steps between them are strongly connected. So it is enough to look at strongly connected parts: a part is fair
if a behaviour that wanders through all of it owes nothing to any action for which fairness is promised. A
step that changes nothing is no step: it is neither taken nor possible, and a behaviour may wait wherever it
owes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

Numbers = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


class Moves:
    """The steps that change something, in the order of the states where they start."""

    def __init__(
        self, states: int, source: Numbers, target: Numbers, instance: Numbers, way: Numbers
    ) -> None:
        kept = np.flatnonzero(source != target)
        starts = source[kept]
        if np.any(starts[1:] < starts[:-1]):
            kept = kept[np.argsort(starts, kind="stable")]
        self.states = states
        self.source, self.target = source[kept].astype(np.int32), target[kept].astype(np.int32)
        self.instance, self.way = instance[kept], way[kept]

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """Fairness towards one instance: the states where it could happen are those where it may be owed."""

    instance: int
    strong: bool
    able: Numbers


def demands(moves: Moves, fair: Sequence[tuple[int, bool]]) -> list[Demand]:
    """What is promised to each fair instance, given as its number and whether the promise is strong."""
    starts = _by_rank(moves.source, moves.instance, [instance for instance, _ in fair])
    return [
        Demand(instance, strong, _distinct(able))
        for (instance, strong), able in zip(fair, starts, strict=True)
    ]


def _by_rank(values: Numbers, instance: Numbers, wanted: Sequence[int]) -> list[Numbers]:
    """The values of the steps of each wanted instance, in the order in which they come."""
    highest = int(max(instance.max(initial=0), max(wanted, default=0)))
    rank = np.full(highest + 1, -1, np.int16 if len(wanted) < 1 << 15 else np.int32)
    rank[list(wanted)] = np.arange(len(wanted))
    of = rank[instance]
    order = np.argsort(of, kind="stable")
    cuts = np.searchsorted(of[order], np.arange(len(wanted) + 1))
    return [values[order[cuts[i] : cuts[i + 1]]] for i in range(len(wanted))]


def _distinct(rising: Numbers) -> Numbers:
    return rising[np.flatnonzero(np.diff(rising, prepend=-1))]


class Part:
    """Some of the states and the steps between them, numbered anew from 0."""

    def __init__(self, moves: Moves, chosen: Mask, among: Numbers | None = None) -> None:
        self.moves = moves
        self.states = np.flatnonzero(chosen).astype(np.int32)
        self.number = np.full(moves.states, -1, np.int32)
        self.number[self.states] = np.arange(len(self.states), dtype=np.int32)
        source, target = moves.source, moves.target
        if among is None:
            self.steps = np.flatnonzero(chosen[source] & chosen[target]).astype(np.int32)
        else:
            self.steps = among[chosen[source[among]] & chosen[target[among]]]
        self.source, self.target = self.number[source[self.steps]], self.number[target[self.steps]]

    @cached_property
    def first(self) -> Numbers:
        """Where the steps of each state begin, and at last where they all end."""
        counts = np.bincount(self.source, minlength=len(self.states))
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)

    @cached_property
    def matrix(self) -> csr_array:
        """Who is followed by whom, each pair once: scipy's strong components never end on a doubled pair."""
        size = len(self.states)
        return csr_array((np.ones(len(self.steps)), (self.source, self.target)), shape=(size, size))

    def here(self, states: Numbers) -> Numbers:
        """The new numbers of those states that lie in this part."""
        found = self.number[states]
        return found[found >= 0]

    def path(self, start: int, goals: Mask) -> list[int]:
        """The fewest steps, by their places in this part, from one state to one of several."""
        came = np.full(len(self.states), -1, np.int32)
        came[start] = len(self.steps)
        level = np.array([start], np.int32)
        while not goals[level].any():
            assert len(level), "no way leads there"
            low, count = self.first[level], self.first[level + 1] - self.first[level]
            steps = np.repeat(low - np.cumsum(count) + count, count) + np.arange(count.sum(), dtype=np.int32)
            steps = steps[came[self.target[steps]] < 0]
            came[self.target[steps]] = steps
            level = self.target[steps[came[self.target[steps]] == steps]]
        at, found = int(level[np.argmax(goals[level])]), list[int]()
        while at != start:
            found.append(int(came[at]))
            at = int(self.source[found[-1]])
        return found[::-1]


def reachable(moves: Moves, seeds: Mask, through: Mask) -> Mask:
    """The states to which a way leads from the seeds, without leaving what it may go through."""
    part = Part(moves, through)
    size = len(part.states)
    roots = np.flatnonzero(seeds[part.states]).astype(np.int32)
    targets = np.concatenate((part.target, roots))
    first = np.concatenate((part.first, [len(targets)])).astype(np.int32)
    matrix = csr_array((np.ones(len(targets)), targets, first), shape=(size + 1, size + 1))
    order = breadth_first_order(matrix, size, directed=True, return_predecessors=False)
    found = np.zeros(moves.states, np.bool_)
    found[part.states[order[order < size]]] = True
    return found


def fair_parts(moves: Moves, owed: Iterable[Demand], region: Mask) -> Numbers:
    """
    For each state of a region the number of the fair part to which it belongs, -1 if there is none.

    Weak fairness only gets easier in a larger part, so what fails it fails for good. Strong fairness may get
    easier in a smaller one: without the states where the action that is never taken could have been.
    """
    owed = list(owed)
    found = np.full(moves.states, -1, np.int32)
    left, steps, known = region, None, 0
    while left.any():
        part = Part(moves, left, steps)
        count, label = connected_components(part.matrix, directed=True, connection="strong")
        fair, hopeless, excluded = _judged(part, owed, count, label)

        numbers = np.cumsum(fair, dtype=np.int32) + (known - 1)
        good = fair[label]
        found[part.states[good]] = numbers[label[good]]
        known += int(fair.sum())
        left = np.zeros(moves.states, np.bool_)
        left[part.states[~(good | hopeless[label] | excluded)]] = True
        steps = part.steps[label[part.source] == label[part.target]]
    return found


def _judged(part: Part, owed: Sequence[Demand], count: int, label: Numbers) -> tuple[Mask, Mask, Mask]:
    """Which components are fair, which of the others can never be, and which states the rest must lose."""
    inside = np.flatnonzero(label[part.source] == label[part.target])
    instance = part.moves.instance[part.steps[inside]]
    taken_in = _by_rank(label[part.source[inside]], instance, [demand.instance for demand in owed])
    size = np.bincount(label, minlength=count)
    fair, hopeless = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    excluded = np.zeros(len(part.states), np.bool_)
    for demand, where in zip(owed, taken_in, strict=True):
        able = part.here(demand.able)
        if not len(able):
            continue
        possible = np.bincount(label[able], minlength=count)
        ignored = (possible > 0) if demand.strong else (possible == size)
        ignored[where] = False
        fair &= ~ignored
        if demand.strong:
            excluded[able[ignored[label[able]]]] = True
        else:
            hopeless |= ignored
    return fair, hopeless, excluded


@dataclass(frozen=True, slots=True)
class Lasso:
    """A behaviour without end, as numbers of moves: a stem, and a loop; an empty one is to wait for ever."""

    start: int
    stem: tuple[int, ...]
    trigger: int
    """After how many moves of the stem it turned into what it must not be."""
    loop: tuple[int, ...]


def find(moves: Moves, owed: Sequence[Demand], initial: Numbers, seeds: Mask, waiting: Mask) -> Lasso | None:
    """
    A short fair behaviour that comes through one of the seeds and then only through `waiting`, to which the
    seeds belong.
    """
    region = reachable(moves, seeds, waiting)
    parts = fair_parts(moves, owed, region)
    if not (parts >= 0).any():
        return None

    stems = _Stems(moves, initial, seeds, region)
    still = parts >= 0
    for demand in owed:
        still[demand.able] = False
    entry = stems.nearest(parts >= 0)
    stem = stems.to(entry)
    if still[entry]:
        return Lasso(*stem, ())
    waits = stems.to(stems.nearest(still)) if still.any() else None
    if waits is not None and len(waits[1]) <= len(stem[1]) + 2:
        return Lasso(*waits, ())
    loop = _Tour(Part(moves, parts == parts[entry]), owed, entry).loop()
    if waits is not None and len(waits[1]) <= len(stem[1]) + len(loop):
        return Lasso(*waits, ())
    return Lasso(*stem, loop)


class _Stems:
    """
    The shortest ways from the initial states, through a seed, to every state of the region behind it.

    Every state stands here twice: as it is reached on any way, and behind it once more, as it is reached on a
    way that has come through a seed and has not left the region since.
    """

    def __init__(self, moves: Moves, initial: Numbers, seeds: Mask, region: Mask) -> None:
        self.moves, self.seeds, self.region, size = moves, seeds, region, moves.states
        source, target = moves.source, moves.target
        turning = np.flatnonzero(seeds[target])
        staying = np.flatnonzero(region[source] & region[target])
        root = 2 * size
        starts = np.concatenate((initial, initial[seeds[initial]] + size))
        rows = (source, source[turning], source[staying] + size, np.full(len(starts), root))
        columns = (target, target[turning] + size, target[staying] + size, starts)
        pairs = np.concatenate(rows), np.concatenate(columns)
        matrix = csr_array((np.ones(len(pairs[0])), pairs), shape=(root + 1, root + 1))
        self.order, self.came = breadth_first_order(matrix, root, directed=True, return_predecessors=True)

    def nearest(self, wanted: Mask) -> int:
        size = self.moves.states
        behind = self.order[(self.order >= size) & (self.order < 2 * size)] - size
        return int(behind[np.argmax(wanted[behind])])

    def to(self, state: int) -> tuple[int, tuple[int, ...], int]:
        """Where the way to a state begins, its moves, and how many come before the seed, the earliest."""
        size = self.moves.states
        nodes = [state + size]
        while self.came[nodes[-1]] < 2 * size:
            nodes.append(int(self.came[nodes[-1]]))
        nodes.reverse()
        visited = [node % size for node in nodes]
        stem = tuple(self._move(a, b) for a, b in pairwise(visited))
        here = len(visited) - 1
        while here and self.region[visited[here - 1]]:
            here -= 1
        return visited[0], stem, next(n for n in range(here, len(visited)) if self.seeds[visited[n]])

    def _move(self, source: int, target: int) -> int:
        low, high = np.searchsorted(self.moves.source, [source, source + 1])
        return int(low + np.argmax(self.moves.target[low:high] == target))


class _Tour:
    """
    A round trip through a fair part on which every demand is met: always on to the nearest state that meets
    one more, and home at the end.

    Strong fairness asks for nothing that was not possible on the way, so it is asked when the rest is done.
    """

    def __init__(self, part: Part, owed: Sequence[Demand], entry: int) -> None:
        self.part, self.owed, self.at = part, owed, int(part.number[entry])
        self.home = np.arange(len(part.states)) == self.at
        self.able = {demand.instance: self._where(demand) for demand in owed}
        self.steps: list[int] = []
        self.visited, self.taken = [self.at], set[int]()
        self.unmet = [demand for demand in owed if not demand.strong]
        self._settle()

    def loop(self) -> tuple[int, ...]:
        while True:
            while self.unmet:
                self._meet_one_more()
            self._meet_strong()
            if not self.unmet:
                self._go(self.part.path(self.at, self.home))
                self._meet_strong()
            if not self.unmet:
                return tuple(int(self.part.steps[step]) for step in self.steps)

    def _where(self, demand: Demand) -> Mask:
        able = np.zeros(len(self.part.states), np.bool_)
        able[self.part.here(demand.able)] = True
        return able

    def _meet_strong(self) -> None:
        """Ask for those that were possible on the way and not taken, although that is promised."""
        self.unmet = [
            demand
            for demand in self.owed
            if demand.strong
            and demand.instance not in self.taken
            and self.able[demand.instance][self.visited].any()
        ]

    def _meet_one_more(self) -> None:
        part, before = self.part, len(self.unmet)
        instance = part.moves.instance[part.steps]
        goals = np.zeros(len(part.states), np.bool_)
        for demand in self.unmet:
            goals[part.source[instance == demand.instance]] = True
            if not demand.strong:
                goals |= ~self.able[demand.instance]
        self._go(part.path(self.at, goals))
        if len(self.unmet) == before:
            low, high = part.first[self.at], part.first[self.at + 1]
            wanted = [demand.instance for demand in self.unmet]
            self._go([int(low + np.argmax(np.isin(instance[low:high], wanted)))])

    def _go(self, steps: list[int]) -> None:
        for step in steps:
            self.steps.append(step)
            self.taken.add(int(self.part.moves.instance[self.part.steps[step]]))
            self.at = int(self.part.target[step])
            self.visited.append(self.at)
            self._settle()

    def _settle(self) -> None:
        self.unmet = [
            d
            for d in self.unmet
            if d.instance not in self.taken and (d.strong or self.able[d.instance][self.at])
        ]
