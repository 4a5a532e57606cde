"""Promises are broken by fair behaviours without end and by nothing else, and the behaviour shown is real."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from models.engine.liveness import Answer, Graph, check, graph_of
from models.engine.result import Breach, replay
from spec.machine import (
    STRONG,
    WEAK,
    Bound,
    Domain,
    Fairness,
    Family,
    Machine,
    Property,
    Sort,
    Variable,
    action,
    choose,
    leads_to,
    require,
    start,
)
from spec.world import Instance, Model, State, World

# Any labelled graph is a machine with one variable: where it stands.


@dataclass(frozen=True)
class Drawing:
    """A graph with labelled arrows, some labels fair, some places triggers and some goals."""

    size: int
    initial: tuple[int, ...]
    arrows: tuple[frozenset[tuple[int, int]], ...]
    fair: tuple[Fairness | None, ...]
    trigger: frozenset[int]
    goal: frozenset[int]


def machine_of(drawing: Drawing) -> Model:
    """A machine that walks along the arrows of a drawing."""

    class Walker(Machine):
        at = Variable[int](0)

    @start
    def begin(w: Walker) -> None:
        w.at = choose(w, drawing.initial)

    def walk(arrows: frozenset[tuple[int, int]]) -> Callable[..., None]:
        def along(w: Walker) -> None:
            here = w.at
            w.at = choose(w, [target for source, target in sorted(arrows) if source == here])

        return along

    for number, (arrows, fair) in enumerate(zip(drawing.arrows, drawing.fair, strict=True)):
        body = walk(arrows)
        body.__name__ = f"walk_{number}"
        action(fair=fair)(body)

    @leads_to()
    def arrives(w: Walker) -> tuple[object, object]:
        return w.at in drawing.trigger, w.at in drawing.goal

    return Model(World(name="walk", asks="Does it arrive?", machines=(Walker,), bounds={}))


def drawings() -> st.SearchStrategy[Drawing]:
    def of(size: int) -> st.SearchStrategy[Drawing]:
        place = st.integers(0, size - 1)
        arrows = st.frozensets(st.tuples(place, place), max_size=2 * size)
        return st.integers(1, 4).flatmap(
            lambda labels: st.builds(
                Drawing,
                size=st.just(size),
                initial=st.lists(place, min_size=1, max_size=2, unique=True).map(tuple),
                arrows=st.tuples(*[arrows] * labels),
                fair=st.tuples(*[st.sampled_from([None, WEAK, STRONG])] * labels),
                trigger=st.frozensets(place, min_size=1),
                goal=st.frozensets(place, max_size=size // 2),
            )
        )

    return st.integers(1, 5).flatmap(of)


def reach(begin: Iterable[int], arrows: set[tuple[int, int]]) -> set[int]:
    found = set(begin)
    while more := {target for source, target in arrows if source in found} - found:
        found |= more
    return found


def breakable(drawing: Drawing) -> bool:
    """Whether the promise can be broken, by trying every set of places as those visited for ever."""
    moving = [{(a, b) for a, b in arrows if a != b} for arrows in drawing.arrows]
    known = reach(drawing.initial, set().union(*moving))
    waiting = known - drawing.goal
    among = {(a, b) for arrows in moving for a, b in arrows if a in waiting and b in waiting}
    region = reach(drawing.trigger & waiting, among)

    def fair(places: set[int]) -> bool:
        for arrows, promised in zip(moving, drawing.fair, strict=True):
            able = {a for a, _ in arrows} & places
            taken = any(a in places and b in places for a, b in arrows)
            if promised is WEAK and able == places and not taken:
                return False
            if promised is STRONG and able and not taken:
                return False
        return True

    def connected(places: set[int]) -> bool:
        inner = {(a, b) for a, b in among if a in places and b in places}
        return all(reach([place], inner) == places for place in places)

    subsets = (set(some) for n in range(1, len(region) + 1) for some in combinations(sorted(region), n))
    return any(connected(places) and fair(places) for places in subsets)


def possible(model: Model, instance: Instance[Any], state: State) -> bool:
    return any(model.after(state, way) != state for way in model.run(instance, state).result)


def assert_real(model: Model, breach: Breach, label: str) -> None:
    """The trace can be replayed, its loop closes and is fair, and the goal never comes after the trigger."""
    promise = next(check for check in model.checks if check.label == label)
    trace = breach.trace
    assert trace.loop is not None
    states = replay(model, trace)
    assert states[trace.loop] == states[-1]

    truths = [model.look(promise, state).result for state in states]
    last_goal = max((n for n, (_, goal) in enumerate(truths) if goal), default=-1)
    assert last_goal < trace.loop
    assert any(trigger for trigger, _ in truths[last_goal + 1 :])

    loop = states[trace.loop :]
    steps = list(zip(states, trace.moves, states[1:], strict=False))[trace.loop :]
    for instance in model.instances:
        able = [possible(model, instance, state) for state in loop]
        taken = any(move.label == instance.label and before != after for before, move, after in steps)
        if instance.of.fair is WEAK:
            assert taken or not all(able), f"{instance.label} is weakly fair and owed"
        if instance.of.fair is STRONG:
            assert taken or not any(able), f"{instance.label} is strongly fair and owed"


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawings())
def test_a_promise_is_broken_exactly_if_some_set_of_places_can_be_visited_for_ever(drawing: Drawing) -> None:
    model = machine_of(drawing)

    answer = check(model, graph_of(model))

    assert answer.undecided == ""
    assert bool(answer.breaches) == breakable(drawing)
    for breach in answer.breaches:
        assert_real(model, breach, "arrives()")
    event(f"broken {bool(answer.breaches)}, strong {STRONG in drawing.fair}, weak {WEAK in drawing.fair}")


@settings(max_examples=200, deadline=None)
@given(drawings(), st.randoms(use_true_random=False))
def test_the_order_of_the_steps_does_not_matter(drawing: Drawing, random: Any) -> None:
    model = machine_of(drawing)
    graph = graph_of(model)
    order = list(range(len(graph.source)))
    random.shuffle(order)

    mixed = Graph(
        graph.states,
        graph.initial,
        graph.source[order],
        graph.target[order],
        graph.instance[order],
        graph.way[order],
        graph.outside,
        graph.state,
    )

    found = check(model, mixed).breaches
    assert [b.property for b in found] == [b.property for b in check(model, graph).breaches]
    for breach in found:
        assert_real(model, breach, "arrives()")


# Mutual exclusion: a lock that is handed out under no, weak or strong fairness.

CLIENTS = Domain("client", "c")


def lock(ask: Fairness | None, grant: Fairness | None, release: Fairness | None) -> Model:
    class Lock(Machine):
        holder = Variable[str | None](None)
        asked = Family[str, bool](CLIENTS, False)

    @action(client=CLIENTS, fair=ask)
    def request(w: Lock, client: str) -> None:
        require(not w.asked[client])
        w.asked[client] = True

    @action(client=CLIENTS, fair=grant)
    def give(w: Lock, client: str) -> None:
        require(w.asked[client] and w.holder is None)
        w.holder = client

    @action(client=CLIENTS, fair=release)
    def give_back(w: Lock, client: str) -> None:
        require(w.holder == client)
        w.holder = None
        w.asked[client] = False

    @leads_to(client=CLIENTS)
    def who_asks_is_served(w: Lock, client: str) -> tuple[object, object]:
        return w.asked[client], w.holder == client

    return Model(World(name="lock", asks="Is everybody served?", machines=(Lock,), bounds={"clients": 2}))


def only(answer: Answer) -> Breach:
    assert len(answer.breaches) == 1
    return answer.breaches[0]


def test_without_fairness_nothing_has_to_happen() -> None:
    model = lock(None, None, None)

    breach = only(check(model, graph_of(model)))

    assert breach.property == "who_asks_is_served"
    assert [move.label for move in breach.trace.moves] == ["request(c1)"]
    assert breach.trace.loop == 1
    assert breach.sentences == (
        "who_asks_is_served(c1): after step 1 the trigger holds, and the goal never follows: "
        "nothing more has to happen",
        "request(c2) and give(c1) could happen, but nobody promises that",
    )


def test_under_weak_fairness_the_other_client_is_always_quicker() -> None:
    model = lock(WEAK, WEAK, WEAK)

    breach = only(check(model, graph_of(model)))

    assert_real(model, breach, "who_asks_is_served(c1)")
    loop = [move.label for move in breach.trace.moves][breach.trace.loop :]
    assert sorted(loop) == ["give(c2)", "give_back(c2)", "request(c2)"]
    first, second = breach.sentences
    assert first.endswith("steps 2 to 4 repeat for ever")
    assert second.startswith("give(c1) is not owed: after step ")


def test_strong_fairness_serves_everybody() -> None:
    model = lock(None, STRONG, WEAK)
    assert check(model, graph_of(model)) == Answer(())


def test_strong_fairness_is_of_no_use_if_nobody_gives_back() -> None:
    model = lock(WEAK, STRONG, None)

    breach = only(check(model, graph_of(model)))

    assert_real(model, breach, "who_asks_is_served(c1)")
    assert breach.sentences[0].endswith("nothing more has to happen")


# Dining philosophers: they may all starve, or only one of them, or none.

SEATS = Domain("seat")


def table(seats: int, polite: bool, fair: Fairness) -> Model:
    class Table(Machine):
        seats = Bound()
        fork = Family[int, int | None](SEATS, None)
        ate = Family[int, bool](SEATS, False)

    def forks(w: Table, seat: int) -> tuple[int, int]:
        left, right = seat, (seat + 1) % w.seats
        return (right, left) if polite and seat == 0 else (left, right)

    @action(seat=SEATS, fair=fair)
    def take_first(w: Table, seat: int) -> None:
        first, _ = forks(w, seat)
        require(w.fork[first] is None and not w.ate[seat])
        w.fork[first] = seat

    @action(seat=SEATS, fair=fair)
    def take_second(w: Table, seat: int) -> None:
        first, second = forks(w, seat)
        require(w.fork[first] == seat and w.fork[second] is None)
        w.fork[second] = seat
        w.ate[seat] = True

    @action(seat=SEATS, fair=fair)
    def put_down(w: Table, seat: int) -> None:
        first, second = forks(w, seat)
        require(w.fork[first] == seat == w.fork[second])
        w.fork[first] = None
        w.fork[second] = None

    @action(seat=SEATS)
    def get_hungry(w: Table, seat: int) -> None:
        require(w.ate[seat] and seat not in list(w.fork.values()))
        w.ate[seat] = False

    @leads_to(seat=SEATS)
    def the_hungry_eat(w: Table, seat: int) -> tuple[object, object]:
        return not w.ate[seat], w.ate[seat]

    return Model(World(name="table", asks="Does everybody eat?", machines=(Table,), bounds={"seats": seats}))


def test_who_all_take_the_left_fork_first_starve_together() -> None:
    model = table(3, polite=False, fair=STRONG)

    breach = only(check(model, graph_of(model)))

    assert [move.label for move in breach.trace.moves] == [f"take_first({n})" for n in range(3)]
    assert breach.trace.loop == 3
    assert breach.sentences == (
        "the_hungry_eat(0): at the start the trigger holds, and the goal never follows: "
        "nothing more can happen",
    )


def test_a_polite_table_starves_one_under_weak_fairness_and_none_under_strong() -> None:
    weak = table(2, polite=True, fair=WEAK)
    breach = only(check(weak, graph_of(weak)))
    assert_real(weak, breach, "the_hungry_eat(0)")
    assert len(breach.trace.moves) > (breach.trace.loop or 0)

    strong = table(2, polite=True, fair=STRONG)
    assert check(strong, graph_of(strong)) == Answer(())


# Small things, each by itself.


def arrow(*pairs: tuple[int, int]) -> frozenset[tuple[int, int]]:
    return frozenset(pairs)


def drawn(
    *arrows: tuple[Fairness | None, frozenset[tuple[int, int]]],
    trigger: set[int],
    goal: set[int],
    size: int = 4,
) -> Drawing:
    fair, pairs = zip(*arrows, strict=True)
    return Drawing(size, (0,), pairs, fair, frozenset(trigger), frozenset(goal))


def asked(drawing: Drawing) -> Answer:
    model = machine_of(drawing)
    answer = check(model, graph_of(model))
    for breach in answer.breaches:
        assert_real(model, breach, "arrives()")
    return answer


def test_a_step_that_changes_nothing_is_not_the_one_that_is_promised() -> None:
    assert not asked(drawn((WEAK, arrow((0, 0), (0, 1))), trigger={0}, goal={1})).breaches
    assert asked(drawn((WEAK, arrow((0, 0))), (None, arrow((0, 1))), trigger={0}, goal={1})).breaches


def test_the_goal_at_the_point_of_the_trigger_is_enough() -> None:
    assert not asked(drawn((None, arrow((0, 1))), trigger={1}, goal={1})).breaches


def test_a_goal_before_the_trigger_is_not_enough() -> None:
    breach = only(asked(drawn((WEAK, arrow((0, 1), (1, 2))), trigger={2}, goal={1})))
    assert breach.sentences[0].startswith("arrives(): after step 2 the trigger holds")


def test_the_stem_may_pass_the_goal_and_come_back_to_the_trigger() -> None:
    breach = only(asked(drawn((WEAK, arrow((0, 1), (1, 0), (0, 2))), trigger={0}, goal={1})))
    assert len(breach.trace.moves) == 1


def test_each_of_several_alternatives_is_the_action() -> None:
    assert asked(drawn((STRONG, arrow((0, 1), (1, 0), (0, 2))), trigger={0}, goal={2})).breaches
    assert not asked(
        drawn((WEAK, arrow((0, 1), (1, 0))), (STRONG, arrow((0, 2))), trigger={0}, goal={2})
    ).breaches
    assert asked(drawn((WEAK, arrow((0, 1), (1, 0))), (WEAK, arrow((0, 2))), trigger={0}, goal={2})).breaches


def test_strong_fairness_is_decided_in_the_smaller_loops_too() -> None:
    """0 ⇄ 1 ⇄ 2: from 0 the strongly fair action leads away, so only 1 ⇄ 2 may repeat."""
    breach = only(
        asked(
            drawn(
                (WEAK, arrow((0, 1), (1, 0), (1, 2), (2, 1))), (STRONG, arrow((0, 3))), trigger={0}, goal={3}
            )
        )
    )
    assert breach.trace.loop == 1
    assert len(breach.trace.moves) == 3
    assert breach.sentences[0].endswith("steps 2 to 3 repeat for ever")


def test_the_loop_takes_what_is_owed() -> None:
    """0 → 1 → 2 → 0 and a chord 1 → 0: the fair action on 2 → 0 is owed only if 2 is visited for ever."""
    around = (None, arrow((0, 1), (1, 2), (1, 0)))
    short = only(asked(drawn(around, (STRONG, arrow((2, 0))), (WEAK, arrow((0, 1))), trigger={1}, goal={3})))
    assert len(short.trace.moves) - (short.trace.loop or 0) == 0
    long = only(asked(drawn((WEAK, arrow((0, 1), (1, 2))), (WEAK, arrow((2, 0))), trigger={1}, goal={3})))
    assert len(long.trace.moves) - (long.trace.loop or 0) == 3


def test_what_becomes_possible_on_the_way_home_is_owed_too() -> None:
    """0 → 1 → 2 → 0: only on the way home, in 2, could the strongly fair 2 → 3 be taken."""
    around, back, aside = arrow((0, 1)), arrow((1, 2), (2, 0), (3, 0)), arrow((2, 3))
    breach = only(asked(drawn((WEAK, around), (WEAK, back), (STRONG, aside), trigger={0}, goal={4}, size=5)))
    assert "walk_2()" in [move.label for move in breach.trace.moves]


def test_what_is_owed_is_taken_before_the_way_home() -> None:
    around, back, aside = arrow((0, 1), (2, 0)), arrow((1, 0)), arrow((1, 2))
    breach = only(asked(drawn((WEAK, around), (None, back), (STRONG, aside), trigger={0}, goal={3})))
    assert [move.label for move in breach.trace.moves] == ["walk_0()", "walk_2()", "walk_0()"]


def test_a_loop_does_not_stray_into_another_fair_part() -> None:
    """3 ⇄ 4 may repeat once 0 is left out; 1 ⇄ 2 may repeat as well, but there is no way back from there."""
    ways = arrow((0, 3), (3, 1), (3, 4), (4, 3), (4, 0), (1, 2), (2, 1))
    breach = only(asked(drawn((WEAK, ways), (STRONG, arrow((0, 5))), trigger={0}, goal={5}, size=6)))
    assert breach.sentences[0].endswith("steps 2 to 3 repeat for ever")


class Counter(Machine):
    limit = Bound()
    n = Variable[int](0)
    stuck = Variable[bool](False)


@action(fair=WEAK)
def count(w: Counter) -> None:
    require(not w.stuck)
    w.n += 1


@action()
def stop(w: Counter) -> None:
    require(w.n == w.limit and not w.stuck)
    w.stuck = True


@leads_to()
def it_gets_far(w: Counter) -> tuple[object, object]:
    return w.n == 0, w.n == 100


@leads_to()
def it_gets_going(w: Counter) -> tuple[object, object]:
    return w.n == 0, w.n == 1


def counter(limit: int) -> Model:
    return Model(
        World(
            name="counter",
            asks="How far does it get?",
            machines=(Counter,),
            bounds={"limit": limit},
            within=lambda w: w.n < 5,
        )
    )


def test_a_graph_that_was_cut_off_decides_nothing_in_favour() -> None:
    model = counter(limit=7)

    answer = check(model, graph_of(model))

    assert answer.breaches == ()
    assert answer.undecided == (
        "it_gets_far, it_gets_going: 1 states were not left, so what follows is not known"
    )


def test_a_loop_in_a_graph_that_was_cut_off_is_real() -> None:
    model = counter(limit=3)

    answer = check(model, graph_of(model))

    assert_real(model, only(answer), "it_gets_far()")
    assert answer.undecided.startswith("it_gets_going: ")


def test_a_search_that_stopped_says_why() -> None:
    model = counter(limit=7)
    graph = graph_of(model, limit=2)
    assert graph.outside.tolist() == [False, False, True]
    assert "20 states reached" in check(model, graph, cut="20 states reached").undecided


def test_a_step_to_a_state_that_was_not_kept_leaves_open_what_follows() -> None:
    """0 → 1 → 2 and 0 → 3: if there is no room for what follows 1, only 3 may be the end."""
    drawing = drawn((WEAK, arrow((0, 1), (1, 2))), (None, arrow((0, 3))), trigger={1}, goal={2})
    model = machine_of(drawing)
    whole = graph_of(model)
    kept = replace(whole, target=np.where(whole.source == 1, -1, whole.target))

    assert check(model, whole) == Answer(())
    assert check(model, kept) == Answer((), "arrives: 1 states were not left, so what follows is not known")

    elsewhere = machine_of(replace(drawing, trigger=frozenset({3})))
    assert_real(elsewhere, only(check(elsewhere, replace(kept, state=whole.state))), "arrives()")


def test_the_truth_may_be_known_beforehand() -> None:
    model = lock(None, None, None)
    graph = graph_of(model)
    asked_for: list[str] = []

    def truth(promise: Instance[Property]) -> tuple[Any, Any]:
        asked_for.append(promise.label)
        return np.zeros(graph.states, np.bool_), np.zeros(graph.states, np.bool_)

    assert check(model, graph, truth) == Answer(())
    assert asked_for == ["who_asks_is_served(c1)", "who_asks_is_served(c2)"]


def test_a_promise_is_looked_at_once_for_each_combination_of_what_it_reads() -> None:
    looks: list[str] = []

    class Counting(Model):
        def look(self, instance: Instance[Property], *states: Any) -> Any:
            looks.append(instance.label)
            return super().look(instance, *states)

    plain = lock(STRONG, STRONG, STRONG)
    model = Counting(plain.world)
    graph = graph_of(model)
    looks.clear()

    assert check(model, graph).breaches == ()

    served = [check for check in model.checks if check.of.sort is Sort.LEADS_TO]
    contexts = {
        (promise.label, *((place, state[place]) for place in model.look(promise, state).reads))
        for promise in served
        for state in map(graph.state, range(graph.states))
    }
    assert len(looks) - graph.states * len(served) == len(contexts) < graph.states * len(served)


def test_a_world_without_promises_has_nothing_to_answer() -> None:
    drawing = drawn((None, arrow((0, 1))), trigger={0}, goal={1})
    model = machine_of(drawing)
    model.checks = ()
    assert check(model, graph_of(model), cut="no time") == Answer(())


def states_of(graph: Graph) -> Iterator[State]:
    return map(graph.state, range(graph.states))


def test_the_graph_has_every_state_and_every_step() -> None:
    model = lock(None, None, None)
    graph = graph_of(model)
    found = list(states_of(graph))
    assert len(set(found)) == graph.states == 8
    for source, target, instance, way in zip(
        graph.source, graph.target, graph.instance, graph.way, strict=True
    ):
        ways = model.run(model.instances[instance], found[source]).result
        assert model.after(found[source], ways[way]) == found[target]
    steps = sum(len(model.run(one, state).result) for state in found for one in model.instances)
    assert len(graph.source) == steps
