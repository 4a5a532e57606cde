"""
Splits and merges that leaders, their successors and operators make one after the other.

A change of the layout is one step. Splits are asked about with consumers that come in a burst and a leader
that crashes; merges on a quiet topic, with a leader that is deposed and does not know.
"""

from spec.protocols.during_scaling import ByHand, Clock, ForConsumers
from spec.protocols.election import Election
from spec.protocols.load_reports import Reporting
from spec.protocols.scaling import Scaling
from spec.world import Holds, Violated, World

BOUNDS = {
    "brokers": 2,
    "subscriptions": 0,
    "keys": 1,
    "max_segments": 3,
    "min_segments": 1,
    "max_dag_depth": 2,
    "split_cooldown": 2,
    "merge_cooldown": 2,
    "merge_window": 0,
    "split_above": 9,
    "merge_below": 7,
    "floor": 0,
    "skew": 0,
}

SPLITS = World(
    name="cooldowns-survive-leaders",
    asks="Does a burst of consumers cause one split per cooldown, whoever leads or splits by hand?",
    machines=(Election, Scaling, Clock, ForConsumers, ByHand),
    bounds=BOUNDS
    | {
        "hosts": 0,
        "segments": 9,
        "initial_segments": 1,
        "crashes": 1,
        "expiries": 0,
        "membership_changes": 3,
        "manual_changes": 1,
    },
    idle=(
        "expire_session",
        "notice_lost_session",
        "notice_later_term",
        "a_deposed_leader_acts_beside_its_successor",
    ),
    expect=Holds(states=18_185, depth=21),
)

MERGES = World(
    name="merge-cooldowns-survive-leaders",
    asks="Does a cooldown pass between two merges, even if one leader is deposed and the next takes over?",
    machines=(Election, Scaling, Clock, Reporting),
    bounds=BOUNDS
    | {
        "hosts": 1,
        "segments": 5,
        "initial_segments": 3,
        "crashes": 0,
        "expiries": 1,
        "moves": 0,
    },
    idle=("open_controller", "crash", "restart", "move_segment", "a_segment_was_split"),
    expect=Holds(states=5_684, depth=23),
)

WITHOUT_HANDS = {"bounds": {**SPLITS.bounds, "manual_changes": 0}}

WORLDS = (
    SPLITS,
    SPLITS.without(
        "cooldowns_outlive_leaders",
        Violated("automatic_splits_keep_their_distance", steps=10),
        **WITHOUT_HANDS,
    ),
    SPLITS.as_written(Violated("automatic_splits_keep_their_distance", steps=10), **WITHOUT_HANDS),
    MERGES,
    MERGES.without("cooldowns_outlive_leaders", Violated("automatic_merges_keep_their_distance", steps=15)),
)
