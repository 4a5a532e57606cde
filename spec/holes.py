"""
The findings ledger: every hole in the documents, what goes wrong through it, and the repair that closes it.

Each is a file `spec/findings/<repair>.toml`, named after the field of `spec/design.py` that is its repair. A
world shows it: it holds under `HARDENED`, and is violated as soon as that one field is as the documents have
it.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, get_type_hints

from spec.claims import Ledger
from spec.design import AS_WRITTEN, HARDENED, Design
from spec.refusals import Reason, Refused


class Severity(Enum):
    """What somebody who runs the topic would suffer, the worst first."""

    LOSS = "loss"
    DIRTY = "dirty"
    TWICE = "twice"
    ORDER = "order"
    RESURRECTION = "resurrection"
    TWO_OWNERS = "two owners"
    STUCK = "stuck"
    EVICTION = "eviction"
    STALE = "stale"
    CHURN = "churn"
    LEAK = "leak"

    @property
    def means(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Severity.LOSS: "an acknowledged message never reaches a subscription",
    Severity.DIRTY: "somebody receives what was never committed",
    Severity.TWICE: "what a committed transaction consumed is consumed again",
    Severity.ORDER: "messages of a key arrive in another order than they were sent",
    Severity.RESURRECTION: "what was deleted comes back",
    Severity.TWO_OWNERS: "two act where only one may",
    Severity.STUCK: "something that must go on never does",
    Severity.EVICTION: "somebody who is alive is taken for dead",
    Severity.STALE: "somebody keeps to what is no longer true",
    Severity.CHURN: "changes are made and undone without end",
    Severity.LEAK: "something that nobody needs is kept for ever",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A hole: what the text says, how it goes wrong, and the smallest repair."""

    id: str
    repair: str
    """The field of the design that closes it."""
    title: str
    seed: str
    claims: tuple[str, ...]
    """Those that the text states, and that break or cause it."""
    world: str
    """Holds with the repair."""
    property: str
    """What breaks without it."""
    severity: Severity
    says: str
    wrong: str
    mended: str
    black_box: bool
    """Whether a test could show it that sees a running broker only from outside."""
    how: str
    """How it could, or why it cannot."""

    def broken(self) -> str:
        """The world that is violated without the repair."""
        return f"{self.world}-without-{self.repair.replace('_', '-')}"


FINDING_ID = re.compile(r"(468|473|475|483)-HOLE-\d{2}")


def parse(file: str, text: str) -> Finding:
    """
    The finding in a TOML text.

    What is missing, unknown or of another type is refused with the file's name.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise Refused(Reason.RECORD_MALFORMED, f"{file} is not TOML: {broken}") from broken

    keys = [field.name for field in fields(Finding)]
    for key in keys:
        if key not in document:
            raise Refused(Reason.RECORD_MALFORMED, f"{file} does not say {key}")
    for key in document:
        if key not in keys:
            raise Refused(Reason.RECORD_MALFORMED, f"{file}: what is {key}?")
    return Finding(**{key: _value(file, key, document[key]) for key in keys})


def _value(file: str, key: str, value: Any) -> Any:
    kind = get_type_hints(Finding)[key]
    if kind is Severity:
        if value not in [severity.value for severity in Severity]:
            known = ", ".join(severity.value for severity in Severity)
            raise Refused(Reason.RECORD_MALFORMED, f"{file}: severity is one of {known}, not {value!r}")
        return Severity(value)
    if kind is str and _is_text(value):
        return value.strip()
    if kind is bool and isinstance(value, bool):
        return value
    if kind == tuple[str, ...] and isinstance(value, list) and value and all(map(_is_text, value)):
        return tuple(value)
    raise Refused(Reason.RECORD_MALFORMED, f"{file}: {key} cannot be {value!r}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def repairs() -> tuple[str, ...]:
    """The decisions that `AS_WRITTEN` and `HARDENED` take differently: each is the repair of a finding."""
    names = (field.name for field in fields(Design))
    return tuple(name for name in names if getattr(AS_WRITTEN, name) != getattr(HARDENED, name))


def unexplained(findings: Iterable[Finding]) -> Iterator[str]:
    """The repairs that no finding is about."""
    found = {finding.repair for finding in findings}
    return (name for name in repairs() if name not in found)


def flaws(findings: Iterable[Finding], ledger: Ledger) -> Iterator[str]:
    """What is wrong with findings, or between them, the claims and the designs."""
    claims = {claim.id: claim for claim in ledger.claims}
    taken: dict[str, str] = {}
    for one in findings:
        if not FINDING_ID.fullmatch(one.id):
            yield f"{one.id} is not the id of a finding, as 468-HOLE-07 is"
        if one.repair not in repairs():
            yield f"{one.id} is mended by {one.repair}, in which the designs do not differ"
        for key in (one.id, one.repair):
            if taken.setdefault(key, one.id + one.repair) != one.id + one.repair:
                yield f"there are two findings {key}"
        if one.seed not in dict(ledger.seeds):
            yield f"{one.id} is about seed {one.seed}, which does not exist"
        for id in one.claims:
            if id not in claims:
                yield f"{one.id} is about {id}, which does not exist"
