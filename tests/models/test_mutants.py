"""A mutant lacks one guard; each guard of the first worlds is missed by somebody."""

import linecache
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from models.engine.mutants import Outcome, mutants_of, noticed, outcome, survivors
from models.engine.reference import explore
from models.engine.result import FAILURE, Limits
from models.verdict import Verdict
from models.worlds import dining_philosophers, lock_server, two_phase_commit
from spec.machine import Bound, Domain, Family, Machine, Variable, action, always, choose, require, sometimes
from spec.world import Holds, Model, World

SOUND = tuple(
    world
    for module in (dining_philosophers, lock_server, two_phase_commit)
    for world in module.WORLDS
    if isinstance(world.expect, Holds)
)

MISSED = {
    "dining-philosophers": [
        ("get_hungry", "w.mood[philosopher] is Mood.THINKING", "moods_follow_each_other"),
        ("take_the_first_fork", "w.mood[philosopher] is Mood.HUNGRY", "moods_follow_each_other"),
        ("take_the_first_fork", "w.fork[first] is None", "forks_and_moods_fit"),
        ("take_the_second_fork", "w.mood[philosopher] is Mood.REACHING", "moods_follow_each_other"),
        ("take_the_second_fork", "w.fork[second] is None", "forks_and_moods_fit"),
        ("put_the_forks_back", "w.mood[philosopher] is Mood.EATING", "moods_follow_each_other"),
    ],
    "lock-server": [
        ("ask", "w.client[client] is Client.IDLE", "whoever_stands_in_line_waits"),
        ("queue", "Message(Word.PLEASE, client) in w.wire", "whoever_stands_in_line_waits"),
        ("grant", "w.holder is None", "the_server_knows_the_holder"),
        ("grant", "w.line", FAILURE),
        ("enter", "Message(Word.YOURS, client) in w.wire", "the_server_knows_the_holder"),
        ("leave", "w.client[client] is Client.HOLDING", "whoever_stands_in_line_waits"),
        ("free", "Message(Word.DONE, client) in w.wire", "the_server_knows_the_holder"),
    ],
    "two-phase-commit": [
        ("prepare", "w.stage[participant] is Stage.WORKING", "an_end_is_an_end"),
        ("refuse", "w.stage[participant] is Stage.WORKING", "an_end_is_an_end"),
        ("hear", "w.promise[participant]", "an_end_is_an_end"),
        ("decide_to_commit", "w.decision is None", "a_decision_is_final"),
        ("decide_to_commit", "len(w.promises) == len(w.stage)", "an_end_is_an_end"),
        ("decide_to_abort", "w.decision is None", "a_decision_is_final"),
        ("obey", "order is not None", "an_end_is_an_end"),
    ],
}
"""Every guard of the first worlds, and the property that a world without it violates first."""


def name_of(world: World) -> str:
    return world.name


@pytest.mark.parametrize("world", SOUND, ids=name_of)
def test_every_guard_of_the_first_worlds_is_needed(world: World) -> None:
    found = [(mutant, outcome(mutant.world, explore)) for mutant in mutants_of(world)]

    assert [
        (mutant.action, mutant.change.removeprefix("without "), *got.because) for mutant, got in found
    ] == MISSED[world.name]
    assert {got.verdict for _, got in found} == {Verdict.VIOLATED}
    assert survivors(world, explore) == []


@pytest.mark.parametrize("world", SOUND, ids=name_of)
def test_no_guard_is_left_out(world: World) -> None:
    path = world.place.rpartition(":")[0]
    guards = {i for i, line in enumerate(linecache.getlines(path), 1) if line.startswith("    require(")}
    ours = {mutant.line for mutant in mutants_of(world)}

    assert ours <= guards
    assert len(guards - ours) == {"dining-philosophers": 0}.get(world.name, 1), (
        "the fault of the second world"
    )


@pytest.mark.parametrize(
    ("world", "action"), [(lock_server.WORLDS[1], "expire"), (two_phase_commit.WORLDS[1], "die")]
)
def test_the_guard_of_a_fault_is_needed_too(world: World, action: str) -> None:
    usual = outcome(world, explore)

    [mutant] = [mutant for mutant in mutants_of(world) if mutant.action == action]

    assert noticed(outcome(mutant.world, explore), usual)


def test_a_mutant_is_the_same_world_but_for_one_body() -> None:
    world = lock_server.WORLDS[0]
    plain = Model(world)

    mutants = list(mutants_of(world))

    assert [mutant.name for mutant in mutants] == [f"lock-server~{i}" for i in range(1, 8)]
    for mutant in mutants:
        model = Model(mutant.world)
        assert mutant.world.name == mutant.name
        assert [slot.name for slot in model.slots] == [slot.name for slot in plain.slots]
        assert [one.label for one in model.instances] == [one.label for one in plain.instances]
        assert model.properties == plain.properties
        assert model.initial == plain.initial
        changed = [
            (one.name, other.name)
            for one, other in zip(model.actions, plain.actions, strict=True)
            if one.body is not other.body
        ]
        assert changed == [(mutant.action, mutant.action)]
    assert explore(world).surprises() == []


