"""If a topic is deleted while a transaction is open that has written to it, does the transaction end?"""

from dataclasses import replace

from models.worlds.leaving_out import NO_CREATION
from models.worlds.transactions_survive_splits import TRANSACTIONS_SURVIVE_SPLITS, UNDISTURBED
from spec.protocols.deciding import (
    clients_are_told_what_was_decided,
    every_transaction_ends,
    everything_stored_of_a_transaction_goes,
)
from spec.protocols.dispatching import only_what_is_committed_is_delivered
from spec.protocols.layout_change import LayoutChange
from spec.protocols.lifecycle import Lifecycle, Lives, nothing_is_left_where_the_name_is_free
from spec.protocols.transactions_and_layouts import (
    Vanishing,
    a_record_outlives_its_segment,
    nobody_opens_what_is_deleted,
)
from spec.world import Holds, Violated

CHANGES = ("operations", "lost_replies")
GOES = (everything_stored_of_a_transaction_goes,)

TRANSACTIONS_OUTLIVE_TOPICS = replace(
    TRANSACTIONS_SURVIVE_SPLITS,
    name="transactions-outlive-topics",
    asks="If a topic is deleted while a transaction is open that has written to it, does the transaction end "
    "as its client wants, and does all that is stored of it go?",
    machines=(
        *(machine for machine in TRANSACTIONS_SURVIVE_SPLITS.machines if machine is not LayoutChange),
        Lifecycle,
        Lives,
        Vanishing,
    ),
    bounds={
        **{name: size for name, size in TRANSACTIONS_SURVIVE_SPLITS.bounds.items() if name not in CHANGES},
        "segments": 1,
        "transactional_writes": 1,
        "stops": 1,
        "lives": 0,
        "failures": 1,
    },
    properties=(
        *GOES,
        every_transaction_ends,
        clients_are_told_what_was_decided,
        only_what_is_committed_is_delivered,
        nothing_is_left_where_the_name_is_free,
        nobody_opens_what_is_deleted,
        a_record_outlives_its_segment,
    ),
    idle=(*NO_CREATION, *UNDISTURBED, "create_topic", "go_on_for_another"),
    expect=Holds(states=8_827, depth=19),
)

WORLDS = (
    TRANSACTIONS_OUTLIVE_TOPICS,
    TRANSACTIONS_OUTLIVE_TOPICS.without(
        "records_go_with_their_segment",
        Violated("everything_stored_of_a_transaction_goes", steps=9),
        properties=GOES,
    ),
    TRANSACTIONS_OUTLIVE_TOPICS.as_written(
        Violated("only_what_is_committed_is_delivered", steps=4),
        properties=(only_what_is_committed_is_delivered,),
    ),
)
