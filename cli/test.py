"""`./braid test`: what must be green before a change lands."""

import subprocess
import sys

from cli.console import ROOT, out

EXPLORING = ("tests/models", "tests/stateful", "tests/test_findings.py")
"""Tests that visit many states: counting lines would make them several times as slow, for nothing."""

STEPS = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("mypy",),
    "layering": ("lint-imports",),
    "tests": ("pytest", "--cov", *(f"--ignore={path}" for path in EXPLORING)),
    "explorations": ("pytest", *EXPLORING),
}


CODES = {0: 0, 1: 1, 2: 130, 3: 5, 4: 2, 5: 3}
"""Our exit code for each of pytest's; no test at all is undecided, and wrong arguments are a usage error."""


def test(arguments: list[str]) -> int:
    """All steps, to the end even if one fails; with arguments, pytest alone."""
    if arguments:
        return CODES.get(_run(("pytest", *arguments)), 5)

    failed = []
    for name, command in STEPS.items():
        out.print(f"[bold]{name}[/]  {' '.join(command)}")
        if _run(command):
            failed.append(name)
    if failed:
        out.print(f"failed: {', '.join(failed)}", style="bold red")
    return 1 if failed else 0


def _run(command: tuple[str, ...]) -> int:
    name, *rest = command
    program = ROOT / ".venv" / "bin" / name
    runner = [str(program)] if program.exists() else [sys.executable, "-m", name]
    return subprocess.run([*runner, *rest], cwd=ROOT, check=False).returncode
