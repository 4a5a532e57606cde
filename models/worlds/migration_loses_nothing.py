"""Is anything lost, overtaken or left half done when a partitioned topic with a backlog becomes scalable?"""

from spec.protocols.interrupted_migration import Crashing, what_is_begun_is_finished
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName, once_scalable_always_scalable
from spec.protocols.v5_clients import (
    V5Clients,
    keys_stay_in_order_across_the_flip,
    no_subscription_loses_a_message,
)
from spec.world import Holds, Violated, World

MIGRATION_LOSES_NOTHING = World(
    name="migration-loses-nothing",
    asks="While a partitioned topic becomes scalable and its broker may crash, does every subscription get "
    "every message, and each key in order?",
    machines=(OneName, Migrating, Crashing, V5Clients),
    bounds={
        "brokers": 2,
        "commands": 1,
        "clients": 2,
        "v4_clients": 0,
        "subscriptions": 1,
        "partitions": 2,
        "most_partitions": 2,
        "largest_record": 2,
        "segments": 4,
        "initial_segments": 1,
        "keys": 1,
        "messages": 2,
        "crashes": 1,
    },
    expect=Holds(states=3_328, depth=26),
)

WORLDS = (
    MIGRATION_LOSES_NOTHING,
    MIGRATION_LOSES_NOTHING.without(
        "migration_seals_first",
        Violated("keys_stay_in_order_across_the_flip", steps=16),
        properties=(keys_stay_in_order_across_the_flip,),
    ),
    MIGRATION_LOSES_NOTHING.without(
        "migration_makes_children",
        Violated("no_subscription_loses_a_message", steps=11),
        properties=(no_subscription_loses_a_message,),
    ),
    MIGRATION_LOSES_NOTHING.without(
        "migration_is_announced",
        Violated("what_is_begun_is_finished", steps=6),
        properties=(what_is_begun_is_finished,),
    ),
    MIGRATION_LOSES_NOTHING.without(
        "brokers_finish_migrations",
        Violated("what_is_begun_is_finished", steps=4),
        properties=(what_is_begun_is_finished,),
    ),
    MIGRATION_LOSES_NOTHING.without(
        "migration_lock_has_its_own_path",
        Violated("once_scalable_always_scalable", steps=13),
        properties=(once_scalable_always_scalable,),
    ),
    MIGRATION_LOSES_NOTHING.as_written(
        Violated("no_subscription_loses_a_message", steps=5), properties=(no_subscription_loses_a_message,)
    ),
)
