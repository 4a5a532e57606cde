"""
A trace told step by step: who did what, and what changed.

A state has dozens of variables and a step changes one or two, so nothing else is told. A long value is told
by its fields, again only those that changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from models.engine.result import DEADLOCK, FAILURE, Trace
from models.traces.store import Kept
from spec.immutable import shown
from spec.machine import Action, Sort
from spec.world import Instance, Model, State

ROOT = Path(__file__).resolve().parents[2]

LONG = 44
"""A value longer than this is told by its fields."""

NOBODY = "system"
"""Who acts where an action names nobody."""


@dataclass(frozen=True, slots=True)
class Change:
    """A variable, or a part of one, before and after a step."""

    variable: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace."""

    number: int
    actor: str
    action: str
    """With its arguments, but for the actor."""
    says: str
    fault: bool
    changes: tuple[Change, ...]
    towards: tuple[str, ...]
    """Others whose own variables changed."""
    place: tuple[str, int]
    """File and line where the action is written."""


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that there is to tell about a trace."""

    kept: Kept
    says: str
    """What the property demands."""
    start: tuple[Change, ...]
    """How the initial state differs from what the machines declare."""
    steps: tuple[Step, ...]
    place: tuple[str, int]
    """File and line where the property is written, or what broke it."""

    @property
    def actors(self) -> tuple[str, ...]:
        """Everybody who acts, in the order of appearance."""
        return tuple(dict.fromkeys(step.actor for step in self.steps))

    @property
    def marked(self) -> int | None:
        """The number of the step that is marked, 0 for the start; a promise is broken by no one step."""
        return len(self.steps) if self.kept.trace.loop is None else None

    @property
    def mark(self) -> str:
        """What is written at the step that matters."""
        return "← reached" if self.kept.sort == Sort.SOMETIMES.value else "← broken here"

    @property
    def repeats(self) -> str:
        """What is written where the behaviour begins to repeat itself."""
        if self.kept.trace.loop == len(self.steps):
            return "↺ from here on nothing need ever happen"
        return "↺ from here the behaviour repeats"


def tell(model: Model, kept: Kept, states: Sequence[State]) -> Story:
    """The story of a trace and its states."""
    steps = tuple(_steps(model, kept.trace, states))
    names = [slot.name for slot in model.slots]
    start = tuple(_changes(names, model.declared, states[0]))
    of = next((p for p in model.properties if p.name == kept.property), None)
    if of is not None:
        return Story(kept, of.says, start, steps, place_of(of.body))
    undeclared = {DEADLOCK: "What is not final goes on.", FAILURE: "No action raises an exception."}
    body = model.instances[0].of.body if model.instances else model.view_class
    return Story(
        kept, undeclared.get(kept.property, ""), start, steps, steps[-1].place if steps else place_of(body)
    )


def diff(model: Model, states: Sequence[State]) -> list[tuple[Change, ...]]:
    """For each step, the variables that it changed."""
    names = [slot.name for slot in model.slots]
    return [tuple(_changes(names, before, after)) for before, after in pairwise(states)]


def _changes(names: Sequence[str], before: State, after: State) -> Iterator[Change]:
    for name, old, new in zip(names, before, after, strict=True):
        if old != new:
            yield from _narrowed(name, old, new)


def _narrowed(name: str, old: Any, new: Any) -> Iterator[Change]:
    """A change told by the fields that changed, where telling it whole would be long and it has no words."""
    told = shown(old), shown(new)
    has_words = "__str__" in vars(type(old))
    if max(map(len, told)) <= LONG or type(old) is not type(new) or not is_dataclass(old) or has_words:
        yield Change(name, *told)
        return
    for field in fields(old):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if before != after:
            yield from _narrowed(f"{name}.{field.name}", before, after)


def _steps(model: Model, trace: Trace, states: Sequence[State]) -> Iterator[Step]:
    instances = {instance.label: instance for instance in model.instances}
    acting = {instances[move.label].actor for move in trace.moves}
    for number, (move, changes) in enumerate(zip(trace.moves, diff(model, states), strict=True), 1):
        instance = instances[move.label]
        yield Step(
            number,
            instance.actor or NOBODY,
            _action(instance),
            instance.of.says,
            instance.of.fault,
            changes,
            tuple(_touched(model, states[number - 1], states[number], acting - {instance.actor})),
            place_of(instance.of.body),
        )


def _action(instance: Instance[Action]) -> str:
    """An action with its arguments as a person says them: names alone, numbers with what they number."""
    arguments = list(zip(instance.of.over, instance.arguments, strict=True))
    if instance.actor:
        del arguments[0]
    said = (value if isinstance(value, str) else f"{name} {shown(value)}" for name, value in arguments)
    return f"{instance.of.name}({', '.join(said)})"


def _touched(model: Model, before: State, after: State, others: set[str]) -> Iterator[str]:
    """Those of the others who own a variable that changed: a member of a family that bears their name."""
    found = {
        f"{domain.name} {member}"
        for slot, old, new in zip(model.slots, before, after, strict=True)
        if old != new
        for domain, member in zip(slot.over, slot.key, strict=True)
    }
    return iter(sorted(found & others))


def place_of(body: Any) -> tuple[str, int]:
    """File and line where a function is written."""
    code = getattr(body, "__code__", None)
    return (seen_from_root(code.co_filename), code.co_firstlineno) if code else ("", 0)


def seen_from_root(file: str) -> str:
    """A file by its path in the repository, if it lies there."""
    return str(Path(file).relative_to(ROOT)) if Path(file).is_relative_to(ROOT) else file
