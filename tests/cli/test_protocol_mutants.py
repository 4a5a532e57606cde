"""`./braid mutants --protocols` asks all worlds whether they notice a change."""

import json
import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from cli import protocol_mutants as command
from cli.__main__ import app
from models import worlds as all_worlds
from models.worlds import lock_server
from spec.world import Holds, Violated, World
from tests.models import test_protocol_mutants as planted
from tests.models.planted import UNFAIR
from tests.models.test_protocol_mutants import ALARM, SAFE

SMALL = replace(SAFE, expect=Holds(states=3), name="small-safe", bounds={"entries": 1, "brokers": 1})


@pytest.fixture(autouse=True)
def _worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, SAFE, ALARM, UNFAIR, replace(SAFE, name="large", large=True))
    monkeypatch.setattr(command, "PROTOCOLS", planted.__name__)
    monkeypatch.setattr(command, "AT_LEAST", 300)


def give(monkeypatch: pytest.MonkeyPatch, *some: World) -> None:
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: some)


def mutants(*arguments: str) -> Done:
    return CliRunner().invoke(app, ["mutants", "--protocols", *arguments])


def test_survivors_unknown_and_unreached_are_told_apart() -> None:
    done = mutants("--each")

    assert done.exit_code == 1, done.output
    place = r"tests/models/test_protocol_mutants\.py:\d+ "
    for line in (
        rf"killed     {place} open_it: without _note\(w, broker\)  by every_opening_is_noted in safe",
        rf"SURVIVED   {place} _note: without w\.log = \(\*w\.log, broker\)  \(2 worlds\)",
        rf"UNKNOWN    {place} open_it: without len\(w\.log\) < w\.entries  \(too large to tell: .*\)",
        rf"unreached  {place} shut_it: without w\.log \+= \('never',\)",
    ):
        assert re.search(f"^{line}$", done.stdout, re.MULTILINE), line
    assert re.search(r"^test_protocol_mutants +\d+ of +\d+ killed$", done.stdout, re.MULTILINE)
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"\d+ of \d+ mutants killed; 1 more change what no world that holds ever does", last
    ), last


def test_json_tells_survivors_by_rule() -> None:
    answer = json.loads(mutants("_note", "--json", "--each").stdout)

    assert answer["total"] == 4
    assert answer["killed"] == 1
    assert [one["change"] for one in answer["survivors"]][-1] == "without w.log = (*w.log, broker)"
    assert answer["survivors_by_rule"] == {"SAFE-OPEN": 3}
    assert (answer["undecided"], answer["unreached"]) == ([], [])
    assert answer["survivors"][0]["actions"] == ["open_it"]
    assert sorted(answer["survivors"][0]["worlds"]) == ["alarm", "safe"]
    assert [(one["fate"], one["noticed_in"]) for one in answer["mutants"]] == [
        ("survived", None),
        ("survived", None),
        ("killed", "safe"),
        ("survived", None),
    ]


def test_what_is_only_undecided_exits_3() -> None:
    done = mutants("open_it", "test_protocol_mutants", "--guards", "--json")
    assert {one["function"] for one in json.loads(done.stdout)["survivors"]} != {"open_it"}

    assert mutants("open_it", "--guards").exit_code == 3


def test_what_is_noticed_exits_0(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, lock_server.WORLDS[0])
    monkeypatch.setattr(command, "PROTOCOLS", lock_server.__name__)

    done = mutants("--guards")

    assert done.exit_code == 0, done.output
    assert done.stdout == "lock_server             7 of    7 killed\n7 of 7 mutants killed\n"


def test_small_worlds_are_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, SAFE, SMALL)

    every = json.loads(mutants("open_it", "--json", "--each").stdout)["mutants"]

    assert "small-safe" in [one["noticed_in"] for one in every]


def test_a_world_that_does_not_hold_as_it_is_stops_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, replace(SAFE, bounds={"entries": 0, "brokers": 1}))

    done = mutants("shut_it")

    assert done.exit_code == 3
    assert "safe is not as expected: vacuous, open_it never happened" in done.stderr
    assert "run ./braid check safe" in done.stderr


def test_a_guard_that_only_a_broken_design_needs_is_missed_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken world expects a trace that its mutant does not have."""
    broken = replace(SAFE, name="broken-safe", expect=Violated("every_opening_is_noted"))
    give(monkeypatch, SMALL, broken)

    assert "broken-safe is not as expected: holds" in mutants("open_it").stderr


def test_worlds_that_are_expected_to_be_violated_have_no_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, replace(SAFE, expect=Violated("every_opening_is_noted")))

    assert mutants().exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "problem", "next_step"),
    [
        (["open_its"], "there is no protocol and no action called 'open_its'", "did you mean open_it?"),
        (["xyz"], "there is no protocol and no action called 'xyz'", "protocols: test_protocol_mutants"),
        (["--bounds", "entries=1"], "--protocols asks all of them", "leave one of them out"),
    ],
)
def test_bad_input_exits_2(arguments: list[str], problem: str, next_step: str) -> None:
    done = mutants(*arguments)

    assert (done.exit_code, done.stdout) == (2, "")
    assert problem in done.stderr
    assert next_step in done.stderr
