"""What a document may look like, and what is said of one that may not."""

import json
import math
from enum import Enum
from typing import Any

import pytest

from spec.documents import DOUBLE_MAX, LONG_MAX, MOST_NESTED, Codec, Fields, Stored
from spec.names import parse
from spec.refusals import Reason, Refused
from spec.transactions import parse_position


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


COUNT: Codec[int] = Codec(lambda of: of.integer("n"), lambda n: {"n": n})
RATE: Codec[float] = Codec(lambda of: of.number("r"), lambda r: {"r": r})
FLAG: Codec[bool] = Codec(lambda of: of.flag("f"), lambda f: {"f": f})
COLOUR: Codec[Colour] = Codec(lambda of: of.choice("c", Colour), lambda c: {"c": c.value})
NAME: Codec[object] = Codec(lambda of: of.read("name", parse), lambda name: {"name": str(name)})
POSITION: Codec[object] = Codec(lambda of: of.read("at", parse_position), lambda at: {"at": str(at)})
IDS: Codec[tuple[int, ...]] = Codec(lambda of: of.integers("ids"), lambda ids: {"ids": list(ids)})
INNER: Codec[int] = Codec(lambda of: of.nested("in").integer("n"), lambda n: {"in": {"n": n}})
LABEL: Codec[str | None] = Codec(
    lambda of: of.text("label") if of.has("label") else None,
    lambda label: {} if label is None else {"label": label},
)


def _read_items(of: Fields) -> tuple[tuple[int, str], ...]:
    return tuple((item.integer("id"), item.text("name")) for item in of.nested_list("items", key="id"))


ITEMS: Codec[tuple[tuple[int, str], ...]] = Codec(
    _read_items, lambda items: {"items": [{"id": id, "name": name} for id, name in items]}
)


def why(codec: Codec[Any], text: str | bytes) -> str:
    """What a text is refused for."""
    with pytest.raises(Refused) as refusal:
        codec.decode(text)
    assert refusal.value.reason is Reason.RECORD_MALFORMED
    return refusal.value.detail


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "nul",
        "{'n': 1}",
        '{"n": 1,}',
        '{"n": 1} x',
        '{"n": 01}',
        '{"n": 0x10}',
        '\ufeff{"n": 1}',
        b"\xff",
        '{"n": 1}'.encode("utf-16"),
        '{"n": ' + "9" * 5000 + "}",
        "[" * 100_000,
    ],
)
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    assert why(COUNT, text).startswith("not JSON: ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_json_has_finite_numbers_only_even_in_fields_that_nobody_knows(number: str) -> None:
    assert why(COUNT, f'{{"n": {number}}}') == f"not JSON: {number} is not a finite number"
    assert why(COUNT, f'{{"n": 1, "x": [{number}]}}') == f"not JSON: {number} is not a finite number"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_could_not_be_read_again_is_not_written(number: float) -> None:
    with pytest.raises(Refused) as refusal:
        RATE.encode(Stored(number))
    assert refusal.value.reason is Reason.RECORD_MALFORMED


@pytest.mark.parametrize("text", ['{"n": 1, "n": 1}', '{"n": 1, "x": {"y": [{"z": 1, "z": 2}]}}'])
def test_a_field_named_twice_is_refused_wherever_it_stands(text: str) -> None:
    assert why(COUNT, text) == "not JSON: an object names a field twice"


def test_nesting_has_a_limit() -> None:
    def nested(depth: int) -> str:
        return '{"n": 1, "x": ' + "[" * (depth - 1) + "1" + "]" * (depth - 1) + "}"

    stored = COUNT.decode(nested(MOST_NESTED))
    assert COUNT.encode(stored) == nested(MOST_NESTED).replace(" ", "")
    assert why(COUNT, nested(MOST_NESTED + 1)) == "nested more than 100 deep"


@pytest.mark.parametrize(("text", "found"), [("[]", "[]"), ("1", "1"), ("null", "null"), ('"n"', '"n"')])
def test_a_record_is_an_object(text: str, found: str) -> None:
    assert why(COUNT, text) == f"the record: expected an object, found {found}"


@pytest.mark.parametrize("number", [0, 1, LONG_MAX])
def test_whole_numbers_have_63_bits(number: int) -> None:
    assert COUNT.decode(f'{{"n": {number}}}') == Stored(number)


@pytest.mark.parametrize(
    "found", ["-1", str(LONG_MAX + 1), "true", "false", "1.0", "1e3", '"1"', "null", "[]", "{}"]
)
def test_nothing_else_is_a_whole_number(found: str) -> None:
    shown = "1000.0" if found == "1e3" else found
    assert why(COUNT, f'{{"n": {found}}}') == (
        f"n: expected a whole number from 0 to 9223372036854775807, found {shown}"
    )


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("7", 7), ("0.5", 0.5), ("1e308", 1e308), ("-0.0", 0)]
)
def test_numbers_may_have_a_fraction(text: str, number: float) -> None:
    assert RATE.decode(f'{{"r": {text}}}') == Stored(number)


