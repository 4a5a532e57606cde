"""Do the sweeps find everything that has expired or ended, and harm nothing that has changed since?"""

from dataclasses import replace

from spec.design import HARDENED, Listing
from spec.machine import WEAK, action, require
from spec.protocols.deciding import (
    TRANSACTIONS,
    a_decision_is_final,
    every_transaction_ends,
    everything_stored_of_a_transaction_goes,
    headers_are_written_twice,
    the_header_says_what_was_decided,
)
from spec.protocols.sweeping import COORDINATORS, Sweeping
from spec.protocols.topic import Topic
from spec.transactions import TxnState, end
from spec.world import Holds, Violated, World


class Hasty(Sweeping):
    """Sweeps that do not look twice."""


@action("473-COORD-10", coordinator=COORDINATORS, transaction=TRANSACTIONS, fair=WEAK)
def abort_anyway(w: Hasty, coordinator: str, transaction: str) -> None:
    """The sweep writes that a transaction is aborted, without any condition."""
    found = w.found[coordinator, transaction]
    require(found is not None and found.state is TxnState.OPEN)

    w.found[coordinator, transaction] = None
    w.header[transaction] = end(found, TxnState.ABORTED, w.now)
    w.outcome[transaction] = TxnState.ABORTED


SWEEPS = World(
    name="sweeps-miss-nothing",
    asks="While transactions move between the indexes and coordinators crash, is every one aborted that has "
    "expired and collected that has ended, and none aborted that was committed?",
    machines=(Topic, Sweeping),
    bounds={
        "coordinators": 2,
        "transactions": 2,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 1,
        "skew": 0,
        "ticks": 0,
        "timeout": 0,
        "retention": 0,
    },
    properties=(
        *Sweeping.properties,
        a_decision_is_final,
        headers_are_written_twice,
        the_header_says_what_was_decided,
        every_transaction_ends,
        everything_stored_of_a_transaction_goes,
    ),
    idle=("finish_change", "pass_time", "a_clock_ahead_aborts_early"),
    expect=Holds(states=2_048, depth=13),
)
ONE = {**SWEEPS.bounds, "transactions": 1}

WORLDS = (
    SWEEPS,
    SWEEPS.without(
        "listing",
        Violated("everything_stored_of_a_transaction_goes", steps=4),
        properties=(everything_stored_of_a_transaction_goes,),
        bounds=ONE,
    ),
    replace(
        SWEEPS,
        name="sweeps-miss-nothing-by-second-keys",
        asks="If there is one coordinator and it never crashes, are second keys as good as indexes?",
        design=replace(HARDENED, listing=Listing.ENTRY_LAST),
        bounds={**SWEEPS.bounds, "coordinators": 1, "crashes": 0},
        idle=("crash_sweeper", "pass_time", "a_clock_ahead_aborts_early"),
        expect=Holds(states=256, depth=16),
    ),
    replace(
        SWEEPS,
        name="sweeps-miss-what-was-listed-first",
        asks="Is it enough to write the entries of an index before the record?",
        design=replace(HARDENED, listing=Listing.ENTRY_FIRST),
        properties=(every_transaction_ends,),
        bounds=ONE,
        expect=Violated("every_transaction_ends", steps=4),
    ),
    replace(
        SWEEPS,
        name="sweeps-undo-what-they-found",
        asks="Can a sweep abort what it has found without looking again?",
        machines=(Topic, Sweeping, Hasty),
        properties=(a_decision_is_final,),
        bounds=ONE,
        expect=Violated("a_decision_is_final", steps=4),
    ),
    SWEEPS.as_written(
        Violated("every_transaction_ends", steps=2), properties=(every_transaction_ends,), bounds=ONE
    ),
)
