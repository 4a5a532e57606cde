"""Worlds: bounded questions. A module in this folder that has `WORLDS` is found by itself."""

import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from spec.immutable import Misuse
from spec.machine import Action, Domain, Machine, Property
from spec.world import Holds, Violated, World


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
    """The ids of all rules that are at work in a world: what happens in it, and what is checked."""
    rules: list[Action | Property] = [action for machine in world.machines for action in machine.actions]
    rules += properties_of(world)
    at_work = (rule for rule in rules if rule.name not in world.idle)
    return tuple(dict.fromkeys(id for rule in at_work for id in rule.ids))


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
        for slip in _slips(one):
            raise Misuse(f"{one.place} world {one.name}: {slip}")
        yield one


def _slips(world: World) -> Iterator[str]:
    """What stands in a world where something else belongs; a comma is easily forgotten."""
    parts: dict[str, tuple[object, type]] = {
        "machines": (world.machines, type(Machine)),
        "properties": (world.properties or (), Property),
        "interchangeable": (world.interchangeable, Domain),
        "idle": (world.idle, str),
    }
    for field, (value, kind) in parts.items():
        if not isinstance(value, tuple):
            yield f"{field} is a tuple, as in {field}=(…,)"
        else:
            strange = [one for one in value if not isinstance(one, kind)]
            yield from (f"{field} contains {one!r}, which does not belong there" for one in strange)
    if not isinstance(world.bounds, Mapping) or not all(type(size) is int for size in world.bounds.values()):
        yield "bounds are numbers by name, as in bounds={'clients': 3}"
    if not isinstance(world.expect, Holds | Violated):
        yield "expect is Holds(...) or Violated(...)"
    sizes = ("states", "depth") if isinstance(world.expect, Holds) else ("steps",)
    for size in sizes:
        if type(getattr(world.expect, size, None)) not in (int, type(None)):
            yield f"{size} is a number"


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
