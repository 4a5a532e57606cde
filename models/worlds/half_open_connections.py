"""Consumers that reconnect under the same name while the broker still takes their old connection for open."""

from spec.protocols.connections import Connections, somebody_died_and_is_back
from spec.protocols.coordination import Coordination
from spec.protocols.election import Election
from spec.world import Holds, Violated, World

WITHOUT_FAILURES_OF_BROKERS = (
    "open_controller",
    "notice_later_term",
    "expire_session",
    "notice_lost_session",
    "crash",
    "restart",
    "load_before_the_election",
    "hang_up",
    "notice_the_broker_has_gone",
)
"""What does not happen with one broker that never fails."""

LISTENS_TO_ONE = ("hear_late",)
"""What does not happen to consumers that listen to one connection."""

OF_SESSIONS = (*Coordination.properties, *Connections.properties)
"""All that must hold of consumers, their sessions and their connections."""

WORLD = World(
    name="half-open-connections",
    asks="If a consumer comes back before its old connection is known to have ended, does it keep its "
    "session, and hear what it has been dealt?",
    machines=(Election, Coordination, Connections),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "consumers": 2,
        "drops": 2,
        "deaths": 0,
        "leaves": 0,
    },
    properties=tuple(p for p in OF_SESSIONS if p is not somebody_died_and_is_back),
    idle=(*WITHOUT_FAILURES_OF_BROKERS, *LISTENS_TO_ONE, "deal_again", "die", "start_again", "leave"),
    expect=Holds(states=4_711, depth=20),
)

WORLDS = (
    WORLD,
    WORLD.without(
        "disconnects_name_their_connection", Violated("nobody_is_evicted_while_connected", steps=7)
    ),
    WORLD.without("late_registrations_are_ignored", Violated("nobody_is_evicted_while_connected", steps=8)),
    WORLD.without(
        "consumers_listen_to_one_connection", Violated("every_consumer_learns_its_assignment", steps=14)
    ),
    WORLD.as_written(Violated("nobody_is_evicted_while_connected", steps=7)),
)