@pytest.mark.parametrize("found", ["-0.1", "true", '"1"', "null", "1" + "0" * 400])
def test_nothing_else_is_a_number(found: str) -> None:
    detail = why(RATE, f'{{"r": {found}}}')
    assert detail.startswith("r: expected a number from 0 to 1.79769e+308, found ")


def test_the_largest_double_is_a_number_and_the_next_whole_number_is_not() -> None:
    assert RATE.decode(f'{{"r": {int(DOUBLE_MAX)}}}') == Stored(DOUBLE_MAX)
    assert why(RATE, f'{{"r": {int(DOUBLE_MAX) + 1}}}')


@pytest.mark.parametrize(
    ("codec", "text", "said"),
    [
        (COUNT, "{}", "n: the field is missing"),
        (FLAG, '{"f": 1}', "f: expected true or false, found 1"),
        (FLAG, '{"f": "true"}', 'f: expected true or false, found "true"'),
        (COLOUR, '{"c": "green"}', 'c: expected one of red, blue, found "green"'),
        (COLOUR, '{"c": "RED"}', 'c: expected one of red, blue, found "RED"'),
        (COLOUR, '{"c": 1}', "c: expected a text, found 1"),
        (IDS, '{"ids": {}}', "ids: expected a list, found {}"),
        (IDS, '{"ids": ""}', 'ids: expected a list, found ""'),
        (IDS, '{"ids": [1, 2, true]}', f"ids.2: expected a whole number from 0 to {LONG_MAX}, found true"),
        (INNER, '{"in": 1}', "in: expected an object, found 1"),
        (INNER, '{"in": {}}', "in.n: the field is missing"),
        (ITEMS, '{"items": [{"id": 1, "name": "a"}, 2]}', "items.1: expected an object, found 2"),
        (ITEMS, '{"items": [{"id": 1, "name": 1}]}', "items.0.name: expected a text, found 1"),
        (
            ITEMS,
            '{"items": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}',
            "items.1.id: the list has 1 twice",
        ),
        (NAME, '{"name": "x://t/n/y"}', f"name: {Reason.DOMAIN_UNKNOWN.value}: 'x://t/n/y'"),
        (POSITION, '{"at": "1"}', "at: expected ledgerId:entryId, found '1'"),
        (FLAG, f'{{"f": "{"x" * 80}"}}', f'f: expected true or false, found "{"x" * 56}...'),
    ],
)
def test_a_refusal_names_the_field_and_what_is_wrong_with_it(codec: Codec[Any], text: str, said: str) -> None:
    assert why(codec, text) == said


def test_a_refusal_is_a_sentence() -> None:
    with pytest.raises(Refused) as refusal:
        COUNT.decode("{}")
    assert str(refusal.value) == f"{Reason.RECORD_MALFORMED.value}: n: the field is missing"


def test_a_null_in_an_optional_field_is_its_absence() -> None:
    assert LABEL.decode('{"label": null}') == LABEL.decode("{}") == Stored(None)
    assert LABEL.encode(LABEL.decode('{"label": null}')) == "{}"


def test_unknown_fields_are_kept_whatever_they_hold() -> None:
    text = '{"in":{"n":1,"b":[1,1.5,{"c":"é"}],"a":null},"z":{"y":true}}'

    stored = INNER.decode(text)

    assert stored == Stored(
        1, (((), "z", '{"y":true}'), (("in",), "a", "null"), (("in",), "b", '[1,1.5,{"c":"\\u00e9"}]'))
    )
    assert json.loads(INNER.encode(stored)) == json.loads(text)
    assert json.loads(INNER.encode(Stored(2, stored.unknown))) == json.loads(text.replace('"n":1', '"n":2'))


def test_unknown_fields_of_an_item_follow_it_through_the_list() -> None:
    stored = ITEMS.decode(
        '{"items": [{"id": 1, "name": "a", "x": "of 1"}, {"id": 2, "name": "b", "x": "of 2"}]}'
    )

    rewritten = json.loads(ITEMS.encode(Stored(((3, "c"), (2, "b")), stored.unknown)))

    assert rewritten == {"items": [{"id": 3, "name": "c"}, {"id": 2, "name": "b", "x": "of 2"}]}


def test_an_unknown_field_never_replaces_one_that_we_write() -> None:
    assert COUNT.encode(Stored(1, (((), "n", "2"),))) == '{"n":1}'


def test_a_whole_number_that_no_double_holds_becomes_the_nearest_one() -> None:
    huge = RATE.decode(f'{{"r": {10**308}}}').value

    assert huge + huge + 0.5 == math.inf
    assert RATE.decode(f'{{"r": {2**53 + 1}}}').value == 2.0**53
    assert isinstance(RATE.decode('{"r": 7}').value, int)
