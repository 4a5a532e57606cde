"""Do the acks of a transaction reach the cursor if it commits, and are the messages given back if not?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    AS_HEADERS_ARE_WRITTEN,
    NO_CLOCK,
    NO_DEPARTURE,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_PLAIN_ACK,
    NO_REPLAY,
    NO_STOP,
)
from spec.protocols.applying_acks import ApplyingAcks, committed_acks_are_written_down
from spec.protocols.deciding import Deciding
from spec.protocols.header_cache import HeaderCache
from spec.protocols.pending_acks import PendingAcks
from spec.protocols.redelivering import (
    Delivering,
    Redelivering,
    aborted_acks_are_delivered_again,
    what_was_consumed_is_not_delivered_again,
)
from spec.protocols.serving import Serving
from spec.protocols.topic import AlreadySubscribed, Topic
from spec.world import Holds, Violated, World

AGAIN = (what_was_consumed_is_not_delivered_again,)

FOLLOWING = World(
    name="acks-follow-their-transaction",
    asks="If a broker crashes at any time and consumers leave, is a message that a transaction has consumed "
    "delivered again if the transaction is aborted, and only then?",
    machines=(
        Topic,
        AlreadySubscribed,
        Serving,
        Deciding,
        HeaderCache,
        PendingAcks,
        ApplyingAcks,
        Redelivering,
        Delivering,
    ),
    bounds={
        "owners": 2,
        "subscriptions": 1,
        "transactions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "backlog": 1,
        "transactional_acks": 1,
        "plain_acks": 1,
        "cumulative_acks": 0,
        "departures": 1,
        "moves": 0,
        "stops": 1,
        "lost_sessions": 0,
        "ticks": 0,
        "timeout": 0,
        "retention": 0,
    },
    idle=(*NO_MOVE, *NO_LOST_SESSION, *NO_CLOCK, *AS_HEADERS_ARE_WRITTEN, "drop_strays"),
    expect=Holds(states=10_686, depth=20),
)

HEARING = replace(
    FOLLOWING,
    name="acks-hear-of-the-end",
    asks="If a broker loses its session with the store, does it still hear of the end of every transaction "
    "whose acks it has?",
    bounds={**FOLLOWING.bounds, "departures": 0, "plain_acks": 0, "stops": 0, "lost_sessions": 1},
    idle=(*NO_MOVE, *NO_STOP, *NO_REPLAY, *NO_DEPARTURE, *NO_CLOCK, *NO_PLAIN_ACK, *AS_HEADERS_ARE_WRITTEN),
    expect=Holds(states=684, depth=14),
)
APPLIED = (committed_acks_are_written_down,)

WORLDS = (
    FOLLOWING,
    FOLLOWING.without(
        "acks_are_durable_before_records_go",
        Violated("what_was_consumed_is_not_delivered_again", steps=16),
        properties=AGAIN,
    ),
    FOLLOWING.without(
        "operations_look_again",
        Violated("what_was_consumed_is_not_delivered_again", steps=12),
        properties=AGAIN,
    ),
    FOLLOWING.without(
        "sweep", Violated("what_was_consumed_is_not_delivered_again", steps=12), properties=AGAIN
    ),
    FOLLOWING.without(
        "serving_waits_for_recovery",
        Violated("what_was_consumed_is_not_delivered_again", steps=10),
        properties=AGAIN,
    ),
    FOLLOWING.without(
        "held_messages_stay_held",
        Violated("what_was_consumed_is_not_delivered_again", steps=8),
        properties=AGAIN,
    ),
    FOLLOWING.without(
        "aborted_acks_are_redelivered",
        Violated("aborted_acks_are_delivered_again", steps=11),
        properties=(aborted_acks_are_delivered_again,),
    ),
    FOLLOWING.as_written(Violated("what_was_consumed_is_not_delivered_again", steps=8), properties=AGAIN),
    HEARING,
    HEARING.without(
        "lost_watches_read_again", Violated("committed_acks_are_written_down", steps=8), properties=APPLIED
    ),
    HEARING.without(
        "headers_are_watched_before_read",
        Violated("committed_acks_are_written_down", steps=8),
        properties=APPLIED,
    ),
)
