"""Laws of migration and routing: a topic before, at and after the moment when it becomes scalable."""

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, pairwise

import mmh3
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from models.laws.law import law, seen
from models.laws.values import layouts, longs, refusal_of, regular_names, regular_topics, step, texts
from spec.assignment import assignable
from spec.hashing import Profile, segment_hash
from spec.layout import SegmentLayout, SegmentState
from spec.migration import (
    CONFLICT,
    GONE,
    NOT_ALLOWED,
    NOT_FOUND,
    STATUS,
    Client,
    RegularTopic,
    guard_v4_lookup,
    ledger_of,
    look_up,
    migrated_layout,
    name_from_now_on,
    precheck,
    synthetic_view,
)
from spec.names import RegularName, SegmentName, TopicName, parse
from spec.ranges import HASH_COUNT, contains
from spec.refusals import Reason, Refused
from spec.routing import (
    Attachments,
    Routing,
    TopicView,
    attachments,
    latest,
    real,
    reconcile,
    route,
)
from spec.soundness import flaws

partition_counts: SearchStrategy[int] = st.sampled_from([0, 1, 1, 2, 3, 7]) | st.integers(0, 24)
topics: SearchStrategy[RegularTopic] = st.builds(RegularTopic, regular_topics, partition_counts)
keys: SearchStrategy[str] = st.just("") | st.integers(0, 999).map("key-{}".format) | texts
steps: SearchStrategy[list[tuple[str, int]]] = st.lists(
    st.tuples(st.sampled_from(["split", "merge", "prune"]), st.integers(0, 99)), max_size=6
)


@st.composite
def lives(draw: DrawFn) -> tuple[TopicView, ...]:
    """Every view that a topic's sessions are sent, in order: it grows, is migrated, splits and merges."""
    topic = draw(topics)
    grown = [replace(topic, partitions=topic.partitions + more) for more in range(draw(st.integers(1, 3)))]
    views = [synthetic_view(each) for each in grown]
    if draw(st.booleans()):
        migrated = migrated_layout(grown[-1])
        later = accumulate(draw(steps), lambda layout, each: step(layout, *each), initial=migrated)
        views += (TopicView(views[0].identity, layout, Routing.RANGE) for layout in later)
    return tuple(views)


def outcome(attempt: Callable[..., object], *arguments: object) -> object:
    """What a call returns, or the reason for which it is refused."""
    try:
        return attempt(*arguments)
    except Refused as refusal:
        return refusal.reason


@law(
    "475-LAYOUT-01",
    "475-LAYOUT-02",
    "475-LAYOUT-03",
    "475-LAYOUT-04",
    "475-LAYOUT-06",
    "475-LAYOUT-09",
    "475-LAYOUT-10",
    "475-ROUTE-06",
    topic=topics,
    sometimes=("not partitioned", "one partition", "several partitions"),
)
def every_partition_becomes_a_parent_of_every_child(topic: RegularTopic) -> None:
    """N sealed parents 0..N-1 wrap the old topics in order; N active children N..2N-1 descend from all."""
    layout = migrated_layout(topic)
    count = max(topic.partitions, 1)
    suffixes = [f"-partition-{k}" for k in range(count)] if topic.partitions else [""]

    assert (layout.epoch, layout.next_segment_id) == (0, 2 * count)
    assert [s.segment_id for s in layout.segments] == list(range(2 * count))
    for parent, suffix in zip(layout.segments[:count], suffixes, strict=True):
        assert str(parent.legacy_topic) == str(topic.name) + suffix
        assert parent.state is SegmentState.SEALED
        assert (parent.parent_ids, parent.child_ids) == ((), tuple(range(count, 2 * count)))
    for child in layout.segments[count:]:
        assert child.legacy_topic is None
        assert child.state is SegmentState.ACTIVE
        assert (child.parent_ids, child.child_ids) == (tuple(range(count)), ())
    seen("not partitioned", topic.partitions == 0)
    seen("one partition", topic.partitions == 1)
    seen("several partitions", topic.partitions > 1)


