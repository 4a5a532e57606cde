"""What an exploration found: its size, its breaches, its witnesses, and the verdict that follows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from models.verdict import Verdict
from spec.machine import Property, Sort
from spec.world import Holds, Model, State, World

DEADLOCK = "no_deadlock"
FAILURE = "no_action_fails"
"""Two properties that need no declaration: what is not final goes on, and no action raises an exception."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a trace: the label of an instance, and what it decided where it had a choice."""

    label: str
    decisions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """A behaviour of a world from an initial state on; states follow from the moves by replaying them."""

    moves: tuple[Move, ...]
    start: int = 0
    """Which initial state, in the model's order."""
    loop: int | None = None
    """For a behaviour without end: the number of moves after which the rest repeats for ever."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A property that does not hold, in sentences, and a behaviour that shows it."""

    property: str
    ids: tuple[str, ...]
    sentences: tuple[str, ...]
    trace: Trace
    label: str = ""
    """The property with the arguments for which it does not hold; nothing if it has none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an exploration stops although there is more to see; the verdict is then `unknown`."""

    states: int | None = None
    depth: int | None = None
    seconds: float | None = None
    memory: int | None = None
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an exploration stands, for those who wait."""

    states: int
    transitions: int
    depth: int
    frontier: int
    done: int
    """How much of the frontier is done."""


Tell = Callable[[Standing], None]


@dataclass(kw_only=True)
class Result:
    """Everything that an exploration learned."""

    world: World
    engine: str
    states: int = 0
    transitions: int = 0
    levels: list[int] = field(default_factory=list)
    """How many states were first reached after 0, 1, 2, ... steps."""
    breaches: list[Breach] = field(default_factory=list)
    witnesses: dict[str, Trace | None] = field(default_factory=dict)
    """For each `sometimes` the shortest way there, or None."""
    fired: dict[str, int] = field(default_factory=dict)
    """How often each action happened."""
    edge: int = 0
    """How many states lie outside `within`, so that nothing happened in them."""
    cut: str = ""
    """Why the exploration stopped early, if it did."""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    """What a reader of the verdict should know: reductions that were left out and why, probabilities."""
    details: dict[str, Any] = field(default_factory=dict)
    """Figures of the engine, for `stats`."""

    @property
    def depth(self) -> int:
        return len(self.levels) - 1

    @property
    def missing(self) -> list[str]:
        """What makes a world vacuous: an action that never happened, a witness that was never reached."""
        silent = [f"{name} never happened" for name, n in self.fired.items() if not n]
        unseen = [f"{name} was never reached" for name, trace in self.witnesses.items() if trace is None]
        idle = [f"{name} " for name in self.world.idle]
        return [line for line in silent + unseen if not line.startswith(tuple(idle))]

    @property
    def verdict(self) -> Verdict:
        if self.breaches:
            return Verdict.VIOLATED
        if self.cut:
            return Verdict.UNKNOWN
        return Verdict.VACUOUS if self.missing else Verdict.HOLDS

    def surprises(self) -> list[str]:
        """How this differs from what the world expects; nothing if it is as expected."""
        expect = self.world.expect
        if isinstance(expect, Holds):
            if self.verdict is not Verdict.HOLDS:
                return [f"expected to hold, is {self.verdict.value}"]
            pinned = (("states", expect.states, self.states), ("depth", expect.depth, self.depth))
            return [
                f"{what} {found:,}, pinned are {want:,}"
                for what, want, found in pinned
                if want is not None and want != found
            ]
        found = {breach.property: breach for breach in self.breaches}
        if expect.property not in found:
            return [
                f"expected a violation of {expect.property}, found {', '.join(found) or self.verdict.value}"
            ]
        steps = len(found[expect.property].trace.moves)
        if expect.steps not in (None, steps):
            return [f"the shortest trace to {expect.property} has {steps} steps, pinned are {expect.steps}"]
        return []


def blank(model: Model, engine: str) -> Result:
    """A result before anything was explored."""
    actions = dict.fromkeys((action.name for action in model.actions), 0)
    unseen = {p.name: None for p in model.properties if p.sort is Sort.SOMETIMES}
    return Result(world=model.world, engine=engine, fired=actions, witnesses=dict(unseen))


def breach_of(check: Property | str, label: str, sentences: tuple[str, ...], trace: Trace) -> Breach:
    """A breach of a declared property, or of one of the two that need no declaration."""
    if isinstance(check, str):
        return Breach(check, (), sentences, trace)
    return Breach(check.name, check.ids, sentences, trace, label if check.over else "")


def stop_here(limits: Limits, result: Result, seconds: float) -> bool:
    """Whether a limit says that this is enough; the result then says which."""
    if limits.depth is not None and result.depth >= limits.depth:
        result.cut = f"depth {limits.depth} reached"
    elif limits.states is not None and result.states >= limits.states:
        result.cut = f"{limits.states:,} states reached"
    elif limits.seconds is not None and seconds > limits.seconds:
        result.cut = f"{limits.seconds:g} seconds are over"
    return bool(result.cut)


class NotReplayable(Exception):
    """A trace does not fit the world: the world, its bounds or its design have changed since."""


def replay(model: Model, trace: Trace) -> list[State]:
    """The states of a trace, the initial one first; what cannot happen is refused with the step's number."""
    instances = {instance.label: instance for instance in model.instances}
    if trace.start >= len(model.initial):
        raise NotReplayable(f"there is no initial state {trace.start}")
    states = [model.initial[trace.start]]
    for number, move in enumerate(trace.moves, 1):
        if move.label not in instances:
            raise NotReplayable(f"step {number}: there is no action {move.label} in this world")
        ways = model.run(instances[move.label], states[-1]).result
        way = next((way for way in ways if way.decisions == move.decisions), None)
        if way is None:
            raise NotReplayable(f"step {number}: {move.label} cannot happen there")
        states.append(model.after(states[-1], way))
    return states
