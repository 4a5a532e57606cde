"""Findings as pages of Markdown: one for each, and an index by severity."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from models.findings import Shown
from models.traces import mermaid
from models.traces.story import Story
from spec.claims import Claim, Ledger
from spec.holes import Finding, Severity

DOCUMENTS = {
    "000": "PIP-468",
    "001": "PIP-483",
    "002": "the review of PIP-468",
    "003": "PIP-473",
    "004": "PIP-475",
}

INDEX = "README.md"
COLUMNS = ("finding", "what goes wrong", "document", "repair", "steps", "from outside")


def pages(told: Sequence[tuple[Shown, Story]], ledger: Ledger) -> dict[str, str]:
    """Every page by the name of its file."""
    claims = {claim.id: claim for claim in ledger.claims}
    made = {f"{one.finding.id}.md": page(one, story, claims) for one, story in told}
    return {INDEX: index([one for one, _ in told]), **made}


def page(one: Shown, story: Story, claims: Mapping[str, Claim]) -> str:
    """A finding from the text to the repair."""
    return "\n".join(_page(one, story, claims)) + "\n"


def _page(one: Shown, story: Story, claims: Mapping[str, Claim]) -> Iterator[str]:
    finding = one.finding
    yield f"# {_safe(finding.title)}"
    yield ""
    yield from _table(
        ("", ""),
        ("finding", finding.id),
        ("severity", f"{finding.severity.value}: {finding.severity.means}"),
        ("document", f"seed {finding.seed}, {DOCUMENTS.get(finding.seed, '')}"),
        ("breaks", f"`{finding.property}`: {_safe(story.says)}"),
        ("repair", f"`{finding.repair}` in `spec/design.py`"),
    )
    yield ""
    yield "## What the text says"
    yield ""
    yield from _paragraphs(finding.says)
    yield from (f"- **{id}** {_safe(claims[id].says)}" for id in finding.claims if id in claims)
    yield ""
    yield "## What goes wrong"
    yield ""
    yield from _paragraphs(finding.wrong)
    several = "steps" if len(story.steps) > 1 else "step"
    yield f"The shortest way there, {len(story.steps)} {several}, as the checker found it:"
    yield ""
    yield from _steps(story)
    yield ""
    yield "\n>\n".join(f"> **{_safe(line)}**" for said in story.kept.sentences for line in said.splitlines())
    yield ""
    yield "```mermaid"
    yield from mermaid.lines(story)
    yield "```"
    yield ""
    yield "## The repair"
    yield ""
    yield from _paragraphs(finding.mended)
    yield "## See for yourself"
    yield ""
    yield from (f"    {line}" for line in [*commands(finding), f"./braid findings {finding.id}"])
    yield ""
    able = "can" if finding.black_box else "cannot"
    yield f"A test that sees a running broker only from outside {able} show it."
    yield ""
    yield "\n\n".join(_safe(part) for part in paragraphs(finding.how))


def commands(finding: Finding) -> tuple[str, str]:
    """How to check both worlds."""
    width = len(finding.broken())
    return (
        f"./braid check {finding.world:<{width}}  holds, with the repair",
        f"./braid check {finding.broken()}  is violated, without it",
    )


def _steps(story: Story) -> Iterator[str]:
    """The trace in words: who did what, and what that means."""
    loop = story.kept.trace.loop
    repeats = story.repeats.removeprefix("↺ ")
    for step in story.steps:
        again = f" *({repeats})*" if step.number - 1 == loop else ""
        fault = " *(a fault)*" if step.fault else ""
        yield f"{step.number}. {_safe(step.actor)} `{step.action}`: {_safe(step.says)}{fault}{again}"
    if loop == len(story.steps):
        yield ""
        yield f"{repeats.capitalize()}."


def index(some: Sequence[Shown]) -> str:
    """All findings, the worst first."""
    return "\n".join(_index(some)) + "\n"


def _index(some: Sequence[Shown]) -> Iterator[str]:
    yield "# Findings"
    yield ""
    yield (
        "Each of these is a hole in the documents: taken as they are written in this one point, and mended "
        "in all others, a topic goes wrong. The checker found every trace, and `./braid findings --update` "
        "writes these pages."
    )
    for severity in Severity:
        own = [one for one in some if one.finding.severity is severity]
        if own:
            yield ""
            yield f"## {severity.value.capitalize()}: {severity.means}"
            yield ""
            rows = [
                (
                    f"[{one.finding.id}]({one.finding.id}.md)",
                    _safe(one.finding.title),
                    DOCUMENTS.get(one.finding.seed, one.finding.seed),
                    f"`{one.finding.repair}`",
                    str(one.steps),
                    "yes" if one.finding.black_box else "no",
                )
                for one in own
            ]
            yield from _table(COLUMNS, *rows)


def _table(head: tuple[str, ...], *rows: tuple[str, ...]) -> Iterator[str]:
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from map(_row, rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def paragraphs(text: str) -> list[str]:
    """A text without its line breaks, but for empty lines."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]


def _paragraphs(text: str) -> Iterator[str]:
    for part in paragraphs(text):
        yield _safe(part)
        yield ""


def _safe(text: str) -> str:
    """Text in which nothing means anything to Markdown."""
    return re.sub(r"([\\`*_<\[\]])", r"\\\1", text)
