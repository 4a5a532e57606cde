"""Every rule by which a footprint is told from a text, and that nothing recorded strays from it."""

# ruff: noqa: PLC3002, PLW0108 -- what is read here are the lambdas themselves

import functools
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.engine.footprint import (
    Footprint,
    check_footprints,
    final_footprints,
    footprints,
    within_footprint,
)
from spec.design import AS_WRITTEN, HARDENED, Design
from spec.immutable import ordered
from spec.machine import (
    Action,
    Bound,
    Domain,
    Family,
    Machine,
    Members,
    Variable,
    action,
    always,
    choose,
    final,
    leads_to,
    require,
    step,
)
from spec.world import Evaluation, Instance, Model, State, World

NODES = Domain("node", "n")
SLOTS = Domain("slot")
SECOND = "n2"


class Colour(Enum):
    RED = "red"


class Toy(Machine):
    size = Bound()
    x = Variable[int](0)
    y = Variable[int](0)
    z = Variable[Any](None)
    f = Family[str, int](NODES, 0)
    g = Family[tuple[str, int], int]((NODES, SLOTS), 0)

    @property
    def both(self) -> int:
        return self.x + self.y

    def bump(self, node: str) -> None:
        self.f[node] = self.x


WORLD = World(
    name="toy", asks="Where does it step?", machines=(Toy,), bounds={"nodes": 3, "slots": 2, "size": 2}
)
MODEL = Model(WORLD)
EVERYTHING = frozenset(slot.name for slot in MODEL.slots)
F = frozenset(slot.name for slot in MODEL.slots if slot.family == "f")
G = frozenset(slot.name for slot in MODEL.slots if slot.family == "g")
NOTHING: frozenset[str] = frozenset()


def of(body: Callable[..., Any], *arguments: Any, design: Design = HARDENED) -> Footprint:
    """The footprint of a function as if it were an action of the toy with these arguments."""
    model = Model(World(name="toy", asks="", machines=(Toy,), bounds=WORLD.bounds, design=design))
    model.instances = (Instance(Action("body", (), "", body, {}), arguments, "body", ""),)
    (found,) = footprints(model)
    return found


def told(body: Callable[..., Any], *arguments: Any) -> tuple[frozenset[str], frozenset[str]]:
    """What a function may read and what it may write, by name."""
    found = of(body, *arguments)
    names = [slot.name for slot in MODEL.slots]
    return frozenset(names[i] for i in found.reads), frozenset(names[i] for i in found.writes)


def some(*names: str) -> frozenset[str]:
    return frozenset(names)


# Variables and members of families


def test_variables_are_read_and_written_where_they_are_named() -> None:
    def body(w: Toy) -> None:
        require(w.x > 0)
        w.y = w.x + 1

    assert told(body) == (some("x"), some("y"))


def test_an_assignment_that_changes_reads_and_writes() -> None:
    def body(w: Toy, node: str) -> None:
        w.x += w.y
        w.f[node] += 1

    assert told(body, "n1") == (some("x", "y", "f[n1]"), some("x", "f[n1]"))


def test_a_deletion_is_a_write() -> None:
    def body(w: Toy, node: str) -> None:
        del w.f[node]  # type: ignore[attr-defined]

    assert told(body, "n1") == (NOTHING, some("f[n1]"))


def test_several_targets_at_once_are_all_written() -> None:
    def body(w: Toy) -> None:
        w.x, w.y = w.y, w.x
        w.z = w.f["n1"] = 3

    assert told(body) == (some("x", "y"), some("x", "y", "z", "f[n1]"))


def test_an_annotation_and_a_walrus_hide_nothing() -> None:
    def body(w: Toy) -> None:
        found: int = w.x
        if (more := w.y) > found:
            w.z = more

    assert told(body) == (some("x", "y"), some("z"))


def test_a_bound_and_the_design_are_no_places() -> None:
    def body(w: Toy) -> None:
        require(w.size > 1 and w.design.merge_weighs_the_sum)

    assert told(body) == (NOTHING, NOTHING)


