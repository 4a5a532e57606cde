"""One way to ask every engine: `explore(world, engine)`; an engine is imported when it is used."""

from typing import Any

from models.asking import Usage
from models.engine import reference, weighted
from models.engine.result import Limits, Result, Tell
from spec.machine import Sort
from spec.world import Model, World

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
        return _with_promises(weighted.explore(world, fault_cost, limits, tell))
    if engine == "reference":
        _refuse("the reference engine", options)
        return _with_promises(reference.explore(world, limits, tell))
    if engine != "fast":
        raise Usage(f"there is no engine called {engine!r}", f"engines: {', '.join(ENGINES)}")
    from models.engine import fast  # noqa: PLC0415 (compiled code, loaded only where it is needed)

    return fast.explore(world, limits, tell, fast.Options(**options))


def _with_promises(result: Result) -> Result:
    """What a search in plain Python found, and whether what is promised comes to pass."""
    model = Model(result.world)
    if result.breaches or not any(check.of.sort is Sort.LEADS_TO for check in model.checks):
        return result
    from models.engine import liveness  # noqa: PLC0415 (the same)

    graph = liveness.graph_of(model, result.states if result.cut else None)
    answer = liveness.check(model, graph, cut=result.cut)
    result.breaches += answer.breaches
    result.cut = result.cut or answer.undecided
    return result


def _refuse(who: str, options: dict[str, Any]) -> None:
    """Exactness needs no request here, and one thread is what there is; everything else is refused."""
    harmless = {"exact": (True, False), "threads": (None, 1)}
    for name, value in options.items():
        if value is not False and value not in harmless.get(name, (None,)):
            raise Usage(f"{who} has no {name.replace('_', '-')}", "leave that option out, or --engine fast")
