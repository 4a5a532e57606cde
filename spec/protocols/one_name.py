"""
One name, whose topic is a regular one or the scalable one that it becomes: what is stored of both, what a
lookup of the name finds, and which clients are let through to the old partitions.

The regular topic and the record are two entries of the metadata store. V5 clients hold a lookup session, and
what it says is all that they know: a synthetic layout of the old partitions, or the real one. Clients of the
generation before know the partitions themselves. [475-LOOKUP-02, 475-PUSH-04, 475-GUARD-01]
"""

from collections.abc import Iterator
from enum import Enum

from spec.immutable import Misuse
from spec.layout import SegmentInfo, SegmentLayout, layout_of
from spec.machine import Bound, Domain, Family, Variable, always, require, start, step
from spec.migration import Client, RegularTopic, guard_v4_lookup, look_up
from spec.names import RegularName
from spec.protocols.topic import SEGMENTS, Ledger, Stage, Subscribed, Topic, published
from spec.refusals import Refused
from spec.routing import TopicView, latest
from spec.soundness import flaws

CLIENTS = Domain("client", "c")
"""V5 clients, each with a lookup session and a producer."""
V4_CLIENTS = Domain("v4_client", "v")

NAME = RegularName("t", "n", "x")
KEY_NAMES = ("b", "3")
"""Keys that two partitions route one way and two ranges the other way; there are two. [475-HASH-07]"""

NOTHING_YET = layout_of(0, 0, ())
"""The layout in a record that claims the name and has yet to say for what."""

CREATION = "creation"
"""Who else than a migration can stand in the record as its claimant."""


class V4(Enum):
    """How close a v4 client is to the topic."""

    AWAY = "it does not know which broker serves the topic"
    KNOWS = "it has looked the topic up, and can connect without asking again"
    PRODUCES = "its producer is attached"
    CONSUMES = "its consumer is attached, and nobody else is served under that subscription"


def attached(state: V4) -> bool:
    """Whether a v4 client has a connection to an old partition."""
    return state in (V4.PRODUCES, V4.CONSUMES)


class OneName(Topic):
    """The regular topic, the record, and what the clients of both generations know of them."""

    partitions = Bound()
    """Of the regular topic, at the beginning; 0 if it is not partitioned."""
    most_partitions = Bound()
    messages = Bound()
    """Of each key, at most."""

    regular = Variable[RegularTopic | None](None)
    served = Variable[bool](True)
    """The brokers let clients use the regular topic."""
    closed = Variable[bool](False)
    """The old partitions are closed to v4 clients; whoever loads one later knows it from the record."""
    fenced_for = Variable[str | None](None)
    """The migration that was last written into the regular topic's metadata."""
    view = Family[str, TopicView | None](CLIENTS, None)
    """What a client's lookup session has told it. [475-LOOKUP-02]"""
    v4 = Family[str, V4](V4_CLIENTS, V4.AWAY)


@start
def a_regular_topic(w: OneName) -> None:
    """The topic is a regular one, with subscriptions that have a cursor on each of its partitions."""
    if w.keys > len(KEY_NAMES):
        raise Misuse(f"there are {len(KEY_NAMES)} keys that show both routings, and not {w.keys}")
    w.record = None
    w.regular = RegularTopic(NAME, w.partitions)
    for place in w.ledger:
        old = place < w.regular.ledger_count
        w.ledger[place] = Ledger.OPEN if old else Ledger.ABSENT
        for subscription in w.subscribed:
            w.subscribed[subscription] = Subscribed.CREATED
            w.cursor[subscription, place] = 0 if old else None


# What the name stands for


def scalable_layout(w: OneName) -> SegmentLayout | None:
    """The layout of the scalable topic, if it exists; a record that only claims the name has none."""
    record = published(w)
    return record.layout if record is not None else None


def claimed_by(w: OneName) -> str | None:
    """Who wrote the record first, as the record says: a migration or a creation."""
    return w.record.claimant if w.record is not None else None


def deleted(w: OneName) -> bool:
    """Whether the record says that the topic is deleted."""
    return w.record is not None and w.record.stage is Stage.DELETED


