"""If a message is consumed and its result written in one transaction, across a split, is there one result?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    AS_ONE_WRITES_IT,
    NO_CLOCK,
    NO_COLLECTION,
    NO_DEPARTURE,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_PLAIN_ACK,
)
from spec.protocols.applying_acks import ApplyingAcks, a_message_is_consumed_once, what_is_written_down_stays
from spec.protocols.deciding import Deciding
from spec.protocols.dispatching import only_what_is_committed_is_delivered
from spec.protocols.header_cache import HeaderCache
from spec.protocols.pending_acks import PendingAcks
from spec.protocols.redelivering import Redelivering, what_was_consumed_is_not_delivered_again
from spec.protocols.serving import Serving
from spec.protocols.topic import AlreadySubscribed, Topic, keys_stay_in_order
from spec.protocols.transaction_buffer import TransactionBuffer
from spec.protocols.transforming import (
    AlreadySplit,
    Transforming,
    a_cursor_is_past_what_is_skipped,
    a_result_was_received,
    one_result_for_each_message,
    results_come_after_their_messages,
)
from spec.transactions import TxnState
from spec.world import Holds, Violated, World


def _as_consumers_do(w: Transforming) -> object:
    """
    A consumer writes the result, acknowledges its message, commits, and only then begins again.

    It may also give up at any time. The other child, to which nobody writes, is loaded by nobody.
    """
    if any(w.loaded[owner, 2] for owner in ("n1",)):
        return False
    outcomes = [w.outcome[transaction] for transaction in w.header]
    in_turn = all(outcomes[i] not in (None, TxnState.OPEN) for i, o in enumerate(outcomes[1:]) if o)
    return in_turn and all(
        (w.to_ack[t] or w.accepted[t])
        and (w.outcome[t] is not TxnState.COMMITTED or any(one.accepted for one in w.asked_acks[t]))
        and not any(one.segment for one in w.asked_acks[t])
        for t in w.header
    )


RESULTS_COME_ONCE = World(
    name="results-come-once",
    asks="If a transaction acknowledges a message of a sealed parent and writes its result to a child, and "
    "the broker of both crashes, is there one result that is delivered, once the message is consumed?",
    machines=(
        Topic,
        AlreadySubscribed,
        AlreadySplit,
        Serving,
        Deciding,
        HeaderCache,
        TransactionBuffer,
        PendingAcks,
        ApplyingAcks,
        Redelivering,
        Transforming,
    ),
    bounds={
        "owners": 1,
        "subscriptions": 1,
        "transactions": 1,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "backlog": 1,
        "transactional_writes": 1,
        "transactional_acks": 1,
        "plain_writes": 0,
        "plain_acks": 0,
        "cumulative_acks": 0,
        "departures": 0,
        "moves": 0,
        "stops": 1,
        "lost_sessions": 0,
        "ticks": 0,
        "timeout": 0,
        "retention": 1,
    },
    properties=(
        one_result_for_each_message,
        results_come_after_their_messages,
        what_was_consumed_is_not_delivered_again,
        a_message_is_consumed_once,
        what_is_written_down_stays,
        only_what_is_committed_is_delivered,
        keys_stay_in_order,
        a_result_was_received,
        a_cursor_is_past_what_is_skipped,
    ),
    within=_as_consumers_do,
    idle=(
        *NO_MOVE,
        *NO_LOST_SESSION,
        *NO_CLOCK,
        *NO_COLLECTION,
        *NO_PLAIN_ACK,
        *NO_DEPARTURE,
        *AS_ONE_WRITES_IT,
        "write_outside_of_transactions",
        "drop_strays",
    ),
    expect=Holds(states=102_309, depth=38),
)

RESULTS_COME_ONCE_IF_TRIED_AGAIN = replace(
    RESULTS_COME_ONCE.at(transactions=2, stops=0),
    name="results-come-once-if-tried-again",
    asks="If a consumer does not know how its transaction ended and tries again, is there one result?",
    idle=(*RESULTS_COME_ONCE.idle, "stop"),
    expect=Holds(states=565_260, depth=45),
)

RESULTS_COME_ONCE_WHATEVER_FAILS = replace(
    RESULTS_COME_ONCE.at(transactions=2),
    name="results-come-once-whatever-fails",
    asks="If it tries again, and the broker crashes at any time, is there one result?",
    large=True,
    expect=Holds(states=41_703_466, depth=59),
)

AGAIN = (what_was_consumed_is_not_delivered_again,)
ONCE = (one_result_for_each_message,)

WORLDS = (
    RESULTS_COME_ONCE,
    RESULTS_COME_ONCE.without(
        "acks_are_durable_before_records_go",
        Violated("what_was_consumed_is_not_delivered_again", steps=25),
        properties=AGAIN,
    ),
    RESULTS_COME_ONCE.without(
        "serving_waits_for_recovery",
        Violated("what_was_consumed_is_not_delivered_again", steps=15),
        properties=AGAIN,
    ),
    RESULTS_COME_ONCE.as_written(
        Violated("only_what_is_committed_is_delivered", steps=6),
        properties=(only_what_is_committed_is_delivered,),
    ),
    RESULTS_COME_ONCE_IF_TRIED_AGAIN,
    RESULTS_COME_ONCE_IF_TRIED_AGAIN.without(
        "held_messages_are_refused", Violated("one_result_for_each_message", steps=36), properties=ONCE
    ),
    RESULTS_COME_ONCE_WHATEVER_FAILS,
)
