"""
Dining philosophers: everybody needs both forks beside the plate, and each fork lies between two plates.

If all reach for the left fork first, all can end with one fork and wait for ever. If some reach for the right
one first, nobody starves, provided that a fork which is free again and again is taken at some time.
"""

from collections.abc import Iterator
from enum import Enum

from spec.machine import (
    STRONG,
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
    action,
    always,
    final,
    leads_to,
    require,
    sometimes,
    step,
)
from spec.world import Holds, Violated, World

PHILOSOPHERS = Domain("philosopher")


class Mood(Enum):
    """What a philosopher is about."""

    THINKING = 0
    HUNGRY = 1
    REACHING = 2
    EATING = 3

    @property
    def forks(self) -> int:
        """How many forks one has then."""
        return (0, 0, 1, 2)[self.value]

    @property
    def next(self) -> "Mood":
        return Mood((self.value + 1) % 4)


class Table(Machine):
    """A round table; the fork of a number lies on the left of the philosopher of that number."""

    contrary = Bound()
    """How many philosophers reach for the right fork first."""

    mood = Family[int, Mood](PHILOSOPHERS, Mood.THINKING)
    fork = Family[int, int | None](PHILOSOPHERS, None)
    """Who has a fork."""


def forks(w: Table, philosopher: int) -> tuple[int, int]:
    """The forks of a philosopher, in the order in which they are taken."""
    left, right = philosopher, (philosopher + 1) % len(w.fork)
    return (right, left) if philosopher < w.contrary else (left, right)


@action("PHIL-HUNGER", philosopher=PHILOSOPHERS)
def get_hungry(w: Table, philosopher: int) -> None:
    """A philosopher who thinks may become hungry, or think for ever."""
    require(w.mood[philosopher] is Mood.THINKING)

    w.mood[philosopher] = Mood.HUNGRY


@action("PHIL-FIRST", philosopher=PHILOSOPHERS, fair=STRONG)
def take_the_first_fork(w: Table, philosopher: int) -> None:
    """A hungry philosopher takes one fork, if it is free."""
    first, _ = forks(w, philosopher)
    require(w.mood[philosopher] is Mood.HUNGRY)
    require(w.fork[first] is None)

    w.fork[first] = philosopher
    w.mood[philosopher] = Mood.REACHING


@action("PHIL-SECOND", philosopher=PHILOSOPHERS, fair=STRONG)
def take_the_second_fork(w: Table, philosopher: int) -> None:
    """A philosopher with one fork takes the other one, if it is free, and eats."""
    _, second = forks(w, philosopher)
    require(w.mood[philosopher] is Mood.REACHING)
    require(w.fork[second] is None)

    w.fork[second] = philosopher
    w.mood[philosopher] = Mood.EATING


@action("PHIL-DONE", philosopher=PHILOSOPHERS, fair=WEAK)
def put_the_forks_back(w: Table, philosopher: int) -> None:
    """A philosopher who has eaten puts both forks back."""
    require(w.mood[philosopher] is Mood.EATING)

    for fork in forks(w, philosopher):
        w.fork[fork] = None
    w.mood[philosopher] = Mood.THINKING


@always("PHIL-FORKS", philosopher=PHILOSOPHERS)
def forks_and_moods_fit(w: Table, philosopher: int) -> Iterator[str]:
    """Whoever eats has both forks, whoever reaches for the second has one, and others have none."""
    mood = w.mood[philosopher]
    found = sum(w.fork[fork] == philosopher for fork in forks(w, philosopher))
    if found != mood.forks:
        yield f"philosopher {philosopher} is {mood.name.lower()} and has {found} forks"


@step("PHIL-MOODS", philosopher=PHILOSOPHERS)
def moods_follow_each_other(before: Table, after: Table, philosopher: int) -> Iterator[str]:
    """A philosopher thinks, is hungry, reaches, eats, and thinks again."""
    was, became = before.mood[philosopher], after.mood[philosopher]
    if became not in (was, was.next):
        yield f"philosopher {philosopher} was {was.name.lower()} and then {became.name.lower()}"


@leads_to("PHIL-LIVE", philosopher=PHILOSOPHERS)
def nobody_starves(w: Table, philosopher: int) -> tuple[object, object]:
    """Whoever is hungry eats in the end."""
    return w.mood[philosopher] is Mood.HUNGRY, w.mood[philosopher] is Mood.EATING


@sometimes("PHIL-TWO")
def two_eat_at_the_same_time(w: Table) -> object:
    """The table is not one lock."""
    return sum(mood is Mood.EATING for mood in w.mood.values()) == 2


@sometimes("PHIL-BUSY")
def nobody_thinks(w: Table) -> object:
    """All may want to eat at the same time."""
    return Mood.THINKING not in w.mood.values()


@final("PHIL-ENDLESS")
def dinner_never_ends(w: Table) -> object:
    """There is no state in which nothing more could happen."""
    return False


WORLDS = (
    World(
        name="dining-philosophers",
        asks="If one philosopher reaches for the right fork first, does everybody eat?",
        machines=(Table,),
        bounds={"philosophers": 5, "contrary": 1},
        expect=Holds(states=534, depth=10),
    ),
    World(
        name="dining-philosophers-alike",
        asks="If all philosophers reach for the left fork first, does everybody eat?",
        machines=(Table,),
        bounds={"philosophers": 5, "contrary": 0},
        expect=Violated("no_deadlock", steps=10),
    ),
)
