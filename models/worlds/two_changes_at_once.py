"""May one leader run two layout changes at once?"""

from models.worlds.leaving_out import NO_DISCOVERY, NO_FAILOVER, NO_LOST_REPLY
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.topic import AlreadySubscribed, Topic
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

WORLDS = (
    TWO_CHANGES,
    TWO_CHANGES.without(
        "changes_are_announced", Violated("every_hash_gets_a_writable_owner_again", steps=13)
    ),
    TWO_CHANGES.as_written(Violated("every_active_segment_exists", steps=14)),
)
