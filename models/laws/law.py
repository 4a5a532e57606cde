"""
Laws: what is true of all values of a kind, checked on generated ones.

A law names its claims, draws its values from Hypothesis strategies, and lists the situations that must come
up at least once (`sometimes`), so that nothing holds merely because nothing interesting was generated.
"""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from models.verdict import Outcome, Verdict

EXAMPLES = 100
ATTEMPTS = 10
"""How many times as many examples a situation that must come up is looked for."""

Body = Callable[..., None]


@dataclass(frozen=True)
class Law:
    """A universal statement about values, and how to try it."""

    name: str
    area: str
    claims: tuple[str, ...]
    says: str
    body: Body
    strategies: dict[str, SearchStrategy[object]]
    sometimes: tuple[str, ...]

    @property
    def check(self) -> str:
        return f"law:{self.name}"


LAWS: dict[str, Law] = {}
_seen: set[str] = set()


def law(
    *claims: str, sometimes: tuple[str, ...] = (), **strategies: SearchStrategy[object]
) -> Callable[[Body], Body]:
    """Register a function as a law: it takes the drawn values by name and fails by assertion."""

    def register(body: Body) -> Body:
        name, area = body.__name__, body.__module__.rpartition(".")[2]
        if name in LAWS:
            raise ValueError(f"there are two laws called {name}")
        says = (body.__doc__ or "").strip().partition("\n")[0]
        LAWS[name] = Law(name, area, claims, says, body, strategies, sometimes)
        return body

    return register


def seen(situation: str, when: bool = True) -> None:
    """Note that a situation listed in `sometimes` has come up."""
    if when:
        _seen.add(situation)


def run(law: Law, examples: int = EXAMPLES, chosen_seed: int = 0, memory: Path | None = None) -> Outcome:
    """
    Try a law on generated values; with `memory`, values that once broke it are tried first.

    A situation that has not come up yet is looked for with further seeds before the law is called vacuous.
    """
    started = time.perf_counter()
    tried = 0
    _seen.clear()

    def body(**values: object) -> None:
        nonlocal tried
        tried += 1
        law.body(**values)

    def missing() -> list[str]:
        return [situation for situation in law.sometimes if situation not in _seen]

    def outcome(verdict: Verdict, explanation: str = "") -> Outcome:
        return Outcome(law.check, verdict, f"{tried} examples", time.perf_counter() - started, explanation)

    body.__name__ = body.__qualname__ = law.name
    try:
        for attempt in range(ATTEMPTS):
            if attempt == 0 or missing():
                _trial(law, body, examples, chosen_seed + attempt, memory)()
    except HypothesisException as gave_up:
        return outcome(Verdict.UNKNOWN, str(gave_up))
    except Exception as breach:
        return outcome(Verdict.VIOLATED, explain(breach))

    if missing() or not tried:
        return outcome(Verdict.VACUOUS, "never seen: " + ", ".join(missing() or ["any value at all"]))
    return outcome(Verdict.HOLDS)


def explain(breach: Exception) -> str:
    """What broke, in which line, and on which values."""
    where = traceback.extract_tb(breach.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}  {where.line}"
    return "\n".join((f"{type(breach).__name__}: {breach}", place, *getattr(breach, "__notes__", ())))


def _trial(law: Law, body: Body, examples: int, chosen_seed: int, memory: Path | None) -> Callable[[], None]:
    """The law as Hypothesis runs it; the seed goes inside the settings, or it would switch the memory off."""
    configured = settings(
        max_examples=examples,
        deadline=None,
        database=DirectoryBasedExampleDatabase(memory) if memory else None,
        phases=(Phase.reuse, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    return configured(seed(chosen_seed)(given(**law.strategies)(body)))
