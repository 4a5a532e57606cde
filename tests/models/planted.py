"""A machine small enough to be understood at a glance, with something of everything that can go wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    choose,
    final,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.world import Holds, Violated, World

RUNNERS = Domain("runner", "r")
LAPS = Domain("lap")


class Mood(Enum):
    CALM = 1
    TIRED = 2


@dataclass(frozen=True, slots=True)
class Medal:
    """A value that is long to tell."""

    colour: str
    engraving: str
    holders: frozenset[str]


class Race(Machine):
    limit = Bound()
    place = Family[str, int](RUNNERS, 0)
    mood = Family[str, Mood](RUNNERS, Mood.CALM)
    seen = Family[tuple[str, int], bool]((RUNNERS, LAPS), False)
    medal = Variable[Medal](Medal("gold", "for the one who runs and runs and never rests", frozenset()))
    broken = Variable[bool](False)
    note = Variable[str | None](None)


@action("RACE-RUN", runner=RUNNERS, lap=LAPS, fair=WEAK)
def run(w: Race, runner: str, lap: int) -> None:
    """A runner runs a lap."""
    require(w.place[runner] == lap and w.place[runner] < w.limit and not w.broken)
    w.place[runner] = lap + 1
    w.seen[runner, lap] = True


@action(runner=RUNNERS)
def wink(w: Race, runner: str) -> None:
    """A runner tires the one ahead, or cheers them up."""
    ahead = [other for other in w.place if w.place[other] > w.place[runner]]
    w.mood[choose(w, ahead)] = choose(w, (Mood.TIRED, Mood.CALM))


@action(fault=True)
def trip(w: Race) -> None:
    """Somebody stretches a rope across the track."""
    require(not w.broken)
    w.broken = True


@action(runner=RUNNERS)
def win(w: Race, runner: str) -> None:
    """Who has run everything gets the medal."""
    require(w.place[runner] == w.limit and runner not in w.medal.holders)
    w.medal = Medal(w.medal.colour, w.medal.engraving, w.medal.holders | {runner})


@always("RACE-ONE")
def one_runner_has_the_medal(w: Race) -> Iterator[str]:
    """There is one medal."""
    if len(w.medal.holders) > 1:
        yield f"{len(w.medal.holders)} runners hold <one> medal"


@step("RACE-ON")
def the_track_stays_whole(before: Race, after: Race) -> Iterator[str]:
    """Nobody breaks the track."""
    if after.broken and not before.broken:
        yield "the track broke"


@leads_to("RACE-END", runner=RUNNERS)
def every_runner_gets_a_medal(w: Race, runner: str) -> tuple[object, object]:
    """Who has run gets a medal in the end."""
    return w.place[runner] == w.limit, runner in w.medal.holders


@sometimes()
def somebody_is_tired(w: Race) -> bool:
    """It is exhausting."""
    return any(mood is Mood.TIRED for mood in w.mood.values())


@final()
def the_race_is_over(w: Race) -> bool:
    return bool(w.medal.holders)


BOUNDS = {"runners": 2, "laps": 2, "limit": 2}
SOUND = World(
    name="race-without-rules",
    asks="Does a race go on?",
    machines=(Race,),
    bounds=BOUNDS,
    properties=(somebody_is_tired,),
    expect=Holds(states=96),
)
UNFAIR = World(
    name="race-for-one-medal",
    asks="Does only one runner get the medal?",
    machines=(Race,),
    bounds=BOUNDS,
    properties=(one_runner_has_the_medal, somebody_is_tired),
    expect=Violated("one_runner_has_the_medal", steps=6),
)
TRACK = World(
    name="race-on-a-track",
    asks="Does the track hold?",
    machines=(Race,),
    bounds=BOUNDS,
    properties=(the_track_stays_whole,),
)
TIRED = World(
    name="race-that-nobody-finishes",
    asks="Does who has run get a medal in the end?",
    machines=(Race,),
    bounds=BOUNDS,
    properties=(every_runner_gets_a_medal,),
    expect=Violated("every_runner_gets_a_medal"),
)


class Stairs(Machine):
    """A machine with several beginnings, a step that fails, and no way out."""

    height = Variable[int](0)


@start
def somewhere(w: Stairs) -> None:
    w.height = choose(w, (0, 1))


@action(fault=True)
def jump(w: Stairs) -> None:
    """All the way down at once."""
    require(w.height < 2)
    w.height = 4


@action()
def go(w: Stairs) -> None:
    require(w.height < 4)
    w.height += 1


@action()
def stumble(w: Stairs) -> None:
    require(w.height == 3)
    raise ValueError("the third stair is missing")


@always()
def nobody_is_at_the_bottom(w: Stairs) -> Iterator[str]:
    """Down there it is dark."""
    if w.height == 4:
        yield "it is dark"


@always()
def nobody_starts_high(w: Stairs) -> Iterator[str]:
    if w.height == 1:
        yield "too high"


@final()
def never(w: Stairs) -> bool:
    return False


STAIRS = World(
    name="stairs",
    asks="Does anybody get to the bottom?",
    machines=(Stairs,),
    bounds={},
    properties=(nobody_is_at_the_bottom, never),
)
HIGH = World(
    name="stairs-from-high", asks="?", machines=(Stairs,), bounds={}, properties=(nobody_starts_high,)
)
STUCK = World(
    name="stairs-without-end", asks="?", machines=(Stairs,), bounds={}, properties=(never,), idle=("stumble",)
)


class Wrong(Machine):
    """A machine whose only action misuses the language."""

    number = Variable[int](0)


@action()
def write_a_list(w: Wrong) -> None:
    w.number = [1]  # type: ignore[assignment]


WRONG = World(name="wrong", asks="Is this misused?", machines=(Wrong,), bounds={})

LARGE = World(
    name="race-too-large",
    asks="Does a large race go on?",
    machines=(Race,),
    bounds=BOUNDS,
    properties=(somebody_is_tired,),
    large=True,
)

PLANTED = (SOUND, UNFAIR, TRACK, TIRED, STAIRS, HIGH, STUCK, LARGE)
