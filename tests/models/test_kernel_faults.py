"""A fault in the compiled kernel does not go unnoticed: each changes what is found, or ends the run."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120
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
