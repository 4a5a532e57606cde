"""Making a trace shorter: whatever can be left out is left out, as long as the same property still breaks."""

import time
from collections.abc import Sequence
from dataclasses import replace

from models.engine.result import DEADLOCK, FAILURE, Breach, Move, Trace
from spec.machine import Sort
from spec.world import Alternative, Model, State

PATIENCE = 5.0
"""Seconds after which a trace is short enough."""

STUCK = ("nothing can happen here, and it is no final state",)


def shortened(model: Model, breach: Breach, patience: float = PATIENCE) -> Breach:
    """
    The same breach by fewer steps.

    Larger parts are tried before smaller ones, later ones before earlier ones. A step that cannot happen any
    more without those left out is left out too.
    """
    path = Path(model, breach.property, breach.trace.start)
    best = path.follow([model.initial[breach.trace.start]], breach.trace.moves)
    assert best is not None, f"{breach.property} does not break along its trace"
    best = path.follow(best.states[:1], _without_circles(best)) or best
    deadline = time.perf_counter() + patience
    size = max(1, len(best.moves) // 2)
    while size and time.perf_counter() < deadline:
        begin = len(best.moves) - size
        while begin >= 0 and time.perf_counter() < deadline:
            rest = best.moves[begin + size :]
            shorter = path.follow(best.states[: begin + 1], rest, best.moves[:begin])
            if shorter and len(shorter.moves) < len(best.moves):
                best = shorter
            begin = min(begin, len(best.moves) - size + 1) - 1
        size //= 2
    trace = Trace(tuple(best.moves), breach.trace.start)
    return replace(breach, trace=trace, sentences=best.sentences, label=path.label(best))


class Found:
    """A sequence of steps that ends in the breach."""

    def __init__(self, states: list[State], moves: list[Move], sentences: tuple[str, ...]) -> None:
        self.states, self.moves, self.sentences = states, moves, sentences


def _without_circles(found: Found) -> list[Move]:
    """The steps that are left when no state is visited twice."""
    kept: list[Move] = []
    seen = {found.states[0]: 0}
    for move, state in zip(found.moves, found.states[1:], strict=True):
        kept.append(move)
        if state in seen:
            del kept[seen[state] :]
            seen = {known: at for known, at in seen.items() if at <= len(kept)}
        else:
            seen[state] = len(kept)
    return kept


class Path:
    """Follows steps and says when the property breaks; what was run once is remembered."""

    def __init__(self, model: Model, name: str, start: int) -> None:
        self.model, self.name = model, name
        self.instances = {instance.label: instance for instance in model.instances}
        checks = [check for check in model.checks if check.of.name == name]
        self.looks = [check for check in checks if check.of.sort is Sort.ALWAYS]
        self.steps = [check for check in checks if check.of.sort is Sort.STEP]
        self.known: dict[tuple[str, State], tuple[Alternative, ...]] = {}

    def follow(
        self, states: Sequence[State], moves: Sequence[Move], done: Sequence[Move] = ()
    ) -> Found | None:
        """Let steps happen, without those that cannot, until the property breaks; None if it does not."""
        states, taken = list(states), list(done)
        if sentences := self.broken(states[-1]):
            return Found(states, taken, sentences)
        for move in moves:
            way = next((w for w in self.ways(move.label, states[-1]) if w.decisions == move.decisions), None)
            if way is None:
                continue
            before, after = states[-1], self.model.after(states[-1], way)
            taken.append(move)
            states.append(after)
            sentences = self.broken(after) or self.broken_by(before, way, after)
            if sentences:
                return Found(states, taken, sentences)
        if self.name == DEADLOCK and self.stuck(states[-1]):
            return Found(states, taken, STUCK)
        return None

    def ways(self, label: str, state: State) -> tuple[Alternative, ...]:
        key = label, state
        if key not in self.known:
            self.known[key] = self.model.run(self.instances[label], state).result
        return self.known[key]

    def broken(self, state: State) -> tuple[str, ...]:
        found = (self.model.look(check, state).result for check in self.looks)
        return next(filter(None, found), ())

    def broken_by(self, before: State, way: Alternative, after: State) -> tuple[str, ...]:
        if self.name == FAILURE and way.failure:
            return (way.failure,)
        found = (self.model.look(check, before, after).result for check in self.steps)
        return next(filter(None, found), ())

    def label(self, found: Found) -> str:
        """The property with the arguments for which it breaks there, which may be others than before."""
        broken = [check for check in self.looks if self.model.look(check, found.states[-1]).result]
        if len(found.states) > 1:
            before, after = found.states[-2:]
            broken += [check for check in self.steps if self.model.look(check, before, after).result]
        return broken[0].label if broken and broken[0].of.over else ""

    def stuck(self, state: State) -> bool:
        if any(self.ways(label, state) for label in self.instances):
            return False
        return not any(self.model.look(final, state).result for final in self.model.finals)
