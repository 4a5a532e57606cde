"""`./braid claims` shows the ledger, finds a claim's rule and checks, and brings the ledger up to date."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import claims as command
from cli.__main__ import app
from models import worlds
from proofs.checks import read_ledger
from spec.claims import format_ledger

run = CliRunner().invoke


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger that forgot what checks it."""
    ledger = read_ledger()
    path = tmp_path / "claims.toml"
    path.write_text(
        format_ledger(replace(ledger, claims=tuple(replace(c, checked_by=()) for c in ledger.claims)))
    )
    monkeypatch.setattr(command, "LEDGER", path)
    monkeypatch.setattr(command, "read_ledger", lambda: read_ledger(path))
    return path


def test_the_matrix_has_a_row_for_each_seed() -> None:
    done = run(app, ["claims"])

    assert done.exit_code == 0, done.output
    assert [line[:3] for line in done.output.splitlines()[1:6]] == ["000", "001", "002", "003", "004"]
    assert "claims," in done.output


def test_a_claim_leads_to_its_rule_and_its_checks() -> None:
    own = [c for c in read_ledger().claims if c.id.startswith("468-LAYOUT")]
    checked = next(c for c in own if any(check.startswith("law:") for check in c.checked_by))

    done = run(app, ["claims", checked.id.lower()])

    assert done.exit_code == 0
    assert checked.says in done.output
    assert checked.checked_by[0] in done.output
    assert "rule       spec/layout.py:" in done.output


def test_a_claim_that_a_world_checks_leads_to_the_machine() -> None:
    done = run(app, ["claims", "468-SPLIT-11"])

    assert done.exit_code == 0
    assert "check      world:split-merge\n" in done.output
    assert "check      world:subscribe-during-split\n" in done.output
    assert "rule       models/worlds/split_merge.py:" in done.output
    assert "rule       spec/protocols/producing.py:" in done.output


def test_a_module_of_worlds_that_cannot_be_read_changes_nothing(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_a_world.py").write_text("def half(:\n")
    monkeypatch.setattr(worlds, "__path__", [*worlds.__path__, str(tmp_path)])
    before = copy.read_text()

    done = run(app, ["claims", "--update"])

    assert done.exit_code == 2
    assert f"mend it there: {tmp_path}/half_a_world.py:1 SyntaxError" in done.stderr
    assert copy.read_text() == before


def test_readings_and_open_claims_can_be_listed() -> None:
    ledger = read_ledger()

    assert "We read:" in run(app, ["claims", "--readings"]).output
    assert "468-READ-01" in run(app, ["claims", "468-READ-01"]).output
    waiting = next(c for c in ledger.claims if c.pending)
    assert waiting.id in run(app, ["claims", "--open"]).output


def test_json_holds_everything() -> None:
    answer = json.loads(run(app, ["claims", "--json"]).stdout)

    assert answer["flaws"] == []
    assert len(answer["claims"]) == len(read_ledger().claims)


def test_an_unknown_claim_is_a_usage_error() -> None:
    done = run(app, ["claims", "468-NONSENSE"])

    assert done.exit_code == 2
    assert "no claim or reading starts with '468-NONSENSE'" in done.stderr
    assert "468-SPLIT" in done.stderr
    assert run(app, ["claims", "468-SPLIT-01", "468-NONSENSE"]).exit_code == 2
    assert run(app, ["claims", ""]).exit_code == 2


def test_a_stale_ledger_is_reported_and_update_mends_it(copy: Path) -> None:
    stale = run(app, ["claims"])
    assert stale.exit_code == 1
    assert "run ./braid claims --update" in stale.output

    assert run(app, ["claims", "--update"]).exit_code == 0
    assert read_ledger(copy) == read_ledger()


def test_a_broken_ledger_is_a_clear_error(copy: Path) -> None:
    for broken in (b"[[claim]]\nid = 3", b"claim = 3", b"\xff", b"", b"seeds = 1\nclaim = []\nreading = [1]"):
        copy.write_bytes(broken)

        done = run(app, ["claims", "--update"])

        assert done.exit_code == 2
        assert "the ledger cannot be read" in done.stderr
        assert copy.read_bytes() == broken


def test_one_area_as_json() -> None:
    answer = json.loads(run(app, ["claims", "468-SPLIT", "--json"]).stdout)

    assert {claim["id"][:9] for claim in answer["claims"]} == {"468-SPLIT"}
