"""Worlds put machines together within bounds; a model spells them out and runs them on states."""

import inspect
import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.design import AS_WRITTEN, HARDENED
from spec.immutable import Misuse
from spec.machine import (
    Bound,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    choose,
    final,
    require,
    sometimes,
    start,
    step,
)
from spec.world import Holds, Instance, Model, Violated, World

CLIENTS = Domain("client", "c")
NUMBERS = Domain("number")


class Lock(Machine):
    holder = Variable[str | None](None)
    asked = Family[str, bool](CLIENTS, False)


@action("ASK", client=CLIENTS)
def ask(w: Lock, client: str) -> None:
    require(not w.asked[client])
    w.asked[client] = True


@action("GRANT", client=CLIENTS)
def grant(w: Lock, client: str) -> None:
    require(w.asked[client] and w.holder is None)
    w.holder = client


@always("ONE")
def the_holder_asked(w: Lock) -> Iterator[str]:
    if w.holder is not None and not w.asked[w.holder]:
        yield f"{w.holder} never asked"


@final("DONE")
def it_is_held(w: Lock) -> object:
    return w.holder is not None


class Thief(Lock):
    """A machine that touches another one's variables."""

    loot = Bound()
    stolen = Variable[int](0)


@action("STEAL", client=CLIENTS)
def steal(w: Thief, client: str) -> None:
    require(w.stolen < w.loot)
    w.stolen += 1
    w.holder = client


@sometimes("RICH")
def all_is_stolen(w: Thief) -> object:
    return w.stolen == w.loot


def world(*machines: type[Machine], **how: Any) -> World:
    return World(name="test", asks="?", machines=machines, **{"bounds": {}, **how})


def labels(model: Model) -> list[str]:
    return [one.label for one in model.instances]


LINE = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
HELD = World(name="held", asks="Is it held?", machines=(Lock,), bounds={"clients": 2}, expect=Holds(7, 3))


def test_a_world_knows_its_line() -> None:
    assert HELD.place == f"{__file__}:{LINE}"
    assert HELD.at(clients=3).place == HELD.place
    assert replace(HELD, place="elsewhere") == HELD


def test_other_bounds_ask_the_same_question_without_the_pinned_size() -> None:
    wider = HELD.at(clients=3)

    assert dict(wider.bounds) == {"clients": 3}
    assert dict(HELD.bounds) == {"clients": 2}
    assert (wider.name, wider.expect) == ("held", Holds())
    assert replace(HELD, expect=Violated("x", steps=3)).at().expect == Violated("x")
    with pytest.raises(Misuse, match=r"^held has no bound cleints, it has clients$"):
        HELD.at(cleints=3)


def test_a_model_gives_each_variable_and_member_a_place() -> None:
    model = Model(world(Lock, Thief, bounds={"clients": 2, "loot": 1}))

    assert [slot.name for slot in model.slots] == ["holder", "asked[c1]", "asked[c2]", "stolen"]
    assert [slot.family for slot in model.slots] == ["holder", "asked", "asked", "stolen"]
    assert [slot.key for slot in model.slots] == [(), ("c1",), ("c2",), ()]
    assert model.slots[1].over == (CLIENTS,)
    assert model.initial == ((None, False, False, 0),)


def test_a_world_uses_the_actions_of_the_machines_that_it_lists_and_no_others() -> None:
    bounds = {"clients": 1, "loot": 1}

    assert labels(Model(world(Lock, bounds={"clients": 1}))) == ["ask(c1)", "grant(c1)"]
    assert labels(Model(world(Thief, bounds=bounds))) == ["steal(c1)"]
    assert labels(Model(world(Lock, Thief, bounds=bounds))) == ["ask(c1)", "grant(c1)", "steal(c1)"]
    assert labels(Model(world(Thief, Lock, Lock, bounds=bounds))) == ["steal(c1)", "ask(c1)", "grant(c1)"]


def test_a_world_checks_the_properties_of_its_machines_or_those_that_it_names() -> None:
    bounds = {"clients": 1, "loot": 1}

    every = Model(world(Lock, Thief, bounds=bounds))
    assert [one.of for one in every.checks] == [the_holder_asked, all_is_stolen]
    assert [one.of for one in every.finals] == [it_is_held]
    some = Model(world(Lock, Thief, bounds=bounds, properties=(all_is_stolen,)))
    assert ([one.of for one in some.checks], some.finals) == ([all_is_stolen], ())


