"""What the commands share when they speak to a person."""

import sys
import time
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
QUIET_SECONDS = 10

WIDE = 200
"""Columns when nobody looks: a file or a pipe has no edge to wrap at."""

out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDE)
err = Console(highlight=False, soft_wrap=True, stderr=True)

COLOURS = {"holds": "green", "violated": "bold red", "unknown": "yellow", "vacuous": "yellow"}


def error(problem: str, what_next: str) -> None:
    """An error says what is wrong, and what to do about it."""
    err.print(f"braid: {problem}", markup=False)
    err.print(f"       {what_next}", markup=False)


class Progress:
    """Where a longer run stands: a line that renews itself in a terminal, elsewhere one every ten seconds."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what, self.done = total, what, 0
        self._live = sys.stderr.isatty()
        self._last = time.monotonic()

    def advance(self, latest: str) -> None:
        self.done += 1
        now = time.monotonic()
        if self._live:
            line = f"{self.done}/{self.total} {self.what}  {latest}"
            sys.stderr.write(f"\r\x1b[K{line[:100]}")
            sys.stderr.flush()
        elif now - self._last >= QUIET_SECONDS:
            self._last = now
            err.print(f"{self.done}/{self.total} {self.what}", markup=False)

    def close(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
