"""Laws of assignment: when a segment may be read, and by whom."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import networkx as nx
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from models.laws.law import law, seen
from models.laws.values import layouts, regular_topics, step, texts, topic_names
from spec.assignment import AssignedSegment, ConsumerAssignment, assign, assignable, difference, latest
from spec.design import AS_WRITTEN, HARDENED, Readiness
from spec.layout import SegmentInfo, SegmentLayout, dag, initial_layout
from spec.migration import RegularTopic, migrated_layout
from spec.names import SegmentName, TopicName, parse
from spec.ranges import FULL_RANGE

TOPIC = TopicName("t", "n", "x")
PARENTS_ONLY = replace(HARDENED, readiness=Readiness.PARENTS_DRAINED)


@st.composite
def histories(draw: DrawFn) -> SegmentLayout:
    """A layout with a past: born scalable or migrated, then split and merged, and sometimes pruned."""
    if draw(st.booleans()):
        layout = initial_layout(draw(st.integers(1, 3)))
    else:
        layout = migrated_layout(RegularTopic(draw(regular_topics), draw(st.integers(0, 4))))
    kinds = st.sampled_from(["split", "split", "split", "merge", "merge", "prune"])
    for _ in range(draw(st.integers(0, 8))):
        layout = step(layout, draw(kinds), draw(st.integers(0, 99)))
    return layout


@st.composite
def progress(draw: DrawFn) -> tuple[SegmentLayout, frozenset[int]]:
    """A layout, and what a subscription has drained of it: any part, often nothing or all but a few."""
    layout = draw(histories())
    ids = [s.segment_id for s in layout.segments]
    some = st.frozensets(st.sampled_from(ids))
    most = st.sets(st.sampled_from(ids), min_size=1, max_size=2).map(frozenset(ids[1:]).difference)
    return layout, draw(some | most)


dealable: SearchStrategy[tuple[SegmentInfo, ...]] = progress().map(
    lambda at: assignable(*at)
) | layouts().map(lambda layout: layout.active)
consumers: SearchStrategy[list[str]] = st.lists(
    st.sampled_from(["a", "b", "c1", "c10", "c2"]) | texts, unique=True, max_size=8
)
beyond_16_bits: SearchStrategy[list[str]] = st.lists(
    st.sampled_from(["\ue000", "\uffff", "\U00010000", "\U0010ffff"]) | texts, unique=True, max_size=8
)


@st.composite
def hands(draw: DrawFn) -> dict[str, ConsumerAssignment]:
    """Any assignments of a few consumers, as a leader might find or make them."""
    ids = st.lists(st.integers(0, 4), unique=True, max_size=4)
    held = draw(st.dictionaries(st.sampled_from("abc"), st.tuples(st.integers(0, 2), ids)))
    return {name: assignment_of(epoch, *segment_ids) for name, (epoch, segment_ids) in held.items()}


def assignment_of(epoch: int, *segment_ids: int) -> ConsumerAssignment:
    """An assignment of these segments."""
    return ConsumerAssignment(
        epoch, tuple(AssignedSegment(i, FULL_RANGE, SegmentName(TOPIC, FULL_RANGE, i)) for i in segment_ids)
    )


@law(
    "468-ASSIGN-05",
    "468-ASSIGN-08",
    segments=dealable,
    consumers=consumers,
    sometimes=("nobody to take them", "a consumer with nothing", "a consumer with two"),
)
def every_segment_goes_to_exactly_one_consumer(
    segments: tuple[SegmentInfo, ...], consumers: list[str]
) -> None:
    """With at least one consumer each segment has one owner; with none, nothing is assigned."""
    dealt = assign(TOPIC, 0, segments, consumers)

    assert dealt.keys() == set(consumers)
    given = sorted(i for hand in dealt.values() for i in hand.segment_ids)
    assert given == (sorted(s.segment_id for s in segments) if consumers else [])
    seen("nobody to take them", bool(segments) and not consumers)
    seen("a consumer with nothing", any(not hand.segments for hand in dealt.values()))
    seen("a consumer with two", any(len(hand.segments) > 1 for hand in dealt.values()))


@law("468-ASSIGN-03", segments=dealable, consumers=consumers, sometimes=("an uneven division",))
def shares_differ_by_at_most_one(segments: tuple[SegmentInfo, ...], consumers: list[str]) -> None:
    """No consumer holds two segments more than another, and earlier names never hold fewer."""
    shares = [len(hand.segments) for _, hand in sorted(assign(TOPIC, 0, segments, consumers).items())]

    assert all(0 <= one - other <= 1 for one, other in pairwise(shares))
    assert not shares or shares[0] - shares[-1] <= 1
    seen("an uneven division", len(set(shares)) > 1)


@law(
    "468-ASSIGN-02",
    segments=dealable,
    consumers=consumers,
    luck=st.randoms(use_true_random=False),
    sometimes=("another order",),
)
def the_order_of_arrival_does_not_matter(
    segments: tuple[SegmentInfo, ...], consumers: list[str], luck: Random
) -> None:
    """Any leader that knows the same segments and names deals them out alike, in whatever order they came."""
    shuffled = luck.sample(segments, len(segments))
    names = luck.sample([*consumers, *consumers[:1]], len(consumers[:1]) + len(consumers))

    assert assign(TOPIC, 7, shuffled, names) == assign(TOPIC, 7, segments, consumers)
    seen("another order", shuffled != list(segments) and len(names) > 2)


@law(
    "468-ASSIGN-01",
    "468-ASSIGN-11",
    segments=dealable,
    consumers=consumers,
    sometimes=("a second round",),
)
def each_turn_goes_to_the_next_name(segments: tuple[SegmentInfo, ...], consumers: list[str]) -> None:
    """By range start, the first segment goes to the first name, the next to the next, and round again."""
    names = sorted(consumers, key=str.encode)
    dealt = assign(TOPIC, 0, segments, consumers)

    rest = {name: list(dealt[name].segments) for name in names}
    turns = [rest[names[turn % len(names)]].pop(0) for turn in range(len(segments)) if names]
    assert not any(rest.values())
    assert all((a.range.start, a.segment_id) < (b.range.start, b.segment_id) for a, b in pairwise(turns))
    seen("a second round", 0 < len(names) < len(turns))


@law("468-ASSIGN-02", consumers=beyond_16_bits, sometimes=("an order that UTF-16 would turn around",))
def names_are_ordered_by_code_point(consumers: list[str]) -> None:
    """With a segment for each, the names take them in the order of their UTF-8 bytes."""
    names = sorted(consumers, key=str.encode)
    dealt = assign(TOPIC, 0, initial_layout(8).active[: len(names)], consumers)

    assert [dealt[name].segment_ids for name in names] == [(place,) for place in range(len(names))]
    by_unit = sorted(names, key=lambda name: name.encode("utf-16-be"))
    seen("an order that UTF-16 would turn around", by_unit != names)


@law(
    "468-ASSIGN-04",
    "468-ASSIGN-06",
    topic=topic_names,
    layout=histories(),
    epoch=st.integers(0, 99),
    sometimes=("a segment of its own", "a wrapped partition"),
)
def an_assignment_says_where_to_connect(topic: TopicName, layout: SegmentLayout, epoch: int) -> None:
    """A segment is given under its own name, from which all about it can be read, or its old partition's."""
    dealt = assign(topic, epoch, layout.segments, ["only"])["only"]

    assert dealt.layout_epoch == epoch
    for given in dealt.segments:
        segment = layout.segment(given.segment_id)
        own = SegmentName(topic, segment.range, segment.segment_id)
        assert given.range == segment.range
        assert parse(str(given.topic)) == (own if segment.legacy_topic is None else segment.legacy_topic)
        seen("a segment of its own", segment.legacy_topic is None)
        seen("a wrapped partition", segment.legacy_topic is not None)


