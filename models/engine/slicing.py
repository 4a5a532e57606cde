"""Cone of influence (being written)."""
from dataclasses import dataclass

from spec.world import Model


@dataclass(frozen=True, slots=True)
class Slice:
    instances: tuple[int, ...]
    places: frozenset[int]
    why: str


def slice_of(model: Model) -> Slice:
    return Slice(tuple(range(len(model.instances))), frozenset(range(len(model.slots))), "everything is kept")
