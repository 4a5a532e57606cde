"""Clients that only meet in the registry: the world holds, can break, and is the same world in Spin."""

from dataclasses import replace

import pytest

from models.engine.reference import explore
from models.verdict import Verdict
from models.worlds.independent_clients import SMALL, Registry
from spec.machine import require
from tests.bench.spin_runner import INDEPENDENT_CLIENTS, LOSSLESS, REDUCED, defines, missing, run_spin

needs_spin = pytest.mark.skipif(
    bool(missing()), reason="spin or gcc is not installed: apt-get install spin gcc"
)


def test_the_small_world_holds_with_exactly_these_counts() -> None:
    result = explore(SMALL)

    assert result.verdict is Verdict.HOLDS
    assert (result.states, result.transitions) == (5_144, 16_480)
    assert result.surprises() == []


def register_without_counting(w: Registry, client: str) -> None:
    require(w.number[client] is None)
    require(w.session[client] == w.steps)
    w.number[client] = w.registered
    w.holder[w.registered] = client


def test_a_registry_that_does_not_count_is_found_out() -> None:
    class Forgetful(Registry):
        pass

    Forgetful.actions = [
        replace(a, body=register_without_counting) if a.name == "register" else a for a in Registry.actions
    ]
    Forgetful.properties = Registry.properties

    result = explore(replace(SMALL.at(clients=2), machines=(Forgetful,)))

    assert "numbers_are_given_out_in_order" in [breach.property for breach in result.breaches]


@needs_spin
@pytest.mark.parametrize("bounds", [{"clients": 5, "steps": 3}, {"clients": 3, "steps": 1}], ids=str)
def test_spin_finds_the_same_states_and_transitions(bounds: dict[str, int]) -> None:
    world = SMALL.at(**bounds)
    ours = explore(world)

    spin = run_spin(defines(world), LOSSLESS, INDEPENDENT_CLIENTS, hash_bits=16)

    assert (spin.states, spin.transitions, spin.errors) == (ours.states, ours.transitions, 0)


@needs_spin
def test_spin_leaves_out_the_order_of_private_steps() -> None:
    """What remains are the orders in which clients register: 326 of five clients or fewer."""
    spin = run_spin(defines(SMALL), REDUCED, INDEPENDENT_CLIENTS, hash_bits=16)

    assert (spin.states, spin.errors) == (326 + 5 * 3, 0)
