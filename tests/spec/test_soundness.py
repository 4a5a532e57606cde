"""What makes a layout sound: every flaw with its sentence."""

from dataclasses import replace

import pytest

from spec.layout import SegmentInfo, SegmentLayout, SegmentState, initial_layout, layout_of, split_segment
from spec.migration import RegularTopic, migrated_layout, synthetic_view
from spec.names import RegularName
from spec.ranges import HashRange
from spec.soundness import flaws

SPLIT = split_segment(initial_layout(1), 0)
PARENT, LEFT, RIGHT = SPLIT.segments
SEALED = SegmentState.SEALED


def changed(*segments: SegmentInfo, epoch: int = 1, next_id: int = 3) -> SegmentLayout:
    """The layout after one split, with these segments in place of its own."""
    by_id = {s.segment_id: s for s in (*SPLIT.segments, *segments)}
    return layout_of(epoch, next_id, by_id.values())


@pytest.mark.claims("475-HASH-03", "468-SEGMENT-04", "468-SEGMENT-07", "468-SEGMENT-08")
@pytest.mark.parametrize(
    ("layout", "sentences"),
    [
        (layout_of(0, 0, ()), ["nobody owns 0x0000..0xffff"]),
        (
            layout_of(1, 3, (PARENT, RIGHT)),
            [
                "nobody owns 0x0000..0x7fff",
                "segment 0 calls 1 its child, but 1 does not know it",
            ],
        ),
        (changed(replace(LEFT, range=HashRange(0x0001, 0x7FFF))), ["nobody owns 0x0000..0x0000"]),
        (changed(replace(LEFT, range=HashRange(0x0000, 0x7FFD))), ["nobody owns 0x7ffe..0x7fff"]),
        (changed(replace(RIGHT, range=HashRange(0x8000, 0xFFFE))), ["nobody owns 0xffff..0xffff"]),
        (changed(replace(RIGHT, range=HashRange(0x7FFF, 0xFFFF))), ["two segments own 0x7fff..0x7fff"]),
        (
            changed(replace(RIGHT, range=LEFT.range)),
            ["two segments own 0x0000..0x7fff", "nobody owns 0x8000..0xffff"],
        ),
        (
            changed(SegmentInfo(3, HashRange(0x10, 0x1F)), next_id=4),
            ["two segments own 0x0010..0x001f"],
        ),
        (changed(replace(PARENT, range=HashRange(0, 0x10000))), ["segment 0 covers 0x0..0x10000"]),
        (changed(replace(PARENT, range=HashRange(9, 8))), ["segment 0 covers 0x9..0x8"]),
        (changed(replace(PARENT, range=HashRange(-1, 8))), ["segment 0 covers -0x1..0x8"]),
        (changed(replace(RIGHT, parent_ids=())), ["segment 0 calls 2 its child, but 2 does not know it"]),
        (changed(replace(PARENT, child_ids=(1,))), ["segment 2 calls 0 its parent, but 0 does not know it"]),
        (changed(replace(RIGHT, parent_ids=(0, 0))), ["segment 2 names its parent 0 2 times"]),
        (changed(replace(PARENT, child_ids=(1, 2, 1, 1))), ["segment 0 names its child 1 3 times"]),
        (
            changed(replace(PARENT, parent_ids=(0,), child_ids=(0, 1, 2))),
            [
                "segment 0 → itself",
                "segment 0 is older than its parent 0",
                "segment 0, sealed at epoch 1, has a child created at 0",
            ],
        ),
        (
            layout_of(
                2,
                2,
                (
                    SegmentInfo(0, PARENT.range, SEALED, (1,), (1,), 2, 2),
                    SegmentInfo(1, PARENT.range, SEALED, (0,), (0,), 2, 2),
                ),
            ),
            [
                "nobody owns 0x0000..0xffff",
                "segment 0 → segment 1 → itself",
                "segment 0 is older than its parent 1",
            ],
        ),
        (layout_of(1, 3, (*SPLIT.segments, PARENT)), ["two segments have the id 0"]),
        (changed(next_id=2), ["segment 2 exists, but 2 is said to be the next id"]),
        (
            changed(epoch=0),
            [
                "segment 0, sealed at epoch 1, lies after the layout's epoch 0",
                "segment 1 was created at epoch 1, after 0",
                "segment 2 was created at epoch 1, after 0",
            ],
        ),
        (
            changed(replace(PARENT, created_at_epoch=2), epoch=2),
            ["segment 0, sealed at epoch 1, was created only at 2"],
        ),
        (
            changed(replace(LEFT, created_at_epoch=2), epoch=2),
            ["segment 0, sealed at epoch 1, has a child created at 2"],
        ),
        (
            changed(replace(PARENT, state=SegmentState.ACTIVE)),
            [
                "two segments own 0x0000..0x7fff",
                "two segments own 0x8000..0xffff",
                "segment 0 is active but has the children [1, 2]",
            ],
        ),
    ],
)
def test_every_flaw_has_its_sentence(layout: SegmentLayout, sentences: list[str]) -> None:
    assert list(flaws(layout)) == sentences


@pytest.mark.parametrize(
    "layout",
    [
        SPLIT,
        initial_layout(3),
        changed(epoch=9, next_id=99),
        changed(replace(LEFT, sealed_at_epoch=-1)),
        changed(replace(PARENT, created_at_epoch=1)),
        changed(replace(LEFT, range=HashRange(0, 0)), replace(RIGHT, range=HashRange(1, 0xFFFF))),
        migrated_layout(RegularTopic(RegularName("t", "n", "x"), 3)),
        migrated_layout(RegularTopic(RegularName("t", "n", "x"))),
        synthetic_view(RegularTopic(RegularName("t", "n", "x"), 3)).layout,
    ],
)
def test_gaps_sentinels_and_migrations_are_sound(layout: SegmentLayout) -> None:
    assert flaws(layout) == ()
