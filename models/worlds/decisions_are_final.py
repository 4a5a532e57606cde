"""Whatever clients ask for, how often and how late, is a transaction decided once, and are they told how?"""

from spec.protocols.deciding import Deciding, headers_are_written_twice
from spec.protocols.topic import Topic
from spec.world import Holds, Violated, World

DECISIONS = World(
    name="decisions-are-final",
    asks="If clients end transactions again, otherwise and too late, if replies are lost and deadlines pass, "
    "is each decided once, told as it was decided, kept for its time and then forgotten?",
    machines=(Topic, Deciding),
    bounds={
        "transactions": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "ticks": 4,
        "timeout": 2,
        "retention": 2,
    },
    idle=("date_the_end",),
    expect=Holds(states=14_114, depth=12),
)

WORLDS = (
    DECISIONS,
    DECISIONS.without(
        "ends_are_dated_at_once",
        Violated("headers_are_written_twice", steps=3),
        properties=(headers_are_written_twice,),
        idle=(),
    ),
    DECISIONS.as_written(Violated("headers_are_written_twice", steps=3), idle=()),
)