def test_machines_that_know_nothing_of_each_other_stand_side_by_side() -> None:
    class Clock(Machine):
        time = Variable[int](0)

    @action()
    def tick(w: Clock) -> None:
        w.time += 1

    model = Model(world(Lock, Clock, bounds={"clients": 1}))

    assert sorted(slot.name for slot in model.slots) == ["asked[c1]", "holder", "time"]
    assert labels(model) == ["ask(c1)", "grant(c1)", "tick()"]


def test_two_machines_cannot_have_variables_of_one_name() -> None:
    class Other(Machine):
        holder = Variable[int](0)

    class Below(Lock):
        holder = Variable[str | None]("c1")

    class Numbered(Lock):
        holder = Bound()  # type: ignore[assignment]

    class Fixed(Lock):
        holder = "c1"

    for other in (Other, Below, Numbered):
        with pytest.raises(Misuse) as told:
            Model(world(Lock, other, bounds={"clients": 1}))
        places = {f"  {Lock.holder.place}", f"  {vars(other)['holder'].place}"}
        first, *where = str(told.value).splitlines()
        assert (first, set(where)) == ("world test has two variables holder", places)
    with pytest.raises(Misuse, match="Fixed"):
        Model(world(Fixed, bounds={"clients": 1}))


def test_two_machines_may_share_a_bound() -> None:
    class One(Machine):
        size = Bound()
        one = Variable[int](0)

    class Two(Machine):
        size = Bound()
        two = Variable[int](0)

    assert len(Model(world(One, Two, bounds={"size": 3})).slots) == 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"machines": ()}, "has no machines"),
        ({"bounds": {}}, r"it must say how many clients: bounds=\{'clients': ...\}"),
        ({"bounds": {"clients": 1, "servers": 2}}, "nothing is bounded by servers"),
        ({"idle": ("asks",)}, "there is no action or witness asks that could be idle"),
        ({"interchangeable": (NUMBERS,)}, "no number occurs in it, so none are interchangeable"),
        ({"properties": (it_is_held, it_is_held)}, "there are two it_is_held"),
        ({"properties": (the_holder_asked, the_holder_asked)}, "there are two the_holder_asked"),
    ],
)
def test_a_world_that_does_not_fit_its_machines_is_a_misuse_with_its_line(how: Any, said: str) -> None:
    with pytest.raises(Misuse, match=rf"^{HELD.place} world held:? {said}"):
        Model(replace(HELD, **how))


def test_the_domains_of_actions_and_properties_need_bounds_as_well() -> None:
    class Plain(Machine):
        size = Bound()
        last = Variable[int](0)

    @action(number=NUMBERS)
    def set_it(w: Plain, number: int) -> None:
        w.last = number

    @always(client=CLIENTS, fixed=(1, 2))
    def fine(w: Plain, client: str, fixed: int) -> Iterator[str]:
        if w.last == w.size:
            yield client

    bounds = {"numbers": 2, "clients": 2, "size": 1}
    model = Model(world(Plain, bounds=bounds))
    assert labels(model) == ["set_it(0)", "set_it(1)"]
    assert [one.label for one in model.checks] == [
        "fine(c1, 1)",
        "fine(c1, 2)",
        "fine(c2, 1)",
        "fine(c2, 2)",
    ]
    for name in bounds:
        with pytest.raises(Misuse, match=f"it must say how many {name}"):
            Model(world(Plain, bounds={one: 1 for one in bounds if one != name}))


def test_only_names_can_be_swapped_and_only_if_they_name_one_thing() -> None:
    servers = Domain("server", "c")

    class Numbered(Machine):
        client = Family[str, int](CLIENTS, 0)
        server = Family[str, int](servers, 0)
        number = Family[int, int](NUMBERS, 0)

    bounds = {"clients": 2, "servers": 3, "numbers": 2}
    Model(world(Numbered, bounds=bounds))
    with pytest.raises(Misuse, match="c1 is both a client and a server"):
        Model(world(Numbered, bounds=bounds, interchangeable=(CLIENTS,)))
    with pytest.raises(Misuse, match="numbers are numbers and have an order; give the domain a prefix"):
        Model(world(Numbered, bounds=bounds, interchangeable=(NUMBERS,)))
    Model(replace(HELD, interchangeable=(CLIENTS,)))


def test_two_actions_of_one_name_cannot_stand_in_one_world() -> None:
    class Other(Machine):
        count = Variable[int](0)

    @action(client=CLIENTS)
    def ask(w: Other, client: str) -> None: ...

    with pytest.raises(Misuse, match="there are two ask"):
        Model(world(Lock, Other, bounds={"clients": 1}))


