"""
Walks that Hypothesis draws: a state machine for its stateful tests, derived from a world as it stands.

There are no rules to write: each step is an action of the world that can happen, with whatever it may choose,
and after it every `always` and `step` property is looked at. What a function made of a state is remembered
together with the places that it read, and asked again only when one of them has changed; so bounds can be far
beyond those within which all states can be seen.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Set
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from hypothesis.strategies import integers

from models.engine.result import DEADLOCK, FAILURE, Breach, Move, Trace, breach_of
from models.engine.shorten import shortened
from spec.machine import Action, Property, Sort
from spec.world import Alternative, Evaluation, Instance, Model, State, World

WAYS = 1 << 16
"""From how many numbers arguments and alternatives are drawn; as many as there are count."""

RARE = WAYS >> 1
"""The bit of an argument's number that asks for what has happened least on this walk."""

FAULTS = 3
"""In one step of so many something may break; else budgets are spent before anything is at stake."""

SHORTEN_SECONDS = 3.0


class Broken(AssertionError):
    """A property does not hold on a walk; the message ends with the sentence that says why."""


class Walk:
    """A walk through a world: where it has come to, and how."""

    def __init__(self, model: Model, start: int, happened: Counter[str]) -> None:
        self.model, self.start, self.happened = model, start, happened
        self.state: State = model.initial[start]
        self.moves: list[Move] = []
        self._ways = Remembered(lambda instance: model.run(instance, self.state))
        self._said = Remembered(lambda check: model.look(check, self.state))
        self._by_action = [
            [instance for instance in model.instances if instance.of is action] for action in model.actions
        ]
        self._always = [check for check in model.checks if check.of.sort is Sort.ALWAYS]
        self._steps = [check for check in model.checks if check.of.sort is Sort.STEP]
        self._read_by_step: dict[Instance[Property], Set[int]] = {}
        self._changed_before: Set[int] = frozenset()
        self._own = Counter[Action]()
        self._look()

    def step(self, which: int, arguments: int, way: int) -> None:
        """Let an action happen that can: the first from this number on, or, every other time, a rare one."""
        found = self._inside() and next(self._possible(which, arguments), None)
        if not found:
            self._see_that_it_may_end()
            return
        instance, ways = found
        chosen = ways[way % len(ways)]
        self.moves.append(Move(instance.label, chosen.decisions))
        if chosen.failure:
            self._break(breach_of(FAILURE, "", (chosen.failure,), self.trace))
        self.happened[instance.of.name] += 1
        self._own[instance.of] += 1

        before, self.state = self.state, self.model.after(self.state, chosen)
        changed = {place for place, value in chosen.writes if before[place] != value}
        self._ways.forget(changed)
        self._said.forget(changed)
        self._look()
        self._look_back(before, changed)

    @property
    def trace(self) -> Trace:
        return Trace(tuple(self.moves), self.start)

    def _possible(
        self, which: int, arguments: int
    ) -> Iterator[tuple[Instance[Action], tuple[Alternative, ...]]]:
        """Who can do what, in turn; what changes nothing is left for when nothing else can happen."""
        actions = list(_from(which, self._by_action))
        if arguments & RARE:
            actions.sort(key=lambda own: self._own[own[0].of] if own else 0)
        if which % FAULTS:
            actions.sort(key=lambda own: bool(own) and own[0].of.fault)
        for changing in (True, False):
            for own in actions:
                for instance in _from(arguments, own):
                    ways = self._ways[instance].result
                    if chosen := tuple(way for way in ways if self._changes(way) is changing):
                        yield instance, chosen

    def _changes(self, way: Alternative) -> bool:
        return bool(way.failure) or any(self.state[place] != value for place, value in way.writes)

    def _inside(self) -> bool:
        return self.model.world.within is None or bool(self.model.inside(self.state).result)

    def _see_that_it_may_end(self) -> None:
        finals = self.model.finals
        if self._inside() and finals and not any(self.model.look(one, self.state).result for one in finals):
            said = ("nothing can happen here, and it is no final state",)
            self._break(breach_of(DEADLOCK, "", said, self.trace))

    def _look(self) -> None:
        """Every invariant, in the state that was reached."""
        for check in self._always:
            if said := self._said[check].result:
                self._break(breach_of(check.of, check.label, said, self.trace))

    def _look_back(self, before: State, changed: Set[int]) -> None:
        """Every statement about steps, unless this step and the last left alone all that it reads."""
        lately = changed | self._changed_before
        for check in self._steps:
            read = self._read_by_step.get(check)
            if read is not None and lately.isdisjoint(read):
                continue
            found = self.model.look(check, before, self.state)
            self._read_by_step[check] = {place % len(self.state) for place in found.reads}
            if found.result:
                self._break(breach_of(check.of, check.label, found.result, self.trace))
        self._changed_before = changed

    def _break(self, breach: Breach) -> None:
        """Say what is broken, after which steps, as few as will do."""
        short = shortened(self.model, breach, SHORTEN_SECONDS)
        labels = [f"{number:>5}  {move.label}" for number, move in enumerate(short.trace.moves, 1)]
        count = f"{len(self.moves)} steps, of which {len(labels)} suffice:"
        sentence = (short.sentences or breach.sentences)[0]
        told = [f"{breach.property} is broken in {self.model.world.name} after {count}", *labels, sentence]
        raise Broken("\n".join(told))


class Remembered(dict[Any, Evaluation]):
    """What functions made of the present state, as long as nothing has changed of what they read."""

    def __init__(self, evaluate: Callable[[Any], Evaluation]) -> None:
        self._evaluate = evaluate

    def __missing__(self, instance: Any) -> Evaluation:
        found = self[instance] = self._evaluate(instance)
        return found

    def forget(self, changed: Set[int]) -> None:
        for instance in [one for one, found in self.items() if not changed.isdisjoint(found.reads)]:
            del self[instance]


def _from(begin: int, some: list[Any]) -> Iterator[Any]:
    """All of them, from one on and round."""
    begin %= max(1, len(some))
    return iter(some[begin:] + some[:begin])


def machine_of(world: World, happened: Counter[str] | None = None) -> type[RuleBasedStateMachine]:
    """A state machine of Hypothesis that walks through a world, and counts what happens."""
    model = Model(world)
    counted = Counter[str]() if happened is None else happened
    numbers = integers(0, WAYS - 1)

    class Walking(RuleBasedStateMachine):
        """Whatever can happen in a world."""

        def __init__(self) -> None:
            super().__init__()
            self.walk: Walk | None = None

        @rule(which=integers(0, max(1, len(model.actions)) - 1), arguments=numbers, way=numbers)
        def step(self, which: int, arguments: int, way: int) -> None:
            if self.walk is None:
                self.walk = Walk(model, way % len(model.initial), counted)
            self.walk.step(which, arguments, way)

    Walking.__name__ = Walking.__qualname__ = f"walks in {world.name}"
    return Walking


def walk(world: World, examples: int, steps: int) -> Counter[str]:
    """Walk so often and so far, the same way in every run; returns how often each action happened."""
    happened = Counter[str]({action.name: 0 for action in Model(world).actions})
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    try:
        run_state_machine_as_test(machine_of(world, happened), settings=how)
    except Broken as broken:
        raise Broken(*broken.args) from None
    return happened


def never_happened(world: World, happened: Counter[str]) -> list[str]:
    """The actions for which the world has room, and that no walk has taken."""
    return [name for name, count in happened.items() if not count and name not in world.idle]
