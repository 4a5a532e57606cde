"""
Interchangeable names: states that differ only in who is called what are explored once.

A renaming permutes the members of interchangeable domains, in the keys of families and deep inside values.
That the machines do not tell the members apart is not believed but checked: whatever an action or a property
does in a state, it must do in the renamed state under the new names (see `Knowledge`).
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from spec.immutable import Misuse, encode, renamed
from spec.world import Model, Slot, State

ALL = 120
"""Up to so many renamings, all of them are tried in each context; of more than that, a sample."""

WORDS = 4096
"""How many words one value may have, one for each way to rename the members that it mentions."""

SELF, OTHER = "\0self", "\0other"


class TooManyNames(Exception):
    """A value mentions so many interchangeable names that its renamings cannot be listed."""


@dataclass(frozen=True)
class Renaming:
    """A permutation of names, and what it does to places."""

    names: dict[str, str]
    places: tuple[int, ...]
    """Where each place goes."""

    @cached_property
    def _origin(self) -> tuple[int, ...]:
        return tuple(self.places.index(place) for place in range(len(self.places)))

    def back(self, place: int) -> int:
        """Which place goes to this one; the places after a step come behind those before."""
        half, at = divmod(place, len(self.places))
        return half * len(self.places) + self._origin[at]

    @cached_property
    def _known(self) -> list[dict[Any, Any]]:
        return [{} for _ in self.places]

    def value(self, value: Any) -> Any:
        """The value under the new names."""
        return renamed(value, self.names)

    def value_at(self, place: int, value: Any) -> Any:
        """The same of a value of a place; only there is it certain that no equal value is of another type."""
        known = self._known[place]
        if value not in known:
            known[value] = self.value(value)
        return known[value]

    def state(self, state: State) -> State:
        """The state under the new names; only the last one is remembered, but that is asked for again."""
        if self._last[0] is not state:
            made = [None] * len(state)
            for place, value in enumerate(state):
                made[self.places[place]] = self.value_at(place, value)
            self._last[:] = state, tuple(made)
        last: State = self._last[1]
        return last

    @cached_property
    def _last(self) -> list[Any]:
        return [None, None]

    def effects(self, writes: Sequence[tuple[int, Any]]) -> frozenset[tuple[int, Any]]:
        """Writes under the new names."""
        return frozenset((self.places[place], self.value_at(place, value)) for place, value in writes)


class Symmetry:
    """The interchangeable domains of a world."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.groups = [tuple(model.members(domain)) for domain in model.world.interchangeable]
        for domain, group in zip(model.world.interchangeable, self.groups, strict=True):
            if not all(isinstance(name, str) for name in group):
                raise Misuse(f"{domain.name}: only domains of names (with a prefix) can be interchangeable")
        self.names: list[str] = list(itertools.chain(*self.groups))
        self.group_of = {name: group for group in self.groups for name in group}
        self.order = math.prod(math.factorial(len(group)) for group in self.groups)
        self.tried = tuple(map(self._renaming, self._permutations()))

    def bounds(self) -> list[tuple[int, int]]:
        """The members of each group among all names, from and to."""
        ends = list(itertools.accumulate(map(len, self.groups)))
        return list(zip([0, *ends], ends, strict=False))

    def _permutations(self) -> Iterator[dict[str, str]]:
        """All permutations but the identity, or swaps of neighbours and a sample of the others."""
        if self.order <= ALL:
            for some in itertools.product(*map(itertools.permutations, self.groups)):
                pairs = zip(self.names, itertools.chain(*some), strict=True)
                names = {old: new for old, new in pairs if old != new}
                if names:
                    yield names
            return
        for group in self.groups:
            for one, other in itertools.pairwise(group):
                yield {one: other, other: one}
        chance = random.Random(0)
        for _ in range(16):
            shuffled = [chance.sample(group, len(group)) for group in self.groups]
            yield dict(zip(self.names, itertools.chain(*shuffled), strict=True))

    def _renaming(self, names: dict[str, str]) -> Renaming:
        where = {(slot.family, slot.key): place for place, slot in enumerate(self.model.slots)}
        places = tuple(where[slot.family, renamed(slot.key, names)] for slot in self.model.slots)
        return Renaming(names, places)

    # what the kernel needs to know of a value

    def mentioned(self, slot: Slot, value: Any) -> list[str]:
        """The interchangeable names in the key of a place and in its value."""
        found = _Noting(self.group_of)
        renamed((slot.key, value), found)
        return sorted(found.noted, key=self.names.index)

    def sign(self, slot: Slot, value: Any, name: str) -> int:
        """What a value says of a member, whoever the others are."""
        others = {other: f"{OTHER}{self.groups.index(group)}" for other, group in self.group_of.items()}
        return word_of(slot, value, {**others, name: SELF})

    def words(self, slot: Slot, value: Any, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """
        The word of a value for all ranks of the members that it mentions, in one list, and how far each
        member's rank moves in it; a word that belongs to no permutation is 0.
        """
        sizes = [len(self.group_of[name]) for name in names]
        if math.prod(sizes) > WORDS:
            told = ", ".join(names)
            raise TooManyNames(f"{slot.name} mentions {told} at once, in too many ways to rename them")
        strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
        words = []
        for new in itertools.product(*(self.group_of[name] for name in names)):
            words.append(
                word_of(slot, value, dict(zip(names, new, strict=True))) if len(set(new)) == len(new) else 0
            )
        return words, strides


class _Noting(dict[str, Any]):
    """Names that are looked up are noted."""

    def __init__(self, known: dict[str, Any]) -> None:
        super().__init__(known)
        self.noted: set[str] = set()

    def get(self, name: str, otherwise: Any = None) -> Any:
        if name in self:
            self.noted.add(name)
        return otherwise


def word_of(slot: Slot, value: Any, names: dict[str, str], salt: int = 0) -> int:
    """A random word that depends on nothing but names and content, so that all runs agree on it."""
    said = (slot.family, slot.key, value)
    text = encode(renamed(said, names) if names else said)
    return int.from_bytes(blake2b(text, digest_size=8, key=salt.to_bytes(8, "little")).digest(), "little")
