"""`./braid check`: all laws and contracts over all cores, and a table of verdicts."""

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from rich.table import Table
from rich.text import Text

from cli.console import COLOURS, ROOT, Progress, emit, error, out
from models.laws import all_laws
from models.laws.law import run as run_law
from models.verdict import Outcome, Verdict, exit_code
from proofs.contracts import all_contracts, canary
from proofs.contracts import run as run_contracts

MEMORY = ROOT / ".braid" / "examples"
CANARY = "contract:canary"


@dataclass(frozen=True, slots=True)
class Check:
    """A check as the command line knows it. Checks of one batch are run together, in one process."""

    id: str
    area: str
    batch: str
    says: str
    claims: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.id.partition(":")[2]


class UnknownName(Exception):
    """The user named something that does not exist."""


def check(names: list[str], examples: int, seed: int, each: bool, as_json: bool) -> int:
    """Run the named checks, or all, and say what came out."""
    try:
        wanted = select(names, list(all_checks()))
    except UnknownName as unknown:
        error(*unknown.args)
        return 2

    if not as_json:
        out.print(f"{len(wanted)} checks, {examples} examples per law, seed {seed}")
    outcomes = run_all(wanted, examples, seed)
    code = exit_code(outcomes.values())
    if as_json:
        emit({"exit": code, "seed": seed, "examples": examples, "checks": rows(wanted, outcomes)})
        return code

    out.print(table_of_checks(wanted, outcomes) if each else table_of_areas(wanted, outcomes))
    for item in wanted:
        if outcomes[item.id].verdict is not Verdict.HOLDS:
            report(item, outcomes[item.id], f"--examples {examples} --seed {seed}")
    out.print("\n" + ", ".join(counts(outcomes.values())))
    return code


def all_checks() -> Iterator[Check]:
    """Everything that this command can check."""
    for law in all_laws():
        yield Check(law.check, law.area, law.check, law.says, law.claims)
    for contract in all_contracts():
        yield Check(contract.check, "contracts", contract.module, contract.says, contract.claims)
    yield Check(CANARY, "contracts", CANARY, "CrossHair finds the bug that was planted for it.", ())


def select(names: list[str], checks: list[Check]) -> list[Check]:
    """The checks that are meant: by name, by area, or all of them."""
    known = {check.name for check in checks} | {check.area for check in checks}
    for name in names:
        if name not in known:
            areas = ", ".join(dict.fromkeys(check.area for check in checks))
            near = sorted(k for k in known if name and name in k)[:3] or difflib.get_close_matches(
                name, known
            )
            proposal = f"did you mean {' or '.join(near)}?" if near else f"areas: {areas}"
            raise UnknownName(f"there is no check or area called {name!r}", proposal)
    return [check for check in checks if not names or {check.name, check.area} & set(names)]


def run_all(checks: list[Check], examples: int, seed: int) -> dict[str, Outcome]:
    """
    Run checks over all cores.

    A process that dies takes no verdict with it: what it ran is run again, alone.
    """
    batches: dict[str, list[str]] = {}
    for item in checks:
        batches.setdefault(item.batch, []).append(item.id)
    outcomes: dict[str, Outcome] = {}
    progress = Progress(len(checks), "checks")

    def attempt(some: Iterable[list[str]], processes: int | None) -> None:
        with ProcessPoolExecutor(processes, get_context("fork")) as pool:
            for future in as_completed([pool.submit(run_batch, batch, examples, seed) for batch in some]):
                if not isinstance(future.exception(), BrokenProcessPool):
                    for outcome in future.result():
                        outcomes[outcome.check] = outcome
                        progress.advance(outcome.check)

    attempt(batches.values(), os.cpu_count())
    for batch in batches.values():
        if batch[0] not in outcomes:
            attempt([batch], 1)
        for id in batch:
            lost = Outcome(id, Verdict.UNKNOWN, "", 0, "the process that ran it died, twice")
            outcomes.setdefault(id, lost)
    progress.close()
    return outcomes


def run_batch(ids: list[str], examples: int, seed: int) -> list[Outcome]:
    """Run some checks in this process."""
    if ids == [CANARY]:
        return [canary()]
    laws = [run_law(law, examples, seed, MEMORY) for law in all_laws() if law.check in ids]
    return laws + run_contracts(contract for contract in all_contracts() if contract.check in ids)


def table_of_areas(checks: list[Check], outcomes: dict[str, Outcome]) -> Table:
    """A row for each area."""
    table = _table("area", "checks", "verdict", "seconds")
    for area in dict.fromkeys(check.area for check in checks):
        found = [outcomes[check.id] for check in checks if check.area == area]
        table.add_row(area, str(len(found)), _verdicts(found), f"{sum(o.seconds for o in found):.1f}")
    return table


def table_of_checks(checks: list[Check], outcomes: dict[str, Outcome]) -> Table:
    """A row for each check."""
    table = _table("verdict", "area", "check", "basis", "says")
    for item in checks:
        outcome = outcomes[item.id]
        table.add_row(_verdicts([outcome]), item.area, item.name, outcome.basis, item.says)
    return table


def rows(checks: list[Check], outcomes: dict[str, Outcome]) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "check": item.id,
            "area": item.area,
            "says": item.says,
            "claims": item.claims,
            "verdict": outcomes[item.id].verdict.value,
            "basis": outcomes[item.id].basis,
            "seconds": round(outcomes[item.id].seconds, 3),
            "explanation": outcomes[item.id].explanation,
        }
        for item in checks
    ]


def report(item: Check, outcome: Outcome, options: str) -> None:
    """What a person needs who has to understand a check that does not hold."""
    verdict = outcome.verdict.value
    out.print(f"\n[{COLOURS[verdict]}]{verdict.upper()}[/]  {item.name}  {' '.join(item.claims)}")
    out.print(f"  {item.says}", markup=False)
    for line in outcome.explanation.strip().splitlines():
        out.print(f"    {line}", markup=False)
    out.print(f"  replay   ./braid check {item.name} {options}", markup=False)


def counts(outcomes: Iterable[Outcome]) -> list[str]:
    """How many of each verdict, the good ones first."""
    found = Counter(outcome.verdict for outcome in outcomes)
    return [f"{found[verdict]} {verdict.value}" for verdict in Verdict if found[verdict]]


def _verdicts(found: list[Outcome]) -> Text:
    kinds = [verdict.value for verdict in Verdict if any(o.verdict is verdict for o in found)]
    text = kinds[0] if len(kinds) == 1 else ", ".join(counts(found))
    return Text(text, style=COLOURS[kinds[-1]])


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="right" if column in ("checks", "seconds") else "left")
    return table
