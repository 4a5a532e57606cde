"""Laws of hash ranges, of the segment layout, and of what makes a layout sound."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from random import Random

import networkx as nx
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from models.laws.law import law, seen
from models.laws.values import hashes, layouts, ranges, refusal_of, step, topic_names
from spec.layout import (
    SegmentInfo,
    SegmentLayout,
    SegmentState,
    ancestors,
    descendants,
    find_active_segment,
    initial_layout,
    layout_of,
    lineage,
    merge_depth,
    merge_segments,
    prune_segment,
    served_as,
    split_segment,
)
from spec.names import TopicName
from spec.ranges import HashRange, adjacent, contains, equal_slices, halves, hash_range, joined
from spec.refusals import Reason
from spec.soundness import every_hash_has_one_owner, flaws

OPERATIONS = ("split", "merge", "prune")


@st.composite
def neighbours(draw: DrawFn) -> tuple[HashRange, HashRange]:
    """Two ranges, often side by side."""
    one = draw(ranges())
    if one.end < 0xFFFF and draw(st.booleans()):
        other = HashRange(one.end + 1, draw(st.integers(one.end + 1, 0xFFFF)))
        return (one, other) if draw(st.booleans()) else (other, one)
    return one, draw(ranges())


@st.composite
def histories(draw: DrawFn) -> list[SegmentLayout]:
    """A layout and what successive operations made of it."""
    layouts = [initial_layout(draw(st.integers(1, 4)))]
    for kind in draw(st.lists(st.sampled_from(OPERATIONS), max_size=20)):
        after = step(layouts[-1], kind, draw(st.integers(0, 99)))
        if after is not layouts[-1]:
            layouts.append(after)
    return layouts


@st.composite
def narrow_layouts(draw: DrawFn) -> SegmentLayout:
    """A layout that has been split at one end until two segments of a single hash stand there."""
    layout = initial_layout(1)
    place = draw(st.sampled_from([0, -1]))
    for _ in range(16):
        layout = split_segment(layout, layout.active[place].segment_id)
    return step(layout, draw(st.sampled_from(OPERATIONS)), draw(st.integers(0, 99)))


@st.composite
def requests(draw: DrawFn) -> tuple[SegmentLayout, int, int]:
    """A layout and two ids, of active, sealed or unknown segments."""
    layout = draw(layouts() | narrow_layouts())
    ids = st.sampled_from([s.segment_id for s in layout.active]) | st.integers(-1, layout.next_segment_id)
    return layout, draw(ids), draw(ids)


@law("468-CREATE-02", "475-HASH-02", count=st.integers(-1, 300) | st.integers(-1, 3) | st.just(0x10001))
def equal_slices_cover_the_space_in_order(count: int) -> None:
    """From 1 to 65536 ranges of one width lie side by side; only the last may be wider."""
    if not 1 <= count <= 0x10000:
        assert refusal_of(equal_slices, count) is Reason.SEGMENT_COUNT_OUT_OF_RANGE
        return
    slices = equal_slices(count)

    assert len(slices) == count
    assert (slices[0].start, slices[-1].end) == (0x0000, 0xFFFF)
    assert all(left.end + 1 == right.start for left, right in pairwise(slices))
    assert {s.width for s in slices[:-1]} <= {0x10000 // count}
    assert slices[-1].width == 0x10000 // count + 0x10000 % count


@law("468-LAYOUT-12", "475-HASH-06", whole=ranges(least=2), sometimes=("an odd width", "an even width"))
def the_halves_make_up_the_whole(whole: HashRange) -> None:
    """The left half ends at the midpoint and has the extra hash; joining the halves undoes the cut."""
    left, right = halves(whole)
    seen("an odd width" if whole.width % 2 else "an even width")

    assert (left.start, left.end) == (whole.start, (whole.start + whole.end) // 2)
    assert (right.start, right.end) == (left.end + 1, whole.end)
    assert left.width == right.width + whole.width % 2
    assert joined(left, right) == joined(right, left) == whole


@law("468-LAYOUT-16", "468-LAYOUT-17", pair=neighbours(), sometimes=("adjacent", "apart", "overlapping"))
def adjacent_ranges_fill_what_they_span(pair: tuple[HashRange, HashRange]) -> None:
    """Two ranges are adjacent when together they are as wide as the range from one's start to the end."""
    one, other = pair
    span = HashRange(min(one.start, other.start), max(one.end, other.end))
    gap = span.width - one.width - other.width
    seen("adjacent" if gap == 0 else "apart" if gap > 0 else "overlapping")

    assert adjacent(one, other) == adjacent(other, one) == (gap == 0)
    if gap == 0:
        assert joined(one, other) == span


