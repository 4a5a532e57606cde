"""`./braid check` as a person and as a program sees it."""

import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli import pool as command
from cli.__main__ import app
from cli.pool import run_all
from models.events import Check
from models.laws.law import LAWS, law
from models.verdict import Outcome, Verdict

run = CliRunner().invoke


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A law that does not hold, in an area of its own."""
    before = dict(LAWS)

    @law("468-LAYOUT-01", x=st.integers(0, 1000))
    def all_numbers_are_small(x: int) -> None:
        """Numbers are below five hundred."""
        assert x < 500

    false = LAWS["all_numbers_are_small"]
    monkeypatch.setattr(command, "all_laws", lambda: (false,))
    yield
    LAWS.clear()
    LAWS.update(before)


def test_an_area_holds() -> None:
    done = run(app, ["check", "hashing"])

    assert done.exit_code == 0, done.output
    assert "holds" in done.output
    assert done.output.splitlines()[-1].endswith("holds")


def test_one_check_by_name_with_its_sentence() -> None:
    done = run(app, ["check", "merging_the_halves_restores_the_range", "--each", "--examples", "30"])

    assert done.exit_code == 0
    assert "A split followed by the merge of its halves" in done.output


@pytest.mark.usefixtures("planted")
def test_a_violation_shows_example_claims_and_replay_and_exits_1() -> None:
    done = run(app, ["check", "all_numbers_are_small"])

    assert done.exit_code == 1
    assert "VIOLATED  all_numbers_are_small  468-LAYOUT-01" in done.output
    assert "x=500" in done.output
    assert "./braid check all_numbers_are_small --examples 100 --seed 0" in done.output


@pytest.mark.usefixtures("planted")
def test_json_is_one_object_with_every_check() -> None:
    done = run(app, ["check", "all_numbers_are_small", "--json"])

    answer = json.loads(done.stdout)
    assert (answer["exit"], done.exit_code) == (1, 1)
    assert [(c["check"], c["verdict"]) for c in answer["checks"]] == [
        ("law:all_numbers_are_small", "violated")
    ]


def test_an_unknown_name_is_a_usage_error_with_a_proposal() -> None:
    done = run(app, ["check", "merging_the_halves"])

    assert done.exit_code == 2
    assert "did you mean merging_the_halves_restores_the_range?" in done.stderr


@pytest.mark.parametrize(
    "options", [["--examples", "0"], ["--seed", "-1"], ["--examples", "many"], ["--nonsense"]]
)
def test_bad_options_are_usage_errors(options: list[str]) -> None:
    assert run(app, ["check", *options]).exit_code == 2


def test_a_process_that_dies_changes_no_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "run_batch", partial(dies_once, tmp_path / "died"))
    checks = [Check(f"law:{name}", "a", name, "", ()) for name in ("calm", "deadly", "quiet")]

    outcomes = run_all(checks, 1, 0)

    assert (tmp_path / "died").exists()
    assert {id: o.verdict for id, o in outcomes.items()} == {c.id: Verdict.HOLDS for c in checks}


def test_a_check_that_kills_every_process_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "run_batch", dies)

    outcomes = run_all([Check("law:deadly", "a", "deadly", "", ())], 1, 0)

    assert outcomes["law:deadly"].verdict is Verdict.UNKNOWN
    assert outcomes["law:deadly"].explanation == "the process that ran it died, twice"


def dies_once(flag: Path, ids: list[str], examples: int, seed: int) -> list[Outcome]:
    """The first process that touches the deadly check dies of it."""
    if ids == ["law:deadly"] and not flag.exists():
        flag.touch()
        dies(ids, examples, seed)
    return [Outcome(id, Verdict.HOLDS, "", 0) for id in ids]


def dies(ids: list[str], examples: int, seed: int) -> list[Outcome]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []
