"""
The machine language: named state variables, guarded atomic actions, and properties of what they reach.

A machine is a class whose attributes are its variables; its actions and properties are the functions whose
first parameter is annotated with it. A machine that touches another one's variables inherits from it.

    CLIENTS = Domain("client", "c")

    class Lock(Machine):
        holder = Variable[str | None](None)
        asked = Family[str, bool](CLIENTS, False)

    @action("LOCK-GRANT", client=CLIENTS, fair=WEAK)
    def grant(w: Lock, client: str) -> None:
        require(w.asked[client] and w.holder is None)
        w.holder = client

An action is atomic: guard by `require`, effects by assignment, alternatives by `choose`. It is a function of
what it reads from `w`, and that is recorded; the engines live on nothing else.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar, get_type_hints, overload

from spec.design import Design
from spec.immutable import Misuse, settled

T = TypeVar("T")
K = TypeVar("K")
Key = Any
"""The name of a member of a family: one member of its domain, or a tuple of members of several."""


@dataclass(frozen=True, slots=True)
class Domain:
    """
    A small set of names whose size a world decides, by the bound called like its plural.

    With a prefix the members are strings (`b1`, `b2`), without one they count from 0.
    """

    name: str
    prefix: str = ""
    plural: str = ""

    @property
    def bound(self) -> str:
        return self.plural or f"{self.name}s"

    def members(self, count: int) -> tuple[Any, ...]:
        return tuple(f"{self.prefix}{i}" for i in range(1, count + 1)) if self.prefix else tuple(range(count))


class Fairness(Enum):
    """What is promised of an action that could happen."""

    WEAK = "taken at some time, if it stays possible"
    STRONG = "taken at some time, if it is possible again and again"


WEAK, STRONG = Fairness.WEAK, Fairness.STRONG


class Disabled(Exception):
    """The action cannot happen here."""


def require(guard: object) -> None:
    """The action can only happen where the guard is true."""
    if not guard:
        raise Disabled


def choose(w: "Machine", options: Iterable[T]) -> T:
    """One of the options, whichever: the action has an alternative for each, and none if there are none."""
    if isinstance(options, set | frozenset):
        raise Misuse("a set has no order: write `choose(w, ordered(...))`")
    found = options if isinstance(options, Sequence) else tuple(options)
    return found[w._decide(len(found))]


class Bound:
    """A number that the world fixes."""

    def __init__(self) -> None:
        self.place = caller()

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, w: None, owner: type) -> Self: ...
    @overload
    def __get__(self, w: "Machine", owner: type) -> int: ...
    def __get__(self, w: "Machine | None", owner: type) -> Self | int:
        return self if w is None else w._bounds[self.name]

    def __set__(self, w: "Machine", value: NoReturn) -> None:
        raise Misuse(f"{self.name} is a bound of the world and never changes")


class Variable(Generic[T]):
    """A state variable and its initial value."""

    def __init__(self, initial: T) -> None:
        self.place, self.initial = caller(), _initial(initial)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, w: None, owner: type) -> Self: ...
    @overload
    def __get__(self, w: "Machine", owner: type) -> T: ...
    def __get__(self, w: "Machine | None", owner: type) -> Self | T:
        return self if w is None else w._read(w._places[self.name])

    def __set__(self, w: "Machine", value: T) -> None:
        w._write(w._places[self.name], value)


class Family(Generic[K, T]):
    """One variable for each member of a domain, or for each combination of members of several."""

    def __init__(self, over: Domain | tuple[Domain, ...], initial: T) -> None:
        self.over = over if isinstance(over, tuple) else (over,)
        self.place, self.initial = caller(), _initial(initial)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, w: None, owner: type) -> Self: ...
    @overload
    def __get__(self, w: "Machine", owner: type) -> "Members[K, T]": ...
    def __get__(self, w: "Machine | None", owner: type) -> "Self | Members[K, T]":
        return self if w is None else Members(w, self.name, w._places[self.name])

    def __set__(self, w: "Machine", value: NoReturn) -> None:
        raise Misuse(f"{self.name} is a family: assign to one member, {self.name}[...]")


class Memory(Family[K, T]):
    """A family that the members of its first domain hold in memory: each can lose its own at once."""


def forget(w: "Machine", *member: Any) -> None:
    """
    A member of a domain loses all that it has in memory, whichever machine gave it that memory.

    With a second member it loses what it has in memory of that one.
    """
    for cls in type(w).__mro__:
        for declared in vars(cls).values():
            if isinstance(declared, Memory):
                for key, place in w._places[declared.name].items():
                    if member == (key if len(declared.over) > 1 else (key,))[: len(member)]:
                        w._write(place, declared.initial)


class Members(Generic[K, T]):
    """A family as an action sees it: a mapping whose members are read one at a time."""

    __slots__ = ("_name", "_places", "_w")

    def __init__(self, w: "Machine", name: str, places: Mapping[K, int]) -> None:
        self._w, self._name, self._places = w, name, places

    def __getitem__(self, key: K) -> T:
        return self._w._read(self._place(key))  # type: ignore[no-any-return]

    def __setitem__(self, key: K, value: T) -> None:
        self._w._write(self._place(key), value)

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def items(self) -> Iterator[tuple[K, T]]:
        return ((key, self._w._read(place)) for key, place in self._places.items())

    def values(self) -> Iterator[T]:
        return map(self._w._read, self._places.values())

    def _place(self, key: K) -> int:
        try:
            return self._places[key]
        except (KeyError, TypeError):
            known = ", ".join(map(str, self._places))
            raise Misuse(f"{self._name} has no member {key!r}, it has {known}") from None


class _Closed(type):
    """Machines have the attributes that they declare and no others, so that a misspelt one is an error."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        for taken in ("actions", "properties", "starts", "design"):
            if bases and taken in body:
                raise Misuse(f"{caller()} {name}: no variable can be called {taken}")
        return super().__new__(cls, name, bases, {"__slots__": (), **body})


