"""If a segment moves and its last owner goes on, do the acks in transactions stay what they were?"""

from dataclasses import replace

from models.worlds.acks_follow_their_transaction import AGAIN, FOLLOWING
from models.worlds.leaving_out import (
    AS_HEADERS_ARE_WRITTEN,
    NO_CLOCK,
    NO_DEPARTURE,
    NO_LOST_SESSION,
    NO_PLAIN_ACK,
    NO_STOP,
)
from spec.world import Holds, Violated, World

MOVING: World = replace(
    FOLLOWING,
    name="acks-move-with-their-segment",
    asks="If a segment is opened by another broker, and by the first one again, and either goes on as long "
    "as it can, is every accepted ack of a committed transaction applied, and no other?",
    bounds={**FOLLOWING.bounds, "departures": 0, "plain_acks": 0, "stops": 0, "moves": 2},
    idle=(*NO_STOP, *NO_DEPARTURE, *NO_LOST_SESSION, *NO_CLOCK, *NO_PLAIN_ACK, *AS_HEADERS_ARE_WRITTEN),
    expect=Holds(states=41_969, depth=22),
)

EVERYTHING = replace(
    MOVING,
    name="acks-survive-everything",
    asks="The same, if brokers also crash and lose their sessions, and consumers leave",
    bounds={**FOLLOWING.bounds, "moves": 1, "stops": 1, "lost_sessions": 1, "plain_acks": 1},
    idle=(*NO_CLOCK, *AS_HEADERS_ARE_WRITTEN),
    large=True,
    expect=Holds(states=601_469, depth=27),
)

WORLDS = (
    MOVING,
    MOVING.without(
        "superseded_owners_are_fenced",
        Violated("what_was_consumed_is_not_delivered_again", steps=11),
        properties=AGAIN,
    ),
    MOVING.without(
        "acks_are_durable_before_records_go",
        Violated("what_was_consumed_is_not_delivered_again", steps=15),
        properties=AGAIN,
    ),
    MOVING.as_written(Violated("what_was_consumed_is_not_delivered_again", steps=9), properties=AGAIN),
    EVERYTHING,
)