@law(
    "468-SEGMENT-05",
    start=hashes | st.integers(-2, 0x10001),
    end=hashes | st.integers(-2, 0x10001),
    hash=hashes,
    sometimes=("a range", "no range", "inside", "outside"),
)
def a_range_holds_what_lies_between_its_ends(start: int, end: int, hash: int) -> None:
    """Both ends belong to a range, and neither may lie outside the space or before the other."""
    if start not in range(0x10000) or end not in range(start, 0x10000):
        seen("no range")
        assert refusal_of(hash_range, start, end) is Reason.RANGE_INVALID
        return
    seen("a range")
    whole = hash_range(start, end)

    seen("inside" if contains(whole, hash) else "outside")
    assert contains(whole, hash) == (hash in range(start, end + 1))
    assert contains(whole, start)
    assert contains(whole, end)
    assert whole.width == len(range(start, end + 1))


@law(
    "475-HASH-03",
    "468-SEGMENT-07",
    "468-SEGMENT-08",
    history=histories(),
    sometimes=("a split", "a merge", "a prune"),
)
def any_history_leaves_a_sound_layout(history: list[SegmentLayout]) -> None:
    """Whatever is split, merged and pruned, every hash has one owner and the history stays in order."""
    for before, after in pairwise(history):
        change = len(after.segments) - len(before.segments)
        seen({2: "a split", 1: "a merge", -1: "a prune"}[change])
    assert [flaws(layout) for layout in history] == [()] * len(history)


@law(
    "468-LAYOUT-05",
    "468-LAYOUT-06",
    "468-LAYOUT-14",
    "468-SEGMENT-04",
    "468-SEGMENT-09",
    "468-SEGMENT-10",
    "468-SEGMENT-11",
    "468-SEGMENT-12",
    history=histories(),
    sometimes=("a new segment", "a newly sealed segment"),
)
def epochs_and_ids_only_grow(history: list[SegmentLayout]) -> None:
    """Each change has an epoch of its own; what it creates or seals bears it, and ids are never reused."""
    for before, after in pairwise(history):
        assert after.epoch == before.epoch + 1
        known = {s.segment_id: s for s in before.segments}
        new = [s for s in after.segments if s.segment_id not in known]
        newly_sealed = [s for s in after.segments if not s.active and known[s.segment_id].active]
        seen("a new segment", bool(new))
        seen("a newly sealed segment", bool(newly_sealed))

        assert [s.segment_id for s in new] == list(range(before.next_segment_id, after.next_segment_id))
        assert all(s.created_at_epoch == after.epoch for s in new)
        assert all(s.sealed_at_epoch == after.epoch for s in newly_sealed)

    for segment in history[-1].segments:
        assert segment.sealed_at_epoch == 0 if segment.active else segment.sealed_at_epoch > 0


@law("468-LAYOUT-07", "468-LAYOUT-08", layout=layouts(), random=st.randoms(use_true_random=False))
def a_layout_is_determined_by_its_segments(layout: SegmentLayout, random: Random) -> None:
    """All segments in any order give the same layout; the active ones are a view of them, by range."""
    shuffled = list(layout.segments)
    random.shuffle(shuffled)

    assert layout_of(layout.epoch, layout.next_segment_id, shuffled) == layout
    assert sorted(layout.active, key=lambda s: s.segment_id) == [s for s in layout.segments if s.active]
    assert all(left.range.end < right.range.start for left, right in pairwise(layout.active))
    for segment in layout.segments:
        assert layout.has(segment.segment_id)
        assert layout.segment(segment.segment_id) is segment


