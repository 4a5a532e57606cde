"""`./braid claims`: the ledger as a matrix, claim by claim, or brought up to date with the checks."""

from collections import Counter
from dataclasses import replace

from rich.table import Table

from cli.console import emit, error, out
from proofs.checks import LEDGER, all_checks, citations, read_ledger
from spec.claims import Claim, Ledger, Reading, flaws, format_ledger, linked, parse
from spec.immutable import Misuse
from spec.refusals import Refused


def claims(ids: list[str], update: bool, only_open: bool, readings: bool, as_json: bool) -> int:
    """Show what is asked for; the exit code is 1 when ledger and checks disagree."""
    try:
        checks = all_checks()
    except Misuse as broken:
        error("not every check can be read, so nothing was changed", f"mend it there: {broken}")
        return 2
    try:
        ledger = read_ledger()
        if update:
            ledger = linked(ledger, checks)
            write(ledger)
    except (OSError, UnicodeDecodeError, Refused) as broken:
        error(f"the ledger cannot be read or written: {broken}", f"mend {LEDGER}; nothing was changed")
        return 2
    chosen = choose(ledger, ids)
    if chosen is None:
        return 2

    problems = list(flaws(ledger, checks))
    code = 1 if problems else 0
    if as_json:
        emit({"claims": chosen.claims, "readings": chosen.readings, "flaws": problems})
        return code
    if ids:
        show(chosen, ledger)
    elif readings:
        show(Ledger((), (), ledger.readings), ledger)
    elif only_open:
        for claim in ledger.claims:
            if claim.pending is not None:
                out.print(f"{claim.id:<16} {claim.pending:<15} {claim.says}", markup=False)
    else:
        out.print(matrix(ledger))
        out.print(summary(ledger))
    for problem in problems:
        out.print(f"FLAW  {problem}", markup=False, style="red")
    return code


def write(ledger: Ledger) -> None:
    """Replace the file as a whole, and only by a text that says the same."""
    text = format_ledger(ledger)
    if parse(text) != ledger:
        raise AssertionError("the ledger would not read back as it is")
    draft = LEDGER.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(LEDGER)


def choose(ledger: Ledger, ids: list[str]) -> Ledger | None:
    """The part of the ledger whose ids start with one of these; each must start something."""
    prefixes = tuple(id.upper() for id in ids)
    known = [c.id for c in ledger.claims] + [r.id for r in ledger.readings]
    for prefix in prefixes:
        if not prefix or not any(id.startswith(prefix) for id in known):
            areas = dict.fromkeys(id.rpartition("-")[0] for id in known)
            error(f"no claim or reading starts with {prefix!r}", "areas: " + " ".join(areas))
            return None
    if not ids:
        return ledger
    return replace(
        ledger,
        claims=tuple(c for c in ledger.claims if c.id.startswith(prefixes)),
        readings=tuple(r for r in ledger.readings if r.id.startswith(prefixes)),
    )


def show(chosen: Ledger, ledger: Ledger) -> None:
    """Print claims and readings in full."""
    places = citations()
    for claim in chosen.claims:
        show_claim(claim, places.get(claim.id, ()), [r.id for r in ledger.readings if claim.id in r.claims])
    for reading in chosen.readings:
        show_reading(reading)


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