class Machine(metaclass=_Closed):
    """
    The variables of a machine, and the view through which its functions see a state.

    The view records what is read, in order, before it is written; it remembers writes and gives them back.
    """

    __slots__ = ("_bounds", "_decided", "_design", "_places", "_reads", "_script", "_values", "_writes")

    actions: ClassVar[list["Action"]]
    properties: ClassVar[list["Property"]]
    starts: ClassVar[list[Callable[..., None]]]

    _design: Design
    _bounds: Mapping[str, int]
    _places: Mapping[str, Any]
    _values: Sequence[Any]
    _reads: dict[int, None]
    _writes: dict[int, Any] | None
    _script: Sequence[tuple[int, int]]
    """The choices to make, each with the number of options that there were when it was last made."""
    _decided: list[tuple[int, int]]

    def __init_subclass__(cls) -> None:
        cls.actions, cls.properties, cls.starts = [], [], []

    @property
    def design(self) -> Design:
        return self._design

    @design.setter
    def design(self, value: NoReturn) -> None:
        raise Misuse("the design belongs to the world and never changes")

    def _read(self, place: int) -> Any:
        writes = self._writes
        if writes is not None and place in writes:
            return writes[place]
        self._reads[place] = None
        return self._values[place]

    def _write(self, place: int, value: Any) -> None:
        if self._writes is None:
            raise Misuse("a property only looks; it cannot assign")
        self._writes[place] = settled(value)

    def _decide(self, count: int) -> int:
        if self._writes is None:
            raise Misuse("a property has no alternatives; only actions choose")
        if not count:
            raise Disabled
        turn = len(self._decided)
        choice, before = self._script[turn] if turn < len(self._script) else (0, count)
        if count != before:
            raise Misuse(f"is not a function of the state: it had {before} options, and now {count}")
        self._decided.append((choice, count))
        return choice


Over = Domain | tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Action:
    """A guarded atomic action: one thing that the outside could see happen between two crashes."""

    name: str
    ids: tuple[str, ...]
    says: str
    body: Callable[..., None]
    over: Mapping[str, Over]
    fair: Fairness | None = None
    fault: bool = False
    """Something that breaks, rather than something that is done; counterexamples avoid it on request."""

    def __call__(self, *arguments: Any) -> None:
        """A part of another action, when one is written in terms of the other."""
        self.body(*arguments)


class Sort(Enum):
    """What a property speaks of."""

    ALWAYS = "always"
    STEP = "step"
    LEADS_TO = "leads_to"
    SOMETIMES = "sometimes"
    FINAL = "final"


@dataclass(frozen=True, eq=False)
class Property:
    """
    A statement about a machine.

    always     yields a sentence for each breach in a state
    step       yields a sentence for each breach between a state and the next, which it is given both
    leads_to   returns (trigger, goal): wherever the trigger is true, the goal becomes true later
    sometimes  returns whether this is a state of the sort that must be reachable
    final      returns whether nothing more needs to happen here: a state without a successor is no deadlock
    """

    name: str
    ids: tuple[str, ...]
    says: str
    sort: Sort
    body: Callable[..., Any]
    over: Mapping[str, Over]


Body = TypeVar("Body", bound=Callable[..., Any])


def action(
    *ids: str, fair: Fairness | None = None, fault: bool = False, **over: Over
) -> Callable[[Callable[..., None]], Action]:
    """Make a function an action of the machine that its first parameter is annotated with."""
    _called("action", ids)

    def register(body: Callable[..., None]) -> Action:
        machine = _machine_of(body, 1, over)
        _plain(body, "an action assigns; it does not yield")
        made = Action(_name(body), ids, _says(body), body, over, fair, fault)
        _unique(machine, made)
        machine.actions.append(made)
        return made

    return register


