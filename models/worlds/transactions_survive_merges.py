"""Is a transaction whole and in order if its segments are merged before it ends?"""

from dataclasses import replace

from models.worlds.leaving_out import NO_SPLIT
from models.worlds.transactions_survive_splits import (
    IN_THE_END,
    ONE_LEADER,
    SAFE,
    SPANNING,
    TRANSACTIONS_SURVIVE_SPLITS,
    UNDISTURBED,
)
from spec.protocols.layout_change import a_merge_was_published
from spec.protocols.transactions_and_layouts import (
    a_transaction_is_all_or_nothing,
    all_of_a_transaction_arrives,
)
from spec.world import Holds, Violated

TRANSACTIONS_SURVIVE_MERGES = replace(
    TRANSACTIONS_SURVIVE_SPLITS.at(initial_segments=2, keys=2),
    name="transactions-survive-merges",
    asks="If two segments are merged while a transaction is open that has written to one or both of them, "
    "and that goes on in their child, is everything of it delivered in order, or nothing?",
    properties=(*SAFE, *SPANNING, a_merge_was_published),
    idle=(*NO_SPLIT, *ONE_LEADER, *UNDISTURBED, "stop"),
    expect=Holds(states=121_671, depth=29),
)

MERGED_PARENTS_ARE_DRAINED = replace(
    TRANSACTIONS_SURVIVE_MERGES.at(transactional_writes=1),
    name="merged-parents-are-drained",
    asks="Once all transactions are decided, are both sealed segments drained, and does everything arrive?",
    properties=IN_THE_END,
    expect=Holds(states=6_972, depth=21),
)

WORLDS = (
    TRANSACTIONS_SURVIVE_MERGES,
    TRANSACTIONS_SURVIVE_MERGES.without(
        "serving_waits_for_recovery",
        Violated("a_transaction_is_all_or_nothing", steps=22),
        properties=(a_transaction_is_all_or_nothing,),
    ),
    TRANSACTIONS_SURVIVE_MERGES.as_written(
        Violated("a_transaction_is_all_or_nothing", steps=14), properties=(a_transaction_is_all_or_nothing,)
    ),
    MERGED_PARENTS_ARE_DRAINED,
    MERGED_PARENTS_ARE_DRAINED.without(
        "readiness",
        Violated("all_of_a_transaction_arrives", steps=20),
        properties=(all_of_a_transaction_arrives,),
    ),
)
