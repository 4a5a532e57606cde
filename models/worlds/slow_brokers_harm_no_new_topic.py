"""What does a broker do to a new topic that was created while it was about to migrate the old one?"""

from dataclasses import replace

from models.worlds.leaving_out import NO_CREATION, NO_FAILED_DELETION
from spec.protocols.claiming_names import (
    Claiming,
    Deleting,
    Naming,
    a_migrated_topic_has_its_parents,
    a_name_is_one_topic,
    an_auto_creation_gives_way,
    claimed_names_are_left_alone,
    claims_are_settled,
    deletions_end,
    no_topic_is_removed_unasked,
    what_was_deleted_takes_no_messages,
)
from spec.protocols.interrupted_migration import (
    Crashing,
    UnreliableStore,
    what_is_begun_is_finished,
    what_is_scalable_is_left_alone,
)
from spec.protocols.lifecycle import Lifecycle
from spec.protocols.migrating import (
    Migrating,
    every_command_is_answered,
    every_lock_is_released,
    nothing_is_touched_before_the_commit,
)
from spec.world import Holds, Violated, World

SLOW_BROKERS_HARM_NO_NEW_TOPIC = World(
    name="slow-brokers-harm-no-new-topic",
    asks="If a topic is deleted, and another one of its name is created, while a broker that has lost its "
    "lock is still at its migration, is the new one left alone?",
    machines=(Migrating, Crashing, UnreliableStore, Lifecycle, Claiming, Naming, Deleting),
    bounds={
        "brokers": 2,
        "commands": 1,
        "clients": 0,
        "v4_clients": 0,
        "subscriptions": 0,
        "partitions": 0,
        "most_partitions": 1,
        "largest_record": 1,
        "segments": 2,
        "initial_segments": 1,
        "keys": 1,
        "messages": 0,
        "crashes": 0,
        "failures": 0,
        "expiries": 1,
        "lost_replies": 0,
        "creations": 0,
        "auto_creations": 1,
        "removals": 1,
        "deletions": 1,
    },
    properties=(
        a_name_is_one_topic,
        a_migrated_topic_has_its_parents,
        nothing_is_touched_before_the_commit,
        what_is_begun_is_finished,
        what_is_scalable_is_left_alone,
        every_lock_is_released,
        every_command_is_answered,
        claims_are_settled,
        claimed_names_are_left_alone,
        no_topic_is_removed_unasked,
        what_was_deleted_takes_no_messages,
        deletions_end,
        an_auto_creation_gives_way,
    ),
    idle=(
        "push_layout",
        "crash",
        "commit_without_an_answer",
        "learn_the_outcome",
        *NO_FAILED_DELETION,
        *NO_CREATION,
        "create_scalable_topic",
        "look_for_a_regular_topic",
    ),
    expect=Holds(states=21_293, depth=32),
)

WORLDS = (
    SLOW_BROKERS_HARM_NO_NEW_TOPIC,
    replace(
        SLOW_BROKERS_HARM_NO_NEW_TOPIC,
        name="slow-brokers-harm-no-newer-topic",
        asks="And if the new topic is migrated as well, or the name is claimed for a scalable one?",
        bounds={**SLOW_BROKERS_HARM_NO_NEW_TOPIC.bounds, "commands": 2, "creations": 1, "removals": 0},
        idle=(*SLOW_BROKERS_HARM_NO_NEW_TOPIC.idle[:-4], "ask_to_remove", "remove_regular_topic"),
        expect=Holds(states=383_030, depth=49),
        large=True,
    ),
    SLOW_BROKERS_HARM_NO_NEW_TOPIC.without(
        "late_steps_are_refused",
        Violated("no_topic_is_removed_unasked", steps=19),
        properties=(no_topic_is_removed_unasked,),
    ),
    SLOW_BROKERS_HARM_NO_NEW_TOPIC.as_written(
        Violated("a_migrated_topic_has_its_parents", steps=5), properties=(a_migrated_topic_has_its_parents,)
    ),
)
