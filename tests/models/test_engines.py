"""
All engines agree: on thousands of machines drawn by lot, on every world of the folder, and on their mutants.

The reference engine is the oracle. What a reduction changes on purpose (counts, lengths of traces) is
compared with what is true of all reachable states.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from models.engine import fast, liveness, symmetry, values
from models.engine.mutants import mutants_of
from models.engine.result import Limits, Result
from models.engine.slicing import slice_of
from models.verdict import Verdict
from models.worlds import all_worlds, independent_clients
from spec.immutable import Misuse
from spec.machine import Domain, Family, Machine, Sort, Variable, action, always, require, sometimes
from spec.world import Holds, Model, World
from tests.models import machines
from tests.models.agreement import (
    checked,
    compared,
    explored,
    figures_of,
    orbits,
    reduced_agrees,
    reference_search,
    truth_of,
    with_promises,
)
from tests.models.machines import Manner, alone, forget, text_of

SMALL = Limits(states=400)
"""A few machines are larger: the engines must agree on where they stop, too."""
PLAIN, ALIKE, PROMISES = Manner(), Manner(alike=True), Manner(promises=True)
REDUCIBLE, BOTH = Manner(reducible=True), Manner(reducible=True, alike=True)


@pytest.fixture(autouse=True, scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of this is put where real runs are, and no chunk is too small for several threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast, "RUNS", tmp_path_factory.mktemp("runs"))
        patch.setattr(fast, "SMALL", 0)
        yield


Test = TypeVar("Test", bound=Callable[..., None])


def many(examples: int) -> Callable[[Test], Test]:
    """So many machines, without a clock: the first one may have to wait for the compiler."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def ways_to_run() -> st.SearchStrategy[dict[str, Any]]:
    """Everything that must not change anything."""
    return st.fixed_dictionaries(
        {
            "threads": st.sampled_from((1, 2, 3)),
            "chunk": st.sampled_from((5, 64, fast.CHUNK)),
            "exact": st.booleans(),
            "salt": st.integers(0, 3),
        }
    )


@many(800)
@given(machines.worlds(PLAIN), ways_to_run(), st.sampled_from((1, 2, 3)))
def test_the_fast_engine_sees_what_the_reference_engine_sees(
    world: World, how: dict[str, Any], threads: int
) -> None:
    note(text_of(world))
    search = reference_search(world, SMALL)

    found = explored(world, SMALL, **how)
    again = explored(world, SMALL, **{**how, "threads": threads})

    for result in (found, again):
        assert list(compared(search.result, result)) == []
        assert list(checked(search.model, result)) == []
    assert (found.breaches, found.witnesses) == (again.breaches, again.witnesses)
    forget(world)


@many(200)
@given(machines.worlds(ALIKE), ways_to_run())
def test_with_symmetry_every_orbit_is_seen_once(world: World, how: dict[str, Any]) -> None:
    note(text_of(world))
    search = reference_search(world, SMALL)
    assume(not search.result.cut)

    found = explored(world, SMALL, **how, symmetry=True)

    every = search.result.states if how["exact"] else orbits(search.model, search.parents)
    assert found.states == every
    assert found.depth == search.result.depth
    assert list(same_answers(search.result, found)) == []
    assert list(checked(search.model, found)) == []
    forget(world)


@many(100)
@given(machines.worlds(PLAIN), ways_to_run())
def test_names_that_are_not_interchangeable_are_a_misuse_or_make_no_difference(
    world: World, how: dict[str, Any]
) -> None:
    note(text_of(world))
    clients = sys.modules[world.machines[0].__module__].CLIENTS
    assume(world.bounds.get("clients", 0) > 1)
    declared, how = replace(world, interchangeable=(clients,)), {**how, "exact": False}
    search = reference_search(declared, SMALL)
    assume(not search.result.cut)

    try:
        found = explored(declared, SMALL, **how, symmetry=True)
    except Misuse:
        return
    finally:
        forget(world)

    assert found.states == orbits(search.model, search.parents)
    assert list(same_answers(search.result, found)) == []


def same_answers(expected: Result, found: Result) -> Iterator[str]:
    """What no symmetry changes: the verdict, what is breached and reached, and how far away that is."""
    wanted, there = figures_of(expected), figures_of(found)
    for what in ("verdict", "breaches", "witnesses"):
        if wanted[what] != there[what]:
            yield f"{what} {there[what]}, not {wanted[what]}"


REDUCTIONS: tuple[dict[str, bool], ...] = (
    {"partial_order": True},
    {"slicing": True},
    {"partial_order": True, "slicing": True},
)


@many(150)
@given(machines.worlds(REDUCIBLE), ways_to_run())
def test_what_is_reduced_answers_each_question_as_before(world: World, how: dict[str, Any]) -> None:
    answers_each_question(world, how, REDUCTIONS)