def _called(decorator: str, ids: tuple[object, ...]) -> None:
    """A decorator without parentheses would take the function for an id, and nobody would notice."""
    if any(not isinstance(one, str) for one in ids):
        raise Misuse(f"write @{decorator}(...) with parentheses, and rule ids in them as strings")


def _property(
    sort: Sort, views: int, ids: tuple[str, ...], over: dict[str, Over]
) -> Callable[[Callable[..., Any]], Property]:
    _called(sort.value, ids)

    def register(body: Callable[..., Any]) -> Property:
        machine = _machine_of(body, views, over)
        if sort not in (Sort.ALWAYS, Sort.STEP):
            _plain(body, f"`{sort.value}` returns what it says; only `always` and `step` yield")
        made = Property(_name(body), ids, _says(body), sort, body, over)
        _unique(machine, made)
        machine.properties.append(made)
        return made

    return register


def always(*ids: str, **over: Over) -> Callable[[Callable[..., Iterable[str]]], Property]:
    """Make a function an invariant: it yields a sentence for each breach."""
    return _property(Sort.ALWAYS, 1, ids, over)


def step(*ids: str, **over: Over) -> Callable[[Callable[..., Iterable[str]]], Property]:
    """Make a function a statement about each step: it sees the state before and the state after."""
    return _property(Sort.STEP, 2, ids, over)


def leads_to(*ids: str, **over: Over) -> Callable[[Callable[..., tuple[object, object]]], Property]:
    """Make a function a promise: it returns the trigger and the goal that follows."""
    return _property(Sort.LEADS_TO, 1, ids, over)


def sometimes(*ids: str, **over: Over) -> Callable[[Callable[..., object]], Property]:
    """Make a function a witness: if no state satisfies it, the world shows nothing."""
    return _property(Sort.SOMETIMES, 1, ids, over)


def final(*ids: str) -> Callable[[Callable[..., object]], Property]:
    """Make a function say which states may be the last."""
    return _property(Sort.FINAL, 1, ids, {})


def start(body: Body) -> Body:
    """Make a function set up the initial state; with `choose` there are several."""
    machine = _machine_of(body, 1, {})
    _plain(body, "a start assigns; it does not yield")
    machine.starts.append(body)
    return body


def _machine_of(body: Callable[..., Any], views: int, over: Mapping[str, Over]) -> type[Machine]:
    """The machine that a function belongs to, by its first annotation; its parameters must be the domains."""
    names = list(inspect.signature(body).parameters)
    hints = get_type_hints(body)
    machine = hints.get(names[0]) if names else None
    place = f"{_place(body)} {_name(body)}"

    if not (isinstance(machine, type) and issubclass(machine, Machine) and machine is not Machine):
        raise Misuse(f"{place}: annotate the first parameter with its machine")
    if len(names) < views:
        raise Misuse(f"{place}: it sees the state before and the state after, two parameters")
    if names[views:] != list(over):
        raise Misuse(f"{place}: its parameters are {names[views:]}, its domains are {list(over)}")
    for name, domain in over.items():
        if not isinstance(domain, Domain | tuple):
            raise Misuse(f"{place}: {name} goes over a Domain or a tuple of values, not {domain!r}")
    return machine


def _plain(body: Callable[..., Any], otherwise: str) -> None:
    if inspect.isgeneratorfunction(body):
        raise Misuse(f"{_place(body)} {_name(body)}: {otherwise}")


def _unique(machine: type[Machine], made: Action | Property) -> None:
    known = [a.name for a in machine.actions] + [p.name for p in machine.properties]
    if made.name in known:
        raise Misuse(f"{_place(made.body)} {machine.__name__} has two functions called {made.name}")


def _initial(value: Any) -> Any:
    try:
        return settled(value)
    except Misuse as error:
        raise Misuse(f"{caller()} {error}") from None


def caller() -> str:
    """The line of a specification that led here."""
    frame = inspect.currentframe()
    while frame and foreign(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""


_HERE, _LIBRARY = ((inspect.getsourcefile(one) or "").rpartition("/")[0] for one in (settled, inspect))
_OURS = tuple(f"{_HERE}/{module}.py" for module in ("immutable", "machine", "world"))


def foreign(filename: str) -> bool:
    """Whether a file is the language's own or Python's, so that no line of it is to blame."""
    return filename in _OURS or filename.startswith((f"{_LIBRARY}/", "<"))


def _place(body: Callable[..., Any]) -> str:
    code = inspect.unwrap(body).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _name(body: Callable[..., Any]) -> str:
    return str(body.__name__)


def _says(body: Callable[..., Any]) -> str:
    return (body.__doc__ or "").strip().partition("\n")[0]
