"""If segments are forgotten and deleted, is everything kept that a transaction may need, and nothing else?"""

from dataclasses import replace

from models.worlds.leaving_out import NO_MERGE, NO_SPLIT
from models.worlds.transactions_survive_splits import (
    ONE_LEADER,
    SAFE,
    SPANNING,
    TRANSACTIONS_SURVIVE_SPLITS,
    UNDISTURBED,
)
from spec.protocols.deciding import everything_stored_of_a_transaction_goes
from spec.protocols.dispatching import what_is_committed_is_not_passed_over
from spec.protocols.retention import Retention, a_segment_is_forgotten
from spec.protocols.transactions_and_layouts import (
    Vanishing,
    a_record_outlives_its_segment,
    drained_segments_are_left_alone,
    nobody_opens_what_is_deleted,
)
from spec.world import Holds, Violated

GOES = (everything_stored_of_a_transaction_goes,)
MACHINES = TRANSACTIONS_SURVIVE_SPLITS.machines

TRANSACTIONS_AND_PRUNING = replace(
    TRANSACTIONS_SURVIVE_SPLITS,
    name="transactions-and-pruning",
    asks="If sealed segments are forgotten and deleted once they are drained, is nothing of a transaction "
    "lost that may still be committed?",
    machines=(*MACHINES, Retention, Vanishing),
    properties=(
        *SAFE,
        *SPANNING,
        nobody_opens_what_is_deleted,
        a_segment_is_forgotten,
        a_record_outlives_its_segment,
    ),
    idle=(*NO_MERGE, *ONE_LEADER, *UNDISTURBED, "stop", "load_for_leftovers"),
    expect=Holds(states=177_286, depth=35),
)

RECORDS_GO_WITH_THEIR_SEGMENT = replace(
    TRANSACTIONS_AND_PRUNING.at(transactional_writes=1),
    name="records-go-with-their-segment",
    asks="If a drained segment is deleted before its owner has deleted what is recorded of it, do the "
    "records go, and the header after them?",
    properties=(*GOES, a_record_outlives_its_segment),
    expect=Holds(states=24_552, depth=27),
)

NOBODY_SUBSCRIBES = replace(
    RECORDS_GO_WITH_THEIR_SEGMENT.at(subscriptions=0),
    name="records-go-if-nobody-subscribes",
    asks="If nobody is subscribed, so that a segment can be deleted while a transaction is open that has "
    "written to it, does the transaction end, and does all that is stored of it go?",
    idle=(*RECORDS_GO_WITH_THEIR_SEGMENT.idle, "dispatch"),
    expect=Holds(states=38_364, depth=26),
)

DRAINED_SEGMENTS_ARE_LOADED = replace(
    TRANSACTIONS_SURVIVE_SPLITS.at(initial_segments=2, transactional_writes=1, stops=1),
    name="drained-segments-are-loaded",
    asks="If a broker crashes before it has deleted the records of a segment that everybody has drained, and "
    "nobody asks for that segment any more, do the records go all the same?",
    machines=(*MACHINES, Vanishing),
    properties=(*GOES, drained_segments_are_left_alone),
    idle=(*NO_SPLIT, *ONE_LEADER, *UNDISTURBED, "close_deleted_segment", "collect_what_is_gone"),
    expect=Holds(states=55_234, depth=28),
)

WORLDS = (
    TRANSACTIONS_AND_PRUNING,
    TRANSACTIONS_AND_PRUNING.as_written(
        Violated("what_is_committed_is_not_passed_over", steps=12),
        properties=(what_is_committed_is_not_passed_over,),
    ),
    RECORDS_GO_WITH_THEIR_SEGMENT,
    RECORDS_GO_WITH_THEIR_SEGMENT.without(
        "records_go_with_their_segment",
        Violated("everything_stored_of_a_transaction_goes", steps=24),
        properties=GOES,
    ),
    NOBODY_SUBSCRIBES,
    DRAINED_SEGMENTS_ARE_LOADED,
    DRAINED_SEGMENTS_ARE_LOADED.without(
        "leftovers_load_their_segment",
        Violated("everything_stored_of_a_transaction_goes", steps=19),
        properties=GOES,
    ),
)
