"""Is a subscription whole or gone in the end, wherever the leader crashes?"""

from models.worlds.leaving_out import NO_DISCOVERY, NO_EXPIRY, NO_LOST_REPLY, NO_MERGE
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.subscriptions import (
    Subscriptions,
    a_deleted_subscription_leaves_no_cursor,
)
from spec.protocols.topic import Topic
from spec.world import Holds, Violated, World

SURVIVE = World(
    name="subscriptions-survive-crashes",
    asks="If the leader crashes while it creates or deletes a subscription, beside a split or not, does "
    "every active segment have the cursor in the end, or none?",
    machines=(Topic, Election, LayoutChange, Subscriptions),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "operations": 1,
        "crashes": 1,
        "expiries": 0,
        "lost_replies": 0,
    },
    idle=(*NO_DISCOVERY, *NO_EXPIRY, *NO_LOST_REPLY, *NO_MERGE),
    expect=Holds(states=16_913, depth=24),
)
GONE = (a_deleted_subscription_leaves_no_cursor,)

WORLDS = (
    SURVIVE,
    SURVIVE.without(
        "cursors_follow_the_record",
        Violated("a_deleted_subscription_leaves_no_cursor", steps=10),
        properties=GONE,
    ),
    SURVIVE.as_written(Violated("a_deleted_subscription_leaves_no_cursor", steps=10), properties=GONE),
)
