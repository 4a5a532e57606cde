"""Values of state variables never change, compare by content, and have one spelling."""

import copy
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, make_dataclass
from enum import Enum, Flag, IntEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.immutable import Misuse, Unordered, alike, encode, members, ordered, renamed, settled, shown


class Colour(Enum):
    RED = 1
    BLUE = 2


class Number(IntEnum):
    ONE = 1


class Rights(Flag):
    READ = 1
    WRITE = 2


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class Box:
    content: Any
    label: str = ""


@dataclass(frozen=True, slots=True)
class Crate:
    content: Any
    label: str = ""


@dataclass(frozen=True, slots=True)
class Spoken:
    word: str

    def __str__(self) -> str:
        return f"“{self.word}”"


atoms = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.sampled_from(["c1", "c2", "c3", "", "1", "True", "None"])
    | st.binary(max_size=3)
    | st.sampled_from([*Colour, *Number, Rights.READ, Rights.READ | Rights.WRITE, Rights(0)])
)


def larger(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(parts, max_size=3).map(tuple)
        | st.frozensets(parts, max_size=3)
        | st.builds(Pair, parts, parts)
        | st.builds(Box, parts, st.sampled_from(["", "c1"]))
        | st.builds(Crate, parts)
    )


values = st.recursive(atoms, larger, max_leaves=6)


def same(one: Any, other: Any) -> bool:
    """Equal in value and in type, all the way down, by the plainest comparison there is."""
    if type(one) is not type(other) or one != other:
        return False
    if isinstance(one, tuple):
        return all(map(same, one, other))
    if isinstance(one, frozenset):
        return all(any(same(x, y) for y in members(other)) for x in members(one))
    if isinstance(one, Box | Crate):
        return same(one.content, other.content) and same(one.label, other.label)
    return True


@given(one=values.map(settled), other=values.map(settled))
def test_no_two_values_share_a_spelling(one: Any, other: Any) -> None:
    assert (encode(one) == encode(other)) == same(one, other)
    assert alike(one, other) if same(one, other) else (one != other or not alike(one, other))


@pytest.mark.parametrize(
    "different",
    [
        (1, True, 1.0, "1", b"1", Number.ONE, (1,), frozenset({1})),
        ((1, 2), Pair(1, 2), (12,), ((1,), 2), (1, (2,))),
        (Box(1), Crate(1), Box("1"), Box(1, "1")),
        ("", None, (), frozenset(), b"", False, 0, "None"),
        (("a", "b"), ("a,b",), ("ab",), ("a", "b", "")),
        (Colour.RED, "RED", Colour.BLUE, "Colour.RED", Rights(0)),
        ("\ud800", "\ud801", "?"),
    ],
)
def test_what_looks_alike_is_spelled_differently(different: tuple[Any, ...]) -> None:
    assert len({encode(settled(value)) for value in different}) == len(different)


def test_two_types_of_one_name_are_spelled_differently_if_they_stand_in_two_modules() -> None:
    places = ({"__module__": module} for module in ("here", "there"))
    one, other = (make_dataclass("Box", [], frozen=True, namespace=place) for place in places)

    assert encode(one()) != encode(other())


@given(parts=st.lists(values, max_size=5))
def test_a_set_has_one_spelling_and_one_order_however_it_was_made(parts: list[Any]) -> None:
    forwards, backwards = settled(frozenset(parts)), settled(frozenset(reversed(parts)))

    if same(forwards, backwards):
        assert encode(forwards) == encode(backwards)
        assert all(map(same, ordered(forwards), ordered(backwards)))
        assert repr(forwards) == repr(backwards)


@given(value=values)
def test_settling_keeps_the_value_and_settles_it_for_good(value: Any) -> None:
    once = settled(value)

    assert once == value
    assert settled(once) is once
    assert pickle.loads(pickle.dumps(once)) == once
    assert encode(copy.deepcopy(once)) == encode(once)


@given(value=values.map(settled), order=st.permutations(["c1", "c2", "c3"]))
def test_a_renaming_can_be_undone(value: Any, order: list[str]) -> None:
    names = dict(zip(["c1", "c2", "c3"], order, strict=True))
    back = {new: old for old, new in names.items()}

    assert same(renamed(renamed(value, names), back), value)


def test_names_are_replaced_however_deep_they_stand() -> None:
    value = settled((Box(frozenset({"c1", "x"}), "c2"), Pair("c1", (1, None, Colour.RED)), "c10"))

    assert renamed(value, {"c1": "c2", "c2": "c1"}) == (
        Box(frozenset({"c2", "x"}), "c1"),
        Pair("c2", (1, None, Colour.RED)),
        "c10",
    )


@dataclass
class Changing:
    content: int = 0


@dataclass(frozen=True, eq=False)
class Nameless:
    content: int = 0


