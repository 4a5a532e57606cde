"""What becomes of v4 clients that come at the worst moment, and of those who wait for them?"""

from spec.protocols.during_migration import OldClients, no_v4_client_stays_attached
from spec.protocols.interrupted_migration import Crashing
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName
from spec.protocols.v5_clients import V5Clients, migrated_topics_are_drained
from spec.world import Holds, Violated, World

MIGRATION_MEETS_V4_CLIENTS = World(
    name="migration-meets-v4-clients",
    asks="If v4 clients connect while a topic is migrated, are they all sent away, and are the old "
    "partitions drained although some of them held on?",
    machines=(OneName, Migrating, Crashing, V5Clients, OldClients),
    bounds={
        "brokers": 1,
        "commands": 1,
        "clients": 1,
        "v4_clients": 2,
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
    expect=Holds(states=7_218, depth=27),
)

WORLDS = (
    MIGRATION_MEETS_V4_CLIENTS,
    MIGRATION_MEETS_V4_CLIENTS.without(
        "migration_closes_v4",
        Violated("migrated_topics_are_drained", steps=17),
        properties=(migrated_topics_are_drained,),
    ),
    MIGRATION_MEETS_V4_CLIENTS.without(
        "v4_guard_covers_attaching",
        Violated("migrated_topics_are_drained", steps=17),
        properties=(migrated_topics_are_drained,),
    ),
    MIGRATION_MEETS_V4_CLIENTS.without(
        "v5_connections_are_marked",
        Violated("migrated_topics_are_drained", steps=16),
        properties=(migrated_topics_are_drained,),
    ),
    MIGRATION_MEETS_V4_CLIENTS.as_written(
        Violated("no_v4_client_stays_attached", steps=5), properties=(no_v4_client_stays_attached,)
    ),
)
