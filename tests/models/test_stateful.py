"""Walks derived from worlds find what is planted, and count what happens."""

from dataclasses import replace

import pytest

from models.stateful import Broken, never_happened, walk
from models.worlds import lock_server
from spec.machine import Bound, Domain, Family, Machine, action, choose, require, step
from spec.world import World
from tests.models.planted import HIGH, SOUND, STAIRS, STUCK, TRACK, UNFAIR


@pytest.mark.parametrize(
    ("world", "property", "sentence"),
    [
        (UNFAIR, "one_runner_has_the_medal", "2 runners hold <one> medal"),
        (TRACK, "the_track_stays_whole", "the track broke"),
        (STAIRS, "nobody_is_at_the_bottom", "it is dark"),
        (HIGH, "nobody_starts_high", "too high"),
        (replace(STAIRS, properties=()), "no_action_fails", "stumble() raised ValueError: the third stair"),
        (replace(STUCK, within=lambda w: w.height != 3), "no_deadlock", "it is no final state"),
        (lock_server.WORLDS[1], "one_client_holds_the_lock", "both hold the lock"),
    ],
    ids=lambda one: one.name if isinstance(one, World) else "",
)
def test_what_is_planted_is_found(world: World, property: str, sentence: str) -> None:
    with pytest.raises(Broken) as broken:
        walk(world, examples=50, steps=30)

    first, *rest = str(broken.value).splitlines()
    assert first.startswith(f"{property} is broken in {world.name} after ")
    assert sentence in "\n".join(rest)
    if sentence in rest[-1]:
        assert [line.split()[0] for line in rest[:-1]] == [str(number) for number in range(1, len(rest))]


def test_a_walk_that_broke_something_is_told_by_the_steps_that_suffice() -> None:
    with pytest.raises(
        Broken, match=r"after \d+ steps, of which 1 suffice:\n    1  trip\(\)\nthe track broke$"
    ):
        walk(TRACK, examples=20, steps=30)


def test_what_happens_is_counted_in_every_run_alike() -> None:
    happened = walk(SOUND, examples=10, steps=20)

    assert set(happened) == {"run", "wink", "trip", "win"}
    assert never_happened(SOUND, happened) == []
    assert happened == walk(SOUND, examples=10, steps=20)


def test_an_action_without_room_is_missed_unless_it_is_idle() -> None:
    tight = SOUND.at(runners=1)

    happened = walk(tight, examples=10, steps=20)

    assert never_happened(tight, happened) == ["wink"]
    assert never_happened(replace(tight, idle=("wink",)), happened) == []


def test_a_world_that_holds_is_walked_to_the_end() -> None:
    assert never_happened(SOUND, walk(lock_server.WORLDS[0].at(clients=5), examples=5, steps=100)) == []


COUNTERS = Domain("counter")


class Counting(Machine):
    """Counters of which only one may move at a time, and no more than one further."""

    most = Bound()
    number = Family[int, int](COUNTERS, 0)


@action(counter=COUNTERS)
def count(w: Counting, counter: int) -> None:
    require(w.number[counter] < w.most)
    w.number[counter] += choose(w, (1, 1, 2 if w.number[counter] == 7 else 1))


@step(counter=COUNTERS)
def nothing_is_left_out(w: Counting, after: Counting, counter: int) -> list[str]:
    """Every number comes up."""
    before, now = w.number[counter], after.number[counter]
    return [f"{now} comes after {before}"] if now > before + 1 else []


def test_steps_are_looked_at_whenever_what_they_read_has_changed() -> None:
    world = World(name="counting", asks="?", machines=(Counting,), bounds={"counters": 4, "most": 9})

    with pytest.raises(Broken, match=r"9 comes after 7$"):
        walk(world, examples=30, steps=40)
    assert walk(world.at(most=7), examples=5, steps=40)["count"] == 5 * 28
