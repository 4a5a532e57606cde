"""What becomes of subscriptions that come and go while their topic is migrated?"""

from spec.protocols.during_migration import Subscribing
from spec.protocols.interrupted_migration import Crashing, UnreliableStore
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName
from spec.protocols.v5_clients import V5Clients, no_subscription_loses_a_message
from spec.world import Holds, Violated, World

SUBSCRIPTIONS_SURVIVE_MIGRATION = World(
    name="subscriptions-survive-migration",
    asks="Does a subscription that is made while the topic is migrated get all that follows, and does one "
    "that is deleted leave nothing behind, even if two brokers carry out the same migration?",
    machines=(OneName, Migrating, Crashing, V5Clients, UnreliableStore, Subscribing),
    bounds={
        "brokers": 2,
        "commands": 1,
        "clients": 1,
        "v4_clients": 0,
        "subscriptions": 1,
        "partitions": 2,
        "most_partitions": 2,
        "largest_record": 2,
        "segments": 4,
        "initial_segments": 1,
        "keys": 1,
        "messages": 1,
        "crashes": 0,
        "expiries": 1,
        "lost_replies": 0,
    },
    idle=(
        "crash",
        "commit_without_an_answer",
        "learn_the_outcome",
        "a_child_is_written_while_its_parents_drain",
        "a_subscription_reads_across_the_flip",
    ),
    expect=Holds(states=26_695, depth=34),
)

WORLDS = (
    SUBSCRIPTIONS_SURVIVE_MIGRATION,
    SUBSCRIPTIONS_SURVIVE_MIGRATION.without(
        "migration_discovers_after_sealing",
        Violated("no_subscription_loses_a_message", steps=17),
        properties=(no_subscription_loses_a_message,),
    ),
    SUBSCRIPTIONS_SURVIVE_MIGRATION.without(
        "sealed_partitions_freeze_subscriptions",
        Violated("no_subscription_loses_a_message", steps=17),
        properties=(no_subscription_loses_a_message,),
    ),
    SUBSCRIPTIONS_SURVIVE_MIGRATION.without(
        "late_steps_are_refused", Violated("no_cursor_outlives_its_subscription", steps=27)
    ),
    SUBSCRIPTIONS_SURVIVE_MIGRATION.as_written(
        Violated("no_subscription_loses_a_message", steps=8), properties=(no_subscription_loses_a_message,)
    ),
)
