"""Do all repairs hold together: a crash, split, merge, subscriptions, producers, readers, pruning?"""

from models.worlds.leaving_out import NO_DISCOVERY, NO_EXPIRY, NO_LOST_ACKNOWLEDGEMENT, NO_LOST_REPLY
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.reading import Reading
from spec.protocols.retention import Retention
from spec.protocols.subscriptions import Subscriptions
from spec.protocols.topic import Topic
from spec.world import Holds, World

EVERYTHING = World(
    name="everything-at-once",
    asks="With two brokers, a crash, a split and a merge, two producers, and a subscription that is created "
    "and deleted in between, is nothing lost, nothing out of order, and nobody stuck?",
    machines=(Topic, Election, LayoutChange, Subscriptions, Producing, LookingUp, Reading, Retention),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 4,
        "initial_segments": 1,
        "operations": 1,
        "producers": 2,
        "messages": 1,
        "crashes": 1,
        "expiries": 0,
        "lost_replies": 0,
        "lost_acknowledgements": 0,
    },
    idle=(*NO_DISCOVERY, *NO_EXPIRY, *NO_LOST_REPLY, *NO_LOST_ACKNOWLEDGEMENT),
    expect=Holds(),
    large=True,
)

WORLDS = (EVERYTHING,)
