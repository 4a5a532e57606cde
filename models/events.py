"""
What happens while checks run, as one stream of events: everybody who reports anything listens to it.

The terminal, JSON, NDJSON, JUnit and SARIF are all made from these five events, so they cannot disagree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from models.engine.result import Standing
from models.traces.story import Story
from models.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """A check as its reports know it. Checks of one batch are run together, in one process."""

    id: str
    area: str
    batch: str
    says: str
    claims: tuple[str, ...]
    place: tuple[str, int] = ("", 0)
    """File and line where it is written."""

    @property
    def name(self) -> str:
        return self.id.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Started:
    """Somebody begins to run these checks, with these options."""

    checks: tuple[Check, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progressed:
    """An exploration has come this far."""

    check: Check
    standing: Standing
    seconds: float
    total: int | None = None
    """How many states there are, where a world has pinned it."""


@dataclass(frozen=True, slots=True)
class Violated:
    """A property of a world is broken, and this is how."""

    check: Check
    story: Story
    expected: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """A check has its verdict."""

    check: Check
    outcome: Outcome
    expected: bool
    """Whether the verdict is the one that was expected; only then all is well."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    misuse: bool = False
    """There is no verdict, because the machine language was misused."""

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        value = self.outcome.verdict.value
        if self.outcome.verdict is Verdict.HOLDS:
            return value if self.expected else f"{value}, but not as expected"
        return f"{value}, as expected" if self.expected else value


@dataclass(frozen=True, slots=True)
class Finished:
    """All checks have their verdicts."""

    exit: int
    seconds: float


Event = Started | Progressed | Violated | Decided | Finished
Listener = Callable[[Event], None]


@dataclass(slots=True)
class Record:
    """A listener that keeps what it hears, for those who write their report at the end."""

    started: Started = field(default_factory=lambda: Started((), {}))
    decided: list[Decided] = field(default_factory=list)
    violated: list[Violated] = field(default_factory=list)
    finished: Finished = field(default_factory=lambda: Finished(0, 0.0))

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                self.started = event
            case Decided():
                self.decided.append(event)
            case Violated():
                self.violated.append(event)
            case Finished():
                self.finished = event

    def stories(self, check: Check) -> list[Story]:
        """The traces that were found for a check."""
        return [violated.story for violated in self.violated if violated.check is check]

    def exit_code(self) -> int:
        """0 all as expected, 1 violated or surprising, 2 misused, 3 undecided or nothing asked."""
        if any(one.misuse for one in self.decided):
            return 2
        surprising = {one.outcome.verdict for one in self.decided if not one.expected}
        if surprising & {Verdict.VIOLATED, Verdict.HOLDS}:
            return 1
        return 3 if surprising or not self.decided else 0


def as_plain(event: Event) -> dict[str, Any]:
    """An event as a JSON object."""
    match event:
        case Started(checks, options):
            return {"event": "started", "checks": [check.id for check in checks], "options": dict(options)}
        case Progressed(check, standing, seconds, total):
            told = {name: getattr(standing, name) for name in Standing.__dataclass_fields__}
            return {
                "event": "progress",
                "check": check.id,
                **told,
                "seconds": round(seconds, 3),
                "total": total,
            }
        case Violated(check, story, expected):
            return {"event": "violation", "check": check.id, "expected": expected, **story_as_plain(story)}
        case Decided():
            return {"event": "verdict", **decided_as_plain(event)}
        case Finished(exit, seconds):
            return {"event": "finished", "exit": exit, "seconds": round(seconds, 3)}


def decided_as_plain(decided: Decided) -> dict[str, Any]:
    """A verdict with what it rests on."""
    check, outcome = decided.check, decided.outcome
    return {
        "check": check.id,
        "area": check.area,
        "says": check.says,
        "claims": check.claims,
        "verdict": outcome.verdict.value,
        "expected": decided.expected,
        "basis": outcome.basis,
        "seconds": round(outcome.seconds, 3),
        "explanation": outcome.explanation,
        **decided.figures,
    }


def story_as_plain(story: Story) -> dict[str, Any]:
    """A trace with its steps, each with what it changed."""
    kept = story.kept
    return {
        "trace": kept.id,
        "world": kept.world,
        "design": kept.design,
        "bounds": dict(kept.bounds),
        "property": kept.property,
        "label": kept.label,
        "ids": kept.ids,
        "sentences": kept.sentences,
        "loop": kept.trace.loop,
        "steps": [
            {
                "number": step.number,
                "actor": step.actor,
                "action": step.action,
                "move": move.label,
                "decisions": move.decisions,
                "changes": {c.variable: [c.before, c.after] for c in step.changes},
            }
            for step, move in zip(story.steps, kept.trace.moves, strict=True)
        ],
    }


def simple(value: object) -> object:
    """What JSON does not know: enumerations by their values, everything else by its text."""
    return value.value if isinstance(value, Enum) else str(value)
