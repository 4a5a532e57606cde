"""
Walks far beyond the bounds within which every state is visited: dozens of segments, several crashes.

A world more is a line more in `WALKS`: a world that is known, what never happens in it, and how much further.
"""

from dataclasses import replace

import pytest

from models.asking import known
from models.stateful import Broken, never_happened, walk
from models.worlds.leaving_out import AS_ONE_WRITES_IT, NO_CLOCK, NO_DISCOVERY, NO_LOST_REPLY
from spec.design import AS_WRITTEN
from spec.protocols.election import Election
from spec.protocols.layout_change import LayoutChange
from spec.protocols.topic import Topic
from spec.world import World

STEPS = 200
EXAMPLES = 30, 120, 480
"""
So many walks, and more if something has not happened yet.

Hypothesis likes the numbers that stand in the modules that are loaded, so walks differ from run to run.
"""


def far(name: str, *idle: str, **bounds: int) -> World:
    """A world within bounds that nobody could look at as a whole; what never happens there is said anew."""
    return replace(known()[name].at(**bounds), name=f"{name}-far", idle=idle)


def anywhere(name: str, *idle: str, **bounds: int) -> World:
    """The same, and whatever the world leaves out happens as well."""
    return replace(far(name, *idle, **bounds), within=None)


BROKERS = {"brokers": 3, "crashes": 3, "expiries": 3}
CHANGES = {"segments": 40, "initial_segments": 2, "operations": 2, "lost_replies": 3}
PRODUCERS = {"keys": 2, "producers": 2, "messages": 3, "lost_acknowledgements": 2}
CONSUMERS = {"consumers": 3, "drops": 2, "deaths": 2, "leaves": 1, "backlog": 2}
CALMER = {"segments": 16, "crashes": 2, "expiries": 2, "lost_acknowledgements": 1}
SCALES = {"max_segments": 12, "max_dag_depth": 6}
PARTITIONS = {"partitions": 6, "most_partitions": 6, "largest_record": 6, "segments": 14}
OWNERS = {"owners": 3, "stops": 3, "moves": 3, "lost_sessions": 3}
CLOCK = {"ticks": 4, "timeout": 2, "retention": 1}
WRITES = {"transactional_writes": 3, "plain_writes": 3}
ACKS = {"transactional_acks": 2, "plain_acks": 2, "backlog": 3, "cumulative_acks": 1, "departures": 2}
STRAYS = ("collect_what_is_gone", "load_for_leftovers")
"""What it takes several faults at the right moment to need."""
DELETED_TOO_SOON = ("begin_merge", "notify")
LISTENS_TO_ONE = ("load_before_the_election", "hear_late", "move_the_cursor_to_the_checkpoint")

WALKS = (
    far("two-leaders-change-the-layout", *NO_DISCOVERY, keys=6, subscriptions=3, **BROKERS, **CHANGES),
    far("everything-at-once", *NO_DISCOVERY, subscriptions=3, **BROKERS, **CHANGES, **PRODUCERS),
    far(
        "split-is-drained-in-order",
        *NO_DISCOVERY,
        *LISTENS_TO_ONE,
        **{**BROKERS, **CHANGES, **PRODUCERS, **CONSUMERS, **CALMER},
    ),
    far("automatic-changes-begin-alone", *NO_DISCOVERY, keys=4, crowd=12, **BROKERS, **CHANGES, **SCALES),
    far(
        "a-topic-lives-again-after-a-split",
        *NO_DISCOVERY,
        *NO_LOST_REPLY,
        *DELETED_TOO_SOON,
        "finish_change",
        lives=9,
        failures=3,
        **BROKERS,
        **{**CHANGES, "segments": 12, "operations": 1, "lost_replies": 0},
    ),
    far("churn-is-bounded", "move_segment", **{**SCALES, "segments": 60}),
    far(
        "clients-find-the-leader",
        clients=3,
        publications=9,
        recreations=4,
        disconnections=6,
        segments=40,
        **BROKERS,
    ),
    far(
        "queue-subscriptions-miss-nothing",
        queue_consumers=3,
        subscriptions=3,
        keys=6,
        segments=40,
        sends=40,
        splits=15,
        departures=4,
    ),
    far(
        "subscriptions-survive-migration",
        commands=3,
        clients=3,
        subscriptions=3,
        keys=2,
        messages=9,
        lost_replies=3,
        **BROKERS,
        **PARTITIONS,
    ),
    far(
        "transactions-survive-everything",
        *AS_ONE_WRITES_IT,
        subscriptions=3,
        transactions=12,
        **OWNERS,
        **CLOCK,
        **WRITES,
    ),
    anywhere(
        "transactions-and-pruning",
        *NO_DISCOVERY,
        *NO_LOST_REPLY,
        *NO_CLOCK,
        *AS_ONE_WRITES_IT,
        *STRAYS,
        "finish_change",
        subscriptions=2,
        transactions=5,
        keys=4,
        segments=10,
        initial_segments=2,
        operations=2,
        **OWNERS,
        **WRITES,
    ),
    anywhere(
        "results-come-once-whatever-fails",
        *AS_ONE_WRITES_IT,
        "drop_strays",
        subscriptions=2,
        transactions=8,
        keys=2,
        **OWNERS,
        **CLOCK,
        **WRITES,
        **ACKS,
    ),
)

CHANGING = World(
    name="changing",
    asks="Do layouts change soundly?",
    machines=(Topic, Election, LayoutChange),
    bounds={"keys": 6, "subscriptions": 3, **BROKERS, **CHANGES},
    idle=NO_DISCOVERY,
)


@pytest.mark.parametrize("world", WALKS, ids=lambda world: world.name)
def test_whatever_happens_every_property_holds_and_everything_happens(world: World) -> None:
    for examples in EXAMPLES:
        happened = walk(world, examples, STEPS)
        if not never_happened(world, happened):
            break

    for name, count in sorted(happened.items(), key=lambda one: -one[1]):
        print(f"{count:>7}  {name}")
    assert never_happened(world, happened) == []


def test_walks_are_the_same_in_every_run() -> None:
    assert walk(CHANGING, 2, 50) == walk(CHANGING, 2, 50)


def test_a_hole_in_the_text_is_found() -> None:
    with pytest.raises(Broken) as broken:
        walk(replace(CHANGING, design=AS_WRITTEN), EXAMPLES[0], STEPS)

    first, *labels, sentence = str(broken.value).splitlines()
    assert " is broken in changing after " in first
    assert len(labels) >= 5
    assert sentence.startswith(("b1", "b2", "b3", "segment"))
