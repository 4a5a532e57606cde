"""What is compiled on first use, and a word to whoever waits for it."""

import shutil

from cli.console import err
from models.engine.cache import folder, is_compiled

WAITING = {
    "search": "the search kernel, once (about 20 s)",
    "walks": "the kernel for random walks, once (about 5 s)",
}


def announce(needed_for: str) -> None:
    """Say that something is about to be compiled, unless it was compiled before; a program may read on."""
    if not is_compiled(needed_for):
        err.print(f"braid: compiling {WAITING[needed_for]} ...", markup=False)


def discarded(story: str) -> bool:
    """Whether something failed because compiled code on disk is damaged; that code is then thrown away."""
    damaged = "/numba/core/caching.py" in story and " in load_overload" in story
    if damaged:
        shutil.rmtree(folder(), ignore_errors=True)
    return damaged
