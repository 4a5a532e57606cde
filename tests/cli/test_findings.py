"""`./braid findings` shows holes with their traces, and keeps a page for each."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from cli import findings as command
from cli import worlds
from cli.__main__ import app
from models import findings as joined
from models import worlds as all_worlds
from models.engine.explore import explore
from proofs import checks
from spec import holes
from spec.machine import Domain, Family, Machine, action, always, require
from spec.world import Holds, Violated, World

BROKERS = Domain("broker", "b")


class Office(Machine):
    """Two brokers, of whom one at a time may be in office."""

    acts = Family[str, bool](BROKERS, False)


@action("468-ELECT-03", broker=BROKERS)
def take_office(w: Office, broker: str) -> None:
    """A broker begins to act."""
    require(not w.acts[broker])
    if w.design.leaders_are_fenced:
        for other in w.acts:
            w.acts[other] = False
    w.acts[broker] = True


@action("468-ELECT-05", broker=BROKERS, fault=True)
def resign(w: Office, broker: str) -> None:
    """A broker stops."""
    require(w.acts[broker])
    w.acts[broker] = w.design.lost_sessions_read_again is False


@always("468-ELECT-01")
def one_broker_acts(w: Office) -> Iterator[str]:
    """One broker acts at a time."""
    acting = [broker for broker in w.acts if w.acts[broker]]
    if len(acting) > 1:
        yield f"{' and '.join(acting)} <both> act"


OFFICE = World(name="office", asks="Does one act?", machines=(Office,), bounds={"brokers": 2})
UNFENCED = OFFICE.without("leaders_are_fenced", Violated("one_broker_acts", steps=2))

FENCED = """
id = "468-HOLE-09"
repair = "leaders_are_fenced"
title = "A deposed leader goes on | changing the topic"
seed = "000"
claims = ["468-ELECT-01", "468-CTRL-01"]
world = "office"
property = "one_broker_acts"
severity = "two owners"
says = "The lock decides who leads, and nothing else."
wrong = '''
Both act.

Nobody notices that *two* do.'''
mended = "Write the term into the record."
black_box = false
how = "The old leader cannot be stopped between two steps from outside."
"""

LATER = """
id = "483-HOLE-02"
repair = "merge_weighs_the_sum"
title = "A cold pair is merged and split again"
seed = "001"
claims = ["483-GUARD-02"]
world = "scales"
property = "nothing_alternates"
severity = "churn"
says = "Each of two segments is weighed alone."
wrong = "Together they are hot."
mended = "Weigh the sum."
black_box = true
how = "Two segments with a rate just below the bound."
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """One finding, whose worlds are there; repairs without a finding are none."""
    ledger = tmp_path / "findings"
    ledger.mkdir()
    (ledger / "leaders_are_fenced.toml").write_text(FENCED)
    monkeypatch.setattr(command, "read_findings", lambda: checks.read_findings(ledger))
    monkeypatch.setattr(command, "PAGES", tmp_path / "pages")
    monkeypatch.setattr(command, "unexplained", lambda found: iter(()))
    monkeypatch.setattr(worlds, "TRACES", tmp_path / "traces")
    give(monkeypatch, OFFICE, UNFENCED)
    return ledger


def give(monkeypatch: pytest.MonkeyPatch, *some: World) -> None:
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: some)


def findings(*arguments: str) -> Done:
    return CliRunner().invoke(app, ["findings", *arguments])


def test_the_table_has_a_row_for_each_and_explores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "story_of", None)

    done = findings()

    assert done.exit_code == 0, done.output
    head, row, *_, last = done.stdout.splitlines()
    assert head.split() == ["finding", "severity", "what", "goes", "wrong", "repair", "steps"]
    assert re.split("  +", row) == [
        "468-HOLE-09",
        "two owners",
        "A deposed leader goes on | changing the topic",
        "leaders_are_fenced",
        "2",
    ]
    assert last == "1 finding; ./braid findings ID shows one"


