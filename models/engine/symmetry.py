"""
Interchangeable names: states that differ only in who is called what are explored once.

A renaming permutes the members of interchangeable domains, in the keys of families and deep inside values.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spec.immutable import Misuse, renamed
from spec.world import Model, State

MOST = 120
"""How many renamings are used at most; beyond that, fewer members are interchanged, which is still sound."""


@dataclass(frozen=True)
class Renaming:
    """A permutation of names, and what it does to places."""

    names: dict[str, str]
    places: tuple[int, ...]
    """Where each place goes."""

    @staticmethod
    def identity(model: Model) -> "Renaming":
        return Renaming({}, tuple(range(len(model.slots))))

    @cached_property
    def _origin(self) -> tuple[int, ...]:
        return tuple(self.places.index(place) for place in range(len(self.places)))

    def back(self, place: int) -> int:
        """Which place goes to this one; the places after a step come behind those before."""
        half, at = divmod(place, len(self.places))
        return half * len(self.places) + self._origin[at]

    def value(self, value: Any) -> Any:
        return renamed(value, self.names) if self.names else value

    def state(self, state: Sequence[Any]) -> State:
        made = [None] * len(state)
        for place, value in enumerate(state):
            made[self.places[place]] = self.value(value)
        return tuple(made)


def renamings(model: Model) -> tuple[Renaming, ...]:
    """All renamings of a world's interchangeable domains, the identity first."""
    groups = [list(model.members(domain)) for domain in model.world.interchangeable]
    for domain, group in zip(model.world.interchangeable, groups, strict=True):
        if not all(isinstance(name, str) for name in group):
            raise Misuse(f"{domain.name}: only domains of names (with a prefix) can be interchangeable")
    while math.prod(math.factorial(len(group)) for group in groups) > MOST:
        max(groups, key=len).pop()
    found = []
    for arranged in itertools.product(*(itertools.permutations(group) for group in groups)):
        pairs = zip(itertools.chain(*groups), itertools.chain(*arranged), strict=True)
        names = {old: new for old, new in pairs if old != new}
        found.append(Renaming(names, _places(model, names)))
    return tuple(found)


def _places(model: Model, names: dict[str, str]) -> tuple[int, ...]:
    where = {(slot.family, slot.key): place for place, slot in enumerate(model.slots)}
    return tuple(
        where[slot.family, tuple(names.get(k, k) if isinstance(k, str) else k for k in slot.key)]
        for slot in model.slots
    )
