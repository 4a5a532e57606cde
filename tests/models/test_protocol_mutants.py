"""Mutants of protocols: each function that takes part in actions loses one thing at a time."""

from collections.abc import Iterator
from types import FunctionType

import pytest

from models.engine.mutants import noticed, outcome
from models.engine.protocol_mutants import (
    ProtocolMutant,
    applied,
    files_of,
    lines_run,
    protocol_mutants,
    protocol_of,
)
from models.engine.reference import explore
from models.verdict import Verdict
from spec.design import AS_WRITTEN, Conflict
from spec.machine import Bound, Domain, Family, Machine, Variable, action, always, require
from spec.world import Model, World

BROKERS = Domain("broker", "b")


class Safe(Machine):
    """A safe that one broker at a time may open, and a log of who did."""

    entries = Bound()
    opened = Variable[str | None](None)
    log = Variable[tuple[str, ...]](())
    knows = Family[str, bool](BROKERS, False)


@action("SAFE-OPEN", broker=BROKERS)
def open_it(w: Safe, broker: str) -> None:
    """A broker opens the safe, and that is noted."""
    _see_that_it_is_shut(w)
    require(len(w.log) < w.entries)

    w.opened = broker
    _note(w, broker)


@action("SAFE-SHUT", broker=BROKERS)
def shut_it(w: Safe, broker: str) -> None:
    """Whoever opened it shuts it again."""
    require(_is_open(w, broker))

    last = w.opened = None
    if w.design.leaders_are_fenced and last is None:
        w.knows[broker] = True
    if w.design.conflict is Conflict.PUBLISH_AGAIN:
        w.log += ("never",)


def _see_that_it_is_shut(w: Safe) -> None:
    require(w.opened is None)


def _note(w: Safe, broker: str) -> None:
    if not w.log or w.log[-1] != broker:
        w.log += (broker,)
    else:
        w.log = (*w.log, broker)


def _is_open(w: Safe, broker: str) -> bool:
    return w.opened is not None and w.opened == broker


class Alarm(Safe):
    """Somebody who shuts the safe whoever has opened it."""

    rings = Variable[int](0)


@action("SAFE-RING", broker=BROKERS)
def ring(w: Alarm, broker: str) -> None:
    """The alarm shuts the safe, once."""
    require(not w.rings)
    shut_it(w, broker)
    w.rings += 1


@always()
def every_opening_is_noted(w: Safe) -> Iterator[str]:
    """Who has the safe open is the last in the log."""
    if w.opened is not None and w.log[-1:] != (w.opened,):
        yield f"{w.opened} has it open, the log ends with {w.log[-1:]}"


@always()
def it_is_open_for_somebody(w: Safe) -> Iterator[str]:
    """The property asks the same function as the actions."""
    if w.opened is not None and not any(_is_open(w, broker) for broker in w.knows):
        yield "it is open for nobody"


SAFE = World(name="safe", asks="?", machines=(Safe,), bounds={"entries": 3, "brokers": 2})
ALARM = World(name="alarm", asks="?", machines=(Safe, Alarm), bounds={"entries": 2, "brokers": 2})


def ours(function: FunctionType) -> bool:
    return function.__module__ == __name__


def of(*worlds: World) -> dict[tuple[str, str], ProtocolMutant]:
    return {(one.function.__name__, one.change): one for one in protocol_mutants(worlds, ours)}


def test_every_function_that_actions_are_made_of_is_changed_in_every_way() -> None:
    assert list(of(SAFE)) == [
        ("open_it", "without _see_that_it_is_shut(w)"),
        ("open_it", "without len(w.log) < w.entries"),
        ("open_it", "without w.opened = broker"),
        ("open_it", "without _note(w, broker)"),
        ("shut_it", "without _is_open(w, broker)"),
        ("shut_it", "without last = w.opened = None"),
        ("shut_it", "always False: w.design.leaders_are_fenced and last is None"),
        ("shut_it", "always True: w.design.leaders_are_fenced and last is None"),
        ("shut_it", "without last is None"),
        ("shut_it", "without w.knows[broker] = True"),
        ("shut_it", "always True: w.design.conflict is Conflict.PUBLISH_AGAIN"),
        ("shut_it", "without w.log += ('never',)"),
        ("_see_that_it_is_shut", "without w.opened is None"),
        ("_note", "always False: not w.log or w.log[-1] != broker"),
        ("_note", "always True: not w.log or w.log[-1] != broker"),
        ("_note", "without w.log += (broker,)"),
        ("_note", "without w.log = (*w.log, broker)"),
        ("_is_open", "without w.opened is not None"),
        ("_is_open", "without w.opened == broker"),
    ]


def test_what_the_design_decides_anyway_is_left_alone() -> None:
    literal = World(name="literal", asks="?", machines=(Safe,), bounds=SAFE.bounds, design=AS_WRITTEN)
    fenced = "always True: w.design.conflict is Conflict.PUBLISH_AGAIN"

    assert ("shut_it", fenced) in of(SAFE)
    assert ("shut_it", fenced) not in of(literal)
    assert ("shut_it", fenced) in of(SAFE, literal)
    assert ("shut_it", "without w.design.leaders_are_fenced") not in of(SAFE)
    assert ("shut_it", "without w.design.leaders_are_fenced") in of(literal)


