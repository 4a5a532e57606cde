"""What a check says, and the exit code that follows."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one check: its verdict, what it rests on, and for anything but `holds` an explanation."""

    check: str
    verdict: Verdict
    basis: str
    seconds: float
    explanation: str = ""


def exit_code(outcomes: Iterable[Outcome]) -> int:
    """
    0 when everything holds, 1 when something is violated, 3 when something is left undecided or nothing
    was asked.
    """
    verdicts = {outcome.verdict for outcome in outcomes}
    if Verdict.VIOLATED in verdicts:
        return 1
    return 0 if verdicts == {Verdict.HOLDS} else 3
