"""What has no bearing on what is asked is left out, and the answer stays the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from models.engine.reference import Search
from models.engine.result import Limits, Result, replay
from models.engine.slicing import Slice, slice_of
from spec.machine import (
    Domain,
    Family,
    Machine,
    Property,
    Sort,
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
from spec.world import Alternative, Model, State, World


class Sliced(Model):
    """A model in which only a slice happens: what is written outside of it is forgotten."""

    def __init__(self, world: World, kept: Slice) -> None:
        super().__init__(world)
        self.kept = kept
        self.instances = tuple(self.instances[i] for i in kept.instances)

    def after(self, state: State, alternative: Alternative) -> State:
        inside = tuple(write for write in alternative.writes if write[0] in self.kept.places)
        return super().after(state, Alternative(alternative.decisions, inside, alternative.failure))


def explored(model: Model) -> Result:
    return Search(model, Limits(), None).run()


# Examples


class Office(Machine):
    """A clerk who works through papers, a clock that nobody asks, and a kettle that watches the clerk."""

    papers = Variable[int](2)
    done = Variable[int](0)
    time = Variable[int](0)
    kettle = Variable[int](0)
    tea = Variable[int](0)


@action()
def work(w: Office) -> None:
    require(w.papers > 0)
    w.papers -= 1
    w.done += 1
    w.tea = 0


@action()
def tick(w: Office) -> None:
    w.time = (w.time + 1) % 12


@action()
def boil(w: Office) -> None:
    require(w.done > 0 and w.kettle < 3)
    w.kettle += 1


@always()
def no_paper_is_lost(w: Office) -> Iterator[str]:
    if w.papers + w.done != 2:
        yield "lost"


@sometimes()
def all_is_done(w: Office) -> object:
    return w.done == 2


@sometimes()
def water_is_hot(w: Office) -> object:
    return w.kettle == 3


@step()
def work_is_never_undone(before: Office, after: Office) -> Iterator[str]:
    if after.done < before.done:
        yield "undone"


@step()
def work_goes_on(before: Office, after: Office) -> Iterator[str]:
    if after.done == before.done:
        yield "idle"


@leads_to()
def the_work_gets_done(w: Office) -> tuple[object, object]:
    return w.papers, not w.papers


@final()
def the_desk_is_empty(w: Office) -> object:
    return not w.papers


def office(*properties: Property, within: Callable[[Any], object] | None = None) -> Model:
    return Model(
        World(
            name="office",
            asks="Is the work done?",
            machines=(Office,),
            bounds={},
            properties=properties,
            within=within,
        )
    )


def names(model: Model, found: Slice) -> tuple[list[str], list[str]]:
    return (
        [model.instances[i].of.name for i in found.instances],
        sorted(model.slots[i].name for i in found.places),
    )


def test_what_no_property_depends_on_is_left_out() -> None:
    model = office(no_paper_is_lost, all_is_done)

    found = slice_of(model)

    assert names(model, found) == (["work"], ["done", "papers"])
    assert found.left_out == ("tick", "boil")
    assert found.why == (
        "left out, because it has no bearing on what is asked: 2 instances, 3 variables; "
        "whether tick, boil ever happen or fail is not known"
    )
    assert explored(model).states == 108
    assert explored(Sliced(model.world, found)).states == 3


def test_what_an_action_in_the_cone_reads_belongs_to_the_cone() -> None:
    model = office(water_is_hot)
    assert names(model, slice_of(model)) == (["work", "boil"], ["done", "kettle", "papers"])


def test_what_the_boundary_reads_belongs_to_the_cone() -> None:
    model = office(all_is_done, within=lambda w: w.time < 5)
    assert names(model, slice_of(model)) == (["work", "tick"], ["done", "papers", "time"])


def test_nothing_is_asked_and_nothing_is_kept() -> None:
    model = office()
    assert names(model, slice_of(model)) == ([], [])


def test_where_everything_matters_everything_is_kept() -> None:
    model = office(the_work_gets_done)
    found = slice_of(model)
    assert len(found.instances) == 3
    assert len(found.places) == 5
    assert found.why == (
        "everything is kept: what must happen in the end depends on what else can happen for ever"
    )

    model = office(all_is_done, the_desk_is_empty)
    found = slice_of(model)
    assert len(found.instances) == 3
    assert found.why == "everything is kept: whether nothing can happen any more depends on every action"


def test_a_property_of_steps_sees_those_of_every_action() -> None:
    model = office(work_is_never_undone)
    assert len(slice_of(model).instances) == 3
    assert slice_of(model).why == "everything is kept: a property of steps sees those of every action"

    assert names(model, slice_of(model, stuttering=True)) == (["work"], ["done", "papers"])


def test_a_step_that_is_left_out_is_one_that_changes_nothing() -> None:
    """This is why a slice needs `stuttering`: the ticks of the clock break the property, and are not seen."""
    model = office(work_goes_on)
    kept = slice_of(model, stuttering=True)
    sliced = Sliced(model.world, kept)

    assert explored(model).breaches
    assert not explored(sliced).breaches
    assert sliced.look(sliced.checks[0], sliced.initial[0], sliced.initial[0]).result


# Random machines: a few registers, each action moves a value from one to another where a third has one.

REGISTERS = Domain("register", "r")
SIZE = 3


@dataclass(frozen=True)
class Plan:
    """What one action does: where `guard` holds `at`, `target` becomes `source` plus one of some numbers."""

    guard: str
    at: int
    source: str
    target: str
    add: tuple[int, ...]
    hold: bool
    fails: bool


def machine_of(
    plans: list[Plan], watched: str, wanted: str, bad: int, limited: str | None, sort: Sort
) -> World:
    class Registers(Machine):
        r = Family[str, int](REGISTERS, 0)

    @start
    def begin(w: Registers) -> None:
        w.r["r1"] = choose(w, (0, 1))

    def doing(plan: Plan) -> Callable[..., None]:
        guard, source, target = plan.guard, plan.source, plan.target

        def move(w: Registers) -> None:
            require(w.r[guard] == plan.at)
            w.r[target] = (w.r[source] + choose(w, plan.add)) % SIZE
            if plan.hold:
                w.r["r5"] = 1
            if plan.fails and w.r[source] == 2:
                raise ValueError("two is too much")

        return move

    for number, plan in enumerate(plans):
        body = doing(plan)
        body.__name__ = f"move_{number}"
        action()(body)

    if sort is Sort.ALWAYS:

        @always()
        def never_bad(w: Registers) -> Iterator[str]:
            if w.r[watched] == bad:
                yield "bad"

    else:

        @step()
        def never_back(before: Registers, after: Registers) -> Iterator[str]:
            if after.r[watched] + bad < before.r[watched]:
                yield "back"

    @sometimes()
    def reached(w: Registers) -> object:
        return w.r[wanted] == 2

    limit = (lambda w: w.r[limited] < 2) if limited else None
    return World(name="registers", asks="", machines=(Registers,), bounds={"registers": 5}, within=limit)


registers = st.sampled_from(["r1", "r2", "r3", "r4", "r5"])
plans = st.builds(
    Plan,
    guard=registers,
    at=st.integers(0, SIZE - 1),
    source=registers,
    target=registers,
    add=st.lists(st.integers(0, 2), min_size=1, max_size=2).map(tuple),
    hold=st.booleans(),
    fails=st.just(False),
)


@settings(max_examples=300, deadline=None)
@given(
    plans=st.lists(plans, min_size=1, max_size=5),
    watched=registers,
    wanted=registers,
    bad=st.integers(1, 2),
    limited=st.none() | registers,
    sort=st.sampled_from([Sort.ALWAYS, Sort.STEP]),
)
def test_a_slice_has_the_same_breaches_and_the_same_witnesses(
    plans: list[Plan], watched: str, wanted: str, bad: int, limited: str | None, sort: Sort
) -> None:
    world = machine_of(plans, watched, wanted, bad, limited, sort)
    model = Model(world)
    found = slice_of(model, stuttering=True)
    sliced = Sliced(world, found)

    whole, part = explored(model), explored(sliced)

    assert [(b.property, len(b.trace.moves)) for b in part.breaches] == [
        (b.property, len(b.trace.moves)) for b in whole.breaches
    ]
    if not whole.breaches:
        assert {k: t and len(t.moves) for k, t in part.witnesses.items()} == {
            k: t and len(t.moves) for k, t in whole.witnesses.items()
        }
        seen = {name for name, count in part.fired.items() if count} | set(found.left_out)
        assert {name for name, count in whole.fired.items() if count} <= seen
        assert part.states <= whole.states
    for breach in part.breaches:
        replay(model, breach.trace)
    event(f"left out {len(model.instances) - len(found.instances)} of {len(model.instances)}")


@settings(max_examples=100, deadline=None)
@given(plans=st.lists(plans, min_size=2, max_size=4), watched=registers)
def test_an_action_that_is_kept_fails_in_the_slice_as_in_the_whole(plans: list[Plan], watched: str) -> None:
    first, *others = plans
    failing = [replace(first, target=watched, fails=True), *others]
    world = machine_of(failing, watched, watched, 2, None, Sort.STEP)
    model = Model(world)
    found = slice_of(model, stuttering=True)
    assert found.instances[0] == 0

    def failures(result: Result) -> list[int]:
        return [len(b.trace.moves) for b in result.breaches if b.property == "no_action_fails"]

    assert failures(explored(Sliced(world, found))) == failures(explored(model))
