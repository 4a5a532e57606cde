"""The benchmark world holds, breaks when a guard is taken out, and is the same world in Spin."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from models.engine.reference import explore
from models.engine.result import Result
from models.verdict import Verdict
from models.worlds.split_merge import (
    COUNTS,
    LARGE,
    SIZES,
    SMALL,
    Change,
    Scalable,
    Segment,
    Topic,
    begin_split,
    publish,
)
from spec.machine import Sort, choose, require
from spec.world import Holds, Model, World
from tests.bench import spin_runner
from tests.bench.spin_runner import LOSSLESS, SPLIT_MERGE, NoSpin, SpinFailed, defines, run_spin

needs_spin = pytest.mark.skipif(
    bool(spin_runner.missing()), reason="spin or gcc is not installed: apt-get install spin gcc"
)


@pytest.fixture(scope="module")
def small() -> Result:
    return explore(SMALL)


def test_the_small_world_holds_with_exactly_these_counts(small: Result) -> None:
    assert small.verdict is Verdict.HOLDS
    assert (small.states, small.transitions) == COUNTS[10**4]
    assert small.surprises() == []


def test_every_witness_has_a_short_way_there(small: Result) -> None:
    steps = {name: len(trace.moves) for name, trace in small.witnesses.items() if trace}

    assert steps == {
        "a_split_was_published": 6,
        "a_merge_was_published": 11,
        "a_stale_leader_lost_the_race": 9,
        "a_producer_was_turned_away": 6,
        "a_subscription_came_in_between": 7,
        "a_child_was_consumed": 11,
    }


def test_the_worlds_are_sizes_of_the_table() -> None:
    assert SMALL.bounds == SIZES[10**4]
    assert LARGE.bounds == SIZES[2 * 10**6]
    assert LARGE.expect == Holds(states=COUNTS[2 * 10**6][0], depth=34)
    assert LARGE.large
    for bounds in SIZES.values():
        assert 20 <= len(Model(replace(SMALL, bounds=bounds)).slots) <= 50


def changed(action: str, body: Callable[..., None], **bounds: int) -> World:
    """The small world with another body for one of its actions."""

    class Changed(Scalable):
        pass

    assert action in [a.name for a in Scalable.actions]
    Changed.actions = [replace(a, body=body) if a.name == action else a for a in Scalable.actions]
    Changed.properties = Scalable.properties
    return replace(SMALL.at(**bounds), machines=(Changed,))


def publish_over_a_newer_record(w: Scalable, broker: str) -> None:
    change = w.change[broker]
    if isinstance(change, Change):
        w.change[broker] = replace(change, version=w.record.version)
    publish(w, broker)


def publish_before_all_is_sealed(w: Scalable, broker: str) -> None:
    change = w.change[broker]
    require(isinstance(change, Change) and change.created == len(change.children))
    assert isinstance(change, Change)
    require(change.sealed == len(change.parents) - 1)
    w.change[broker] = replace(change, sealed=len(change.parents))
    publish(w, broker)


def publish_a_merge_with_one_parent_sealed(w: Scalable, broker: str) -> None:
    change = w.change[broker]
    if isinstance(change, Change) and len(change.parents) == 2 and change.sealed == 1:
        w.change[broker] = replace(change, sealed=2)
    publish(w, broker)


def publish_only_the_first_child(w: Scalable, broker: str) -> None:
    change = w.change[broker]
    if isinstance(change, Change):
        w.change[broker] = replace(change, children=change.children[:1])
    publish(w, broker)


def create_child_without_cursor(w: Scalable, broker: str) -> None:
    change = w.change[broker]
    require(isinstance(change, Change) and change.created < len(change.children))
    assert isinstance(change, Change)
    w.topic[change.children[change.created].id] = Topic.OPEN
    w.change[broker] = replace(change, created=change.created + 1)


def begin_split_without_a_write(w: Scalable, broker: str) -> None:
    record = w.record
    begin_split(w, broker)
    change = w.change[broker]
    assert isinstance(change, Change)
    w.record = record
    w.change[broker] = replace(change, version=record.version)


def begin_split_with_overlapping_halves(w: Scalable, broker: str) -> None:
    begin_split(w, broker)
    change = w.change[broker]
    assert isinstance(change, Change)
    left, right = change.children
    w.change[broker] = replace(change, children=(left, Segment(right.id, left.last, right.last)))


def ask_for_subscription_beside_the_version(w: Scalable) -> None:
    require(w.subscription is None)
    w.subscription = tuple(sorted(segment.id for segment in w.record.active))
    w.record = replace(w.record, subscribed=True)


def create_one_cursor_and_be_done(w: Scalable) -> None:
    waiting = w.subscription
    require(waiting)
    assert waiting is not None
    segment = choose(w, waiting)
    w.cursor[segment] = len(w.log[segment])
    w.subscription = ()


def consume_whatever_comes(w: Scalable, segment: int) -> None:
    position = w.cursor[segment]
    require(position is not None and position < len(w.log[segment]))
    assert position is not None
    message = w.log[segment][position]
    w.received[message.key] += (message.number,)
    w.cursor[segment] = position + 1


def consume_after_the_youngest_ancestor(w: Scalable, segment: int) -> None:
    for before in w.ancestors[segment][-1:]:
        require(w.cursor[before] in (None, len(w.log[before])))
    consume_whatever_comes(w, segment)


OWNERS, LOST, SEALED, ORDER = (
    "every_hash_has_one_owner",
    "no_acknowledged_message_is_lost",
    "what_has_children_takes_no_writes",
    "keys_stay_in_order",
)
MUTANTS: list[tuple[str, Callable[..., None], str, dict[str, int]]] = [
    ("publish", publish_over_a_newer_record, LOST, {}),
    ("publish", publish_over_a_newer_record, OWNERS, {"segments": 5, "messages": 0}),
    ("publish", publish_before_all_is_sealed, SEALED, {}),
    ("publish", publish_a_merge_with_one_parent_sealed, SEALED, {}),
    ("publish", publish_only_the_first_child, OWNERS, {}),
    ("create_child", create_child_without_cursor, LOST, {}),
    ("begin_split", begin_split_without_a_write, SEALED, {}),
    ("begin_split", begin_split_with_overlapping_halves, OWNERS, {}),
    ("ask_for_subscription", ask_for_subscription_beside_the_version, LOST, {}),
    ("create_cursor", create_one_cursor_and_be_done, LOST, {}),
    ("consume", consume_whatever_comes, ORDER, {}),
    ("consume", consume_after_the_youngest_ancestor, ORDER, {}),
]


@pytest.mark.parametrize(
    ("action", "body", "broken", "bounds"),
    MUTANTS,
    ids=[f"{body.__name__}-{broken}" for _, body, broken, _ in MUTANTS],
)
def test_every_guard_is_needed(
    action: str, body: Callable[..., None], broken: str, bounds: dict[str, int]
) -> None:
    result = explore(changed(action, body, **bounds))

    assert result.verdict is Verdict.VIOLATED
    assert broken in [breach.property for breach in result.breaches]


def test_every_property_is_broken_by_some_mutant() -> None:
    always = {p.name for p in Scalable.properties if p.sort is Sort.ALWAYS}

    assert {broken for _, _, broken, _ in MUTANTS} == always


@needs_spin
@pytest.mark.parametrize(
    "bounds",
    [
        SIZES[10**4],
        {"brokers": 2, "producers": 1, "hashes": 4, "keys": 2, "segments": 5, "messages": 1, "crashes": 0},
        {"brokers": 2, "producers": 2, "hashes": 2, "keys": 1, "segments": 4, "messages": 1, "crashes": 0},
        {"brokers": 3, "producers": 1, "hashes": 3, "keys": 1, "segments": 4, "messages": 1, "crashes": 1},
    ],
    ids=str,
)
def test_spin_finds_the_same_states_and_transitions(bounds: dict[str, int]) -> None:
    ours = explore(SMALL.at(**bounds))

    spin = run_spin(defines(SMALL.at(**bounds)), LOSSLESS, SPLIT_MERGE, hash_bits=18)

    assert (spin.states, spin.transitions, spin.errors) == (ours.states, ours.transitions, 0)
    assert spin.depth >= ours.depth


@needs_spin
@pytest.mark.parametrize(
    ("guard", "weaker"),
    [
        ("change[b].version != version ->", "false ->"),
        ("change[b].sealed == PARENTS(b) ->", "true ->"),
        ("segment[owner].cursor = change[b].subscribed;", "segment[owner].cursor = 0;"),
        ("&& FRONT(SEGMENTS, s) ->", "->"),
    ],
)
def test_the_assertions_of_the_twin_can_fail(guard: str, weaker: str, tmp_path: Path) -> None:
    text = SPLIT_MERGE.read_text()
    assert text.count(guard) == 1
    model = tmp_path / "weaker.pml"
    model.write_text(text.replace(guard, weaker))

    assert run_spin(defines(SMALL), LOSSLESS, model, hash_bits=18).errors == 1


@needs_spin
def test_a_search_of_spin_that_was_cut_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin_runner, "DEPTH", 10)

    with pytest.raises(SpinFailed, match="cut off"):
        run_spin(defines(SMALL), LOSSLESS, SPLIT_MERGE, hash_bits=18)


@needs_spin
def test_bounds_for_which_the_twin_has_no_room_are_refused() -> None:
    with pytest.raises(SpinFailed, match="no room"):
        run_spin(defines(SMALL.at(messages=8)), LOSSLESS, SPLIT_MERGE)


def test_without_spin_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(NoSpin, match="spin and gcc not found: apt-get install spin gcc"):
        run_spin(defines(SMALL), LOSSLESS, SPLIT_MERGE)
