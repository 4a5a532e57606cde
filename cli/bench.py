"""`./braid bench`: how fast the engine and the specification's own operations are, beside other ways."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.compiling import announce
from cli.console import emit, err, out
from cli.environment import need_spin
from models.asking import Usage

PARTS = ("engine", "layout", "growth")
RATIOS = ("fast_over_reference", "fast_over_spin", "two_threads_over_one", "reduced_over_spin_por")


def bench(parts: list[str], full: bool, plot: Path | None, as_json: bool) -> int:
    """Run some benchmarks, or all, and print what they measured."""
    for part in parts:
        if part not in PARTS:
            raise Usage(f"there is no benchmark called {part!r}", f"benchmarks: {', '.join(PARTS)}")
    found: dict[str, Any] = {}
    say: Callable[[str], None] = (lambda line: err.print(line, markup=False)) if as_json else _tell
    if "engine" in parts or not parts:
        found |= engine(say, full)
    if "layout" in parts or not parts:
        found["layout_walk"] = layout(say)
    if "growth" in parts:
        found["growth"] = growth(say, plot)
    if as_json:
        emit(found)
        return 0

    for name in RATIOS:
        if name in found:
            told = "Spin is not installed" if found[name] is None else f"{found[name]:.2f}"
            out.print(f"{name:<24} {told}")
    if "bytes_per_state" in found:
        out.print(f"{'bytes_per_state':<24} {found['bytes_per_state']:.1f} in the visited set")
        out.print(f"{'states':<24} {found['states']:,}")
    return 0


def _tell(line: str) -> None:
    out.print(line, markup=False)


def engine(say: Callable[[str], None], full: bool) -> dict[str, Any]:
    """The fast engine beside the reference engine and beside Spin."""
    from tests.bench.engine import measure  # noqa: PLC0415 (compiled code, loaded only where it is needed)

    need_spin()
    announce("search")
    say("every search is exhaustive; engines take turns, and the best time of each counts ...")
    return measure(say, full)


def growth(say: Callable[[str], None], picture: Path | None) -> list[dict[str, Any]]:
    """One world from 10^5 to 10^8 states, in some minutes; as a picture, too, if one is asked for."""
    from tests.bench.engine import growth as measure  # noqa: PLC0415
    from tests.bench.plot import plot  # noqa: PLC0415

    announce("search")
    rows = measure(say)
    if picture:
        picture.write_text(plot(rows))
    return rows


def layout(say: Callable[[str], None]) -> dict[str, Any]:
    """A random walk of splits, merges and prunes, in two ways."""
    from tests.bench.layout import measure  # noqa: PLC0415

    say("random walks of splits, merges and prunes on one layout, in two ways ...")
    walk = measure()
    for operations, way, seconds in (
        (walk["operations"], "spec.layout", walk["seconds"]),
        (walk["compared_operations"], "spec.layout", walk["compared_seconds"]),
        (walk["compared_operations"], "rebuilding everything", walk["obvious_seconds"]),
    ):
        say(f"{operations:>7,} operations   {way:<22} {seconds:6.2f} s")
    say(f"fast_over_obvious    {walk['fast_over_obvious']:.0f}")
    return walk
