"""
Letting a trace happen again: does it still break what it broke?

The property is looked at along the whole trace, by its own definition, without any engine.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from models.engine.result import DEADLOCK, FAILURE, Trace, replay
from spec.machine import Action, Fairness, Sort
from spec.world import Instance, Model, State


def breach_along(model: Model, name: str, trace: Trace) -> tuple[str, ...]:
    """The sentences of the first breach of a property along a trace; none if it holds there."""
    states = replay(model, trace)
    if name == DEADLOCK:
        return _stuck(model, states[-1])
    if name == FAILURE:
        return next(_failures(model, trace, states), ())
    found = [check for check in model.checks if check.of.name == name]
    if not found:
        raise LookupError(f"world {model.world.name} has no property {name}")
    for check in found:
        said: Iterator[tuple[str, ...]]
        if check.of.sort is Sort.ALWAYS:
            said = (model.look(check, state).result for state in states)
        elif check.of.sort is Sort.STEP:
            said = (model.look(check, a, b).result for a, b in pairwise(states))
        elif check.of.sort is Sort.LEADS_TO:
            views = [model.look(check, state).result for state in states]
            said = iter([_promise(model, trace, states, views)])
        else:
            raise LookupError(f"{name} is to be reached, it cannot be broken")
        if broken := next(filter(None, said), ()):
            return broken
    return ()


def reached_by(model: Model, name: str, trace: Trace) -> bool:
    """Whether a trace ends in a state of the sort that somebody waits for."""
    last = replay(model, trace)[-1]
    return any(model.look(check, last).result for check in model.checks if check.of.name == name)


def _stuck(model: Model, state: State) -> tuple[str, ...]:
    if any(model.run(instance, state).result for instance in model.instances):
        return ()
    if not model.finals or any(model.look(final, state).result for final in model.finals):
        return ()
    return ("nothing can happen here, and it is no final state",)


def _failures(model: Model, trace: Trace, states: Sequence[State]) -> Iterator[tuple[str, ...]]:
    instances = {instance.label: instance for instance in model.instances}
    for move, state in zip(trace.moves, states, strict=False):
        for way in model.run(instances[move.label], state).result:
            if way.decisions == move.decisions and way.failure:
                yield (way.failure,)


def _promise(
    model: Model, trace: Trace, states: Sequence[State], views: Sequence[tuple[bool, bool]]
) -> tuple[str, ...]:
    """What is promised is never kept: from some trigger on the goal is missing, on a loop that is fair."""
    loop = trace.loop
    if loop is None or states[-1] != states[loop] or not _fair(model, trace, states, loop):
        return ()
    if any(goal for _, goal in views[loop:]):
        return ()
    later = [number for number, (trigger, _) in enumerate(views) if trigger]
    waiting = [number for number in later if not any(goal for _, goal in views[number:])]
    return (f"what it waits for since step {waiting[0]} never comes",) if waiting else ()


def _fair(model: Model, trace: Trace, states: Sequence[State], loop: int) -> bool:
    """Whether a loop keeps what is promised of fair actions; a step that changes nothing is no step."""
    steps = zip(trace.moves, states, states[1:], strict=False)
    taken = {move.label for move, before, after in list(steps)[loop:] if before != after}
    return all(
        instance.label in taken or not _owed(model, instance, states[loop:])
        for instance in model.instances
        if instance.of.fair is not None
    )


def _owed(model: Model, instance: Instance[Action], states: Sequence[State]) -> bool:
    possible = [
        any(model.after(state, way) != state for way in model.run(instance, state).result) for state in states
    ]
    return all(possible) if instance.of.fair is Fairness.WEAK else any(possible)
