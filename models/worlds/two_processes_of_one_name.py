"""Two processes that were given the same consumer name."""

from models.worlds.half_open_connections import LISTENS_TO_ONE, WITHOUT_FAILURES_OF_BROKERS
from spec.protocols.connections import Connections, every_consumer_learns_its_assignment
from spec.protocols.coordination import Coordination, every_segment_is_dealt_once, what_is_dealt_is_stored
from spec.protocols.election import Election
from spec.protocols.namesakes import Namesakes
from spec.world import Holds, Violated, World

WORLD = World(
    name="two-processes-of-one-name",
    asks="If two processes register under one name, does each of them hear what it has to read, or that it "
    "has been replaced?",
    machines=(Election, Coordination, Connections, Namesakes),
    bounds={
        "brokers": 1,
        "subscriptions": 1,
        "keys": 1,
        "segments": 1,
        "initial_segments": 1,
        "crashes": 0,
        "expiries": 0,
        "consumers": 2,
        "drops": 1,
        "deaths": 1,
        "leaves": 0,
    },
    properties=(
        every_consumer_learns_its_assignment,
        every_segment_is_dealt_once,
        what_is_dealt_is_stored,
        *Namesakes.properties,
    ),
    idle=(*WITHOUT_FAILURES_OF_BROKERS, *LISTENS_TO_ONE, "deal_again", "leave"),
    expect=Holds(states=10_242, depth=19),
)

WORLDS = (
    WORLD,
    WORLD.without("replaced_consumers_are_told", Violated("every_consumer_learns_its_assignment", steps=7)),
)
