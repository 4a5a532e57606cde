"""Is the id of a transaction its own for ever, although headers are deleted and coordinators crash?"""

from dataclasses import replace

from spec.design import HARDENED, Ids
from spec.protocols.transaction_ids import (
    TransactionIds,
    nobody_inherits_operations,
    only_its_client_commits_a_transaction,
    what_is_decided_is_not_opened_again,
)
from spec.world import Holds, Violated, World

OWN_IDS = World(
    name="ids-are-never-used-again",
    asks="When coordinators crash and forget, and headers are collected, does every new transaction get an "
    "id that no other has ever had?",
    machines=(TransactionIds,),
    bounds={"coordinators": 2, "transactions": 2, "ids": 3, "crashes": 1},
    expect=Holds(states=35_733, depth=21),
)
ONE_COORDINATOR = {**OWN_IDS.bounds, "coordinators": 1}
FREE = replace(HARDENED, transaction_ids=Ids.COUNTED_AND_FREE)

WORLDS = (
    OWN_IDS,
    OWN_IDS.without(
        "transaction_ids",
        Violated("only_its_client_commits_a_transaction", steps=7),
        properties=(only_its_client_commits_a_transaction,),
        bounds=ONE_COORDINATOR,
    ),
    replace(
        OWN_IDS,
        name="free-ids-are-used-again",
        asks="Is it enough to create a header only if there is none of that id?",
        design=FREE,
        properties=(only_its_client_commits_a_transaction,),
        bounds=ONE_COORDINATOR,
        expect=Violated("only_its_client_commits_a_transaction", steps=9),
    ),
    replace(
        OWN_IDS,
        name="free-ids-inherit-operations",
        asks="If a header is created only where there is none, does nobody get the records of another?",
        design=FREE,
        properties=(nobody_inherits_operations,),
        bounds=ONE_COORDINATOR,
        expect=Violated("nobody_inherits_operations", steps=10),
    ),
    replace(
        OWN_IDS,
        name="ids-are-drawn-at-each-start",
        asks="Is it enough if a coordinator draws one number when it is started, and counts behind that?",
        design=replace(HARDENED, transaction_ids=Ids.DRAWN_AT_START),
        bounds={**ONE_COORDINATOR, "ids": 4},
        idle=("an_id_belongs_to_nobody",),
        expect=Holds(states=27_399, depth=21),
    ),
    OWN_IDS.as_written(
        Violated("what_is_decided_is_not_opened_again", steps=6),
        properties=(what_is_decided_is_not_opened_again,),
        bounds=ONE_COORDINATOR,
    ),
)
