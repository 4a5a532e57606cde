"""What the commands share when they speak to a person."""

import json
import os
import sys
import time
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import NoReturn

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
QUIET_SECONDS = 10

WIDE = 200
"""Columns when nobody looks: a file or a pipe has no edge to wrap at."""

BROKEN_PIPE = 141
"""The exit code when the reader has gone away: what a shell shows for SIGPIPE, and no verdict."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        nobody_listens()


def nobody_listens() -> NoReturn:
    """End quietly; what is still buffered goes nowhere, instead of into an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(BROKEN_PIPE)


out = _Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDE)
err = _Console(highlight=False, soft_wrap=True, stderr=True)

COLOURS = {"holds": "green", "violated": "bold red", "unknown": "yellow", "vacuous": "yellow"}


def emit(document: object) -> None:
    """One JSON document for a program: enumerations by their values, dataclasses by their fields."""
    try:
        print(json.dumps(document, default=_plain), flush=True)
    except BrokenPipeError:
        nobody_listens()


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else asdict(value)  # type: ignore[call-overload]


def error(problem: str, what_next: str) -> None:
    """An error says what is wrong, and what to do about it."""
    err.print(f"braid: {problem}", markup=False)
    for line in what_next.splitlines():
        err.print(f"       {line}", markup=False)


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
