"""`./braid check`: worlds, laws and contracts, one stream of events, and whoever wants to hear it."""

import json
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cli.console import ROOT, emit, err
from cli.terminal import Terminal
from cli.worlds import AREA, Manner, check_of, note_left_out, run_world, unread_check
from models.asking import Usage, known, left_out, proposal, unreadable
from models.events import (
    Check,
    Decided,
    Event,
    Finished,
    Listener,
    Record,
    Started,
    as_plain,
    decided_as_plain,
    simple,
    story_as_plain,
)
from models.verdict import Outcome, Verdict
from models.worlds import Problem
from spec.world import World


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the run is reported to, besides the terminal."""

    as_json: bool = False
    ndjson: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None


def check(names: list[str], examples: int, seed: int, each: bool, manner: Manner, reports: Reports) -> int:
    """Run the named checks, or all, and say what came out."""
    started = time.perf_counter()
    worlds, unread, others = select(names, manner, quiet=reports.as_json)
    record = Record()
    options = {"seed": seed, "examples": examples, "engine": manner.engine}
    with_files = list(listeners(record, each, names, manner, reports))

    def listen(event: Event) -> None:
        for listener in with_files:
            listener(event)

    checks = {check_of(world): world for world in worlds}
    broken = {unread_check(problem): problem for problem in unread}
    listen(Started((*others, *broken, *checks), options))
    if others:
        by_id = {item.id: item for item in others}

        def decided(outcome: Outcome) -> None:
            listen(Decided(by_id[outcome.check], outcome, outcome.verdict is Verdict.HOLDS))

        from cli.pool import run_all  # noqa: PLC0415 (Hypothesis is slow to load, and a world needs none)

        run_all(others, examples, seed, decided)
    for item, problem in broken.items():
        outcome = Outcome(item.id, Verdict.UNKNOWN, "", 0.0, problem.says)
        listen(Decided(item, outcome, False, misuse=True))
    for item, world in checks.items():
        run_world(item, world, manner, listen)
    code = record.exit_code()
    listen(Finished(code, time.perf_counter() - started))
    return code


def select(
    names: list[str], manner: Manner, quiet: bool = False
) -> tuple[list[World], list[Problem], list[Check]]:
    """
    The worlds and the other checks that are meant: by name, by area, or all that are not too large.

    Laws and contracts are only looked at when a name is not that of a world. A module that cannot be read is
    meant by its own name, and where all worlds are.
    """
    every, unread = known(), unreadable()
    meant = [name.removeprefix("world:") for name in names]
    everything = not names or AREA in names
    chosen = [world for world in every.values() if world.name in meant or (everything and not world.large)]
    broken = [one for one in unread if everything or one.names & set(meant)]
    there = set(every).union(*(one.names for one in broken))
    rest = [name for name in names if name != AREA and name.removeprefix("world:") not in there]
    others = _others(rest, list(every), quiet) if rest or not names else []
    if not chosen and not broken and manner != Manner():
        raise Usage("these options are for worlds, and none is named", "./braid worlds lists them")
    note_left_out(one for one in unread if one not in broken)
    return [manner.world(world.name) for world in chosen], broken, others


def _others(names: list[str], worlds: list[str], quiet: bool) -> list[Check]:
    if not quiet:
        err.print("collecting laws and contracts ...")
    from cli.pool import all_checks  # noqa: PLC0415 (see above)

    checks = list(all_checks())
    names_and_areas = {check.name for check in checks} | {check.area for check in checks}
    ids = {check.id for check in checks}
    for name in names:
        if name not in names_and_areas | ids:
            areas = ", ".join([*dict.fromkeys(check.area for check in checks), AREA])
            near = proposal(name, {*names_and_areas, *worlds, AREA}, f"areas: {areas}")
            raise Usage(f"there is no check or area called {name!r}", "\n".join([near, *left_out()]))
    return [check for check in checks if not names or {check.name, check.id, check.area} & set(names)]


def listeners(
    record: Record, each: bool, names: list[str], manner: Manner, reports: Reports
) -> Iterator[Listener]:
    """Everybody who wants to hear what happens."""
    yield record
    if reports.as_json:
        yield AtTheEnd(lambda: emit(as_one_object(record)))
    else:
        yield Terminal(each, names, manner.arguments())
    if reports.ndjson:
        yield Lines(reports.ndjson)
    if reports.junit:
        yield AtTheEnd(partial(write_junit, record, reports.junit))
    if reports.sarif:
        yield AtTheEnd(partial(write_sarif, record, reports.sarif))


@dataclass(frozen=True, slots=True)
class AtTheEnd:
    """A listener that waits until everything is decided."""

    report: Callable[[], None]

    def __call__(self, event: Event) -> None:
        if isinstance(event, Finished):
            self.report()


class Lines:
    """A listener that writes every event as a line of JSON, at once, so that others can follow."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8")

    def __call__(self, event: Event) -> None:
        print(json.dumps(as_plain(event), default=simple), file=self.file, flush=True)
        if isinstance(event, Finished):
            self.file.close()


def as_one_object(record: Record) -> dict[str, Any]:
    """The whole run for a program."""
    order = {check.id: number for number, check in enumerate(record.started.checks)}
    rows = []
    for one in sorted(record.decided, key=lambda one: order[one.check.id]):
        row = decided_as_plain(one)
        if "breaches" in row:
            row["breaches"] = [story_as_plain(story) for story in record.stories(one.check)]
        rows.append(row)
    return {"exit": record.finished.exit, **record.started.options, "checks": rows}


def write_junit(record: Record, path: Path) -> None:
    from models.reports import junit  # noqa: PLC0415 (only who asks for it pays for it)

    path.write_text(junit.document(record), encoding="utf-8")


def write_sarif(record: Record, path: Path) -> None:
    from models.reports import sarif  # noqa: PLC0415 (only who asks for it pays for it)

    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    path.write_text(json.dumps(sarif.document(record, version), indent=1, default=simple), encoding="utf-8")
