"""
Automatic changes on the road of PIP-468: discover, create, terminate, publish, notify, each a step.

Here the changes are not taken for one step, because the questions are about what is in flight and who began
it. There is no clock, and consumers stay as they are.
"""

from spec.protocols.automatic_change import AutomaticChange
from spec.protocols.election import Election, a_deposed_leader_acts_beside_its_successor
from spec.protocols.layout_change import LayoutChange, a_merge_was_published, a_split_was_published
from spec.world import Holds, Violated, World

BOUNDS = {
    "hosts": 0,
    "subscriptions": 0,
    "keys": 1,
    "initial_segments": 2,
    "crashes": 0,
    "lost_replies": 0,
    "max_segments": 3,
    "min_segments": 1,
    "max_dag_depth": 2,
    "split_cooldown": 0,
    "merge_cooldown": 0,
    "merge_window": 0,
    "split_above": 9,
    "merge_below": 7,
    "crowd": 3,
    "floor": 0,
    "skew": 0,
}
NEVER = ("open_controller", "crash", "restart", "discover", "publish_without_an_answer", "learn_the_outcome")
ABOUT_SCALING = (*AutomaticChange.properties, a_split_was_published, a_merge_was_published)

DEPOSED = World(
    name="automatic-changes-begin-alone",
    asks="Does only the leader begin automatic changes, and none while another is in flight?",
    machines=(Election, LayoutChange, AutomaticChange),
    bounds=BOUNDS | {"brokers": 2, "expiries": 1, "operations": 1, "segments": 4},
    properties=(*ABOUT_SCALING, a_deposed_leader_acts_beside_its_successor),
    idle=NEVER,
    expect=Holds(states=6_240, depth=18),
)

BESIDE_MANUAL_ONES = World(
    name="automatic-changes-beside-manual-ones",
    asks="Does an automatic split respect the ceiling, even if an operator splits at the same time?",
    machines=(Election, LayoutChange, AutomaticChange),
    bounds=BOUNDS | {"brokers": 1, "expiries": 0, "operations": 2, "segments": 6},
    properties=ABOUT_SCALING,
    idle=(*NEVER, "expire_session", "notice_lost_session", "notice_later_term", "finish_change"),
    expect=Holds(states=1_596, depth=20),
)

WORLDS = (
    DEPOSED,
    BESIDE_MANUAL_ONES,
    BESIDE_MANUAL_ONES.without(
        "changes_are_announced", Violated("what_is_published_respects_the_ceiling", steps=16)
    ),
    DEPOSED.as_written(Violated("automatic_changes_begin_alone", steps=6)),
)
