"""
Where compiled code is kept: in a folder for each version of the sources.

numba compiles a function anew when the file changes that it stands in, but not when a function of another
file does that was compiled into it. With a folder for each version of all of them nothing stale is ever run,
and what lies in the folder says what need not be compiled again.
"""

import hashlib
import importlib.metadata
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".braid" / "kernels"
SOURCES = ("compiled", "kernel", "orbit", "program", "strolling")

LOOPS = {"search": "kernel.expand", "walks": "strolling.stroll"}
"""What takes longest to compile, by what it is needed for."""


@cache
def folder() -> Path:
    """The folder for the sources as they are; where nothing can be written, one among temporary files."""
    version = _version()
    for base in (Path(os.environ.get("NUMBA_CACHE_DIR") or CACHE), _own_temporary()):
        if _writable(base / version):
            return base / version
    return Path(tempfile.mkdtemp(prefix="braid-kernels-"))


def is_compiled(needed_for: str) -> bool:
    """Whether the loop for this purpose was compiled before, from these very sources."""
    return any(folder().glob(f"*/{LOOPS[needed_for]}-*.nbi"))


def _version() -> str:
    """The sources, where they stand, and those who compile them, as a name for a folder."""
    digest = hashlib.sha256(f"{HERE} {sys.version} {importlib.metadata.version('numba')}".encode())
    for source in SOURCES:
        digest.update((HERE / f"{source}.py").read_bytes())
    return digest.hexdigest()[:16]


def _own_temporary() -> Path:
    return Path(tempfile.gettempdir()) / f"braid-kernels-{os.geteuid()}"


def _writable(place: Path) -> bool:
    """
    Whether this folder is ours to write, once it is made.

    Compiled code is run as it is found, so nobody else may have been able to put it there.
    """
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
        owned = place.parent.stat()
    except OSError:
        return False
    return place.parent != _own_temporary() or (owned.st_uid == os.geteuid() and not owned.st_mode & 0o077)
