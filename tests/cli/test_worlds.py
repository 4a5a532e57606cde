"""Worlds on the command line: verdicts, traces and reports, for people and for programs."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from cli import options, terminal, worlds
from cli.__main__ import app
from cli.stats import histogram
from models import worlds as all_worlds
from models.asking import Usage
from models.engine import reference
from models.engine.explore import explore
from models.engine.result import Limits, Result, Standing
from models.events import Check, Progressed
from proofs.contracts import ROOT
from spec.world import Holds
from tests.models.planted import LARGE, PLANTED, SOUND, TRACK, UNFAIR, WRONG

NAMED = {world.name: world for world in PLANTED}
REFERENCE = ["--engine", "reference"]


@pytest.fixture(autouse=True)
def traces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Only the planted worlds, and a folder for their traces."""
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: PLANTED)
    monkeypatch.setattr(worlds, "TRACES", tmp_path / "traces")
    return tmp_path / "traces"


def braid(*arguments: object) -> Done:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check(*arguments: object) -> Done:
    return braid("check", *arguments, *REFERENCE)


def trace_of(*arguments: object) -> str:
    """The id of the first trace that a check finds."""
    answer = json.loads(check(*arguments, "--json").stdout)
    return str(answer["checks"][0]["breaches"][0]["trace"])


def test_a_world_that_holds_has_a_row_with_its_size() -> None:
    done = check("race-without-rules")

    assert done.exit_code == 0, done.output
    assert re.search(r"^holds +race-without-rules +96 +\d+ +9 +\d+\.\d$", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[0] == "1 world, engine reference"
    assert done.stdout.splitlines()[-1] == "1 holds"


def test_a_violation_that_is_expected_is_shown_and_exits_0(traces: Path) -> None:
    done = check("race-for-one-medal")

    assert done.exit_code == 0, done.output
    assert re.search(r"^violated, as expected +race-for-one-medal ", done.stdout, re.MULTILINE)
    assert "VIOLATED  RACE-ONE  one_runner_has_the_medal" in done.stdout
    assert "← broken here" in done.stdout
    [kept] = traces.glob("*.json")
    assert f"./braid pin {kept.stem}" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 violated as expected"


def test_a_violation_that_nobody_expected_exits_1() -> None:
    done = check("race-on-a-track")

    assert done.exit_code == 1
    assert "the track broke" in done.stdout
    assert "expected to hold, is violated" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 violated"


def test_of_many_worlds_only_the_unexpected_is_told_in_full() -> None:
    done = check("worlds")

    assert done.exit_code == 1
    assert re.search(r"^violated, as expected +race-for-one-medal .* [a-z2-9]{5}$", done.stdout, re.MULTILINE)
    assert "RACE-ONE" not in done.stdout
    assert "RACE-ON " in done.stdout
    assert "race-too-large" not in done.stdout
    assert "RACE-ONE" in check("worlds", "--each").stdout


def test_a_large_world_is_checked_when_it_is_named() -> None:
    assert check(LARGE.name).exit_code == 0
    assert check(f"world:{LARGE.name}").exit_code == 0


def test_a_pinned_size_that_is_wrong_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(SOUND, expect=Holds(states=97))
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: (wrong,))

    done = check(SOUND.name)

    assert done.exit_code == 1
    assert "states 96, pinned are 97" in done.stdout
    assert "holds, but not as expected" in done.stdout
    assert check(SOUND.name, "--fault-cost", 3).exit_code == 0
    assert check(SOUND.name, "--bounds", "limit=2").exit_code == 0


@pytest.mark.parametrize("limit", [["--depth", 2], ["--states", 5], ["--seconds", 0]])
def test_what_was_cut_short_is_unknown_and_exits_3(limit: list[object]) -> None:
    done = check("race-without-rules", *limit)

    assert done.exit_code == 3
    assert re.search("^UNKNOWN  race-without-rules$", done.stdout, re.MULTILINE)
    assert "reached" in done.stdout or "are over" in done.stdout


