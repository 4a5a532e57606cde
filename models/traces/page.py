"""
A story as one HTML page that needs nothing else: a sequence diagram, and the state at every step.

The diagram is drawn here, so that it is there even where scripts are not run; stepping through is a script
of forty lines in `page.html`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from models.traces.story import Step, Story
from spec.immutable import shown
from spec.world import Model, State

TEMPLATE = Path(__file__).with_name("page.html")

LEFT, TOP, ROW, CHIP = 56, 52, 40, 24
"""Where lanes and rows begin, how high a row is and the chip in it; in pixels."""

LETTER, SMALL = 7.25, 6.65
"""How wide a letter of the chips is, and one of the changes beside them."""

FITS = 76
"""How many letters of the changes are told in the diagram; the rest is told beside it."""


def page(model: Model, story: Story, states: Sequence[State]) -> str:
    """The whole page."""
    kept = story.kept
    reached = kept.sort == "sometimes"
    bounds = ", ".join(f"{name} {value}" for name, value in kept.bounds.items())
    where = f"world {kept.world}, design {kept.design}; {bounds}; trace {kept.id or 'not kept'}"
    filled = {
        "TITLE": escape(f"{kept.about()} – {kept.world}"),
        "MOOD": "good" if reached else "bad",
        "VERDICT": "Reached" if reached else "Violated",
        "PROPERTY": escape(kept.about()),
        "IDS": escape(" ".join(kept.ids)),
        "SENTENCES": "\n".join(f'<p class="sentence">{escape(said)}</p>' for said in kept.sentences),
        "SAYS": escape(story.says),
        "WHERE": escape(where),
        "ID": escape(kept.id),
        "DIAGRAM": diagram(story),
        "DATA": json.dumps(_data(model, story, states), ensure_ascii=False).replace("<", "\\u003c"),
    }
    return re.sub("@([A-Z]+)@", lambda hole: filled[hole[1]], TEMPLATE.read_text(encoding="utf-8"))


def _data(model: Model, story: Story, states: Sequence[State]) -> dict[str, object]:
    """What the script needs: the names of the variables, the initial values, and what each step changed."""

    def written(before: State, after: State) -> list[tuple[int, str]]:
        pairs = enumerate(zip(before, after, strict=True))
        return [(place, shown(new)) for place, (old, new) in pairs if old != new]

    start = {
        "actor": "",
        "action": "start",
        "says": "",
        "changes": [(c.variable, c.before, c.after) for c in story.start],
    }
    steps = [
        {
            "actor": step.actor,
            "action": step.action,
            "says": step.says,
            "changes": [(c.variable, c.before, c.after) for c in step.changes],
            "set": written(states[step.number - 1], states[step.number]),
        }
        for step in story.steps
    ]
    return {
        "variables": [slot.name for slot in model.slots],
        "start": [shown(value) for value in states[0]],
        "mark": len(steps) if story.marked is not None else 0,
        "steps": [start, *steps],
    }


def diagram(story: Story) -> str:
    """A lane for each actor; a chip for each step, with arrows to those whose variables it changed."""
    lanes = _lanes(story)
    width = _beside(story, lanes) + max((len(_told(step)) for step in story.steps), default=0) * SMALL + 24
    last = TOP + ROW * (len(story.steps) + 1)
    drawn = "\n".join(_drawn(story, lanes, width, last))
    return (
        f'<svg width="{width:.0f}" height="{last + 30}" viewBox="0 0 {width:.0f} {last + 30}" role="list" '
        f'aria-label="sequence diagram">\n{drawn}\n</svg>'
    )


def _beside(story: Story, lanes: dict[str, float]) -> float:
    """Where the changes are told, to the right of all lanes."""
    return max(lanes.values(), default=LEFT) + _half(story) + 20


def _told(step: Step) -> str:
    """What a step changed, as far as it fits into a line."""
    told = ",  ".join(f"{c.variable} {c.before} → {c.after}" for c in step.changes)
    return told if len(told) <= FITS else told[: FITS - 1] + "…"


def _half(story: Story) -> float:
    """Half the width of the widest chip or name."""
    texts = [step.action for step in story.steps] + [*story.actors, "start"]
    return max(len(text) for text in texts) * LETTER / 2 + 12


def _lanes(story: Story) -> dict[str, float]:
    half = _half(story)
    return {actor: LEFT + half + 10 + number * (2 * half + 26) for number, actor in enumerate(story.actors)}


def _drawn(story: Story, lanes: dict[str, float], width: float, last: int) -> Iterator[str]:
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    for actor, x in lanes.items():
        yield f'<line class="lane" x1="{x:.0f}" x2="{x:.0f}" y1="{TOP - 8}" y2="{last + 8}"/>'
        yield f'<text class="who" x="{x:.0f}" y="{TOP - 20}">{escape(actor)}</text>'
    if (loop := story.kept.trace.loop) is not None:
        top = TOP + ROW * (loop + 1)
        moving = loop < len(story.steps)
        if moving:
            box = f'y="{top}" width="{width - 8:.0f}" height="{last - top + 2}"'
            yield f'<rect class="loop" x="4" {box} rx="8"/>'
        again = "↺ this repeats for ever" if moving else story.repeats
        yield f'<text class="again" x="12" y="{last + 20}">{escape(again)}</text>'
    yield _row(0, width, "", '<text class="label" style="text-anchor:start" x="64" y="4">start</text>')
    for step in story.steps:
        marks = ["fault"] * step.fault + ["bad"] * (
            step.number == story.marked and story.kept.sort != "sometimes"
        )
        yield _row(step.number, width, " ".join(marks), "".join(_chip(step, lanes, _beside(story, lanes))))


def _row(number: int, width: float, marks: str, inside: str) -> str:
    middle = TOP + ROW * number + ROW // 2
    return (
        f'<g class="step {marks}" role="listitem" tabindex="0" transform="translate(0 {middle})">'
        f'<rect class="row" x="6" y="{-ROW // 2 + 1}" width="{width - 12:.0f}" height="{ROW - 2}" rx="6"/>'
        f'<text class="number" x="44" y="4">{number}</text>{inside}</g>'
    )


def _chip(step: Step, lanes: dict[str, float], beside: float) -> Iterator[str]:
    x, half = lanes[step.actor], len(step.action) * LETTER / 2 + 9
    for other in step.towards:
        side = 1 if lanes[other] > x else -1
        way = f"M{x + side * half:.0f} 0H{lanes[other] - side * 2:.0f}"
        yield f'<path class="arrow" marker-end="url(#tip)" d="{way}"/>'
    box = f'x="{x - half:.0f}" y="{-CHIP // 2}" width="{2 * half:.0f}" height="{CHIP}"'
    yield f'<rect class="chip" {box} rx="6"/>'
    yield f'<text class="label" x="{x:.0f}" y="4">{escape(step.action)}</text>'
    yield f'<text class="told" x="{beside:.0f}" y="4">{escape(_told(step))}</text>'
