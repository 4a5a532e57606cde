"""Is a deleted topic gone, and does one that is created again inherit nothing?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    NO_DISCOVERY,
    NO_EXPIRY,
    NO_LOST_ACKNOWLEDGEMENT,
    NO_LOST_REPLY,
    NO_MERGE,
)
from spec.protocols.election import Election, Led
from spec.protocols.layout_change import LayoutChange
from spec.protocols.lifecycle import (
    Lifecycle,
    Lives,
    a_name_is_a_topic_or_free,
    no_topic_stays_without_its_segments,
    nothing_is_left_where_the_name_is_free,
)
from spec.protocols.producing import LookingUp, Producing
from spec.protocols.topic import Topic, no_hash_has_two_writable_owners, what_is_published_is_empty
from spec.world import Holds, Violated, World

LIVES_AGAIN = World(
    name="a-topic-lives-again",
    asks="If a topic is deleted and created again, with a crash or a failure at any point, is its name a "
    "topic with all its segments in the end, or free and nothing left of it?",
    machines=(Topic, Election, Lifecycle, Lives),
    bounds={
        "brokers": 2,
        "subscriptions": 0,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "lives": 1,
        "failures": 1,
        "crashes": 1,
        "expiries": 0,
    },
    idle=NO_EXPIRY,
    expect=Holds(states=49_784, depth=23),
)
HALF = {
    "properties": (no_topic_stays_without_its_segments,),
    "bounds": {**LIVES_AGAIN.bounds, "failures": 0},
}

EMPTY = World(
    name="a-new-topic-is-empty",
    asks="If a producer knows a topic that was deleted and created again, does the new one begin empty?",
    machines=(Topic, Led, Lifecycle, Lives, Producing, LookingUp),
    bounds={
        **LIVES_AGAIN.bounds,
        "producers": 1,
        "messages": 1,
        "crashes": 0,
        "lost_acknowledgements": 0,
    },
    idle=(*NO_LOST_ACKNOWLEDGEMENT, "a_deletion_stopped_half_way"),
    expect=Holds(states=1_530, depth=14),
)

LOST_SESSION = World(
    name="a-topic-lives-again-after-a-lost-session",
    asks="If brokers lose their sessions while the topic is deleted and created again, does the new topic "
    "get one leader, and only one?",
    machines=(Topic, Election, Lifecycle, Lives),
    bounds={**LIVES_AGAIN.bounds, "failures": 0, "crashes": 0, "expiries": 1},
    idle=("crash", "restart", "fail_to_delete_segment", "a_deletion_stopped_half_way"),
    expect=Holds(states=45_886, depth=22),
)

SPLIT_MEANWHILE = World(
    name="a-topic-lives-again-after-a-split",
    asks="If a split is under way while the topic is deleted and created again, does nothing of it reach the "
    "new topic, and is nothing left of its children?",
    machines=(Topic, Led, Lifecycle, Lives, LayoutChange),
    bounds={
        **LIVES_AGAIN.bounds,
        "segments": 3,
        "operations": 1,
        "failures": 0,
        "crashes": 0,
        "lost_replies": 0,
    },
    idle=(
        *NO_DISCOVERY,
        *NO_LOST_REPLY,
        *NO_MERGE,
        "finish_change",
        "fail_to_delete_segment",
        "a_deletion_stopped_half_way",
    ),
    expect=Holds(states=1_778, depth=21),
)

WORLDS = (
    LIVES_AGAIN,
    LIVES_AGAIN.without(
        "creations_are_claimed", Violated("no_topic_stays_without_its_segments", steps=6), **HALF
    ),
    LIVES_AGAIN.without(
        "deletions_are_marked", Violated("no_topic_stays_without_its_segments", steps=6), **HALF
    ),
    LIVES_AGAIN.without(
        "brokers_finish_claims",
        Violated("a_name_is_a_topic_or_free", steps=4),
        properties=(a_name_is_a_topic_or_free,),
    ),
    LIVES_AGAIN.without(
        "segments_open_only_where_listed",
        Violated("nothing_is_left_where_the_name_is_free", steps=11),
        properties=(nothing_is_left_where_the_name_is_free,),
    ),
    LIVES_AGAIN.as_written(
        Violated("nothing_is_left_where_the_name_is_free", steps=3),
        properties=(nothing_is_left_where_the_name_is_free,),
    ),
    EMPTY,
    EMPTY.without(
        "topics_have_incarnations",
        Violated("what_is_published_is_empty", steps=7),
        properties=(what_is_published_is_empty,),
    ),
    EMPTY.as_written(
        Violated("what_is_published_is_empty", steps=5), properties=(what_is_published_is_empty,)
    ),
    LOST_SESSION,
    SPLIT_MEANWHILE,
    replace(
        SPLIT_MEANWHILE,
        name="a-topic-lives-again-after-a-split-and-elections",
        asks="And if other brokers are elected meanwhile?",
        machines=(Topic, Election, Lifecycle, Lives, LayoutChange),
        idle=(*SPLIT_MEANWHILE.idle, *NO_EXPIRY, "crash", "restart"),
        expect=Holds(states=302_477, depth=36),
        large=True,
    ),
    SPLIT_MEANWHILE.as_written(
        Violated("no_hash_has_two_writable_owners", steps=11), properties=(no_hash_has_two_writable_owners,)
    ),
)
