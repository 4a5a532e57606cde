"""`./braid mutants --protocols`: change the protocols in one place at a time; some world must notice."""

import os
import pickle
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from cli.compiling import announce
from cli.console import Progress, emit, error, out
from cli.worlds import note_left_out
from models.asking import Usage, known, proposal, unreadable
from models.engine.explore import explore
from models.engine.mutants import Outcome, noticed, outcome
from models.engine.protocol_mutants import (
    Line,
    ProtocolMutant,
    applied,
    files_of,
    lines_run,
    protocol_mutants,
    protocol_of,
)
from models.engine.result import Limits, Result
from models.traces.story import seen_from_root
from models.verdict import Verdict
from spec.immutable import Misuse
from spec.world import Holds, Violated, World

PROTOCOLS = "spec.protocols."
"""Whose functions are changed."""

LARGER, AT_LEAST, SECONDS = 10, 100_000, 20.0
"""How much a mutant may outgrow a world: so many times as many states, or these, and so many seconds."""

PATIENCE = 3
"""In how many worlds a mutant may become too large to tell before it is undecided."""

PROCESSES = 2

USUAL = Outcome(Verdict.HOLDS)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What a world is like before anything is changed."""

    verdict: Verdict
    because: tuple[str, ...]
    states: int
    lines: frozenset[Line]


class Ill(Exception):
    """A world is not as expected before any change, so that nothing can be said about its mutants."""

    def __init__(self, world: str, usual: Unchanged) -> None:
        super().__init__(world, usual)
        self.world, self.usual = world, usual

    def __str__(self) -> str:
        because = ", ".join(self.usual.because)
        return f"{self.world} is not as expected: {self.usual.verdict.value}, {because}"


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a mutant: the world that noticed, and by what; or those in which nobody did."""

    world: str = ""
    by: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    """The worlds that became too large to tell."""

    @property
    def fate(self) -> str:
        if self.world:
            return "killed"
        if self.cut:
            return "UNKNOWN"
        return "SURVIVED" if self.quiet else "unreached"


def mutants_of_protocols(names: list[str], only_guards: bool, each: bool, as_json: bool) -> int:
    """Try every change to the protocols; the exit code is 1 when one survives, 3 when one is undecided."""
    note_left_out(unreadable())
    worlds = [one for one in known().values() if not one.large]
    sound = [one for one in worlds if isinstance(one.expect, Holds)]
    mutants = list(chosen(names, list(protocol_mutants(sound, ours)), only_guards))
    announce("search")
    try:
        found = list(zip(mutants, attempt(mutants, worlds), strict=True))
    except Ill as ill:
        error(str(ill), f"run ./braid check {ill.world}")
        return 1 if ill.usual.verdict is Verdict.VIOLATED else 3
    if as_json:
        emit(as_plain(found, each))
    else:
        report(found, each)
    fates = Counter(tried.fate for _, tried in found)
    if fates["SURVIVED"]:
        return 1
    return 3 if fates["UNKNOWN"] or not fates["killed"] else 0


def ours(function: FunctionType) -> bool:
    return function.__module__.startswith(PROTOCOLS)


def chosen(
    names: Sequence[str], every: Sequence[ProtocolMutant], only_guards: bool
) -> Iterator[ProtocolMutant]:
    """The mutants of these protocols, actions or other functions; of all if none is named."""
    for name in names:
        if not any(name in names_of(one) for one in every):
            protocols = sorted({protocol_of(one.function) for one in every})
            functions = {one.function.__name__ for one in every}
            near = proposal(name, [*protocols, *functions], f"protocols: {', '.join(protocols)}")
            raise Usage(f"there is no protocol and no action called {name!r}", near)
    for one in every:
        if (not names or names_of(one) & set(names)) and (one.guard or not only_guards):
            yield one


def names_of(mutant: ProtocolMutant) -> set[str]:
    return {protocol_of(mutant.function), mutant.function.__name__}


