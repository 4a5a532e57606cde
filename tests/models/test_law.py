"""The runner of laws tells the four verdicts apart."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from models.laws.law import LAWS, law, run, seen
from models.verdict import Outcome, Verdict, exit_code

numbers = st.integers(0, 1000)


@pytest.fixture(autouse=True)
def _no_law_stays() -> Iterator[None]:
    before = dict(LAWS)
    yield
    LAWS.clear()
    LAWS.update(before)


def test_a_true_law_holds() -> None:
    @law("468-LAYOUT-01", x=numbers)
    def adding_nothing_changes_nothing(x: int) -> None:
        """Zero is neutral."""
        assert x + 0 == x

    found = LAWS["adding_nothing_changes_nothing"]
    assert found.says == "Zero is neutral."
    assert found.check == "law:adding_nothing_changes_nothing"
    outcome = run(found, examples=50)
    assert (outcome.check, outcome.verdict, outcome.basis) == (found.check, Verdict.HOLDS, "50 examples")


def test_a_false_law_is_violated_by_a_smallest_example() -> None:
    @law(x=numbers)
    def all_numbers_are_small(x: int) -> None:
        assert x < 500

    outcome = run(LAWS["all_numbers_are_small"], examples=200)

    assert outcome.verdict is Verdict.VIOLATED
    assert "test_law.py:" in outcome.explanation
    assert "assert x < 500" in outcome.explanation
    assert "x=500" in outcome.explanation


def test_a_stray_exception_is_a_violation() -> None:
    @law(x=numbers)
    def nothing_goes_wrong(x: int) -> None:
        raise KeyError(x)

    outcome = run(LAWS["nothing_goes_wrong"])

    assert outcome.verdict is Verdict.VIOLATED
    assert outcome.explanation.startswith("KeyError")


def test_a_law_that_saw_nothing_interesting_is_vacuous() -> None:
    @law(x=numbers, sometimes=("a small number", "a giant"))
    def giants_are_rare(x: int) -> None:
        seen("a small number", x < 900)
        seen("a giant", x > 10_000)

    outcome = run(LAWS["giants_are_rare"])

    assert outcome.verdict is Verdict.VACUOUS
    assert outcome.explanation == "never seen: a giant"


def test_a_law_without_any_value_is_unknown() -> None:
    @law(x=numbers)
    def nothing_qualifies(x: int) -> None:
        assume(x < 0)

    assert run(LAWS["nothing_qualifies"]).verdict is Verdict.UNKNOWN


def test_a_value_that_once_broke_a_law_is_tried_first(tmp_path: Path) -> None:
    @law(x=st.integers(0, 10**9))
    def one_number_is_bad(x: int) -> None:
        assert x <= 10**8

    first = run(LAWS["one_number_is_bad"], examples=300, memory=tmp_path)
    again = run(LAWS["one_number_is_bad"], examples=1, chosen_seed=7, memory=tmp_path)

    assert first.verdict is again.verdict is Verdict.VIOLATED


def test_the_same_seed_tries_the_same_values() -> None:
    tried: list[int] = []

    @law(x=numbers)
    def anything_goes(x: int) -> None:
        tried.append(x)

    run(LAWS["anything_goes"], examples=30, chosen_seed=3)
    first, tried[:] = list(tried), []
    run(LAWS["anything_goes"], examples=30, chosen_seed=3)

    assert tried == first


def test_two_laws_cannot_share_a_name() -> None:
    def same(x: int) -> None: ...

    law(x=numbers)(same)
    with pytest.raises(ValueError, match="two laws called same"):
        law(x=numbers)(same)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.HOLDS, Verdict.HOLDS], 0),
        ([Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN], 1),
        ([Verdict.HOLDS, Verdict.VACUOUS], 3),
        ([Verdict.UNKNOWN], 3),
        ([], 3),
    ],
)
def test_exit_codes(verdicts: list[Verdict], code: int) -> None:
    assert exit_code(Outcome("law:x", verdict, "", 0) for verdict in verdicts) == code