def test_two_arguments_cannot_look_the_same() -> None:
    class Odd(Machine):
        count = Variable[int](0)

    @action(number=(1, "1"))
    def set_it(w: Odd, number: Any) -> None: ...

    with pytest.raises(Misuse, match=r"there are two set_it\(1\)"):
        Model(world(Odd))


class Begun(Machine):
    size = Bound()
    low = Variable[int](0)
    high = Variable[int](0)


@start
def low_is_anything(w: Begun) -> None:
    w.low = choose(w, range(w.size))


class BegunTwice(Begun):
    sum = Variable[int](0)


@start
def high_is_not_lower(w: BegunTwice) -> None:
    w.high = choose(w, range(w.low, w.size))
    w.sum = w.low + w.high


def test_a_start_with_choices_gives_several_initial_states() -> None:
    assert Model(world(Begun, bounds={"size": 3})).initial == ((0, 0), (1, 0), (2, 0))


def test_starts_of_a_machine_come_after_those_of_the_machines_it_is_made_of() -> None:
    pairs = [(low, high) for low, high in itertools.product(range(3), repeat=2) if low <= high]

    assert Model(world(BegunTwice, bounds={"size": 3})).initial == tuple((a, b, a + b) for a, b in pairs)


def test_equal_initial_states_are_one() -> None:
    class Same(Machine):
        one = Variable[int](0)

    @start
    def whatever(w: Same) -> None:
        choose(w, (1, 2, 3))

    assert Model(world(Same)).initial == ((0,),)


def test_a_world_must_begin_somehow() -> None:
    with pytest.raises(Misuse, match="world test: it has no initial state"):
        _ = Model(world(Begun, bounds={"size": 0})).initial


def test_a_start_that_raises_is_a_misuse_with_its_line() -> None:
    class Broken(Machine):
        one = Variable[int](0)

    @start
    def divide(w: Broken) -> None:
        w.one = 1 // w.one

    line = divide.__code__.co_firstlineno + 2
    with pytest.raises(
        Misuse, match=rf"start\(\) raised ZeroDivisionError: .*\n  {__file__}:{line}  w.one = "
    ):
        _ = Model(world(Broken)).initial


def test_the_design_and_the_bounds_are_there_to_be_read() -> None:
    class Designed(Machine):
        size = Bound()
        seen = Variable[Any](None)

    @action()
    def see(w: Designed) -> None:
        w.seen = (w.size, w.design == AS_WRITTEN)

    for design, same in ((AS_WRITTEN, True), (HARDENED, False)):
        model = Model(world(Designed, bounds={"size": 4}, design=design))
        [way] = model.run(model.instances[0], model.initial[0]).result
        assert model.after(model.initial[0], way) == ((4, same),)


def test_what_lies_inside_is_asked_of_a_state() -> None:
    def few(w: Lock) -> object:
        return not (w.asked["c1"] and w.asked["c2"])

    model = Model(replace(HELD, within=few))

    assert model.inside((None, True, False)).result is True
    assert model.inside((None, True, True)).result is False
    assert model.inside((None, False, True)).reads == (1,)


