"""If a producer has several messages on their way when a segment is sealed, do they arrive in order?"""

from models.worlds.leaving_out import NO_DISCOVERY, NO_FAILOVER, NO_LOST_REPLY, NO_MERGE
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.pipelining import Pipelining
from spec.protocols.reading import Reading
from spec.protocols.topic import AlreadySubscribed, Topic, keys_stay_in_order
from spec.world import Holds, Violated, World

PIPELINED = World(
    name="pipelined-sends-stay-in-order",
    asks="If messages of a key are on their way to a segment that is sealed meanwhile, are they received in "
    "the order in which the application sent them?",
    machines=(Topic, AlreadySubscribed, Election, LayoutChange, Pipelining, Reading),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "operations": 1,
        "producers": 1,
        "messages": 3,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
    },
    idle=(*NO_DISCOVERY, *NO_FAILOVER, *NO_LOST_REPLY, *NO_MERGE),
    expect=Holds(states=668, depth=24),
)
ORDER = (keys_stay_in_order,)

WORLDS = (
    PIPELINED,
    PIPELINED.without(
        "producers_settle_before_rerouting", Violated("keys_stay_in_order", steps=19), properties=ORDER
    ),
    PIPELINED.as_written(Violated("keys_stay_in_order", steps=20), properties=ORDER),
)
