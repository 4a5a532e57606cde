"""
Spin, run as its own users would run it: generate the verifier, compile it with `gcc -O2`, search everything.

Spin counts the way into the first state as a transition; `SpinRun` does not, so that its counts are those of
our own engines. How fast Spin is depends on how it is compiled: `LOSSLESS` is what was fastest among the ways
that keep every state, `REDUCED` is the same with Spin's partial-order reduction and merging of statements.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spec.world import World

MODELS = Path(__file__).parent / "spin"
SPLIT_MERGE = MODELS / "split_merge.pml"
INDEPENDENT_CLIENTS = MODELS / "independent_clients.pml"

LOSSLESS = ("-DSAFETY", "-DNOREDUCE", "-DNOCOMP", "-DNOVSZ", "-DSFH", "-o3")
"""
Depth first, state vectors stored as they are: on two million states of split and merge 2.0 s, against 2.3 s
with Spin's own packing of vectors, 2.9 s breadth first and 4.1 s with collapsed vectors. `-o3` keeps Spin
from merging statements, so that one step of ours is one step of Spin.
"""
REDUCED = ("-DSAFETY", "-DNOCOMP", "-DNOVSZ", "-DSFH")
"""The same with everything that Spin can leave out."""

MEMORY_MB = 16_000
DEPTH = 100_000


class NoSpin(Exception):
    """Spin or the C compiler that it needs is not installed."""


class SpinFailed(Exception):
    """Spin did not search everything: it could not be compiled, or stopped early."""


@dataclass(frozen=True, slots=True)
class SpinRun:
    """What one search of Spin found, and what it cost once it was compiled."""

    states: int
    transitions: int
    depth: int
    seconds: float
    memory_mb: float
    errors: int


def defines(world: World) -> dict[str, int]:
    """A world's bounds as the macros of its twin."""
    return {name.upper(): number for name, number in world.bounds.items()}


def missing() -> list[str]:
    """The programs that are needed and not there."""
    return [program for program in ("spin", "gcc") if shutil.which(program) is None]


def run_spin(
    defines: Mapping[str, int],
    flags: tuple[str, ...] = LOSSLESS,
    model: Path = SPLIT_MERGE,
    *,
    hash_bits: int = 24,
    seconds: float = 900,
) -> SpinRun:
    """
    Search all states of a model with these macros, by a verifier compiled with these flags.

    The flags are those of the compiler, but for `-o...`, which are Spin's own. The hash table has two to the
    power of `hash_bits` places of 8 bytes: a few times as many as there are states is what Spin likes best.
    """
    if missing():
        raise NoSpin(f"{' and '.join(missing())} not found: apt-get install spin gcc")
    own = [flag for flag in flags if flag.startswith("-o")]
    macros = [f"-D{name}={number}" for name, number in defines.items()]
    compiler = ["gcc", "-O2", "-w", f"-DMEMLIM={MEMORY_MB}", *(flag for flag in flags if flag not in own)]

    with tempfile.TemporaryDirectory(prefix="spin-") as folder:
        _run(["spin", "-a", *own, *macros, str(model.resolve())], folder, seconds)
        _run([*compiler, "-o", "pan", "pan.c"], folder, seconds)
        return read(_run(["./pan", f"-m{DEPTH}", f"-w{hash_bits}", "-n"], folder, seconds))


def _run(command: list[str], folder: str, seconds: float) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise SpinFailed(f"{command[0]} was not done after {seconds:g} seconds") from late
    if done.returncode:
        raise SpinFailed(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def read(report: str) -> SpinRun:
    """
    What a verifier printed.

    A search that found no error and did not come to its end is refused: its counts mean nothing.
    """
    run = SpinRun(
        states=int(_number(report, r"(\S+) states, stored")),
        transitions=int(_number(report, r"(\S+) transitions \(")) - 1,
        depth=int(_number(report, r"depth reached (\S+),")),
        seconds=_number(report, r"elapsed time (\S+) seconds"),
        memory_mb=_number(report, r"(\S+)\s+(?:total actual memory usage|memory usage \(M)"),
        errors=int(_number(report, r"errors: (\S+)")),
    )
    if not run.errors and ("Search not completed" in report or "search depth too small" in report):
        raise SpinFailed(f"the search was cut off:\n{report[:2000]}")
    return run


def _number(report: str, pattern: str) -> float:
    found = re.search(pattern, report)
    if found is None:
        raise SpinFailed(f"there is no {pattern} in what the verifier printed:\n{report[:2000]}")
    return float(found[1])
