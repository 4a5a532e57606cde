"""Does a subscription that is created again have anything to fear from the one before it?"""

from spec.protocols.election import Election
from spec.protocols.subscriptions import Resubscribing, Subscriptions
from spec.protocols.topic import Topic, every_active_segment_has_every_cursor
from spec.world import Holds, Violated, World

CREATED_AGAIN = World(
    name="subscriptions-are-created-again",
    asks="If a subscription is deleted and created again while a broker that was deposed has yet to delete a "
    "cursor, does the new one keep its cursors, and have no other?",
    machines=(Topic, Election, Subscriptions, Resubscribing),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 1,
        "returns": 1,
    },
    idle=("crash", "restart", "open_controller", "a_creation_stopped_half_way"),
    expect=Holds(states=1_780, depth=22),
)
CURSORS = (every_active_segment_has_every_cursor,)

WORLDS = (
    CREATED_AGAIN,
    CREATED_AGAIN.without(
        "subscriptions_have_numbers",
        Violated("every_active_segment_has_every_cursor", steps=13),
        properties=CURSORS,
    ),
    CREATED_AGAIN.as_written(Violated("every_active_segment_has_every_cursor", steps=13), properties=CURSORS),
)
