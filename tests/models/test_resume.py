"""A search that is killed, or that must not use much memory, ends with the same counts as any other."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.engine import checkpoint, fast
from models.engine.fast import Options, Search
from models.engine.result import Limits, Result
from models.verdict import Verdict
from models.worlds.independent_clients import SMALL as CLIENTS
from models.worlds.independent_clients import Registry
from models.worlds.split_merge import SIZES, split_merge
from spec.world import Holds

ROOT = Path(__file__).resolve().parents[2]
WORLD = split_merge("split-merge-to-kill", SIZES[10**5], Holds())
ENDLESS = """
import sys
from pathlib import Path
from models.engine import fast
from tests.models.test_resume import WORLD

fast.RUNS = Path(sys.argv[1])
exact = sys.argv[2] == "exact"
fast.explore(WORLD, options=fast.Options(chunk=2048, save_every=0.2, resume=True, exact=exact))
"""


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of this is put where real runs are."""
    monkeypatch.setattr(fast, "RUNS", tmp_path)
    return tmp_path


def figures(result: Result) -> tuple[Any, ...]:
    witnesses = {name: trace and len(trace.moves) for name, trace in result.witnesses.items()}
    return result.states, result.transitions, result.levels, result.fired, witnesses, result.verdict


@pytest.mark.parametrize("exact", [False, True], ids=["fingerprints", "exact"])
def test_a_killed_search_goes_on_where_it_had_saved_itself(runs: Path, exact: bool) -> None:
    options = Options(chunk=2048, exact=exact)
    folder = runs / checkpoint.name_of(WORLD, options)
    for _ in range(2):
        command = [sys.executable, "-c", ENDLESS, str(runs), "exact" if exact else ""]
        with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}) as running:
            deadline = time.monotonic() + 120
            while not checkpoint.exists(folder) and running.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(0.1)
            running.send_signal(signal.SIGKILL)
    assert checkpoint.exists(folder), "it was killed before it had saved itself"

    resumed = fast.explore(WORLD, options=Options(chunk=2048, exact=exact, resume=True))

    assert any(note.startswith("resumed at depth") for note in resumed.notes)
    assert figures(resumed) == figures(fast.explore(WORLD, options=options))
    assert not folder.exists(), "a search that is done leaves nothing behind"


def test_a_save_of_another_world_is_not_used() -> None:
    names = {checkpoint.name_of(world, Options()) for world in (WORLD, WORLD.at(crashes=0), CLIENTS)}

    assert len(names) == 3
    assert checkpoint.name_of(WORLD, Options(exact=True)) not in names


def test_a_save_in_which_something_else_was_asked_is_not_used() -> None:
    """States that were left before the question came up would never be looked at."""
    silent = replace(CLIENTS, properties=())
    names = {
        checkpoint.name_of(world, Options()) for world in (CLIENTS, silent, replace(silent, within=inside))
    }
    fast.explore(silent, Limits(depth=10), options=Options(save_every=0))

    asked = fast.explore(CLIENTS, options=Options(resume=True))

    assert len(names) == 3
    assert not any(note.startswith("resumed") for note in asked.notes)
    assert asked.surprises() == []


def inside(w: Registry) -> bool:
    return w.registered < 3


def test_a_save_that_was_cut_off_between_its_renames_is_still_whole(runs: Path) -> None:
    cut = fast.explore(WORLD, Limits(states=20_000), options=Options(chunk=512, save_every=0))
    assert cut.verdict is Verdict.UNKNOWN
    folder = runs / checkpoint.name_of(WORLD, Options(chunk=512))
    (folder / "save").rename(folder / "old")
    (folder / "new").mkdir()

    resumed = fast.explore(WORLD, options=Options(chunk=512, resume=True))

    assert figures(resumed) == figures(fast.explore(WORLD))


def test_what_does_not_fit_into_memory_goes_to_disk_and_changes_nothing(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spilled: list[int] = []
    real = Search.spill

    def watched(search: Search) -> None:
        real(search)
        spilled.append(len(list(search.folder.glob("block-*"))))

    monkeypatch.setattr(Search, "spill", watched)
    small = fast.explore(WORLD, Limits(memory=4_000_000), options=Options(chunk=2048))

    assert max(spilled) > 0, "no block was ever put on disk"
    assert figures(small) == figures(fast.explore(WORLD))


def test_a_visited_set_that_does_not_fit_ends_undecided_and_can_go_on() -> None:
    options = Options(chunk=2048, save_every=0)
    stopped = fast.explore(WORLD, Limits(memory=3_000_000), options=options)

    assert stopped.verdict is Verdict.UNKNOWN
    assert "memory limit" in stopped.cut

    resumed = fast.explore(WORLD, options=Options(chunk=2048, resume=True))
    assert figures(resumed) == figures(fast.explore(WORLD))


def test_more_threads_than_owners_are_no_trouble() -> None:
    many = fast.explore(CLIENTS, options=Options(threads=40, chunk=64))

    assert figures(many) == figures(fast.explore(CLIENTS))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(states=1000), "1,000 states reached"),
        (Limits(depth=5), "depth 5 reached"),
        (Limits(seconds=0.0), "0 seconds are over"),
    ],
)
def test_every_limit_leaves_the_question_open(limits: Limits, reason: str) -> None:
    result = fast.explore(WORLD, limits)

    assert (result.verdict, result.cut) == (Verdict.UNKNOWN, reason)
