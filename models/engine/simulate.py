"""
Random walks: not all states, but deep ones, where there are too many to see them all.

The walks run on the same learned trees as the exhaustive search, so that a step costs a fraction of a
microsecond. A walk is determined by the world, the seed, its number and the bias.
"""

import time

import numpy as np

from models.engine import strolling
from models.engine.learn import Knowledge
from models.engine.program import Array
from models.engine.result import (
    DEADLOCK,
    FAILURE,
    Breach,
    Move,
    Result,
    Trace,
    blank,
    breach_of,
)
from models.engine.shorten import shortened
from models.engine.strolling import ENOUGH, FOUND, OUTSIDE, STUCK, UNKNOWN
from spec.machine import Sort
from spec.world import Model, World

BIASES = {"uniform": strolling.UNIFORM, "fewest": strolling.FEWEST, "pct": strolling.PRIORITY}


def simulate(
    world: World, walks: int = 1000, steps: int = 1000, seed: int = 0, bias: str = "uniform"
) -> Result:
    """Walk so many times, so many steps each, and stop at the first walk on which a property breaks."""
    started = time.perf_counter()
    walker = Walker(Model(world), steps, BIASES[bias])
    result = blank(walker.model, "simulate")
    for number in range(walks):
        found = walker.walk(seed, number, result)
        if found:
            result.breaches = [shortened(walker.model, breach) for breach in found]
            break
    result.transitions = int(walker.fired.sum())
    for instance, count in zip(walker.model.instances, walker.fired.tolist(), strict=True):
        result.fired[instance.of.name] += count
    result.cut = f"random walks see only a part: {number + 1:,} of up to {steps:,} steps"
    result.seconds = time.perf_counter() - started
    result.details = walker.knowledge.details() | {
        "rate": result.transitions / max(result.seconds, 1e-9),
        "walks": number + 1,
    }
    return result


class Walker:
    """What walks share: the learned trees, and how often each action has happened."""

    def __init__(self, model: Model, steps: int, bias: int) -> None:
        self.model, self.bias = model, bias
        self.knowledge = Knowledge(model)
        self.fired: Array = np.zeros(len(model.instances), np.int64)
        self.values: Array = np.zeros(2 * len(model.slots), np.int64)
        self.moves: Array = np.zeros(steps, np.int64)
        self.leaves: Array = np.zeros(len(model.instances) + 1, np.int64)
        self.true: Array = np.zeros(len(self.knowledge.looks) + len(self.knowledge.steps) + 1, np.int64)

    def walk(self, seed: int, number: int, result: Result) -> list[Breach]:
        """One walk; witnesses go into the result, breaches are returned."""
        k, size = self.knowledge, len(self.model.slots)
        generator = np.random.default_rng((seed, number))
        random = generator.integers(1, 2**63, 1, dtype=np.uint64)
        rank = generator.permutation(len(self.model.instances)).astype(np.int64)
        start = int(generator.integers(len(self.model.initial)))
        ids = [k.values.intern(place, value) for place, value in enumerate(self.model.initial[start])]
        self.values[:size] = ids
        todo: Array = np.array([k.everything()], np.uint64)
        at = 0
        while True:
            why, at = strolling.stroll(
                k.program(),
                self.values,
                todo,
                at,
                self.moves,
                self.bias,
                self.fired,
                rank,
                random,
                self.leaves,
                self.true,
            )
            if why == UNKNOWN:
                row = self.values[None, :size].copy()
                k.learn(k.program(), row, np.array([k.everything()], np.uint64))
            elif why == FOUND and not (found := self.found(self.trace(start, at), result)):
                continue
            elif why == FOUND:
                return found
            elif why == STUCK and self.model.finals:
                return [breach_of(DEADLOCK, "", (), self.trace(start, at))]
            elif why in (ENOUGH, STUCK, OUTSIDE):
                return []

    def trace(self, start: int, steps: int) -> Trace:
        """The walk so far, as a trace."""
        state, moves = self.model.initial[start], []
        for number in self.moves[:steps].tolist():
            instance, way = self.knowledge.move(number)
            alternative = self.model.run(self.model.instances[instance], state).result[way]
            moves.append(Move(self.model.instances[instance].label, alternative.decisions))
            state = self.model.after(state, alternative)
        return Trace(tuple(moves), start)

    def found(self, trace: Trace, result: Result) -> list[Breach]:
        """What the predicates that are true mean: witnesses that were awaited, or breaches."""
        k, breaches = self.knowledge, []
        for number in self.true[: self.true[-1]].tolist():
            check = (*k.looks, *k.steps)[number]
            if check.of.sort is Sort.SOMETIMES:
                result.witnesses[check.of.name] = result.witnesses[check.of.name] or trace
                k.retire(check.of.name)
            else:
                breaches.append(breach_of(check.of, check.label, (), trace))
        if not self.true[-1]:
            breaches.append(breach_of(FAILURE, "", (), trace))
        return breaches