@law(
    "468-NOTIFY-01",
    before=hands(),
    after=hands(),
    same=st.sampled_from([False, False, True]),
    sometimes=("someone is left alone", "someone gains and loses", "nobody is told"),
)
def the_difference_leads_from_before_to_after(
    before: dict[str, ConsumerAssignment], after: dict[str, ConsumerAssignment], same: bool
) -> None:
    """Giving and taking what the difference says turns the one into the other, and nobody else is named."""
    if same:
        after |= {name: replace(hand, layout_epoch=9) for name, hand in before.items()}
    had = {name: set(hand.segment_ids) for name, hand in before.items()}
    has = {name: set(hand.segment_ids) for name, hand in after.items()}
    changes = difference(before, after)

    reached = dict(had)
    for change in changes:
        held = reached.get(change.consumer, set())
        assert held.issuperset(change.lost)
        assert held.isdisjoint(change.gained)
        reached[change.consumer] = (held - set(change.lost)) | set(change.gained)
    assert {name: ids for name, ids in reached.items() if ids} == {
        name: ids for name, ids in has.items() if ids
    }

    told = [change.consumer for change in changes]
    assert told == sorted(n for n in {*had, *has} if had.get(n, set()) != has.get(n, set()))
    seen("someone is left alone", any(name not in told for name in has))
    seen("someone gains and loses", any(change.gained and change.lost for change in changes))
    seen("nobody is told", bool(had) and not changes)


