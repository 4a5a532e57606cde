"""A fault in the compiled kernel does not go unnoticed: each changes what is found, or ends the run."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 180
"""A kernel that never ends is as good as caught."""

FAULTS = {
    "a child is looked up one value too far": (
        "return p.tree[node + 2 + value]",
        "return p.tree[node + 1 + value]",
    ),
    "a value overwrites its neighbour's bits": (
        "kept = made[word] & ~(np.uint64(p.packing[place, 2]) << shift)",
        "kept = made[word]",
    ),
    "a successor keeps its parent's fingerprint": (
        "prints[row] ^ p.change[way]",
        "prints[row]",
    ),
    "a table takes a full slot for a free one": (
        "            if found == U0:\n                table[slot] = mark",
        "            if found != mark:\n                table[slot] = mark",
    ),
    "what was sent lately is recognised by too few bits": (
        "if recent[(found >> U16) & remembered] == found:",
        "if recent[(found >> U16) & remembered] != U0:",
    ),
    "properties are not looked at again after a step": (
        "watch |= p.watch[p.write[w, 0]]",
        "watch |= U0",
    ),
    "a reduced set leaves out what it must bring": (
        "if number < size and not chosen[number]:",
        "if number < 0 and not chosen[number]:",
    ),
    "the last row of a part is not expanded": (
        "    for row in range(begin, end):\n        unpack(p, rows[row], values)",
        "    for row in range(begin, end - 1):\n        unpack(p, rows[row], values)",
    ),
}


def run(*fault: str) -> subprocess.CompletedProcess[str]:
    """The figures of all small worlds, with a fault if one is given."""
    command = [sys.executable, "-m", "tests.models.figures", *fault]
    hasty = os.environ | ({"NUMBA_OPT": "0"} if fault else {})
    return subprocess.run(
        command, cwd=ROOT, env=hasty, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def noticed(fault: tuple[str, str], sound: str) -> str:
    """How a fault shows; nothing if it does not."""
    try:
        done = run(*fault)
    except subprocess.TimeoutExpired:
        return "it never ends"
    assert "the fault" not in done.stderr, done.stderr[-300:]
    if done.returncode:
        return "it crashes"
    return "" if done.stdout == sound else "it finds something else"


def test_every_seeded_fault_is_noticed() -> None:
    sound = run()
    assert sound.returncode == 0, sound.stderr[-1000:]

    with ThreadPoolExecutor(2) as pool:
        found = dict(
            zip(FAULTS, pool.map(lambda fault: noticed(fault, sound.stdout), FAULTS.values()), strict=True)
        )

    assert [name for name, how in found.items() if not how] == []


def test_a_fault_that_is_not_in_the_text_is_no_fault() -> None:
    with pytest.raises(AssertionError, match="the fault"):
        noticed(("this is not in the kernel", ""), "")


# faults that only machines show which were drawn by lot, held against the reference engine

WITH_FAULT = """
import sys
from pathlib import Path
from tests.models.figures import load_with_fault
if len(sys.argv) > 2:
    load_with_fault(*sys.argv[2:], Path(sys.argv[1]))
from tests.models.selection import main
sys.exit(main())
"""
SUBTLE = {
    "a value loses its highest bit": (
        "values[place] = (word >> np.uint64(p.packing[place, 1])) & np.uint64(p.packing[place, 2])",
        "values[place] = (word >> np.uint64(p.packing[place, 1])) & np.uint64(p.packing[place, 2] >> 1)",
    ),
    "a value that has no child in its node is looked up there": (
        "if value < p.tree[node + 1]:",
        "if value <= p.tree[node + 1]:",
    ),
    "a state goes to somebody else's table": (
        "owner = found & owners",
        "owner = (found & owners) ^ np.uint64(row & 1)",
    ),
    "a value that was not read before it was written stays in the fingerprint": (
        "found ^= p.random[base + values[p.write[w, 0]]] ^ p.random[base + p.write[w, 1]]",
        "found ^= p.random[base + p.write[w, 1]]",
    ),
    "only what the last write could break is looked at": (
        "watch |= p.watch[p.write[w, 0]]",
        "watch = p.watch[p.write[w, 0]]",
    ),
    "a predicate that is false by its first read takes its neighbour with it": (
        "todo &= ~p.false_by[p.offset[place] + values[place]]",
        "todo &= ~(p.false_by[p.offset[place] + values[place]] << U1)",
    ),
    "a step is looked at with the writes of the one before": (
        "values[size + p.write[w, 0]] = values[p.write[w, 0]]",
        "values[size + p.write[w, 0]] = p.write[w, 1]",
    ),
    "a reduced set does not mind what is not possible yet": (
        "bits = p.bring[at, word] if at else p.blocked[member, word]",
        "bits = p.bring[at, word] if at else U0",
    ),
    "a reduced set counts as progress wherever it leads": (
        "            if found == mark:\n                break\n            if found == U0:",
        "            if found == mark:\n                progressed[candidates[c, 1] >> U32] = 1\n"
        "                break\n            if found == U0:",
    ),
    "states are told apart by their fingerprints alone": (
        "if row[word] != stored[word]:\n            return False",
        "if row[word] != stored[word]:\n            return True",
    ),
    "every state comes from the first one": ("parents[to, 0] = ids[source]", "parents[to, 0] = ids[0]"),
    "a table that grows has no beginning after its end": (
        "            while new[slot] != U0:\n                slot += U1\n                if slot == size:\n"
        "                    slot = U0\n            new[slot] = mark",
        "            while new[slot] != U0 and slot + U1 < size:\n                slot += U1\n"
        "            new[slot] = mark",
    ),
}


def told_by_the_selection(folder: Path, *fault: str) -> str:
    """What the selection says of a kernel, with a fault if one is given; nothing if all is well."""
    folder.mkdir()
    hasty = {"NUMBA_OPT": "0", "NUMBA_CACHE_DIR": str(folder)} if fault else {}
    command = [sys.executable, "-c", WITH_FAULT, str(folder), *fault]
    environment = os.environ | hasty | {"PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "it never ends"
    assert "the fault" not in done.stderr, done.stderr[-300:]
    assert "TypingError" not in done.stderr, done.stderr[-300:]
    return (done.stdout.strip() or f"it crashes: {done.stderr[-1000:]}") if done.returncode else ""


def test_drawn_machines_have_nothing_to_say_of_a_kernel_without_fault(tmp_path: Path) -> None:
    assert told_by_the_selection(tmp_path / "sound") == ""


def test_every_subtle_fault_is_noticed_by_drawn_machines(tmp_path: Path) -> None:
    def told(numbered: tuple[int, str]) -> str:
        number, name = numbered
        return told_by_the_selection(tmp_path / str(number), *SUBTLE[name])

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(SUBTLE, pool.map(told, enumerate(SUBTLE)), strict=True))

    assert [name for name, how in found.items() if not how] == []
