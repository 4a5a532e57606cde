"""What can be asked for by name: worlds, bounds and designs; and what is said when there is no such thing."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import Enum
from typing import Any, get_type_hints

from models import worlds
from models.worlds import Problem
from spec.design import NAMED, Design
from spec.immutable import Misuse
from spec.world import Holds, World


class Usage(Exception):
    """Somebody asked for what does not exist or does not fit: what is wrong, and what to do next."""


def known() -> dict[str, World]:
    """Every world by its name; those of modules that cannot be read are missing."""
    try:
        found = worlds.all_worlds()
    except worlds.Unreadable as some:
        found = some.others
    return {world.name: world for world in found}


def unreadable() -> list[Problem]:
    """The modules whose worlds are missing, and why."""
    try:
        worlds.all_worlds()
    except worlds.Unreadable as some:
        return some.problems
    return []


def left_out() -> list[str]:
    """What to say to somebody who may miss a world of a module that cannot be read."""
    return [f"worlds of {one.module} are left out: {one.says}" for one in unreadable()]


def asked(name: str, design: str | None = None, bounds: Mapping[str, int] | None = None) -> World:
    """
    A world, on request under another design or within other bounds.

    What a world expects, it expects of its own design: under another one it is only asked whether it holds.
    """
    every = known()
    if name not in every:
        near = proposal(name, every, "./braid worlds lists them")
        raise Usage(f"there is no world called {name!r}", "\n".join([near, *left_out()]))
    world = every[name]
    if bounds:
        try:
            world = world.at(**bounds)
        except Misuse as unknown:
            raise Usage(str(unknown), "bounds are given as --bounds name=number") from unknown
    if design is not None and (wanted := design_called(design)) != world.design:
        world = replace(world, design=wanted, expect=Holds())
    return world


def proposal(name: str, every: Iterable[str], otherwise: str) -> str:
    """What somebody may have meant who wrote a name that does not exist."""
    names = sorted(every)
    near = [one for one in names if name and name in one][:3] or difflib.get_close_matches(name, names)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def design_called(text: str) -> Design:
    """The design with this name, or `NAME but field=value, ...`; the reverse of `told`."""
    name, _, changes = text.partition(" but ")
    if name not in NAMED:
        raise Usage(f"there is no design called {name!r}", f"designs: {', '.join(NAMED)}")
    hints = get_type_hints(Design)
    made: dict[str, Any] = {}
    for change in filter(None, changes.split(",")):
        field, _, value = change.strip().partition("=")
        if field not in hints:
            near = proposal(field, hints, f"fields: {', '.join(hints)}")
            raise Usage(f"a design has no field {field!r}", near)
        made[field] = _value(field, hints[field], value)
    return replace(NAMED[name], **made)


def told(design: Design) -> str:
    """A design in words: the nearest one that has a name, and the fields in which it differs."""

    def differences(named: str) -> list[str]:
        pairs = ((f.name, getattr(design, f.name), getattr(NAMED[named], f.name)) for f in fields(Design))
        return [f"{field}={_text(own)}" for field, own, other in pairs if own != other]

    nearest = min(NAMED, key=lambda named: len(differences(named)))
    changes = ", ".join(differences(nearest))
    return f"{nearest} but {changes}" if changes else nearest


def _text(value: Any) -> str:
    return value.name if isinstance(value, Enum) else str(value).lower()


def _value(field: str, kind: Any, text: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        choices: dict[str, Any] = {member.name: member for member in kind}
    elif kind is bool:
        choices = {"true": True, "false": False}
    else:
        choices = {text: int(text)} if kind is int and text.lstrip("-").isdecimal() else {}
    if text not in choices:
        raise Usage(f"{field} cannot be {text!r}", f"it can be {' or '.join(choices) or 'a number'}")
    return choices[text]