@law(
    "468-ASSIGN-04",
    pushes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
    sometimes=("an equal epoch", "a late push"),
)
def the_last_push_of_the_newest_layout_holds(pushes: list[tuple[int, int]]) -> None:
    """After any pushes on one connection a client holds the last of those with the highest epoch."""
    received = [assignment_of(epoch, segment_id) for epoch, segment_id in pushes]
    held = received[0]
    for pushed in received[1:]:
        held = latest(held, pushed)

    newest = [hand for hand in received if hand.layout_epoch == max(epoch for epoch, _ in pushes)]
    assert held == newest[-1]
    seen("an equal epoch", newest[0] != newest[-1])
    seen("a late push", received[-1] != held)


@law(
    "468-ASSIGN-01",
    "475-ROUTE-01",
    "475-ROUTE-02",
    at=progress(),
    sometimes=(
        "a child waits for its parent",
        "a child waits for its grandparent alone",
        "a sealed one is read",
    ),
)
def a_segment_is_read_when_all_before_it_is_drained(at: tuple[SegmentLayout, frozenset[int]]) -> None:
    """Assignable are exactly the undrained segments without an undrained ancestor, in range order."""
    layout, drained = at
    graph = dag(layout)
    undrained = [s for s in layout.segments if s.segment_id not in drained]
    ready = [s for s in undrained if nx.ancestors(graph, s.segment_id) <= drained]
    after_parents = [s for s in undrained if set(graph.predecessors(s.segment_id)) <= drained]

    assert_in_order(assignable(layout, drained), ready)
    assert_in_order(assignable(layout, drained, PARENTS_ONLY), after_parents)
    seen("a child waits for its parent", len(after_parents) < len(undrained))
    seen("a child waits for its grandparent alone", len(ready) < len(after_parents))
    seen("a sealed one is read", any(not s.active for s in ready))


@law("468-ASSIGN-01", "468-COORD-05", at=progress(), sometimes=("a sealed one that nobody reads",))
def the_literal_rule_gives_out_active_segments_alone(at: tuple[SegmentLayout, frozenset[int]]) -> None:
    """As written, the active segments are given out at once, drained past or not, and sealed ones never."""
    layout, drained = at
    given = assignable(layout, drained, AS_WRITTEN)

    assert_in_order(given, [s for s in layout.segments if s.active])
    seen("a sealed one that nobody reads", any(s not in given for s in assignable(layout, drained)))


@law("475-ROUTE-01", at=progress(), sometimes=("a sealed root",))
def something_can_be_read_until_all_is_drained(at: tuple[SegmentLayout, frozenset[int]]) -> None:
    """Nothing undrained waits for ever: there is something to read, and undrained roots are part of it."""
    layout, drained = at
    ready = assignable(layout, drained)

    assert bool(ready) == any(s.segment_id not in drained for s in layout.segments)
    for root in (s for s in layout.segments if not s.parent_ids and s.segment_id not in drained):
        assert root in ready
        seen("a sealed root", not root.active)


@law(
    "475-ROUTE-01",
    "475-ROUTE-03",
    "468-SPLIT-03",
    layout=histories(),
    choices=st.lists(st.integers(0, 99), min_size=40, max_size=40),
    sometimes=("a choice of what to drain next", "a merge in the past"),
)
def whatever_is_drained_next_ancestors_come_first(layout: SegmentLayout, choices: list[int]) -> None:
    """Drained in any order that the rule allows, every segment has its turn, each after all its ancestors."""
    turns: list[int] = []
    while ready := assignable(layout, frozenset(turns)):
        assert not {s.segment_id for s in ready}.intersection(turns)
        assert assignable(layout, frozenset(turns), PARENTS_ONLY) == ready
        seen("a choice of what to drain next", len(ready) > 1)
        turns.append(ready[choices[len(turns) % len(choices)] % len(ready)].segment_id)

    graph = dag(layout)
    assert sorted(turns) == [s.segment_id for s in layout.segments]
    for place, segment_id in enumerate(turns):
        assert nx.ancestors(graph, segment_id) <= set(turns[:place])
    seen("a merge in the past", any(len(s.parent_ids) > 1 for s in layout.segments))


def assert_in_order(found: Sequence[SegmentInfo], expected: list[SegmentInfo]) -> None:
    """The same segments, none twice, by the start of their range and then by id."""
    assert sorted(found, key=lambda s: s.segment_id) == expected
    keys = [(s.range.start, s.segment_id) for s in found]
    assert all(one < other for one, other in pairwise(keys))
