"""
A topic whose load and consumers stay as they are.

Cooldowns and windows are nothing, so that whatever holds a change back holds it back for good: what comes to
rest here does so however long it waits. A change of the layout is one step.
"""

from spec.protocols.during_scaling import Constant
from spec.protocols.election import Led
from spec.protocols.load_reports import Reporting
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

WORLD = World(
    name="constant-load-settles",
    asks="Does every topic come to rest under constant load, with as many segments as it needs?",
    machines=(Scaling, Led, Constant, Reporting),
    bounds={
        "brokers": 1,
        "hosts": 1,
        "subscriptions": 0,
        "keys": 2,
        "segments": 12,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "moves": 0,
        "max_segments": 3,
        "min_segments": 1,
        "max_dag_depth": 2,
        "split_cooldown": 0,
        "merge_cooldown": 0,
        "merge_window": 0,
        "split_above": 9,
        "merge_below": 7,
        "calm": 0,
        "busy": 5,
        "peak": 20,
        "floor": 0,
        "skew": 0,
    },
    idle=("move_segment",),
    expect=Holds(states=9_999, depth=28),
)

WORLDS = (
    WORLD,
    WORLD.without("merge_leaves_room_for_consumers", Violated("no_split_undoes_a_merge", steps=6)),
    WORLD.without("merge_weighs_the_sum", Violated("no_split_undoes_a_merge", steps=8)),
    WORLD.without("split_skips_single_hashes", Violated("crowded_topics_gain_segments", steps=4)),
    WORLD.as_written(Violated("no_split_undoes_a_merge", steps=6)),
)
