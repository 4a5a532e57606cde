"""If several subscriptions take part in a transaction, does each delete its own records and no others?"""

from dataclasses import replace

from models.worlds.acks_follow_their_transaction import AGAIN, FOLLOWING
from models.worlds.leaving_out import (
    AS_HEADERS_ARE_WRITTEN,
    NO_CLOCK,
    NO_COLLECTION,
    NO_DEPARTURE,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_PLAIN_ACK,
    NO_REPLAY,
    NO_STOP,
)
from spec.protocols.applying_acks import records_stay_until_cursors_are_written
from spec.world import Holds, Violated, World

DELETING: World = replace(
    FOLLOWING,
    name="records-are-deleted-by-their-owners",
    asks="If two subscriptions acknowledge in turn in one transaction, does either lose an ack when the "
    "other deletes its records?",
    bounds={
        **FOLLOWING.bounds,
        "owners": 1,
        "subscriptions": 2,
        "transactional_acks": 3,
        "departures": 0,
        "plain_acks": 0,
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
        *NO_PLAIN_ACK,
        *NO_COLLECTION,
        *AS_HEADERS_ARE_WRITTEN,
    ),
    expect=Holds(states=19_602, depth=24),
)

WORLDS = (
    DELETING,
    DELETING.without(
        "participants_delete_their_own_records",
        Violated("what_was_consumed_is_not_delivered_again", steps=23),
        properties=AGAIN,
        bounds={**DELETING.bounds, "departures": 1},
    ),
    DELETING.as_written(
        Violated("records_stay_until_cursors_are_written", steps=11),
        properties=(records_stay_until_cursors_are_written,),
    ),
)
