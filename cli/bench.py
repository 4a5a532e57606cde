"""`./braid bench`: how fast the specification's own operations are."""

from cli.console import emit, out
from tests.bench.layout import measure


def bench(as_json: bool) -> int:
    """Run the benchmarks and print what they measured."""
    if not as_json:
        out.print("random walks of splits, merges and prunes on one layout, in two ways ...")
    walk = measure()
    if as_json:
        emit({"layout_walk": walk})
        return 0

    for operations, way, seconds in (
        (walk["operations"], "spec.layout", walk["seconds"]),
        (walk["compared_operations"], "spec.layout", walk["compared_seconds"]),
        (walk["compared_operations"], "rebuilding everything", walk["obvious_seconds"]),
    ):
        out.print(f"{operations:>7,} operations   {way:<22} {seconds:6.2f} s")
    out.print(f"fast_over_obvious    {walk['fast_over_obvious']:.0f}")
    out.print(f"segments at the end  {walk['segments_at_the_end']:,}")
    return 0
