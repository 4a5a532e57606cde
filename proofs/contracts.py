"""
Contracts: the `pre:` and `post:` lines of the specification's leaf functions, confirmed by CrossHair.

Silence is not confirmation: a contract holds only when CrossHair says of each postcondition that it is
confirmed over all paths.
"""

import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from models.verdict import Outcome, Verdict
from spec.claims import CLAIM_ID

ROOT = Path(__file__).resolve().parent.parent
SECONDS_PER_CONDITION = 30
CONFIRMED = "Confirmed over all paths."
EMPTY = "Unable to meet precondition."

_MESSAGE = re.compile(r".*?:(\d+): (error|warning|info): (.*)")


@dataclass(frozen=True, slots=True)
class Contract:
    """A function with postconditions, and where it stands."""

    function: str
    first_line: int
    last_line: int
    postconditions: int
    claims: tuple[str, ...]
    says: str

    @property
    def check(self) -> str:
        return f"contract:{self.function}"

    @property
    def module(self) -> str:
        return self.function.rpartition(".")[0]


def contracts_of(module: str) -> tuple[Contract, ...]:
    """The contracts that stand in one module, found without importing it."""
    source = ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    found = []
    for node in ast.parse(source).body:
        doc = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or doc is None:
            continue
        postconditions = len(re.findall(r"^post:", doc, re.MULTILINE))
        if postconditions:
            says = doc.partition("\n")[0]
            claims = tuple(CLAIM_ID.findall(doc))
            name = f"{module}.{node.name}"
            last = node.end_lineno or node.lineno
            found.append(Contract(name, node.lineno, last, postconditions, claims, says))
    return tuple(found)


def all_contracts() -> tuple[Contract, ...]:
    """Every contract of the specification."""
    modules = sorted(path.stem for path in (ROOT / "spec").glob("*.py"))
    return tuple(contract for name in modules for contract in contracts_of(f"spec.{name}"))


def run(contracts: Iterable[Contract]) -> list[Outcome]:
    """Ask CrossHair about some contracts, module by module."""
    by_module: dict[str, list[Contract]] = {}
    for contract in contracts:
        by_module.setdefault(contract.module, []).append(contract)
    return [outcome for module in by_module.values() for outcome in _run_module(module)]


def canary() -> Outcome:
    """CrossHair must find the bug that was planted for it; if it does not, its confirmations mean nothing."""
    [contract] = contracts_of("proofs.canary")
    [outcome] = _run_module([contract])
    found = outcome.verdict is Verdict.VIOLATED
    return Outcome(
        "contract:canary",
        Verdict.HOLDS if found else Verdict.VIOLATED,
        "the planted bug was found" if found else "the planted bug was not found",
        outcome.seconds,
        "" if found else f"CrossHair said: {outcome.verdict.value} {outcome.explanation}",
    )


def _run_module(contracts: list[Contract]) -> list[Outcome]:
    started = time.perf_counter()
    command = [sys.executable, "-m", "crosshair", "check", "--report_all", "--analysis_kind=PEP316"]
    command += [f"--per_condition_timeout={SECONDS_PER_CONDITION}", *(c.function for c in contracts)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = (time.perf_counter() - started) / len(contracts)
    return [judge(c, done.stdout, done.stderr, seconds) for c in contracts]


def judge(contract: Contract, said: str, complained: str, seconds: float) -> Outcome:
    """What CrossHair's lines mean for one contract."""
    messages = [found.groups() for line in said.splitlines() if (found := _MESSAGE.fullmatch(line))]
    own = [
        (kind, text)
        for line, kind, text in messages
        if contract.first_line <= int(line) <= contract.last_line
    ]
    errors = [text for kind, text in own if kind == "error"]
    confirmed = sum(text == CONFIRMED for _, text in own)

    basis = f"{confirmed} of {contract.postconditions} postconditions confirmed over all paths"
    if errors:
        return Outcome(contract.check, Verdict.VIOLATED, basis, seconds, "\n".join(errors))
    if confirmed == contract.postconditions:
        return Outcome(contract.check, Verdict.HOLDS, basis, seconds)
    if any(text == EMPTY for _, text in own):
        return Outcome(contract.check, Verdict.VACUOUS, basis, seconds, "nothing meets the precondition")
    explanation = "\n".join(text for _, text in own if text != CONFIRMED) or complained.strip()[-2000:]
    return Outcome(contract.check, Verdict.UNKNOWN, basis, seconds, explanation or "CrossHair said nothing")
