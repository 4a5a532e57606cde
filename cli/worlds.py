"""`./braid worlds`, and what it takes to check a world: explore it, keep its traces, say what came out."""

import re
import shlex
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cli.compiling import announce
from cli.console import ROOT, emit, error, out
from cli.options import REDUCTIONS, size_told
from models.asking import asked, known, told, unreadable
from models.engine.explore import explore
from models.engine.result import Limits, Result, Standing, replay
from models.events import Check, Decided, Listener, Progressed, Violated
from models.traces import store
from models.traces.store import Kept
from models.traces.story import Story, seen_from_root, tell
from models.verdict import Outcome, Verdict
from models.worlds import Problem, ids_of
from spec.immutable import Misuse
from spec.world import Holds, Model, World

AREA = "worlds"
TRACES = ROOT / ".braid" / "traces"
PROGRESS_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How worlds are explored: as they are, or changed; by which engine, and how far."""

    engine: str = "fast"
    design: str | None = None
    bounds: dict[str, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    fault_cost: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def reduced(self) -> bool:
        return any(self.options.get(name) for name in ("symmetry", "partial_order", "slicing"))

    def world(self, name: str) -> World:
        """The world that is meant; pinned sizes only apply where nothing is left out or weighed."""
        world = asked(name, self.design, self.bounds)
        return world.at() if self.reduced or self.fault_cost is not None else world

    def arguments(self) -> str:
        """
        This manner as it is written on the command line.

        Without `--resume`: what is asked again begins at the beginning.
        """
        limits = self.limits
        reductions = [name for name in REDUCTIONS if self.options.get(name.replace("-", "_"))]
        written = {
            "--design": self.design,
            "--bounds": ",".join(f"{name}={number}" for name, number in self.bounds.items()),
            "--engine": None if self.engine == "fast" else self.engine,
            "--depth": limits.depth,
            "--states": limits.states,
            "--seconds": None if limits.seconds is None else f"{limits.seconds:g}",
            "--memory": size_told(limits.memory),
            "--threads": self.options.get("threads"),
            "--reduce": ",".join(reductions),
            "--save-every": self.options.get("save_every"),
            "--fault-cost": self.fault_cost,
        }
        given = [part for name, value in written.items() if value not in (None, "") for part in (name, value)]
        exact = ["--exact"] if self.options.get("exact") else []
        return shlex.join([str(part) for part in [*given, *exact]])

    def explore(self, world: World, progress: Callable[[Standing], None] | None = None) -> Result:
        if self.engine == "fast" and self.fault_cost is None:
            announce("search")
        return explore(world, self.engine, self.limits, progress, fault_cost=self.fault_cost, **self.options)


def worlds(as_json: bool) -> int:
    """List all worlds: what each asks, and what is expected."""
    every = known()
    note_left_out(unreadable())
    if as_json:
        emit({"worlds": [_row(world) for world in every.values()]})
        return 0
    width = max(map(len, every), default=0)
    for world in every.values():
        out.print(f"{world.name:<{width}}  {world.asks}", markup=False)
        note = ", large: only checked by name" if world.large else ""
        out.print(f"{'':<{width}}  {_expectation(world)}{note}", markup=False, style="dim")
    return 0


def _row(world: World) -> dict[str, Any]:
    return {
        "name": world.name,
        "asks": world.asks,
        "design": told(world.design),
        "bounds": dict(world.bounds),
        "expects": _expectation(world),
        "large": world.large,
    }


def _expectation(world: World) -> str:
    expect = world.expect
    if isinstance(expect, Holds):
        sizes = ((expect.states, "states"), (expect.depth, "deep"))
        return ", ".join(["holds", *(f"{size:,} {what}" for size, what in sizes if size is not None)])
    steps = "" if expect.steps is None else f" in {expect.steps} steps"
    return f"violates {expect.property}{steps}"


def check_of(world: World) -> Check:
    """A world as a check."""
    file, _, line = world.place.rpartition(":")
    place = seen_from_root(file), int(line) if line.isdecimal() else 0
    return Check(f"world:{world.name}", AREA, f"world:{world.name}", world.asks, ids_of(world), place)


def unread_check(problem: Problem) -> Check:
    """A module of worlds that cannot be read, as a check: nobody knows which worlds there are."""
    id, file = f"world:{problem.module}", seen_from_root(problem.file)
    line = re.match(rf"{re.escape(problem.file)}:(\d+)", problem.says)
    place = file, int(line[1]) if line else 1
    return Check(id, AREA, id, f"Which worlds are there in {file}?", (), place)


def note_left_out(problems: Iterable[Problem]) -> None:
    """Tell whoever asks for something else that the worlds of some modules are missing."""
    for problem in problems:
        error(f"the worlds of {problem.module} are left out", problem.says)


def run_world(check: Check, world: World, manner: Manner, listen: Listener) -> Decided:
    """Explore a world in this process, and tell what is found."""
    started = time.perf_counter()
    try:
        result = manner.explore(world, told_at_times(check, world, started, listen))
        model = Model(world)
        stories = [kept_story(model, store.of_breach(world, b, result.engine)) for b in result.breaches]
    except Misuse as misuse:
        seconds = time.perf_counter() - started
        decided = Decided(
            check, Outcome(check.id, Verdict.UNKNOWN, "", seconds, str(misuse)), False, {}, True
        )
        listen(decided)
        return decided

    surprises = result.surprises()
    for story in stories:
        listen(Violated(check, story, not surprises))
    decided = Decided(check, outcome_of(check, result, surprises), not surprises, figures(result, stories))
    listen(decided)
    return decided


def outcome_of(check: Check, result: Result, surprises: list[str]) -> Outcome:
    """A result in the form that all checks share."""
    basis = f"{result.states:,} states, {result.transitions:,} transitions, depth {result.depth}"
    reasons = [result.cut] * bool(result.cut) + result.missing * (result.verdict is Verdict.VACUOUS)
    explanation = "\n".join(surprises + reasons * bool(surprises))
    return Outcome(check.id, result.verdict, basis, result.seconds, explanation)


def figures(result: Result, stories: list[Story]) -> dict[str, Any]:
    """What a report says of a world beyond its verdict."""
    return {
        "engine": result.engine,
        "design": told(result.world.design),
        "bounds": dict(result.world.bounds),
        "states": result.states,
        "transitions": result.transitions,
        "depth": result.depth,
        "breaches": {story.kept.property: story.kept.id for story in stories},
        "cut": result.cut,
        "missing": [] if result.breaches else result.missing,
        "notes": result.notes,
    }


def kept_story(model: Model, kept: Kept) -> Story:
    """Keep a trace and tell it; where nothing can be written, it is told without an id."""
    states = replay(model, kept.trace)
    with suppress(OSError):
        kept = store.keep(TRACES, kept)
    return tell(model, kept, states)


def told_at_times(
    check: Check, world: World, started: float, listen: Callable[[Progressed], None]
) -> Callable[[Standing], None]:
    """Somebody whom an exploration can tell how far it has come, and who passes it on now and then."""
    total = world.expect.states if isinstance(world.expect, Holds) else None
    last = started

    def progress(standing: Standing) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= PROGRESS_SECONDS:
            last = now
            listen(Progressed(check, standing, now - started, total))

    return progress