def test_a_key_is_known_if_it_is_an_argument_or_a_constant() -> None:
    def body(w: Toy, node: str) -> None:
        w.f[node] = w.f["n3"] + w.f[SECOND]

    assert told(body, "n1") == (some("f[n2]", "f[n3]"), some("f[n1]"))


def test_a_key_of_several_parts_names_the_places_that_agree_with_what_is_known() -> None:
    def all_known(w: Toy, node: str) -> None:
        w.g[node, 1] = 1

    def one_known(w: Toy, node: str) -> None:
        for slot in range(w.size):
            w.g[node, slot] = w.g["n1", slot] + w.g[(node, 0)]

    def a_whole_one(w: Toy, pair: tuple[str, int]) -> None:
        w.g[pair] = 1

    assert told(all_known, "n2") == (NOTHING, some("g[n2, 1]"))
    assert told(one_known, "n2") == (
        some("g[n1, 0]", "g[n1, 1]", "g[n2, 0]"),
        some("g[n2, 0]", "g[n2, 1]"),
    )
    assert told(a_whole_one, ("n3", 1)) == (NOTHING, some("g[n3, 1]"))


def test_a_key_with_a_star_may_be_any() -> None:
    def body(w: Toy, node: str) -> None:
        rest = [w.x]
        w.g[(node, *rest)] = 1  # type: ignore[index]

    assert told(body, "n2") == (some("x"), G)


def test_a_key_that_does_not_exist_is_no_place() -> None:
    def body(w: Toy) -> None:
        w.f["nobody"] = w.g["n1"]  # type: ignore[index]

    assert told(body) == (G & {"nothing"}, NOTHING)


def test_a_key_that_is_computed_from_what_is_known_is_known() -> None:
    def follower(w: Toy, slot: int) -> int:
        if slot < 0:
            return 0
        after = slot + 1
        return after % w.size

    def both(slot: int) -> tuple[str, int]:
        """A pair."""
        return ("n1", slot) if slot else ("n2", slot)

    def body(w: Toy, slot: int) -> None:
        right = (slot + 1) % w.size
        node, here = both(slot)
        w.g["n1", right] = w.g["n2", follower(w, slot)] + w.g[node, here] + w.g[both(slot)[0], 1 - slot]

    assert told(body, 1) == (some("g[n2, 0]", "g[n1, 1]", "g[n1, 0]"), some("g[n1, 0]"))
    assert told(body, 0) == (some("g[n2, 1]", "g[n2, 0]"), some("g[n1, 1]"))


def test_a_function_that_may_return_this_or_that_is_worth_neither() -> None:
    def either(w: Toy) -> str:
        if w.x:
            return "n1"
        return "n2"

    def steps() -> Iterator[int]:
        yield 1

    def body(w: Toy) -> None:
        w.f[either(w)] = 1
        if steps():
            w.y = 1
        else:
            w.z = 1

    assert told(body) == (some("x"), F | {"y", "z"})


def pair(slot: int) -> tuple[int, int]:
    return slot, 1 - slot


def test_a_loop_through_what_is_known_has_known_keys() -> None:
    def loop(w: Toy) -> None:
        for node in ("n1", "n2"):
            w.f[node] = 1

    def inner(w: Toy, slot: int) -> None:
        w.z = [w.g["n1", one] for one in pair(slot)] + [w.f[node] for node in ("n1", SECOND)]

    def passed_on(w: Toy) -> None:
        for node in ("n1", "n3"):
            put(w, node)

    def round_the_table(w: Toy, slot: int) -> None:
        left, right = slot, (slot + 1) % len(w.g)
        for one in (left, right):
            w.g["n1", one] = 1

    assert told(loop) == (NOTHING, some("f[n1]", "f[n2]"))
    assert told(inner, 0) == (some("g[n1, 0]", "g[n1, 1]", "f[n1]", "f[n2]"), some("z"))
    assert told(passed_on) == (some("f[n1]", "x"), some("g[n1, 1]", "g[n3, 1]"))
    assert told(round_the_table, 1) == (NOTHING, some("g[n1, 1]"))


