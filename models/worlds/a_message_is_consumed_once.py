"""If transactions and others acknowledge the same message, does one of them consume it, and no more?"""

from dataclasses import replace

from models.worlds.acks_follow_their_transaction import FOLLOWING
from models.worlds.leaving_out import (
    AS_HEADERS_ARE_WRITTEN,
    NO_CLOCK,
    NO_COLLECTION,
    NO_DEPARTURE,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_REPLAY,
    NO_STOP,
)
from spec.protocols.applying_acks import a_message_is_consumed_once
from spec.world import Holds, Violated, World

ONCE: World = replace(
    FOLLOWING,
    name="a-message-is-consumed-once",
    asks="If two transactions acknowledge the same message, and somebody outside of transactions as well, "
    "has it been consumed once?",
    bounds={
        **FOLLOWING.bounds,
        "transactions": 2,
        "plain_acks": 1,
        "departures": 0,
        "stops": 0,
        "retention": 1,
    },
    idle=(
        *NO_MOVE,
        *NO_STOP,
        *NO_REPLAY,
        *NO_DEPARTURE,
        *NO_LOST_SESSION,
        *NO_CLOCK,
        *NO_COLLECTION,
        *AS_HEADERS_ARE_WRITTEN,
    ),
    expect=Holds(states=5_364, depth=20),
)
CONSUMED = (a_message_is_consumed_once,)

WORLDS = (
    ONCE,
    ONCE.without(
        "held_messages_are_refused",
        Violated("a_message_is_consumed_once", steps=13),
        properties=CONSUMED,
        bounds={**ONCE.bounds, "plain_acks": 0},
    ),
    ONCE.as_written(Violated("a_message_is_consumed_once", steps=8), properties=CONSUMED),
)
