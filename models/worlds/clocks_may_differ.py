"""Do deadlines and retention mean what they say, and does nothing else depend on the clocks?"""

from dataclasses import replace

from models.worlds.sweeps_miss_nothing import SWEEPS
from spec.world import Holds

CLOCKS = replace(
    SWEEPS,
    name="clocks-may-differ",
    asks="If the clock of a coordinator is ahead of the others, is all that can happen that transactions are "
    "aborted and forgotten earlier by that much?",
    bounds={**SWEEPS.bounds, "transactions": 1, "skew": 1, "ticks": 5, "timeout": 2, "retention": 2},
    idle=("finish_change",),
    expect=Holds(states=2_518, depth=12),
)

WORLDS = (
    CLOCKS,
    replace(
        CLOCKS,
        name="nothing-goes-before-its-time",
        asks="If all clocks agree, is nothing aborted before its deadline, nor forgotten before its time?",
        bounds={**CLOCKS.bounds, "skew": 0},
        idle=("finish_change", "a_clock_ahead_aborts_early"),
        expect=Holds(states=818, depth=12),
    ),
)
