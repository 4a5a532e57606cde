"""Does everybody read exactly what was committed, at whatever pace, and long after it is forgotten?"""

from dataclasses import replace

from models.worlds.leaving_out import (
    AS_ONE_WRITES_IT,
    NO_CLOCK,
    NO_LOST_SESSION,
    NO_ORDINARY_MESSAGE,
    NO_RECOVERY,
)
from spec.design import HARDENED, Unknown
from spec.protocols.deciding import Deciding, everything_stored_of_a_transaction_goes
from spec.protocols.dispatching import (
    Dispatching,
    a_committed_message_was_delivered,
    an_aborted_message_was_passed_over,
    only_what_is_committed_is_delivered,
    what_is_committed_is_not_passed_over,
    what_was_refused_is_not_delivered,
)
from spec.protocols.header_cache import HeaderCache
from spec.protocols.serving import Serving
from spec.protocols.topic import AlreadySubscribed, Topic
from spec.protocols.transaction_buffer import (
    TransactionBuffer,
    nothing_joins_a_decided_transaction,
    records_go_when_their_work_is_done,
    the_horizon_only_goes_forward,
    the_horizon_reaches_the_end,
    what_can_be_read_is_decided,
)
from spec.world import Holds, Violated, World

MACHINES = (Topic, AlreadySubscribed, Serving, Deciding, HeaderCache, TransactionBuffer, Dispatching)

ONLY_COMMITTED_DATA_IS_READ = World(
    name="only-committed-data-is-read",
    asks="While a transaction writes among others, is decided and is forgotten, do two subscriptions, one of "
    "which may lag for ever, both receive what is committed and nothing else?",
    machines=MACHINES,
    bounds={
        "owners": 1,
        "subscriptions": 2,
        "transactions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "transactional_writes": 2,
        "plain_writes": 1,
        "moves": 0,
        "stops": 0,
        "lost_sessions": 0,
        "ticks": 0,
        "timeout": 0,
        "retention": 0,
    },
    idle=(*NO_RECOVERY, *NO_LOST_SESSION, *NO_CLOCK, *AS_ONE_WRITES_IT),
    expect=Holds(states=14_655, depth=23),
)

TRANSACTIONS_INTERLEAVE = replace(
    ONLY_COMMITTED_DATA_IS_READ.at(transactions=2, subscriptions=1, transactional_writes=1, plain_writes=0),
    name="transactions-interleave",
    asks="If two transactions write to one segment and end one after the other, is the horizon before the "
    "first entry that is undecided, and does it reach the end?",
    properties=(
        only_what_is_committed_is_delivered,
        what_is_committed_is_not_passed_over,
        what_was_refused_is_not_delivered,
        what_can_be_read_is_decided,
        the_horizon_only_goes_forward,
        the_horizon_reaches_the_end,
        records_go_when_their_work_is_done,
        a_committed_message_was_delivered,
        an_aborted_message_was_passed_over,
    ),
    idle=(*ONLY_COMMITTED_DATA_IS_READ.idle, *NO_ORDINARY_MESSAGE),
    expect=Holds(states=88_745, depth=23),
)

PASSED_OVER = (what_is_committed_is_not_passed_over,)

WORLDS = (
    ONLY_COMMITTED_DATA_IS_READ,
    ONLY_COMMITTED_DATA_IS_READ.without(
        "writes_hold_the_horizon",
        Violated("only_what_is_committed_is_delivered", steps=5),
        properties=(only_what_is_committed_is_delivered,),
    ),
    ONLY_COMMITTED_DATA_IS_READ.without(
        "unknown", Violated("what_is_committed_is_not_passed_over", steps=11), properties=PASSED_OVER
    ),
    replace(
        ONLY_COMMITTED_DATA_IS_READ,
        name="only-committed-data-is-read-if-the-unknown-is-committed",
        asks="Is it better to take an unknown transaction for committed?",
        design=replace(HARDENED, unknown=Unknown.COMMITTED),
        properties=(only_what_is_committed_is_delivered,),
        expect=Violated("only_what_is_committed_is_delivered", steps=12),
    ),
    ONLY_COMMITTED_DATA_IS_READ.without(
        "operations_look_again",
        Violated("nothing_joins_a_decided_transaction", steps=6),
        properties=(nothing_joins_a_decided_transaction,),
    ),
    ONLY_COMMITTED_DATA_IS_READ.without(
        "sweep", Violated("what_is_committed_is_not_passed_over", steps=11), properties=PASSED_OVER
    ),
    ONLY_COMMITTED_DATA_IS_READ.without(
        "headers_are_watched_before_read",
        Violated("the_horizon_reaches_the_end", steps=7),
        properties=(the_horizon_reaches_the_end,),
    ),
    ONLY_COMMITTED_DATA_IS_READ.without(
        "ends_are_dated_at_once",
        Violated("everything_stored_of_a_transaction_goes", steps=2),
        properties=(everything_stored_of_a_transaction_goes,),
    ),
    ONLY_COMMITTED_DATA_IS_READ.as_written(
        Violated("only_what_is_committed_is_delivered", steps=4),
        properties=(only_what_is_committed_is_delivered,),
    ),
    TRANSACTIONS_INTERLEAVE,
)
