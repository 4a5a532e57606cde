"""
A topic that is deleted and created again, with segments of the same ids and load records at the same paths.

A change of the layout is one step, and so is the deletion: how a topic is deleted is asked elsewhere.
"""

from spec.protocols.during_scaling import Clock, Recreated
from spec.protocols.election import Led
from spec.protocols.load_reports import Reporting, Shifting
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

WORLD = World(
    name="recreated-topics-start-afresh",
    asks="Is a topic that was created again judged by its own load, and not by that of its predecessor?",
    machines=(Scaling, Led, Clock, Reporting, Shifting, Recreated),
    bounds={
        "brokers": 1,
        "hosts": 1,
        "subscriptions": 0,
        "keys": 2,
        "segments": 3,
        "initial_segments": 2,
        "crashes": 0,
        "expiries": 0,
        "moves": 0,
        "max_segments": 2,
        "min_segments": 1,
        "max_dag_depth": 2,
        "split_cooldown": 0,
        "merge_cooldown": 0,
        "merge_window": 2,
        "split_above": 30,
        "merge_below": 10,
        "calm": 4,
        "busy": 10,
        "peak": 10,
        "shifts": 1,
        "recreations": 2,
        "floor": 0,
        "skew": 0,
    },
    idle=("move_segment", "a_segment_was_split"),
    expect=Holds(states=1_779, depth=31),
)

BREACH = "only_what_is_durably_cold_is_merged"

WORLDS = (
    WORLD,
    WORLD.without("load_records_go_with_the_topic", Violated(BREACH, steps=9)),
    WORLD.as_written(Violated(BREACH, steps=9)),
)
