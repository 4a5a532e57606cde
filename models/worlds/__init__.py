"""Worlds: bounded questions. A module in this folder that has `WORLDS` is found by itself."""

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from spec.immutable import Misuse
from spec.machine import Action, Property
from spec.world import World


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a module of this folder cannot be read; what it says names the line."""

    module: str
    file: str
    says: str

    @property
    def names(self) -> set[str]:
        """What its world is probably called."""
        return {self.module, self.module.replace("_", "-")}


class Unreadable(Misuse):
    """Some module of this folder cannot be read; the worlds of the others are known all the same."""

    def __init__(self, problems: list[Problem], others: tuple[World, ...]) -> None:
        super().__init__("\n".join(problem.says for problem in problems))
        self.problems, self.others = problems, others


def all_worlds() -> tuple[World, ...]:
    """Every world of this folder, by name."""
    found: dict[str, World] = {}
    problems = []
    for module in iter_modules(__path__, f"{__name__}."):
        try:
            for one in _worlds_in(module.name):
                if one.name in found:
                    first = found[one.name].place
                    raise Misuse(f"two worlds are called {one.name}\n  {first}\n  {one.place}")
                found[one.name] = one
        except Exception as error:
            problems.append(_problem(module.name, error))
    worlds = tuple(found[name] for name in sorted(found))
    if problems:
        raise Unreadable(problems, worlds)
    return worlds


def world(name: str) -> World:
    """The world of this name; if there is none, a KeyError."""
    return {one.name: one for one in all_worlds()}[name]


def properties_of(world: World) -> tuple[Property, ...]:
    """What is checked in a world."""
    if world.properties is not None:
        return world.properties
    return tuple(p for machine in world.machines for p in machine.properties)


def ids_of(world: World) -> tuple[str, ...]:
    """The ids of all rules that take part in a world: what happens in it, and what is checked."""
    rules: list[Action | Property] = [action for machine in world.machines for action in machine.actions]
    rules += properties_of(world)
    return tuple(dict.fromkeys(id for rule in rules for id in rule.ids))


def _worlds_in(name: str) -> Iterator[World]:
    """The worlds of a module; the usual slips in writing them down are named."""
    module = import_module(name)
    file = module.__file__
    own = (one for one in vars(module).values() if isinstance(one, World))
    forgotten = [one.place for one in own if one.place.startswith(f"{file}:")]
    if not hasattr(module, "WORLDS") and forgotten:
        raise Misuse(f"{forgotten[0]} nobody finds this world: write WORLDS = (...,) with it")
    listed = getattr(module, "WORLDS", ())
    if not isinstance(listed, tuple | list):
        raise Misuse(f"{file}: WORLDS is {type(listed).__name__}, not a tuple; one world is written (world,)")
    for one in listed:
        if not isinstance(one, World):
            raise Misuse(f"{file}: WORLDS contains {one!r}, which is no World")
        yield one


def _problem(name: str, error: Exception) -> Problem:
    """Why a module cannot be read: the line of it that is to blame, and what is wrong there."""
    spec = find_spec(name)
    file = (spec.origin if spec else None) or name
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    place = f"{file}:{lines[-1]}" if lines else file
    said = f"{place} {type(error).__name__}: {error}"
    if isinstance(error, Misuse):
        said = str(error)
    elif isinstance(error, SyntaxError) and error.filename:
        said = f"{error.filename}:{error.lineno} {type(error).__name__}: {error.msg}"
    return Problem(name.rpartition(".")[2], file, said)
