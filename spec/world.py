"""
Worlds: machines put together within bounds, with a question and the answer that is expected.

`Model` spells a world out: a place for each variable, an instance for each action and arguments, and what it
means to run one on a state. All engines, the trace validator and the tests run actions through it.
"""

import inspect
import itertools
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from spec.design import AS_WRITTEN, HARDENED, Design
from spec.immutable import Misuse, alike, shown
from spec.machine import (
    Action,
    Bound,
    Disabled,
    Domain,
    Family,
    Machine,
    Over,
    Property,
    Sort,
    Variable,
    caller,
    foreign,
)

State = tuple[Any, ...]
"""The values of all variables, in the order of `Model.slots`."""


@dataclass(frozen=True, slots=True)
class Holds:
    """Nothing is violated, everything that must be reachable is; with pinned size, if it is given."""

    states: int | None = None
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Violated:
    """This property is violated, by a shortest trace of so many steps."""

    property: str
    steps: int | None = None


@dataclass(frozen=True, kw_only=True)
class World:
    """A bounded configuration of machines, and what is asked about it."""

    name: str
    asks: str
    machines: tuple[type[Machine], ...]
    bounds: Mapping[str, int]
    design: Design = HARDENED
    properties: tuple[Property, ...] | None = None
    """What is checked; if nothing is said, every property of the machines."""
    interchangeable: tuple[Domain, ...] = ()
    """Domains whose members could swap names without anybody noticing; the engine checks that they can."""
    within: Callable[[Any], object] | None = None
    """States for which this is false are looked at, but nothing happens in them."""
    idle: tuple[str, ...] = ()
    """Actions and witnesses for which these bounds leave no room."""
    expect: Holds | Violated = field(default_factory=Holds)
    large: bool = False
    """Too large for every run: only checked when it is named."""
    place: str = field(default="", compare=False)
    """File and line where the world stands; it finds out by itself."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", self.place or caller())

    def at(self, **bounds: int) -> "World":
        """The same question within other bounds; the pinned size no longer applies."""
        unknown = sorted(set(bounds) - set(self.bounds))
        if unknown:
            raise Misuse(f"{self.name} has no bound {unknown[0]}, it has {', '.join(self.bounds)}")
        expect = Holds() if isinstance(self.expect, Holds) else Violated(self.expect.property)
        return replace(self, bounds={**self.bounds, **bounds}, expect=expect)

    def without(self, repair: str, expect: Violated, **changes: Any) -> "World":
        """The same question with one decision taken as the documents have it, and what goes wrong then."""
        design = replace(self.design, **{repair: getattr(AS_WRITTEN, repair)})
        name = f"{self.name}-without-{repair.replace('_', '-')}"
        return self._varied(name, design, expect, changes)

    def as_written(self, expect: Violated, **changes: Any) -> "World":
        """The same question for the documents taken literally."""
        return self._varied(f"{self.name}-as-written", AS_WRITTEN, expect, changes)

    def _varied(self, name: str, design: Design, expect: Violated, changes: Mapping[str, Any]) -> "World":
        varied = {"name": name, "design": design, "expect": expect, "place": caller()}
        return replace(self, **{**varied, **changes})


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of a state: a variable, or one member of a family."""

    name: str
    family: str
    key: tuple[Any, ...]
    over: tuple[Domain, ...]


Of = TypeVar("Of", Action, Property)


@dataclass(frozen=True, slots=True, eq=False)
class Instance(Generic[Of]):
    """An action or a property with its arguments."""

    of: Of
    arguments: tuple[Any, ...]
    label: str
    actor: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way in which an action can happen: what it decided, and the places it changes."""

    decisions: tuple[int, ...]
    writes: tuple[tuple[int, Any], ...]
    failure: str = ""
    """The action does not know what to do here: it raised an exception, and this says which and where."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a function made of a state, and the places that it read, in order: they alone decided."""

    reads: tuple[int, ...]
    result: Any


