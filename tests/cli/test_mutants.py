"""`./braid mutants` takes guards out and sees the checks fail."""

import json
import subprocess

import pytest
from typer.testing import CliRunner

from cli import mutants as command
from cli.__main__ import app
from proofs.contracts import ROOT
from tests.mutants import Mutant, mutants_of, unchanged

run = CliRunner().invoke


def test_every_guard_of_the_ranges_is_needed() -> None:
    done = subprocess.run(
        [ROOT / "braid", "mutants", "ranges", "--guards", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == {"total": 2, "killed": 2, "survivors": []}


def test_a_mutant_changes_one_thing_and_says_which() -> None:
    found = list(mutants_of("spec.ranges"))

    [flipped] = [m for m in found if "return whole.start < hash <= whole.end" in m.source]
    assert flipped.change == "flipped: whole.start <= hash <= whole.end"
    assert any(m.change.startswith("without the guard not FIRST_HASH <= start") for m in found)
    assert all("frozen=True, slots=True, order=True" in m.source for m in found)


def test_a_survivor_is_listed_with_its_place_and_exits_1(monkeypatch: pytest.MonkeyPatch) -> None:
    survivor = Mutant("spec.ranges", 7, "flipped: a < b", "")
    monkeypatch.setattr(command, "mutants_of", lambda module: iter([survivor]))
    monkeypatch.setattr(command, "run", lambda mutants, processes, tell: mutants)

    done = run(app, ["mutants", "ranges"])

    assert done.exit_code == 1
    assert "SURVIVED  spec/ranges.py:7" in done.output
    assert "0 of 1 mutants killed" in done.output


def test_each_mutant_is_listed_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    dead, alive = Mutant("spec.ranges", 3, "one more: 1", ""), Mutant("spec.ranges", 7, "flipped: a < b", "")
    monkeypatch.setattr(command, "mutants_of", lambda module: iter([alive, dead]))
    monkeypatch.setattr(command, "run", lambda mutants, processes, tell: [m for m in mutants if m != dead])

    told = run(app, ["mutants", "ranges", "--each"])
    answer = json.loads(run(app, ["mutants", "ranges", "--each", "--json"]).stdout)

    assert [line.split()[:2] for line in told.stdout.splitlines()[1:3]] == [
        ["killed", "spec/ranges.py:3"],
        ["SURVIVED", "spec/ranges.py:7"],
    ]
    assert [(one["line"], one["killed"]) for one in answer["mutants"]] == [(7, False), (3, True)]


def test_nothing_is_said_when_the_unchanged_specification_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "run", lambda mutants, processes, tell: [])

    done = run(app, ["mutants", "ranges"])

    assert done.exit_code == 1
    assert "a check fails on the unchanged specification: spec.ranges" in done.stderr
    assert unchanged("spec.ranges").change == "unchanged"


def test_an_unknown_module_is_a_usage_error() -> None:
    done = run(app, ["mutants", "ranges", "spec.rangess"])

    assert done.exit_code == 2
    assert "there is no module spec.rangess" in done.stderr
    assert run(app, ["mutants", "ranges", "rangess"]).exit_code == 2


def test_nothing_to_change_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "run", lambda mutants, processes, tell: mutants)
    monkeypatch.setattr(command, "mutants_of", lambda module: iter([]))

    assert run(app, ["mutants", "ranges"]).exit_code == 3
