"""If an old and a new leader both split and merge, does every hash keep one owner that takes writes?"""

from models.worlds.leaving_out import NO_DISCOVERY
from spec.protocols.election import Election
from spec.protocols.layout_change import (
    LayoutChange,
    a_deposed_leader_publishes_nothing,
    every_hash_gets_a_writable_owner_again,
)
from spec.protocols.topic import Topic
from spec.world import Holds, Violated, World

TWO_LEADERS = World(
    name="two-leaders-change-the-layout",
    asks="If a leader is deposed or crashes between two steps of a split or merge, does every hash get an "
    "owner that takes writes again, and does nobody but the leader change anything?",
    machines=(Topic, Election, LayoutChange),
    bounds={
        "brokers": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 4,
        "initial_segments": 1,
        "operations": 1,
        "crashes": 1,
        "expiries": 1,
        "lost_replies": 1,
    },
    idle=NO_DISCOVERY,
    expect=Holds(states=39_491, depth=30),
)

WORLDS = (
    TWO_LEADERS,
    TWO_LEADERS.without("changes_are_announced", Violated("a_deposed_leader_seals_nothing", steps=8)),
    TWO_LEADERS.without(
        "leaders_finish_changes", Violated("every_hash_gets_a_writable_owner_again", steps=10)
    ),
    TWO_LEADERS.without("lost_replies_are_read_back", Violated("leaders_learn_what_was_published", steps=9)),
    TWO_LEADERS.without(
        "leaders_load_after_the_lock", Violated("leaders_learn_what_was_published", steps=12)
    ),
    TWO_LEADERS.without(
        "leaders_are_fenced",
        Violated("a_deposed_leader_publishes_nothing", steps=10),
        properties=(a_deposed_leader_publishes_nothing,),
    ),
    TWO_LEADERS.as_written(
        Violated("every_hash_gets_a_writable_owner_again", steps=11),
        properties=(every_hash_gets_a_writable_owner_again,),
    ),
)
