"""
Questions that no rule can answer: two behaviours that leave the same behind, and after which opposite things
are owed.

Whoever decides something when nobody remembers anything has only what is stored. If two reachable states have
the same stored, and different things are owed in them, then whatever is decided from that is wrong in one of
them: a constant, a rule that looks at everything that there is, and a rule that is still to be thought of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from models.engine.reference import Search
from models.engine.result import Limits, Trace
from spec.machine import Memory, Property, Sort
from spec.world import Instance, Model, State, World

Demand = Callable[[Any], Iterator[str]]
"""The one right answer to a question in a state; nothing where any answer is right."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two behaviours after which the same is stored, and what is owed after each."""

    stored: Mapping[str, Any]
    """The values of all variables that somebody who starts now could read; they are the same after both."""
    traces: tuple[Trace, Trace]
    owed: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """A pair, or that there is none; and among how many states."""

    pair: Pair | None
    states: int
    asked: int
    """In how many of them nobody remembers anything and something is owed."""


def look_for_two(world: World, ghosts: Iterable[str], demand: Demand) -> Answer:
    """
    Visit all states of a world, and look for two with the same stored that want different answers.

    `ghosts` are the variables that are not stored anywhere: what clients know, and budgets. What is in memory
    is no ghost, but only states count in which all of it is lost. Of all pairs it is one whose longer trace
    is as short as can be. Nothing else is checked on the way, so a wrong rule does not end the search.
    """
    search = Search(Model(replace(world, properties=())), Limits(), None)
    search.run()
    model = search.model
    stored, memory = _stored(model, frozenset(ghosts)), _memory(model)
    question = Instance(Property("demand", (), "", Sort.ALWAYS, demand, {}), (), "demand()", "")

    known: dict[State, tuple[str, State]] = {}
    pair, asked = None, 0
    for state in search.parents:
        if any(state[place] != model.declared[place] for place in memory):
            continue
        left = tuple(state[place] for place in stored)
        for owed in model.look(question, state).result:
            asked += 1
            before, first = known.setdefault(left, (owed, state))
            if pair is None and owed != before:
                names = [model.slots[place].name for place in stored]
                traces = search.trace(first), search.trace(state)
                pair = Pair(dict(zip(names, left, strict=True)), traces, (before, owed))
    return Answer(pair, search.result.states, asked)


def _memory(model: Model) -> list[int]:
    """The places of what somebody has in memory."""
    view = model.view_class
    return [p for p, slot in enumerate(model.slots) if isinstance(getattr(view, slot.family), Memory)]


def _stored(model: Model, ghosts: frozenset[str]) -> list[int]:
    """The places of what somebody who starts now could read."""
    forgotten = set(_memory(model))
    return [p for p, slot in enumerate(model.slots) if p not in forgotten and slot.family not in ghosts]
