"""
The fast engine beside the reference engine and beside Spin: same machine, same run, same worlds.

Engines take turns, several times, and the best time of each counts, because others use the machine too. All
searches are exhaustive and check every property; before any time is believed, the counts must be equal.
"""

import resource
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from models.engine import fast, reference
from models.engine.fast import Options
from models.engine.result import Limits, Result
from models.worlds.independent_clients import LARGE as CLIENTS
from models.worlds.split_merge import LARGE, SIZES, SMALL, split_merge
from spec.world import Holds, World
from tests.bench.spin_runner import (
    INDEPENDENT_CLIENTS,
    LOSSLESS,
    REDUCED,
    SPLIT_MERGE,
    defines,
    missing,
    run_spin,
)

Say = Callable[[str], None]

TURNS = 3
REFERENCE_SECONDS = 60.0
LARGER = split_merge("split-merge-larger", SIZES[10**7], Holds(), large=True)
MORE_CLIENTS = CLIENTS.at(clients=10)
ONE, TWO, REDUCING = (
    Options(threads=1),
    Options(threads=2),
    Options(threads=1, symmetry=True, partial_order=True),
)


class Disagreement(Exception):
    """Two engines count differently; their times mean nothing."""


def measure(say: Say, full: bool = False) -> dict[str, Any]:
    """Every figure; those that need Spin are None where it is not installed."""
    fast.explore(SMALL, options=ONE)
    fast.explore(SMALL, options=REDUCING)
    spin = not missing()
    return {
        **against_spin(say, spin),
        **against_reference(say, full),
        **threads(say),
        **reductions(say, spin),
        **machine(say),
    }


def against_spin(say: Say, spin: bool) -> dict[str, Any]:
    """One thread against Spin, which has one as well, with its best flags that keep every state."""
    ours, theirs = best(say, LARGER, ONE), None
    for _ in range(TURNS - 1):
        if spin:
            run = run_spin(defines(LARGER), LOSSLESS, SPLIT_MERGE, hash_bits=25)
            if (run.states, run.transitions) != (ours.states, ours.transitions):
                raise Disagreement(f"Spin counts {run.states:,} states, the fast engine {ours.states:,}")
            cost = f"{run.seconds:8.2f} s {run.memory_mb:9,.0f} MB"
            say(f"{LARGER.name:<25} {'Spin, lossless':<30} {cost}")
            theirs = min(theirs or run.seconds, run.seconds)
        ours = min(ours, best(say, LARGER, ONE), key=_seconds)
    return {
        "world": LARGER.name,
        "states": ours.states,
        "transitions": ours.transitions,
        "fast_seconds": ours.seconds,
        "spin_seconds": theirs,
        "fast_over_spin": theirs and theirs / ours.seconds,
        "bytes_per_state": ours.details["bytes_per_state"],
        "row_bytes": ours.details["row_bytes"],
        "evaluations": ours.details["evaluations"],
    }


def against_reference(say: Say, full: bool) -> dict[str, Any]:
    """One thread against plain Python, on transitions per second; the whole world only on request."""
    limits = Limits() if full else Limits(seconds=REFERENCE_SECONDS)
    plain = reference.explore(LARGE, limits)
    say(f"{LARGE.name:<25} reference, {plain.states:>10,} states   {plain.seconds:8.2f} s")
    ours = best(say, LARGE, ONE)
    if full and (plain.states, plain.transitions) != (ours.states, ours.transitions):
        raise Disagreement(f"the reference counts {plain.states:,} states, the fast engine {ours.states:,}")
    return {
        "reference_states": plain.states,
        "reference_seconds": plain.seconds,
        "fast_over_reference": (ours.transitions / ours.seconds) / (plain.transitions / plain.seconds),
    }


def threads(say: Say) -> dict[str, Any]:
    """Two threads against one."""
    one, two = best(say, LARGER, ONE), best(say, LARGER, TWO)
    for _ in range(TURNS - 1):
        two = min(two, best(say, LARGER, TWO), key=_seconds)
        one = min(one, best(say, LARGER, ONE), key=_seconds)
    return {"two_threads_seconds": two.seconds, "two_threads_over_one": one.seconds / two.seconds}


def reductions(say: Say, spin: bool) -> dict[str, Any]:
    """Symmetry and partial-order reduction against Spin's partial-order reduction."""
    ours, theirs, states = best(say, MORE_CLIENTS, REDUCING), None, None
    for _ in range(TURNS - 1):
        if spin:
            run = run_spin(defines(MORE_CLIENTS), REDUCED, INDEPENDENT_CLIENTS, hash_bits=25)
            say(f"{MORE_CLIENTS.name:<25} Spin, reduced, {run.states:>10,}      {run.seconds:8.2f} s")
            theirs, states = min(theirs or run.seconds, run.seconds), run.states
        ours = min(ours, best(say, MORE_CLIENTS, REDUCING), key=_seconds)
    return {
        "reduced_states": ours.states,
        "reduced_seconds": ours.seconds,
        "spin_por_states": states,
        "spin_por_seconds": theirs,
        "reduced_over_spin_por": theirs and theirs / ours.seconds,
    }


def machine(say: Say) -> dict[str, Any]:
    """What the memory can do: bytes copied, and words fetched from random places, in a second."""
    source = np.ones(1 << 25, np.uint64)
    copied = min(_timed(source.copy) for _ in range(5))
    places = np.random.default_rng(0).integers(0, len(source), 1 << 22)
    fetched = min(_timed(lambda: source[places]) for _ in range(5))
    found = {
        "copy_gb_per_second": 2 * source.nbytes / copied / 1e9,
        "random_fetches_per_second": len(places) / fetched,
    }
    say("memory: {:.1f} GB/s copied, {:.1e} random fetches/s".format(*found.values()))
    return found


def growth(say: Say, sizes: Iterable[int] = tuple(SIZES)[1:]) -> list[dict[str, Any]]:
    """The same world at growing sizes, on all cores: time and memory of each."""
    rows = []
    for size in sizes:
        result = best(
            say, split_merge(f"split-merge {size:.0e}", SIZES[size], Holds(), large=True), Options()
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        row: dict[str, Any] = {
            "states": result.states,
            "transitions": result.transitions,
            "depth": result.depth,
        }
        row |= {"seconds": result.seconds, "peak_bytes": peak}
        rows.append(
            row | {name: result.details[name] for name in ("bytes_per_state", "row_bytes", "evaluations")}
        )
    return rows


def best(say: Say, world: World, options: Options) -> Result:
    """One search, told about."""
    result = fast.explore(world, options=options)
    how = "symmetry, partial order" if options.symmetry else f"{options.threads or 'all'} threads"
    rate = f"{result.states / result.seconds:12,.0f} states/s"
    say(f"{world.name:<25} fast, {how:<24} {result.seconds:8.2f} s {rate}")
    return result


def _seconds(result: Result) -> float:
    return result.seconds


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
