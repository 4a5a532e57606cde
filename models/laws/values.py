"""
Strategies for the specification's values: everything that the operations can make, with the corners made
likely.
"""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from spec.layout import (
    SegmentLayout,
    initial_layout,
    merge_segments,
    prune_segment,
    split_segment,
)
from spec.names import RegularName, SegmentName, TopicName
from spec.ranges import FIRST_HASH, LAST_HASH, HashRange
from spec.refusals import Reason, Refused

hashes: SearchStrategy[int] = st.integers(FIRST_HASH, LAST_HASH) | st.sampled_from(
    [0, 1, 0x7FFF, 0x8000, 0xFFFF]
)
longs: SearchStrategy[int] = st.integers(0, 2**63 - 1) | st.integers(0, 9)
times: SearchStrategy[int] = st.integers(0, 2**42) | st.integers(0, 9)

entities: SearchStrategy[str] = st.text("abcXYZ019-_.:=", min_size=1, max_size=6)
awkward_locals: SearchStrategy[str] = st.sampled_from(["a/b", "..", "%2F", "a+b", "a b", "é", "x/controller"])
locals_: SearchStrategy[str] = st.one_of(
    st.text(min_size=1, max_size=12).map(str.strip).filter(lambda text: bool(text) and text.isprintable()),
    st.sampled_from(["x", "/x", "x//", ".", "../x", "100%", "日本語", "~*+&", "a://b", "0000-7fff-1"]),
    st.sampled_from(["x-partition-", "x-partition-01", "x-partition-1"]),
    awkward_locals,
)
plain_locals: SearchStrategy[str] = st.text("abc019._-", min_size=1, max_size=8)
texts: SearchStrategy[str] = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12
) | st.sampled_from(["s", "a/b", "/", ".", "..", "%2F", "%", "a b", " ", "a+b", "é", "~*", "a/consumers/b"])
"""Names without a syntax of their own: subscriptions, consumers, transactions, keys."""

topic_names: SearchStrategy[TopicName] = st.builds(TopicName, entities, entities, locals_)
regular_names: SearchStrategy[RegularName] = st.builds(
    RegularName,
    entities,
    entities,
    plain_locals.filter(lambda text: "-partition-" not in text),
    st.none() | st.integers(0, 200),
)
regular_topics: SearchStrategy[RegularName] = regular_names.map(
    lambda name: RegularName(name.tenant, name.namespace, name.local)
)


@st.composite
def ranges(draw: DrawFn, least: int = 1) -> HashRange:
    """A range of at least that many hashes; single hashes and the whole space come up often."""
    width = draw(st.sampled_from([least, least + 1, 0x10000]) | st.integers(least, 0x10000))
    start = draw(st.integers(0, 0x10000 - width))
    return HashRange(start, start + width - 1)


segment_names: SearchStrategy[SegmentName] = st.builds(SegmentName, topic_names, ranges(), longs)


@st.composite
def layouts(draw: DrawFn, steps: int = 12, first: int = 5) -> SegmentLayout:
    """A layout that some sequence of splits, merges and prunes can make."""
    layout = initial_layout(draw(st.integers(1, first)))
    for _ in range(draw(st.integers(0, steps))):
        layout = step(layout, draw(st.sampled_from(["split", "merge", "prune"])), draw(st.integers(0, 2**16)))
    return layout


def step(layout: SegmentLayout, kind: str, choice: int) -> SegmentLayout:
    """One operation on some segment; where there is none to take, the layout stays as it is."""
    try:
        if kind == "split":
            return split_segment(layout, layout.active[choice % len(layout.active)].segment_id)
        if kind == "merge" and len(layout.active) > 1:
            place = choice % (len(layout.active) - 1)
            pair = [s.segment_id for s in layout.active[place : place + 2]]
            return merge_segments(layout, *(reversed(pair) if choice % 2 else pair))
        for offset in range(len(layout.segments)):
            segment = layout.segments[(choice + offset) % len(layout.segments)]
            if not segment.active:
                return prune_segment(layout, segment.segment_id)
        return layout
    except Refused:
        return layout


def refusal_of(attempt: Callable[..., object], *arguments: object) -> Reason | None:
    """Why a call is refused, or nothing if it is not."""
    try:
        attempt(*arguments)
    except Refused as refusal:
        return refusal.reason
    return None
