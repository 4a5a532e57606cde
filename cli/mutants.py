"""`./braid mutants`: change the specification in one place at a time, and see whether any check notices."""

import os
from collections import Counter

import hypothesis  # noqa: F401 (imported once here, not once in each child)
import networkx  # noqa: F401

from cli.console import Progress, emit, error, out
from tests.mutants import WITHOUT, Mutant, modules, mutants_of, run, unchanged


def mutants(names: list[str], only_guards: bool, each: bool, as_json: bool) -> int:
    """Try the mutants of some modules, or of all; the exit code is 1 when one survives."""
    chosen = [name if name.startswith("spec.") else f"spec.{name}" for name in names] or modules()
    for name in chosen:
        if name not in modules():
            error(
                f"there is no module {name}",
                "modules: " + ", ".join(m.removeprefix("spec.") for m in modules()),
            )
            return 2

    cores = os.cpu_count() or 1
    baseline = [unchanged(name, laws=name == chosen[0]) for name in chosen]
    healthy = attempt(baseline, "unchanged modules", cores)
    if len(healthy) < len(chosen):
        ill = ", ".join(sorted(set(chosen) - {mutant.module for mutant in healthy}))
        error(f"a check fails on the unchanged specification: {ill}", "run ./braid test first")
        return 1

    tried = [
        m for name in chosen for m in mutants_of(name) if not only_guards or m.change.startswith(WITHOUT)
    ]
    survivors = attempt(tried, "mutants", cores)
    report(tried, survivors, each, as_json)
    if not tried:
        return 3
    return 1 if survivors else 0


def attempt(some: list[Mutant], what: str, cores: int) -> list[Mutant]:
    """Try some mutants and say how far it has got."""
    progress = Progress(len(some), what)
    survivors = run(some, cores, lambda mutant, killed: progress.advance(f"{mutant.module}:{mutant.line}"))
    progress.close()
    return survivors


def report(tried: list[Mutant], survivors: list[Mutant], each: bool, as_json: bool) -> None:
    """How many were killed, and which were not; all of them on request."""
    if as_json:
        found = {"total": len(tried), "killed": len(tried) - len(survivors), "survivors": plain(survivors)}
        told = [row | {"killed": m not in survivors} for row, m in zip(plain(tried), tried, strict=True)]
        emit(found | ({"mutants": told} if each else {}))
        return
    total, alive = Counter(m.module for m in tried), Counter(m.module for m in survivors)
    for module in total:
        out.print(f"{module:<20} {total[module] - alive[module]:>4} of {total[module]:>4} killed")
    for mutant in sorted(tried if each else survivors, key=lambda m: (m.module, m.line)):
        place = mutant.module.replace(".", "/") + f".py:{mutant.line}"
        head = "SURVIVED" if mutant in survivors else "killed"
        out.print(f"{head:<8}  {place:<28} {mutant.change}", markup=False)
    out.print(f"{len(tried) - len(survivors)} of {len(tried)} mutants killed")


def plain(some: list[Mutant]) -> list[dict[str, object]]:
    """Mutants for a program."""
    return [{"module": m.module, "line": m.line, "change": m.change} for m in some]
