"""Does a message whose acknowledgement was lost arrive in its place, whichever segment takes it then?"""

from models.worlds.leaving_out import NO_DISCOVERY, NO_FAILOVER, NO_LOST_REPLY, NO_MERGE
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.reading import Reading
from spec.protocols.topic import AlreadySubscribed, Topic, keys_stay_in_order
from spec.world import Holds, Violated, World

REPEATED = World(
    name="sends-are-repeated",
    asks="If an acknowledgement is lost and the message is sent again after a split, is everything received, "
    "and first deliveries in order?",
    machines=(Topic, AlreadySubscribed, Election, LayoutChange, Producing, LookingUp, Reading),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "operations": 1,
        "producers": 2,
        "messages": 1,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
        "lost_acknowledgements": 1,
    },
    idle=(*NO_DISCOVERY, *NO_FAILOVER, *NO_LOST_REPLY, *NO_MERGE),
    expect=Holds(states=1_515, depth=16),
)

WORLDS = (
    REPEATED,
    REPEATED.as_written(Violated("keys_stay_in_order", steps=15), properties=(keys_stay_in_order,)),
)
