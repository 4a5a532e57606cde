"""`./braid doctor` and what it rests on: which Java is found, and what is said when there is none."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import doctor as command
from cli import environment
from cli.__main__ import app
from cli.environment import Missing, how_to_get_java, java, java_version, need_java, program_version

run = CliRunner().invoke


def fake_java(folder: Path, banner: str) -> Path:
    """A program that says what a Java of some version says."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ncat >&2 <<'EOF'\n{banner}\nEOF\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("command not found", None),
    ],
)
def test_java_says_its_version(tmp_path: Path, banner: str, version: int | None) -> None:
    assert java_version(fake_java(tmp_path, banner)) == version


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fake_java(tmp_path / "old", 'java version "1.8.0_392"')
    new = fake_java(tmp_path / "new", 'openjdk version "21.0.1"')
    monkeypatch.setattr(environment, "_java_programs", lambda: iter([tmp_path / "gone", old, new]))

    assert java() == (new, 21)


def test_without_java_the_way_to_get_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_java_programs", lambda: iter([]))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(Missing) as missing:
        need_java()
    assert missing.value.args == ("Spark needs Java 17 or newer, and none was found", how_to_get_java())


def test_as_root_on_debian_java_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    found: list[Path] = []

    def apt(*arguments: str) -> int:
        asked.append(arguments)
        if arguments[0] == "install":
            found.append(fake_java(tmp_path, 'openjdk version "17.0.15"'))
        return 0

    monkeypatch.setattr(environment, "_java_programs", lambda: iter(found))
    monkeypatch.setattr(environment, "_can_apt", lambda: True)
    monkeypatch.setattr(environment, "_apt", apt)

    assert need_java() == tmp_path / "bin" / "java"
    assert asked == [("update",), ("install", "-y", "--no-install-recommends", "openjdk-17-jre-headless")]


@pytest.mark.parametrize(
    ("tool", "advice"),
    [
        ("apt-get", "run: sudo apt-get install openjdk-17-jre-headless"),
        ("dnf", "run: sudo dnf install java-17-openjdk-headless"),
        ("brew", "run: brew install openjdk@17"),
        ("none", "install a JDK or JRE of version 17 or newer and set JAVA_HOME to it"),
    ],
)
def test_the_advice_fits_the_machine(monkeypatch: pytest.MonkeyPatch, tool: str, advice: str) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == tool else None)

    assert how_to_get_java() == advice


def test_doctor_finds_everything_that_is_needed() -> None:
    answer = json.loads(run(app, ["doctor", "--json"]).stdout)

    assert answer["well"] is True
    found = {f["what"]: f for f in answer["findings"]}
    assert {"Python", "hypothesis", "Z3", "Java", "PySpark", "cache"} <= found.keys()
    assert {found[library]["found"] for library in ("numpy", "numba", "scipy")}.isdisjoint({None})
    assert {found[program]["optional"] for program in ("spin", "gcc")} == {True}


@pytest.mark.parametrize("there", [True, False])
def test_doctor_says_whether_the_kernel_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: bool
) -> None:
    monkeypatch.setattr(command, "is_compiled", lambda needed_for: there and needed_for == "search")
    monkeypatch.setattr(command, "folder", lambda: tmp_path)

    found = {f["what"]: f for f in json.loads(run(app, ["doctor", "--json"]).stdout)["findings"]}

    assert found["kernel: search"]["found"] == (f"compiled, {tmp_path}" if there else None)
    assert found["kernel: walks"]["found"] is None
    assert found["kernel: walks"]["optional"] is True


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("Spin Version 6.5.2 -- 6 December 2019", "6.5.2"),
        ("gcc (Debian 12.2.0-14) 12.2.0", "12.2.0"),
        ("", "of unknown version"),
    ],
)
def test_a_program_says_its_version(tmp_path: Path, said: str, version: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)

    assert program_version(str(program), "--version") == version
    assert program_version(str(tmp_path / "gone"), "--version") is None


def test_a_missing_library_makes_the_doctor_exit_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "LIBRARIES", {"no-such-library": "everything"})

    done = run(app, ["doctor"])

    assert done.exit_code == 3
    assert "delete .venv and run ./braid again" in done.output


def test_fix_says_what_it_could_not_get(monkeypatch: pytest.MonkeyPatch) -> None:
    def need_spark() -> None:
        raise Missing("no Spark today", "try tomorrow")

    monkeypatch.setattr(command, "need_spark", need_spark)

    done = run(app, ["doctor", "--fix"])

    assert done.exit_code == 3
    assert "no Spark today" in done.stderr
    assert "try tomorrow" in done.stderr
