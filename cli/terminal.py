"""A run of checks as a person sees it in a terminal, from the same events as all other reports."""

import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from rich.table import Table
from rich.text import Text

from cli.console import COLOURS, QUIET_SECONDS, Progress, err, out
from models.events import Check, Decided, Event, Finished, Progressed, Record, Started
from models.traces import text
from models.traces.story import Story
from models.verdict import Verdict

WORLDS = "worlds"
VERDICT = 21
"""As wide as the longest verdict of a world that is well."""


class Terminal:
    """Rows as they come, then what a person needs who has to understand what does not hold."""

    def __init__(self, each: bool, named: Collection[str], for_worlds: str = "") -> None:
        self.each, self.named, self.for_worlds = each, named, for_worlds
        self.record = Record()
        self.pool: Progress | None = None
        self.line = Line()
        self.width = 0

    def __call__(self, event: Event) -> None:
        self.record(event)
        match event:
            case Started():
                self._start(event)
            case Progressed():
                self.line.show(event)
            case Decided(check) if check.area == WORLDS:
                self.line.clear()
                self._row(event)
            case Decided(check):
                self._advance(check)
            case Finished():
                self._end()

    def _start(self, started: Started) -> None:
        others = [check for check in started.checks if check.area != WORLDS]
        worlds = [check for check in started.checks if check.area == WORLDS]
        self.width = max((len(check.name) for check in worlds), default=0)
        told = []
        if others:
            told.append(
                "{} checks, {examples} examples per law, seed {seed}".format(len(others), **started.options)
            )
            self.pool = Progress(len(others), "checks")
        if worlds:
            several = "worlds" if len(worlds) > 1 else "world"
            told.append("{} {}, engine {engine}".format(len(worlds), several, **started.options))
        out.print("; ".join(told), markup=False)

    def _advance(self, check: Check) -> None:
        """A law or contract is decided; when it was the last, they are shown together."""
        assert self.pool is not None
        self.pool.advance(check.id)
        if self.pool.done == self.pool.total:
            self.pool.close()
            order = {check.id: number for number, check in enumerate(self.record.started.checks)}
            decided = sorted(self._others(), key=lambda one: order[one.check.id])
            out.print(table_of_checks(decided) if self.each else table_of_areas(decided))

    def _others(self) -> list[Decided]:
        return [one for one in self.record.decided if one.check.area != WORLDS]

    def _row(self, one: Decided) -> None:
        """A line for a world: verdict, size, time, and where its traces are."""
        first = len([d for d in self.record.decided if d.check.area == WORLDS]) == 1
        if first:
            head = (
                f"{'verdict':<{VERDICT}}  {'world':<{self.width}}  {'states':>13}  {'transitions':>13}  depth"
            )
            out.print(f"{head}  seconds", style="dim", markup=False)
        figures = one.figures
        cells = Text(f"{one.verdict:<{VERDICT}}", style=_colour(one))
        cells.append(f"  {one.check.name:<{self.width}}", style="default")
        if figures:
            sizes = f"  {figures['states']:>13,}  {figures['transitions']:>13,}  {figures['depth']:>5}"
            cells.append(f"{sizes}  {one.outcome.seconds:>7.1f}", style="default")
            for id in filter(None, figures["breaches"].values()):
                cells.append(f"  {id}", style="default")
        out.print(cells)
        if self.each:
            out.print(f"{'':<{VERDICT}}  {one.check.says}", markup=False, style="dim")
        for note in figures.get("notes", ()) if self._in_full(one) else ():
            out.print(f"{'':<{VERDICT}}  {note}", markup=False, style="dim")

    def _in_full(self, one: Decided) -> bool:
        """Whether somebody asked for this very check, and so wants to see its traces even if all is well."""
        return self.each or bool({one.check.name, one.check.id} & set(self.named))

    def _end(self) -> None:
        for_laws = "--examples {examples} --seed {seed}".format(**self.record.started.options)
        for one in self.record.decided:
            stories = self.record.stories(one.check)
            if not one.expected or self._in_full(one):
                for story in stories:
                    out.print()
                    show_story(story)
            if not one.expected:
                report(one, self.for_worlds if one.check.area == WORLDS else for_laws, bool(stories))
        out.print("\n" + ", ".join(counts(self.record.decided)))


