"""Laws and contracts, run over all cores."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from cli.console import ROOT
from models.events import Check
from models.laws import all_laws
from models.laws.law import run as run_law
from models.traces.story import place_of
from models.verdict import Outcome, Verdict
from proofs.contracts import all_contracts, canary
from proofs.contracts import run as run_contracts

MEMORY = ROOT / ".braid" / "examples"
CANARY = "contract:canary"


def all_checks() -> Iterator[Check]:
    """Every law and every contract."""
    for law in all_laws():
        yield Check(law.check, law.area, law.check, law.says, law.claims, place_of(law.body))
    for contract in all_contracts():
        place = contract.module.replace(".", "/") + ".py", contract.first_line
        yield Check(contract.check, "contracts", contract.module, contract.says, contract.claims, place)
    yield Check(
        CANARY,
        "contracts",
        CANARY,
        "CrossHair finds the bug that was planted for it.",
        (),
        ("proofs/canary.py", 1),
    )


def run_all(
    checks: list[Check], examples: int, seed: int, tell: Callable[[Outcome], None] = lambda outcome: None
) -> dict[str, Outcome]:
    """
    Run checks over all cores, and tell each outcome when it is there.

    A process that dies takes no verdict with it: what it ran is run again, alone.
    """
    batches: dict[str, list[str]] = {}
    for item in checks:
        batches.setdefault(item.batch, []).append(item.id)
    outcomes: dict[str, Outcome] = {}

    def note(outcome: Outcome) -> None:
        outcomes[outcome.check] = outcome
        tell(outcome)

    def attempt(some: Iterable[list[str]], processes: int | None) -> None:
        with ProcessPoolExecutor(processes, get_context("fork")) as pool:
            for future in as_completed([pool.submit(run_batch, batch, examples, seed) for batch in some]):
                if not isinstance(future.exception(), BrokenProcessPool):
                    for outcome in future.result():
                        note(outcome)

    attempt(batches.values(), os.cpu_count())
    for batch in batches.values():
        if batch[0] not in outcomes:
            attempt([batch], 1)
        for id in batch:
            if id not in outcomes:
                note(Outcome(id, Verdict.UNKNOWN, "", 0, "the process that ran it died, twice"))
    return outcomes


def run_batch(ids: list[str], examples: int, seed: int) -> list[Outcome]:
    """Run some checks in this process."""
    if ids == [CANARY]:
        return [canary()]
    laws = [run_law(law, examples, seed, MEMORY) for law in all_laws() if law.check in ids]
    return laws + run_contracts(contract for contract in all_contracts() if contract.check in ids)
