"""A story as lines for a terminal, in columns: number, actor, action, variable, before and after."""

from collections.abc import Iterator, Sequence

from models.traces.story import Change, Story

GAP = "  "
INDENT = " " * 10
WIDE = 48
"""So many columns are kept free for a change; a longer one pushes the mark to the right."""


def lines(story: Story) -> Iterator[str]:
    """What broke, how, and what to do with it."""
    kept = story.kept
    verdict = "REACHED" if kept.sort == "sometimes" else "VIOLATED"
    head = f"{verdict:<10}{'  '.join((*kept.ids, kept.about()))}"
    yield f"{head:<66}  world {kept.world}, design {kept.design}"
    for sentence in kept.sentences:
        yield from (f"{INDENT}{line}" for line in sentence.splitlines())
    yield ""
    yield from steps(story)
    if kept.id:
        yield ""
        yield f"  replay   ./braid replay {kept.id}        diagram   ./braid show {kept.id} --html" + (
            f"        test   ./braid pin {kept.id}" if verdict == "VIOLATED" else ""
        )


def steps(story: Story) -> Iterator[str]:
    """A line for each variable that changed, the first of a step with its number, actor and action."""
    rows = list(_rows(story))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for number, actor, action, variable, change, mark in rows:
        if mark.startswith("↺"):
            yield f"{GAP}{'':>{widths[0]}}{GAP}{mark}"
            continue
        cells = (f"{number:>{widths[0]}}", f"{actor:<{widths[1]}}", f"{action:<{widths[2]}}")
        told = (f"{variable:<{widths[3]}}", f"{change:<{WIDE}}" if mark else change, mark)
        yield GAP + GAP.join((*cells, *told)).rstrip()


Row = tuple[str, str, str, str, str, str]


def _rows(story: Story) -> Iterator[Row]:
    loop, last = story.kept.trace.loop, len(story.steps)
    if not last or (story.start and story.kept.trace.start):
        yield from _step("0", "start", "", story.start, story.mark if story.marked == 0 else "")
    for step in story.steps:
        if step.number - 1 == loop:
            yield "", "", "", "", "", story.repeats
        mark = story.mark if step.number == story.marked else ""
        yield from _step(str(step.number), step.actor, step.action, step.changes, mark)
    if loop == last:
        yield "", "", "", "", "", story.repeats


def _step(number: str, actor: str, action: str, changes: Sequence[Change], mark: str) -> Iterator[Row]:
    (variable, change), *more = [(c.variable, f"{c.before} → {c.after}") for c in changes] or [("", "")]
    yield number, actor, action, variable, change, "" if more else mark
    for at, (variable, change) in enumerate(more, 1):
        yield "", "", "", variable, change, mark if at == len(more) else ""
