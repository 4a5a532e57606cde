"""
Traces kept on disk, each in one file under a short id.

The id is a hash of what makes the trace: equal traces have equal ids, whichever engine found them.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from models.asking import Usage, asked, proposal, told
from models.engine.result import Breach, Move, Trace
from models.worlds import properties_of
from spec.world import World

VERSION = 1
"""Of the form of the files."""

LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
"""Thirty-two that cannot be taken for one another."""

LENGTH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A trace with everything that is needed to let it happen again."""

    world: str
    design: str
    bounds: Mapping[str, int]
    property: str
    ids: tuple[str, ...]
    sort: str
    """What sort of property it breaks; `sometimes` for one that it reaches, nothing for the undeclared."""
    sentences: tuple[str, ...]
    trace: Trace
    engine: str
    label: str = ""
    """The property with the arguments for which it does not hold, if it has any."""
    id: str = ""

    def about(self) -> str:
        """What the trace is about: the property, with its arguments where they matter."""
        return self.label or self.property


def of(
    world: World,
    property: str,
    trace: Trace,
    *,
    ids: tuple[str, ...] = (),
    sort: str = "",
    sentences: tuple[str, ...] = (),
    label: str = "",
    engine: str = "",
) -> Kept:
    """A trace of a world, ready to be kept."""
    return Kept(
        world=world.name,
        design=told(world.design),
        bounds=dict(world.bounds),
        property=property,
        ids=ids,
        sort=sort,
        sentences=sentences,
        trace=trace,
        label=label,
        engine=engine,
    )


def of_breach(world: World, breach: Breach, engine: str) -> Kept:
    """A breach, ready to be kept."""
    return of_trace(world, breach.property, breach.trace, engine, breach.ids, breach.sentences, breach.label)


def of_trace(
    world: World,
    name: str,
    trace: Trace,
    engine: str,
    ids: tuple[str, ...] = (),
    sentences: tuple[str, ...] = (),
    label: str = "",
) -> Kept:
    """A trace to a property of a world, which knows of what sort that is."""
    sort = {p.name: p.sort.value for p in properties_of(world)}.get(name, "")
    return of(world, name, trace, ids=ids, sort=sort, sentences=sentences, label=label, engine=engine)


def keep(folder: Path, kept: Kept) -> Kept:
    """Write a trace and return it with its id; nobody ever sees half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    id = _free(folder, kept)
    document = {"version": VERSION, **asdict(replace(kept, id=id))}
    handle, draft = tempfile.mkstemp(dir=folder, prefix=f".{id}-", suffix=".draft")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, indent=1)
        os.replace(draft, folder / f"{id}.json")
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return replace(kept, id=id)


def fetch(folder: Path, id: str) -> Kept:
    """The trace with this id; one that does not exist or cannot be read is refused."""
    path = folder / f"{id}.json"
    if not re.fullmatch(f"[{LETTERS}]{{{LENGTH}}}", id) or not path.is_file():
        known = [entry.stem for entry in folder.glob("?????.json")]
        raise Usage(
            f"there is no trace {id!r}", proposal(id, known, "./braid check finds traces, ./braid sample too")
        )
    try:
        return _read(json.loads(path.read_text(encoding="utf-8")), id)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as broken:
        problem = f"trace {id} cannot be read: {type(broken).__name__}: {broken}"
        raise Usage(problem, f"delete {path} and run ./braid check again") from broken


def world_of(kept: Kept) -> World:
    """The world in which a trace happened, as it is written today."""
    return asked(kept.world, kept.design, kept.bounds)


def _read(document: dict[str, Any], id: str) -> Kept:
    if document["version"] != VERSION:
        raise ValueError(f"it has version {document['version']}, this is version {VERSION}")
    trace = document["trace"]
    moves = tuple(Move(str(move["label"]), tuple(map(int, move["decisions"]))) for move in trace["moves"])
    loop = None if trace["loop"] is None else int(trace["loop"])
    if int(trace["start"]) < 0 or not (loop is None or 0 <= loop <= len(moves)):
        raise ValueError("it starts or repeats nowhere")
    return Kept(
        world=str(document["world"]),
        design=str(document["design"]),
        bounds={str(name): int(value) for name, value in document["bounds"].items()},
        property=str(document["property"]),
        ids=tuple(map(str, document["ids"])),
        sort=str(document["sort"]),
        sentences=tuple(map(str, document["sentences"])),
        trace=Trace(moves, int(trace["start"]), loop),
        engine=str(document["engine"]),
        label=str(document.get("label", "")),
        id=id,
    )


def _free(folder: Path, kept: Kept) -> str:
    """The id of a trace: another one than the first only if that belongs to a different trace."""
    what = (kept.world, kept.design, sorted(kept.bounds.items()), kept.property, asdict(kept.trace))
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).digest()
    while True:
        number = int.from_bytes(digest)
        id = "".join(LETTERS[number >> 5 * i & 31] for i in range(LENGTH))
        try:
            other = fetch(folder, id)
        except Usage:
            return id
        same = (other.world, other.design, other.bounds, other.property, other.trace)
        if same == (kept.world, kept.design, kept.bounds, kept.property, kept.trace):
            return id
        digest = hashlib.sha256(digest).digest()
