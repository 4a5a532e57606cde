"""
All engines agree: on thousands of machines drawn by lot, on every world of the folder, and on their mutants.

The reference engine is the oracle. What a reduction changes on purpose (counts, lengths of traces) is compared
with what is true of all reachable states.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from models.engine import fast, liveness
from models.engine.mutants import mutants_of
from models.engine.result import Limits
from models.engine.values import Values
from models.verdict import Verdict
from models.worlds import all_worlds
from spec.immutable import Misuse
from spec.machine import Sort
from spec.world import Model, World
from tests.models import machines
from tests.models.agreement import (
    Truth,
    checked,
    compared,
    explored,
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
    """Nothing of this is put where real runs are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast, "RUNS", tmp_path_factory.mktemp("runs"))
        yield


def many(examples: int) -> Any:
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


@many(1500)
@given(machines.worlds(PLAIN), ways_to_run(), ways_to_run())
def test_the_fast_engine_sees_what_the_reference_engine_sees(
    world: World, one: dict[str, Any], other: dict[str, Any]
) -> None:
    note(text_of(world))
    search = reference_search(world, SMALL)
    found = [explored(world, SMALL, **how) for how in (one, other)]

    for result in found:
        assert list(compared(search.result, result)) == []
        assert list(checked(search.model, result)) == []
    forget(world)
