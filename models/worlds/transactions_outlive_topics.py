"""If a topic is deleted while a transaction is open that has written to it, does the transaction end?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    AS_HEADERS_ARE_WRITTEN,
    NO_CLOCK,
    NO_CREATION,
    NO_DEPARTURE,
    NO_FAILED_DELETION,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_PLAIN_ACK,
)
from models.worlds.transactions_survive_splits import TRANSACTIONS_SURVIVE_SPLITS, UNDISTURBED
from spec.protocols.applying_acks import ApplyingAcks
from spec.protocols.deciding import (
    Deciding,
    clients_are_told_what_was_decided,
    every_transaction_ends,
    everything_stored_of_a_transaction_goes,
)
from spec.protocols.dispatching import only_what_is_committed_is_delivered
from spec.protocols.election import Led
from spec.protocols.header_cache import HeaderCache
from spec.protocols.layout_change import LayoutChange
from spec.protocols.lifecycle import Lifecycle, Lives, nothing_is_left_where_the_name_is_free
from spec.protocols.pending_acks import PendingAcks
from spec.protocols.redelivering import Delivering, Redelivering
from spec.protocols.serving import Serving
from spec.protocols.topic import AlreadySubscribed, Topic
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

ACKS_OUTLIVE_TOPICS = replace(
    TRANSACTIONS_OUTLIVE_TOPICS,
    name="acks-outlive-topics",
    asks="If a topic is deleted while a transaction is open that has acknowledged a message of it, does all "
    "that is stored of the transaction go?",
    machines=(
        Topic,
        AlreadySubscribed,
        Led,
        Lifecycle,
        Lives,
        Serving,
        Deciding,
        HeaderCache,
        PendingAcks,
        ApplyingAcks,
        Redelivering,
        Delivering,
        Vanishing,
    ),
    bounds={
        **TRANSACTIONS_OUTLIVE_TOPICS.bounds,
        "transactional_writes": 0,
        "failures": 0,
        "backlog": 1,
        "transactional_acks": 1,
        "plain_acks": 0,
        "cumulative_acks": 0,
        "departures": 0,
    },
    properties=GOES,
    idle=(
        *NO_CREATION,
        *NO_FAILED_DELETION,
        *NO_MOVE,
        *NO_LOST_SESSION,
        *NO_CLOCK,
        *AS_HEADERS_ARE_WRITTEN,
        *NO_PLAIN_ACK,
        *NO_DEPARTURE,
        "create_topic",
        "go_on_for_another",
        "drop_strays",
    ),
    expect=Holds(states=6_858, depth=21),
)

WORLDS = (
    TRANSACTIONS_OUTLIVE_TOPICS,
    TRANSACTIONS_OUTLIVE_TOPICS.without(
        "records_go_with_their_segment",
        Violated("everything_stored_of_a_transaction_goes", steps=9),
        properties=GOES,
        bounds={**TRANSACTIONS_OUTLIVE_TOPICS.bounds, "stops": 0, "failures": 0},
    ),
    TRANSACTIONS_OUTLIVE_TOPICS.as_written(
        Violated("only_what_is_committed_is_delivered", steps=4),
        properties=(only_what_is_committed_is_delivered,),
    ),
    ACKS_OUTLIVE_TOPICS,
    ACKS_OUTLIVE_TOPICS.without(
        "records_go_with_their_segment",
        Violated("everything_stored_of_a_transaction_goes", steps=9),
        properties=GOES,
    ),
)
