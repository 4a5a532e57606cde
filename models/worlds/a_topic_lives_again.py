"""Is a deleted topic gone, and does one that is created again inherit nothing?"""

from models.worlds.leaving_out import (
    NO_DISCOVERY,
    NO_EXPIRY,
    NO_LOST_ACKNOWLEDGEMENT,
    NO_LOST_REPLY,
    NO_MERGE,
)
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.lifecycle import Lifecycle, no_topic_stays_without_its_segments
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.topic import Topic, no_hash_has_two_writable_owners, what_is_published_is_empty
from spec.world import Holds, Violated, World

LIVES_AGAIN = World(
    name="a-topic-lives-again",
    asks="If a topic is deleted and created again, with a crash or a failure at any point, does every "
    "segment of it exist, and is every new one empty?",
    machines=(Topic, Election, Lifecycle, Producing, LookingUp),
    bounds={
        "brokers": 2,
        "subscriptions": 0,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "producers": 1,
        "messages": 1,
        "lives": 1,
        "failures": 1,
        "crashes": 1,
        "expiries": 0,
        "lost_acknowledgements": 0,
    },
    idle=(*NO_EXPIRY, *NO_LOST_ACKNOWLEDGEMENT),
    expect=Holds(states=82_388, depth=21),
)
HALF = {
    "properties": (no_topic_stays_without_its_segments,),
    "bounds": {**LIVES_AGAIN.bounds, "messages": 0, "failures": 0},
}

LOST_SESSION = World(
    name="a-topic-lives-again-after-a-lost-session",
    asks="If brokers lose their sessions while the topic is deleted and created again, does the new topic "
    "get one leader, and only one?",
    machines=(Topic, Election, Lifecycle),
    bounds={
        "brokers": 2,
        "subscriptions": 0,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "lives": 1,
        "failures": 0,
        "crashes": 0,
        "expiries": 1,
    },
    idle=("crash", "restart", "fail_to_delete_segment", "a_segment_outlives_its_topic"),
    expect=Holds(states=16_458, depth=20),
)

SPLIT_MEANWHILE = World(
    name="a-topic-lives-again-after-a-split",
    asks="If a split is under way while the topic is deleted and created again, does nothing of it reach the "
    "new topic?",
    machines=(Topic, Election, Lifecycle, LayoutChange),
    bounds={
        "brokers": 2,
        "subscriptions": 0,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "operations": 1,
        "lives": 1,
        "failures": 0,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
    },
    idle=(
        *NO_EXPIRY,
        *NO_DISCOVERY,
        *NO_LOST_REPLY,
        *NO_MERGE,
        "crash",
        "restart",
        "finish_change",
        "fail_to_delete_segment",
        "a_segment_outlives_its_topic",
    ),
    expect=Holds(states=48_360, depth=32),
)

WORLDS = (
    LIVES_AGAIN,
    LIVES_AGAIN.without(
        "segments_before_record", Violated("no_topic_stays_without_its_segments", steps=7), **HALF
    ),
    LIVES_AGAIN.without(
        "record_goes_first", Violated("no_topic_stays_without_its_segments", steps=6), **HALF
    ),
    LIVES_AGAIN.without(
        "topics_have_incarnations",
        Violated("what_is_published_is_empty", steps=5),
        properties=(what_is_published_is_empty,),
    ),
    LIVES_AGAIN.as_written(
        Violated("what_is_published_is_empty", steps=5), properties=(what_is_published_is_empty,)
    ),
    LOST_SESSION,
    SPLIT_MEANWHILE,
    SPLIT_MEANWHILE.as_written(
        Violated("no_hash_has_two_writable_owners", steps=13), properties=(no_hash_has_two_writable_owners,)
    ),
)
