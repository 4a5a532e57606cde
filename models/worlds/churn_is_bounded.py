"""
A topic whose load comes and goes for ever, while its drained segments are pruned.

A change of the layout is one step, and there are no pauses: only maxDagDepth bounds how much happens.
"""

from spec.protocols.during_scaling import Forgetful
from spec.protocols.election import Led
from spec.protocols.load_reports import Reporting, Shifting
from spec.protocols.retention import Retention
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

WORLD = World(
    name="churn-is-bounded",
    asks="Is a range merged only so often, however often load comes and goes and whatever is pruned?",
    machines=(Scaling, Led, Reporting, Shifting, Retention, Forgetful),
    bounds={
        "brokers": 1,
        "hosts": 1,
        "subscriptions": 0,
        "keys": 1,
        "segments": 8,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "moves": 0,
        "max_segments": 2,
        "min_segments": 1,
        "max_dag_depth": 1,
        "split_cooldown": 0,
        "merge_cooldown": 0,
        "merge_window": 0,
        "split_above": 9,
        "merge_below": 7,
        "calm": 0,
        "busy": 20,
        "peak": 20,
        "shifts": -1,
        "floor": 0,
        "skew": 0,
    },
    idle=("move_segment",),
    expect=Holds(states=66_290, depth=37),
)

WORLDS = (
    WORLD,
    WORLD.without("depth_outlives_pruning", Violated("no_range_is_merged_too_often", steps=23)),
    WORLD.as_written(Violated("no_range_is_merged_too_often", steps=21)),
)
