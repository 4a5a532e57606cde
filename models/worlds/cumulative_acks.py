"""Do cumulative acks in transactions take what they say, all of it and nothing else?"""

from dataclasses import replace

from models.worlds.acks_follow_their_transaction import AGAIN, FOLLOWING
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
from spec.protocols.applying_acks import a_message_is_consumed_once
from spec.world import Holds, Violated, World

CUMULATIVE: World = replace(
    FOLLOWING,
    name="cumulative-acks",
    asks="If a transaction acknowledges everything up to a message and the broker crashes, is everything "
    "up to it acknowledged?",
    bounds={**FOLLOWING.bounds, "backlog": 2, "cumulative_acks": 1, "departures": 0, "plain_acks": 0},
    idle=(
        *NO_MOVE,
        *NO_DEPARTURE,
        *NO_LOST_SESSION,
        *NO_CLOCK,
        *NO_PLAIN_ACK,
        *AS_HEADERS_ARE_WRITTEN,
        "drop_strays",
    ),
    expect=Holds(states=10_170, depth=18),
)

MEETING = replace(
    CUMULATIVE,
    name="cumulative-acks-meet-others",
    asks="If acks of one message and of everything up to one overlap, is each message consumed once?",
    bounds={**CUMULATIVE.bounds, "plain_acks": 1, "stops": 0},
    idle=(
        *NO_MOVE,
        *NO_STOP,
        *NO_REPLAY,
        *NO_DEPARTURE,
        *NO_LOST_SESSION,
        *NO_CLOCK,
        *AS_HEADERS_ARE_WRITTEN,
    ),
    expect=Holds(states=3_862, depth=14),
)

WORLDS = (
    CUMULATIVE,
    CUMULATIVE.without(
        "cumulative_acks_say_so",
        Violated("what_was_consumed_is_not_delivered_again", steps=12),
        properties=AGAIN,
    ),
    MEETING,
    MEETING.without(
        "held_messages_are_refused",
        Violated("a_message_is_consumed_once", steps=8),
        properties=(a_message_is_consumed_once,),
    ),
    CUMULATIVE.as_written(Violated("what_was_consumed_is_not_delivered_again", steps=10), properties=AGAIN),
)