@many(100)
@given(machines.worlds(BOTH), ways_to_run())
def test_reductions_can_be_combined_with_symmetry(world: World, how: dict[str, Any]) -> None:
    answers_each_question(world, how, tuple({**some, "symmetry": True} for some in REDUCTIONS))


def answers_each_question(world: World, how: dict[str, Any], reductions: tuple[dict[str, bool], ...]) -> None:
    """Each property by itself, deadlocks by themselves, and all of them together."""
    note(text_of(world))
    whole = Model(world)
    graph = liveness.graph_of(whole, SMALL.states)
    assume(graph.states <= (SMALL.states or 0))
    single = [
        alone(world, one) for one in (None, *whole.properties) if one is None or one.sort is not Sort.FINAL
    ]

    for asked in (*single, world):
        model = Model(asked)
        truth = truth_of(model, graph)
        sliced = truth.without_failures_of(set(range(len(model.instances))) - set(slice_of(model).instances))
        for some in reductions:
            options: dict[str, Any] = {**how, **some}
            found = explored(asked, **options)
            true = sliced if "slicing" in some else truth
            assert list(reduced_agrees(true, found)) == [], (some, [p.name for p in model.properties])
            assert list(checked(model, found)) == []
    forget(world)


@many(200)
@given(machines.worlds(PROMISES), ways_to_run())
def test_promises_are_kept_or_broken_as_on_the_plain_graph(world: World, how: dict[str, Any]) -> None:
    note(text_of(world))
    assume(not reference_search(world, SMALL).result.cut)

    found = explored(world, **how)

    assert (found.verdict, {breach.property for breach in found.breaches}) == promised(world)
    assert list(checked(Model(world), found)) == []
    forget(world)


def promised(world: World) -> tuple[Verdict, set[str]]:
    result = with_promises(world)
    return result.verdict, breached(result)


@many(70)
@given(machines.worlds(PROMISES), ways_to_run())
def test_a_promise_is_not_decided_where_the_search_was_cut_off(world: World, how: dict[str, Any]) -> None:
    note(text_of(world))
    limits = Limits(depth=2)
    search = reference_search(world, limits)
    assume(search.result.cut and not reference_search(world, SMALL).result.cut)

    found = explored(world, limits, **how)

    assert found.cut
    assert found.verdict in (Verdict.UNKNOWN, Verdict.VIOLATED)
    assert {breach.property for breach in found.breaches} <= broken_promises(world)
    forget(world)


def broken_promises(world: World) -> set[str]:
    model = Model(world)
    return {breach.property for breach in liveness.check(model, liveness.graph_of(model)).breaches}


@many(100)
@given(machines.worlds(PLAIN), ways_to_run())
def test_exact_mode_leaves_nothing_to_chance(world: World, how: dict[str, Any]) -> None:
    """With fingerprints of four bits nearly all states collide, and all are still told apart."""
    note(text_of(world))
    search = reference_search(world, SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "word_of", lambda *what: symmetry.word_of(*what) & 0xF)
        found = explored(world, SMALL, **{**how, "exact": True})

    assert list(compared(search.result, found)) == []
    forget(world)


@many(70)
@given(machines.worlds(PROMISES), ways_to_run())
def test_nor_do_promises_depend_on_chance(world: World, how: dict[str, Any]) -> None:
    note(text_of(world))
    assume(not reference_search(world, SMALL).result.cut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "word_of", lambda *what: symmetry.word_of(*what) & 0xF)
        found = explored(world, **how)

    assert (found.verdict, {breach.property for breach in found.breaches}) == promised(world)
    forget(world)


# machines that are larger in one respect than those that are drawn

CELLS = Domain("cell")
CLIENTS = Domain("client", "c")


class Wide(Machine):
    """So many variables that a row takes several words, and so many predicates that bits run out."""

    cell = Family[int, int](CELLS, 0)
    filled = Variable[int](0)
    last = Variable[int](-1)


@action(cell=CELLS, number=(1, 2, 3))
def fill(w: Wide, cell: int, number: int) -> None:
    require(w.filled == 0 or (w.filled == 1 and w.last + 1 == cell))
    w.filled += 1
    w.last = cell
    w.cell[cell] = number


@action(cell=CELLS)
def clear(w: Wide, cell: int) -> None:
    require(w.cell[cell] == 3)
    w.cell[cell] = 0


@always(cell=CELLS)
def a_cell_has_a_small_number(w: Wide, cell: int) -> Iterator[str]:
    if w.cell[cell] > 3:
        yield f"cell {cell} has {w.cell[cell]}"


@always()
def the_last_two_cells_are_not_both_full(w: Wide) -> Iterator[str]:
    if w.cell[68] == 3 and w.cell[69] == 2:
        yield "both are full"


class Long(Machine):
    """So many values of one variable that they no longer stand in their node."""

    count = Variable[int](0)
    parity = Variable[bool](False)


@action()
def go_on(w: Long) -> None:
    require(w.count < 700)
    w.count += 1