GIVEN: list[list[object]] = [
    ["--depth", 2],
    ["--states", 5],
    ["--seconds", 0],
    ["--depth", 2, "--design", "HARDENED but readiness=PARENTS_DRAINED"],
    ["--depth", 3, "--bounds", "runners=3", "--bounds", "limit=1", "--memory", "1.5G"],
    ["--bounds", "runners=1", "--fault-cost", 7],
    ["--depth", 2, "--engine", "reference", "--exact"],
]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: " ".join(map(str, given)))
def test_what_is_replayed_is_what_was_asked(given: list[object]) -> None:
    first = check("race-without-rules", *given)
    [line] = [line for line in first.stdout.splitlines() if line.startswith("  replay ")]

    again = braid(*shlex.split(line)[2:])

    assert first.exit_code == again.exit_code == 3
    assert timeless(again.stdout) == timeless(first.stdout)
    for option in filter(re.compile("--").match, map(str, given)):
        assert option in line


def test_every_option_for_worlds_is_repeated() -> None:
    asked = (
        "--design AS_WRITTEN --bounds runners=3,limit=1 --depth 4 --states 5 --seconds 1.5 --memory 4G "
        "--threads 2 --reduce symmetry,partial-order,slicing --save-every 7 --fault-cost 3 --exact"
    )
    manner = worlds.Manner(
        design="AS_WRITTEN",
        bounds={"runners": 3, "limit": 1},
        limits=Limits(5, 4, 1.5, 4 << 30),
        fault_cost=3,
        options={**options.reductions("all"), "threads": 2, "exact": True, "resume": True, "save_every": 7},
    )

    assert manner.arguments() == asked
    assert worlds.Manner().arguments() == ""
    assert worlds.Manner(engine="reference").arguments() == "--engine reference"


def timeless(text: str) -> str:
    """A row ends with its seconds, which nobody can repeat."""
    return re.sub(r"\d+\.\d$", "", text, flags=re.MULTILINE)


def test_what_shows_nothing_is_vacuous_and_exits_3() -> None:
    done = check("race-without-rules", "--bounds", "runners=1")

    assert done.exit_code == 3
    assert "wink never happened" in done.stdout
    assert "somebody_is_tired was never reached" in done.stdout


def test_bounds_can_be_given_in_every_way() -> None:
    rows = {
        re.sub(r"\d+\.\d", "", check("race-without-rules", *given).stdout)
        for given in (
            ["--bounds", "runners=3", "--bounds", "limit=1"],
            ["--bounds", "runners=3,limit=1"],
            ["--bounds", "runners=3", "limit=1"],
        )
    }

    assert len(rows) == 1


def test_another_design_is_only_asked_whether_it_holds() -> None:
    done = check("race-for-one-medal", "--design", "AS_WRITTEN")

    assert done.exit_code == 1
    assert "design AS_WRITTEN" in done.stdout


def test_faults_are_avoided_on_request() -> None:
    plain, weighed = check("stairs"), check("stairs", "--fault-cost", 9)

    assert "jump()" in plain.stdout
    assert "jump()" not in weighed.stdout
    assert "counts as 9 steps" in weighed.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["race-without-rule"], "there is no check or area called 'race-without-rule'"),
        (["race-without-rules", "--design", "SOFT"], "there is no design called 'SOFT'"),
        (["race-without-rules", "--bounds", "runners=many"], "'runners=many' is no bound"),
        (["race-without-rules", "--bounds", "runners"], "'runners' is no bound"),
        (["race-without-rules", "--bounds", "brokers=2"], "has no bound brokers"),
        (["race-without-rules", "--memory", "much"], "'much' is no amount of memory"),
        (["race-without-rules", "--memory", "0G"], "'0G' is no amount of memory"),
        (["race-without-rules", "--reduce", "everything"], "there is no reduction called 'everything'"),
        (["race-without-rules", "--reduce", "all"], "the reference engine has no symmetry"),
        (["race-without-rules", "--threads", 2], "the reference engine has no threads"),
        (["race-without-rules", "--resume"], "the reference engine has no resume"),
        (["race-without-rules", "--save-every", 5], "the reference engine has no save-every"),
        (["race-without-rules", "--junit", "/nowhere/x.xml"], "/nowhere/x.xml cannot be written"),
        (["hashing", "--design", "HARDENED"], "these options are for worlds"),
        (["race-without-rules", "--depth", -1], "--depth"),
        (["race-without-rules", "--states", 0], "--states"),
        (["race-without-rules", "--threads", 0], "--threads"),
        (["race-without-rules", "--fault-cost", 0], "--fault-cost"),
    ],
)
def test_bad_input_says_what_is_wrong_and_exits_2(arguments: Sequence[object], problem: str) -> None:
    done = check(*arguments)

    assert done.exit_code == 2
    assert problem in done.stderr
    assert "Traceback" not in done.output