@pytest.mark.parametrize("name", ["468-HOLE-09", "468-hole-09", "leaders_are_fenced", "leaders-are-fenced"])
def test_one_is_shown_from_the_text_to_the_repair(name: str) -> None:
    done = findings(name)

    assert done.exit_code == 0, done.output
    for part in (
        "468-HOLE-09  A deposed leader goes on | changing the topic",
        "two owners: two act where only one may",
        "The lock decides who leads, and nothing else.",
        "468-ELECT-01   ",
        "Nobody notices that *two* do.",
        "VIOLATED  468-ELECT-01  one_broker_acts",
        "b1 and b2 <both> act",
        "← broken here",
        "./braid pin ",
        "leaders_are_fenced: Write the term into the record.",
        "No. The old leader cannot be stopped",
        "./braid check office ",
        "./braid check office-without-leaders-are-fenced  is violated, without it",
    ):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("468-HOLE-08", "did you mean 468-HOLE-09?"),
        ("leader_are_fenced", "did you mean leaders_are_fenced?"),
        ("", "./braid findings lists them"),
        ("xyz", "./braid findings lists them"),
    ],
)
def test_a_wrong_name_proposes_the_nearest(name: str, near: str) -> None:
    done = findings(name)

    assert (done.exit_code, done.stdout) == (2, "")
    assert f"there is no finding called {name!r}" in done.stderr
    assert near in done.stderr


def test_json_tells_the_actions_of_the_trace() -> None:
    answer, alone = (
        json.loads(findings("--json").stdout),
        json.loads(findings("468-HOLE-09", "--json").stdout),
    )

    assert answer == {"exit": 0, "findings": [alone], "missing": []}
    assert alone == {
        "id": "468-HOLE-09",
        "title": "A deposed leader goes on | changing the topic",
        "severity": "two owners",
        "seed": "000",
        "claims": ["468-ELECT-01", "468-CTRL-01"],
        "property": "one_broker_acts",
        "world": "office",
        "broken": "office-without-leaders-are-fenced",
        "repair": "leaders_are_fenced",
        "black_box": False,
        "sentences": ["b1 and b2 <both> act"],
        "steps": 2,
        "loop": None,
        "actions": alone["actions"],
    }
    assert sorted(alone["actions"]) == ["take_office(b1)", "take_office(b2)"]


def test_update_writes_a_page_for_each_and_an_index(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "468-HOLE-77.md").write_text("a finding that there is no more")
    (pages / "notes.md").write_text("somebody's own")

    done = findings("--update")

    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in pages.iterdir()) == ["468-HOLE-09.md", "README.md", "notes.md"]
    page = (pages / "468-HOLE-09.md").read_text()
    for part in (
        "# A deposed leader goes on | changing the topic\n",
        "| severity | two owners: two act where only one may |\n",
        "| document | seed 000, PIP-468 |\n",
        "| breaks | `one_broker_acts`: One broker acts at a time. |\n",
        "- **468-CTRL-01** ",
        "\nBoth act.\n\nNobody notices that \\*two\\* do.\n\n",
        "The shortest way there, 2 steps, as the checker found it:\n\n1. broker b",
        " `take_office()`: A broker begins to act.\n",
        "\n> **b1 and b2 \\<both> act**\n\n",
        "```mermaid\nsequenceDiagram\n",
        "Write the term into the record.\n",
        "    ./braid check office                             holds, with the repair\n",
        "    ./braid check office-without-leaders-are-fenced  is violated, without it\n",
        "only from outside cannot show it.\n",
    ):
        assert part in page
    index = (pages / "README.md").read_text()
    assert "## Two owners: two act where only one may\n" in index
    assert (
        "| [468-HOLE-09](468-HOLE-09.md) | A deposed leader goes on \\| changing the topic | PIP-468 |"
        in index
    )
    assert findings("--update").exit_code == 0
    assert (pages / "468-HOLE-09.md").read_text() == page


