"""One way to ask every engine: `explore(world, engine)`; an engine is imported when it is used."""

from typing import Any

from models.asking import Usage
from models.engine import reference, weighted
from models.engine.result import Limits, Result, Tell
from spec.world import World

ENGINES = ("fast", "reference")


def explore(
    world: World,
    engine: str = "fast",
    limits: Limits = Limits(),  # noqa: B008
    tell: Tell | None = None,
    *,
    fault_cost: int | None = None,
    **options: Any,
) -> Result:
    """
    Visit the states of a world and say what was found.

    The options are those of the fast engine: threads, exact, symmetry, partial_order, slicing, resume,
    save_every. The other ways to search know none of them and refuse those that would change what they do.
    """
    if fault_cost is not None:
        _refuse("the search for the cheapest trace", options)
        return weighted.explore(world, fault_cost, limits, tell)
    if engine == "reference":
        _refuse("the reference engine", options)
        return reference.explore(world, limits, tell)
    if engine != "fast":
        raise Usage(f"there is no engine called {engine!r}", f"engines: {', '.join(ENGINES)}")
    return _fast(world, limits, tell, options)


def _fast(world: World, limits: Limits, tell: Tell | None, options: dict[str, Any]) -> Result:
    try:
        from models.engine import fast  # noqa: PLC0415 (compiled code, loaded only where it is needed)
    except ImportError as missing:  # remove with the first fast engine
        result = reference.explore(world, limits, tell)
        result.notes.append(f"the reference engine ran, because the fast one cannot be loaded: {missing}")
        return result
    return fast.explore(world, limits, tell, fast.Options(**options))


def _refuse(who: str, options: dict[str, Any]) -> None:
    """Exactness needs no request here, and one thread is what there is; everything else is refused."""
    harmless = {"exact": (True, False), "threads": (None, 1)}
    for name, value in options.items():
        if value is not False and value not in harmless.get(name, (None,)):
            raise Usage(f"{who} has no {name.replace('_', '-')}", "leave that option out, or --engine fast")