@law(
    "468-LAYOUT-09",
    "475-HASH-05",
    layout=layouts(),
    hash=hashes | st.integers(-2, -1) | st.integers(0x10000, 0x10001),
    lost=st.none() | st.integers(0, 99),
    sometimes=("an owner", "a hole", "outside the space"),
)
def find_active_agrees_with_a_linear_scan(layout: SegmentLayout, hash: int, lost: int | None) -> None:
    """The owner that bisection finds is the only active segment whose range contains the hash."""
    if lost is not None:
        victim = layout.active[lost % len(layout.active)]
        hash = victim.range.end if lost % 2 else hash
        layout = layout_of(layout.epoch, layout.next_segment_id, (s for s in layout.segments if s != victim))
    owners = [s for s in layout.segments if s.active and contains(s.range, hash)]

    if owners:
        seen("an owner")
        assert owners == [find_active_segment(layout, hash)]
    elif 0 <= hash <= 0xFFFF:
        seen("a hole")
        assert refusal_of(find_active_segment, layout, hash) is Reason.HASH_UNOWNED
    else:
        seen("outside the space")
        assert refusal_of(find_active_segment, layout, hash) is Reason.HASH_OUT_OF_SPACE


@law(
    "468-LAYOUT-03",
    "468-LAYOUT-11",
    "468-LAYOUT-15",
    "468-LAYOUT-16",
    request=requests(),
    sometimes=(
        *("a split", "a merge", "a prune", "SEGMENT_UNKNOWN", "SEGMENT_NOT_ACTIVE", "SEGMENT_NOT_SEALED"),
        *("RANGE_TOO_NARROW", "SEGMENTS_IDENTICAL", "SEGMENTS_NOT_ADJACENT"),
    ),
)
def an_operation_leaves_its_layout_alone_or_says_why_not(request: tuple[SegmentLayout, int, int]) -> None:
    """A request is refused for exactly its reason, or makes a new layout; the one it starts from stays."""
    layout, one, other = request
    before = repr(layout)
    known = {s.segment_id: s for s in layout.segments}

    def unfit(id: int) -> Reason | None:
        if id not in known:
            return Reason.SEGMENT_UNKNOWN
        return None if known[id].active else Reason.SEGMENT_NOT_ACTIVE

    split = unfit(one) or (Reason.RANGE_TOO_NARROW if known[one].range.width == 1 else None)
    merge = Reason.SEGMENTS_IDENTICAL if one == other else unfit(one) or unfit(other)
    if merge is None and abs(layout.active.index(known[one]) - layout.active.index(known[other])) != 1:
        merge = Reason.SEGMENTS_NOT_ADJACENT
    prune = {None: Reason.SEGMENT_NOT_SEALED, Reason.SEGMENT_NOT_ACTIVE: None}.get(unfit(one), unfit(one))

    for kind, expected in (("a split", split), ("a merge", merge), ("a prune", prune)):
        seen(expected.name if expected else kind)
    assert refusal_of(split_segment, layout, one) is split
    assert refusal_of(merge_segments, layout, one, other) is merge
    assert refusal_of(prune_segment, layout, one) is prune
    assert repr(layout) == before


@law("468-LAYOUT-12", "468-LAYOUT-13", "468-LAYOUT-14", "468-SEGMENT-13", layout=layouts(), choice=hashes)
def a_split_replaces_a_segment_by_its_halves(layout: SegmentLayout, choice: int) -> None:
    """The parent is sealed and names its children, the children are active and name it, the rest stays."""
    parent = layout.active[choice % len(layout.active)]
    middle = (parent.range.start + parent.range.end) // 2
    left, right, epoch = layout.next_segment_id, layout.next_segment_id + 1, layout.epoch + 1

    after = split_segment(layout, parent.segment_id)

    sealed = replace(parent, state=SegmentState.SEALED, child_ids=(left, right), sealed_at_epoch=epoch)
    children = (
        SegmentInfo(id, whole, SegmentState.ACTIVE, (parent.segment_id,), created_at_epoch=epoch)
        for id, whole in (
            (left, HashRange(parent.range.start, middle)),
            (right, HashRange(middle + 1, parent.range.end)),
        )
    )
    others = [s for s in layout.segments if s != parent]
    assert after == layout_of(epoch, right + 1, [*others, sealed, *children])


