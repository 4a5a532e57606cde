"""
V5 clients while their topic becomes a scalable one: lookup sessions, and sends and reads across the flip.

The application sees nothing of it. Its producer routes by what the session says, modulo the partition count
before the flip and by hash range after it; its consumer reads the old partitions to their end before it comes
to the children. [475-ROUTE-03, 475-ROUTE-04, 475-HASH-10]
"""

from collections.abc import Iterator

from spec.assignment import assignable
from spec.machine import WEAK, action, always, leads_to, require, sometimes, step
from spec.migration import Client
from spec.protocols.one_name import (
    CLIENTS,
    KEY_NAMES,
    V4,
    OneName,
    partitions_of,
    passes_the_guard,
    place_of,
    places,
    scalable_layout,
    seen,
    tell,
)
from spec.protocols.topic import (
    KEYS,
    SEGMENTS,
    SUBSCRIPTIONS,
    Ledger,
    Subscribed,
    append,
    keys_stay_in_order,
    published,
    receive,
    unread,
)
from spec.routing import route


class V5Clients(OneName):
    """Clients that hold a lookup session, send by what it says, and read what may be read."""


@action("475-PUSH-04", "475-LOOKUP-02", client=CLIENTS)
def open_session(w: V5Clients, client: str) -> None:
    """A client opens its lookup session, or opens it again, and is told what the topic is now."""
    if w.view[client] is None:
        w.view[client] = seen(w)
    else:
        tell(w, client, seen(w))


@action("475-PUSH-01", "475-PUSH-02", "475-HASH-10", client=CLIENTS, fair=WEAK)
def notice_change(w: V5Clients, client: str) -> None:
    """
    A session watches the record, also where there is none, and the partition count, and pushes what it finds.

    [475-READ-39, 475-READ-27]
    """
    design = w.design
    scalable = scalable_layout(w) is not None
    require(design.migration_is_watched if scalable else design.sessions_follow_the_partition_count)

    tell(w, client, seen(w))


@action("475-ROUTE-04", "475-HASH-10", client=CLIENTS, key=KEYS)
def send(w: V5Clients, client: str, key: int) -> None:
    """
    A V5 producer sends a message by the layout that it knows, and the segment acknowledges it.

    A child that nobody created comes to be with its first producer, and has no cursors then. [475-READ-16]
    """
    view = w.view[client]
    require(view is not None)
    assert view is not None
    place = place_of(w, view.layout, route(view, KEY_NAMES[key]))
    require(w.sent[key] < w.messages)
    absent = w.ledger[place] is Ledger.ABSENT and place >= w.most_partitions
    if absent and w.design.segments_open_only_where_listed:
        record = published(w)
        require(record is not None and place in places(w, record.layout))
    require(absent or w.ledger[place] is Ledger.OPEN)

    w.ledger[place] = Ledger.OPEN
    append(w, place, key)


@action(
    "475-ROUTE-01", "475-ROUTE-02", "475-WIRE-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS, fair=WEAK
)
def read(w: V5Clients, subscription: str, segment: int) -> None:
    """
    A V5 consumer receives and acknowledges the next message of a segment that its subscription may read.

    The old partitions keep their names, so that a guard which cannot tell V5 connections from v4 ones stops
    it, and so does a v4 consumer that is served already. [475-READ-43]
    """
    require(unread(w, subscription, segment))
    require(segment in readable(w, subscription))
    if segment < w.most_partitions:
        client = Client.V5 if w.design.v5_connections_are_marked else Client.V4
        require(passes_the_guard(w, client))
        require(V4.CONSUMES not in tuple(w.v4.values()))

    receive(w, subscription, segment)


def readable(w: V5Clients, subscription: str) -> tuple[int, ...]:
    """
    The places that a subscription's consumers may read: parents before children.

    As written nothing ends a parent, so that drained can only mean an empty backlog. [475-READ-14]
    """
    view = seen(w)
    if view is None:
        return ()
    layout = view.layout
    drained = frozenset(
        s.segment_id
        for s in layout.segments
        if not s.active and _drained(w, subscription, place_of(w, layout, s))
    )
    return tuple(place_of(w, layout, s) for s in assignable(layout, drained, w.design))


def _drained(w: V5Clients, subscription: str, place: int) -> bool:
    ended = w.ledger[place] is not Ledger.OPEN or not w.design.migration_seals_first
    return ended and not unread(w, subscription, place)


