"""
Whether two engines say the same of a world, and whether what they say is true.

Each function returns sentences: what differs, or what is wrong. Nothing means agreement.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from models.engine import fast, liveness, reference
from models.engine.result import DEADLOCK, FAILURE, Breach, Limits, Result, replay
from spec.immutable import renamed
from spec.machine import Property, Sort
from spec.world import Instance, Model, State, World


def compared(expected: Result, found: Result) -> Iterator[str]:
    """Everything that two full explorations have in common: sizes, counts, breaches and their distances."""
    wanted = figures_of(expected)
    for what, value in figures_of(found).items():
        if value != wanted[what]:
            yield f"{what} {value}, {expected.engine} says {wanted[what]}"


def figures_of(result: Result) -> dict[str, Any]:
    return {
        "states": result.states,
        "transitions": result.transitions,
        "levels": result.levels,
        "fired": result.fired,
        "edge": result.edge,
        "verdict": result.verdict,
        "breaches": sorted((breach.property, len(breach.trace.moves)) for breach in result.breaches),
        "witnesses": {name: trace and len(trace.moves) for name, trace in result.witnesses.items()},
    }


def checked(model: Model, result: Result) -> Iterator[str]:
    """Every breach and every witness is one: its trace can be replayed, and ends where it says."""
    for breach in result.breaches:
        if breach.trace.loop is None:
            yield from _checked_breach(model, breach)
    for name, trace in result.witnesses.items():
        if trace is not None:
            last = replay(model, trace)[-1]
            if not any(model.look(check, last).result for check in _named(model, name)):
                yield f"the witness of {name} is none"


def _checked_breach(model: Model, breach: Breach) -> Iterator[str]:
    states = replay(model, breach.trace)
    last = states[-1]
    if breach.property == DEADLOCK:
        moves = [i.label for i in model.instances if model.run(i, last).result]
        final = any(model.look(one, last).result for one in model.finals)
        if moves or final:
            yield f"it is no deadlock: {moves or 'it may end here'}"
    elif breach.property == FAILURE:
        final_move = breach.trace.moves[-1]
        instance = next(i for i in model.instances if i.label == final_move.label)
        ways = model.run(instance, states[-2]).result
        failures = [way.failure for way in ways if way.decisions == final_move.decisions]
        if failures != list(breach.sentences):
            yield f"{final_move.label} does not fail as it is told: {failures}"
    else:
        checks = list(_named(model, breach.property))
        if checks[0].of.sort is Sort.STEP:
            said = [model.look(check, states[-2], last).result for check in checks]
        else:
            said = [model.look(check, last).result for check in checks]
        if breach.sentences not in said:
            yield f"{breach.property} says {said}, not {breach.sentences}"


def _named(model: Model, name: str) -> Iterator[Instance[Property]]:
    return (check for check in model.checks if check.of.name == name)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of all reachable states of a world, however far away."""

    violated: frozenset[str]
    reached: frozenset[str]
    fired: frozenset[str]
    failed: frozenset[int]
    """The instances that fail somewhere, by their numbers in the model."""
    states: int

    def without_failures_of(self, left_out: Iterable[int]) -> "Truth":
        """What is left of it for a slice: nobody asks whether that fails which it leaves out."""
        failed = self.failed.difference(left_out)
        return self if failed or not self.failed else replace(self, violated=self.violated - {FAILURE})


def truth_of(model: Model, graph: liveness.Graph) -> Truth:
    """Look at everything that was reached; nothing ends the search."""
    violated: set[str] = set()
    reached: set[str] = set()
    fired: set[str] = set()
    failed: set[int] = set()
    steps = [check for check in model.checks if check.of.sort is Sort.STEP]
    looks = [check for check in model.checks if check.of.sort in (Sort.ALWAYS, Sort.SOMETIMES)]
    for number in range(graph.states):
        state = graph.state(number)
        for check in looks:
            if model.look(check, state).result:
                (violated if check.of.sort is Sort.ALWAYS else reached).add(check.of.name)
        if graph.outside[number]:
            continue
        moved = False
        for who, instance in enumerate(model.instances):
            for way in model.run(instance, state).result:
                moved = True
                fired.add(instance.of.name)
                failed |= {who} if way.failure else set()
                after = model.after(state, way)
                violated |= {check.of.name for check in steps if model.look(check, state, after).result}
        if not moved and model.finals and not any(model.look(one, state).result for one in model.finals):
            violated.add(DEADLOCK)
    violated |= {FAILURE} if failed else set()
    return Truth(frozenset(violated), frozenset(reached), frozenset(fired), frozenset(failed), graph.states)


def reduced_agrees(truth: Truth, result: Result) -> Iterator[str]:
    """What a reduced exploration must have in common with the truth: verdicts, not counts or distances."""
    found = {breach.property for breach in result.breaches}
    yield from (f"{name} is not violated" for name in sorted(found - truth.violated))
    if truth.violated and not found:
        yield f"{', '.join(sorted(truth.violated))} is violated, and nobody noticed"
    if result.states > truth.states:
        yield f"{result.states} states, there are only {truth.states}"
    if found:
        return
    witnesses = {name for name, trace in result.witnesses.items() if trace is not None}
    if witnesses != truth.reached & set(result.witnesses):
        yield f"witnesses {sorted(witnesses)}, but {sorted(truth.reached)} can be reached"
    fired = {name for name, count in result.fired.items() if count}
    if fired != truth.fired & set(result.fired):
        yield f"{sorted(fired)} happened, but {sorted(truth.fired)} can happen"


def orbits(model: Model, states: Iterable[State]) -> int:
    """How many states there are if those are one that differ only in the names of interchangeable members."""
    groups = [list(model.members(domain)) for domain in model.world.interchangeable]
    names = list(itertools.chain(*groups))
    renamings = [
        dict(zip(names, itertools.chain(*arranged), strict=True))
        for arranged in itertools.product(*map(itertools.permutations, groups))
    ]
    where = {(slot.family, slot.key): place for place, slot in enumerate(model.slots)}

    def moved(state: State, by: dict[str, str]) -> State:
        made: list[Any] = [None] * len(state)
        for slot, value in zip(model.slots, state, strict=True):
            made[where[slot.family, renamed(slot.key, by)]] = renamed(value, by)
        return tuple(made)

    found, seen = 0, set[State]()
    for state in states:
        if state not in seen:
            found += 1
            seen.update(moved(state, by) for by in renamings)
    return found


def reference_search(world: World, limits: Limits) -> reference.Search:
    """A finished search of the reference engine, which still knows all states."""
    search = reference.Search(Model(world), limits, None)
    search.run()
    return search


def with_promises(world: World, limits: Limits = Limits()) -> Result:  # noqa: B008
    """What the reference engine says, with the promises checked on the plain graph."""
    model = Model(world)
    result = reference.explore(world, limits)
    promised = any(check.of.sort is Sort.LEADS_TO for check in model.checks)
    if promised and not result.breaches:
        answer = liveness.check(model, liveness.graph_of(model, limits.states), cut=result.cut)
        result.breaches += answer.breaches
        result.cut = result.cut or answer.undecided
    return result


def explored(world: World, limits: Limits = Limits(), **options: Any) -> Result:  # noqa: B008
    """What the fast engine says."""
    return fast.explore(world, limits, None, fast.Options(**options))