other = "n3"


def test_a_name_within_a_comprehension_is_not_the_one_outside() -> None:
    def outside(w: Toy) -> None:
        w.z = [other for other in ("n1", "n2")]  # noqa: C416
        w.f[other] = 1

    def first(w: Toy) -> None:
        w.z = [one for one in (w.f[other],) for other in ("n1", "n2")]

    def twice(w: Toy) -> None:
        for node in ("n1", "n2"):
            w.z = node
        for node in ("n1", "n3"):
            w.f[node] = 1

    assert "f[n3]" in told(outside)[1]
    assert told(first)[0] == F
    assert told(twice)[1] == F | {"z"}


def test_a_key_that_is_read_or_walked_through_may_be_any() -> None:
    def read(w: Toy) -> None:
        w.f[w.z] = 1

    def walked(w: Toy) -> None:
        for node in w.z:
            w.f[node] = 1

    def chosen(w: Toy) -> None:
        w.f[choose(w, ("n1", "n2"))] = 1

    assert told(read) == (some("z"), F)
    assert told(walked) == (some("z"), F)
    assert told(chosen) == (NOTHING, F)


def test_a_parameter_that_is_assigned_anew_is_unknown() -> None:
    def assigned(w: Toy, node: str) -> None:
        if w.x:
            node = "n2"
        w.f[node] = 1

    def walked(w: Toy, node: str) -> None:
        for node in ("n1", "n2"):  # noqa: PLR1704
            w.f[node] = 1

    def inner(w: Toy, node: str) -> None:
        w.z = tuple(w.f[node] for node in ("n1", "n2"))

    def hidden(w: Toy, node: str) -> None:
        def change() -> None:
            nonlocal node
            node = "n2"

        change()
        w.f[node] = 1

    assert told(assigned, "n1") == (some("x"), F)
    assert told(walked, "n1") == (NOTHING, F)
    assert told(inner, "n1") == (F, some("z"))
    assert told(hidden, "n1") == (NOTHING, F)


def test_a_name_that_is_assigned_twice_is_unknown() -> None:
    def body(w: Toy) -> None:
        node = "n1"
        if w.x:
            node = "n2"
        w.f[node] = 1

    assert told(body) == (some("x"), F)


def test_a_name_that_stands_for_itself_is_unknown() -> None:
    def body(w: Toy) -> None:
        node = node  # type: ignore[misc]  # noqa: F821, PLW0127
        w.f[node] = 1

    assert told(body) == (NOTHING, F)


# Families as a whole


@pytest.mark.parametrize(
    "body",
    [
        lambda w: list(w.f.items()),
        lambda w: sum(w.f.values()),
        lambda w: sorted(w.f, key=lambda node: w.f[node]),
        lambda w: [w.f[node] for node in w.f],
        lambda w: any(value for _, value in w.f.items()),
        lambda w: {node: value for node, value in w.f.items() if value},
    ],
)
def test_a_family_that_is_walked_through_is_read_as_a_whole(body: Callable[..., Any]) -> None:
    assert told(body) == (F, NOTHING)


@pytest.mark.parametrize(
    "body",
    [
        lambda w: [node for node in w.f],  # noqa: C416
        lambda w: len(w.f),
        lambda w: sorted(w.f, key=lambda node: node),
        lambda w: ordered(w.f),
        lambda w: "n1" in w.f,
        lambda w: "n1" not in w.f,
        lambda w: [*w.f],
        lambda w: choose(w, tuple(w.f)),
        lambda w: choose(w, w.f),
    ],
)
def test_the_keys_of_a_family_are_no_places(body: Callable[..., Any]) -> None:
    assert told(body) == (NOTHING, NOTHING)


def test_a_loop_over_the_keys_of_a_family_reads_nothing_but_what_is_in_it() -> None:
    def body(w: Toy) -> None:
        for node in w.f:
            w.z = node

    assert told(body) == (NOTHING, some("z"))