def attempt(mutants: Sequence[ProtocolMutant], worlds: Sequence[World]) -> list[Tried]:
    """
    Try each mutant in the worlds that run what it changes, the smallest first, until one notices.

    Worlds that are expected to be violated come last: some guards only matter to designs without a repair.
    """
    by_size = sorted(worlds, key=size)
    files = files_of(worlds, ours)
    with tempfile.TemporaryDirectory() as folder:

        def look(number: int) -> Tried:
            return tried(mutants[number], number, by_size, files, Path(folder))

        def told(number: int) -> str:
            return f"{mutants[number].function.__name__}, line {mutants[number].lines.start}"

        return side_by_side(look, len(mutants), "mutants", told, folder)


def size(world: World) -> tuple[bool, float]:
    """What is expected to be violated comes last, and what is not pinned comes after what is."""
    pinned = world.expect.states if isinstance(world.expect, Holds) else world.expect.steps
    return isinstance(world.expect, Violated), float("inf") if pinned is None else pinned


def tried(
    mutant: ProtocolMutant, number: int, worlds: Sequence[World], files: frozenset[str], folder: Path
) -> Tried:
    """Try one mutant in one world after the other."""
    quiet, cut = list[str](), list[str]()
    for world in worlds:
        changed = applied(mutant, world, f"{world.name}~{number}")
        usual = unchanged(world, files, folder) if changed is not None else None
        if changed is None or usual is None or not mutant.reached(usual.lines):
            continue
        most = max(LARGER * usual.states, AT_LEAST)
        found = asked(changed, exploring(Limits(states=most, seconds=SECONDS)))
        if noticed(found, USUAL):
            return Tried(world.name, tuple(one.partition("\n")[0] for one in found.because))
        (cut if found.verdict is Verdict.UNKNOWN else quiet).append(world.name)
        if len(cut) == PATIENCE:
            break
    return Tried(quiet=tuple(quiet), cut=tuple(cut))


def asked(changed: World, explored: Callable[[World], Result]) -> Outcome:
    """
    What comes of a changed world.

    One that is expected to be violated notices if it is not, or by another trace: what it no longer shows is
    the reason why the guard stands there.
    """
    if isinstance(changed.expect, Holds):
        return outcome(changed, explored)
    try:
        result = explored(changed)
    except Misuse as misuse:
        return Outcome(Verdict.VIOLATED, (str(misuse),))
    if result.cut and not result.breaches:
        return Outcome(Verdict.UNKNOWN)
    surprises = tuple(result.surprises())
    return Outcome(Verdict.VIOLATED, surprises) if surprises else USUAL


def unchanged(world: World, files: frozenset[str], folder: Path) -> Unchanged:
    """What a world is like as it is, and which lines are run in it; one process tells the others."""
    known = folder / f"{world.name}.unchanged"
    if known.exists():
        found: Unchanged = pickle.loads(known.read_bytes())
        return found
    result, lines = lines_run(world, exploring(Limits()), files)
    because = [breach.property for breach in result.breaches] or result.missing or [result.cut]
    usual = Unchanged(result.verdict, tuple(because), result.states, lines)
    if result.surprises():
        raise Ill(world.name, usual)
    draft = folder / f"{world.name}.{os.getpid()}"
    draft.write_bytes(pickle.dumps(usual))
    draft.replace(known)
    return usual


def exploring(limits: Limits) -> Callable[[World], Result]:
    def explored(world: World) -> Result:
        return explore(world, limits=limits, threads=1)

    return explored


_look: Callable[[int], Any]
"""What the processes do; they are forked, so that functions made from changed text need not travel."""