@given(counts=st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_choices_come_up_once_each_in_order(counts: list[int]) -> None:
    class Choosing(Machine):
        made = Variable[tuple[int, ...]](())

    @action()
    def choose_all(w: Choosing) -> None:
        for count in counts:
            w.made = (*w.made, choose(w, range(count)))

    model = Model(world(Choosing))
    ways = model.run(model.instances[0], model.initial[0]).result

    made = [model.after(model.initial[0], way)[0] for way in ways]
    assert made == list(itertools.product(*map(range, counts)))
    assert [way.decisions for way in ways] == made


class Free(Machine):
    """Functions that depend on more than the state."""

    one = Variable[int](0)
    two = Variable[int](0)


ticks = itertools.count()


@pytest.fixture(autouse=True)
def _nothing_stays_free() -> Iterator[None]:
    yield
    Free.actions.clear()
    Free.properties.clear()


def only(made: Any) -> tuple[Model, Instance[Any], tuple[int, int]]:
    model = Model(world(Free))
    found: list[Any] = [*model.instances, *model.checks]
    return model, found[0], (0, 0)


def not_a_function(made: Any, said: str) -> str:
    code = made.body.__code__
    return rf"^{made.name}\(\) is not a function of the state: {said}\n  {__file__}:{code.co_firstlineno}"


def test_an_action_that_counts_its_calls_is_found_out() -> None:
    @action()
    def tick(w: Free) -> None:
        w.one = 10 + next(ticks)

    model, instance, state = only(tick)
    model.run(instance, state)
    with pytest.raises(Misuse, match=not_a_function(tick, r"it gave \[\d+\], then \[\d+\]")):
        model.run(instance, state, twice=True)


def test_an_action_that_reads_by_chance_is_found_out() -> None:
    @action()
    def look_somewhere(w: Free) -> None:
        require(w.one == 0 if next(ticks) % 2 else w.two == 0)

    model, instance, state = only(look_somewhere)
    with pytest.raises(Misuse, match=not_a_function(look_somewhere, "it read (one, then two|two, then one)")):
        model.run(instance, state, twice=True)


def test_an_action_that_can_happen_by_chance_is_found_out() -> None:
    @action()
    def sometimes_happens(w: Free) -> None:
        require(next(ticks) % 2)

    model, instance, state = only(sometimes_happens)
    said = r"it gave (nothing, then \[\]|\[\], then nothing)"
    with pytest.raises(Misuse, match=not_a_function(sometimes_happens, said)):
        model.run(instance, state, twice=True)


def test_an_action_that_fails_by_chance_is_found_out() -> None:
    @action()
    def sometimes_fails(w: Free) -> None:
        w.one = 1 // (next(ticks) % 2)

    model, instance, state = only(sometimes_fails)
    with pytest.raises(
        Misuse, match=r"(?s)sometimes_fails\(\) is not a function of the state: it gave .*Zero"
    ):
        model.run(instance, state, twice=True)


def test_an_action_returns_nothing() -> None:
    @action()
    def guarded(w: Free) -> None:
        return w.one > 0  # type: ignore[return-value]

    model, instance, state = only(guarded)
    with pytest.raises(Misuse, match=r"^guarded\(\) returned False: an action assigns"):
        model.run(instance, state)


def test_an_invariant_returns_no_truth_value() -> None:
    for said in (True, False, "wrong", ""):

        def fine(w: Free) -> Any:
            return said  # noqa: B023

        always()(fine)
        model, instance, state = only(fine)
        with pytest.raises(
            Misuse, match=rf"^fine\(\) returned {said!r}: it yields a sentence for each breach"
        ):
            model.look(instance, state)
        Free.properties.clear()


def test_a_place_holds_no_two_equal_values_of_different_types() -> None:
    @action()
    def set_it(w: Free) -> None:
        w.one, w.two = choose(w, ((2, 0), (3, (1, 2)), (4, (True, 2))))  # type: ignore[assignment]

    model, instance, state = only(set_it)
    with pytest.raises(
        Misuse, match=r"^set_it\(\) two is \(1, 2\) here and \(True, 2\) there: equal, but of "
    ):
        model.run(instance, state)


def test_a_property_that_tosses_a_coin_is_found_out() -> None:
    chance = random.Random(1)

    @always()
    def fine(w: Free) -> Iterator[str]:
        if w.one == 0:
            yield f"it is {chance.random()}"

    model, instance, state = only(fine)
    with pytest.raises(Misuse, match=not_a_function(fine, r"it gave it is 0\.\d+, then it is 0\.\d+")):
        model.look(instance, state, twice=True)


def test_a_witness_that_changes_its_mind_is_found_out() -> None:
    @sometimes()
    def seen(w: Free) -> object:
        return next(ticks) % 2

    model, instance, state = only(seen)
    with pytest.raises(Misuse, match=not_a_function(seen, "it gave (True, then False|False, then True)")):
        model.look(instance, state, twice=True)


def test_a_step_that_reads_by_chance_is_found_out() -> None:
    @step()
    def compare(before: Free, after: Free) -> Iterator[str]:
        if next(ticks) % 2 and after.two:
            yield "two"

    model, instance, state = only(compare)
    with pytest.raises(
        Misuse, match=not_a_function(compare, "it read (two, then nothing|nothing, then two)")
    ):
        model.look(instance, state, state, twice=True)


def test_a_bound_that_changes_its_mind_is_found_out() -> None:
    def by_chance(w: Free) -> object:
        return next(ticks) % 2

    with pytest.raises(Misuse, match=r"within\(\) is not a function of the state"):
        Model(world(Free, within=by_chance)).inside((0, 0), twice=True)


def test_functions_of_the_state_pass() -> None:
    model = Model(HELD)
    for state in itertools.product((None, "c1"), (False, True), (False, True)):
        for one in model.instances:
            assert model.run(one, state, twice=True) == model.run(one, state)
        for check in (*model.checks, *model.finals):
            assert model.look(check, state, twice=True) == model.look(check, state)