def clear(family: Members[str, int]) -> None:
    family["n1"] = 0


def test_a_family_with_a_second_name_is_read_and_written_as_a_whole() -> None:
    def named(w: Toy) -> None:
        here = w.f
        here["n1"] = 1

    def passed_on(w: Toy) -> None:
        clear(w.f)

    def kept(w: Toy) -> None:
        w.z = (w.f,)

    assert told(named) == (F, F)
    assert told(passed_on) == (F, F)
    assert told(kept) == (F, F | {"z"})


# Functions that are called with the view


def put(w: Toy, node: str, slot: int = 1, *, also: str = "n1") -> int:
    w.g[node, slot] = w.f[also]
    return w.x


def again(w: Toy, count: int) -> None:
    if count > 0:
        w.g["n1", count - 1] = 1
        again(w, count - 1)


def further(w: Toy, count: int) -> None:
    further(w, count + 1)


def ping(w: Toy, node: str) -> None:
    w.x = 1
    if w.z:
        pong(w, node)


def pong(w: Toy, node: str) -> None:
    w.y = 1
    ping(w, node)


def test_a_function_that_is_called_counts_with_the_arguments_of_the_call() -> None:
    def by_position(w: Toy, node: str) -> None:
        require(put(w, node, 0, also=node))

    def by_name(w: Toy, node: str) -> None:
        put(also="n3", node=node, w=w)

    def unknown(w: Toy) -> None:
        put(w, w.z)

    assert told(by_position, "n2") == (some("x", "f[n2]"), some("g[n2, 0]"))
    assert told(by_name, "n2") == (some("x", "f[n3]"), some("g[n2, 1]"))
    assert told(unknown) == (some("x", "z", "f[n1]"), some("g[n1, 1]", "g[n2, 1]", "g[n3, 1]"))


def test_arguments_that_the_text_does_not_show_are_unknown() -> None:
    def starred(w: Toy, node: str) -> None:
        rest = (0,)
        put(w, node, *rest)

    def double(w: Toy, node: str) -> None:
        rest: dict[str, Any] = {"also": "n2"}
        put(w, node, **rest)

    assert told(starred, "n2") == (some("x") | F, some("g[n2, 0]", "g[n2, 1]"))
    assert told(double, "n2") == (some("x") | F, some("g[n2, 0]", "g[n2, 1]"))


def test_functions_that_call_each_other_are_read_once() -> None:
    def body(w: Toy) -> None:
        pong(w, "n1")

    assert told(body) == (some("z"), some("x", "y"))
    assert told(ping, "n1") == (some("z"), some("x", "y"))


def test_a_call_of_itself_ends_where_the_arguments_say_so() -> None:
    assert told(again, 2) == (NOTHING, some("g[n1, 0]", "g[n1, 1]"))


def test_a_call_of_itself_that_does_not_end_may_do_anything() -> None:
    assert told(further, 1) == (EVERYTHING, EVERYTHING)
    assert "calls go too deep" in of(further, 1).why


class Other(Machine):
    other = Variable[int](0)
    node = Family[str, int](NODES, 0)


@action(node=NODES)
def single(w: Other, node: str) -> None:
    w.node[node] = 1


@action(node=NODES)
def double(w: Other, node: str) -> None:
    single(w, node)
    w.other = 1


def test_an_action_may_be_a_part_of_another() -> None:
    model = Model(World(name="other", asks="", machines=(Other,), bounds={"nodes": 2}))
    found = footprints(model)
    names = [slot.name for slot in model.slots]
    assert [sorted(names[i] for i in one.writes) for one in found] == [
        ["node[n1]"],
        ["node[n2]"],
        ["node[n1]", "other"],
        ["node[n2]", "other"],
    ]
    assert not any(one.reads or one.why for one in found)


