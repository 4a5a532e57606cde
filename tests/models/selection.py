"""
A fixed selection of machines and one world of the folder, on which a kernel is held against the reference.

Run with the path of a kernel's text, it uses that one in place of the real one, and ends with 1 and what
differs, or with 0.
"""

import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

KERNEL = "models.engine.kernel"


def main(kernel: str) -> int:
    """Load a kernel from a file, and report the first differences."""
    spec = spec_from_file_location(KERNEL, kernel)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[KERNEL] = module
    spec.loader.exec_module(module)
    setattr(import_module("models.engine"), "kernel", module)

    found = list(differences())
    print("\n".join(found[:5]))
    return 1 if found else 0


def differences() -> Iterator[str]:
    """Everything in which the fast engine differs from what is true, until something is found."""
    from models.engine import fast  # noqa: PLC0415 (after the kernel was put in its place)

    fast.RUNS = Path(tempfile.mkdtemp())
    fast.SMALL = 0
    for told in (*plain(), *reduced(), *shipped()):
        yield told


def plain() -> Iterator[str]:
    """Counts, verdicts and traces of drawn machines, by both sorts of visited sets, in small and large chunks."""
    from tests.models.agreement import checked, compared, explored, reference_search  # noqa: PLC0415
