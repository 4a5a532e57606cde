"""The machine language: what is written in it means what it says, and what makes no sense names its line."""

import inspect
import itertools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from spec.immutable import Misuse, ordered
from spec.machine import (
    STRONG,
    WEAK,
    Action,
    Bound,
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
from spec.world import Alternative, Evaluation, Model, World

CLIENTS = Domain("client", "c")
SHELVES = Domain("shelf", plural="shelves")


@dataclass
class Changing:
    content: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    content: frozenset[str]


class Store(Machine):
    """Enough of everything to get it wrong."""

    room = Bound()
    count = Variable[int](0)
    names = Variable[frozenset[str]](frozenset({"a", "b"}))
    box = Variable[Box](Box(frozenset({"a", "b"})))
    asked = Family[str, bool](CLIENTS, False)
    place = Family[tuple[str, int], str](((CLIENTS, SHELVES)), "")


@pytest.fixture(autouse=True)
def _the_store_forgets_what_tests_did_with_it() -> Iterator[None]:
    yield
    Store.actions.clear()


def spelled_out(*machines: type[Machine], **bounds: int) -> Model:
    return Model(World(name="test", asks="?", machines=machines, bounds=bounds))


def on_its_own(function: Action | Property) -> Model:
    """A world of the store in which there is nothing but one function."""
    machine: Any = type("Alone", (Store,), {})
    (machine.properties if isinstance(function, Property) else machine.actions).append(function)
    return spelled_out(machine, room=3, clients=2, shelves=2)


def run(made: Action, **values: Any) -> Evaluation:
    """What an action does in the initial state, but for some values."""
    model = on_its_own(made)
    return model.run(model.instances[0], state(model, **values))


def look(made: Property, after: dict[str, Any] | None = None, **values: Any) -> Evaluation:
    model = on_its_own(made)
    later = None if after is None else state(model, **after)
    return model.look((*model.checks, *model.finals)[0], state(model, **values), later)


def state(model: Model, **values: Any) -> tuple[Any, ...]:
    return tuple(
        values.get(slot.name, value) for slot, value in zip(model.slots, model.initial[0], strict=True)
    )


def offence(function: Any) -> str:
    """File and line of what is marked `# here` in a function."""
    lines, first = inspect.getsourcelines(function)
    [line] = [first + i for i, text in enumerate(lines) if text.rstrip().endswith("# here")]
    return f"{__file__}:{line}"


MISUSED: list[Callable[..., None]] = []
"""Actions that use the language in a way that makes no sense; the docstring is what is said about them."""
MISJUDGED: list[Callable[..., Any]] = []
"""The same for properties."""


def misused(body: Callable[..., None]) -> None:
    MISUSED.append(body)


def misjudged(body: Callable[..., Any]) -> None:
    MISJUDGED.append(body)


def name_of(body: Callable[..., Any]) -> str:
    return body.__name__


@misused
def read_what_does_not_exist(w: Store) -> None:
    """there is no variable cuont, there are count, names, box, asked, place, room, clients, shelves"""
    require(w.cuont)  # type: ignore[attr-defined]  # here


@misused
def assign_what_does_not_exist(w: Store) -> None:
    """there is no variable cuont, there are"""
    w.cuont = 1  # type: ignore[attr-defined]  # here


@misused
def use_a_name_that_does_not_exist(w: Store) -> None:
    """raised NameError: name 'cuont' is not defined"""
    w.count = cuont  # type: ignore[name-defined]  # noqa: F821  # here


@misused
def assign_a_list(w: Store) -> None:
    """list [1] can change"""
    w.count = [1]  # type: ignore[assignment]  # here


@misused
def assign_a_dictionary_deep_down(w: Store) -> None:
    """dict {} can change"""
    w.count = ((1, {}),)  # type: ignore[assignment]  # here


@misused
def assign_a_dataclass_that_is_not_frozen(w: Store) -> None:
    """Changing Changing(content=0) is not frozen: write @dataclass(frozen=True, slots=True)"""
    w.count = Changing()  # type: ignore[assignment]  # here


@misused
def assign_the_family_to_a_variable(w: Store) -> None:
    """Members <spec.machine.Members object at 0x"""
    w.count = w.asked  # type: ignore[assignment]  # here


@misused
def assign_not_a_number(w: Store) -> None:
    """not-a-number is equal to nothing, not even to itself"""
    w.count = float("nan")  # type: ignore[assignment]  # here


@misused
def assign_an_equal_value_of_another_type(w: Store) -> None:
    """count is 0 here and False there: equal, but of different types"""
    w.count = False


@misused
def walk_through_a_set(w: Store) -> None:
    """a set has no order: write `for x in ordered(...)`"""
    for name in w.names:  # here
        w.asked[name] = True


@misused
def walk_through_a_set_in_a_value(w: Store) -> None:
    """a set has no order"""
    w.count = len([name for name in w.box.content if name])  # here


@misused
def walk_through_a_union(w: Store) -> None:
    """a set has no order"""
    w.count = min(len(name) for name in w.names | {"c"})  # here


@misused
def walk_through_an_own_write(w: Store) -> None:
    """a set has no order"""
    w.names = frozenset({"x", "y"})
    w.count = len(list(w.names))  # here


@misused
def choose_from_a_set(w: Store) -> None:
    """a set has no order: write `choose(w, ordered(...))`"""
    w.count = len(choose(w, w.names))  # here


@misused
def choose_from_an_own_set(w: Store) -> None:
    """a set has no order: write `choose(w, ordered(...))`"""
    w.count = choose(w, {1, 2})  # here


@misused
def read_a_member_that_does_not_exist(w: Store) -> None:
    """asked has no member 'c3', it has c1, c2"""
    require(w.asked["c3"])  # here


@misused
def read_a_member_that_could_never_exist(w: Store) -> None:
    """asked has no member ['c1'], it has c1, c2"""
    require(w.asked[["c1"]])  # type: ignore[index]  # here


@misused
def assign_a_member_that_does_not_exist(w: Store) -> None:
    """place has no member 'c1', it has ('c1', 0), ('c1', 1), ('c2', 0), ('c2', 1)"""
    w.place["c1"] = "x"  # type: ignore[index]  # here


@misused
def assign_a_whole_family(w: Store) -> None:
    """asked is a family: assign to one member, asked[...]"""
    w.asked = {"c1": True}  # type: ignore[assignment]  # here


@misused
def assign_a_bound(w: Store) -> None:
    """room is a bound of the world and never changes"""
    w.room = 4  # type: ignore[assignment]  # here


@misused
def assign_the_design(w: Store) -> None:
    """the design belongs to the world and never changes"""
    w.design = w.design  # type: ignore[assignment]  # here


@misused
def return_a_guard(w: Store) -> None:
    """returned False: an action assigns, and `require` is its guard"""
    return w.count > 0  # type: ignore[return-value]


@misjudged
def assign(w: Store) -> Iterator[str]:
    """a property only looks; it cannot assign"""
    w.count = 1  # here
    yield ""


@misjudged
def choose_something(w: Store) -> Iterator[str]:
    """a property has no alternatives; only actions choose"""
    yield str(choose(w, (1, 2)))  # here


@misjudged
def choose_nothing(w: Store) -> Iterator[str]:
    """a property has no alternatives; only actions choose"""
    yield choose(w, ())  # here


@misjudged
def guard(w: Store) -> Iterator[str]:
    """is a property and has no guard: write `if` instead of `require`"""
    require(w.count)  # here
    yield ""


@misjudged
def look_at_what_does_not_exist(w: Store) -> Iterator[str]:
    """there is no variable cuont, there are count, names"""
    if w.cuont:  # type: ignore[attr-defined]  # here
        yield ""


@misjudged
def read_what_a_value_does_not_have(w: Store) -> Iterator[str]:
    """raised AttributeError: 'int' object has no attribute 'size'"""
    yield str(w.count.size)  # type: ignore[attr-defined]  # here


@misjudged
def look_through_a_set(w: Store) -> Iterator[str]:
    """a set has no order"""
    yield from (f"{name} is there" for name in w.names)  # here


@misjudged
def return_a_truth_value(w: Store) -> Any:
    """returned False: it yields a sentence for each breach, and nothing otherwise"""
    return w.count > 0


@misjudged
def return_a_sentence(w: Store) -> Any:
    """returned 'wrong': it yields a sentence for each breach, and nothing otherwise"""
    return "wrong"


@pytest.mark.parametrize("body", MISUSED, ids=name_of)
def test_a_misuse_in_an_action_is_told_with_its_line(body: Any) -> None:
    made = Action(body.__name__, (), "", body, {})

    with pytest.raises(Misuse) as told:
        run(made)

    assert str(told.value).startswith(f"{body.__name__}() {body.__doc__}")
    marked = "# here" in inspect.getsource(body)
    line = offence(body) if marked else f"{__file__}:{body.__code__.co_firstlineno}"
    assert f"\n  {line}" in str(told.value)


@pytest.mark.parametrize("body", MISJUDGED, ids=name_of)
def test_a_misuse_in_a_property_is_told_with_its_line(body: Any) -> None:
    made = Property(body.__name__, (), "", Sort.ALWAYS, body, {})

    with pytest.raises(Misuse) as told:
        look(made)

    assert str(told.value).startswith(f"{body.__name__}() {body.__doc__}")
    marked = "# here" in inspect.getsource(body)
    line = offence(body) if marked else f"{__file__}:{body.__code__.co_firstlineno}"
    assert f"\n  {line}" in str(told.value)


def test_an_action_that_raises_has_failed_and_says_where() -> None:
    @action()
    def divide(w: Store) -> None:
        w.count = w.room // w.count  # here

    found = run(divide)

    [way] = found.result
    assert way.writes == ()
    assert way.failure.startswith("divide() raised ZeroDivisionError: integer division or modulo by zero")
    assert f"\n  {offence(divide.body)}  w.count = w.room // w.count" in way.failure


def test_a_missing_attribute_of_a_value_is_a_failure_too() -> None:
    @action()
    def mistake(w: Store) -> None:
        w.count = w.box.contents  # type: ignore[attr-defined]  # here

    [way] = run(mistake).result

    assert "raised AttributeError: 'Box' object has no attribute 'contents'" in way.failure
    assert offence(mistake.body) in way.failure


def test_the_line_that_is_named_is_the_specifications_and_not_pythons() -> None:
    @action()
    def replace_a_field(w: Store) -> None:
        w.count = next(map(int, [inspect.cleandoc(w.count)]))  # type: ignore[arg-type]  # here

    [way] = run(replace_a_field).result

    assert offence(replace_a_field.body) in way.failure


def test_only_some_alternatives_may_fail() -> None:
    @action()
    def divide(w: Store) -> None:
        w.count = w.room // choose(w, (0, 1))

    failed, done = run(divide).result

    assert failed.failure
    assert done == Alternative((1,), ((0, 3),))


def test_an_action_of_a_machine_knows_its_ids_rule_fairness_and_domains() -> None:
    class Lock(Machine):
        holder = Variable[str | None](None)

    @action("LOCK-GRANT", "LOCK-ONE", fair=STRONG, fault=True, client=CLIENTS, turn=(1, 2))
    def grant(w: Lock, client: str, turn: int) -> None:
        """
        The lock is given to a client.

        And this is the reason.
        """
        w.holder = client

    assert [grant] == Lock.actions
    assert (grant.name, grant.ids, grant.says) == (
        "grant",
        ("LOCK-GRANT", "LOCK-ONE"),
        "The lock is given to a client.",
    )
    assert (grant.fair, grant.fault, dict(grant.over)) == (STRONG, True, {"client": CLIENTS, "turn": (1, 2)})
    model = spelled_out(Lock, clients=2)
    assert [(one.label, one.actor) for one in model.instances] == [
        ("grant(c1, 1)", "client c1"),
        ("grant(c1, 2)", "client c1"),
        ("grant(c2, 1)", "client c2"),
        ("grant(c2, 2)", "client c2"),
    ]


def test_an_action_can_be_a_part_of_another_one() -> None:
    @action(fair=WEAK)
    def count(w: Store) -> None:
        w.count += 1

    @action()
    def count_twice(w: Store) -> None:
        count(w)
        count(w)

    assert run(count_twice).result == (Alternative((), ((0, 2),)),)


class Counted(Machine):
    count = Variable[int](0)
    other = Variable[int](0)


@pytest.mark.parametrize("sort", [Sort.ALWAYS, Sort.STEP, Sort.SOMETIMES, Sort.LEADS_TO, Sort.FINAL])
def test_each_sort_of_property_answers_in_its_own_form(sort: Sort) -> None:
    class Clock(Machine):
        hour = Variable[int](11)

    @always("A")
    def never_late(w: Clock) -> Iterator[str]:
        """It never strikes twelve."""
        if w.hour > 11:
            yield f"it is {w.hour}"

    @step("B")
    def goes_on(before: Clock, after: Clock) -> Iterator[str]:
        if after.hour < before.hour:
            yield f"it was {before.hour} and is {after.hour}"

    @sometimes("C")
    def noon(w: Clock) -> object:
        return w.hour == 12

    @leads_to("D")
    def then_comes_noon(w: Clock) -> tuple[object, object]:
        return w.hour == 11, w.hour == 12

    @final("E")
    def over(w: Clock) -> object:
        return w.hour // 12

    model = spelled_out(Clock)
    found = {one.of.sort: one for one in (*model.checks, *model.finals)}

    def says(before: int, after: int | None = None) -> Any:
        return model.look(found[sort], (before,), None if after is None else (after,)).result

    expected = {
        Sort.ALWAYS: ((11,), (), (12,), ("it is 12",)),
        Sort.STEP: ((11, 12), (), (12, 11), ("it was 12 and is 11",)),
        Sort.SOMETIMES: ((11,), False, (12,), True),
        Sort.LEADS_TO: ((11,), (True, False), (12,), (False, True)),
        Sort.FINAL: ((11,), False, (13,), True),
    }
    first, answer, second, other = expected[sort]
    assert (says(*first), says(*second)) == (answer, other)
    assert never_late.says == "It never strikes twelve."
    assert [one.ids for one in Clock.properties] == [("A",), ("B",), ("C",), ("D",), ("E",)]


def test_an_invariant_without_a_breach_may_return_nothing() -> None:
    made = Property("fine", (), "", Sort.ALWAYS, lambda w: None, {})

    assert look(made).result == ()


def test_reads_are_noted_in_order_and_once() -> None:
    def body(w: Counted) -> None:
        require(w.other == 0)
        require(w.count == 0)
        require(w.other == 0)

    model = spelled_out(Counted)
    found = model.run(instance_of(body), (0, 0))

    assert [model.slots[i].name for i in found.reads] == ["other", "count"]
    assert model.run(instance_of(body), (0, 1)).reads == (1,)


def instance_of(body: Any) -> Any:
    made = Action(body.__name__, (), "", body, {})
    [found] = Model(
        World(name="one", asks="?", machines=(type("One", (Counted,), {}),), bounds={})
    )._instances([made])
    return found


def test_reading_an_own_write_is_not_a_read() -> None:
    def body(w: Counted) -> None:
        w.count = 5
        w.other = w.count

    found = spelled_out(Counted).run(instance_of(body), (0, 0))

    assert found == Evaluation((), (Alternative((), ((0, 5), (1, 5))),))


def test_writing_what_was_read_is_no_effect_and_writing_blindly_is_one() -> None:
    def knowing(w: Counted) -> None:
        w.count = w.count + 0

    def blind(w: Counted) -> None:
        w.count = 0

    model = spelled_out(Counted)

    assert model.run(instance_of(knowing), (0, 0)) == Evaluation((0,), (Alternative((), ()),))
    assert model.run(instance_of(blind), (0, 0)) == Evaluation((), (Alternative((), ((0, 0),)),))


def test_a_step_notes_reads_of_the_state_after_behind_those_before() -> None:
    def body(before: Counted, after: Counted) -> Iterator[str]:
        if before.other != after.count:
            yield f"{after.other}"

    made = Property("body", (), "", Sort.STEP, body, {})
    model = spelled_out(Counted)
    [check] = model._instances([made])

    assert model.look(check, (1, 2), (3, 4)) == Evaluation((1, 2, 3), ("4",))
    assert model.look(check, (1, 2), (2, 4)).reads == (1, 2)


def test_a_family_is_a_mapping_whose_members_are_read_one_at_a_time() -> None:
    @action()
    def use(w: Store) -> None:
        assert list(w.asked) == ["c1", "c2"]
        assert len(w.asked) == 2
        assert "c1" in w.asked
        assert "c3" not in w.asked
        w.asked["c2"] = True
        assert list(w.asked.items()) == [("c1", False), ("c2", True)]
        assert list(w.asked.values()) == [False, True]
        w.place["c2", 1] = "x"
        assert w.place["c2", 1] == "x"

    model = on_its_own(use)
    found = model.run(model.instances[0], model.initial[0])

    names = [slot.name for slot in model.slots]
    assert [names[i] for i in found.reads] == ["asked[c1]"]
    [way] = found.result
    assert {names[i]: value for i, value in way.writes} == {"asked[c2]": True, "place[c2, 1]": "x"}


def test_the_place_of_a_declaration_is_known() -> None:
    lines, first = inspect.getsourcelines(Store)
    declared = [f"{__file__}:{first + i}" for i, line in enumerate(lines) if " = " in line]

    assert [one.place for one in vars(Store).values() if hasattr(one, "place")] == declared
    assert Store.count is vars(Store)["count"]
    assert Store.asked is vars(Store)["asked"]
    assert Store.room is vars(Store)["room"]


def test_choices_come_up_in_every_combination() -> None:
    def body(w: Counted) -> None:
        w.count = choose(w, (1, 2, 3))
        w.other = choose(w, range(2))

    ways = spelled_out(Counted).run(instance_of(body), (9, 9)).result

    assert [tuple(value for _, value in way.writes) for way in ways] == [
        *itertools.product((1, 2, 3), (0, 1))
    ]
    assert [way.decisions for way in ways] == [*itertools.product(range(3), range(2))]


def test_what_can_be_chosen_may_depend_on_what_was_chosen_and_on_what_is_read() -> None:
    def body(w: Counted) -> None:
        first = choose(w, range(w.count))
        if first:
            w.other = choose(w, (10 * i for i in range(first)))

    model = spelled_out(Counted)

    ways = model.run(instance_of(body), (4, 7)).result
    assert [way.decisions for way in ways] == [(0,), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    assert [way.writes for way in ways] == [
        (),
        *(((1, 10 * i),) for i in (0, 0, 1, 0, 1, 2)),
    ]
    assert model.run(instance_of(body), (0, 7)) == Evaluation((0,), ())


def test_an_alternative_may_be_disabled_on_its_own() -> None:
    def body(w: Counted) -> None:
        choice = choose(w, (0, 1, 2))
        require(choice != 1)
        w.count = choose(w, ordered(frozenset({choice, 5})))

    ways = spelled_out(Counted).run(instance_of(body), (9, 9)).result

    assert [way.decisions for way in ways] == [(0, 0), (0, 1), (2, 0), (2, 1)]


@pytest.mark.parametrize("growth", [1, -1])
def test_options_cannot_come_and_go_while_alternatives_are_tried(growth: int) -> None:
    left = itertools.count(5, growth)

    def body(w: Counted) -> None:
        w.count = choose(w, range(next(left)))  # here

    with pytest.raises(Misuse) as told:
        spelled_out(Counted).run(instance_of(body), (0, 0))

    said = f"body() is not a function of the state: it had 5 options, and now {5 + growth}"
    assert str(told.value).startswith(f"{said}\n  {offence(body)}  ")


def test_choices_can_be_made_among_the_members_of_a_family() -> None:
    @action()
    def pick(w: Store) -> None:
        w.asked[choose(w, w.asked)] = True

    assert len(run(pick).result) == 2


def test_guards_leave_nothing_behind() -> None:
    """A guard that is false a million times must not keep a million tracebacks."""
    kept = []
    for _ in range(3):
        with pytest.raises(Exception, match=r"^$") as found:
            require(False)
        kept.append(len(list(inspect.getinnerframes(found.tb))))

    assert len(set(kept)) == 1


def test_the_first_parameter_must_name_the_machine() -> None:
    def nobody() -> None: ...
    def nameless(w): ...  # type: ignore[no-untyped-def]
    def wrong(w: int) -> None: ...
    def too_general(w: Machine) -> None: ...

    for body in (nobody, nameless, wrong, too_general):
        makers: tuple[Any, ...] = (action(), always(), start)
        for make in makers:
            with pytest.raises(Misuse) as told:
                make(body)
            line = body.__code__.co_firstlineno
            assert str(told.value) == (
                f"{__file__}:{line} {body.__name__}: annotate the first parameter with its machine"
            )


def test_parameters_are_named_like_their_domains() -> None:
    def grant(w: Counted, client: str) -> None: ...
    def compare(before: Counted) -> Any: ...

    with pytest.raises(Misuse, match=r"py:\d+ grant: its parameters are \['client'\], its domains are \[\]"):
        action()(grant)
    with pytest.raises(Misuse, match=r"its parameters are \['client'\], its domains are \['clients'\]"):
        sometimes(clients=CLIENTS)(grant)
    with pytest.raises(Misuse, match=r"py:\d+ compare: it sees the state before and the state after"):
        step()(compare)
    with pytest.raises(Misuse, match=r"py:\d+ grant: client goes over a Domain or a tuple of values, not 3"):
        action(client=3)(grant)  # type: ignore[arg-type]


def test_only_invariants_yield() -> None:
    def body(w: Counted) -> Iterator[Any]:
        yield w.count

    makers: tuple[tuple[Any, str], ...] = (
        (action(), "an action assigns; it does not yield"),
        (start, "a start assigns; it does not yield"),
        (sometimes(), "`sometimes` returns what it says; only `always` and `step` yield"),
        (final(), "`final` returns what it says"),
        (leads_to(), "`leads_to` returns what it says"),
    )
    for make, said in makers:
        with pytest.raises(Misuse, match=f"py:{body.__code__.co_firstlineno} body: {said}"):
            make(body)


def test_a_machine_has_one_function_of_a_name() -> None:
    class Twice(Machine):
        count = Variable[int](0)

    def same(w: Twice) -> None: ...

    action()(same)
    makers: tuple[Any, ...] = (action(), always())
    for make in makers:
        with pytest.raises(
            Misuse, match=rf"py:{same.__code__.co_firstlineno} Twice has two functions called same"
        ):
            make(same)


@pytest.mark.parametrize("value", [[], {}, Changing(), float("nan")], ids=repr)
def test_an_initial_value_never_changes_either(value: Any) -> None:
    line = inspect.currentframe().f_lineno + 2  # type: ignore[union-attr]
    with pytest.raises(Misuse) as one:
        Variable[Any](value)
    with pytest.raises(Misuse) as other:
        Family[str, Any](CLIENTS, value)

    assert str(one.value).startswith(f"{__file__}:{line} ")
    assert str(other.value).startswith(f"{__file__}:{line + 2} ")


@pytest.mark.parametrize("name", ["actions", "properties", "starts", "design"])
def test_a_variable_cannot_be_called_like_a_part_of_the_language(name: str) -> None:
    with pytest.raises(Misuse, match=rf"{__file__}:\d+ Odd: no variable can be called {name}"):
        types.new_class("Odd", (Machine,), exec_body=lambda body: body.update({name: Variable[int](0)}))


def test_domains_count_or_have_names() -> None:
    assert CLIENTS.members(2) == ("c1", "c2")
    assert SHELVES.members(2) == (0, 1)
    assert (CLIENTS.bound, SHELVES.bound) == ("clients", "shelves")


@pytest.mark.parametrize("decorator", [action, always, step, leads_to, sometimes, final])
def test_a_decorator_without_parentheses_is_a_misuse(decorator: Any) -> None:
    def body(w: Any) -> None: ...

    with pytest.raises(Misuse, match="with parentheses"):
        decorator(body)
