"""Do clients find every segment, although the addresses in an update grow old without notice?"""

from spec.protocols.owning import (
    Owning,
    a_sealed_segment_has_no_address,
    an_address_is_out_of_date,
    clients_reach_every_segment,
)
from spec.protocols.topic import Topic
from spec.world import Holds, Violated, World

SEGMENTS_ARE_FOUND = World(
    name="segments-are-found",
    asks="When a segment gets another owner and the layout stays as it is, do clients find it there?",
    machines=(Topic, Owning),
    bounds={
        "brokers": 2,
        "clients": 1,
        "subscriptions": 0,
        "keys": 1,
        "segments": 3,
        "initial_segments": 1,
        "publications": 1,
        "moves": 2,
    },
    properties=(clients_reach_every_segment, an_address_is_out_of_date, a_sealed_segment_has_no_address),
    expect=Holds(states=563, depth=6),
)

WORLDS = (
    SEGMENTS_ARE_FOUND,
    SEGMENTS_ARE_FOUND.without(
        "clients_look_segments_up",
        Violated("clients_reach_every_segment", steps=2),
        bounds={**SEGMENTS_ARE_FOUND.bounds, "publications": 0, "segments": 1},
    ),
    SEGMENTS_ARE_FOUND.as_written(Violated("clients_reach_every_segment", steps=2)),
)
