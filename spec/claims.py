"""
The claims ledger: every normative sentence of the seeds, what checks it, and how we read what they leave
open.

`spec/claims.toml` is written by people except for `checked_by`, which follows from the checks themselves:
each check names its claims, and `./braid claims --update` writes the other direction.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

from spec.refusals import Reason, Refused


class Kind(Enum):
    """What sort of sentence a claim is."""

    VALUE = "value"
    PROTOCOL = "protocol"
    GUARANTEE = "guarantee"
    SURFACE = "surface"
    DEFAULT = "default"
    SECURITY = "security"


class Sort(Enum):
    """What is wrong with a passage that needs a reading."""

    CONTRADICTION = "contradiction"
    AMBIGUITY = "ambiguity"
    SILENCE = "silence"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence that can be true or false of a design or an implementation."""

    id: str
    seeds: tuple[str, ...]
    section: str
    kind: Kind
    says: str
    checked_by: tuple[str, ...] = ()
    pending: str | None = None
    """The work that will check it, or the rest of it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage that contradicts another, is open, silent or unsafe, and what we take it to mean."""

    id: str
    sort: Sort
    claims: tuple[str, ...]
    problem: str
    reading: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All claims and readings, and the files that the seeds' numbers stand for."""

    seeds: tuple[tuple[str, str], ...]
    claims: tuple[Claim, ...]
    readings: tuple[Reading, ...]

    def claim(self, id: str) -> Claim:
        """The claim with that id."""
        for claim in self.claims:
            if claim.id == id:
                return claim
        raise Refused(Reason.CLAIM_UNKNOWN, id)


PENDING = ("implementation", "conformance")
"""The pieces of work that claims may still be waiting for."""

CLAIM_ID = re.compile(r"\b\d{3}-(?!READ-|HOLE-)[A-Z]+-\d{2,3}\b")
READING_ID = re.compile(r"\b\d{3}-READ-\d{2,3}\b")


def parse(text: str) -> Ledger:
    """
    The ledger in a TOML text; a malformed entry is refused with its id.

    Whatever is not known is refused too, because a rewrite would lose it.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise Refused(Reason.RECORD_MALFORMED, f"the ledger is not TOML: {broken}") from broken
    if set(document) != {"seeds", "claim", "reading"}:
        raise Refused(
            Reason.RECORD_MALFORMED, "the ledger has the tables seeds, claim and reading, and no other"
        )
    seeds = document["seeds"]
    if not isinstance(seeds, dict):
        raise Refused(Reason.RECORD_MALFORMED, "seeds is not a table")
    return Ledger(
        tuple((number, str(file)) for number, file in seeds.items()),
        tuple(map(_claim, _entries(document, "claim", Claim))),
        tuple(map(_reading, _entries(document, "reading", Reading))),
    )


def _entries(document: Mapping[str, Any], name: str, of: type[Claim] | type[Reading]) -> list[dict[str, Any]]:
    entries = document[name]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Refused(Reason.RECORD_MALFORMED, f"{name} is not a list of tables")
    known = {field.name for field in fields(of)}
    for entry in entries:
        if strange := set(entry) - known:
            raise Refused(Reason.RECORD_MALFORMED, f"{name} {entry.get('id', '?')}: what is {min(strange)}?")
    return entries


def format_ledger(ledger: Ledger) -> str:
    """The ledger in its one spelling, so that a change to it is only ever a change in meaning."""
    blocks = ["[seeds]\n" + "".join(f"{_text(number)} = {_text(file)}\n" for number, file in ledger.seeds)]
    for c in ledger.claims:
        pending = [] if c.pending is None else [f"pending = {_text(c.pending)}"]
        lines = [
            "[[claim]]",
            f"id = {_text(c.id)}",
            f"seeds = {_list(c.seeds)}",
            f"section = {_text(c.section)}",
            f"kind = {_text(c.kind.value)}",
            f"says = {_text(c.says)}",
            f"checked_by = {_list(c.checked_by)}",
            *pending,
        ]
        blocks.append("\n".join(lines) + "\n")
    for r in ledger.readings:
        blocks.append(
            f"[[reading]]\nid = {_text(r.id)}\nsort = {_text(r.sort.value)}\nclaims = {_list(r.claims)}\n"
            f"problem = {_text(r.problem)}\nreading = {_text(r.reading)}\n"
        )
    return "\n".join(blocks)


def linked(ledger: Ledger, checks: Mapping[str, tuple[str, ...]]) -> Ledger:
    """
    The ledger with `checked_by` as the checks say; `checks` maps each check to the claims that it names.
    """
    found: dict[str, list[str]] = {}
    for check in sorted(checks):
        for id in checks[check]:
            found.setdefault(id, []).append(check)
    return replace(
        ledger, claims=tuple(replace(c, checked_by=tuple(found.get(c.id, ()))) for c in ledger.claims)
    )


def flaws(ledger: Ledger, checks: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Everything that is wrong with the ledger, or between it and the checks."""
    ids = [c.id for c in ledger.claims] + [r.id for r in ledger.readings]
    known = {c.id for c in ledger.claims}
    numbers = {number for number, _ in ledger.seeds}

    for id in sorted({i for i in ids if ids.count(i) > 1}):
        yield f"{id} is defined twice"
    for c in ledger.claims:
        if not CLAIM_ID.fullmatch(c.id):
            yield f"{c.id} is not a claim id"
        if not c.seeds or not numbers.issuperset(c.seeds):
            yield f"{c.id} names the seeds {list(c.seeds)}, known are {sorted(numbers)}"
        if not c.checked_by and c.pending is None:
            yield f"{c.id} has no check, and nothing is pending"
        if c.pending is not None and c.pending not in PENDING:
            yield f"{c.id} waits for {c.pending!r}, which is none of {list(PENDING)}"
        for check in c.checked_by:
            if c.id not in checks.get(check, ()):
                yield f"{c.id} is said to be checked by {check}, which " + (
                    "does not name it" if check in checks else "does not exist"
                )
    for r in ledger.readings:
        if not READING_ID.fullmatch(r.id):
            yield f"{r.id} is not the id of a reading"
        for id in r.claims:
            if id not in known:
                yield f"{r.id} is about {id}, which does not exist"
    for check, named in checks.items():
        for id in named:
            if id not in known:
                yield f"{check} checks {id}, which does not exist"
            elif check not in ledger.claim(id).checked_by:
                yield f"{check} checks {id}, but the ledger does not say so: run ./braid claims --update"


def _claim(entry: Mapping[str, Any]) -> Claim:
    try:
        return Claim(
            str(entry["id"]),
            tuple(entry["seeds"]),
            str(entry["section"]),
            Kind(entry["kind"]),
            str(entry["says"]),
            tuple(entry.get("checked_by", ())),
            entry.get("pending"),
        )
    except (KeyError, ValueError, TypeError) as broken:
        raise Refused(Reason.RECORD_MALFORMED, f"claim {entry.get('id', '?')}: {broken}") from broken


def _reading(entry: Mapping[str, Any]) -> Reading:
    try:
        return Reading(
            str(entry["id"]),
            Sort(entry["sort"]),
            tuple(entry["claims"]),
            str(entry["problem"]),
            str(entry["reading"]),
        )
    except (KeyError, ValueError, TypeError) as broken:
        raise Refused(Reason.RECORD_MALFORMED, f"reading {entry.get('id', '?')}: {broken}") from broken


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(texts: tuple[str, ...]) -> str:
    line = f"[{', '.join(map(_text, texts))}]"
    if len(line) <= 90:
        return line
    return "[\n" + "".join(f"    {_text(t)},\n" for t in texts) + "]"
