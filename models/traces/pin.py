"""A trace as a test that anybody can run: it fails until the property holds along the trace."""

import json
import re

from models.traces.store import Kept

PAGE = '''"""
Trace {id}: {about} in world {world}, design {design}.

{sentences}

This test fails until that is repaired: it asserts that the property holds along the moves below. A repair
that makes one of the moves impossible lets it pass as well, and it then says which one.
Written by `./braid pin {id}`.
"""

from models.asking import asked
from models.engine.result import Move, NotReplayable, Trace
from models.traces.again import breach_along
from spec.world import Model

WORLD = "{world}"
DESIGN = "{design}"
BOUNDS = {bounds}
PROPERTY = "{property}"
MOVES = (
{moves}
)
TRACE = Trace(MOVES, start={start}, loop={loop})


def test_{function}() -> None:
    try:
        broken = breach_along(Model(asked(WORLD, DESIGN, BOUNDS)), PROPERTY, TRACE)
    except NotReplayable as gone:
        print(f"the trace can no longer happen: {{gone}}")
        return

    assert not broken, "\\n".join(broken)
'''


def test_of(kept: Kept) -> str:
    """The text of a pytest file that replays a trace."""
    return PAGE.format(
        id=kept.id,
        property=kept.property,
        about=kept.about(),
        world=kept.world,
        design=kept.design,
        sentences="\n".join(map(_harmless, kept.sentences)),
        bounds=json.dumps(dict(kept.bounds)),
        moves="\n".join(_move(move.label, move.decisions) for move in kept.trace.moves),
        start=kept.trace.start,
        loop=kept.trace.loop,
        function=re.sub(r"\W+", "_", f"{kept.property}_in_{kept.world}"),
    )


def _move(label: str, decisions: tuple[int, ...]) -> str:
    told = json.dumps(label, ensure_ascii=False)
    return f"    Move({told}, {decisions!r})," if decisions else f"    Move({told}),"


def _harmless(sentence: str) -> str:
    """A sentence that can stand in a docstring."""
    return sentence.replace("\\", "\\\\").replace('"""', "'''")
