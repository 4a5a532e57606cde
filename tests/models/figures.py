"""
What the fast engine finds in the small worlds, in several ways, as one JSON text on standard output.

With arguments, the kernel is loaded with a fault: the first text is replaced by the second. It runs in a
process of its own, because a kernel is loaded only once.
"""

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def load_with_fault(old: str, new: str, folder: Path) -> None:
    """Put a kernel with a fault in the place of the real one, before anything has imported that."""
    import models.engine  # noqa: PLC0415

    text = Path(models.engine.__path__[0], "kernel.py").read_text(encoding="utf-8")
    assert text.count(old) == 1, f"the fault {old!r} is found {text.count(old)} times"
    file = folder / "kernel.py"
    file.write_text(text.replace(old, new), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("models.engine.kernel", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["models.engine.kernel"] = module
    spec.loader.exec_module(module)


def figures() -> dict[str, Any]:
    """States, steps, levels and traces of the worlds with machines of their own, in several ways."""
    from models.engine import fast  # noqa: PLC0415 (not before the fault is in place)
    from models.worlds import all_worlds  # noqa: PLC0415

    fast.SMALL = 0
    ways: tuple[dict[str, Any], ...] = (
        {"threads": 1},
        {"threads": 2, "chunk": 64},
        {"exact": True},
        {"symmetry": True},
        {"partial_order": True},
    )
    found = {}
    for world in all_worlds():
        protocol = any(machine.__module__.startswith("spec.") for machine in world.machines)
        for way in () if world.large or protocol else ways:
            r = fast.explore(world, options=fast.Options(**way))
            breaches = sorted((b.property, len(b.trace.moves)) for b in r.breaches)
            witnesses = {name: trace and len(trace.moves) for name, trace in r.witnesses.items()}
            key = f"{world.name} {way}"
            found[key] = [r.states, r.transitions, r.levels, r.fired, breaches, witnesses, r.verdict.value]
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        if len(sys.argv) > 1:
            os.environ["NUMBA_CACHE_DIR"] = temporary
            load_with_fault(sys.argv[1], sys.argv[2], Path(temporary))
        print(json.dumps(figures(), sort_keys=True))