def test_a_near_name_is_proposed() -> None:
    assert "did you mean race-without-rules?" in check("race-without-rule").stderr


def test_a_misused_machine_is_named_with_its_line_and_exits_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: (SOUND, WRONG))

    done = check("wrong", "race-without-rules")

    assert done.exit_code == 2
    assert "MISUSED  wrong" in done.stdout
    assert "tests/models/planted.py:" in done.stdout
    assert re.search("^holds +race-without-rules", done.stdout, re.MULTILINE)
    stats = braid("stats", "wrong", *REFERENCE)
    assert stats.exit_code == 2
    assert "mend it there: " in stats.stderr


def test_an_engine_that_does_not_exist_is_refused() -> None:
    assert braid("check", "race-without-rules", "--engine", "steam").exit_code == 2
    with pytest.raises(Usage, match="there is no engine called 'steam'"):
        explore(SOUND, "steam")


def test_the_dispatcher_gives_the_options_to_the_fast_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []

    def pretend(world: object, limits: object, tell: object, options: object) -> str:
        heard.append(options)
        return "explored"

    fake = SimpleNamespace(explore=pretend, Options=lambda **given: given)
    monkeypatch.setitem(sys.modules, "models.engine.fast", fake)
    monkeypatch.setattr("models.engine.fast", fake, raising=False)

    assert explore(SOUND, threads=2, exact=True) == "explored"  # type: ignore[comparison-overlap]
    assert heard == [{"threads": 2, "exact": True}]


def test_json_is_one_object_with_everything() -> None:
    done = check("race-on-a-track", "race-without-rules", "--json")
    answer = json.loads(done.stdout)

    assert (answer["exit"], done.exit_code) == (1, 1)
    holds, broken = answer["checks"]
    assert (holds["check"], holds["area"], holds["verdict"]) == (
        "world:race-without-rules",
        "worlds",
        "holds",
    )
    assert (holds["states"], holds["depth"], holds["expected"]) == (96, 9, True)
    [breach] = broken["breaches"]
    assert (breach["property"], breach["sentences"]) == ("the_track_stays_whole", ["the track broke"])
    assert breach["steps"][0]["changes"] == {"broken": ["False", "True"]}
    assert broken["expected"] is False


