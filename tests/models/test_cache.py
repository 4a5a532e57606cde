"""Compiled code is kept for the sources that it was made of, and only where nobody else can put it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.engine import cache, fast
from proofs.contracts import ROOT
from tests.models.planted import SOUND

COMPILE_A_LITTLE = (
    "import numpy as np\n"
    "from models.engine import cache, kernel\n"
    "kernel.move_table(np.zeros(4, np.uint64), np.zeros(8, np.uint64))\n"
    "print(cache.folder(), len(list(cache.folder().glob('*/kernel.move_table-*.nbi'))))\n"
)


@pytest.fixture(autouse=True)
def _look_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A place for compiled code and one for temporary files, both empty."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache, "CACHE", tmp_path / "kernels")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cache.folder.cache_clear()
    yield
    cache.folder.cache_clear()


def in_place_of_the_folder(tmp_path: Path) -> None:
    """A file where the folder should be: not even root can write into that."""
    (tmp_path / "kernels").touch()


def test_there_is_a_folder_for_each_version_of_each_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = shutil.copytree(cache.HERE, tmp_path / "sources", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "HERE", sources)
    found = {cache.folder()}
    for source in cache.SOURCES:
        with (sources / f"{source}.py").open("a") as file:
            file.write("# more\n")
        cache.folder.cache_clear()
        found.add(cache.folder())

    assert len(found) == len(cache.SOURCES) + 1
    assert {folder.parent for folder in found} == {tmp_path / "kernels"}


def test_every_module_that_is_compiled_is_a_source() -> None:
    compiled = {
        path.stem
        for path in cache.HERE.glob("*.py")
        if "from models.engine.compiled import" in path.read_text(encoding="utf-8")
    }

    assert compiled | {"compiled", "program"} == set(cache.SOURCES)


def test_somebody_may_choose_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))

    assert cache.folder().parent == tmp_path / "chosen"


def test_where_nothing_can_be_written_there_are_temporary_files(tmp_path: Path) -> None:
    in_place_of_the_folder(tmp_path)

    place = cache.folder()

    assert place.parent == tmp_path / f"braid-kernels-{os.geteuid()}"
    assert place.parent.stat().st_mode & 0o777 == 0o700


def test_a_temporary_folder_that_others_can_write_is_not_trusted(tmp_path: Path) -> None:
    in_place_of_the_folder(tmp_path)
    foreign = tmp_path / f"braid-kernels-{os.geteuid()}"
    foreign.mkdir()
    foreign.chmod(0o777)

    place = cache.folder()

    assert not place.is_relative_to(foreign)
    assert place.stat().st_mode & 0o777 == 0o700


def test_the_kernel_compiles_where_its_folder_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", COMPILE_A_LITTLE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    place, kept = done.stdout.split()
    assert Path(place).parent == tmp_path / f"braid-kernels-{os.geteuid()}"
    assert kept == "1"


def test_what_lies_in_the_folder_is_compiled() -> None:
    assert not cache.is_compiled("search")
    (cache.folder() / "engine").mkdir()
    (cache.folder() / "engine" / "kernel.expand-292.py311.nbi").touch()

    assert cache.is_compiled("search")
    assert not cache.is_compiled("walks")


def test_after_a_search_the_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CACHE", ROOT / ".braid" / "kernels")
    fast.explore(SOUND)

    assert cache.is_compiled("search")
