"""Is what legacy transactions wrote read after a migration as it was before?"""

from spec.protocols.legacy_transactions import (
    LegacyTransactions,
    committed_legacy_data_is_not_passed_over,
    every_partition_is_drained,
)
from spec.world import Holds, Violated, World

MEETS_LEGACY_TRANSACTIONS = World(
    name="migration-meets-legacy-transactions",
    asks="If a topic is migrated while legacy transactions are open, committed and aborted in its "
    "partitions, does everybody come through the old partitions, with what is committed and nothing else?",
    machines=(LegacyTransactions,),
    bounds={
        "subscriptions": 1,
        "transactions": 1,
        "keys": 1,
        "segments": 4,
        "initial_segments": 2,
        "legacy_writes": 2,
        "plain_writes": 1,
    },
    expect=Holds(states=3_696, depth=14),
)

WORLDS = (
    MEETS_LEGACY_TRANSACTIONS,
    MEETS_LEGACY_TRANSACTIONS.without(
        "legacy_ledgers_keep_their_buffer",
        Violated("committed_legacy_data_is_not_passed_over", steps=9),
        properties=(committed_legacy_data_is_not_passed_over,),
    ),
    MEETS_LEGACY_TRANSACTIONS.without(
        "migration_ends_open_transactions",
        Violated("every_partition_is_drained", steps=7),
        properties=(every_partition_is_drained,),
    ),
    MEETS_LEGACY_TRANSACTIONS.as_written(
        Violated("committed_legacy_data_is_not_passed_over", steps=8),
        properties=(committed_legacy_data_is_not_passed_over,),
    ),
)
