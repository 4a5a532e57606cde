"""
Automatic changes on the road of PIP-468: discover, create, terminate, publish, notify, each a step.

Here the changes are not taken for one step, because the questions are about what is in flight and who began
it. There is no clock, and consumers stay as they are.
"""

from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.scaling import AutomaticChange
from spec.world import Holds, Violated, World

BOUNDS = {
    "hosts": 0,
    "subscriptions": 0,
    "keys": 1,
    "segments": 5,
    "initial_segments": 1,
    "crashes": 0,
    "lost_replies": 0,
    "max_segments": 2,
    "min_segments": 1,
    "max_dag_depth": 2,
    "split_cooldown": 0,
    "merge_cooldown": 0,
    "merge_window": 0,
    "split_above": 9,
    "merge_below": 7,
    "crowd": 2,
    "floor": 0,
    "skew": 0,
}
NEVER = ("open_controller", "crash", "restart", "discover", "publish_without_an_answer", "learn_the_outcome")

DEPOSED = World(
    name="automatic-changes-begin-alone",
    asks="Does only the leader begin automatic changes, and none while another is in flight?",
    machines=(Election, LayoutChange, AutomaticChange),
    bounds=BOUNDS | {"brokers": 2, "expiries": 1, "operations": 1},
    idle=NEVER,
    expect=Holds(states=14246, depth=24),
)

BESIDE_MANUAL_ONES = World(
    name="automatic-changes-beside-manual-ones",
    asks="Does an automatic split respect the ceiling, even if an operator splits at the same time?",
    machines=(Election, LayoutChange, AutomaticChange),
    bounds=BOUNDS | {"brokers": 1, "expiries": 0, "operations": 2},
    idle=(
        *NEVER,
        "expire_session",
        "notice_lost_session",
        "notice_later_term",
        "a_deposed_leader_acts_beside_its_successor",
        "finish_change",
    ),
    expect=Holds(states=298, depth=14),
)

WORLDS = (
    DEPOSED,
    BESIDE_MANUAL_ONES,
    DEPOSED.as_written(Violated("automatic_changes_begin_alone", steps=6)),
)
