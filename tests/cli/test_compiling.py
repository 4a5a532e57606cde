"""Whoever has to wait for the compiler is told so first, and only then."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from cli import __main__ as front
from cli import compiling, worlds
from cli.__main__ import app
from models import worlds as all_worlds
from models.engine import reference
from models.engine.explore import explore
from models.engine.result import Result
from spec.world import World
from tests.models.planted import PLANTED

SEARCH = "braid: compiling the search kernel, once (about 20 s) ...\n"


def braid(*arguments: str) -> Done:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def _nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was compiled before, and nothing will be."""

    def pretend(world: World, engine: str, *arguments: object, **options: object) -> Result:
        return reference.explore(world) if engine == "fast" else explore(world, engine)

    monkeypatch.setattr(all_worlds, "all_worlds", lambda: PLANTED)
    monkeypatch.setattr(compiling, "is_compiled", lambda needed_for: False)
    monkeypatch.setattr(worlds, "explore", pretend)
    monkeypatch.setattr("cli.world_mutants.mutants_of", lambda world: iter(()))


@pytest.mark.parametrize("command", ["check", "stats", "sample", "mutants"])
def test_every_command_that_searches_says_that_it_compiles(command: str) -> None:
    plain, machine = braid(command, "race-without-rules"), braid(command, "race-without-rules", "--json")

    assert plain.stderr == machine.stderr == SEARCH
    assert json.loads(machine.stdout)


@pytest.mark.parametrize("command", ["check", "stats", "sample"])
def test_plain_python_is_not_compiled(command: str) -> None:
    assert braid(command, "race-without-rules", "--engine", "reference").stderr == ""


def test_the_search_for_the_cheapest_trace_is_not_compiled() -> None:
    assert braid("check", "stairs", "--fault-cost", "3").stderr == ""


def test_what_was_compiled_before_needs_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_compiled", lambda needed_for: True)

    assert braid("check", "race-without-rules").stderr == ""


def test_walks_have_a_kernel_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    compiling.announce("walks")

    assert capsys.readouterr().err == "braid: compiling the kernel for random walks, once (about 5 s) ...\n"


def test_damaged_code_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kernel.expand-1.py311.nbi").touch()
    monkeypatch.setattr(compiling, "folder", lambda: tmp_path)
    body = compile("raise EOFError('damaged')", "/somewhere/numba/core/caching.py", "exec")

    def load_overload(prog_name: str) -> None:
        exec(body.replace(co_name="load_overload"))

    monkeypatch.setattr(front, "app", load_overload)
    with pytest.raises(SystemExit) as end:
        front.main()

    assert end.value.code == 5
    assert "run the same command again" in capsys.readouterr().err
    assert not tmp_path.exists()


def test_other_defects_throw_nothing_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiling, "folder", lambda: tmp_path)

    assert not compiling.discarded('File "/x/numba/core/caching.py", line 1, in save_overload\nOSError: full')
    assert tmp_path.exists()
