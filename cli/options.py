"""What is written behind options, and what it means; anything else is a usage error."""

import re
from collections.abc import Iterable
from pathlib import Path

from models.asking import Usage

REDUCTIONS = ("symmetry", "partial-order", "slicing")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bounds(texts: Iterable[str]) -> dict[str, int]:
    """Bounds from `name=number`, several of them separated by commas or given one by one."""
    found = {}
    for text in ",".join(texts).split(","):
        name, equals, number = text.strip().partition("=")
        if not text.strip():
            continue
        if not (name and equals and number.isdecimal()):
            raise Usage(f"{text!r} is no bound", "write --bounds name=number, as in --bounds brokers=2")
        found[name] = int(number)
    return found


def reductions(text: str) -> dict[str, bool]:
    """The reductions that are switched on, as options of the engine."""
    names = {"all": set(REDUCTIONS), "none": set()}.get(text, set(filter(None, text.split(","))))
    for name in names - set(REDUCTIONS):
        raise Usage(
            f"there is no reduction called {name!r}", f"write all, none, or some of {','.join(REDUCTIONS)}"
        )
    return {name.replace("-", "_"): name in names for name in REDUCTIONS}


def size(text: str | None) -> int | None:
    """A number of bytes, from `4G`, `512M`, `1.5GiB` or plain digits."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not found or float(found[1]) == 0:
        raise Usage(f"{text!r} is no amount of memory", "write a number and a unit, as in --memory 4G")
    return int(float(found[1]) * UNITS[found[2].upper()])


def size_told(bytes: int | None) -> str | None:
    """The reverse: the largest unit of which there is a whole number."""
    if bytes is None:
        return None
    unit = max((unit for unit, size in UNITS.items() if bytes % size == 0), key=lambda unit: UNITS[unit])
    return f"{bytes // UNITS[unit]}{unit}"


def writable(path: Path | None) -> Path | None:
    """A file that can be written when the time comes; better to know now than after an hour."""
    if path is None:
        return None
    try:
        with path.open("a"):
            pass
    except OSError as problem:
        raise Usage(
            f"{path} cannot be written: {problem.strerror}", "name a file in a folder that exists"
        ) from problem
    return path
