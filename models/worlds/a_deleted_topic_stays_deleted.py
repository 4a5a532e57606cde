"""Does the regular topic come back when the scalable one that was made from it is deleted?"""

from models.worlds.leaving_out import NO_CREATION, NO_FAILED_DELETION
from spec.protocols.claiming_names import (
    Claiming,
    Deleting,
    a_deleted_topic_does_not_come_back,
    deletions_end,
    what_was_deleted_takes_no_messages,
)
from spec.protocols.interrupted_migration import Crashing, UnreliableStore
from spec.protocols.lifecycle import Lifecycle
from spec.protocols.migrating import Migrating
from spec.protocols.v5_clients import V5Clients
from spec.world import Holds, Violated, World

A_DELETED_TOPIC_STAYS_DELETED = World(
    name="a-deleted-topic-stays-deleted",
    asks="If a migrated topic is deleted while a broker is still at its migration, is it gone for good?",
    machines=(Migrating, Crashing, V5Clients, UnreliableStore, Lifecycle, Claiming, Deleting),
    bounds={
        "brokers": 2,
        "commands": 1,
        "clients": 1,
        "v4_clients": 0,
        "subscriptions": 0,
        "partitions": 0,
        "most_partitions": 1,
        "largest_record": 1,
        "segments": 2,
        "initial_segments": 1,
        "keys": 1,
        "messages": 1,
        "crashes": 1,
        "failures": 0,
        "expiries": 1,
        "lost_replies": 0,
        "deletions": 1,
    },
    properties=(a_deleted_topic_does_not_come_back, what_was_deleted_takes_no_messages, deletions_end),
    idle=(*NO_CREATION, *NO_FAILED_DELETION, "commit_without_an_answer", "learn_the_outcome", "read"),
    expect=Holds(states=51_894, depth=31),
)

WORLDS = (
    A_DELETED_TOPIC_STAYS_DELETED,
    A_DELETED_TOPIC_STAYS_DELETED.without(
        "deletion_takes_regular_topics_along", Violated("a_deleted_topic_does_not_come_back", steps=13)
    ),
    A_DELETED_TOPIC_STAYS_DELETED.without(
        "segments_open_only_where_listed",
        Violated("what_was_deleted_takes_no_messages", steps=16),
        bounds={**A_DELETED_TOPIC_STAYS_DELETED.bounds, "crashes": 0, "expiries": 0},
    ),
    A_DELETED_TOPIC_STAYS_DELETED.as_written(Violated("a_deleted_topic_does_not_come_back", steps=5)),
)
