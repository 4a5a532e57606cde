"""Is what became of entries kept as long as anybody can read them, and no longer?"""

from dataclasses import replace

from models.worlds.only_committed_data_is_read import MACHINES, ONLY_COMMITTED_DATA_IS_READ
from spec.protocols.dispatching import (
    every_entry_is_passed,
    only_what_is_committed_is_delivered,
    what_was_refused_is_not_delivered,
)
from spec.protocols.topic import AlreadySubscribed
from spec.protocols.trimming import Trimming
from spec.world import Holds

GOES_WITH_ITS_ENTRIES = replace(
    ONLY_COMMITTED_DATA_IS_READ.at(transactional_writes=1, plain_writes=1),
    name="residue-goes-with-its-entries",
    asks="When a ledger forgets what every subscription has passed, and another one is created later at the "
    "earliest message, is it known what became of each entry as long as the entry is there, and not after?",
    machines=(*(machine for machine in MACHINES if machine is not AlreadySubscribed), Trimming),
    properties=(
        only_what_is_committed_is_delivered,
        what_was_refused_is_not_delivered,
        every_entry_is_passed,
        *Trimming.properties,
    ),
    expect=Holds(states=7_053, depth=20),
)

WORLDS = (GOES_WITH_ITS_ENTRIES,)