def test_a_mutant_knows_its_actions_and_their_rules() -> None:
    some = of(SAFE, ALARM)

    helper = some["_is_open", "without w.opened == broker"]
    assert (helper.actions, helper.rules) == (("shut_it", "ring"), ("SAFE-SHUT", "SAFE-RING"))
    guards = [change for (name, change), one in some.items() if one.guard and name != "ring"]
    assert guards == [
        "without len(w.log) < w.entries",
        "without _is_open(w, broker)",
        "without w.opened is None",
    ]
    assert protocol_of(helper.function) == "test_protocol_mutants"


def verdicts(world: World, of_worlds: dict[tuple[str, str], ProtocolMutant]) -> dict[str, str]:
    """What a world says of each mutant that it runs."""
    found = {}
    usual = outcome(world, explore)
    for number, ((name, change), mutant) in enumerate(of_worlds.items()):
        if name not in ("open_it", "_note", "_is_open", "_see_that_it_is_shut"):
            continue
        changed = applied(mutant, world, f"{world.name}~{number}")
        assert changed is not None
        if change != "without len(w.log) < w.entries":
            got = outcome(changed, explore)
            found[f"{name} {change}"] = ", ".join(got.because) if noticed(got, usual) else ""
    return found


def test_helpers_change_for_actions_and_not_for_properties() -> None:
    assert verdicts(SAFE, of(SAFE)) == {
        "open_it without _see_that_it_is_shut(w)": "",
        "open_it without w.opened = broker": "shut_it never happened",
        "open_it without _note(w, broker)": "every_opening_is_noted",
        "_see_that_it_is_shut without w.opened is None": "",
        "_note always False: not w.log or w.log[-1] != broker": "",
        "_note always True: not w.log or w.log[-1] != broker": "",
        "_note without w.log += (broker,)": "every_opening_is_noted",
        "_note without w.log = (*w.log, broker)": "",
        "_is_open without w.opened is not None": "",
        "_is_open without w.opened == broker": "",
    }


def test_nothing_else_is_touched() -> None:
    mutant = of(SAFE)["_is_open", "without w.opened == broker"]
    before = dict(vars(mutant.function))

    changed = applied(mutant, ALARM, "alarm~1")

    assert changed is not None
    plain, model = Model(ALARM), Model(changed)
    assert [slot.name for slot in model.slots] == [slot.name for slot in plain.slots]
    assert [one.label for one in model.instances] == [one.label for one in plain.instances]
    assert model.properties == plain.properties
    assert model.initial == plain.initial
    differ = [a.name for a, b in zip(model.actions, plain.actions, strict=True) if a.body is not b.body]
    assert differ == ["shut_it", "ring"], "an action that is a part of another changes with it"
    assert vars(mutant.function) == before
    assert shut_it.body.__globals__["_is_open"] is _is_open
    assert explore(ALARM).verdict is Verdict.HOLDS
    assert explore(changed).states != explore(ALARM).states


def test_a_world_without_the_function_has_no_such_mutant() -> None:
    mutant = of(SAFE, ALARM)["ring", "without w.rings += 1"]

    assert applied(mutant, SAFE, "safe~1") is None
    assert applied(mutant, ALARM, "alarm~1") is not None


def test_the_lines_are_known_that_are_run() -> None:
    result, run = lines_run(SAFE, explore, files_of([SAFE], ours))
    some = of(SAFE)

    assert result.verdict is Verdict.HOLDS
    dead = [change for (_, change), mutant in some.items() if not mutant.reached(run)]
    assert dead == ["without w.log += ('never',)"]


def test_only_functions_that_see_the_state_are_changed() -> None:
    assert {name for name, _ in of(SAFE)} == {
        "open_it",
        "shut_it",
        "_see_that_it_is_shut",
        "_note",
        "_is_open",
    }
    assert list(protocol_mutants([SAFE], lambda function: False)) == []


def test_machines_inside_a_function_are_changed_as_well() -> None:
    class Steps(Machine):
        left = Variable[int](3)

    @action()
    def go(w: Steps) -> None:
        require(w.left)
        w.left -= 1

    world = World(name="steps", asks="?", machines=(Steps,), bounds={})

    changes = [one.change for one in protocol_mutants([world], ours)]

    assert changes == ["without w.left", "without w.left -= 1"]
    for one in protocol_mutants([world], ours):
        changed = applied(one, world, "steps~1")
        assert changed is not None
        assert one.place[1] == one.lines.start


@pytest.mark.parametrize("change", ["without w.opened = broker", "without _note(w, broker)"])
def test_a_mutant_stands_where_its_statement_stands(change: str) -> None:
    mutant = of(SAFE)["open_it", change]
    file, line = mutant.place

    with open(file, encoding="utf-8") as text:
        assert text.read().splitlines()[line - 1].strip() == change.removeprefix("without ")
