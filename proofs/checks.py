"""Every check there is and the claims that it names: laws, contracts, worlds and tests; and the ledgers."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from models.laws import all_laws
from models.worlds import all_worlds, ids_of
from proofs.contracts import ROOT, all_contracts
from spec import holes
from spec.claims import CLAIM_ID, Ledger, parse
from spec.holes import Finding
from spec.refusals import Reason, Refused
from spec.world import Holds, World

LEDGER = ROOT / "spec" / "claims.toml"
FINDINGS = ROOT / "spec" / "findings"


def read_ledger(path: Path = LEDGER) -> Ledger:
    """The ledger as it stands in the repository."""
    return parse(path.read_text(encoding="utf-8"))


def read_findings(folder: Path = FINDINGS) -> tuple[Finding, ...]:
    """The findings as they stand in the repository, by id; each file has the name of its repair."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        finding = holes.parse(path.name, path.read_text(encoding="utf-8"))
        if finding.repair != path.stem:
            raise Refused(Reason.RECORD_MALFORMED, f"{path.name} is about the repair {finding.repair}")
        found.append(finding)
    return tuple(sorted(found, key=lambda finding: finding.id))


def all_checks() -> dict[str, tuple[str, ...]]:
    """The claims of each check, by the check's id."""
    checks = {law.check: law.claims for law in all_laws()}
    checks |= {contract.check: contract.claims for contract in all_contracts()}
    checks |= dict(worlds_with_claims(all_worlds()))
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        checks |= dict(tests_with_claims(path))
    return checks


def worlds_with_claims(worlds: Iterable[World]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """
    The worlds in which rules with claims are at work.

    One that is expected to be violated ends at the violation, so it says nothing of its other rules.
    """
    for world in worlds:
        claims = tuple(id for id in ids_of(world) if CLAIM_ID.fullmatch(id))
        if claims and isinstance(world.expect, Holds):
            yield f"world:{world.name}", claims


def tests_with_claims(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tests of one file that are marked with claims, found without importing it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            ids = tuple(
                str(argument.value)
                for mark in node.decorator_list
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.claims"
                for argument in mark.args
                if isinstance(argument, ast.Constant)
            )
            if ids:
                yield f"test:{path.relative_to(ROOT)}::{node.name}", ids


def citations() -> dict[str, tuple[str, ...]]:
    """Where the specification and the machines of worlds cite each claim, as `file:line`."""
    found: dict[str, list[str]] = {}
    for path in (*sorted((ROOT / "spec").rglob("*.py")), *sorted((ROOT / "models" / "worlds").glob("*.py"))):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for id in CLAIM_ID.findall(line):
                found.setdefault(id, []).append(f"{path.relative_to(ROOT)}:{number}")
    return {id: tuple(places) for id, places in found.items()}
