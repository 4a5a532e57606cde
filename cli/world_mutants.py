"""`./braid mutants WORLD`: change its actions in one place at a time, and see whether a property notices."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from cli.console import ROOT, Progress, emit, error, out
from cli.worlds import Manner
from models.asking import Usage, known, left_out, proposal
from models.engine.mutants import Mutant, Outcome, mutants_of, noticed, outcome
from models.engine.result import Limits, Result
from models.traces.story import seen_from_root
from models.verdict import Verdict
from spec.world import Holds, World

LARGER, AT_LEAST, SECONDS = 10, 100_000, 60.0
"""
How much a mutant may outgrow its world: without a guard there may be no end. So many times as many states, at
least this number of them, and so many seconds; what was not noticed by then is undecided.
"""


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant, and what came of it."""

    of: str
    mutant: Mutant
    found: Outcome
    killed: bool

    @property
    def undecided(self) -> bool:
        return self.found.verdict is Verdict.UNKNOWN

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the change."""
        actions = (action for machine in self.mutant.world.machines for action in machine.actions)
        changed = next(action for action in actions if action.name == self.mutant.action)
        return seen_from_root(changed.body.__code__.co_filename), self.mutant.line

    @property
    def by(self) -> str:
        """Who noticed: properties, the machine language, or that something never happens any more."""
        said = ", ".join(reason.partition("\n")[0] for reason in self.found.because)
        return f"vacuous, {said}" if self.found.verdict is Verdict.VACUOUS else said


def world_mutants(names: list[str], only_guards: bool, each: bool, manner: Manner, as_json: bool) -> int:
    """Try the mutants of some worlds; the exit code is 1 when one survives, 3 when one is undecided."""
    worlds = [sound(manner.world(name)) for name in dict.fromkeys(names)]
    tried: list[Tried] = []
    for world in worlds:
        result = manner.explore(world)
        if result.verdict is not Verdict.HOLDS:
            return ill(result, manner)
        most = max(LARGER * result.states, AT_LEAST)
        tried += attempt(world, only_guards, replace(manner, limits=Limits(states=most, seconds=SECONDS)))
    survivors = [one for one in tried if not one.killed and not one.undecided]
    undecided = [one for one in tried if one.undecided]
    if as_json:
        emit(as_plain(tried, survivors, undecided, each))
    else:
        report(tried, survivors, undecided, each)
    if survivors:
        return 1
    return 3 if undecided or not tried else 0


def see_that_they_are_worlds(names: list[str], modules: list[str]) -> None:
    """Refuse names that are no worlds, and modules beside them: those want processes without any world."""
    every = known()
    for name in names:
        if name not in every:
            stems = [path.stem for path in (ROOT / "spec").glob("*.py") if path.stem != "__init__"]
            near = proposal(name, [*every, *stems], f"modules: {', '.join(sorted(stems))}; ./braid worlds")
            raise Usage(f"there is no module and no world called {name!r}", "\n".join([near, *left_out()]))
    if not names:
        raise Usage("--bounds is for worlds, and none is named", "./braid worlds lists them")
    if modules:
        apart = f"./braid mutants {' '.join(modules)}, then ./braid mutants {' '.join(names)}"
        raise Usage("modules and worlds are tried apart", apart)


def sound(world: World) -> World:
    """A world that is expected to hold; of any other it cannot be told whether a mutant makes it worse."""
    if isinstance(world.expect, Holds):
        return world
    sound = [one.name for one in known().values() if isinstance(one.expect, Holds)]
    raise Usage(
        f"{world.name} is expected to violate {world.expect.property}: it is wrong before any change",
        f"worlds that hold: {', '.join(sound)}",
    )


def ill(result: Result, manner: Manner) -> int:
    """Nothing is said about mutants of a world that does not hold itself."""
    because = [breach.property for breach in result.breaches] or result.missing or [result.cut]
    told = f"{result.world.name} does not hold as it is: {result.verdict.value}, {', '.join(because)}"
    error(told, f"run ./braid check {result.world.name} {manner.arguments()}".rstrip())
    return 1 if result.breaches else 3


def attempt(world: World, only_guards: bool, manner: Manner) -> list[Tried]:
    """Explore every mutant of a world, and say how far it has got."""
    usual = Outcome(Verdict.HOLDS)
    chosen = [one for one in mutants_of(world) if not only_guards or one.change.startswith("without ")]
    progress, tried = Progress(len(chosen), f"mutants of {world.name}"), []
    for mutant in chosen:
        found = outcome(mutant.world, manner.explore)
        tried.append(Tried(world.name, mutant, found, noticed(found, usual)))
        progress.advance(f"{mutant.action}, line {mutant.line}")
    progress.close()
    return tried


def report(tried: list[Tried], survivors: list[Tried], undecided: list[Tried], each: bool) -> None:
    """How many were killed, and which were not."""
    total, killed = Counter(one.of for one in tried), Counter(one.of for one in tried if one.killed)
    for world in total:
        out.print(f"{world:<20} {killed[world]:>4} of {total[world]:>4} killed", markup=False)
    if each:
        rows("killed", [one for one in tried if one.killed])
    rows("SURVIVED", survivors)
    rows("UNKNOWN", undecided)
    out.print(f"{sum(killed.values())} of {len(tried)} mutants killed")


def rows(head: str, some: Iterable[Tried]) -> None:
    """A line for each mutant: where it was changed, how, and who noticed."""
    some = sorted(some, key=lambda one: one.place)
    width = max((len("{}:{}".format(*one.place)) for one in some), default=0)
    for one in some:
        place = "{}:{}".format(*one.place)
        after = {"killed": f"  by {one.by}", "UNKNOWN": "  (far larger than the world, nothing broke so far)"}
        out.print(f"{head:<8}  {place:<{width}}  {one.mutant.change}{after.get(head, '')}", markup=False)


def as_plain(
    tried: list[Tried], survivors: list[Tried], undecided: list[Tried], each: bool
) -> dict[str, Any]:
    """The same for programs."""

    def row(one: Tried) -> dict[str, Any]:
        file, line = one.place
        action, change = one.mutant.action, one.mutant.change
        return {"world": one.of, "file": file, "line": line, "action": action, "change": change}

    told = [{**row(one), "verdict": one.found.verdict.value, "because": one.found.because} for one in tried]
    return {
        "total": len(tried),
        "killed": sum(one.killed for one in tried),
        "survivors": [row(one) for one in survivors],
        "undecided": [row(one) for one in undecided],
        **({"mutants": told} if each else {}),
    }
