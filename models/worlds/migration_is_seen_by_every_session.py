"""Does every open lookup session learn that its topic is scalable, and never unlearn it?"""

from spec.protocols.during_migration import LateAnswers
from spec.protocols.interrupted_migration import Crashing
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import OneName
from spec.protocols.v5_clients import V5Clients, sessions_never_go_back
from spec.world import Holds, Violated, World

MIGRATION_IS_SEEN_BY_EVERY_SESSION = World(
    name="migration-is-seen-by-every-session",
    asks="If the migrating broker crashes and answers are overtaken, does every session show the real layout "
    "in the end, and none a synthetic one after that?",
    machines=(OneName, Migrating, Crashing, V5Clients, LateAnswers),
    bounds={
        "brokers": 1,
        "commands": 1,
        "clients": 2,
        "v4_clients": 0,
        "subscriptions": 1,
        "partitions": 2,
        "most_partitions": 2,
        "largest_record": 2,
        "segments": 4,
        "initial_segments": 1,
        "keys": 1,
        "messages": 2,
        "crashes": 1,
    },
    expect=Holds(states=6_846, depth=28),
)

WORLDS = (
    MIGRATION_IS_SEEN_BY_EVERY_SESSION,
    MIGRATION_IS_SEEN_BY_EVERY_SESSION.without(
        "migration_is_watched", Violated("every_session_sees_the_real_layout", steps=14)
    ),
    MIGRATION_IS_SEEN_BY_EVERY_SESSION.without(
        "clients_keep_the_latest", Violated("sessions_never_go_back", steps=16)
    ),
    MIGRATION_IS_SEEN_BY_EVERY_SESSION.as_written(
        Violated("sessions_never_go_back", steps=6), properties=(sessions_never_go_back,)
    ),
)
