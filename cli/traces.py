"""`./braid replay`, `show` and `pin`: what can be done with a trace that was kept."""

import json
from pathlib import Path

from cli import worlds
from cli.console import emit, nobody_listens, out
from cli.terminal import show_story
from models.asking import Usage
from models.engine.result import NotReplayable, replay
from models.events import simple, story_as_plain
from models.traces import again, itf, mermaid, page, pin, store, text
from models.traces.store import Kept
from models.traces.story import Story, tell
from spec.world import Model, State

HERE = Path("-")
"""The file that is standard output."""


def replay_trace(id: str, as_json: bool) -> int:
    """
    Let a trace happen again on the specification as it is now.

    The exit code is 1 if it still breaks its property, 3 if it can no longer happen.
    """
    kept = store.fetch(worlds.TRACES, id)
    model = Model(store.world_of(kept))
    try:
        states = replay(model, kept.trace)
        if kept.sort == "sometimes":
            fine = again.reached_by(model, kept.property, kept.trace)
            said = f"{kept.property} is {'still' if fine else 'no longer'} reached by this trace"
        else:
            broken = again.breach_along(model, kept.property, kept.trace)
            fine, said = (
                not broken,
                f"{kept.property} {'is still broken' if broken else 'holds'} along this trace",
            )
    except (NotReplayable, LookupError) as gone:
        said = f"the trace can no longer happen: {gone.args[0]}"
        if as_json:
            emit({"exit": 3, "trace": id, "said": said})
        else:
            out.print(said, markup=False)
        return 3
    story = tell(model, kept, states)
    if as_json:
        emit({"exit": int(not fine), "said": said, **story_as_plain(story)})
        return int(not fine)
    show_story(story)
    out.print(f"\n{said}", markup=False)
    return int(not fine)


def show(id: str, form: str, target: Path | None, as_json: bool) -> int:
    """Show a trace: in the terminal, as a diagram, as a page, or for other viewers."""
    kept, model, states, story = _told(id)
    if as_json:
        emit(story_as_plain(story))
        return 0
    if form == "html":
        path = _write(page.page(model, story, states), target or worlds.TRACES / f"{id}.html")
        if path is not None:
            out.print(f"open   {path.resolve().as_uri()}", markup=False)
        return 0
    if form == "text" and target is None:
        show_story(story)
        return 0
    forms = {
        "text": lambda: "\n".join(text.lines(story)),
        "mermaid": lambda: "\n".join(mermaid.lines(story)),
        "itf": lambda: json.dumps(
            itf.document(model, kept, states), ensure_ascii=False, indent=1, default=simple
        ),
    }
    _write(forms[form]() + "\n", target or HERE)
    return 0


def pin_trace(id: str, target: Path | None, as_json: bool) -> int:
    """Write a trace as a test that fails until the property holds along it."""
    kept = store.fetch(worlds.TRACES, id)
    if kept.sort == "sometimes":
        raise Usage(
            f"trace {id} breaks nothing, it shows how {kept.property} is reached", f"./braid show {id}"
        )
    test = pin.test_of(kept)
    if target is not None and target.is_dir():
        target /= f"test_{id}.py"
    if as_json:
        path = _write(test, target) if target else None
        emit({"trace": id, "test": test, "file": str(path) if path else None})
        return 0
    path = _write(test, target or HERE)
    if path is not None:
        out.print(f"run   ./braid test {path}", markup=False)
    return 0


def _told(id: str) -> tuple[Kept, Model, list[State], Story]:
    kept = store.fetch(worlds.TRACES, id)
    model = Model(store.world_of(kept))
    try:
        states = replay(model, kept.trace)
    except NotReplayable as gone:
        what_next = f"the world has changed since; run ./braid check {kept.world} again"
        raise Usage(f"trace {id} can no longer happen: {gone}", what_next) from gone
    return kept, model, states, tell(model, kept, states)


def _write(content: str, target: Path) -> Path | None:
    """Put a text into a file, or print it; returns the file."""
    if target == HERE:
        try:
            print(content, end="", flush=True)
        except BrokenPipeError:
            nobody_listens()
        return None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    except OSError as problem:
        raise Usage(
            f"{target} cannot be written: {problem.strerror}", "name another file with -o"
        ) from problem
    return target
