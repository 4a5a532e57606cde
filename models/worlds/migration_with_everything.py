"""Does migration hold when subscriptions, v4 clients, late answers, crashes and lost locks come together?"""

from spec.protocols.during_migration import LateAnswers, OldClients, Subscribing
from spec.protocols.interrupted_migration import Crashing, UnreliableStore
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName
from spec.protocols.v5_clients import V5Clients
from spec.world import Holds, World

WORLDS = (
    World(
        name="migration-with-everything",
        asks="If everybody comes at the worst moment, does anything of what is asked of a migration break?",
        machines=(
            OneName,
            Migrating,
            Crashing,
            V5Clients,
            UnreliableStore,
            Subscribing,
            OldClients,
            LateAnswers,
        ),
        bounds={
            "brokers": 2,
            "commands": 1,
            "clients": 1,
            "v4_clients": 1,
            "subscriptions": 1,
            "partitions": 1,
            "most_partitions": 1,
            "largest_record": 1,
            "segments": 2,
            "initial_segments": 1,
            "keys": 1,
            "messages": 2,
            "crashes": 1,
            "expiries": 1,
            "lost_replies": 0,
        },
        idle=("commit_without_an_answer", "learn_the_outcome"),
        expect=Holds(states=346_348, depth=33),
        large=True,
    ),
)
