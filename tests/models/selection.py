"""
A fixed selection of machines on which a kernel is held against the reference engine, in a minute at most.

Most are drawn by lot from fixed seeds. Two are written for what lots seldom bring: an action that could be
put off for ever, and one that is not possible yet but spoils what another one does.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from models.engine import fast, liveness, symmetry, values
from models.engine.result import Limits
from models.worlds import independent_clients
from spec.machine import Machine, Variable, action, always, require
from spec.world import Model, World
from tests.models.agreement import (
    checked,
    compared,
    explored,
    orbits,
    reduced_agrees,
    reference_search,
    truth_of,
)
from tests.models.machines import Manner, seeded

ENOUGH = Limits(states=400)
PLAIN, ALIKE, REDUCIBLE = range(40), range(12), range(12)


class Restless(Machine):
    """Somebody who never sits still, and of whom nobody takes notice."""

    left = Variable[bool](False)
    spoken = Variable[bool](False)


@action()
def turn(w: Restless) -> None:
    w.left = not w.left


@action()
def speak(w: Restless) -> None:
    require(not w.spoken)
    w.spoken = True


@always()
def nobody_speaks(w: Restless) -> Iterator[str]:
    if w.spoken:
        yield "somebody spoke"


class Gate(Machine):
    """Whoever passes the gate before it was closed behind him is seen."""

    shut = Variable[bool](False)
    open = Variable[bool](False)
    seen = Variable[bool](False)


@action()
def shut(w: Gate) -> None:
    require(not w.shut)
    w.shut = True


@action()
def open_up(w: Gate) -> None:
    require(not w.open)
    w.open = True


@action()
def pass_through(w: Gate) -> None:
    require(w.open)
    require(not w.shut)
    w.seen = True


@always()
def nobody_is_seen(w: Gate) -> Iterator[str]:
    if w.seen:
        yield "somebody was seen"


WRITTEN = tuple(World(name="written", asks="?", machines=(one,), bounds={}) for one in (Restless, Gate))


def main() -> int:
    """Print what differs; 1 if anything does."""
    found = next(differences(), "")
    print(found)
    return 1 if found else 0


def differences() -> Iterator[str]:
    """Everything in which the fast engine differs from what is true of the selection."""
    folder = tempfile.TemporaryDirectory()
    with folder, patch.object(fast, "RUNS", Path(folder.name)), patch.object(fast, "SMALL", 0):
        yield from of_reduced_machines()
        yield from of_plain_machines()
        yield from of_machines_with_symmetry()
        yield from of_a_larger_world()


def of_plain_machines() -> Iterator[str]:
    """Counts, verdicts and traces, by both sorts of visited sets, in small and in large chunks."""
    for seed in PLAIN:
        world = seeded(seed)
        search = reference_search(world, ENOUGH)
        found = [explored(world, ENOUGH, threads=1), explored(world, ENOUGH, threads=2, chunk=5)]
        with patch.object(values, "word_of", lambda *what: symmetry.word_of(*what) & 0xF):
            found.append(explored(world, ENOUGH, threads=1, exact=True))
        for result in found:
            for told in (*compared(search.result, result), *checked(search.model, result)):
                yield f"plain machine {seed}: {told}"


def of_machines_with_symmetry() -> Iterator[str]:
    for seed in ALIKE:
        world = seeded(seed, Manner(alike=True))
        search = reference_search(world, ENOUGH)
        if not search.result.cut:
            found = explored(world, threads=1, symmetry=True).states
            if found != orbits(search.model, search.parents):
                yield f"machine {seed} with symmetry: {found} orbits"


def of_reduced_machines() -> Iterator[str]:
    """What is true of all reachable states."""
    drawn = [seeded(seed, Manner(reducible=True)) for seed in REDUCIBLE]
    for number, world in enumerate((*WRITTEN, *drawn)):
        model = Model(world)
        graph = liveness.graph_of(model, ENOUGH.states)
        if not graph.outside.any():
            found = explored(world, threads=1, partial_order=True)
            told = reduced_agrees(truth_of(model, graph), found)
            yield from (f"reduced machine {number}: {line}" for line in told)


def of_a_larger_world() -> Iterator[str]:
    """Tables grow, and fingerprints come to stand where others are."""
    world = independent_clients.SMALL
    expected = reference_search(world, Limits()).result
    for told in compared(expected, explored(world, threads=2)):
        yield f"{world.name}: {told}"


if __name__ == "__main__":
    sys.exit(main())
