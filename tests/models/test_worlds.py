"""The first worlds are as they say they are, and worlds are found by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from models import worlds
from models.engine import liveness
from models.engine.reference import explore
from models.worlds import dining_philosophers, lock_server, two_phase_commit
from spec.immutable import Misuse
from spec.machine import WEAK, Action, Property
from spec.world import Model, World

MODULES = (dining_philosophers, lock_server, two_phase_commit)
FIRST = tuple(world for module in MODULES for world in module.WORLDS)
BROKEN = {
    "dining-philosophers-alike": ["nobody_starves"],
    "two-phase-commit-without-a-coordinator": ["whoever_promised_learns_the_end"],
}


def name_of(world: World) -> str:
    return world.name


@pytest.mark.parametrize("world", FIRST, ids=name_of)
def test_a_world_is_as_it_expects(world: World) -> None:
    assert explore(world).surprises() == []


@pytest.mark.parametrize("world", FIRST, ids=name_of)
def test_a_world_keeps_its_promises_under_the_declared_fairness(world: World) -> None:
    model = Model(world)

    answer = liveness.check(model, liveness.graph_of(model))

    assert answer.undecided == ""
    assert [breach.property for breach in answer.breaches] == BROKEN.get(world.name, [])


def test_to_take_a_fork_that_is_free_for_long_is_not_enough_for_a_philosopher() -> None:
    class Slower(dining_philosophers.Table):
        pass

    Slower.actions += [weaker(one) for one in dining_philosophers.Table.actions]
    Slower.properties += dining_philosophers.Table.properties
    model = Model(
        World(name="slower", asks="?", machines=(Slower,), bounds={"philosophers": 3, "contrary": 1})
    )

    [starved] = liveness.check(model, liveness.graph_of(model)).breaches

    assert starved.property == "nobody_starves"


def weaker(action: Action) -> Action:
    return replace(action, fair=action.fair and WEAK)


@pytest.mark.parametrize("world", FIRST, ids=name_of)
def test_everything_in_a_world_has_an_id_and_a_sentence(world: World) -> None:
    assert world.asks.endswith("?")
    for machine in world.machines:
        rules: list[Action | Property] = [*machine.actions, *machine.properties]
        for one in rules:
            assert one.ids, one.name
            assert one.says.endswith("."), one.name


@pytest.mark.parametrize("clients", [1, 2, 4])
def test_the_lock_server_holds_for_other_numbers_of_clients_too(clients: int) -> None:
    [world, _] = lock_server.WORLDS

    assert explore(world.at(clients=clients)).breaches == []


@pytest.mark.parametrize("philosophers", [2, 3, 4])
@pytest.mark.parametrize("contrary", [0, 1, 2])
def test_philosophers_get_stuck_exactly_if_all_reach_for_the_same_side(
    philosophers: int, contrary: int
) -> None:
    [world, _] = dining_philosophers.WORLDS

    found = explore(world.at(philosophers=philosophers, contrary=contrary)).breaches

    assert [breach.property for breach in found] == ["no_deadlock"] * (contrary in (0, philosophers))


def test_worlds_are_found_by_themselves_and_sorted_by_name() -> None:
    names = [world.name for world in worlds.all_worlds()]

    assert names == sorted(set(names))
    assert {world.name for world in FIRST} <= set(names)
    assert worlds.world("lock-server") is lock_server.WORLDS[0]


def test_a_world_that_does_not_exist_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="lock-sever"):
        worlds.world("lock-sever")


def test_a_new_file_in_the_folder_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        Path(str(lock_server.__file__)).read_text(encoding="utf-8").replace('"lock-server', '"my-lock-server')
    )
    (tmp_path / "my_own_world.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(worlds, "__path__", [*worlds.__path__, str(tmp_path)])

    found = worlds.world("my-lock-server")

    assert found.place.startswith(f"{tmp_path / 'my_own_world.py'}:")
    assert explore(found).surprises() == []


def test_two_worlds_cannot_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = (*two_phase_commit.WORLDS, lock_server.WORLDS[0])
    monkeypatch.setattr(two_phase_commit, "WORLDS", twice)

    with pytest.raises(Misuse) as told:
        worlds.all_worlds()

    place = lock_server.WORLDS[0].place
    assert str(told.value) == f"two worlds are called lock-server\n  {place}\n  {place}"