def test_ndjson_has_a_line_for_every_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "PROGRESS_SECONDS", 0)

    check("race-on-a-track", "race-without-rules", "--ndjson", tmp_path / "run.ndjson")

    events = [json.loads(line) for line in (tmp_path / "run.ndjson").read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "finished"
    assert [event["check"] for event in events if event["event"] == "verdict"] == [
        "world:race-without-rules",
        "world:race-on-a-track",
    ]
    assert next(event for event in events if event["event"] == "violation")["trace"]
    assert {"states", "frontier", "depth", "seconds"} <= next(
        e for e in events if e["event"] == "progress"
    ).keys()
    assert events[-1]["exit"] == 1


def test_junit_has_a_failure_with_the_trace(tmp_path: Path) -> None:
    check("worlds", "--junit", tmp_path / "run.xml")

    root = Xml.parse(tmp_path / "run.xml").getroot()
    [suite] = root
    cases = {case.get("name"): case for case in suite}
    assert (root.tag, suite.get("name"), suite.get("tests")) == (
        "testsuites",
        "worlds",
        str(len(PLANTED) - 1),
    )
    assert suite.get("failures") == str(sum(case.find("failure") is not None for case in suite))
    failure = cases["race-on-a-track"].find("failure")
    assert failure is not None
    assert "the track broke" in (failure.text or "")
    assert cases["race-on-a-track"].get("file") == "tests/models/planted.py"
    assert cases["race-for-one-medal"].find("failure") is None
    assert "RACE-ONE" in (cases["race-for-one-medal"].findtext("system-out") or "")


def test_junit_has_an_error_for_what_is_undecided(tmp_path: Path) -> None:
    check("race-without-rules", "--depth", 1, "--junit", tmp_path / "run.xml")

    [suite] = Xml.parse(tmp_path / "run.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")


def test_sarif_has_a_result_with_a_code_flow(tmp_path: Path) -> None:
    check("race-on-a-track", "race-for-one-medal", "--sarif", tmp_path / "run.sarif")

    log = json.loads((tmp_path / "run.sarif").read_text())
    [run] = log["runs"]
    [result] = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert log["version"] == "2.1.0"
    assert rule["id"] == result["ruleId"] == "world:race-on-a-track/the_track_stays_whole"
    assert rule["properties"]["tags"] == ["RACE-ON"]
    assert result["message"]["text"].startswith("the track broke Replay with ./braid replay ")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/models/planted.py"
    assert place["region"]["startLine"] > 1
    [step] = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert step["location"]["message"]["text"] == "system trip()"
    assert run["invocations"][0]["exitCode"] == 1


def test_laws_and_worlds_are_in_the_same_reports(tmp_path: Path) -> None:
    done = check("hashing", "race-without-rules", "--examples", 5, "--junit", tmp_path / "run.xml")

    assert done.exit_code == 0, done.output
    assert "checks, 5 examples per law, seed 0; 1 world, engine reference" in done.stdout
    areas = [suite.get("name") for suite in Xml.parse(tmp_path / "run.xml").getroot()]
    assert areas == ["hashing", "worlds"]


def test_where_nothing_can_be_written_a_trace_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(worlds, "TRACES", tmp_path / "file" / "traces")

    done = check("race-on-a-track")

    assert done.exit_code == 1
    assert "the track broke" in done.stdout
    assert "./braid replay" not in done.stdout


def test_a_small_world_needs_neither_hypothesis_nor_crosshair() -> None:
    code = (
        "import sys; sys.argv = ['braid', 'check', 'race-without-rules', '--engine', 'reference']\n"
        "from models import worlds\n"
        "from tests.models.planted import PLANTED\n"
        "worlds.all_worlds = lambda: PLANTED\n"
        "from cli.__main__ import app\n"
        "try: app()\n"
        "except SystemExit as end: print(end.code, *{'hypothesis', 'crosshair', 'z3'} & set(sys.modules))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "0"


def test_a_trace_is_replayed_as_long_as_it_breaks_something() -> None:
    id = trace_of("race-on-a-track")

    done = braid("replay", id)

    assert done.exit_code == 1
    assert "trip()" in done.stdout
    assert done.stdout.splitlines()[-1] == "the_track_stays_whole is still broken along this trace"
    assert json.loads(braid("replay", id, "--json").stdout)["exit"] == 1


def test_a_trace_whose_world_has_changed_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    id = trace_of("race-for-one-medal")
    changed = replace(UNFAIR, properties=TRACK.properties)
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: (changed,))

    done = braid("replay", id)

    assert done.exit_code == 3
    assert "can no longer happen: world race-for-one-medal has no property" in done.stdout
    assert json.loads(braid("replay", id, "--json").stdout)["exit"] == 3


def test_a_trace_that_no_longer_fits_cannot_be_shown(traces: Path) -> None:
    id = trace_of("race-for-one-medal")
    path = traces / f"{id}.json"
    path.write_text(path.read_text().replace("win(r1)", "lose(r1)"))

    assert braid("replay", id).exit_code == 3
    done = braid("show", id)
    assert done.exit_code == 2
    assert "there is no action lose(r1)" in done.stderr


def test_a_trace_of_a_world_that_is_gone_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    id = trace_of("race-on-a-track")
    monkeypatch.setattr(all_worlds, "all_worlds", lambda: (SOUND,))

    for command in ("replay", "show"):
        done = braid(command, id)
        assert done.exit_code == 2
        assert "there is no world called 'race-on-a-track'" in done.stderr


@pytest.mark.parametrize("command", ["replay", "show", "pin"])
def test_an_unknown_trace_is_a_usage_error(command: str) -> None:
    done = braid(command, "zzzzz")

    assert done.exit_code == 2
    assert "there is no trace 'zzzzz'" in done.stderr


def test_a_trace_is_shown_in_every_form(tmp_path: Path, traces: Path) -> None:
    id = trace_of("race-for-one-medal")

    assert "← broken here" in braid("show", id).stdout
    assert braid("show", id, "--mermaid").stdout.startswith("sequenceDiagram\n")
    assert json.loads(braid("show", id, "--itf").stdout)["#meta"]["format"] == "ITF"
    assert json.loads(braid("show", id, "--json").stdout)["trace"] == id
    assert f"{id}.html" in braid("show", id, "--html").stdout
    assert (traces / f"{id}.html").read_text().startswith("<!doctype html>")
    for form in ("--mermaid", "--html", "--itf"):
        assert braid("show", id, form, "-o", tmp_path / "shown").exit_code == 0
        assert (tmp_path / "shown").read_text() == braid("show", id, form, "-o", "-").stdout
    assert braid("show", id, "-o", tmp_path / "text").exit_code == 0
    assert (tmp_path / "text").read_text() == braid("show", id).stdout


def test_a_trace_is_shown_in_one_form_at_a_time(tmp_path: Path) -> None:
    id = trace_of("race-on-a-track")

    assert braid("show", id, "--mermaid", "--html").exit_code == 2
    (tmp_path / "file").touch()
    done = braid("show", id, "--html", "-o", tmp_path / "file" / "x.html")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_a_pinned_trace_is_a_test(tmp_path: Path) -> None:
    id = trace_of("race-on-a-track")

    printed = braid("pin", id)
    written = braid("pin", id, "-o", tmp_path)

    assert (printed.exit_code, written.exit_code) == (0, 0)
    compile(printed.stdout, "pinned", "exec")
    assert (tmp_path / f"test_{id}.py").read_text() == printed.stdout
    assert written.stdout == f"run   ./braid test {tmp_path}/test_{id}.py\n"
    assert json.loads(braid("pin", id, "--json").stdout)["test"] == printed.stdout


def test_a_sample_shows_how_each_witness_is_reached() -> None:
    done = braid("sample", "race-without-rules", *REFERENCE)

    assert done.exit_code == 0
    assert "REACHED   somebody_is_tired" in done.stdout
    [trace] = json.loads(braid("sample", "race-without-rules", "--json", *REFERENCE).stdout)["traces"]
    replayed = braid("replay", trace["trace"])
    assert (replayed.exit_code, "still reached" in replayed.stdout) == (0, True)
    refused = braid("pin", trace["trace"])
    assert (refused.exit_code, "breaks nothing" in refused.stderr) == (2, True)


def test_a_sample_says_what_is_never_reached() -> None:
    done = braid("sample", "race-without-rules", "--bounds", "runners=1", *REFERENCE)

    assert done.exit_code == 3
    assert "never reached: somebody_is_tired" in done.stdout
    assert braid("sample", "race-on-a-track", *REFERENCE).exit_code == 3
    assert braid("sample", "nothing", *REFERENCE).exit_code == 2


def test_stats_show_where_a_world_is_large() -> None:
    done = braid("stats", "race-without-rules", *REFERENCE)

    assert done.exit_code == 0
    assert "96 states" in done.stdout
    assert re.search(r"^  run +\d+  █+", done.stdout, re.MULTILINE)
    answer = json.loads(braid("stats", "race-without-rules", "--json", *REFERENCE).stdout)
    assert sum(answer["levels"]) == answer["states"] == 96
    assert answer["witnesses"] == {"somebody_is_tired": 2}


def test_stats_print_whatever_the_engine_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def detailed(*arguments: Any, **options: Any) -> Result:
        result = reference.explore(SOUND)
        result.details = {"contexts": {"run": 7, "win": 30}, "bytes_per_state": 12.5, "nodes": 1234}
        result.notes = ["a note"]
        return result

    monkeypatch.setattr(worlds, "explore", detailed)

    done = braid("stats", "race-without-rules")

    assert "contexts\n  win              30  " in done.stdout
    assert re.search(r"bytes per state +12\.5\n +nodes +1,234", done.stdout)
    assert "a note" in done.stdout


def test_a_deep_world_has_several_depths_in_a_row_of_its_histogram() -> None:
    assert histogram([1, 2, 3]) == [("0", 1), ("1", 2), ("2", 3)]
    rows = histogram([1] * 100)
    assert (rows[0], rows[-1], len(rows)) == (("0–2", 3), ("99–99", 1), 34)
    assert histogram([]) == []


def test_walks_that_break_something_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: dict[str, object] = {}

    def simulate(world: Any, **given: object) -> Result:
        heard.update(given)
        result = reference.explore(world)
        result.details["walks"] = 3
        return result

    monkeypatch.setitem(sys.modules, "models.engine.simulate", SimpleNamespace(simulate=simulate))
    monkeypatch.delitem(sys.modules, "cli.simulate", raising=False)

    done = braid("simulate", "race-on-a-track", "--walks", 5, "--steps", 6, "--seed", 7, "--bias", "pct")

    assert done.exit_code == 1
    assert heard == {"walks": 5, "steps": 6, "seed": 7, "bias": "pct"}
    assert "the track broke" in done.stdout
    assert done.stdout.startswith("3 of 5 walks, ")
    assert json.loads(braid("simulate", "race-on-a-track", "--json").stdout)["walks"] == 3
    assert braid("simulate", "race-on-a-track", "--walks", 3).stdout.startswith("3 walks, ")
    assert braid("simulate", "race-for-one-medal").exit_code == 0
    quiet = braid("simulate", "race-without-rules")
    assert (quiet.exit_code, "nothing broke" in quiet.stdout) == (3, True)
    assert json.loads(braid("simulate", "stairs", "--json").stdout)["breaches"]
    assert braid("simulate", "stairs", "--bias", "left").exit_code == 2


def test_worlds_are_listed_with_what_they_ask_and_expect() -> None:
    done = braid("worlds")

    assert done.exit_code == 0
    assert re.search(r"^race-without-rules +Does a race go on\?$", done.stdout, re.MULTILINE)
    assert "violates one_runner_has_the_medal in 6 steps" in done.stdout
    assert "large: only checked by name" in done.stdout
    rows = json.loads(braid("worlds", "--json").stdout)["worlds"]
    assert [row["name"] for row in rows] == list(NAMED)
    assert rows[0]["expects"] == "holds, 96 states"


def test_progress_tells_rate_depth_frontier_and_what_is_left() -> None:
    check = Check("world:w", "worlds", "", "", ())
    event = Progressed(check, Standing(500, 900, 7, 200, 50), 2.0, 1000)

    assert terminal.standing(event) == (
        "w  500 states, 250/s, depth 7, frontier 200 (25% done), 2 s, 50% of all, 2 s left"
    )
    compiling = Progressed(check, Standing(1, 0, 0, 1, 1), 20.0, 1000)
    assert "left" not in terminal.standing(compiling)
    assert terminal.standing(Progressed(check, Standing(5, 9, 7, 0, 0), 1.0)).endswith(
        "frontier 0 (– done), 1 s"
    )


def test_progress_renews_its_line_in_a_terminal_and_is_rare_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = Progressed(Check("world:w", "worlds", "", "", ()), Standing(500, 900, 7, 200, 50), 2.0)
    quiet = terminal.Line()
    quiet.show(event)
    quiet.clear()
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0)
    quiet.show(event)
    assert capsys.readouterr().err == terminal.standing(event) + "\n"

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    live = terminal.Line()
    live.show(event)
    live.clear()
    assert capsys.readouterr().err == f"\r\x1b[K{terminal.standing(event)}\r\x1b[K"


@pytest.mark.parametrize(
    ("text", "bytes"),
    [("4G", 4 << 30), ("512M", 512 << 20), ("1.5GiB", 3 << 29), ("1024", 1024), ("2kb", 2048), (None, None)],
)
def test_an_amount_of_memory(text: str | None, bytes: int | None) -> None:
    assert options.size(text) == bytes


@pytest.mark.parametrize("text", ["4G", "1536M", "1K", "7", "3T"])
def test_an_amount_of_memory_is_told_as_it_was_written(text: str) -> None:
    assert options.size_told(options.size(text)) == text
    assert options.size_told(None) is None


def test_reductions_are_named_or_all_or_none() -> None:
    assert options.reductions("all") == {"symmetry": True, "partial_order": True, "slicing": True}
    assert not any(options.reductions("none").values())
    assert options.reductions("slicing,symmetry")["partial_order"] is False
