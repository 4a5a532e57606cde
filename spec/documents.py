"""
JSON documents of the metadata store: strict about what they say, careful with what we do not know.

A field that the specification knows must have exactly the form it gives. A field that it does not know, at
any depth, is kept and written back, so that a broker of another version loses nothing when we rewrite its
record.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, NoReturn, TypeVar

from spec.refusals import Reason, Refused

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

LONG_MIN = -(2**63)
LONG_MAX = 2**63 - 1
DOUBLE_MAX = (2 - 2**-52) * 2.0**1023
EXACT = 2**53
"""Up to here every whole number is a double; a larger one becomes the nearest, so that sums of rates work."""
MOST_NESTED = 100

Place = tuple[str | int, ...]
"""Where a value stands, as a person finds it: names of fields, and places in lists."""

Home = tuple[str | tuple[str, int], ...]
"""Where an object belongs: in a list it is found by a number that it has, because places in lists change."""

Unknown = tuple[tuple[Home, str, str], ...]
"""Each unknown field: the object that it belongs to, its name, its value as JSON text. Sorted."""


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """A record as it stands in the store: what it means to us, and what else was written there."""

    value: T
    unknown: Unknown = ()


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How one kind of record is read from JSON and written as JSON."""

    read: "Callable[[Fields], T]"
    write: Callable[[T], dict[str, Any]]

    def decode(self, text: str | bytes) -> Stored[T]:
        """The record in a text; whatever is wrong with the text, the answer is a named refusal."""
        root = Fields(_parse(text), ())
        value = self.read(root)
        return Stored(value, tuple(sorted(root.unknown())))

    def encode(self, stored: Stored[T]) -> str:
        """
        The record as one line of JSON, unknown fields included wherever the object they stood in
        still exists.
        """
        document = self.write(stored.value)
        for home, name, text in stored.unknown:
            parent = _at(document, home)
            if parent is not None:
                parent.setdefault(name, json.loads(text))
        try:
            return json.dumps(document, separators=(",", ":"), allow_nan=False)
        except ValueError as broken:
            raise Refused(Reason.RECORD_MALFORMED, f"not JSON: {broken}") from broken


class Fields:
    """One JSON object being read. Each known field is asked for by name and type; the rest is unknown."""

    def __init__(self, value: object, place: Place, home: Home = ()) -> None:
        if not isinstance(value, dict):
            _expected("an object", value, place)
        self._values: dict[str, Any] = value
        self._place = place
        self._home = home
        self._asked: set[str] = set()
        self._inner: list[Fields] = []

    def unknown(self) -> Iterator[tuple[Home, str, str]]:
        """What nobody asked for, here and in the objects within."""
        for name, value in self._values.items():
            if name not in self._asked:
                yield self._home, name, json.dumps(value, separators=(",", ":"), sort_keys=True)
        for inner in self._inner:
            yield from inner.unknown()

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def has(self, name: str) -> bool:
        """Whether an optional field is there; `null` counts as absent."""
        self._asked.add(name)
        return self._values.get(name) is not None

    def integer(self, name: str, low: int = 0, high: int = LONG_MAX) -> int:
        return _integer(self._take(name), (*self._place, name), low, high)

    def integers(self, name: str) -> tuple[int, ...]:
        return tuple(_integer(value, place, 0, LONG_MAX) for value, place in self._items(name))

    def number(self, name: str, low: float = 0.0, high: float = DOUBLE_MAX) -> float:
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            _expected(f"a number from {low:g} to {high:g}", value, (*self._place, name))
        return value if abs(value) <= EXACT else float(value)

    def flag(self, name: str) -> bool:
        value = self._take(name)
        if not isinstance(value, bool):
            _expected("true or false", value, (*self._place, name))
        return value

    def text(self, name: str) -> str:
        value = self._take(name)
        if not isinstance(value, str):
            _expected("a text", value, (*self._place, name))
        return value

    def choice(self, name: str, options: type[E]) -> E:
        text = self.text(name)
        for option in options:
            if option.value == text:
                return option
        _expected("one of " + ", ".join(str(o.value) for o in options), text, (*self._place, name))

    def read(self, name: str, parse: Callable[[str], T]) -> T:
        """A text with a syntax of its own."""
        text = self.text(name)
        try:
            return parse(text)
        except Refused as refusal:
            problem = refusal.detail if refusal.reason is Reason.RECORD_MALFORMED else str(refusal)
            raise _malformed((*self._place, name), problem) from refusal

    def nested(self, name: str) -> "Fields":
        inner = Fields(self._take(name), (*self._place, name), (*self._home, name))
        self._inner.append(inner)
        return inner

    def nested_list(self, name: str, key: str) -> "list[Fields]":
        """The objects of a list, each of which has a number of its own in the field `key`."""
        found: dict[int, Fields] = {}
        for value, place in self._items(name):
            item = Fields(value, place)
            number = item.integer(key)
            if number in found:
                item.refuse(key, f"the list has {number} twice")
            item._home = (*self._home, name, (key, number))
            found[number] = item
        self._inner += found.values()
        return list(found.values())

    def refuse(self, name: str, problem: str) -> NoReturn:
        """The field has the right type but cannot be right."""
        raise _malformed((*self._place, name), problem)

    def _take(self, name: str) -> object:
        self._asked.add(name)
        if name not in self._values:
            raise _malformed((*self._place, name), "the field is missing")
        return self._values[name]

    def _items(self, name: str) -> list[tuple[object, Place]]:
        value, place = self._take(name), (*self._place, name)
        if not isinstance(value, list):
            _expected("a list", value, place)
        return [(item, (*place, index)) for index, item in enumerate(value)]


def _parse(text: str | bytes) -> object:
    """The value in a text; nested so moderately that it can be written again from any depth of calls."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as broken:
        raise Refused(Reason.RECORD_MALFORMED, f"not JSON: {broken}") from broken

    layer = [value]
    for _ in range(MOST_NESTED):
        layer = [inner for outer in layer for inner in _inside(outer)]
    if any(isinstance(inner, dict | list) for inner in layer):
        raise Refused(Reason.RECORD_MALFORMED, f"nested more than {MOST_NESTED} deep")
    return value


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object names a field twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _integer(value: object, place: Place, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        _expected(f"a whole number from {low} to {high}", value, place)
    return value


def _at(document: Any, home: Home) -> dict[str, Any] | None:
    """The object that belongs there, or nothing if it is gone."""
    for step in home:
        if isinstance(step, str):
            document = document.get(step)
        else:
            document = next((item for item in document if item[step[0]] == step[1]), None)
        if document is None:
            return None
    return document  # type: ignore[no-any-return]


def _expected(what: str, found: object, place: Place) -> NoReturn:
    shown = json.dumps(found)
    raise _malformed(place, f"expected {what}, found {shown if len(shown) <= 60 else shown[:57] + '...'}")


def _malformed(place: Place, problem: str) -> Refused:
    return Refused(Reason.RECORD_MALFORMED, f"{'.'.join(map(str, place)) or 'the record'}: {problem}")