@law("468-LAYOUT-17", "468-LAYOUT-18", layout=layouts(), choice=hashes, sometimes=("a merge",))
def a_merge_replaces_two_segments_by_their_union(layout: SegmentLayout, choice: int) -> None:
    """Both parents are sealed and name the child, which names them in the order of the request."""
    if len(layout.active) == 1:
        return
    seen("a merge")
    place = choice % (len(layout.active) - 1)
    left, right = layout.active[place : place + 2]
    parents = (right, left) if choice % 2 else (left, right)
    heir, epoch = layout.next_segment_id, layout.epoch + 1

    after = merge_segments(layout, parents[0].segment_id, parents[1].segment_id)

    sealed = [
        replace(p, state=SegmentState.SEALED, child_ids=(heir,), sealed_at_epoch=epoch) for p in parents
    ]
    child = SegmentInfo(
        heir,
        HashRange(left.range.start, right.range.end),
        SegmentState.ACTIVE,
        parent_ids=(parents[0].segment_id, parents[1].segment_id),
        created_at_epoch=epoch,
    )
    others = [s for s in layout.segments if s not in parents]
    assert after == layout_of(epoch, heir + 1, [*others, *sealed, child])


@law("475-HASH-06", "468-LAYOUT-19", "483-GUARD-07", layout=layouts(), choice=st.integers(0, 99))
def merging_the_halves_restores_the_range(layout: SegmentLayout, choice: int) -> None:
    """A split followed by the merge of its halves covers what was covered before, one merge deeper."""
    parent = layout.active[choice % len(layout.active)]
    divided = split_segment(layout, parent.segment_id)
    left, right = divided.segment(parent.segment_id).child_ids

    again = merge_segments(divided, right, left)

    heir = again.segment(again.next_segment_id - 1)
    assert heir.range == parent.range
    assert again.epoch == layout.epoch + 2
    assert lineage(again, heir.segment_id)[-4:] == (parent.segment_id, left, right, heir.segment_id)
    depth = merge_depth(layout, parent.segment_id)
    assert merge_depth(divided, left) == merge_depth(divided, right) == depth
    assert merge_depth(again, heir.segment_id) == depth + 1


@law(
    "468-LAYOUT-03",
    layout=layouts(),
    choice=st.integers(0, 99),
    sometimes=("it had parents", "it had children", "a sealed leaf remains"),
)
def a_prune_forgets_the_edges_on_both_sides(layout: SegmentLayout, choice: int) -> None:
    """Nobody names the pruned segment any more, and nothing else about anybody changes."""
    sealed = [s for s in layout.segments if not s.active]
    if not sealed:
        return
    gone = sealed[choice % len(sealed)]
    seen("it had parents", bool(gone.parent_ids))
    seen("it had children", bool(gone.child_ids))

    after = prune_segment(layout, gone.segment_id)

    seen("a sealed leaf remains", any(not s.active and not s.child_ids for s in after.segments))
    kept = [
        replace(
            s,
            parent_ids=tuple(p for p in s.parent_ids if p != gone.segment_id),
            child_ids=tuple(c for c in s.child_ids if c != gone.segment_id),
        )
        for s in layout.segments
        if s != gone
    ]
    assert after == layout_of(layout.epoch + 1, layout.next_segment_id, kept)


@law("468-LAYOUT-19", layout=layouts(steps=20), choice=st.integers(0, 99), sometimes=("a diamond", "a root"))
def a_lineage_is_the_family_in_order(layout: SegmentLayout, choice: int) -> None:
    """Ancestors, the segment and descendants, each once, and no child before one of its parents."""
    chosen = layout.segments[choice % len(layout.segments)].segment_id
    graph = _by_parents(layout)
    before, after = nx.ancestors(graph, chosen), nx.descendants(graph, chosen)
    seen("a root", not before)
    seen("a diamond", any(len(list(nx.all_simple_paths(graph, a, chosen))) > 1 for a in before))

    family = lineage(layout, chosen)

    assert ancestors(layout, chosen) == before
    assert descendants(layout, chosen) == after
    assert len(family) == len(set(family))
    assert set(family) == before | {chosen} | after
    for parent, child in graph.subgraph(family).edges:
        assert family.index(parent) < family.index(child)


@law(
    "483-GUARD-06",
    layout=layouts(steps=20),
    choice=st.integers(0, 99),
    sometimes=("no merge", "two merges"),
)
def the_merge_depth_counts_the_merges_behind_a_segment(layout: SegmentLayout, choice: int) -> None:
    """Each segment of the past with two or more parents counts once, however many ways lead to it."""
    chosen = layout.segments[choice % len(layout.segments)].segment_id
    graph = _by_parents(layout)
    merges = [s for s in nx.ancestors(graph, chosen) | {chosen} if graph.in_degree(s) >= 2]
    seen("no merge", not merges)
    seen("two merges", len(merges) >= 2)
    assert merge_depth(layout, chosen) == len(merges)


