"""Worlds: bounded questions. A module in this folder that has `WORLDS` is found by itself."""

from importlib import import_module
from pkgutil import iter_modules

from spec.immutable import Misuse
from spec.world import World


def all_worlds() -> tuple[World, ...]:
    """Every world of this folder, by name."""
    found: dict[str, World] = {}
    for module in iter_modules(__path__, f"{__name__}."):
        for one in getattr(import_module(module.name), "WORLDS", ()):
            if one.name in found:
                raise Misuse(f"two worlds are called {one.name}\n  {found[one.name].place}\n  {one.place}")
            found[one.name] = one
    return tuple(found[name] for name in sorted(found))


def world(name: str) -> World:
    """The world of this name; if there is none, a KeyError."""
    return {one.name: one for one in all_worlds()}[name]
