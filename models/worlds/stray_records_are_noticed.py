"""Does the owner of a segment notice every operation record that it has not put itself?"""

from spec.protocols.range_watches import RangeWatches
from spec.world import Holds, Violated, World

STRAY_RECORDS = World(
    name="stray-records-are-noticed",
    asks="If a superseded broker puts records while the owner recovers, loses its session or crashes, are "
    "they all found and deleted in the end?",
    machines=(RangeWatches,),
    bounds={"owners": 1, "records": 2, "stops": 1, "lost_sessions": 1},
    expect=Holds(states=328, depth=9),
)

WORLDS = (
    STRAY_RECORDS,
    STRAY_RECORDS.without(
        "lost_watches_read_again",
        Violated("no_record_stays_for_ever", steps=3),
        idle=("watch_range_again",),
    ),
    STRAY_RECORDS.as_written(Violated("no_record_stays_for_ever", steps=3), idle=("watch_range_again",)),
)