@law(
    "468-LAYOUT-09",
    "475-HASH-06",
    layout=layouts(),
    kind=st.sampled_from(OPERATIONS),
    choice=hashes,
    hash=hashes,
    sometimes=("the owner stays", "a child takes over"),
)
def a_hash_passes_from_parent_to_child_only(layout: SegmentLayout, kind: str, choice: int, hash: int) -> None:
    """After any operation a hash belongs to its former owner, or to one of that owner's children."""
    before = find_active_segment(layout, hash)
    after = find_active_segment(step(layout, kind, choice), hash)

    stays = after.segment_id == before.segment_id
    seen("the owner stays" if stays else "a child takes over")
    assert stays or before.segment_id in after.parent_ids


@law("475-NAME-04", "468-SEGMENT-14", topic=topic_names, layout=layouts(), sometimes=("a range used twice",))
def every_segment_is_a_topic_of_its_own(topic: TopicName, layout: SegmentLayout) -> None:
    """Segments are served under segment:// names below their topic, and no two under the same one."""
    seen("a range used twice", len({s.range for s in layout.segments}) < len(layout.segments))
    below = f"segment://{topic.tenant}/{topic.namespace}/{topic.local}/"

    served = [str(served_as(topic, segment)) for segment in layout.segments]

    assert served == [f"{below}{s.range.start:04x}-{s.range.end:04x}-{s.segment_id}" for s in layout.segments]
    assert len(set(served)) == len(layout.segments)


