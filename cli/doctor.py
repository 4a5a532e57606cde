"""`./braid doctor`: what is here, what is missing, and how to get it."""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table

from cli.console import ROOT, emit, error, out
from cli.environment import (
    Missing,
    how_to_get_java,
    how_to_get_spin,
    java,
    need_spark,
    program_version,
    version,
)
from models.engine.cache import folder, is_compiled

LIBRARIES = {
    **dict.fromkeys(("hypothesis", "crosshair-tool", "networkx", "mmh3"), "everything"),
    **dict.fromkeys(("numpy", "numba", "scipy"), "worlds"),
}
CACHE = ROOT / ".braid"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a command may need."""

    what: str
    found: str | None
    needed_for: str
    how: str
    optional: bool = False


def doctor(fix: bool, as_json: bool) -> int:
    """Look at everything; the exit code is 3 when something is missing that every command needs."""
    if fix:
        try:
            need_spark()
        except Missing as missing:
            error(*missing.args)
            return 3
    findings = list(examine())
    ill = [f for f in findings if f.found is None and not f.optional]
    if as_json:
        emit({"well": not ill, "findings": findings})
        return 3 if ill else 0

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("", "what", "found", "needed for", "how to get it"):
        table.add_column(column)
    for f in findings:
        mark, style = ("ok", "green") if f.found else ("–", "yellow") if f.optional else ("!!", "bold red")
        table.add_row(
            f"[{style}]{mark}[/]", f.what, f.found or "not here", f.needed_for, "" if f.found else f.how
        )
    out.print(table)
    return 3 if ill else 0


def examine() -> Iterator[Finding]:
    """Everything that a command may need, whether it is here or not."""
    again = "delete .venv and run ./braid again"
    recent = sys.version_info >= (3, 11)
    yield Finding(
        "Python", platform.python_version() if recent else None, "everything", "install Python 3.11"
    )
    for library, needed_for in LIBRARIES.items():
        yield Finding(library, version(library), needed_for, again)
    yield Finding("Z3", z3_version(), "proofs", again)
    for kernel, needed_for in (("search", "worlds"), ("walks", "./braid simulate")):
        yield Finding(
            f"kernel: {kernel}", compiled(kernel), needed_for, "it is compiled on first use", optional=True
        )

    found = java()
    shown = f"{found[1]} ({found[0]})" if found else None
    yield Finding("Java", shown, "Spark", how_to_get_java() + ", or ./braid doctor --fix", optional=True)
    yield Finding("PySpark", version("pyspark"), "Spark", "./braid doctor --fix", optional=True)
    for program, asked in (("spin", "-V"), ("gcc", "--version")):
        found_version = program_version(program, asked)
        yield Finding(program, found_version, "./braid bench", how_to_get_spin(), optional=True)
    yield Finding("cache", cache(), "replays, compiled kernels", f"make {CACHE} writable")


def z3_version() -> str | None:
    """Z3's version, if it can solve something."""
    try:
        import z3  # noqa: PLC0415 (a broken one is to be reported, not to end us)
    except ImportError:
        return None
    x = z3.Int("x")
    solver = z3.Solver()
    solver.add(x * x == 49, x > 0)
    solved = solver.check() == z3.sat and solver.model()[x] == 7
    return z3.get_version_string() if solved else None


def compiled(kernel: str) -> str | None:
    """Where a kernel lies that need not be compiled again."""
    if version("numba") is None or not is_compiled(kernel):
        return None
    place = folder()
    shown = place.relative_to(ROOT) if place.is_relative_to(ROOT) else place
    return f"compiled, {shown}"


def cache() -> str | None:
    """The folder for what runs leave behind, if it can be written."""
    try:
        CACHE.mkdir(exist_ok=True)
    except OSError:
        return None
    files = [path for path in CACHE.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    return f"{CACHE.name}/ ({len(files)} files, {size:.1f} MB)" if os.access(CACHE, os.W_OK) else None
