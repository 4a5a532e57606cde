"""
A topic that is taken out of auto split and merge, and is split by hand afterwards.

A change of the layout is one step, and there are no pauses.
"""

from spec.protocols.during_scaling import ByHand, ForConsumers, OptedOut
from spec.protocols.election import Led
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

WORLD = World(
    name="opting-out-lasts",
    asks="Does a topic that was opted out stay so, whatever its operator does to its segments?",
    machines=(Scaling, Led, ForConsumers, ByHand, OptedOut),
    bounds={
        "brokers": 1,
        "hosts": 0,
        "subscriptions": 0,
        "keys": 1,
        "segments": 12,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "max_segments": 3,
        "min_segments": 1,
        "max_dag_depth": 2,
        "split_cooldown": 0,
        "merge_cooldown": 0,
        "merge_window": 0,
        "split_above": 9,
        "merge_below": 7,
        "membership_changes": 3,
        "manual_changes": 2,
        "floor": 0,
        "skew": 0,
    },
    expect=Holds(states=602, depth=10),
)

ONE_SPLIT = {"bounds": {**WORLD.bounds, "manual_changes": 1}}

WORLDS = (
    WORLD,
    WORLD.without("changes_keep_the_policy", Violated("opting_out_lasts", steps=6), **ONE_SPLIT),
    WORLD.as_written(Violated("opting_out_lasts", steps=6), **ONE_SPLIT),
)