# What must hold


@step("475-LOOKUP-11", "475-GOAL-06", client=CLIENTS)
def sessions_never_go_back(w: V5Clients, after: V5Clients, client: str) -> Iterator[str]:
    """A client that has seen the real layout never sees a synthetic one again."""
    held, taken = w.view[client], after.view[client]
    if held is not None and not held.synthetic and (taken is None or taken.synthetic):
        yield f"{client} knew the real layout and holds a synthetic one"


@leads_to("475-PUSH-01", "475-PUSH-02", client=CLIENTS)
def every_session_sees_the_real_layout(w: V5Clients, client: str) -> tuple[object, object]:
    """A session that was open before the flip shows the real layout in the end."""
    view = w.view[client]
    behind = scalable_layout(w) is not None and view is not None and view.synthetic
    return behind, not behind


@always("475-GOAL-01", "475-ROUTE-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def no_subscription_loses_a_message(w: V5Clients, subscription: str, segment: int) -> Iterator[str]:
    """What was acknowledged after a subscription was created is kept for it where it can be read."""
    log = w.log[segment]
    if not log or w.subscribed[subscription] is not Subscribed.CREATED:
        return
    position = w.cursor[subscription, segment]
    owed = [message for message in log[position or 0 :] if subscription in message.owed]
    if not owed:
        return

    view = seen(w)
    if position is None:
        yield f"message {owed[0]} was acknowledged in place {segment}, which has no cursor for it"
    elif view is None or segment not in places(w, view.layout):
        yield f"message {owed[0]} was acknowledged in place {segment}, which no lookup leads to"


@always("475-GOAL-07", "475-ROUTE-03", subscription=SUBSCRIPTIONS, key=KEYS)
def keys_stay_in_order_across_the_flip(w: V5Clients, subscription: str, key: int) -> Iterator[str]:
    """A subscription receives the messages of a key in the order in which they were acknowledged."""
    yield from keys_stay_in_order.body(w, subscription, key)


@step("475-GOAL-03", "475-GOAL-04", "475-LAYOUT-11", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def ledgers_and_cursors_stay(
    w: V5Clients, after: V5Clients, subscription: str, segment: int
) -> Iterator[str]:
    """No message is moved, and a cursor only moves because its subscription received something."""
    if after.log[segment][: len(w.log[segment])] != w.log[segment]:
        yield f"place {segment} lost or changed a message"
    if after.subscribed[subscription] is not Subscribed.CREATED:
        return
    had, has = w.cursor[subscription, segment], after.cursor[subscription, segment]
    received = any(w.received[subscription, key] != after.received[subscription, key] for key in w.sent)
    if had is not None and has != had and (has is None or not received):
        yield f"the cursor of {subscription} in place {segment} went from {had} to {has}"


@always("475-HASH-10", key=KEYS)
def a_key_has_one_partition(w: V5Clients, key: int) -> Iterator[str]:
    """Whoever sends it, a key's messages are in one old partition."""
    used = [k for k in partitions_of(w.regular) if any(message.key == key for message in w.log[k])]
    if len(used) > 1:
        yield f"key {key} was sent to the partitions {used[0]} and {used[1]}"


@leads_to("475-ROUTE-01", "475-GOAL-01", "475-WIRE-03", subscription=SUBSCRIPTIONS)
def migrated_topics_are_drained(w: V5Clients, subscription: str) -> tuple[object, object]:
    """Once a topic is scalable, a subscription receives whatever its old partitions still hold."""
    if scalable_layout(w) is None:
        return False, True
    backlog = any(unread(w, subscription, k) for k in partitions_of(w.regular))
    return backlog, not backlog


@sometimes("475-ROUTE-04")
def a_child_is_written_while_its_parents_drain(w: V5Clients) -> object:
    """A message waits in a child while an older one waits in an old partition."""
    waiting = [k for s in w.subscribed for k in w.ledger if unread(w, s, k)]
    return min(waiting, default=w.most_partitions) < w.most_partitions <= max(waiting, default=0)


@sometimes("475-ROUTE-03", subscription=SUBSCRIPTIONS)
def a_subscription_reads_across_the_flip(w: V5Clients, subscription: str) -> object:
    """A subscription has received messages of an old partition and then of a child."""
    return any(w.cursor[subscription, k] for k in partitions_of(w.regular)) and any(
        w.cursor[subscription, k] for k in w.ledger if k >= w.most_partitions
    )
