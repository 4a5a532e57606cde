"""`./braid findings`: the holes in the documents, each with the trace that shows it and the repair."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.table import Table

from cli.console import COLOURS, ROOT, Progress, emit, out
from cli.terminal import Line, show_story
from cli.worlds import Manner, check_of, kept_story, note_left_out, told_at_times
from models.asking import Usage, known, proposal, unreadable
from models.engine.result import Result
from models.findings import Shown, incomplete, shown, story_of
from models.reports.findings import commands, pages, paragraphs
from models.traces.story import Story, seen_from_root
from proofs.checks import read_findings, read_ledger
from spec.claims import Ledger
from spec.holes import FINDING_ID, Finding, flaws, unexplained
from spec.refusals import Refused
from spec.world import Model, World

PAGES = ROOT / "docs" / "findings"


def findings(name: str | None, update: bool, as_json: bool) -> int:
    """Show what is asked for; the exit code is 1 when something is missing."""
    try:
        every, ledger = read_findings(), read_ledger()
    except (OSError, UnicodeDecodeError, Refused) as broken:
        raise Usage(f"the findings cannot be read: {broken}", "mend spec/findings/") from broken
    note_left_out(unreadable())
    if name is not None:
        if update:
            raise Usage("--update writes all pages, so that the index fits them", "leave out the id")
        return show(called(name, every), ledger, as_json)

    problems = list(missing(every, ledger))
    if update or as_json:
        worlds = known()
        told, more = told_of(one for one in every if not incomplete([one], worlds))
        problems += more
    if update:
        write(told, every, ledger)
    if as_json:
        emit({"exit": int(bool(problems)), "findings": [as_plain(*one) for one in told], "missing": problems})
        return int(bool(problems))
    if not update:
        out.print(table(every))
        several = "" if len(every) == 1 else "s"
        out.print(f"\n{len(every)} finding{several}; ./braid findings ID shows one", markup=False)
    for problem in problems:
        out.print(f"MISSING  {problem}", markup=False, style="red")
    return int(bool(problems))


def called(name: str, every: Sequence[Finding]) -> Finding:
    """The finding with this id, or with this repair."""
    for one in every:
        if name.upper() == one.id or name.replace("-", "_") == one.repair:
            return one
    names = [one.id for one in every] + [one.repair for one in every]
    near = proposal(name.upper(), names, "") or proposal(name, names, "./braid findings lists them")
    raise Usage(f"there is no finding called {name!r}", near)


def missing(every: Sequence[Finding], ledger: Ledger) -> Iterator[str]:
    """What keeps the findings from being complete."""
    yield from flaws(every, ledger)
    yield from incomplete(every, known())
    for repair in unexplained(every):
        yield f"no finding is about {repair}, in which the designs differ"


def table(every: Sequence[Finding]) -> Table:
    """A row for each finding; nothing is explored for it."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("finding", "severity", "what goes wrong", "repair", "steps"):
        made.add_column(column, justify="right" if column == "steps" else "left")
    worlds = known()
    for one in every:
        broken = worlds.get(one.broken())
        steps = getattr(broken.expect, "steps", None) if broken else None
        made.add_row(one.id, one.severity.value, one.title, one.repair, "–" if steps is None else str(steps))
    return made


def show(finding: Finding, ledger: Ledger, as_json: bool) -> int:
    """One finding, from the text to the repair."""
    one = shown(finding, known())
    if as_json:
        emit(as_plain(one, story_of(one, explored)))
        return 0
    says = {claim.id: claim.says for claim in ledger.claims}
    out.print(f"{finding.id}  {finding.title}", markup=False, style="bold")
    out.print(f"{finding.severity.value}: {finding.severity.means}", markup=False, style=COLOURS["violated"])
    section("What the text says", finding.says)
    for id in finding.claims:
        out.print(f"  {id:<14} {says.get(id, 'is not in the ledger')}", markup=False, style="dim")
    section("What goes wrong", finding.wrong)
    out.print()
    story = story_of(one, explored)
    show_story(kept_story(Model(one.broken), story.kept))
    section("The repair", f"{finding.repair}: {finding.mended}")
    section("From outside", f"{'Yes' if finding.black_box else 'No'}. {finding.how}")
    section("See for yourself", "")
    for line in commands(finding):
        out.print(f"  {line}", markup=False)
    return 0


def section(head: str, body: str) -> None:
    """A heading and paragraphs."""
    out.print(f"\n{head}", markup=False, style="dim")
    for part in paragraphs(body) if body else ():
        out.print(f"  {part}", markup=False)


def told_of(some: Iterable[Finding]) -> tuple[list[tuple[Shown, Story]], list[str]]:
    """The traces of findings, and why there are none of others; says how far it has got."""
    chosen = list(some)
    progress, told, problems = Progress(len(chosen), "findings explored"), [], []
    worlds = known()
    for finding in chosen:
        one = shown(finding, worlds)
        try:
            told.append((one, story_of(one, explored)))
        except Usage as surprise:
            problems.append(surprise.args[0])
        progress.advance(finding.id)
    progress.close()
    return told, problems


def explored(world: World) -> Result:
    """What there is to see in a world; on the way, standard error says how much it was so far."""
    line = Line()
    try:
        return Manner().explore(world, told_at_times(check_of(world), world, time.perf_counter(), line.show))
    finally:
        line.clear()


def as_plain(one: Shown, story: Story) -> dict[str, Any]:
    """A finding for programs, with the actions of its trace."""
    finding = one.finding
    return {
        "id": finding.id,
        "title": finding.title,
        "severity": finding.severity,
        "seed": finding.seed,
        "claims": finding.claims,
        "property": finding.property,
        "world": finding.world,
        "broken": finding.broken(),
        "repair": finding.repair,
        "black_box": finding.black_box,
        "sentences": story.kept.sentences,
        "steps": len(story.steps),
        "loop": story.kept.trace.loop,
        "actions": [move.label for move in story.kept.trace.moves],
    }


def write(told: Sequence[tuple[Shown, Story]], every: Sequence[Finding], ledger: Ledger) -> None:
    """Write the pages of these findings, and remove those of findings that there are no more."""
    made = pages(told, ledger)
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (PAGES / name).write_text(text, encoding="utf-8")
    for old in PAGES.glob("*.md"):
        if FINDING_ID.fullmatch(old.stem) and old.stem not in [one.id for one in every]:
            old.unlink()
    out.print(f"{len(told)} pages and their index are in {seen_from_root(str(PAGES))}", markup=False)
