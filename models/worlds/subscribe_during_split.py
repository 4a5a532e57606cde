"""Does a subscription that is created during a split miss anything?"""

from models.worlds.leaving_out import (
    NO_DISCOVERY,
    NO_FAILOVER,
    NO_LOST_ACKNOWLEDGEMENT,
    NO_LOST_REPLY,
    NO_MERGE,
)
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.reading import Reading
from spec.protocols.subscriptions import Subscriptions
from spec.protocols.topic import Topic, no_acknowledged_message_is_lost
from spec.world import Holds, Violated, World

SUBSCRIBE = World(
    name="subscribe-during-split",
    asks="If a subscription is created or deleted while a segment splits, is every message kept that is "
    "acknowledged once it exists?",
    machines=(Topic, Election, LayoutChange, Subscriptions, Producing, LookingUp, Reading),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "operations": 1,
        "producers": 1,
        "messages": 1,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
        "lost_acknowledgements": 0,
    },
    idle=(
        *NO_DISCOVERY,
        *NO_FAILOVER,
        *NO_LOST_REPLY,
        *NO_MERGE,
        *NO_LOST_ACKNOWLEDGEMENT,
        "a_creation_stopped_half_way",
    ),
    expect=Holds(states=2_325, depth=22),
)
LOST = (no_acknowledged_message_is_lost,)

WORLDS = (
    SUBSCRIBE,
    SUBSCRIBE.without("discovery", Violated("no_acknowledged_message_is_lost", steps=13), properties=LOST),
    SUBSCRIBE.without("conflict", Violated("no_acknowledged_message_is_lost", steps=12), properties=LOST),
    SUBSCRIBE.as_written(Violated("no_acknowledged_message_is_lost", steps=13), properties=LOST),
)
