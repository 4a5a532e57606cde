"""`./braid sample`: traces to read when all is well, a shortest one for each thing that must be reachable."""

from cli.console import emit, out
from cli.terminal import show_story
from cli.worlds import Manner, kept_story
from models.events import story_as_plain
from models.traces import store
from spec.world import Model


def sample(name: str, manner: Manner, as_json: bool) -> int:
    """Keep and show a trace for each `sometimes`; the exit code is 3 when one is never reached."""
    world = manner.world(name)
    model = Model(world)
    result = manner.explore(world)
    stories = [
        kept_story(model, store.of_trace(world, of, trace, result.engine))
        for of, trace in result.witnesses.items()
        if trace is not None
    ]
    missing = [of for of, trace in result.witnesses.items() if trace is None]
    code = 3 if missing or not stories else 0
    if as_json:
        emit({"exit": code, "traces": [story_as_plain(story) for story in stories], "missing": missing})
        return code
    for story in stories:
        show_story(story)
        out.print()
    why = result.cut or ("the search ended at a violation" if result.breaches else "no state satisfies it")
    for of in missing:
        out.print(f"never reached: {of} ({why})", markup=False)
    if not result.witnesses:
        out.print(f"world {name} has no `sometimes`, so there is nothing to show", markup=False)
    return code
