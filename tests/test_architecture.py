"""The layers' rules that no linter knows."""

import ast
import sys
from pathlib import Path

import pytest

from proofs.contracts import ROOT

ALLOWED_IN_SPEC = {"networkx", "mmh3", "spec"}


@pytest.mark.parametrize("path", sorted((ROOT / "spec").rglob("*.py")), ids=lambda path: path.stem)
def test_spec_imports_only_the_standard_library_networkx_and_mmh3(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            imported.add((node.module or "").partition(".")[0])

    assert imported - set(sys.stdlib_module_names) <= ALLOWED_IN_SPEC


@pytest.mark.parametrize("name", ["utils", "common", "helpers", "core", "manager"])
def test_no_module_has_a_name_that_says_nothing(name: str) -> None:
    ours = (ROOT / layer for layer in ("spec", "models", "proofs", "impl", "cli", "tests"))

    assert [path for layer in ours for path in layer.rglob(f"{name}*")] == []


def test_nothing_depends_on_what_lies_outside_the_repository() -> None:
    for layer in ("spec", "models", "proofs", "impl", "cli"):
        for path in (ROOT / layer).rglob("*.py"):
            assert "../shared" not in path.read_text(), path
