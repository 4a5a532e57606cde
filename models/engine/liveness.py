"""
What must happen in the end: promises, checked on the explored graph under the declared fairness.

A promise is broken by a behaviour in which its trigger is true at some point and its goal is false from there
on for ever. Nobody is obliged to do anything but those actions that are declared fair, each with each of its
arguments by itself; a step that changes nothing counts neither as done nor as possible. As in TLA+.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.engine.lasso import Lasso, Mask, Moves, Numbers, demands, find
from models.engine.result import Breach, Move, Trace, breach_of
from spec.machine import STRONG, Property, Sort
from spec.world import Instance, Model, State

Truth = Callable[[Instance[Property]], tuple[Mask, Mask]]
"""Where the trigger and where the goal of a promise is true, for all states."""

FEW = 3
"""How many instances a sentence names before it becomes a list that nobody reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Everything that was explored: numbered states, and for each step where it leads and who made it."""

    states: int
    initial: Numbers
    source: Numbers
    target: Numbers
    """Where each step leads; -1 if the search had no room for that state, and then its source is outside."""
    instance: Numbers
    """The instance of each step, by its number in `model.instances`."""
    way: Numbers
    """Which alternative of it, in the order of `model.run`."""
    outside: Mask
    """
    States that were never left, so that it is not known what follows: `within` or a limit forbade it. One
    that is not marked and has no steps is an end.
    """
    state: Callable[[int], State]


@dataclass(frozen=True, slots=True)
class Answer:
    """The broken promises, and why the others may be broken as well, if that is not decided."""

    breaches: tuple[Breach, ...]
    undecided: str = ""


def graph_of(model: Model, limit: int | None = None) -> Graph:
    """The graph of a model by plain search; what is found after `limit` states were left is outside."""
    states = list(model.initial)
    numbers = {state: number for number, state in enumerate(states)}
    steps: list[tuple[int, int, int, int]] = []
    outside = []
    for source, state in enumerate(states):
        cut = model.world.within is not None and not model.inside(state).result
        outside.append(cut or (limit is not None and source >= limit))
        if outside[-1]:
            continue
        for number, instance in enumerate(model.instances):
            for way, alternative in enumerate(model.run(instance, state).result):
                after = model.after(state, alternative)
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                steps.append((source, numbers[after], number, way))
    columns = np.array(steps, np.int32).reshape(-1, 4).T
    return Graph(
        states=len(states),
        initial=np.arange(len(model.initial), dtype=np.int32),
        source=columns[0],
        target=columns[1],
        instance=columns[2],
        way=columns[3],
        outside=np.array(outside, np.bool_),
        state=states.__getitem__,
    )


def check(model: Model, graph: Graph, truth: Truth | None = None, cut: str = "") -> Answer:
    """
    Find for each promise a behaviour that breaks it, with the first arguments for which there is one.

    A behaviour that was found is real even if the search was cut off. One that was not found may lie beyond,
    and then nothing is decided; `cut` says why the search stopped, if it did.
    """
    promises = [promise for promise in model.checks if promise.of.sort is Sort.LEADS_TO]
    truth = truth or _looked_at(model, graph)
    outside, lost = graph.outside.copy(), graph.target < 0
    outside[graph.source[lost]] = True
    moves = Moves(
        graph.states, *(part[~lost] for part in (graph.source, graph.target, graph.instance, graph.way))
    )
    owed = demands(
        moves, [(i, one.of.fair is STRONG) for i, one in enumerate(model.instances) if one.of.fair]
    )
    broken: dict[str, Breach] = {}
    for promise in promises:
        if promise.of.name not in broken:
            trigger, goal = truth(promise)
            waiting = ~(goal | outside)
            lasso = find(moves, owed, graph.initial, trigger & waiting, waiting)
            if lasso is not None:
                broken[promise.of.name] = _Story(model, graph, moves, lasso).breach(promise)

    reason = cut or (f"{int(outside.sum()):,} states were not left" if outside.any() else "")
    open_ones = list(dict.fromkeys(p.of.name for p in promises if p.of.name not in broken))
    if reason and open_ones:
        return Answer(
            tuple(broken.values()), f"{', '.join(open_ones)}: {reason}, so what follows is not known"
        )
    return Answer(tuple(broken.values()))


def _looked_at(model: Model, graph: Graph) -> Truth:
    """The truth of a promise in every state; it is asked once for each combination of what it reads."""

    def truth(promise: Instance[Property]) -> tuple[Mask, Mask]:
        remembered = _Remembered(model, promise)
        found = np.array([remembered.at(graph.state(i)) for i in range(graph.states)], np.bool_).reshape(
            -1, 2
        )
        return found[:, 0], found[:, 1]

    return truth


class _Remembered:
    """
    A property that is evaluated once for each combination of the values it reads.

    It is a function of what it reads, so the first place that it reads is always the same, and each value
    there decides which place comes next, or the result.
    """

    def __init__(self, model: Model, check: Instance[Property]) -> None:
        self.model, self.check = model, check
        self.tree: dict[Any, Any] = {}

    def at(self, state: State) -> Any:
        node = self.tree
        while node:
            if "result" in node:
                return node["result"]
            node = node["then"].get(state[node["place"]])
        found = self.model.look(self.check, state)
        node = self.tree
        for place in found.reads:
            node.setdefault("place", place)
            node = node.setdefault("then", {}).setdefault(state[place], {})
        node["result"] = found.result
        return found.result


class _Story:
    """A lasso as a trace, and in sentences."""

    def __init__(self, model: Model, graph: Graph, moves: Moves, lasso: Lasso) -> None:
        self.model, self.graph, self.moves, self.lasso = model, graph, moves, lasso
        self.path = lasso.stem + lasso.loop

    def breach(self, promise: Instance[Property]) -> Breach:
        start = self.model.initial.index(self.graph.state(self.lasso.start))
        trace = Trace(tuple(map(self._move, self.path)), start, len(self.lasso.stem))
        never = f"{_when(self.lasso.trigger)} the trigger holds, and the goal never follows"
        first, *more = self._for_ever()
        return breach_of(promise.of, promise.label, (f"{promise.label}: {never}: {first}", *more), trace)

    def _move(self, number: int) -> Move:
        instance = self.model.instances[self.moves.instance[number]]
        state = self.graph.state(int(self.moves.source[number]))
        return Move(instance.label, self.model.run(instance, state).result[self.moves.way[number]].decisions)

    def _for_ever(self) -> Iterator[str]:
        """How it goes on, and why it may."""
        first, last = len(self.lasso.stem) + 1, len(self.path)
        if self.lasso.loop:
            yield (
                f"steps {first} to {last} repeat for ever"
                if last > first
                else f"step {last} repeats for ever"
            )
            yield from self._excuses()
            return
        at = int(self.moves.target[self.path[-1]]) if self.path else self.lasso.start
        possible = [self.model.instances[i].label for i in sorted(self._possible(at))]
        yield "nothing more has to happen" if possible else "nothing more can happen"
        if 0 < len(possible) <= FEW:
            yield f"{_listed(possible)} could happen, but nobody promises that"

    def _excuses(self) -> Iterator[str]:
        """Fair actions that could happen in the loop and never do, because again and again they cannot."""
        loop = self.lasso.loop
        taken = {int(self.moves.instance[number]) for number in loop}
        possible = [self._possible(int(self.moves.target[number])) for number in loop]
        wanting = {i for some in possible for i in some if self.model.instances[i].of.fair} - taken
        for instance in sorted(wanting) if len(wanting) <= FEW else ():
            step = next(
                n for n, some in enumerate(possible, len(self.lasso.stem) + 1) if instance not in some
            )
            label = self.model.instances[instance].label
            yield f"{label} is not owed: {_when(step)} it cannot happen"

    def _possible(self, state: int) -> set[int]:
        low, high = np.searchsorted(self.moves.source, [state, state + 1])
        return {int(instance) for instance in self.moves.instance[low:high]}


def _when(steps: int) -> str:
    return f"after step {steps}" if steps else "at the start"


def _listed(labels: Sequence[str]) -> str:
    *others, last = labels
    return f"{', '.join(others)} and {last}" if others else last
