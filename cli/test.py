"""`./braid test`: what must be green before a change lands."""

import subprocess
import sys

from cli.console import ROOT, out

STEPS = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("mypy",),
    "layering": ("lint-imports",),
    "tests": ("pytest", "--cov"),
}


def test(arguments: list[str]) -> int:
    """All steps, to the end even if one fails; with arguments, pytest alone."""
    if arguments:
        return _run(("pytest", *arguments))

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
