"""
What a state variable may hold: values that never change, compare by content, and have one encoding.

Atoms are None, booleans, numbers, strings, bytes and members of enumerations; tuples, frozen sets and frozen
dataclasses are built from them. Everything else is a misuse, because a value that changes under the checker's
hands makes every verdict worthless.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isnan
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

ATOMS = (type(None), bool, int, float, str, bytes)


class Misuse(Exception):
    """The machine language was used in a way that would make verdicts meaningless."""


class Unordered(frozenset[Any]):
    """
    A set as it stands in a state: it can be asked and combined, but not walked through.

    The order of a set differs from process to process, so an action that depends on it would not be a
    function of the state. `ordered` gives the members in an order that never changes. Nothing can keep
    `set(...)` from copying one, so whoever does that must not walk through the copy either.
    """

    __slots__ = ()

    def __iter__(self) -> NoReturn:
        raise Misuse("a set has no order: write `for x in ordered(...)`")

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, ordered(self)))}}}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Unordered, (ordered(self),)


def _unordered(name: str) -> Callable[..., Any]:
    plain = getattr(frozenset, name)

    def combined(self: Unordered, *others: Any) -> Any:
        made = plain(self, *others)
        return Unordered(made) if isinstance(made, frozenset) else made

    combined.__name__ = name
    return combined


for _name in ("__or__", "__and__", "__sub__", "__xor__", "__ror__", "__rand__", "__rsub__", "__rxor__"):
    setattr(Unordered, _name, _unordered(_name))
for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
    setattr(Unordered, _name, _unordered(_name))


def members(values: Iterable[T]) -> Iterator[T]:
    """What is in a collection, in whatever order it has; the one way around the ban on walking a set."""
    return frozenset.__iter__(values) if isinstance(values, frozenset) else iter(values)


def ordered(values: Iterable[T]) -> tuple[T, ...]:
    """
    The members of a set, smallest first; those that do not compare go by their encoding.

    Sorting starts from the order of the encodings: where only some members compare, as sets do, what comes
    out would otherwise depend on what went in.
    """
    found: list[Any] = list(members(values))
    if {type(value) for value in found} not in ({int}, {str}):
        found.sort(key=encode)
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(found)


def settled(value: Any) -> Any:
    """The same value with every set in it made `Unordered`; a value that could change is a misuse."""
    if type(value) in ATOMS:
        return _settled_number(value) if isinstance(value, float) else value
    if isinstance(value, Enum):
        return value
    if type(value) is tuple or (isinstance(value, tuple) and hasattr(value, "_fields")):
        parts = [settled(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, frozenset):
        old = list(members(value))
        new = [settled(part) for part in old]
        same = type(value) is Unordered and all(one is other for one, other in zip(old, new, strict=True))
        return value if same else Unordered(new)
    if is_dataclass(value) and not isinstance(value, type):
        return _settled_fields(value)
    raise Misuse(f"{_told(value)} can change or has no order: a variable holds {_WHAT}")


def _settled_number(value: float) -> float:
    """A number that is equal to itself, and zero without a sign."""
    if isnan(value):
        raise Misuse("not-a-number is equal to nothing, not even to itself")
    return value or 0.0


_WHAT = "atoms, enum members, tuples, frozensets and frozen dataclasses"


def _told(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text[:57] + '...' if len(text) > 60 else text}"


def _settled_fields(value: Any) -> Any:
    made_with = type(value).__dataclass_params__
    if not made_with.frozen:
        raise Misuse(f"{_told(value)} is not frozen: write @dataclass(frozen=True, slots=True)")
    if not made_with.eq or not all(field.compare for field in fields(value)):
        raise Misuse(f"{_told(value)} does not compare by content: all fields of a value count")
    changed = {}
    for field in fields(value):
        old = getattr(value, field.name)
        new = settled(old)
        if new is not old:
            changed[field.name] = new
    if not changed:
        return value
    made = object.__new__(type(value))
    for field in fields(value):
        object.__setattr__(made, field.name, changed.get(field.name, getattr(value, field.name)))
    return made


def encode(value: Any) -> bytes:
    """
    The one spelling of a value: equal values of equal types have equal bytes, on every machine.

    Every part says its type and length, so that no two values share a spelling.
    """
    if value is None:
        return b"n"
    if isinstance(value, Enum):
        return _spelled(b"e", _type_of(value), str(value.name).encode())
    if isinstance(value, bool | int | float):
        return _spelled(type(value).__name__[:1].encode(), repr(value).encode())
    if isinstance(value, str):
        return _spelled(b"s", value.encode(errors="surrogatepass"))
    if isinstance(value, bytes):
        return _spelled(b"y", value)
    if isinstance(value, tuple):
        return _spelled(b"(", _type_of(value), *map(encode, value))
    if isinstance(value, frozenset):
        return _spelled(b"{", *sorted(map(encode, members(value))))
    return _spelled(b"<", _type_of(value), *(encode(getattr(value, field.name)) for field in fields(value)))


def _type_of(value: Any) -> bytes:
    return f"{type(value).__module__}.{type(value).__qualname__}".encode()


def _spelled(kind: bytes, *parts: bytes) -> bytes:
    return kind + b"".join(b"%d:%b" % (len(part), part) for part in parts) + b";"


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with every string that is one of the names replaced, however deep it stands."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return names.get(value, value)
    if isinstance(value, tuple):
        parts = [renamed(part, names) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, frozenset):
        return Unordered(renamed(part, names) for part in members(value))
    if is_dataclass(value) and not isinstance(value, type):
        made = object.__new__(type(value))
        for field in fields(value):
            object.__setattr__(made, field.name, renamed(getattr(value, field.name), names))
        return made
    return value


def alike(one: Any, other: Any) -> bool:
    """Whether two equal values are of equal types all the way down, as 1 and True are not."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return all(map(alike, one, other))
    if isinstance(one, frozenset):
        return encode(one) == encode(other)
    if is_dataclass(one):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return True


def shown(value: Any) -> str:
    """A value as a person reads it: short, and the same every time."""
    if value is None:
        return "–"
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(shown, ordered(value)))}}}"
    if is_dataclass(value) and "__str__" not in vars(type(value)):
        parts = ", ".join(f"{f.name} {shown(getattr(value, f.name))}" for f in fields(value))
        return f"{type(value).__name__.lower()}({parts})"
    return str(value)
