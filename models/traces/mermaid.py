"""A story as a Mermaid sequence diagram, for Markdown that renders it."""

from collections.abc import Iterator

from models.traces.story import Step, Story


def lines(story: Story) -> Iterator[str]:
    """A participant for each actor, an arrow for each step, a note for what it changed."""
    kept, lanes = story.kept, {actor: f"p{number}" for number, actor in enumerate(story.actors)}
    yield "sequenceDiagram"
    yield f"  title {_safe(f'{kept.about()} in {kept.world}, design {kept.design}')}"
    if not lanes:
        lanes = {"start": "p0"}
    for actor, lane in lanes.items():
        yield f"  participant {lane} as {_safe(actor)}"
    for step in story.steps:
        if step.number - 1 == kept.trace.loop:
            yield "  loop from here the behaviour repeats"
        yield from _step(step, lanes)
    if kept.trace.loop is not None and kept.trace.loop < len(story.steps):
        yield "  end"
    last = list(lanes.values())
    for sentence in kept.sentences:
        yield f"  Note over {','.join(dict.fromkeys((last[0], last[-1])))}: {_safe(sentence)}"


def _step(step: Step, lanes: dict[str, str]) -> Iterator[str]:
    lane = lanes[step.actor]
    arrow = "--x" if step.fault else "->>"
    for towards in step.towards or (step.actor,):
        yield f"  {lane}{arrow}{lanes[towards]}: {step.number} {_safe(step.action)}"
    if step.changes:
        told = "<br/>".join(_safe(f"{c.variable} {c.before} → {c.after}") for c in step.changes)
        yield f"  Note right of {lane}: {told}"


_ESCAPES = {ord(character): f"#{ord(character)};" for character in '#;<>"`'} | {ord("\n"): " "}


def _safe(text: str) -> str:
    """Text in which nothing means anything to Mermaid."""
    return text.translate(_ESCAPES)
