"""`./braid simulate`: seeded random walks through a world, where it is too large to see all of it."""

from cli.compiling import announce
from cli.console import emit, out
from cli.terminal import show_story
from cli.worlds import Manner, kept_story
from models.engine.simulate import simulate as walk
from models.events import story_as_plain
from models.traces import store
from spec.world import Model, Violated


def simulate(name: str, manner: Manner, walks: int, steps: int, seed: int, bias: str, as_json: bool) -> int:
    """Walk, and show what broke; walks that break nothing decide nothing, and the exit code is then 3."""
    world = manner.world(name)
    announce("walks")
    result = walk(world, walks=walks, steps=steps, seed=seed, bias=bias)
    made = int(result.details["walks"])
    stories = [kept_story(Model(world), store.of_breach(world, b, result.engine)) for b in result.breaches]
    expected = isinstance(world.expect, Violated) and world.expect.property in {
        b.property for b in result.breaches
    }
    code = 0 if expected else 1 if stories else 3
    if as_json:
        found = [story_as_plain(story) for story in stories]
        emit({"exit": code, "seed": seed, "walks": made, "steps": result.transitions, "breaches": found})
        return code
    rate = result.transitions / max(result.seconds, 1e-9)
    told = f"{made:,} walks" if made == walks else f"{made:,} of {walks:,} walks"
    out.print(f"{told}, {result.transitions:,} steps, {rate:,.0f} steps/s, seed {seed}, bias {bias}")
    for story in stories:
        out.print()
        show_story(story)
    if not stories:
        out.print("nothing broke; that decides nothing, ./braid check does")
    return code