class Model:
    """A world spelled out."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.view_class = _composed(world)
        self._domains: dict[Domain, tuple[Any, ...]] = {}
        self._declare()
        self._met: list[dict[Any, Any]] = [{value: value} for value in self.declared]
        machines = tuple(dict.fromkeys(world.machines))
        self.actions = tuple(a for m in machines for a in m.actions)
        self.instances = tuple(self._instances(self.actions))
        chosen = world.properties
        if chosen is None:
            chosen = tuple(p for m in machines for p in m.properties)
        self.properties = chosen
        self.checks = tuple(self._instances(p for p in chosen if p.sort is not Sort.FINAL))
        self.finals = tuple(self._instances(p for p in chosen if p.sort is Sort.FINAL))
        self._see_that_names_fit()

    def _declare(self) -> None:
        """Give every variable its places, and see that the bounds are those that the machines need."""
        slots: list[Slot] = []
        values: list[Any] = []
        places: dict[str, Any] = {}
        needed: dict[str, None] = {}
        for name, declared in _declarations(self.world, self.view_class):
            if isinstance(declared, Bound):
                needed[name] = None
            elif isinstance(declared, Variable):
                places[name] = len(slots)
                slots.append(Slot(name, name, (), ()))
                values.append(declared.initial)
            else:
                needed.update((domain.bound, None) for domain in declared.over)
                keys = list(itertools.product(*(self.members(domain) for domain in declared.over)))
                places[name] = {key if len(key) > 1 else key[0]: len(slots) + i for i, key in enumerate(keys)}
                slots += [
                    Slot(f"{name}[{', '.join(map(str, key))}]", name, key, declared.over) for key in keys
                ]
                values += [declared.initial] * len(keys)
        for one in self.world.machines:
            for over in [a.over for a in one.actions] + [p.over for p in one.properties]:
                needed.update((d.bound, None) for d in over.values() if isinstance(d, Domain))
        for name in needed:
            self._bound(name)
        unknown = [name for name in self.world.bounds if name not in needed]
        if unknown:
            raise self._misuse(f"nothing is bounded by {unknown[0]}")
        self.slots, self.declared, self.places = tuple(slots), tuple(values), places

    def _bound(self, name: str) -> int:
        if name not in self.world.bounds:
            raise self._misuse(f"it must say how many {name}: bounds={{{name!r}: ...}}")
        return self.world.bounds[name]

    def _see_that_names_fit(self) -> None:
        """What is called by name must exist once, and swapped names must be names of nothing else."""
        names = [one.name for one in self.actions] + [one.name for one in self.properties]
        labels = [one.label for one in self.instances] + [one.label for one in self.checks]
        twice = [name for known in (names, labels) for name, n in Counter(known).items() if n > 1]
        if twice:
            raise self._misuse(f"there are two {twice[0]}")

        every = {p.name for machine in self.world.machines for p in machine.properties}.union(names)
        unknown = [name for name in self.world.idle if name not in every]
        if unknown:
            raise self._misuse(f"there is no action or witness {unknown[0]} that could be idle")

        for domain in self.world.interchangeable:
            if domain not in self._domains:
                raise self._misuse(f"no {domain.name} occurs in it, so none are interchangeable")
            if not domain.prefix:
                raise self._misuse(f"{domain.bound} are numbers and have an order; give the domain a prefix")
            for other in self._domains:
                common = set(self.members(domain)) & set(self.members(other))
                if other != domain and common:
                    raise self._misuse(f"{min(common)} is both a {domain.name} and a {other.name}")

    def _misuse(self, said: str) -> Misuse:
        return Misuse(f"{self.world.place} world {self.world.name}: {said}")

    def members(self, over: Over) -> tuple[Any, ...]:
        """Who is in a domain of this world."""
        if not isinstance(over, Domain):
            return over
        if over not in self._domains:
            self._domains[over] = over.members(self._bound(over.bound))
        return self._domains[over]

    def _instances(self, some: Iterable[Of]) -> Iterator[Instance[Of]]:
        for one in some:
            first = next(iter(one.over.values()), None)
            for arguments in itertools.product(*map(self.members, one.over.values())):
                label = f"{one.name}({', '.join(map(shown, arguments))})"
                actor = f"{first.name} {arguments[0]}" if isinstance(first, Domain) else ""
                yield Instance(one, arguments, label, actor)

    @cached_property
    def initial(self) -> tuple[State, ...]:
        """Every initial state, in the order of the choices."""
        starts = [s for cls in reversed(self.view_class.__mro__) for s in vars(cls).get("starts", ())]

        def begin(w: Machine) -> None:
            for one in starts:
                one(w)

        setup = Instance(Action("start", (), "", begin, {}), (), "start()", "")
        found: dict[State, None] = {}
        for alternative in self.run(setup, self.declared).result:
            if alternative.failure:
                raise Misuse(alternative.failure)
            found[self.after(self.declared, alternative)] = None
        if not found:
            raise self._misuse("it has no initial state")
        return tuple(found)

    def after(self, state: State, alternative: Alternative) -> State:
        """The state that an alternative leads to."""
        values = list(state)
        for place, value in alternative.writes:
            values[place] = value
        return tuple(values)

    def run(self, instance: Instance[Action], state: Sequence[Any], twice: bool = False) -> Evaluation:
        """
        Every way in which an action can happen in a state; none if it cannot.

        On request it is run twice, and it is a misuse if the second time differs from the first.
        """
        found = self._run(instance, state)
        if twice:
            self._compare(instance, found, self._run(instance, state))
        return found

    def _run(self, instance: Instance[Action], state: Sequence[Any]) -> Evaluation:
        reads: dict[int, None] = {}
        found = []
        script: tuple[tuple[int, int], ...] | None = ()
        while script is not None:
            w = self._view(state, reads, {}, script)
            try:
                said = instance.of.body(w, *instance.arguments)  # type: ignore[func-returns-value]
                if said is not None:
                    raise Misuse(f"returned {said!r}: an action assigns, and `require` is its guard")
                writes = tuple(self._effects(w, reads, state))
                found.append(Alternative(tuple(c for c, _ in w._decided), writes))
            except Disabled:
                pass
            except Exception as error:
                story = f"{instance.label} {self._story(error, instance)}"
                if isinstance(error, Misuse) or self._misspelt(error):
                    raise Misuse(story) from error
                found.append(Alternative(tuple(c for c, _ in w._decided), (), story))
            script = _next_script(w._decided)
        return Evaluation(tuple(reads), tuple(found))

    def _effects(
        self, w: Machine, reads: Mapping[int, None], state: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """What was written, but for what is known to have been so before."""
        assert w._writes is not None
        for place, value in w._writes.items():
            known = self._met[place].setdefault(value, value)
            if known is not value and not alike(known, value):
                name = self.slots[place].name
                raise Misuse(f"{name} is {known!r} here and {value!r} there: equal, but of different types")
            if place not in reads or known != state[place]:
                yield place, known

    def look(
        self,
        instance: Instance[Property],
        state: Sequence[Any],
        after: Sequence[Any] | None = None,
        twice: bool = False,
    ) -> Evaluation:
        """
        What a property says of a state; of a step, places of the state after come behind those before.

        The result is a tuple of sentences, one truth value, or the pair of trigger and goal. On request it is
        asked twice, and it is a misuse if the second answer differs from the first.
        """
        found = self._look(instance, state, after)
        if twice:
            self._compare(instance, found, self._look(instance, state, after))
        return found

    def _look(
        self, instance: Instance[Property], state: Sequence[Any], after: Sequence[Any] | None
    ) -> Evaluation:
        reads: dict[int, None] = {}
        views = [self._view(state, reads, None, ())]
        if after is not None:
            shifted = _Shifted(reads, len(self.slots))
            views.append(self._view(after, shifted, None, ()))
        try:
            result = _said(instance.of.sort, instance.of.body(*views, *instance.arguments))
        except Exception as error:
            raise Misuse(f"{instance.label} {self._story(error, instance)}") from error
        return Evaluation(tuple(reads), result)

    def inside(self, state: Sequence[Any], twice: bool = False) -> Evaluation:
        """Whether anything happens in a state that lies where it lies."""
        assert self.world.within is not None
        asked = Property("within", (), "", Sort.FINAL, self.world.within, {})
        return self.look(Instance(asked, (), "within()", ""), state, twice=twice)

    def _compare(self, instance: Instance[Any], first: Evaluation, second: Evaluation) -> None:
        """Two evaluations on one state are the same, or the function depends on something else."""
        if first == second:
            return
        told = [self._read_places(e) if first.reads != second.reads else _result(e) for e in (first, second)]
        did = "read" if first.reads != second.reads else "gave"
        raise Misuse(
            f"{instance.label} is not a function of the state: it {did} {told[0]}, then {told[1]}"
            f"\n  {_place(instance)}"
        )

    def _read_places(self, evaluation: Evaluation) -> str:
        return ", ".join(self.slots[i % len(self.slots)].name for i in evaluation.reads) or "nothing"

    def _misspelt(self, error: Exception) -> bool:
        """Whether a name was used that does not exist, in the code or on the view."""
        if isinstance(error, AttributeError):
            assigned = error.obj is None and str(error).startswith(f"'{self.view_class.__name__}' object")
            return assigned or isinstance(error.obj, Machine)
        return isinstance(error, NameError)

    def _story(self, error: Exception, instance: Instance[Any]) -> str:
        """What was raised, and the line of the specification where it happened."""
        said = f"raised {type(error).__name__}: {error}"
        if isinstance(error, Misuse):
            said = str(error)
        elif isinstance(error, Disabled):
            said = "is a property and has no guard: write `if` instead of `require`"
        elif isinstance(error, AttributeError) and self._misspelt(error):
            known = dict.fromkeys((*self.places, *self.world.bounds))
            name = str(error).split("'")[-2]
            said = f"there is no variable {name}, there are {', '.join(known)}"

        frames = [f for f in traceback.extract_tb(error.__traceback__) if not foreign(f.filename)]
        if not frames:
            return f"{said}\n  {_place(instance)}"
        return f"{said}\n  {frames[-1].filename}:{frames[-1].lineno}  {frames[-1].line}"

    def _view(
        self,
        state: Sequence[Any],
        reads: dict[int, None],
        writes: dict[int, Any] | None,
        script: tuple[tuple[int, int], ...],
    ) -> Machine:
        w = self.view_class.__new__(self.view_class)
        w._values, w._reads, w._writes, w._script, w._decided = state, reads, writes, script, []
        w._bounds, w._places, w._design = self.world.bounds, self.places, self.world.design
        return w


class _Shifted(dict[int, None]):
    """Reads of the state after a step, noted behind those of the state before."""

    def __init__(self, reads: dict[int, None], by: int) -> None:
        self._into, self._by = reads, by

    def __setitem__(self, place: int, nothing: None) -> None:
        self._into[place + self._by] = None


def _composed(world: World) -> type[Machine]:
    """One class with the variables of all machines of a world."""
    chosen = list(dict.fromkeys(world.machines))
    bases = [m for m in chosen if not any(other is not m and issubclass(other, m) for other in chosen)]
    if not bases:
        raise Misuse(f"{world.place} world {world.name} has no machines")
    return type(world.name, tuple(bases), {"__slots__": ()})


def _declarations(world: World, view: type[Machine]) -> Iterator[tuple[str, Any]]:
    """Every variable and bound, those of the most general machine first."""
    found: dict[str, Any] = {}
    for cls in reversed(view.__mro__):
        for name, declared in vars(cls).items():
            if name in found and not (isinstance(found[name], Bound) and isinstance(declared, Bound)):
                other = getattr(declared, "place", cls.__name__)
                raise Misuse(f"world {world.name} has two variables {name}\n  {found[name].place}\n  {other}")
            if isinstance(declared, Variable | Family | Bound) and name not in found:
                found[name] = declared
                yield name, declared


def _next_script(decided: list[tuple[int, int]]) -> tuple[tuple[int, int], ...] | None:
    """The choices to make next time, so that every combination comes up once."""
    while decided and decided[-1][0] + 1 == decided[-1][1]:
        decided.pop()
    if not decided:
        return None
    *kept, (choice, count) = decided
    return (*kept, (choice + 1, count))


def _said(sort: Sort, result: Any) -> Any:
    """What a property returned, in the form that its sort has."""
    if sort in (Sort.ALWAYS, Sort.STEP):
        if isinstance(result, bool | str):
            raise Misuse(f"returned {result!r}: it yields a sentence for each breach, and nothing otherwise")
        return tuple(map(str, result or ()))
    if sort is Sort.LEADS_TO:
        trigger, goal = result
        return bool(trigger), bool(goal)
    return bool(result)


def _result(evaluation: Evaluation) -> str:
    if isinstance(evaluation.result, tuple):
        return "; ".join(map(_told, evaluation.result)) or "nothing"
    return shown(evaluation.result)


def _told(part: Any) -> str:
    if isinstance(part, Alternative):
        return part.failure or shown(tuple(value for _, value in part.writes))
    return shown(part)


def _place(instance: Instance[Any]) -> str:
    code = inspect.unwrap(instance.of.body).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"