@law(
    "475-LAYOUT-05",
    "475-ROUTE-05",
    topic=topics,
    steps=steps,
    sometimes=("a number that does not divide the space", "a step after the migration"),
)
def a_migrated_layout_is_like_any_other(topic: RegularTopic, steps: list[tuple[str, int]]) -> None:
    """Its children share the hash space evenly, and whatever is done to it afterwards leaves it sound."""
    layout = migrated_layout(topic)
    widths = [s.range.width for s in layout.active]

    assert set(widths[:-1]) <= {HASH_COUNT // len(widths)}
    assert 0 <= widths[-1] - HASH_COUNT // len(widths) < len(widths)
    assert all(one.range.end + 1 == other.range.start for one, other in pairwise(layout.active))
    assert flaws(layout) == ()
    for kind, choice in steps:
        after = step(layout, kind, choice)
        seen("a step after the migration", after is not layout)
        layout = after
        assert flaws(layout) == ()
    seen("a number that does not divide the space", len(set(widths)) > 1)


@law("475-SPECIAL-05", "475-ROUTE-06", name=regular_topics)
def a_topic_without_partitions_counts_as_one(name: RegularName) -> None:
    """It becomes what one partition becomes, only that its parent wraps the topic itself."""
    whole, single = (migrated_layout(RegularTopic(name, count)) for count in (0, 1))
    parent, child = whole.segments

    assert single.segments == (replace(parent, legacy_topic=name.of_partition(0)), child)
    assert (whole.epoch, whole.next_segment_id) == (single.epoch, single.next_segment_id) == (0, 2)
    assert parent.legacy_topic == name
    assert child.range.width == HASH_COUNT


@law(name=regular_topics, partitions=st.integers(HASH_COUNT + 1, 2**31) | st.integers(-9, -1))
def more_partitions_than_hashes_are_refused(name: RegularName, partitions: int) -> None:
    """No layout has a segment without a hash: such a topic is neither shown nor migrated."""
    topic = RegularTopic(name, partitions)

    assert refusal_of(migrated_layout, topic) is Reason.SEGMENT_COUNT_OUT_OF_RANGE
    assert refusal_of(synthetic_view, topic) is Reason.SEGMENT_COUNT_OUT_OF_RANGE


@law(
    "475-SPECIAL-01",
    "475-SPECIAL-02",
    "475-SPECIAL-03",
    "475-SPECIAL-04",
    "475-SPECIAL-06",
    "475-LAYOUT-07",
    "475-LAYOUT-08",
    "475-LAYOUT-11",
    topic=topics,
    sometimes=("not partitioned", "several partitions"),
)
def a_special_segment_and_its_parent_have_one_ledger(topic: RegularTopic) -> None:
    """Each special segment stands for an old topic, whose ledger its successor's segment:// name leads to."""
    view, layout = synthetic_view(topic), migrated_layout(topic)
    assert len(view.layout.segments) == max(topic.partitions, 1)
    assert view.layout.active == view.layout.segments

    for special in view.layout.segments:
        named = special.legacy_topic
        uri = attachments(view, [special])[special.segment_id]
        heir = SegmentName(view.identity, special.range, special.segment_id)
        assert uri == named
        assert str(uri).startswith("persistent://")
        assert str(heir).startswith("segment://")
        assert ledger_of(layout, heir) == named
    for child in layout.active:
        own = attachments(view, [child])[child.segment_id]
        assert isinstance(own, SegmentName)
        assert ledger_of(layout, own) == own
    seen("not partitioned", topic.partitions == 0)
    seen("several partitions", topic.partitions > 1)


@law(
    "475-HASH-01",
    "475-HASH-09",
    "475-HASH-10",
    "475-HASH-11",
    topic=topics,
    key=keys,
    sent=st.integers(0, 9),
    profile=st.sampled_from(Profile),
    sometimes=("a hash with the sign set", "no choice"),
)
def before_the_migration_a_key_goes_where_v4_sends_it(
    topic: RegularTopic, key: str, sent: int, profile: Profile
) -> None:
    """Both generations choose the partition by the hash without its sign, modulo the number of partitions."""
    view = synthetic_view(topic)
    partition = (mmh3.hash(key.encode(), 0) & 0x7FFFFFFF) % max(topic.partitions, 1)

    chosen = route(view, key, sent, profile)
    assert chosen.legacy_topic == (topic.name.of_partition(partition) if topic.partitions else topic.name)
    seen("a hash with the sign set", topic.partitions > 2 and mmh3.hash(key.encode(), 0) < 0)
    seen("no choice", topic.partitions < 2)


@law(
    "475-HASH-05",
    "475-HASH-07",
    "475-HASH-12",
    "475-ROUTE-04",
    topic=topics,
    steps=steps,
    key=keys,
    sent=st.integers(0, 9),
    profile=st.sampled_from(Profile),
    sometimes=("a key that moves", "a key that stays", "the empty key"),
)
def after_the_migration_a_key_goes_by_its_hash(
    topic: RegularTopic, steps: list[tuple[str, int]], key: str, sent: int, profile: Profile
) -> None:
    """At once and ever after, the one active segment that owns the key's hash takes it; no parent does."""
    layout = migrated_layout(topic)
    before = route(synthetic_view(topic), key, sent, profile)
    first = route(TopicView(topic_of(topic.name), layout, Routing.RANGE), key, sent, profile)
    seen("a key that moves", first.segment_id - topic.ledger_count != before.segment_id)
    seen(
        "a key that stays",
        topic.partitions > 1 and first.segment_id - topic.ledger_count == before.segment_id,
    )
    seen("the empty key", key == "" and sent % len(layout.active) > 0)

    for kind, choice in steps:
        layout = step(layout, kind, choice)
    chosen = route(TopicView(topic_of(topic.name), layout, Routing.RANGE), key, sent, profile)
    hash = segment_hash(key, profile)
    assert [s for s in layout.segments if s.active and contains(s.range, hash)] == [chosen]


@law(
    view=lives().map(lambda views: views[-1]),
    sent=st.integers(0, 99) | longs,
    sometimes=("over special segments", "over real ones", "several in turn"),
)
def messages_without_a_key_take_turns(view: TopicView, sent: int) -> None:
    """As many messages as there are active segments reach each once, from left to right and round again."""
    count = len(view.layout.active)
    turns = [route(view, None, sent + i) for i in range(count)]

    rotation = sent % count
    assert sorted(turns, key=lambda s: s.range.start) == turns[count - rotation :] + turns[: count - rotation]
    assert route(view, None, sent + count) == turns[0]
    assert all(s.active for s in turns)
    seen("over special segments", view.synthetic)
    seen("over real ones", not view.synthetic)
    seen("several in turn", count > 1 and rotation > 0)


@law(
    "475-LOOKUP-05",
    "475-LOOKUP-06",
    "475-LOOKUP-07",
    "475-LOOKUP-08",
    "475-LOOKUP-09",
    "475-LOOKUP-12",
    "475-LOOKUP-13",
    "475-GOAL-06",
    topic=topics,
    layout=st.none() | layouts(),
    exists=st.booleans(),
    sometimes=("a real layout", "a synthetic layout", "nothing"),
)
def a_lookup_answers_by_form_and_state(
    topic: RegularTopic, layout: SegmentLayout | None, exists: bool
) -> None:
    """The real layout under every form where there is one; else a regular topic shows its partitions."""
    identity, regular = topic_of(topic.name), topic if exists else None
    for asked in (identity, topic.name):
        answer = outcome(look_up, asked, layout, regular)

        if layout is not None:
            seen("a real layout")
            assert answer == TopicView(identity, layout, Routing.RANGE)
            assert name_from_now_on(asked, TopicView(identity, layout, Routing.RANGE)) == identity
        elif asked == topic.name and exists:
            seen("a synthetic layout")
            assert isinstance(answer, TopicView)
            assert (answer.identity, answer.routing, answer.synthetic) == (identity, Routing.MOD_N, True)
            assert tuple(s.legacy_topic for s in answer.layout.active) == topic.ledgers()
            assert name_from_now_on(asked, answer) == topic.name
        else:
            seen("nothing")
            assert answer is Reason.TOPIC_NOT_FOUND

    partition = topic.name.of_partition(0)
    assert refusal_of(look_up, partition, layout, regular) is Reason.NAME_IS_A_PARTITION


@law(
    "475-LOOKUP-10",
    local=st.text("abc019._-", min_size=1, max_size=8).filter(lambda text: "-partition-" not in text),
    layout=st.none() | layouts(),
    partitions=partition_counts,
    sometimes=("a real layout", "a synthetic layout"),
)
def a_short_name_is_looked_up_like_the_full_one(
    local: str, layout: SegmentLayout | None, partitions: int
) -> None:
    """A name without tenant and namespace stands for the persistent topic in public/default."""
    short, full = parse(local), parse(f"persistent://public/default/{local}")
    assert isinstance(short, RegularName)
    assert isinstance(full, RegularName)
    topic = RegularTopic(full, partitions)

    assert look_up(short, layout, topic) == look_up(full, layout, topic)
    assert str(look_up(short, layout, topic).identity) == f"topic://public/default/{local}"
    seen("a real layout", layout is not None)
    seen("a synthetic layout", layout is None)


@law(
    "475-CHECK-01",
    "475-CHECK-03",
    "475-CHECK-04",
    "475-CHECK-06",
    name=regular_names,
    partitions=partition_counts,
    v4_connections=st.integers(0, 3),
    exists=st.sampled_from([True, True, True, False]),
    scalable=st.booleans(),
    enabled=st.sampled_from([True, True, True, False]),
    sometimes=("204", "404", "405", "409", "two things in the way"),
)
def the_first_obstacle_decides_the_answer(
    name: RegularName, partitions: int, v4_connections: int, exists: bool, scalable: bool, enabled: bool
) -> None:
    """Switched off, missing, only a partition, scalable already, v4 clients attached: in this order."""
    topic = RegularTopic(name, partitions, v4_connections) if exists else None
    obstacles = {
        Reason.MIGRATION_DISABLED: (not enabled, NOT_ALLOWED),
        Reason.TOPIC_NOT_FOUND: (not exists, NOT_FOUND),
        Reason.NAME_IS_A_PARTITION: (exists and name.partition is not None, CONFLICT),
        Reason.ALREADY_SCALABLE: (exists and scalable, CONFLICT),
        Reason.V4_CLIENTS_ATTACHED: (exists and v4_connections > 0, CONFLICT),
    }
    met = [reason for reason, (in_the_way, _) in obstacles.items() if in_the_way]
    answer = outcome(precheck, topic, scalable, enabled)

    seen("two things in the way", len(met) > 1)
    if not met:
        seen("204")
        assert answer == topic
        return
    assert answer is met[0]
    status = obstacles[met[0]][1]
    assert STATUS[met[0]] == status
    seen(str(status))


@law(
    "475-GUARD-01",
    "475-GUARD-04",
    "475-GUARD-05",
    "475-GUARD-06",
    "475-WIRE-03",
    name=regular_names,
    scalable=st.booleans(),
    client=st.sampled_from(Client),
    sometimes=("turned away", "one partition of a topic", "a V5 client passes"),
)
def v4_clients_are_turned_away_from_scalable_topics(
    name: RegularName, scalable: bool, client: Client
) -> None:
    """Who is not V5 gets 410 and the new name, for the topic and each of its partitions; all others pass."""
    turned_away = scalable and client is Client.V4
    seen("turned away", turned_away)
    seen("one partition of a topic", turned_away and name.partition is not None)
    seen("a V5 client passes", scalable and not turned_away)
    try:
        guard_v4_lookup(name, scalable, client)
        refusal = None
    except Refused as refused:
        refusal = refused

    assert (refusal is not None) == turned_away
    if refusal is not None:
        assert STATUS[refusal.reason] == GONE
        assert refusal.detail == f"topic://{name.tenant}/{name.namespace}/{name.local}"


@law(
    "475-SPECIAL-07",
    "475-SPECIAL-08",
    "475-SPECIAL-09",
    views=lives(),
    sometimes=("a synthetic layout", "a real layout"),
)
def what_needs_segments_of_its_own_needs_a_real_layout(views: tuple[TopicView, ...]) -> None:
    """Over a synthetic layout it is refused with the migration command; a real one is handed out as it is."""
    for view in views:
        seen("a synthetic layout", view.synthetic)
        seen("a real layout", not view.synthetic)
        try:
            assert real(view) is view.layout
            assert view.routing is Routing.RANGE
        except Refused as refusal:
            if not view.synthetic or refusal.reason is not Reason.LAYOUT_IS_SYNTHETIC:
                raise
            named = refusal.detail.split()
            assert "migrate-to-scalable" in named
            assert f"persistent://{str(view.identity).removeprefix('topic://')}" in named


@law(
    "475-LOOKUP-11",
    "475-PUSH-01",
    views=lives(),
    arrivals=st.lists(st.integers(0, 20), max_size=8),
    sometimes=("a migration at the same epoch", "a late synthetic layout", "a late real one"),
)
def a_client_never_goes_back(views: tuple[TopicView, ...], arrivals: list[int]) -> None:
    """Whatever arrives late or twice, a client that was sent the newest layout has it at the end."""
    pushes = [views[i % len(views)] for i in arrivals]
    held = pushes[0] if pushes else views[0]
    for pushed in (*pushes, views[-1], *(old for old in pushes if not views[-1].synthetic)):
        after = latest(held, pushed)
        assert after in (held, pushed)
        assert after.synthetic <= held.synthetic
        assert after.synthetic != held.synthetic or after.layout.epoch >= held.layout.epoch
        seen(
            "a migration at the same epoch",
            held.synthetic and not after.synthetic and after.layout.epoch == 0,
        )
        seen("a late synthetic layout", pushed.synthetic and not held.synthetic)
        seen("a late real one", not pushed.synthetic and pushed.layout.epoch < held.layout.epoch)
        held = after
    assert held == views[-1]


@law(
    "475-SDK-08",
    "475-SDK-09",
    "475-SDK-10",
    views=lives(),
    born=layouts(),
    everything=st.booleans(),
    sometimes=("closed", "opened", "rebuilt", "left alone", "a migration"),
)
def reconciling_leads_from_one_layout_to_the_next(
    views: tuple[TopicView, ...], born: SegmentLayout, everything: bool
) -> None:
    """Closing, opening and moving what is named leaves exactly what the new layout asks for."""
    shadow = TopicView(views[0].identity, born, Routing.RANGE)
    for before, after in (*pairwise(views), (views[0], shadow), (shadow, shadow)):
        had, wanted = (attached(view, everything) for view in (before, after))
        plan = reconcile(had, wanted)

        now = {i: name for i, name in had.items() if i not in plan.closed}
        assert now.keys().isdisjoint(plan.opened)
        assert now.keys() >= set(plan.rebuilt)
        assert all(had[i] != wanted[i] for i in plan.rebuilt)
        now |= {i: wanted[i] for i in (*plan.opened, *plan.rebuilt)}
        assert now == wanted
        seen("closed", bool(plan.closed))
        seen("opened", bool(plan.opened))
        seen("rebuilt", bool(plan.rebuilt))
        seen("left alone", bool(had.items() & wanted.items()))
        if before.synthetic and not after.synthetic and after is not shadow and not everything:
            seen("a migration")
            assert plan.closed == tuple(sorted(had))
            assert plan.opened == tuple(sorted(wanted))


@law(
    "475-ROUTE-01",
    "475-ROUTE-03",
    topic=topics,
    slow=st.integers(0, 99),
    sometimes=("one slow partition of many",),
)
def one_slow_partition_holds_back_every_child(topic: RegularTopic, slow: int) -> None:
    """No child is read while a parent is undrained; when the last one is drained, all of them are."""
    layout = migrated_layout(topic)
    parents = frozenset(range(topic.ledger_count))
    last = slow % topic.ledger_count

    assert [s.segment_id for s in assignable(layout)] == sorted(parents)
    assert [s.segment_id for s in assignable(layout, parents - {last})] == [last]
    assert assignable(layout, parents) == layout.active
    seen("one slow partition of many", len(parents) > 1)


def attached(view: TopicView, everything: bool) -> Attachments:
    """Where a client stands that reads all segments, or that writes to the active ones."""
    return attachments(view, view.layout.segments if everything else view.layout.active)


def topic_of(name: RegularName) -> TopicName:
    """The scalable topic with the same three parts."""
    return TopicName(name.tenant, name.namespace, name.local)
