"""May one leader run two layout changes at once?"""

from models.worlds.leaving_out import NO_DISCOVERY, NO_FAILOVER, NO_LOST_REPLY
from spec.layout import active_segment, layout_of
from spec.machine import start
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.topic import AlreadySubscribed, Record, Topic
from spec.ranges import LAST_HASH, HashRange
from spec.world import Holds, Violated, World

TWO_CHANGES = World(
    name="two-changes-at-once",
    asks="If a leader is asked to split and merge neighbouring segments at once, does every segment that it "
    "publishes exist with its cursors, and does every hash keep an owner that takes writes?",
    machines=(Topic, AlreadySubscribed, Election, LayoutChange),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 2,
        "segments": 6,
        "initial_segments": 2,
        "operations": 2,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
    },
    idle=(*NO_DISCOVERY, *NO_FAILOVER, *NO_LOST_REPLY),
    expect=Holds(states=546, depth=20),
)


class Narrow(Topic):
    """A topic one of whose segments covers a single hash."""


@start
def a_segment_of_a_single_hash(w: Narrow) -> None:
    """The first segment has one hash, and the second one all others."""
    ranges = HashRange(0, 0), HashRange(1, LAST_HASH)
    w.record = Record(layout_of(0, 2, (active_segment(i, whole, 0) for i, whole in enumerate(ranges))))


SINGLE_HASH = World(
    name="a-single-hash-is-not-split",
    asks="If a segment covers a single hash, is it left alone by splits, and can it still be merged?",
    machines=(Topic, Narrow, Election, LayoutChange),
    bounds={**TWO_CHANGES.bounds, "operations": 1, "segments": 4, "subscriptions": 0},
    idle=TWO_CHANGES.idle,
    expect=Holds(states=15, depth=8),
)

WORLDS = (
    TWO_CHANGES,
    SINGLE_HASH,
    TWO_CHANGES.without(
        "changes_are_announced", Violated("every_hash_gets_a_writable_owner_again", steps=13)
    ),
    TWO_CHANGES.as_written(Violated("every_active_segment_exists", steps=14)),
)
