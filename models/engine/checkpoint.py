"""
Saved searches: a run that was killed goes on from its last save and ends with the same counts.

A save is written beside the last one and takes its place by one rename, so that there is always a whole one.
It belongs to one world with its bounds, design and text; to another it does not apply.
"""

import inspect
import os
import pickle
import shutil
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.engine.frontier import Block, Frontier, Stored, read_block, write_block
from models.engine.visited import Rows
from spec.world import World

if TYPE_CHECKING:
    from models.engine.fast import Options, Search

FORMAT = 1


def name_of(world: World, options: "Options") -> str:
    """The folder of a run: whatever changes how states are numbered or what is asked gives another one."""
    asked = [p.name for p in world.properties] if world.properties is not None else None
    within = world.within and (world.within.__qualname__, inspect.getclosurevars(world.within).nonlocals)
    written: list[Any] = [*world.machines, *(p.body for p in world.properties or ())]
    written += [world.within] if world.within else []
    texts = sorted({inspect.getsource(inspect.getmodule(one) or one) for one in written})
    question = asked, within, world.interchangeable
    how = (
        options.exact,
        options.symmetry,
        options.partial_order,
        options.slicing,
        options.salt,
        options.chunk,
    )
    bounds = sorted(world.bounds.items())
    told = repr((FORMAT, world.name, bounds, asdict(world.design), question, how, texts))
    return f"{world.name}-{blake2b(told.encode(), digest_size=6).hexdigest()}"


def exists(folder: Path) -> bool:
    return _last(folder) is not None


def _last(folder: Path) -> Path | None:
    """The last whole save; it is still called `old` if the run died between two renames."""
    return next((folder / name for name in ("save", "old") if (folder / name).is_dir()), None)


def save(search: "Search") -> None:
    """Write everything that the search needs in order to go on."""
    folder = search.folder
    new = folder / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    search.parents.spill(folder / "parents.bin")
    for which, frontier in (("waiting", search.waiting), ("next", search.next)):
        for number, block in enumerate(frontier.blocks):
            path = new / f"{which}-{number:06}.npz"
            if isinstance(block, Stored):
                shutil.copyfile(block.path, path)
            else:
                write_block(path, block)
    visited = search.visited
    arrays: dict[str, Any] = {f"table{i}": table for i, table in enumerate(visited.tables)}
    if isinstance(visited, Rows):
        arrays |= {f"numbers{i}": numbers for i, numbers in enumerate(visited.numbers)}
        arrays |= {"rows": visited.rows[: visited.count], "packing": visited.packing}
    np.savez(new / "visited.npz", filled=np.array(visited.filled), **arrays)
    k, result = search.knowledge, search.result
    rest: dict[str, Any] = {
        "known": k.values.known,
        "watch": k.watch,
        "on_disk": search.parents.on_disk,
        "states": result.states,
        "transitions": result.transitions,
        "edge": result.edge,
        "levels": result.levels,
        "witnesses": result.witnesses,
        "fired": search.fired,
        "before": search.before,
        "looked": search.looked,
        "moved": search.moved,
        "elapsed": search.elapsed(),
    }
    with (new / "rest.pickle").open("wb") as out:
        pickle.dump(rest, out)
        out.flush()
        os.fsync(out.fileno())
    current, old = folder / "save", folder / "old"
    if current.is_dir():
        shutil.rmtree(old, ignore_errors=True)
        current.rename(old)
    new.rename(current)
    shutil.rmtree(old, ignore_errors=True)


def load(search: "Search") -> None:
    """Put a search where the last save of its run was."""
    saved = _last(search.folder)
    assert saved is not None
    rest: dict[str, Any] = pickle.loads((saved / "rest.pickle").read_bytes())
    k, result = search.knowledge, search.result
    for place, values in enumerate(rest["known"]):
        for value in values:
            k.values.intern(place, value)
    k.watch |= rest["watch"]
    for name, trace in rest["witnesses"].items():
        if trace is not None:
            k.retire(name)
    with np.load(saved / "visited.npz") as arrays:
        search.visited.filled = arrays["filled"].tolist()
        search.visited.tables = [arrays[f"table{i}"] for i in range(len(search.visited.tables))]
        if isinstance(search.visited, Rows):
            search.visited.numbers = [arrays[f"numbers{i}"] for i in range(len(search.visited.tables))]
            search.visited.rows, search.visited.packing = arrays["rows"], arrays["packing"]
            search.visited.count = len(search.visited.rows)
    search.pack_again()
    search.parents.file = search.folder / "parents.bin"
    search.parents.count = search.parents.on_disk = rest["on_disk"]
    for which in ("waiting", "next"):
        blocks: list[Block] = [read_block(path) for path in sorted(saved.glob(f"{which}-*.npz"))]
        setattr(search, which, Frontier(blocks))
    for name in ("states", "transitions", "edge", "levels", "witnesses"):
        setattr(result, name, rest[name])
    search.fired, search.before = rest["fired"], rest["before"]
    search.looked, search.moved = rest["looked"], rest["moved"]
    search.started -= rest["elapsed"]
    result.notes.append(f"resumed at depth {result.depth} with {result.states:,} states")