def test_a_mutant_that_fails_names_the_line_of_the_text() -> None:
    [mutant] = [m for m in mutants_of(lock_server.WORLDS[0]) if m.change == "without w.line"]

    [breach] = explore(mutant.world).breaches

    [story] = breach.sentences
    assert "grant() raised ValueError" in story
    assert f"{lock_server.__file__}:{mutant.line + 2}  first, *rest = w.line" in story


BROKERS = Domain("broker", "b")


class Record(Machine):
    """Brokers that write one record, if nobody has written it since they read it."""

    writes = Bound()
    version = Variable[int](0)
    text = Variable[tuple[str, ...]](())
    read = Family[str, int | None](BROKERS, None)
    basis = Family[str, tuple[str, ...]](BROKERS, ())


@action(broker=BROKERS)
def read_it(w: Record, broker: str) -> None:
    require(w.read[broker] is None and w.version < w.writes)
    w.read[broker], w.basis[broker] = w.version, w.text


@action(broker=BROKERS)
def write_it(w: Record, broker: str) -> None:
    seen = w.read[broker]
    require(seen is not None)

    if seen != w.version:
        w.read[broker] = None
        return

    w.version += 1
    w.text = (*w.basis[broker], broker)
    w.read[broker] = None


@always()
def nothing_is_overwritten(w: Record) -> Iterator[str]:
    if len(w.text) != w.version:
        yield f"version {w.version} has {len(w.text)} entries"


@sometimes()
def it_is_full(w: Record) -> object:
    return w.version == w.writes


RECORD = World(name="record", asks="?", machines=(Record,), bounds={"brokers": 2, "writes": 2})
BOUNDED = partial(explore, limits=Limits(states=300))


def test_a_guard_loses_all_of_its_conditions_or_one_and_a_decision_is_forced_both_ways() -> None:
    assert explore(RECORD).verdict is Verdict.HOLDS
    assert [(m.action, m.change) for m in mutants_of(RECORD)] == [
        ("read_it", "without w.read[broker] is None and w.version < w.writes"),
        ("read_it", "without w.read[broker] is None"),
        ("read_it", "without w.version < w.writes"),
        ("write_it", "without seen is not None"),
        ("write_it", "always False: seen != w.version"),
        ("write_it", "always True: seen != w.version"),
    ]


def test_whoever_is_noticed_does_not_survive() -> None:
    found = {m.change: outcome(m.world, BOUNDED) for m in mutants_of(RECORD)}

    assert found["always False: seen != w.version"] == Outcome(Verdict.VIOLATED, ("nothing_is_overwritten",))
    assert found["always True: seen != w.version"] == Outcome(
        Verdict.VACUOUS, ("it_is_full was never reached",)
    )
    assert found["without w.version < w.writes"] == Outcome(Verdict.UNKNOWN)
    assert [m.change for m in survivors(RECORD, BOUNDED)] == [
        "without w.read[broker] is None and w.version < w.writes",
        "without w.read[broker] is None",
        "without w.version < w.writes",
        "without seen is not None",
    ]


def test_a_mutant_that_makes_no_sense_any_more_is_noticed() -> None:
    class Pointing(Machine):
        to = Variable[str | None](None)
        met = Family[str, bool](BROKERS, False)

    @action()
    def point(w: Pointing) -> None:
        w.to = choose(w, w.met)

    @action()
    def meet(w: Pointing) -> None:
        require(w.to)
        w.met[w.to] = True  # type: ignore[index]

    world = World(name="pointing", asks="?", machines=(Pointing,), bounds={"brokers": 2})

    [mutant] = mutants_of(world)

    found = outcome(mutant.world, explore)
    assert found.verdict is Verdict.VIOLATED
    assert found.because[0].startswith("meet() met has no member None, it has b1, b2")
    assert survivors(world, explore) == []


def test_names_of_an_enclosing_function_stay_what_they_are() -> None:
    limit, enough = 3, {"yes"}

    class Counter(Machine):
        count = Variable[int](0)

    @action()
    def count(w: Counter) -> None:
        require(w.count < limit and enough)
        w.count += len(enough)

    @always()
    def small(w: Counter) -> Iterator[Any]:
        if w.count > limit:
            yield f"{w.count} is more than {limit}"

    world = World(name="counter", asks="?", machines=(Counter,), bounds={})

    assert [m.change for m in survivors(world, explore)] == ["without enough"]
