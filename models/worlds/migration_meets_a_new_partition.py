"""What if somebody adds a partition while somebody else migrates the topic?"""

from dataclasses import replace

from spec.protocols.during_migration import Growing, sessions_show_every_partition
from spec.protocols.interrupted_migration import Crashing
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName
from spec.protocols.v5_clients import V5Clients, no_subscription_loses_a_message
from spec.world import Holds, Violated, World

MIGRATION_MEETS_A_NEW_PARTITION = World(
    name="migration-meets-a-new-partition",
    asks="If a partition is added while the topic is migrated, is it migrated with it or refused?",
    machines=(OneName, Migrating, Crashing, V5Clients, Growing),
    bounds={
        "brokers": 2,
        "commands": 1,
        "clients": 1,
        "v4_clients": 0,
        "subscriptions": 1,
        "partitions": 1,
        "most_partitions": 2,
        "largest_record": 2,
        "segments": 4,
        "initial_segments": 1,
        "keys": 1,
        "messages": 1,
        "crashes": 1,
        "growths": 1,
    },
    idle=("a_child_is_written_while_its_parents_drain", "a_subscription_reads_across_the_flip"),
    expect=Holds(states=2_694, depth=26),
)

WORLDS = (
    MIGRATION_MEETS_A_NEW_PARTITION,
    replace(
        MIGRATION_MEETS_A_NEW_PARTITION,
        name="migration-of-too-many-partitions",
        asks="If a topic grows until its layout no longer fits into the store, is its migration undone?",
        bounds={**MIGRATION_MEETS_A_NEW_PARTITION.bounds, "largest_record": 1},
        idle=(*MIGRATION_MEETS_A_NEW_PARTITION.idle, "a_partition_was_added_before_the_migration"),
        expect=Holds(states=1_623, depth=21),
    ),
    MIGRATION_MEETS_A_NEW_PARTITION.without(
        "migration_fences_the_regular_topic",
        Violated("no_subscription_loses_a_message", steps=13),
        properties=(no_subscription_loses_a_message,),
    ),
    MIGRATION_MEETS_A_NEW_PARTITION.without(
        "sessions_follow_the_partition_count",
        Violated("sessions_show_every_partition", steps=3),
        properties=(sessions_show_every_partition,),
    ),
    MIGRATION_MEETS_A_NEW_PARTITION.as_written(
        Violated("sessions_show_every_partition", steps=3), properties=(sessions_show_every_partition,)
    ),
)
