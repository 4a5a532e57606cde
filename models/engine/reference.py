"""
The oracle: breadth-first search over plain Python states, every action on every state, nothing clever.

Level by level: all states of a depth are looked at before any of them is left. A breach ends the search at
the end of its level, so that counts do not depend on who found it first.
"""

import time
from collections.abc import Iterator

from models.engine.result import (
    DEADLOCK,
    FAILURE,
    Limits,
    Move,
    Result,
    Standing,
    Tell,
    Trace,
    blank,
    breach_of,
    stop_here,
)
from spec.machine import Property, Sort
from spec.world import Model, State, World

Parents = dict[State, tuple[State, Move] | None]


def explore(world: World, limits: Limits = Limits(), tell: Tell | None = None) -> Result:  # noqa: B008
    """Visit every state of a world, and say what was found."""
    return Search(Model(world), limits, tell).run()


class Search:
    """One exploration: what was reached, and how."""

    def __init__(self, model: Model, limits: Limits, tell: Tell | None) -> None:
        self.model, self.limits, self.tell = model, limits, tell
        self.result = blank(model, "reference")
        self.parents: Parents = {}
        self.started = time.perf_counter()
        self.steps = [check for check in model.checks if check.of.sort is Sort.STEP]
        self.looks = [check for check in model.checks if check.of.sort in (Sort.ALWAYS, Sort.SOMETIMES)]

    def run(self) -> Result:
        result, frontier = self.result, list(self.model.initial)
        self.parents.update((state, None) for state in frontier)
        while frontier:
            result.levels.append(len(frontier))
            result.states = len(self.parents)
            for state in frontier:
                self.look(state)
            if result.breaches or self.exhausted():
                break
            frontier = self.next_level(frontier)
            if result.breaches:
                result.levels += [len(frontier)] if frontier else []
                break
        result.states = len(self.parents)
        result.seconds = time.perf_counter() - self.started
        return result

    def next_level(self, frontier: list[State]) -> list[State]:
        """Let everything happen in every state of a level, and return the states that are new."""
        found = []
        for done, state in enumerate(frontier):
            if self.model.world.within is not None and not self.model.inside(state).result:
                self.result.edge += 1
                continue
            moved = False
            for move, after in self.successors(state):
                moved = True
                if after not in self.parents:
                    self.parents[after] = state, move
                    found.append(after)
            if (
                not moved
                and self.model.finals
                and not any(self.model.look(final, state).result for final in self.model.finals)
            ):
                self.breach(
                    DEADLOCK, "", ("nothing can happen here, and it is no final state",), self.trace(state)
                )
            if self.tell and done % 1000 == 0:
                self.tell(self.standing(len(frontier), done))
        return found

    def successors(self, state: State) -> Iterator[tuple[Move, State]]:
        """Everything that can happen in a state, and where it leads; steps are checked on the way."""
        for instance in self.model.instances:
            for way in self.model.run(instance, state).result:
                move, after = Move(instance.label, way.decisions), self.model.after(state, way)
                self.result.transitions += 1
                self.result.fired[instance.of.name] += 1
                if way.failure:
                    self.breach(FAILURE, "", (way.failure,), self.trace(state, move))
                for check in self.steps:
                    if sentences := self.model.look(check, state, after).result:
                        self.breach(check.of, check.label, sentences, self.trace(state, move))
                yield move, after

    def look(self, state: State) -> None:
        """Check a state: invariants must hold in it, and it may be the witness that somebody waits for."""
        for check in self.looks:
            witness = check.of.sort is Sort.SOMETIMES
            if witness and self.result.witnesses[check.of.name] is not None:
                continue
            found = self.model.look(check, state).result
            if witness and found:
                self.result.witnesses[check.of.name] = self.trace(state)
            elif not witness and found:
                self.breach(check.of, check.label, found, self.trace(state))

    def breach(self, check: Property | str, label: str, sentences: tuple[str, ...], trace: Trace) -> None:
        """Note a breach, the first of each property."""
        made = breach_of(check, label, sentences, trace)
        if made.property not in [known.property for known in self.result.breaches]:
            self.result.breaches.append(made)

    def trace(self, state: State, *more: Move) -> Trace:
        """The way by which a state was first reached."""
        moves = list(reversed(more))
        while (came := self.parents[state]) is not None:
            state, move = came
            moves.append(move)
        return Trace(tuple(reversed(moves)), self.model.initial.index(state))

    def exhausted(self) -> bool:
        """Whether a limit says that this is enough."""
        return stop_here(self.limits, self.result, time.perf_counter() - self.started)

    def standing(self, frontier: int, done: int) -> Standing:
        result = self.result
        return Standing(len(self.parents), result.transitions, result.depth, frontier, done)