@dataclass(frozen=True)
class Forgetful:
    content: int = field(default=0, compare=False)


class Text(str):
    __slots__ = ()


class Row(tuple[int, ...]):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([1], "list [1] can change"),
        ({"a": 1}, "dict {'a': 1} can change"),
        ({1}, "set {1} can change"),
        (bytearray(b"x"), "can change"),
        (object(), "can change"),
        (Box, "can change"),
        (Text("x"), "can change"),
        (Row((1,)), "can change"),
        (Changing(), "Changing Changing(content=0) is not frozen: write @dataclass(frozen=True, slots=True)"),
        (Nameless(), "does not compare by content"),
        (Forgetful(), "does not compare by content"),
        (float("nan"), "not-a-number is equal to nothing"),
        (list(range(100)), "list [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16... can"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("around", [lambda v: v, lambda v: (1, v), Box, lambda v: Pair(v, 1)])
def test_what_could_change_is_refused_however_deep_it_stands(
    value: Any, reason: str, around: Callable[[Any], Any]
) -> None:
    with pytest.raises(Misuse) as refused:
        settled(around(value))

    assert reason in str(refused.value)


@pytest.mark.parametrize("around", [lambda v: v, lambda v: (0, v), lambda v: frozenset({v}), Box])
def test_equal_values_of_different_types_are_not_alike(around: Callable[[Any], Any]) -> None:
    assert alike(around(1), around(1))
    assert not alike(around(1), around(True))
    assert not alike(around((1, 2)), around(Pair(1, 2)))


def test_zero_has_no_sign() -> None:
    assert encode(settled((-0.0,))) == encode((0.0,))


@pytest.mark.parametrize(
    "walk",
    [
        list,
        sorted,
        max,
        tuple,
        enumerate,
        "".join,
        lambda names: [name for name in names],  # noqa: C416
        lambda names: {**dict.fromkeys(names)},
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        lambda names: names,
        lambda names: names | {"z"},
        lambda names: frozenset("z") | names,
        lambda names: names & names,
        lambda names: names - {"a"},
        lambda names: frozenset("yz") - names,
        lambda names: names ^ {"z"},
        lambda names: frozenset("ayz") ^ names,
        lambda names: frozenset("abc") & names,
        lambda names: names.union({"y"}, {"z"}),
        lambda names: names.intersection(names),
        lambda names: names.difference({"a"}),
        lambda names: names.symmetric_difference({"z"}),
        lambda names: names.copy(),
        lambda names: settled(Box(frozenset(names))).content,
        lambda names: renamed(names, {"a": "b", "b": "a"}),
    ],
)
def test_a_set_cannot_be_walked_through_whatever_it_is_made_of(
    made: Callable[[Any], Any], walk: Callable[[Iterable[str]], Any]
) -> None:
    names = made(settled(frozenset({"a", "b", "c"})))

    assert isinstance(names, Unordered)
    with pytest.raises(Misuse, match=r"a set has no order: write `for x in ordered\(...\)`"):
        list(walk(names))


def test_a_set_can_be_asked_and_compared() -> None:
    names = settled(frozenset({"b", "a"}))

    assert "a" in names
    assert len(names) == 2
    assert names == {"a", "b"}
    assert hash(names) == hash(frozenset({"a", "b"}))
    assert names <= {"a", "b", "c"}
    assert names.isdisjoint({"z"})
    assert (names | {"c"}) - {"a", "b"} == {"c"}
    assert names.__or__(3) is NotImplemented
    assert repr(names) == "{'a', 'b'}"


def test_members_come_smallest_first() -> None:
    assert ordered(settled(frozenset({10, 9, -1}))) == (-1, 9, 10)
    assert ordered(settled(frozenset({"b", "a"}))) == ("a", "b")
    assert ordered(frozenset({(2, "a"), (1, "b")})) == ((1, "b"), (2, "a"))
    assert ordered([3, 1]) == (1, 3)
    assert ordered(frozenset({Colour.BLUE, Colour.RED})) == (Colour.RED, Colour.BLUE)


@given(order=st.permutations([frozenset({1}), frozenset({2}), frozenset({1, 2}), frozenset({3})]))
def test_members_that_only_partly_compare_have_an_order_too(order: list[frozenset[int]]) -> None:
    assert ordered(order) == ordered(sorted(order, key=encode))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (3, "3"),
        (True, "True"),
        ("c1", "c1"),
        (Colour.RED, "red"),
        (("c1", None), "[c1, –]"),
        (frozenset({"b", "a"}), "{a, b}"),
        (Box((1, 2), "x"), "box(content [1, 2], label x)"),
        (Spoken("hello"), "“hello”"),
        (Pair(1, "x"), "Pair(left=1, right='x')"),
    ],
)
def test_a_value_is_shown_as_a_person_reads_it(value: Any, text: str) -> None:
    assert shown(settled(value)) == text
