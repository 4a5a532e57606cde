"""`./braid claims`: the ledger as a matrix, claim by claim, or brought up to date with the checks."""

import json
from collections import Counter
from dataclasses import asdict
from enum import Enum

from rich.table import Table

from cli.console import error, out
from proofs.checks import LEDGER, all_checks, citations, read_ledger
from spec.claims import Claim, Ledger, Reading, flaws, format_ledger, linked
from spec.refusals import Refused


def claims(ids: list[str], update: bool, only_open: bool, readings: bool, as_json: bool) -> int:
    """Show what is asked for; the exit code is 1 when ledger and checks disagree."""
    try:
        ledger = read_ledger()
    except (OSError, Refused) as broken:
        error(f"the ledger cannot be read: {broken}", f"mend {LEDGER}")
        return 2
    if update:
        ledger = linked(ledger, all_checks())
        LEDGER.write_text(format_ledger(ledger), encoding="utf-8")
    problems = list(flaws(ledger, all_checks()))

    if as_json:
        print(
            json.dumps(
                {"claims": ledger.claims, "readings": ledger.readings, "flaws": problems}, default=_plain
            )
        )
        return 1 if problems else 0
    if ids:
        return show(ledger, ids)
    if readings:
        for reading in ledger.readings:
            show_reading(reading)
    elif only_open:
        for claim in ledger.claims:
            if claim.pending is not None:
                out.print(f"{claim.id:<16} {claim.pending:<15} {claim.says}", markup=False)
    else:
        out.print(matrix(ledger))
        out.print(summary(ledger))
    for problem in problems:
        out.print(f"FLAW  {problem}", markup=False, style="red")
    return 1 if problems else 0


def show(ledger: Ledger, ids: list[str]) -> int:
    """Print the claims and readings whose id starts with one of these."""
    prefixes = tuple(id.upper() for id in ids)
    places = citations()
    found_claims = [claim for claim in ledger.claims if claim.id.startswith(prefixes)]
    found_readings = [reading for reading in ledger.readings if reading.id.startswith(prefixes)]
    if not found_claims and not found_readings:
        error(f"no claim or reading starts with {' or '.join(ids)}", "./braid claims shows the areas")
        return 2

    for claim in found_claims:
        show_claim(claim, places.get(claim.id, ()), [r.id for r in ledger.readings if claim.id in r.claims])
    for reading in found_readings:
        show_reading(reading)
    return 0


def show_claim(claim: Claim, places: tuple[str, ...], readings: list[str]) -> None:
    """A claim with everything that hangs on it."""
    out.print(f"[bold]{claim.id}[/]  {claim.kind.value}, seed {', '.join(claim.seeds)}: {claim.section}")
    out.print(f"  {claim.says}", markup=False)
    lines = {
        "rule": places,
        "check": claim.checked_by,
        "waits for": (claim.pending,) if claim.pending else (),
        "reading": tuple(readings),
    }
    for title, entries in lines.items():
        for entry in entries:
            out.print(f"  {title:<10} {entry}", markup=False)


def show_reading(reading: Reading) -> None:
    """A reading: what is wrong with the text, and what we take it to mean."""
    out.print(f"[bold]{reading.id}[/]  {reading.sort.value}, about {', '.join(reading.claims)}")
    out.print(f"  {reading.problem}", markup=False)
    out.print(f"  We read: {reading.reading}\n", markup=False)


def matrix(ledger: Ledger) -> Table:
    """By seed: how many claims there are, how many are checked, and what the others wait for."""
    states = ["checked", *sorted({c.pending for c in ledger.claims if c.pending and not c.checked_by})]
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("seed", "file", "claims", *states, "also open"):
        table.add_column(column, justify="left" if column in ("seed", "file") else "right")

    for number, file in ledger.seeds:
        own = [c for c in ledger.claims if number in c.seeds]
        waiting = [str(sum(c.pending == s and not c.checked_by for c in own)) for s in states[1:]]
        checked = [c for c in own if c.checked_by]
        partly = sum(c.pending is not None for c in checked)
        table.add_row(number, file, str(len(own)), str(len(checked)), *waiting, str(partly))
    return table


def summary(ledger: Ledger) -> str:
    """The whole ledger in two lines."""
    total, checked = len(ledger.claims), sum(bool(c.checked_by) for c in ledger.claims)
    sorts = Counter(reading.sort.value for reading in ledger.readings)
    return (
        f"\n{total} claims, {checked} checked, {total - checked} waiting for later work"
        f"\n{len(ledger.readings)} readings: " + ", ".join(f"{sorts[s]} {s}" for s in sorted(sorts))
    )


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else asdict(value)  # type: ignore[call-overload]
