"""
Two segments whose load rises and falls, while owners report it and one of them is moved, perhaps back again.

A change of the layout is one step. The window is one unit of time, in which owners sample at least once.
"""

from spec.protocols.during_scaling import Clock, Recreated
from spec.protocols.election import Led
from spec.protocols.load_reports import Reporting, Shifting
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

WORLD = World(
    name="merges-only-what-is-cold",
    asks="Is a pair of segments merged only if both were cold throughout the window in truth?",
    machines=(Scaling, Led, Clock, Reporting, Shifting),
    bounds={
        "brokers": 1,
        "hosts": 2,
        "subscriptions": 0,
        "keys": 2,
        "segments": 3,
        "initial_segments": 2,
        "crashes": 0,
        "expiries": 0,
        "moves": 2,
        "max_segments": 2,
        "min_segments": 1,
        "max_dag_depth": 2,
        "split_cooldown": 0,
        "merge_cooldown": 0,
        "merge_window": 1,
        "split_above": 30,
        "merge_below": 10,
        "calm": 4,
        "busy": 8,
        "peak": 10,
        "shifts": 2,
        "floor": 0,
        "skew": 1,
    },
    idle=("a_segment_was_split",),
    expect=Holds(states=71_956, depth=21),
)

TOGETHER = World(
    name="merges-only-what-is-cold-at-large",
    asks="Is it so as well if the window is longer, and the topic is deleted and created again meanwhile?",
    machines=(*WORLD.machines, Recreated),
    bounds={**WORLD.bounds, "moves": 1, "merge_window": 2, "recreations": 1},
    idle=WORLD.idle,
    expect=Holds(states=82994, depth=28),
    large=True,
)

BREACH = "only_what_is_durably_cold_is_merged"

WORLDS = (
    WORLD,
    TOGETHER,
    WORLD.without("merge_allows_for_silence", Violated(BREACH, steps=8)),
    WORLD.without("load_reports_are_conditional", Violated(BREACH, steps=10)),
    WORLD.without("windows_use_one_clock", Violated(BREACH, steps=5)),
    WORLD.as_written(Violated(BREACH, steps=5)),
)
