"""Does all of a transaction over two segments take effect, or nothing?"""

from dataclasses import replace

from models.worlds.leaving_out import NO_RECOVERY
from models.worlds.only_committed_data_is_read import MACHINES, ONLY_COMMITTED_DATA_IS_READ
from models.worlds.transactions_survive_splits import UNDISTURBED
from spec.protocols.deciding import everything_stored_of_a_transaction_goes
from spec.protocols.dispatching import (
    a_committed_message_was_delivered,
    an_aborted_message_was_passed_over,
    every_entry_is_passed,
    everybody_sees_the_same,
    only_what_is_committed_is_delivered,
    what_was_refused_is_not_delivered,
)
from spec.protocols.transactions_and_layouts import (
    AcrossLayouts,
    a_transaction_is_all_or_nothing,
    all_of_a_transaction_arrives,
    what_may_be_committed_is_kept,
)
from spec.world import Holds, Violated

ATOMIC = (
    a_transaction_is_all_or_nothing,
    everybody_sees_the_same,
    only_what_is_committed_is_delivered,
    what_was_refused_is_not_delivered,
    what_may_be_committed_is_kept,
    a_committed_message_was_delivered,
    an_aborted_message_was_passed_over,
)

TRANSACTIONS_ARE_ATOMIC = replace(
    ONLY_COMMITTED_DATA_IS_READ.at(
        segments=2, initial_segments=2, keys=2, transactional_writes=2, plain_writes=0
    ),
    name="transactions-are-atomic",
    asks="If a transaction writes to two segments, each of which learns of its end in its own time, does "
    "every subscription receive all of it or nothing?",
    machines=(*MACHINES, AcrossLayouts),
    properties=ATOMIC,
    idle=(*NO_RECOVERY, *UNDISTURBED),
    expect=Holds(states=12_727, depth=22),
)

ATOMIC_DESPITE_CRASHES = replace(
    TRANSACTIONS_ARE_ATOMIC.at(subscriptions=1, stops=1),
    name="transactions-are-atomic-despite-crashes",
    asks="And if the broker crashes after it has told one subscription of one segment?",
    idle=UNDISTURBED,
    expect=Holds(states=80_816, depth=25),
)

ALL_ARRIVES = replace(
    TRANSACTIONS_ARE_ATOMIC.at(subscriptions=1),
    name="all-of-a-transaction-arrives",
    asks="Does everything of a committed transaction arrive in the end, whichever segment it is in?",
    properties=(
        all_of_a_transaction_arrives,
        every_entry_is_passed,
        everything_stored_of_a_transaction_goes,
    ),
    expect=Holds(states=7_767, depth=20),
)

NOTHING_IN_PARTS = (a_transaction_is_all_or_nothing,)

WORLDS = (
    TRANSACTIONS_ARE_ATOMIC,
    TRANSACTIONS_ARE_ATOMIC.without(
        "unknown", Violated("a_transaction_is_all_or_nothing", steps=16), properties=NOTHING_IN_PARTS
    ),
    TRANSACTIONS_ARE_ATOMIC.without(
        "sweep", Violated("a_transaction_is_all_or_nothing", steps=18), properties=NOTHING_IN_PARTS
    ),
    TRANSACTIONS_ARE_ATOMIC.as_written(
        Violated("a_transaction_is_all_or_nothing", steps=14), properties=NOTHING_IN_PARTS
    ),
    ATOMIC_DESPITE_CRASHES,
    ALL_ARRIVES,
)
