"""Is a transaction whole and in order if its segment is split before it ends?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    AS_ONE_WRITES_IT,
    NO_CLOCK,
    NO_DISCOVERY,
    NO_LOST_REPLY,
    NO_LOST_SESSION,
    NO_MERGE,
    NO_MOVE,
)
from spec.protocols.deciding import Deciding, everything_stored_of_a_transaction_goes
from spec.protocols.dispatching import (
    Dispatching,
    every_entry_is_passed,
    only_what_is_committed_is_delivered,
    what_is_committed_is_not_passed_over,
    what_was_refused_is_not_delivered,
)
from spec.protocols.election import Led
from spec.protocols.header_cache import HeaderCache
from spec.protocols.layout_change import LayoutChange, a_split_was_published
from spec.protocols.reading import a_child_waits_for_all_its_ancestors
from spec.protocols.serving import Serving
from spec.protocols.topic import AlreadySubscribed, Ledger, Topic, keys_stay_in_order
from spec.protocols.transaction_buffer import (
    TransactionBuffer,
    nothing_joins_a_decided_transaction,
    records_go_when_their_work_is_done,
    what_can_be_read_is_decided,
)
from spec.protocols.transactions_and_layouts import (
    AcrossLayouts,
    a_sealed_segment_waits_for_a_decision,
    a_transaction_is_all_or_nothing,
    a_transaction_spans_a_change,
    all_of_a_transaction_arrives,
    what_is_sealed_is_drained,
    what_is_sealed_takes_no_append,
    what_may_be_committed_is_kept,
)
from spec.transactions import TxnState
from spec.world import Holds, Violated, World

SAFE = (
    a_transaction_is_all_or_nothing,
    what_may_be_committed_is_kept,
    only_what_is_committed_is_delivered,
    what_is_committed_is_not_passed_over,
    what_was_refused_is_not_delivered,
    nothing_joins_a_decided_transaction,
    what_can_be_read_is_decided,
    records_go_when_their_work_is_done,
    what_is_sealed_takes_no_append,
    a_child_waits_for_all_its_ancestors,
    keys_stay_in_order,
)
SPANNING = (a_sealed_segment_waits_for_a_decision, a_transaction_spans_a_change)
IN_THE_END = (
    all_of_a_transaction_arrives,
    what_is_sealed_is_drained,
    every_entry_is_passed,
    everything_stored_of_a_transaction_goes,
)
ONE_LEADER = (*NO_DISCOVERY, *NO_LOST_REPLY, "finish_change")
UNDISTURBED = (*NO_MOVE, *NO_LOST_SESSION, *NO_CLOCK, *AS_ONE_WRITES_IT, "write_outside_of_transactions")

TRANSACTIONS_SURVIVE_SPLITS = World(
    name="transactions-survive-splits",
    asks="If a segment is split while a transaction is open that has written to it, and that goes on in the "
    "children, is everything of it delivered in order, or nothing, although nothing is appended at its end?",
    machines=(
        Topic,
        AlreadySubscribed,
        Led,
        LayoutChange,
        Serving,
        Deciding,
        HeaderCache,
        TransactionBuffer,
        Dispatching,
        AcrossLayouts,
    ),
    bounds={
        "brokers": 1,
        "operations": 1,
        "owners": 1,
        "subscriptions": 1,
        "transactions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "transactional_writes": 2,
        "plain_writes": 0,
        "moves": 0,
        "stops": 0,
        "crashes": 0,
        "expiries": 0,
        "lost_replies": 0,
        "lost_sessions": 0,
        "ticks": 0,
        "timeout": 0,
        "retention": 0,
    },
    properties=(*SAFE, *SPANNING, a_split_was_published),
    idle=(*NO_MERGE, *ONE_LEADER, *UNDISTURBED, "stop"),
    expect=Holds(states=99_206, depth=32),
)


def _meanwhile(w: AcrossLayouts) -> object:
    """Nothing befalls the owners before the parent is sealed, and the transaction ends after the split."""
    assert w.record is not None
    undisturbed = w.moves_left == w.moves and w.stops_left == w.stops
    undecided = all(outcome in (None, TxnState.OPEN) for outcome in w.outcome.values())
    sealed, published = w.ledger[0] is Ledger.TERMINATED, w.record.layout.has(1)
    return (undisturbed or sealed) and (undecided or published)


def _only_the_parent_moves(w: AcrossLayouts) -> object:
    """The parent may move once the split has begun, and the children stay where they are."""
    begun = w.moves_left == w.moves or w.ledger[1] is not Ledger.ABSENT
    return begun and w.owner[1] != "n2" and w.owner[2] != "n2"


SPLIT_WHILE_OWNERS_CRASH = replace(
    TRANSACTIONS_SURVIVE_SPLITS.at(stops=1, transactional_writes=1),
    name="transactions-survive-splits-and-crashes",
    asks="If the broker that serves parent and children crashes while the split is under way, is the "
    "transaction what it was?",
    properties=(*SAFE, a_split_was_published),
    within=_meanwhile,
    idle=(*NO_MERGE, *ONE_LEADER, *UNDISTURBED),
    expect=Holds(states=51_557, depth=28),
)

SPLIT_WHILE_THE_PARENT_MOVES = replace(
    TRANSACTIONS_SURVIVE_SPLITS.at(owners=2, moves=1, transactional_writes=1),
    name="transactions-survive-splits-and-moves",
    asks="If another broker takes the parent over while the split is under way, and the last one goes on "
    "with what it was doing, is the transaction what it was?",
    properties=(*SAFE, a_split_was_published),
    within=_only_the_parent_moves,
    idle=(*NO_MERGE, *ONE_LEADER, *(name for name in UNDISTURBED if name not in NO_MOVE), "stop"),
    expect=Holds(states=228_276, depth=28),
)

SPLIT_WHILE_EVERYTHING_FAILS = replace(
    SPLIT_WHILE_THE_PARENT_MOVES.at(stops=1, transactional_writes=2),
    name="transactions-survive-splits-and-everything",
    asks="Is the transaction what it was if a broker crashes as well?",
    properties=(*SAFE, *SPANNING, a_split_was_published),
    within=lambda w: _meanwhile(w) and _only_the_parent_moves(w),
    idle=tuple(name for name in SPLIT_WHILE_THE_PARENT_MOVES.idle if name != "stop"),
    large=True,
    expect=Holds(states=10_599_911, depth=41),
)

SPLIT_PARENTS_ARE_DRAINED = replace(
    TRANSACTIONS_SURVIVE_SPLITS.at(transactional_writes=1),
    name="split-parents-are-drained",
    asks="Once all transactions are decided, is the sealed segment drained, and does everything arrive?",
    properties=IN_THE_END,
    expect=Holds(states=11_656, depth=24),
)

WORLDS = (
    TRANSACTIONS_SURVIVE_SPLITS,
    TRANSACTIONS_SURVIVE_SPLITS.without(
        "serving_waits_for_recovery",
        Violated("a_transaction_is_all_or_nothing", steps=22),
        properties=(a_transaction_is_all_or_nothing,),
    ),
    TRANSACTIONS_SURVIVE_SPLITS.as_written(
        Violated("a_transaction_is_all_or_nothing", steps=14), properties=(a_transaction_is_all_or_nothing,)
    ),
    SPLIT_WHILE_OWNERS_CRASH,
    SPLIT_WHILE_THE_PARENT_MOVES,
    SPLIT_WHILE_THE_PARENT_MOVES.without(
        "superseded_owners_are_fenced",
        Violated("what_is_committed_is_not_passed_over", steps=13),
        properties=(what_is_committed_is_not_passed_over,),
    ),
    SPLIT_WHILE_EVERYTHING_FAILS,
    SPLIT_PARENTS_ARE_DRAINED,
    SPLIT_PARENTS_ARE_DRAINED.without(
        "readiness",
        Violated("all_of_a_transaction_arrives", steps=23),
        properties=(all_of_a_transaction_arrives,),
    ),
    SPLIT_PARENTS_ARE_DRAINED.without(
        "headers_are_watched_before_read",
        Violated("what_is_sealed_is_drained", steps=19),
        properties=(what_is_sealed_is_drained,),
    ),
)
