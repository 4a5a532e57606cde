"""`./braid stats`: how large a world is, where, and what the engine spent on it."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from cli.console import emit, out
from cli.terminal import Line
from cli.worlds import Manner, check_of
from models.engine.result import Result
from models.events import Progressed
from spec.world import World

BAR = 50
ROWS = 40
"""Columns of the longest bar, and rows of a histogram; deeper worlds have several depths in a row."""


def stats(name: str, manner: Manner, as_json: bool) -> int:
    """Explore a world and print figures; the exit code says nothing of the verdict, that is `check`."""
    world = manner.world(name)
    result = _explored(world, manner)
    if as_json:
        emit(as_plain(result))
        return 0
    rate = result.states / max(result.seconds, 1e-9)
    out.print(f"{name}: {result.verdict.value}, engine {result.engine}", markup=False)
    out.print(
        f"  {result.states:,} states, {result.transitions:,} transitions, depth {result.depth}, "
        f"{result.seconds:.2f} s, {rate:,.0f} states/s"
    )
    for line in filter(None, (result.cut, *result.notes)):
        out.print(f"  {line}", markup=False)

    _bars("how often each action happened", result.fired)
    _bars("states by depth", dict(histogram(result.levels)))
    tables = {key: value for key, value in result.details.items() if isinstance(value, Mapping)}
    plain = {key: value for key, value in result.details.items() if not isinstance(value, Mapping)}
    for title, table in tables.items():
        _bars(title.replace("_", " "), table)
    if plain:
        out.print("\nengine", style="bold")
    for key, value in plain.items():
        out.print(f"  {key.replace('_', ' '):<24} {_number(value):>16}", markup=False)
    return 0


def as_plain(result: Result) -> dict[str, Any]:
    """The same for programs."""
    return {
        "world": result.world.name,
        "engine": result.engine,
        "verdict": result.verdict.value,
        "states": result.states,
        "transitions": result.transitions,
        "depth": result.depth,
        "seconds": round(result.seconds, 3),
        "states_per_second": round(result.states / max(result.seconds, 1e-9)),
        "levels": result.levels,
        "fired": result.fired,
        "never": [action for action, times in result.fired.items() if not times],
        "witnesses": {
            name: None if trace is None else len(trace.moves) for name, trace in result.witnesses.items()
        },
        "edge": result.edge,
        "cut": result.cut,
        "notes": result.notes,
        "details": result.details,
    }


def histogram(levels: Sequence[int]) -> list[tuple[str, int]]:
    """States by depth, in at most so many rows."""
    each = -(-len(levels) // ROWS) or 1
    return [
        (str(at) if each == 1 else f"{at}–{min(at + each, len(levels)) - 1}", sum(levels[at : at + each]))
        for at in range(0, len(levels), each)
    ]


def _explored(world: World, manner: Manner) -> Result:
    line, check, started = Line(), check_of(world), time.perf_counter()
    result = manner.explore(
        world, lambda standing: line.show(Progressed(check, standing, time.perf_counter() - started))
    )
    line.clear()
    return result


def _bars(title: str, table: Mapping[str, Any]) -> None:
    """Numbers as bars; by size if they are many names, in their own order if they are depths."""
    numbers = {str(name): value for name, value in table.items() if isinstance(value, int | float)}
    if not numbers:
        return
    out.print(f"\n{title}", style="bold", markup=False)
    width, most = max(map(len, numbers)), max(numbers.values()) or 1
    rows = list(numbers.items())
    if not rows[0][0][:1].isdigit():
        rows.sort(key=lambda row: -row[1])
    for name, value in rows:
        bar = "█" * round(BAR * value / most) or ("▏" if value else "")
        out.print(f"  {name:<{width}}  {_number(value):>14}  {bar}".rstrip(), markup=False)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
