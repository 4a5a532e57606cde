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
from typing import Any, NoReturn

ATOMS = (type(None), bool, int, float, str, bytes)


class Misuse(Exception):
    """The machine language was used in a way that would make verdicts meaningless."""


class Unordered(frozenset[Any]):
    """
    A set as it stands in a state: it can be asked and combined, but not walked through.

    The order of a set differs from process to process, so an action that depends on it would not be a
    function of the state. `ordered` gives the members in an order that never changes.
    """

    __slots__ = ()

    def __iter__(self) -> NoReturn:
        raise Misuse("a set has no order: write `for x in ordered(...)`")


def _unordered(name: str) -> Callable[..., Any]:
    plain = getattr(frozenset, name)

    def combined(self: Unordered, *others: Any) -> Any:
        made = plain(self, *others)
        return Unordered(made) if isinstance(made, frozenset) else made

    combined.__name__ = name
    return combined


for _name in ("__or__", "__and__", "__sub__", "__xor__", "__ror__", "__rand__", "__rsub__", "__rxor__"):
    setattr(Unordered, _name, _unordered(_name))
for _name in ("union", "intersection", "difference", "symmetric_difference"):
    setattr(Unordered, _name, _unordered(_name))


def members(values: Iterable[Any]) -> Iterator[Any]:
    """What is in a collection, in whatever order it has; the one way around the ban on walking a set."""
    return frozenset.__iter__(values) if isinstance(values, frozenset) else iter(values)


def ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    """The members of a set, smallest first; those that do not compare go by their encoding."""
    found = list(members(values))
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=encode))


def settled(value: Any) -> Any:
    """The same value with every set in it made `Unordered`; a value that could change is a misuse."""
    if isinstance(value, ATOMS):
        if isinstance(value, float) and isnan(value):
            raise Misuse("not-a-number is equal to nothing, not even to itself")
        return value
    if isinstance(value, Enum):
        return value
    if isinstance(value, tuple):
        parts = [settled(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, frozenset):
        return Unordered(settled(part) for part in members(value))
    if is_dataclass(value) and not isinstance(value, type):
        return _settled_fields(value)
    raise Misuse(f"{_told(value)} can change or has no order: a variable holds {_WHAT}")


_WHAT = "atoms, enum members, tuples, frozensets and frozen dataclasses"


def _told(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text[:57] + '...' if len(text) > 60 else text}"


def _settled_fields(value: Any) -> Any:
    if not type(value).__dataclass_params__.frozen:
        raise Misuse(f"{_told(value)} is not frozen: write @dataclass(frozen=True, slots=True)")
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
        return _spelled(b"e", f"{type(value).__qualname__}.{value.name}".encode())
    if isinstance(value, bool | int | float | str):
        return _spelled(type(value).__name__[:1].encode(), str(value).encode())
    if isinstance(value, bytes):
        return _spelled(b"y", value)
    if isinstance(value, tuple):
        return _spelled(b"(", type(value).__name__.encode(), *map(encode, value))
    if isinstance(value, frozenset):
        return _spelled(b"{", *sorted(map(encode, members(value))))
    names = [field.name for field in fields(value)]
    return _spelled(
        b"<", type(value).__qualname__.encode(), *(encode(getattr(value, name)) for name in names)
    )


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
