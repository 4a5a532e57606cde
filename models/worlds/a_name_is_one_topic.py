"""Can one name be a regular topic and a scalable one that has nothing to do with it?"""

from models.worlds.leaving_out import NO_FAILED_DELETION
from spec.protocols.claiming_names import (
    Claiming,
    Naming,
    a_creation_gives_way,
    a_migrated_topic_has_its_parents,
    a_name_is_one_topic,
    an_auto_creation_gives_way,
    claimed_names_are_left_alone,
    claims_are_settled,
    deletions_end,
    no_topic_is_removed_unasked,
    what_was_deleted_takes_no_messages,
)
from spec.protocols.interrupted_migration import Crashing, what_is_begun_is_finished
from spec.protocols.lifecycle import Lifecycle
from spec.protocols.migrating import Migrating, every_lock_is_released, one_command_migrates
from spec.protocols.one_name import every_child_takes_writes
from spec.protocols.v5_clients import V5Clients, no_subscription_loses_a_message
from spec.world import Holds, Violated, World

A_NAME_IS_ONE_TOPIC = World(
    name="a-name-is-one-topic",
    asks="If a topic is migrated, created as a scalable one, created by a v4 client and deleted, all under "
    "one name, does the name ever belong to two topics?",
    machines=(Migrating, Crashing, V5Clients, Lifecycle, Claiming, Naming),
    bounds={
        "brokers": 2,
        "commands": 1,
        "clients": 1,
        "v4_clients": 0,
        "subscriptions": 1,
        "partitions": 0,
        "most_partitions": 1,
        "largest_record": 1,
        "segments": 2,
        "initial_segments": 1,
        "keys": 1,
        "messages": 1,
        "crashes": 1,
        "failures": 0,
        "creations": 1,
        "auto_creations": 1,
        "removals": 1,
    },
    properties=(
        a_name_is_one_topic,
        a_migrated_topic_has_its_parents,
        no_subscription_loses_a_message,
        every_child_takes_writes,
        what_is_begun_is_finished,
        every_lock_is_released,
        one_command_migrates,
        claims_are_settled,
        deletions_end,
        what_was_deleted_takes_no_messages,
        claimed_names_are_left_alone,
        no_topic_is_removed_unasked,
        a_creation_gives_way,
        an_auto_creation_gives_way,
    ),
    idle=(*NO_FAILED_DELETION, "delete_regular_topic"),
    expect=Holds(states=67_159, depth=31),
)

WORLDS = (
    A_NAME_IS_ONE_TOPIC,
    A_NAME_IS_ONE_TOPIC.without(
        "creation_respects_regular_topics",
        Violated("no_subscription_loses_a_message", steps=5),
        properties=(no_subscription_loses_a_message,),
    ),
    A_NAME_IS_ONE_TOPIC.without("auto_creation_looks_again", Violated("a_name_is_one_topic", steps=6)),
    A_NAME_IS_ONE_TOPIC.as_written(
        Violated("a_name_is_one_topic", steps=1), properties=(a_name_is_one_topic,)
    ),
)