@action()
def notice(w: Long) -> None:
    w.parity = w.count % 2 == 1


@sometimes()
def the_end_is_noticed(w: Long) -> bool:
    return w.count == 699 and w.parity


WIDE = World(name="wide", asks="?", machines=(Wide,), bounds={"cells": 70})
LONG = World(name="long", asks="?", machines=(Long,), bounds={})


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("world", [WIDE, LONG], ids=["wide", "long"])
def test_wide_rows_and_long_counters_are_seen_whole(world: World, threads: int, exact: bool) -> None:
    search = reference_search(world, Limits(states=3000))

    found = explored(world, Limits(states=3000), threads=threads, exact=exact)

    assert list(compared(search.result, found)) == []
    assert list(checked(search.model, found)) == []


def test_more_instances_than_a_word_has_bits_can_be_reduced() -> None:
    world = replace(WIDE, properties=(the_last_two_cells_are_not_both_full,))

    found = explored(world, partial_order=True)

    assert [breach.property for breach in found.breaches] == ["the_last_two_cells_are_not_both_full"]


def test_a_bucket_that_runs_full_loses_nothing() -> None:
    world = independent_clients.SMALL.at(clients=6, steps=3)

    found = [
        explored(world, chunk=chunk, threads=threads) for chunk in (64, fast.CHUNK) for threads in (1, 2)
    ]

    assert len({(one.states, one.transitions, tuple(one.levels)) for one in found}) == 1


class Ranked(Machine):
    """Clients that are not alike: they go in the order of their names."""

    went = Family[str, bool](CLIENTS, False)


@action(client=CLIENTS)
def go(w: Ranked, client: str) -> None:
    require(not w.went[client])
    require(all(w.went[other] for other in w.went if other < client))
    w.went[client] = True


def test_names_that_are_told_apart_are_not_interchangeable() -> None:
    world = World(
        name="ranked", asks="?", machines=(Ranked,), bounds={"clients": 3}, interchangeable=(CLIENTS,)
    )

    with pytest.raises(Misuse, match=r"do not do the same when .* must not call these names interchangeable"):
        explored(world, symmetry=True)


# the worlds of the folder, and their mutants

SHIPPED = tuple(world for world in all_worlds() if not world.large)
TAUGHT = tuple(w for w in SHIPPED if not any(m.__module__.startswith("spec.") for m in w.machines))
"""The worlds that bring their own machines along: small enough to be explored by plain Python many times."""
FEW = 2_000
PROTOCOLS = tuple(
    world
    for world in SHIPPED
    if world not in TAUGHT and isinstance(world.expect, Holds) and (world.expect.states or FEW) < FEW
)
SMALLER = {"split-merge": {"messages": 1, "crashes": 0}}
"""Bounds for mutants of a world that is too large to be explored by plain Python once for each of them."""
ENOUGH = Limits(states=6_000)
EVERYTHING = ({}, {"symmetry": True}, *REDUCTIONS, {"symmetry": True, "partial_order": True, "slicing": True})


@pytest.mark.parametrize("world", [*TAUGHT, *PROTOCOLS], ids=lambda world: str(world.name))
def test_every_world_has_the_same_verdict_with_and_without_reductions(world: World) -> None:
    assert list(disagreements(world, Limits())) == []


@pytest.mark.parametrize("world", TAUGHT, ids=lambda world: str(world.name))
def test_every_mutant_has_the_same_verdict_with_and_without_reductions(world: World) -> None:
    mutants = [mutant.world for mutant in mutants_of(world.at(**SMALLER.get(world.name, {})))]

    assert mutants
    assert [told for mutant in mutants for told in disagreements(mutant, ENOUGH)] == []


def disagreements(world: World, limits: Limits) -> Iterator[str]:
    """How the fast engine differs from the reference engine, in any of its ways to explore."""
    expected = answer_of(lambda: with_promises(world, limits))
    for options in EVERYTHING:
        found = answer_of(partial(explored, world, limits, **options))
        if expected is None or found is None:
            different = expected is not found
        elif expected.cut and options:
            different = False
        else:
            fired = {name: count for name, count in expected.fired.items() if name in found.fired}
            wanted = replace(expected, fired=fired)
            different = (wanted.verdict, breached(wanted)) != (found.verdict, breached(found))
            if options and wanted.verdict is found.verdict is Verdict.VIOLATED:
                different = not breached(found)
        if different:
            yield f"{world.name} {options}: {told(found)}, not {told(expected)}"


def answer_of(ask: Callable[[], Result]) -> Result | None:
    """A result, or nothing if the world is misused: mutants may lose the guard that made sense of them."""
    try:
        return ask()
    except Misuse:
        return None


def breached(result: Result) -> set[str]:
    return {breach.property for breach in result.breaches}


def told(result: Result | None) -> str:
    if result is None:
        return "a misuse"
    return f"{result.verdict.value} {sorted(breached(result))} {result.missing}"