def test_what_is_found_in_a_closure_or_a_class_is_followed() -> None:
    def inner(w: Toy) -> int:
        return w.x

    class Namespace:
        @staticmethod
        def helper(w: Toy) -> int:
            return w.y

    def body(w: Toy) -> None:
        w.z = inner(w) + Namespace.helper(w)

    assert told(body) == (some("x", "y"), some("z"))


def test_methods_and_properties_of_the_machine_are_followed() -> None:
    def body(w: Toy, node: str) -> None:
        require(w.both)
        w.bump(node)

    assert told(body, "n2") == (some("x", "y"), some("f[n2]"))


def test_functions_within_the_body_belong_to_it() -> None:
    def body(w: Toy, node: str) -> None:
        def helper() -> int:
            w.y = 1
            return w.x

        w.z = helper() + (lambda: w.f[node])()

    assert told(body, "n1") == (some("x", "f[n1]"), some("y", "z"))


def logged(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def outer(w: Toy, *rest: Any) -> None:
        w.z = "logged"
        function(w, *rest)

    return outer


@logged
def wrapped(w: Toy, node: str) -> None:
    w.f[node] = 1


def test_of_a_wrapped_function_the_wrapper_is_read_and_what_it_calls() -> None:
    assert told(wrapped, "n1") == (NOTHING, F | {"z"})


# Branches that the world rules out


def test_a_branch_that_the_design_rules_out_does_not_count() -> None:
    def body(w: Toy) -> None:
        if w.design.merge_weighs_the_sum:
            w.x = 1
        else:
            w.y = 1
        w.z = w.f["n1"] if not w.design.merge_weighs_the_sum else w.f["n2"]
        require(w.design.merge_weighs_the_sum or w.f["n3"])

    def names(design: Design) -> tuple[list[str], list[str]]:
        found = of(body, design=design)
        return tuple(sorted(MODEL.slots[i].name for i in part) for part in (found.reads, found.writes))  # type: ignore[return-value]

    assert names(HARDENED) == (["f[n2]"], ["x", "z"])
    assert names(AS_WRITTEN) == (["f[n1]", "f[n3]"], ["y", "z"])


def test_a_branch_that_a_bound_or_an_argument_rules_out_does_not_count() -> None:
    def body(w: Toy, node: str) -> None:
        if w.size > 5 or node == "n1" or Colour.RED is not Colour.RED:
            w.x = 1
        elif w.size == 2 and w.y:
            w.f[node] = 1

    assert told(body, "n1") == (NOTHING, some("x"))
    assert told(body, "n2") == (some("y"), some("f[n2]"))


# Where nothing can be said


KEPT: list[Any] = []


def into_the_rest(*views: Any) -> None:
    views[0].x = 1


def into_the_names(**views: Any) -> None:
    views["w"].x = 1


def changing(w: Any) -> None:
    w = KEPT.pop()
    w.x = 1


class Callable_:  # noqa: N801
    def __call__(self, w: Toy) -> None:
        w.x = 1


CALLED = Callable_()
PART = functools.partial(put, node="n1")


def _bodies() -> dict[str, Callable[..., Any]]:
    def second_name(w: Any) -> None:
        v = w
        v.x = 1

    def in_a_list(w: Any) -> None:
        [w][0].x = 1

    def local_function(w: Any) -> None:
        def helper(v: Any) -> None:
            v.x = 1

        helper(w)

    def same_name_within(w: Any) -> None:
        (lambda w: w)(w)

    def kept(w: Any) -> None:
        KEPT.append(w)

    def yielded(w: Any) -> Iterator[Any]:
        yield w

    def bound_method(w: Any) -> None:
        change = w.bump
        change("n1")

    return {
        "a second name": second_name,
        "in a list": in_a_list,
        "given to a local function": local_function,
        "a parameter of the same name within": same_name_within,
        "kept for later": kept,
        "yielded": yielded,
        "returned": lambda w: w,
        "compared": lambda w: w == 1,
        "asked by name": lambda w: getattr(w, "x"),  # noqa: B009
        "set by name": lambda w: setattr(w, "x", 1),
        "evaluated": lambda w: eval("w.x"),
        "among the locals": lambda w: locals()["w"].x,
        "through a family": lambda w: w.f._w.x,
        "through its workings": lambda w: w._write(0, 1),
        "through its values": lambda w: w._values[0],
        "a variable that is not there": lambda w: w.nothing,
        "a callable without a text": lambda w: CALLED(w),
        "a part of a function": lambda w: PART(w),
        "by position into the rest": lambda w: into_the_rest(w),
        "by name into the rest": lambda w: into_the_names(w=w),
        "with stars": lambda w: put(*[w, "n1"]),
        "a parameter that is not always the view": lambda w: changing(w),
        "a method that is not called": bound_method,
        "a class method": lambda w: w.mro(),
        "a name that nobody knows": lambda w: unknown_function(w),  # type: ignore[name-defined]  # noqa: F821
        "in a default": lambda w: (lambda v=w: v.x)(),
    }


@pytest.mark.parametrize("how", _bodies())
def test_whoever_lets_the_view_go_may_do_anything(how: str) -> None:
    body = _bodies()[how]
    assert told(body) == (EVERYTHING, EVERYTHING)
    assert of(body).why


def test_where_everything_is_assumed_the_line_is_named() -> None:
    def body(w: Toy) -> None:
        KEPT.append(w)

    why = of(body).why
    line = body.__code__.co_firstlineno + 1
    assert why == f"{__file__}:{line}: KEPT.append is given everything"


def test_without_a_text_anything_may_happen() -> None:
    made: dict[str, Any] = {}
    exec("def body(w):\n    w.x = 1", made)
    assert told(made["body"]) == (EVERYTHING, EVERYTHING)
    assert "its text is not known" in of(made["body"]).why
    assert told(PART) == (EVERYTHING, EVERYTHING)


def test_two_functions_of_one_line_are_told_apart() -> None:
    first, second = (lambda w: w.x), (lambda w: w.y if w.x else 0)
    outer: Callable[..., Any] = lambda w: lambda v: v.z or w  # noqa: E731
    assert told(first) == (some("x"), NOTHING)
    assert told(second) == (some("x", "y"), NOTHING)
    assert told(outer) == (EVERYTHING, EVERYTHING)
    assert told(outer(None)) == (some("z"), NOTHING)


def test_a_text_that_is_not_what_runs_does_not_count(tmp_path: Any) -> None:
    file = tmp_path / "changing.py"
    file.write_text("def body(w):\n    w.x = 1\n")
    made: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    right = made["body"]
    exec(compile(file.read_text(), str(file), "exec"), made)
    late = made["body"]

    assert told(right) == (NOTHING, some("x"))
    file.write_text("def body(w):\n    w.y = 12\n")
    assert told(late) == (EVERYTHING, EVERYTHING)


# Properties


class Watched(Machine):
    a = Variable[int](0)
    b = Variable[int](0)
    c = Variable[int](0)
    d = Family[str, int](NODES, 0)


@action()
def tick(w: Watched) -> None:
    w.a = (w.a + 1) % 3


@always(node=NODES)
def small(w: Watched, node: str) -> Iterator[str]:
    if w.a > 5 or w.d[node]:
        yield "too much"


@step()
def grows(before: Watched, after: Watched) -> Iterator[str]:
    if before.b > after.c:
        yield "shrinks"


@leads_to()
def arrives(w: Watched) -> tuple[object, object]:
    return w.c, KEPT.append(w)  # type: ignore[func-returns-value]


@final()
def done(w: Watched) -> object:
    return w.b == 1


def test_properties_read_and_never_write() -> None:
    model = Model(
        World(
            name="watched",
            asks="",
            machines=(Watched,),
            bounds={"nodes": 2},
            within=lambda w: w.a + w.b < 5,
        )
    )
    names = [slot.name for slot in model.slots]
    found = {
        check.label: sorted(names[i] for i in one.reads)
        for check, one in zip(model.checks, check_footprints(model), strict=True)
    }
    assert found == {
        "small(n1)": ["a", "d[n1]"],
        "small(n2)": ["a", "d[n2]"],
        "grows()": ["b", "c"],
        "arrives()": sorted(names),
    }
    assert not any(one.writes for one in check_footprints(model))
    assert [[names[i] for i in one.reads] for one in final_footprints(model)] == [["b"]]
    assert sorted(names[i] for i in within_footprint(model).reads) == ["a", "b"]
    assert within_footprint(MODEL) == Footprint(frozenset(), frozenset())


# What is recorded lies within


class Mixed(Machine):
    """Actions of every sort that the rules know, so that what they do can be compared with what is told."""

    size = Bound()
    turn = Variable[int](0)
    mode = Variable[str]("n1")
    level = Family[str, int](NODES, 0)
    link = Family[tuple[str, str], bool]((NODES, NODES), False)


def lower(w: Mixed, node: str, by: int = 1) -> None:
    require(w.level[node] >= by)
    w.level[node] -= by


@action(node=NODES)
def rise(w: Mixed, node: str) -> None:
    require(w.level[node] < w.size)
    w.level[node] += 1


@action(node=NODES)
def sink(w: Mixed, node: str) -> None:
    lower(w, node)
    w.mode = node


@action(node=NODES, other=NODES)
def connect(w: Mixed, node: str, other: str) -> None:
    require(node != other and not w.link[other, node])
    w.link[node, other] = w.level[w.mode] > 0


@action(node=NODES)
def disconnect(w: Mixed, node: str) -> None:
    other = choose(w, [one for one in w.level if w.link[node, one]])
    w.link[node, other] = False
    if w.turn:
        lower(w, other, by=w.turn)


@action(slot=SLOTS)
def pass_on(w: Mixed, slot: int) -> None:
    following = (slot + 1) % w.size
    require(w.turn == slot)
    w.turn = following


@action()
def drain(w: Mixed) -> None:
    require(all(value for _, value in w.level.items()))
    levels = w.level
    for node in levels:
        levels[node] = 0


MIXED = Model(World(name="mixed", asks="", machines=(Mixed,), bounds={"nodes": 3, "slots": 2, "size": 2}))
TOLD = footprints(MIXED)


@settings(max_examples=300, deadline=None)
@given(
    turn=st.integers(0, 2),
    mode=st.sampled_from(["n1", "n2", "n3"]),
    levels=st.tuples(*[st.integers(0, 2)] * 3),
    links=st.tuples(*[st.booleans()] * 9),
)
def test_what_an_action_reads_and_writes_lies_in_its_footprint(
    turn: int, mode: str, levels: tuple[int, ...], links: tuple[bool, ...]
) -> None:
    state: State = (turn, mode, *levels, *links)
    for instance, footprint in zip(MIXED.instances, TOLD, strict=True):
        assert not footprint.strays(MIXED.run(instance, state)), instance.label


def test_footprints_are_not_larger_than_they_need_to_be() -> None:
    names = [slot.name for slot in MIXED.slots]
    found = {
        instance.label: (sorted(names[i] for i in one.reads), sorted(names[i] for i in one.writes))
        for instance, one in zip(MIXED.instances, TOLD, strict=True)
    }
    assert found["rise(n2)"] == (["level[n2]"], ["level[n2]"])
    assert found["sink(n2)"] == (["level[n2]"], ["level[n2]", "mode"])
    assert found["connect(n1, n3)"] == (
        ["level[n1]", "level[n2]", "level[n3]", "link[n3, n1]", "mode"],
        ["link[n1, n3]"],
    )
    assert found["pass_on(1)"] == (["turn"], ["turn"])
    assert not any(one.why for one in TOLD)


def test_a_stray_is_found() -> None:
    small_one = Footprint(frozenset({0}), frozenset({1}))
    rising = next(one for one in MIXED.instances if one.label == "rise(n1)")
    recorded = MIXED.run(rising, MIXED.initial[0])
    assert small_one.strays(recorded) == {2}
    assert small_one.strays(Evaluation((0,), ())) == frozenset()