def show_story(story: Story) -> None:
    """A trace, with what broke in red."""
    for line in text.lines(story):
        shown = Text(line)
        shown.highlight_words(["VIOLATED", "← broken here"], "bold red")
        shown.highlight_words(["REACHED", "← reached"], "green")
        shown.highlight_words(["↺ from here"], "yellow")
        out.print(shown)


def report(one: Decided, options: str, told: bool) -> None:
    """What a person needs who has to understand a check that is not as expected."""
    item, verdict = one.check, one.outcome.verdict.value
    world = item.area == WORLDS
    if not told:
        out.print()
        head = Text(f"{'misused' if one.misuse else verdict}".upper(), style=_colour(one))
        out.print(
            head.append(f"  {item.name}  {'' if world else ' '.join(item.claims)}".rstrip(), style="default")
        )
        out.print(f"  {item.says}", markup=False)
    for line in one.outcome.explanation.strip().splitlines():
        out.print(f"    {line}", markup=False)
    if not told:
        out.print(f"  replay   ./braid check {item.name} {options}".rstrip(), markup=False)


class Line:
    """How far an exploration has come: a line that renews itself, elsewhere one every ten seconds."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._last = time.monotonic()
        self._shown = False

    def show(self, event: Progressed) -> None:
        now = time.monotonic()
        if self._live:
            sys.stderr.write(f"\r\x1b[K{standing(event)[:120]}")
            sys.stderr.flush()
            self._shown = True
        elif now - self._last >= QUIET_SECONDS:
            self._last = now
            err.print(standing(event), markup=False)

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def standing(event: Progressed) -> str:
    """Rate, depth, frontier, and how much is left as far as anybody can know."""
    now, rate = event.standing, event.standing.states / max(event.seconds, 1e-9)
    level = f"{now.done / now.frontier:.0%}" if now.frontier else "–"
    told = f"{event.check.name}  {now.states:,} states, {rate:,.0f}/s, depth {now.depth}"
    told += f", frontier {now.frontier:,} ({level} done), {event.seconds:.0f} s"
    if event.total is not None and now.depth and now.states <= event.total:
        told += f", {now.states / event.total:.0%} of all, {(event.total - now.states) / rate:.0f} s left"
    return told


def table_of_areas(decided: Sequence[Decided]) -> Table:
    """A row for each area."""
    table = _table("area", "checks", "verdict", "seconds")
    for area in dict.fromkeys(one.check.area for one in decided):
        found = [one for one in decided if one.check.area == area]
        seconds = sum(one.outcome.seconds for one in found)
        table.add_row(area, str(len(found)), _verdicts(found), f"{seconds:.1f}")
    return table


def table_of_checks(decided: Sequence[Decided]) -> Table:
    """A row for each check."""
    table = _table("verdict", "area", "check", "basis", "says")
    for one in decided:
        item = one.check
        table.add_row(_verdicts([one]), item.area, item.name, one.outcome.basis, item.says)
    return table


def counts(decided: Iterable[Decided]) -> list[str]:
    """How many of each verdict, the good ones first."""
    found = Counter(one.verdict.replace(",", "") for one in decided)
    order = [
        f"{verdict.value}{suffix}"
        for verdict in Verdict
        for suffix in ("", " as expected", " but not as expected")
    ]
    return [f"{found[words]} {words}" for words in order if found[words]]


def _verdicts(found: Sequence[Decided]) -> Text:
    kinds = [verdict.value for verdict in Verdict if any(one.outcome.verdict is verdict for one in found)]
    words = kinds[0] if len(kinds) == 1 else ", ".join(counts(found))
    return Text(words, style=COLOURS[kinds[-1]])


def _colour(one: Decided) -> str:
    if one.expected:
        return "green"
    return (
        "bold red"
        if one.outcome.verdict is Verdict.HOLDS or one.misuse
        else COLOURS[one.outcome.verdict.value]
    )


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="right" if column in ("checks", "seconds") else "left")
    return table