def old_topic(w: OneName) -> RegularTopic | None:
    """The regular topic, if there is one that brokers serve."""
    return w.regular if w.served else None


def seen(w: OneName) -> TopicView | None:
    """
    What a lookup of the name finds at this moment; not what a topic was made from that is being deleted.

    [475-PUSH-04]
    """
    if deleted(w) and claimed_by(w) != CREATION:
        return None
    try:
        return look_up(NAME, scalable_layout(w), old_topic(w))
    except Refused:
        return None


def tell(w: OneName, client: str, pushed: TopicView | None) -> None:
    """
    An open session tells its client something new, which takes it over unless it holds something later.

    [468-READ-42]
    """
    held = w.view[client]
    require(held is not None and pushed is not None and pushed != held)
    assert held is not None
    assert pushed is not None

    w.view[client] = latest(held, pushed) if w.design.clients_keep_the_latest else pushed


def place_of(w: OneName, layout: SegmentLayout, segment: SegmentInfo) -> int:
    """Where a segment's messages lie: partition K in place K, and the children behind all partitions."""
    if segment.legacy_topic is not None:
        return segment.legacy_topic.partition or 0
    return w.most_partitions + segment.segment_id - sum(s.legacy_topic is not None for s in layout.segments)


def places(w: OneName, layout: SegmentLayout) -> tuple[int, ...]:
    """Where the messages of all segments of a layout lie."""
    return tuple(place_of(w, layout, s) for s in layout.segments)


def partitions_of(regular: RegularTopic | None) -> range:
    """The places of the old partitions."""
    return range(0 if regular is None else regular.ledger_count)


def fenced(w: OneName) -> bool:
    """Whether the regular topic belongs to the migration in the record; a mark of any other is stale."""
    return w.fenced_for is not None and w.fenced_for == claimed_by(w)


def passes_the_guard(w: OneName, client: Client) -> bool:
    """Whether the v4 guard lets a client through to the old topic, now that the name is claimed or not."""
    try:
        guard_v4_lookup(NAME, w.record is not None, client)
    except Refused:
        return False
    return True


# What must hold


@step("475-GOAL-05", "475-GOAL-06", "475-STEP-10")
def once_scalable_always_scalable(w: OneName, after: OneName) -> Iterator[str]:
    """Nothing turns a scalable topic into a regular one again, unless somebody deletes it."""
    if scalable_layout(w) is not None and scalable_layout(after) is None and not deleted(after):
        yield "the topic was scalable and is no longer"


@always("475-ROUTE-01", "475-ROUTE-04")
def old_and_new_never_both_take_writes(w: OneName) -> Iterator[str]:
    """Once the layout is published, no old partition takes a message."""
    open_still = [k for k in partitions_of(w.regular) if w.ledger[k] is Ledger.OPEN]
    if scalable_layout(w) is not None and w.served and open_still:
        yield f"partition {open_still[0]} takes messages beside the children"


@always("468-LAYOUT-01", "475-LAYOUT-01")
def what_a_migration_publishes_is_sound(w: OneName) -> Iterator[str]:
    """Active ranges meet end to end, and edges, ids and epochs are as in every other layout."""
    layout = scalable_layout(w)
    if layout is not None:
        yield from flaws(layout)


@always("475-ROUTE-04", "475-GOAL-02")
def every_child_takes_writes(w: OneName) -> Iterator[str]:
    """Every active segment of a published layout has a topic that takes messages."""
    layout = scalable_layout(w)
    if layout is not None:
        for segment in layout.active:
            if w.ledger[place_of(w, layout, segment)] is not Ledger.OPEN:
                yield f"segment {segment.segment_id} is active and takes no messages"


@step("475-ROUTE-01", segment=SEGMENTS)
def nothing_is_added_to_what_is_terminated(w: OneName, after: OneName, segment: int) -> Iterator[str]:
    """A terminated partition takes no message, and nobody opens it again."""
    if w.ledger[segment] is Ledger.TERMINATED:
        if after.log[segment] != w.log[segment] or after.ledger[segment] is Ledger.OPEN:
            yield f"partition {segment} was terminated and takes messages"
