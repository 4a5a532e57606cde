"""Laws of the segment layout."""

from hypothesis import strategies as st

from models.laws.law import law, seen
from models.laws.values import hashes, layouts, step
from spec.layout import (
    SegmentLayout,
    find_active_segment,
    lineage,
    merge_segments,
    split_segment,
)
from spec.ranges import contains
from spec.soundness import flaws


@law(
    layout=layouts(),
    kinds=st.lists(st.tuples(st.sampled_from(["split", "merge", "prune"]), st.integers(0, 99)), max_size=20),
    sometimes=("a split", "a merge", "a prune"),
)
def any_history_leaves_a_sound_layout(layout: SegmentLayout, kinds: list[tuple[str, int]]) -> None:
    """Whatever is split, merged and pruned, every hash has one owner and the history stays in order."""
    for kind, choice in kinds:
        after = step(layout, kind, choice)
        seen(f"a {kind}", after is not layout)
        assert flaws(after) == ()
        assert after is layout or after.epoch > layout.epoch
        layout = after


@law(layout=layouts(), hash=hashes)
def find_active_agrees_with_a_linear_scan(layout: SegmentLayout, hash: int) -> None:
    """The owner that bisection finds is the only active segment whose range contains the hash."""
    owners = [s for s in layout.segments if s.active and contains(s.range, hash)]
    assert owners == [find_active_segment(layout, hash)]


@law(layout=layouts(), choice=st.integers(0, 99), sometimes=("a split",))
def merging_the_halves_restores_the_range(layout: SegmentLayout, choice: int) -> None:
    """A split followed by the merge of its halves covers what was covered before, one merge deeper."""
    parent = layout.active[choice % len(layout.active)]
    if parent.range.width == 1:
        return
    seen("a split")
    divided = split_segment(layout, parent.segment_id)
    left, right = divided.segment(parent.segment_id).child_ids

    again = merge_segments(divided, right, left)

    heir = again.segment(again.next_segment_id - 1)
    assert heir.range == parent.range
    assert again.epoch == layout.epoch + 2
    assert lineage(again, heir.segment_id)[-4:] == (parent.segment_id, left, right, heir.segment_id)
