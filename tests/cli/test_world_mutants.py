"""`./braid mutants` takes the guards out of worlds, too."""

import json
import re
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from cli import world_mutants as command
from cli.__main__ import app
from models import worlds as all_worlds
from models.worlds import lock_server
from proofs.contracts import ROOT
from spec.machine import Bound, Machine, Variable, action, always, require
from spec.world import World
from tests.models.planted import UNFAIR, WRONG


class Lamp(Machine):
    """A lamp that burns for a while, with a guard that nobody misses."""

    hours = Bound()
    burnt = Variable[int](0)
    on = Variable[bool](False)


@action("LAMP-ON")
def switch_on(w: Lamp) -> None:
    """Somebody switches it on."""
    require(not w.on)
    w.on = True


@action("LAMP-BURN")
def burn(w: Lamp) -> None:
    """An hour goes by."""
    require(w.on and w.burnt < w.hours)
    w.burnt += 1


@always("LAMP-DARK")
def it_burns_only_when_it_is_on(w: Lamp) -> Iterator[str]:
    """What is off does not burn."""
    if w.burnt and not w.on:
        yield "it burns, and it is off"


LAMP = World(name="lamp", asks="Does it burn?", machines=(Lamp,), bounds={"hours": 3})
LOCK, LEASES = lock_server.WORLDS


@pytest.fixture(autouse=True)
def _worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: (LAMP, LOCK, LEASES, UNFAIR, WRONG))
    monkeypatch.setattr(command, "AT_LEAST", 1000)


def mutants(*arguments: str) -> Done:
    return CliRunner().invoke(app, ["mutants", *arguments])


def test_every_guard_of_the_lock_server_is_needed() -> None:
    done = mutants("lock-server")

    assert done.exit_code == 0, done.output
    assert done.stdout == "lock-server             7 of    7 killed\n7 of 7 mutants killed\n"


def test_the_manual_shows_what_is_really_printed() -> None:
    assert mutants("lock-server", "--each").stdout in (ROOT / "docs" / "mutants.md").read_text(
        encoding="utf-8"
    )


def test_a_survivor_and_an_endless_mutant_are_listed_with_place_and_change() -> None:
    done = mutants("lamp")

    assert done.exit_code == 1
    here = r"tests/cli/test_world_mutants\.py:\d+"
    assert re.search(rf"^SURVIVED  {here}  without not w\.on$", done.stdout, re.MULTILINE)
    assert re.search(rf"^UNKNOWN   {here}  without w\.burnt < w\.hours  \(far ", done.stdout, re.MULTILINE)
    assert "lamp                    2 of    4 killed" in done.stdout
    assert "killed  " not in done.stdout
    assert done.stdout.splitlines()[-1] == "2 of 4 mutants killed"


def test_each_says_who_noticed() -> None:
    done = mutants("lamp", "--each")

    assert re.search(
        r"^killed    \S+  without w\.on  by it_burns_only_when_it_is_on$", done.stdout, re.MULTILINE
    )
    assert "by no_action_fails" in mutants("lock-server", "--each").stdout


def test_a_world_in_which_nothing_happens_has_no_mutants() -> None:
    done = mutants("lamp", "--each", "--bounds", "hours=0")

    assert done.exit_code == 3
    assert "lamp does not hold as it is: vacuous, burn never happened" in done.stderr
    assert "run ./braid check lamp --bounds hours=0" in done.stderr


def test_json_has_total_killed_and_survivors() -> None:
    done = mutants("lamp", "--json")
    answer = json.loads(done.stdout)

    assert (answer["total"], answer["killed"]) == (4, 2)
    [survivor], [endless] = answer["survivors"], answer["undecided"]
    assert (
        survivor.items()
        >= {
            "world": "lamp",
            "file": "tests/cli/test_world_mutants.py",
            "action": "switch_on",
            "change": "without not w.on",
        }.items()
    )
    assert endless["action"] == "burn"
    assert "mutants" not in answer
    every = json.loads(mutants("lamp", "--json", "--each").stdout)["mutants"]
    assert [one["verdict"] for one in every].count("violated") == 2
    assert ["it_burns_only_when_it_is_on"] in [one["because"] for one in every]


def test_within_smaller_bounds_there_is_less_to_see() -> None:
    assert mutants("lock-server", "--bounds", "clients=2").exit_code == 0
    done = mutants("lock-server", "--bounds", "brokers=2")
    assert (done.exit_code, "has no bound brokers" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "problem", "next_step"),
    [
        (
            ["lock-server-with-leases"],
            "is expected to violate one_client_holds_the_lock",
            "worlds that hold: lamp, lock-server",
        ),
        (["lmap"], "there is no module and no world called 'lmap'", "did you mean lamp?"),
        (["rangess"], "there is no module and no world called 'rangess'", "did you mean ranges?"),
        ([""], "there is no module and no world called ''", "modules: "),
        (["lamp", "ranges"], "modules and worlds are tried apart", "./braid mutants ranges, then"),
        (["ranges", "--bounds", "hours=1"], "--bounds is for worlds, and none is named", "./braid worlds"),
        (["wrong"], "list [1] can change", "tests/models/planted.py"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is(
    arguments: list[str], problem: str, next_step: str
) -> None:
    done = mutants(*arguments)

    assert done.exit_code == 2
    assert problem in done.stderr
    assert next_step in done.stderr
    assert done.stdout == ""


def test_a_world_that_is_violated_itself_has_no_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "sound", lambda world: world)

    done = mutants("race-for-one-medal")

    assert done.exit_code == 1
    assert "race-for-one-medal does not hold as it is: violated, one_runner_has_the_medal" in done.stderr


def test_only_guards_are_taken_out_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    class Timer(Machine):
        left = Variable[int](3)

    @action("TIMER-TICK")
    def tick(w: Timer) -> None:
        require(w.left)
        if w.left == 1:
            w.left = 0
        else:
            w.left -= 1

    timer = World(name="timer", asks="Does it end?", machines=(Timer,), bounds={})
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: (timer,))

    assert json.loads(mutants("timer", "--json").stdout)["total"] == 3
    assert json.loads(mutants("timer", "--guards", "--json").stdout)["total"] == 1


def test_nothing_to_change_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "mutants_of", lambda world: iter(()))

    assert mutants("lamp").exit_code == 3
