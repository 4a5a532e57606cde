"""A module of worlds that cannot be read is named with its line, and stands in nobody's way."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from cli import worlds
from cli.__main__ import app
from models import worlds as all_worlds
from models.worlds import lock_server

LOCK = Path(str(lock_server.__file__)).read_text(encoding="utf-8")
IMPORTS = "from spec.machine import Machine, action\nfrom spec.world import Holds, Violated, World\n"
MACHINE = f"{IMPORTS}class M(Machine):\n    pass\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of worlds with one good module."""
    place = tmp_path / "worlds"
    place.mkdir()
    (place / "good_lock.py").write_text(LOCK, encoding="utf-8")
    monkeypatch.setattr(all_worlds, "__path__", [str(place)])
    monkeypatch.setattr(worlds, "TRACES", tmp_path / "traces")
    return place


def braid(*arguments: object) -> Done:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check(*arguments: object) -> Done:
    return braid("check", *arguments, "--engine", "reference")


@pytest.mark.parametrize(
    ("name", "text", "line", "problem"),
    [
        ("half_written", "x = 1\ndef half(:\n", ":2", "SyntaxError: "),
        ("ill_indented", "def f():\nreturn 1\n", ":2", "IndentationError: "),
        ("misspelt", "import os\nfrom spec.world import Wrold\n", ":2", "ImportError: cannot import name"),
        ("divided", "x = 1\n\ny = x / 0\n", ":3", "ZeroDivisionError: division by zero"),
        (
            "unannotated",
            f"{IMPORTS}\n@action()\ndef act(w):\n    pass\n",
            ":4",
            "annotate the first parameter with its machine",
        ),
        (
            "without_a_comma",
            f"{MACHINE}WORLDS = (World(name='w', asks='?', machines=(M,), bounds={{}}))\n",
            ":",
            "WORLDS is World, not a tuple; one world is written (world,)",
        ),
        *(
            (
                f"with_a_slip_{number}",
                f"{MACHINE}WORLDS = (World(name='w', asks='?', {fields}),)\n",
                ":5",
                f"world w: {problem}",
            )
            for number, (fields, problem) in enumerate(
                (
                    ("machines=M, bounds={}", "machines is a tuple, as in machines=(…,)"),
                    ("machines=(World,), bounds={}", "machines contains <class 'spec.world.World'>"),
                    ("machines=(M,), bounds={'c', 3}", "bounds are numbers by name"),
                    ("machines=(M,), bounds={'c': '3'}", "bounds are numbers by name"),
                    ("machines=(M,), bounds={}, idle='act'", "idle is a tuple, as in idle=(…,)"),
                    ("machines=(M,), bounds={}, interchangeable=('c',)", "interchangeable contains 'c'"),
                    ("machines=(M,), bounds={}, properties=(M,)", "properties contains <class"),
                    ("machines=(M,), bounds={}, expect='holds'", "expect is Holds(...) or Violated(...)"),
                    ("machines=(M,), bounds={}, expect=Holds('20')", "states is a number"),
                    ("machines=(M,), bounds={}, expect=Violated('p', '3')", "steps is a number"),
                )
            )
        ),
        ("of_names", "WORLDS = ('my-lock',)\n", ":", "WORLDS contains 'my-lock', which is no World"),
        (
            "not_listed",
            f"{MACHINE}WORLD = World(name='w', asks='?', machines=(M,), bounds={{}})\n",
            ":5",
            "nobody finds this world: write WORLDS = (...,) with it",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    folder: Path, name: str, text: str, line: str, problem: str
) -> None:
    (folder / f"{name}.py").write_text(text)

    for asked in (name, name.replace("_", "-"), f"world:{name}", "worlds"):
        done = check(asked)

        assert done.exit_code == 2
        assert f"MISUSED  {name}" in done.stdout
        assert f"{folder}/{name}.py{line}" in done.stdout
        assert problem in done.stdout
        assert "Traceback" not in done.output


def test_other_worlds_are_checked_and_listed_all_the_same(folder: Path) -> None:
    (folder / "half_written.py").write_text("def half(:\n")

    listed, checked, shown = braid("worlds"), check("lock-server"), braid("worlds", "--json")

    assert [done.exit_code for done in (listed, checked, shown)] == [0, 0, 0]
    assert "lock-server-with-leases" in listed.stdout
    assert checked.stdout.splitlines()[-1] == "1 holds"
    assert len(json.loads(shown.stdout)["worlds"]) == 2
    for done in (listed, checked, shown):
        assert "braid: the worlds of half_written are left out\n" in done.stderr
        assert f"{folder}/half_written.py:1 SyntaxError" in done.stderr


def test_of_all_worlds_the_others_still_have_verdicts(folder: Path, tmp_path: Path) -> None:
    (folder / "half_written.py").write_text("def half(:\n")

    done = check("worlds", "--junit", tmp_path / "run.xml")

    assert done.exit_code == 2
    assert done.stdout.splitlines()[-1] == "1 holds, 1 violated as expected, 1 unknown"
    [suite] = Xml.parse(tmp_path / "run.xml").getroot()
    assert (suite.get("tests"), suite.get("errors")) == ("3", "1")


@pytest.mark.parametrize("command", ["check", "stats", "sample", "simulate", "mutants"])
def test_a_world_that_is_not_found_may_stand_there(folder: Path, command: str) -> None:
    (folder / "half_written.py").write_text("def half(:\n")

    done = braid(command, "my-clock")

    assert done.exit_code == 2
    assert "called 'my-clock'" in done.stderr
    assert f"worlds of half_written are left out: {folder}/half_written.py:1 SyntaxError" in done.stderr


def test_a_module_without_worlds_is_no_mistake(folder: Path) -> None:
    (folder / "shared.py").write_text(
        "from models.worlds.lock_server import WORLDS as OTHERS\nfirst = OTHERS[0]\n"
    )

    assert braid("worlds").stderr == ""