def side_by_side(
    look: Callable[[int], T], count: int, what: str, told: Callable[[int], str], folder: str
) -> list[T]:
    """Do something for each number, in several processes, and say how far it has got."""
    global _look  # noqa: PLW0603
    _look = look
    progress, found = Progress(count, what), dict[int, T]()
    with ProcessPoolExecutor(PROCESSES, get_context("fork"), _settle, (folder,)) as pool:
        begun = {pool.submit(_looked, number): number for number in range(count)}
        try:
            for future in as_completed(begun):
                found[begun[future]] = future.result()
                progress.advance(told(begun[future]))
        finally:
            pool.shutdown(cancel_futures=True)
    progress.close()
    return [found[number] for number in range(count)]


def _settle(folder: str) -> None:
    """What a search saves when it reaches a limit is of no use to anybody here."""
    from models.engine import fast  # noqa: PLC0415 (compiled code, loaded only in the processes)

    fast.RUNS = Path(folder) / str(os.getpid())


def _looked(number: int) -> Any:
    return _look(number)


Found = tuple[ProtocolMutant, Tried]


def report(found: Sequence[Found], each: bool) -> None:
    """How many were killed in each protocol, and which were not."""
    real = [(mutant, tried) for mutant, tried in found if tried.fate != "unreached"]
    total = Counter(protocol_of(mutant.function) for mutant, _ in real)
    killed = Counter(protocol_of(mutant.function) for mutant, tried in real if tried.fate == "killed")
    for protocol in total:
        out.print(f"{protocol:<20} {killed[protocol]:>4} of {total[protocol]:>4} killed", markup=False)
    for fate in ("killed", "unreached", "SURVIVED", "UNKNOWN"):
        if each or fate.isupper():
            rows(fate, [one for one in found if one[1].fate == fate])
    dead = len(found) - len(real)
    more = f"; {dead} more change what no world that holds ever does" if dead else ""
    out.print(f"{sum(killed.values())} of {len(real)} mutants killed{more}")


def rows(head: str, some: Sequence[Found]) -> None:
    """A line for each mutant: where it was changed, how, and who noticed."""
    width = max((len(place_of(mutant)) for mutant, _ in some), default=0)
    for mutant, tried in some:
        after = {
            "killed": f"  by {', '.join(tried.by)} in {tried.world}",
            "SURVIVED": f"  ({len(tried.quiet)} world{'s' * (len(tried.quiet) > 1)})",
            "UNKNOWN": f"  (too large to tell: {', '.join(tried.cut)})",
            "unreached": "",
        }
        told = f"{mutant.function.__name__}: {mutant.change}{after[head]}"
        out.print(f"{head:<9}  {place_of(mutant):<{width}}  {told}", markup=False)


def place_of(mutant: ProtocolMutant) -> str:
    file, line = mutant.place
    return f"{seen_from_root(file)}:{line}"


def as_plain(found: Sequence[Found], each: bool) -> dict[str, Any]:
    """The same for programs; survivors also by the ids of the rules in which they take part."""

    def having(fate: str) -> list[dict[str, Any]]:
        return [row(*one) for one in found if one[1].fate == fate]

    rules = Counter(rule for mutant, tried in found if tried.fate == "SURVIVED" for rule in mutant.rules)
    return {
        "total": sum(tried.fate != "unreached" for _, tried in found),
        "killed": sum(tried.fate == "killed" for _, tried in found),
        "survivors": having("SURVIVED"),
        "survivors_by_rule": dict(sorted(rules.items())),
        "undecided": having("UNKNOWN"),
        "unreached": having("unreached"),
        **({"mutants": [row(*one) | {"fate": one[1].fate.lower()} for one in found]} if each else {}),
    }


def row(mutant: ProtocolMutant, tried: Tried) -> dict[str, Any]:
    file, line = mutant.place
    return {
        "protocol": protocol_of(mutant.function),
        "function": mutant.function.__name__,
        "file": seen_from_root(file),
        "line": line,
        "change": mutant.change,
        "actions": mutant.actions,
        "rules": mutant.rules,
        "noticed_in": tried.world or None,
        "because": tried.by,
        "worlds": [*tried.quiet, *tried.cut],
    }
