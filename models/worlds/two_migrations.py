"""If the same topic is migrated twice at once, does one command win, and is everybody told the truth?"""

from spec.protocols.interrupted_migration import (
    Crashing,
    UnreliableStore,
    who_migrates_is_not_told_otherwise,
)
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName
from spec.world import Holds, Violated, World

TWO_MIGRATIONS = World(
    name="two-migrations",
    asks="If two operators migrate the same topic, and the store ends sessions and loses answers, does "
    "exactly one of them hear that it was done?",
    machines=(OneName, Migrating, Crashing, UnreliableStore),
    bounds={
        "brokers": 2,
        "commands": 2,
        "clients": 0,
        "v4_clients": 0,
        "subscriptions": 0,
        "partitions": 0,
        "most_partitions": 1,
        "largest_record": 1,
        "segments": 2,
        "initial_segments": 1,
        "keys": 1,
        "messages": 0,
        "crashes": 1,
        "expiries": 1,
        "lost_replies": 1,
    },
    idle=("push_layout",),
    expect=Holds(states=11_950, depth=27),
)

WORLDS = (
    TWO_MIGRATIONS,
    TWO_MIGRATIONS.without(
        "lost_replies_are_read_back",
        Violated("who_migrates_is_not_told_otherwise", steps=4),
        properties=(who_migrates_is_not_told_otherwise,),
    ),
    TWO_MIGRATIONS.as_written(
        Violated("who_migrates_is_not_told_otherwise", steps=5),
        properties=(who_migrates_is_not_told_otherwise,),
    ),
)
