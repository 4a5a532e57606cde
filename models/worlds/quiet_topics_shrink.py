"""
A topic with next to nothing to do, whose rates go up and down a little for ever.

A change of the layout is one step. The window is two units of time, and owners sample at least once in each.
"""

from spec.protocols.during_scaling import Clock
from spec.protocols.election import Led
from spec.protocols.load_reports import Reporting, Wobbling
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

WORLD = World(
    name="quiet-topics-shrink",
    asks="Does a nearly idle topic lose segments, though its rates never stand still?",
    machines=(Scaling, Led, Clock, Reporting, Wobbling),
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
        "calm": 1,
        "busy": 2,
        "floor": 2,
        "skew": 0,
    },
    idle=("move_segment", "a_segment_was_split"),
    expect=Holds(states=124, depth=18),
)

WORLDS = (
    WORLD,
    WORLD.without("small_rates_are_not_news", Violated("quiet_topics_lose_segments", steps=16)),
    WORLD.as_written(Violated("quiet_topics_lose_segments", steps=16)),
)
