"""Where no rule can be right, two behaviours show it; where there is a rule, there are none."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from models.engine.result import replay
from models.indistinguishable import Answer, look_for_two
from models.reports.unanswerable import page
from models.unanswerable import CHAPTERS, ENTRIES, GHOSTS, answer, world_of
from proofs.contracts import ROOT
from spec.design import HARDENED, Unknown
from spec.machine import Family, Machine, Memory, Variable, action, require
from spec.world import Model, World

PAGE = ROOT / "docs" / "transactions-without-an-answer.md"
UPDATE = f"run .venv/bin/python -m models.reports.unanswerable > {PAGE.relative_to(ROOT)}"
HOPELESS = {
    "decided": ("as the text has it",),
    "told": ("as the text has it", "headers are kept for ever"),
    "repeated": tuple(keeping.name for keeping in ENTRIES.keepings),
    "consumed": ("as the text has it",),
    "alone": ("as the text has it", "records stay until the cursor is written down"),
}
CASES = {(q.name, k.name): (c, q, k) for c in CHAPTERS for q in c.questions for k in c.keepings}


@cache
def found(question: str, keeping: str) -> Answer:
    return answer(*CASES[question, keeping])


@pytest.mark.parametrize(("question", "keeping"), CASES)
def test_there_is_a_pair_exactly_where_no_rule_can_be_right(question: str, keeping: str) -> None:
    asked = found(question, keeping)

    assert (asked.pair is not None) == (keeping in HOPELESS[question])
    assert asked.asked > 1


@pytest.mark.parametrize(("question", "keeping"), [(q, k) for q, some in HOPELESS.items() for k in some])
def test_both_traces_end_with_the_same_stored_whatever_the_rule_is(question: str, keeping: str) -> None:
    pair, world = found(question, keeping).pair, world_of(*CASES[question, keeping])
    assert pair is not None
    rules: tuple[Unknown, ...] = (Unknown.NEVER_ASKED,)
    if world.design.unknown is not Unknown.NEVER_ASKED:
        rules = (Unknown.ABORTED, Unknown.COMMITTED)

    for rule in rules:
        model = Model(replace(world, design=replace(world.design, unknown=rule)))
        one, other = (replay(model, trace)[-1] for trace in pair.traces)
        different = {slot.family for slot, a, b in zip(model.slots, one, other, strict=True) if a != b}
        assert different
        assert different <= set(GHOSTS)
    assert pair.owed[0] != pair.owed[1]


@pytest.mark.parametrize(("question", "keeping"), [(q, k) for q, some in HOPELESS.items() for k in some])
def test_nobody_decides_on_the_way_what_the_question_is_about(question: str, keeping: str) -> None:
    pair = found(question, keeping).pair
    assert pair is not None

    taken = {move.label.partition("(")[0] for trace in pair.traces for move in trace.moves}

    assert not taken & {"dispatch", "settle", "replay_acks", "apply_acks", "write_cursor"}


def test_with_outcomes_kept_there_is_a_rule_for_several_writes_as_well() -> None:
    chapter, question, keeping = CASES["told", ENTRIES.keepings[-1].name]
    world = world_of(chapter, question, keeping).at(transactional_writes=2)

    asked = look_for_two(world, GHOSTS, question.demand)

    assert world.design == HARDENED
    assert asked.pair is None
    assert asked.asked > 100


def test_every_ghost_is_a_variable_that_is_in_nobody_s_memory() -> None:
    views = [Model(chapter.world).view_class for chapter in CHAPTERS]

    for name in GHOSTS:
        declared = next(getattr(view, name) for view in views if hasattr(view, name))
        assert isinstance(declared, Variable | Family)
        assert not isinstance(declared, Memory)


def test_the_page_is_what_the_checker_says_now() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(lambda _, q, k: found(q.name, k.name)), UPDATE


class Coin(Machine):
    """Somebody throws a coin, may write down how it fell, and may forget it."""

    fell = Variable[str](" ")
    noted = Variable[str](" ")


@action("COIN-THROW", side=("heads", "tails"))
def throw(w: Coin, side: str) -> None:
    """The coin falls on one of its sides."""
    require(w.fell == " ")
    w.fell = side


@action("COIN-NOTE")
def note(w: Coin) -> None:
    """How it fell is written down."""
    require(w.fell != " ")
    w.noted = w.fell


def how_it_fell(w: Coin) -> Iterator[str]:
    if w.fell != " ":
        yield w.fell


def how_it_fell_once_noted(w: Coin) -> Iterator[str]:
    if w.noted != " ":
        yield w.fell


COIN = World(name="coin", asks="Can one tell how the coin fell?", machines=(Coin,), bounds={})


def test_before_it_is_noted_nobody_can_tell_how_the_coin_fell() -> None:
    asked = look_for_two(COIN, ["fell"], how_it_fell)

    assert asked.states == 5
    assert asked.asked == 4
    assert asked.pair is not None
    assert asked.pair.owed == ("heads", "tails")
    assert [[move.label for move in trace.moves] for trace in asked.pair.traces] == [
        ["throw(heads)"],
        ["throw(tails)"],
    ]
    assert asked.pair.stored == {"noted": " "}


def test_once_it_is_noted_everybody_can() -> None:
    assert look_for_two(COIN, ["fell"], how_it_fell_once_noted).pair is None


def test_who_can_see_the_coin_need_not_ask() -> None:
    assert look_for_two(COIN, [], how_it_fell).pair is None
