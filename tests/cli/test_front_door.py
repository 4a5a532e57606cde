"""The wrapper script and the entry point: they start anywhere, and never end in a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli import __main__ as front
from cli import test as command
from cli.console import Progress
from proofs.contracts import ROOT

BRAID = ROOT / "braid"


def braid(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BRAID, *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_from_any_folder_and_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "braid"
    link.symlink_to(BRAID)

    assert "check" in braid("--help", cwd=tmp_path).stdout
    assert "check" in subprocess.run([link, "--help"], capture_output=True, text=True, check=True).stdout


def test_an_unknown_command_is_a_usage_error(tmp_path: Path) -> None:
    done = braid("chekc", cwd=tmp_path)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_without_a_recent_python_it_says_what_to_install(tmp_path: Path) -> None:
    copy = tmp_path / "braid"
    copy.write_text(BRAID.read_text())
    copy.chmod(0o755)
    (tmp_path / "requirements.lock").touch()

    done = subprocess.run(
        [copy], env=os.environ | {"BRAID_PYTHON": "false"}, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr


def test_output_that_nobody_looks_at_has_no_escapes(tmp_path: Path) -> None:
    done = braid("check", "hashing", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_defect_of_ours_is_one_line_and_a_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(prog_name: str) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(front, "app", broken)
    monkeypatch.setattr(front, "ROOT", tmp_path)

    with pytest.raises(SystemExit) as end:
        front.main()

    assert end.value.code == 5
    assert "this is a defect of Braid: ZeroDivisionError: oops" in capsys.readouterr().err
    assert "Traceback" in (tmp_path / ".braid" / "crash.txt").read_text()


def test_every_step_runs_even_if_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def pretend(command: tuple[str, ...]) -> int:
        ran.append(command[0])
        return int(command[0] == "mypy")

    monkeypatch.setattr(command, "_run", pretend)

    assert command.test([]) == 1
    assert ran == ["ruff", "ruff", "mypy", "lint-imports", "pytest", "pytest"]
    assert command.test(["-k", "nothing"]) == 0
    assert ran[6:] == ["pytest"]


def test_progress_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(2, "checks")
    progress.advance("one")
    progress.close()

    assert capsys.readouterr().err == ""


def test_progress_renews_its_line_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = Progress(2, "checks")
    progress.advance("one")
    progress.close()

    assert "1/2 checks  one" in capsys.readouterr().err


def test_it_never_runs_the_code_of_the_folder_it_is_called_from(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "__init__.py").touch()
    (tmp_path / "cli" / "__main__.py").write_text('print("somebody else")')

    assert "somebody else" not in braid("--help", cwd=tmp_path).stdout


def test_a_reader_that_goes_away_is_no_verdict() -> None:
    for arguments in ("claims --readings", "claims --json"):
        command = f"{BRAID} {arguments} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)

        assert done.stdout == "141\n"
        assert done.stderr == ""


def test_a_defect_is_told_even_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".braid").touch()
    monkeypatch.setattr(front, "ROOT", tmp_path)

    assert front.keep("the story") == "the story"


@pytest.mark.parametrize(("pytests", "ours"), [(0, 0), (1, 1), (2, 130), (3, 5), (4, 2), (5, 3), (77, 5)])
def test_exit_codes_of_pytest_become_ours(monkeypatch: pytest.MonkeyPatch, pytests: int, ours: int) -> None:
    monkeypatch.setattr(command, "_run", lambda command: pytests)

    assert command.test(["-k", "x"]) == ours


def test_an_environment_of_another_place_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "braid").write_text(BRAID.read_text())
    (tmp_path / "braid").chmod(0o755)
    (tmp_path / "requirements.lock").touch()
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (tmp_path / ".venv" / "origin").write_text("/somewhere/else\n")

    done = subprocess.run(
        [tmp_path / "braid"],
        env=os.environ | {"BRAID_PYTHON": "false"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "Python 3.11 or newer is needed" in done.stderr) == (2, True)