@law(
    "475-HASH-03",
    cuts=st.sets(st.integers(1, 15), max_size=6),
    lost=st.none() | st.integers(0, 15),
    more=st.lists(st.tuples(st.integers(0, 15), st.integers(0, 4)), max_size=3),
    sometimes=("a hole", "an overlap", "neither"),
)
def holes_and_overlaps_are_told_exactly(
    cuts: set[int], lost: int | None, more: list[tuple[int, int]]
) -> None:
    """The sentences name just the hashes without an owner and those with more than one."""
    taken = [
        range(start, end) for start, end in pairwise(sorted({0, *cuts, 16})) if lost not in range(start, end)
    ]
    taken += [range(start, min(start + extra, 15) + 1) for start, extra in more]
    layout = layout_of(
        0,
        len(taken),
        (SegmentInfo(i, HashRange(t[0] * 0x1000, t[-1] * 0x1000 + 0xFFF)) for i, t in enumerate(taken)),
    )
    owners = [sum(block in t for t in taken) for block in range(16)]
    seen("a hole", 0 in owners)
    seen("an overlap", max(owners) > 1)
    seen("neither", set(owners) == {1})

    sentences = list(every_hash_has_one_owner(layout))

    holes = [[b for b, _ in run] for free, run in groupby(enumerate(owners), lambda o: o[1] == 0) if free]
    assert [s for s in sentences if s.startswith("nobody")] == [
        f"nobody owns {hole[0] * 0x1000:#06x}..{hole[-1] * 0x1000 + 0xFFF:#06x}" for hole in holes
    ]
    shared = set()
    for sentence in sentences:
        if sentence.startswith("two segments own "):
            first, last = sentence.removeprefix("two segments own ").split("..")
            shared |= set(range(int(first, 16) // 0x1000, int(last, 16) // 0x1000 + 1))
    assert shared == {block for block in range(16) if owners[block] > 1}


DAMAGES = (
    *("a lost segment", "a range owned twice", "a range beyond the space"),
    *("an id given twice", "an id over the next"),
    *("a cut towards the child", "a cut towards the parent", "an edge drawn twice", "a cycle"),
    *("a future creation", "a future sealing", "a sealing before the creation"),
    *("a child of another epoch", "a child of an active segment"),
)


@law(
    "468-SEGMENT-04",
    "468-SEGMENT-07",
    "468-SEGMENT-08",
    "475-HASH-03",
    layout=layouts(steps=6),
    choice=st.integers(0, 99),
    sometimes=DAMAGES,
)
def any_damage_to_a_sound_layout_is_told(layout: SegmentLayout, choice: int) -> None:
    """A layout that is broken in one way has at least one flaw, and a sentence says which."""
    for damage, damaged, sentence in _damages(layout, choice):
        seen(damage)
        assert any(told.endswith(sentence) for told in flaws(damaged)), (damage, sentence, flaws(damaged))


def _damages(layout: SegmentLayout, choice: int) -> Iterator[tuple[str, SegmentLayout, str]]:
    """Ways to break a layout, each with the end of a sentence that must be told."""
    epoch, next_id = layout.epoch, layout.next_segment_id

    def patched(*changed: SegmentInfo) -> SegmentLayout:
        segments = {s.segment_id: s for s in (*layout.segments, *changed)}
        return layout_of(epoch, next_id, segments.values())

    active = layout.active[choice % len(layout.active)]
    any_one = layout.segments[choice % len(layout.segments)]
    hashes = f"{active.range.start:#06x}..{active.range.end:#06x}"
    without = [s for s in layout.segments if s != active]

    yield "a lost segment", layout_of(epoch, next_id, without), f"nobody owns {hashes}"
    twin = SegmentInfo(next_id, active.range, created_at_epoch=epoch)
    twins = layout_of(epoch, next_id + 1, (*layout.segments, twin))
    yield "a range owned twice", twins, f"two segments own {hashes}"
    wide = replace(any_one, range=HashRange(any_one.range.start, 0x10000))
    start = f"{wide.range.start:#x}"
    yield "a range beyond the space", patched(wide), f"segment {wide.segment_id} covers {start}..0x10000"
    doubled = layout_of(epoch, next_id, (*layout.segments, any_one))
    yield "an id given twice", doubled, f"two segments have the id {any_one.segment_id}"
    late = layout_of(epoch, any_one.segment_id, layout.segments)
    exists = f"segment {any_one.segment_id} exists, but {any_one.segment_id} is said to be the next id"
    yield "an id over the next", late, exists
    unborn = replace(any_one, created_at_epoch=epoch + 1)
    created = f"segment {any_one.segment_id} was created at epoch {epoch + 1}, after {epoch}"
    yield "a future creation", patched(unborn), created
    parent_yet = replace(active, child_ids=(next_id,))
    has_children = f"segment {active.segment_id} is active but has the children [{next_id}]"
    yield "a child of an active segment", patched(parent_yet), has_children

    edges = [(layout.segment(p), s) for s in layout.segments for p in s.parent_ids]
    if not edges:
        return
    parent, child = edges[choice % len(edges)]
    p, c, sealed = parent.segment_id, child.segment_id, parent.sealed_at_epoch

    childless = replace(parent, child_ids=tuple(i for i in parent.child_ids if i != c))
    cut = f"segment {c} calls {p} its parent, but {p} does not know it"
    yield "a cut towards the child", patched(childless), cut
    orphan = replace(child, parent_ids=tuple(i for i in child.parent_ids if i != p))
    cut = f"segment {p} calls {c} its child, but {c} does not know it"
    yield "a cut towards the parent", patched(orphan), cut
    double = replace(child, parent_ids=(*child.parent_ids, p))
    yield "an edge drawn twice", patched(double), f"segment {c} names its parent {p} 2 times"
    own_parent = replace(parent, parent_ids=(*parent.parent_ids, c))
    own_child = replace(child, child_ids=(*child.child_ids, p))
    yield "a cycle", patched(own_parent, own_child), "→ itself"
    early = replace(parent, sealed_at_epoch=epoch + 1)
    after = f"segment {p}, sealed at epoch {epoch + 1}, lies after the layout's epoch {epoch}"
    yield "a future sealing", patched(early), after
    unsealed = replace(parent, created_at_epoch=sealed + 1)
    only_at = f"segment {p}, sealed at epoch {sealed}, was created only at {sealed + 1}"
    yield "a sealing before the creation", patched(unsealed), only_at
    stray = replace(child, created_at_epoch=sealed - 1)
    with_child = f"segment {p}, sealed at epoch {sealed}, has a child created at {sealed - 1}"
    yield "a child of another epoch", patched(stray), with_child


def _by_parents(layout: SegmentLayout) -> "nx.DiGraph[int]":
    """The history as the children tell it."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(s.segment_id for s in layout.segments)
    graph.add_edges_from((parent, s.segment_id) for s in layout.segments for parent in s.parent_ids)
    return graph
