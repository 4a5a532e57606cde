"""Is a transaction what it was, after the owner of its segment crashed or was superseded?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    AS_ONE_WRITES_IT,
    NO_CLOCK,
    NO_LOST_SESSION,
    NO_MOVE,
    NO_ORDINARY_MESSAGE,
    NO_STOP,
)
from models.worlds.only_committed_data_is_read import ONLY_COMMITTED_DATA_IS_READ
from spec.protocols.dispatching import (
    every_entry_is_passed,
    everybody_sees_the_same,
    only_what_is_committed_is_delivered,
    what_is_committed_is_not_passed_over,
    what_was_refused_is_not_delivered,
)
from spec.world import Holds, Violated

REFUSED = (what_was_refused_is_not_delivered,)

TRANSACTIONS_SURVIVE_CRASHES = replace(
    ONLY_COMMITTED_DATA_IS_READ.at(owners=2, stops=1, transactional_writes=1),
    name="transactions-survive-crashes",
    asks="If the owner of a segment crashes anywhere between taking a write and forgetting it, does the next "
    "owner go on as if nothing had happened, and show nothing before it is ready?",
    idle=(*NO_MOVE, *NO_LOST_SESSION, *NO_CLOCK, *AS_ONE_WRITES_IT),
    expect=Holds(states=12_999, depth=19),
)

SUPERSEDED_OWNERS_ARE_HARMLESS = replace(
    ONLY_COMMITTED_DATA_IS_READ.at(owners=2, moves=1, transactional_writes=1, plain_writes=0),
    name="superseded-owners-are-harmless",
    asks="If a segment moves and its last owner goes on with what it was doing, is nothing acknowledged that "
    "the next owner does not know, and nothing undone that it has done?",
    idle=(*NO_STOP, *NO_ORDINARY_MESSAGE, *NO_LOST_SESSION, *NO_CLOCK, *AS_ONE_WRITES_IT),
    expect=Holds(states=5_088, depth=16),
)

DECISIONS_SURVIVE_LOST_SESSIONS = replace(
    ONLY_COMMITTED_DATA_IS_READ.at(lost_sessions=2, transactional_writes=1),
    name="decisions-survive-lost-sessions",
    asks="If every watch is lost, does every participant hear of every decision all the same?",
    idle=tuple(name for name in ONLY_COMMITTED_DATA_IS_READ.idle if name not in NO_LOST_SESSION),
    expect=Holds(states=7_523, depth=18),
)

OWNERS_COME_BACK = replace(
    SUPERSEDED_OWNERS_ARE_HARMLESS.at(subscriptions=1, stops=1),
    name="owners-come-back",
    asks="If a segment comes back to a broker that had it before, is that as if it had never had it?",
    idle=(*NO_ORDINARY_MESSAGE, *NO_LOST_SESSION, *NO_CLOCK, *AS_ONE_WRITES_IT),
    expect=Holds(states=19_444, depth=19),
)

EVERYTHING_FAILS = replace(
    TRANSACTIONS_SURVIVE_CRASHES.at(moves=1, stops=1, lost_sessions=1, transactional_writes=2),
    name="transactions-survive-everything",
    asks="Do transactions survive a crash, a move and a lost session in whatever order?",
    idle=(*NO_CLOCK, *AS_ONE_WRITES_IT),
    large=True,
)

WORLDS = (
    TRANSACTIONS_SURVIVE_CRASHES,
    TRANSACTIONS_SURVIVE_CRASHES.without(
        "unrecorded_entries_are_void",
        Violated("what_was_refused_is_not_delivered", steps=13),
        properties=REFUSED,
    ),
    TRANSACTIONS_SURVIVE_CRASHES.without(
        "serving_waits_for_recovery",
        Violated("what_was_refused_is_not_delivered", steps=11),
        properties=REFUSED,
    ),
    TRANSACTIONS_SURVIVE_CRASHES.as_written(
        Violated("everybody_sees_the_same", steps=8), properties=(everybody_sees_the_same,)
    ),
    SUPERSEDED_OWNERS_ARE_HARMLESS,
    SUPERSEDED_OWNERS_ARE_HARMLESS.without(
        "superseded_owners_are_fenced",
        Violated("what_is_committed_is_not_passed_over", steps=11),
        properties=(what_is_committed_is_not_passed_over,),
    ),
    SUPERSEDED_OWNERS_ARE_HARMLESS.as_written(
        Violated("only_what_is_committed_is_delivered", steps=4),
        properties=(only_what_is_committed_is_delivered,),
    ),
    OWNERS_COME_BACK,
    DECISIONS_SURVIVE_LOST_SESSIONS,
    DECISIONS_SURVIVE_LOST_SESSIONS.without(
        "lost_watches_read_again",
        Violated("every_entry_is_passed", steps=7),
        properties=(every_entry_is_passed,),
    ),
    DECISIONS_SURVIVE_LOST_SESSIONS.as_written(
        Violated("every_entry_is_passed", steps=8), properties=(every_entry_is_passed,)
    ),
    EVERYTHING_FAILS,
)
