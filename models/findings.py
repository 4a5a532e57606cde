"""
Findings and the worlds that show them: one that holds with the repair, and the same one without it.

The trace of a finding is the one that the exploration of the broken world gives. It is the same in every run,
whatever the number of threads, so that a page can quote it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from models.asking import Usage, left_out
from models.engine.explore import explore
from models.engine.result import DEADLOCK, FAILURE, Result, replay
from models.traces import store
from models.traces.story import Story, tell
from models.worlds import properties_of
from spec.holes import Finding
from spec.world import Holds, Model, Violated, World


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding with its two worlds."""

    finding: Finding
    sound: World
    broken: World

    @property
    def steps(self) -> int | None:
        """How long the shortest trace is, as it is pinned."""
        return self.broken.expect.steps if isinstance(self.broken.expect, Violated) else None


def shown(finding: Finding, worlds: Mapping[str, World]) -> Shown:
    """Join a finding with its worlds; if they do not show what it says, that is refused."""
    for flaw in flaws(finding, worlds):
        raise Usage(flaw, "\n".join([f"mend spec/findings/{finding.repair}.toml or the world", *left_out()]))
    return Shown(finding, worlds[finding.world], worlds[finding.broken()])


def flaws(finding: Finding, worlds: Mapping[str, World]) -> Iterator[str]:
    """What is missing between a finding and its worlds."""
    sound, broken = worlds.get(finding.world), worlds.get(finding.broken())
    if sound is None:
        yield f"{finding.id} is shown by {finding.world}, which does not exist"
    elif not isinstance(sound.expect, Holds):
        yield f"{finding.id} is shown by {finding.world}, which is not expected to hold"
    if broken is None:
        yield f"{finding.id} is shown by {finding.broken()}, which does not exist"
        return
    names = [p.name for p in properties_of(broken)] + [DEADLOCK, FAILURE]
    if not isinstance(broken.expect, Violated) or broken.expect.property != finding.property:
        yield f"{finding.id} breaks {finding.property}, which {finding.broken()} does not expect"
    elif broken.expect.steps is None:
        yield f"{finding.id} has a trace whose length is not pinned in {finding.broken()}"
    if finding.property not in names:
        yield f"{finding.id} breaks {finding.property}, which is no property of {finding.broken()}"


def incomplete(findings: Iterable[Finding], worlds: Mapping[str, World]) -> list[str]:
    """What is missing between all findings and the worlds."""
    return [flaw for finding in findings for flaw in flaws(finding, worlds)]


def story_of(one: Shown, exploring: Callable[[World], Result] = explore) -> Story:
    """Explore the world without the repair, and tell how the property breaks."""
    result = exploring(one.broken)
    for surprise in result.surprises():
        raise Usage(f"{one.broken.name}: {surprise}", f"run ./braid check {one.broken.name}")
    breach = next(b for b in result.breaches if b.property == one.finding.property)
    model = Model(one.broken)
    kept = store.of_breach(one.broken, breach, result.engine)
    return tell(model, kept, replay(model, breach.trace))
