"""If a subscription is deleted and created again, is it left alone by acks that were made for the old one?"""

from dataclasses import replace

from models.worlds.acks_follow_their_transaction import FOLLOWING
from models.worlds.leaving_out import (
    AS_HEADERS_ARE_WRITTEN,
    NO_CLOCK,
    NO_DEPARTURE,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_PLAIN_ACK,
)
from spec.protocols.redelivering import a_cursor_passes_nothing_unseen
from spec.protocols.returning_subscriptions import ReturningSubscriptions
from spec.world import Holds, Violated, World

RETURNING: World = replace(
    FOLLOWING,
    name="subscriptions-come-back",
    asks="If a subscription is deleted while a transaction has acknowledged messages in it, and created "
    "again, does the new one receive every message, and is nothing left of the old one?",
    machines=(*FOLLOWING.machines, ReturningSubscriptions),
    bounds={**FOLLOWING.bounds, "departures": 0, "plain_acks": 0, "deletions": 1},
    idle=(*NO_MOVE, *NO_DEPARTURE, *NO_LOST_SESSION, *NO_CLOCK, *NO_PLAIN_ACK, *AS_HEADERS_ARE_WRITTEN),
    expect=Holds(states=8_318, depth=22),
)
UNSEEN = (a_cursor_passes_nothing_unseen,)

WORLDS = (
    RETURNING,
    RETURNING.without(
        "acks_name_their_cursor", Violated("a_cursor_passes_nothing_unseen", steps=11), properties=UNSEEN
    ),
    RETURNING.as_written(Violated("a_cursor_passes_nothing_unseen", steps=11), properties=UNSEEN),
)