def test_what_is_missing_is_named_and_the_rest_is_done(folder: Path, tmp_path: Path) -> None:
    (folder / "merge_weighs_the_sum.toml").write_text(LATER)

    done = findings("--update")

    assert done.exit_code == 1
    assert "MISSING  483-HOLE-02 is shown by scales, which does not exist" in done.stdout
    assert "1 pages and their index" in done.stdout
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["468-HOLE-09.md", "README.md"]
    assert findings().exit_code == 1
    answer = json.loads(findings("--json").stdout)
    assert ([one["id"] for one in answer["findings"]], answer["exit"]) == (["468-HOLE-09"], 1)
    alone = findings("483-HOLE-02")
    assert alone.exit_code == 2
    assert "mend spec/findings/merge_weighs_the_sum.toml or the world" in alone.stderr


def test_a_repair_without_a_finding_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "unexplained", holes.unexplained)

    done = findings()

    assert done.exit_code == 1
    assert "MISSING  no finding is about merge_weighs_the_sum, in which the designs differ" in done.stdout
    assert "no finding is about leaders_are_fenced" not in done.stdout


@pytest.mark.parametrize(
    ("sound", "broken", "said"),
    [
        (None, UNFENCED, "is shown by office, which does not exist"),
        (
            replace(OFFICE, expect=Violated("one_broker_acts")),
            UNFENCED,
            "office, which is not expected to hold",
        ),
        (OFFICE, None, "office-without-leaders-are-fenced, which does not exist"),
        (
            OFFICE,
            replace(UNFENCED, expect=Holds()),
            "which office-without-leaders-are-fenced does not expect",
        ),
        (OFFICE, replace(UNFENCED, expect=Violated("others", 2)), "does not expect"),
        (OFFICE, replace(UNFENCED, expect=Violated("one_broker_acts")), "whose length is not pinned"),
        (OFFICE, replace(UNFENCED, properties=()), "which is no property of office-without"),
    ],
)
def test_worlds_that_do_not_show_it_are_named(
    monkeypatch: pytest.MonkeyPatch, sound: World | None, broken: World | None, said: str
) -> None:
    give(monkeypatch, *filter(None, (sound, broken)))

    assert said in findings().stdout
    assert said in findings("468-HOLE-09").stderr


def test_a_trace_that_is_not_as_pinned_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    give(monkeypatch, OFFICE, replace(UNFENCED, expect=Violated("one_broker_acts", steps=3)))

    done = findings("--update")

    assert done.exit_code == 1
    assert "has 2 steps, pinned are 3" in done.stdout
    assert "run ./braid check office-without-leaders-are-fenced" in findings("468-HOLE-09").stderr


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("leaders_are_fenced.toml", "id = 3", "leaders_are_fenced.toml does not say repair"),
        ("other.toml", FENCED, "other.toml is about the repair leaders_are_fenced"),
    ],
)
def test_a_file_that_cannot_be_read_stops_everything(
    folder: Path, tmp_path: Path, file: str, text: str, said: str
) -> None:
    (folder / file).write_text(text)

    for arguments in ([], ["--update"], ["468-HOLE-09"]):
        done = findings(*arguments)
        assert (done.exit_code, said in done.stderr) == (2, True)
    assert not (tmp_path / "pages").exists()


def test_one_page_alone_is_not_updated() -> None:
    assert findings("468-HOLE-09", "--update").exit_code == 2


def test_a_trace_is_the_same_however_many_threads_look_for_it() -> None:
    finding = holes.parse("leaders_are_fenced.toml", FENCED)
    one = joined.shown(finding, {world.name: world for world in (OFFICE, UNFENCED)})

    told = [joined.story_of(one, partial(explore, threads=threads)) for threads in (1, 2, None)]

    assert told[0] == told[1] == told[2]
