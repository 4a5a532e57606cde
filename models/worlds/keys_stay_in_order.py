"""Are the messages of a key received in order, across successive splits, merges and pruning?"""

from dataclasses import replace

from models.worlds.leaving_out import NO_DISCOVERY, NO_FAILOVER, NO_LOST_ACKNOWLEDGEMENT, NO_LOST_REPLY
from spec.design import HARDENED, Readiness
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.reading import (
    Reading,
    a_child_waits_for_all_its_ancestors,
    everything_is_read_in_the_end,
)
from spec.protocols.retention import Retention
from spec.protocols.topic import AlreadySubscribed, Topic, keys_stay_in_order
from spec.world import Holds, Violated, World

IN_ORDER = World(
    name="keys-stay-in-order",
    asks="While segments split again and again, merge and are pruned, does the subscription receive every "
    "message, and those of a key in the order in which they were sent?",
    machines=(Topic, AlreadySubscribed, Election, LayoutChange, Producing, LookingUp, Reading, Retention),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 5,
        "initial_segments": 1,
        "operations": 1,
        "producers": 1,
        "messages": 2,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
        "lost_acknowledgements": 0,
    },
    idle=(*NO_DISCOVERY, *NO_FAILOVER, *NO_LOST_REPLY, *NO_LOST_ACKNOWLEDGEMENT),
    expect=Holds(states=5_117, depth=26),
)
ORDER = (keys_stay_in_order,)

WORLDS = (
    IN_ORDER,
    IN_ORDER.without(
        "readiness",
        Violated("everything_is_read_in_the_end", steps=10),
        properties=(everything_is_read_in_the_end,),
    ),
    IN_ORDER.without("pruning", Violated("keys_stay_in_order", steps=19), properties=ORDER),
    replace(
        IN_ORDER,
        name="keys-stay-in-order-after-drained-parents",
        asks="Is it enough if a child waits for its parents, and not for those before them?",
        design=replace(HARDENED, readiness=Readiness.PARENTS_DRAINED),
        properties=ORDER,
        expect=Violated("keys_stay_in_order", steps=18),
    ),
    IN_ORDER.as_written(
        Violated("a_child_waits_for_all_its_ancestors", steps=12),
        properties=(a_child_waits_for_all_its_ancestors,),
    ),
)
