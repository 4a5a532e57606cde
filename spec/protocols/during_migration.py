"""
What can happen while a regular topic becomes a scalable one: subscriptions come and go, v4 clients connect,
partitions are added, and answers arrive late.
"""

from collections.abc import Iterator
from dataclasses import replace

from spec.hashing import partition_of
from spec.machine import (
    WEAK,
    Bound,
    Family,
    Variable,
    action,
    always,
    choose,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.migration import Client
from spec.protocols.migrating import Migrating, Step
from spec.protocols.one_name import (
    CLIENTS,
    KEY_NAMES,
    V4,
    V4_CLIENTS,
    OneName,
    attached,
    fenced,
    partitions_of,
    passes_the_guard,
    place_of,
    places,
    scalable_layout,
    seen,
    tell,
)
from spec.protocols.topic import KEYS, SEGMENTS, SUBSCRIPTIONS, Ledger, Subscribed, append, receive, unread
from spec.routing import TopicView

# Subscriptions


class Subscribing(OneName):
    """Subscriptions that come to be, and go, while the topic is migrated."""

    leaving = Family[str, bool](SUBSCRIPTIONS, False)
    """Somebody has begun to delete the subscription."""


@start
def nobody_subscribes_yet(w: Subscribing) -> None:
    """No subscription exists at the beginning."""
    for subscription, place in w.cursor:
        w.subscribed[subscription] = Subscribed.NOT
        w.cursor[subscription, place] = None


@action("475-LOOKUP-02", "475-GOAL-01", client=CLIENTS, subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def subscribe(w: Subscribing, client: str, subscription: str, segment: int) -> None:
    """
    A V5 consumer subscribes to one more segment of its layout; after the last one it has its subscription.

    A terminated topic takes subscriptions, unless the design freezes those of the old partitions.
    """
    view = w.view[client]
    require(view is not None and segment in _active_places(w, view))
    assert view is not None
    require(w.subscribed[subscription] in (Subscribed.NOT, Subscribed.ASKED) and not w.leaving[subscription])
    require(not _frozen(w, view, segment))

    if w.cursor[subscription, segment] is None:
        w.cursor[subscription, segment] = len(w.log[segment])
    everywhere = all(w.cursor[subscription, k] is not None for k in _active_places(w, view))
    w.subscribed[subscription] = Subscribed.CREATED if everywhere else Subscribed.ASKED


@action("475-LOOKUP-02", client=CLIENTS, subscription=SUBSCRIPTIONS)
def unsubscribe(w: Subscribing, client: str, subscription: str) -> None:
    """A V5 consumer unsubscribes from one more segment of its layout; after the last one all is deleted."""
    view = w.view[client]
    require(view is not None)
    assert view is not None
    held = [k for k in places(w, view.layout) if w.cursor[subscription, k] is not None]

    segment = choose(w, held)
    require(not _frozen(w, view, segment))
    w.cursor[subscription, segment] = None
    w.leaving[subscription] = True
    w.subscribed[subscription] = Subscribed.ASKED if held[1:] else Subscribed.DELETED


def _active_places(w: Subscribing, view: TopicView) -> tuple[int, ...]:
    """Where the messages lie that are sent by this view."""
    return tuple(place_of(w, view.layout, s) for s in view.layout.active)


def _frozen(w: Subscribing, view: TopicView, segment: int) -> bool:
    """Whether a partition that is terminated refuses to gain or lose a subscription under its own name."""
    frozen = w.design.sealed_partitions_freeze_subscriptions and view.synthetic
    return frozen and w.ledger[segment] is Ledger.TERMINATED


@always("475-GOAL-01", subscription=SUBSCRIPTIONS)
def no_cursor_outlives_its_subscription(w: Subscribing, subscription: str) -> Iterator[str]:
    """Of a subscription whose deletion was acknowledged, no segment keeps a cursor."""
    layout = scalable_layout(w)
    if layout is not None and w.subscribed[subscription] is Subscribed.DELETED:
        kept = [k for k in places(w, layout) if w.cursor[subscription, k] is not None]
        if kept:
            yield f"{subscription} was deleted, and place {kept[0]} keeps messages for it"


@sometimes("475-GOAL-01", subscription=SUBSCRIPTIONS)
def a_subscription_is_made_during_the_migration(w: Subscribing, subscription: str) -> object:
    """A subscription exists that was only half there when the topic was announced."""
    made = w.subscribed[subscription] is Subscribed.CREATED
    return (
        made
        and scalable_layout(w) is not None
        and any(w.cursor[subscription, k] is None for k in partitions_of(w.regular))
    )


# v4 clients


class OldClients(Migrating):
    """Clients of the generation before, which know nothing of layouts."""


@action("475-GUARD-01", v4_client=V4_CLIENTS)
def look_up_as_v4(w: OldClients, v4_client: str) -> None:
    """A v4 client asks which broker serves the topic, and remembers it; the guard turns it away."""
    require(w.v4[v4_client] is V4.AWAY)
    require(passes_the_guard(w, Client.V4))

    w.v4[v4_client] = V4.KNOWS


@action("475-GUARD-01", v4_client=V4_CLIENTS, role=(V4.PRODUCES, V4.CONSUMES))
def attach_as_v4(w: OldClients, v4_client: str, role: V4) -> None:
    """
    A v4 client attaches to the old partitions at the broker that it knows, unless they are closed to it.

    As written the guard stands at lookups only. [475-READ-42]
    """
    require(w.v4[v4_client] is V4.KNOWS)
    if w.design.v4_guard_covers_attaching:
        require(not w.closed)

    w.v4[v4_client] = role


@action("475-HASH-10", v4_client=V4_CLIENTS, key=KEYS)
def send_as_v4(w: OldClients, v4_client: str, key: int) -> None:
    """A v4 producer sends a message to the partition that the key's hash gives."""
    require(w.v4[v4_client] is V4.PRODUCES)
    require(w.sent[key] < w.messages)
    assert w.regular is not None
    partition = partition_of(KEY_NAMES[key], w.regular.ledger_count)
    require(w.ledger[partition] is Ledger.OPEN)

    append(w, partition, key)


@action("475-ROUTE-03", v4_client=V4_CLIENTS, subscription=SUBSCRIPTIONS)
def receive_as_v4(w: OldClients, v4_client: str, subscription: str) -> None:
    """A v4 consumer receives and acknowledges the next message of an old partition."""
    require(w.v4[v4_client] is V4.CONSUMES)

    partition = choose(w, [k for k in partitions_of(w.regular) if unread(w, subscription, k)])
    receive(w, subscription, partition)


@action("475-CHECK-01", v4_client=V4_CLIENTS)
def detach_as_v4(w: OldClients, v4_client: str) -> None:
    """A v4 client is closed by its application, which may well be on its way to the V5 SDK."""
    require(attached(w.v4[v4_client]))

    w.v4[v4_client] = V4.KNOWS


@always("475-GUARD-01", "475-GOAL-06", v4_client=V4_CLIENTS)
def no_v4_client_stays_attached(w: OldClients, v4_client: str) -> Iterator[str]:
    """Once the topic is scalable, no v4 client is attached to an old partition."""
    if scalable_layout(w) is not None and attached(w.v4[v4_client]):
        yield f"{v4_client} is attached to an old partition of a scalable topic"


@step("475-GUARD-01", "475-GUARD-04", v4_client=V4_CLIENTS)
def v4_clients_pass_the_guard_first(w: OldClients, after: OldClients, v4_client: str) -> Iterator[str]:
    """A v4 client attaches after a lookup, and no lookup of a name that is claimed succeeds."""
    if w.v4[v4_client] is V4.AWAY and after.v4[v4_client] is not V4.AWAY:
        if w.record is not None:
            yield f"{v4_client} looked up a topic that is migrated"
        if attached(after.v4[v4_client]):
            yield f"{v4_client} attached without a lookup"


@step("475-GUARD-01", segment=SEGMENTS)
def who_writes_is_attached(w: OldClients, after: OldClients, segment: int) -> Iterator[str]:
    """An old partition takes messages of v4 producers that are attached, and of V5 clients that see it."""
    if segment in partitions_of(w.regular) and w.log[segment] != after.log[segment]:
        seeing = any(view is not None and view.synthetic for view in w.view.values())
        if not seeing and V4.PRODUCES not in tuple(w.v4.values()):
            yield f"partition {segment} took a message of a v4 client that is not attached"


@step("475-CHECK-01", v4_client=V4_CLIENTS)
def v4_clients_hold_a_migration_up(w: OldClients, after: OldClients, v4_client: str) -> Iterator[str]:
    """No check succeeds while a v4 client is attached."""
    for broker, work in w.work.items():
        then = after.work[broker]
        checked = work is not None and work.step is Step.CHECK and then is not None and then != work
        if checked and attached(w.v4[v4_client]):
            yield f"{broker} found nobody connected, while {v4_client} was"


@sometimes("475-CHECK-01", v4_client=V4_CLIENTS)
def a_v4_client_comes_after_the_check(w: OldClients, v4_client: str) -> object:
    """A v4 client is attached when the migration is announced."""
    return w.record is not None and attached(w.v4[v4_client])


# Partitions that are added meanwhile


class Growing(Migrating):
    """An operator who adds a partition while another one migrates the topic."""

    growths = Bound()
    growths_left = Variable[int](0)
    growing = Variable[bool](False)
    """A broker has looked at lock and record and is about to raise the partition count."""


@start
def nobody_adds_a_partition_yet(w: Growing) -> None:
    """The partition count is what it was."""
    w.growths_left = w.growths


@action("475-STEP-04")
def ask_for_a_partition(w: Growing) -> None:
    """A broker is asked to add a partition: it looks for a lock and for a record, and finds neither."""
    require(w.growths_left)
    require(w.migration_lock is None)
    require(w.record is None)

    w.growths_left -= 1
    w.growing = True


@action("475-STEP-04", fair=WEAK)
def add_partition(w: Growing) -> None:
    """
    Raise the partition count and create the partition with the cursors of the others; a fence refuses it.

    Between looking and writing there is time for a whole migration. [475-READ-27]
    """
    require(w.growing)

    w.growing = False
    if fenced(w) or w.regular is None:
        return
    added = w.regular.partitions
    w.regular = replace(w.regular, partitions=added + 1)
    w.ledger[added] = Ledger.OPEN
    for subscription in w.subscribed:
        if w.cursor[subscription, 0] is not None:
            w.cursor[subscription, added] = 0


@step("475-STEP-04")
def the_lock_keeps_new_partitions_out(w: Growing, after: Growing) -> Iterator[str]:
    """Nobody begins to add a partition while the lock is held or the name is claimed."""
    if not w.growing and after.growing and (w.migration_lock is not None or w.record is not None):
        yield "somebody began to add a partition during a migration"


@sometimes("475-STEP-04")
def a_partition_was_added_before_the_migration(w: Growing) -> object:
    """The migrated layout has a parent for the partition that was added."""
    layout = scalable_layout(w)
    return layout is not None and layout.has(0) and len(layout.segment(0).child_ids) > w.partitions


@leads_to("475-HASH-10", client=CLIENTS)
def sessions_show_every_partition(w: Growing, client: str) -> tuple[object, object]:
    """A session whose topic was given another partition shows it in the end, or the real layout."""
    view, now = w.view[client], seen(w)
    behind = view is not None and view.synthetic and view != now
    return behind, not behind


# Answers that are overtaken


class LateAnswers(OneName):
    """Answers to lookups that are on their way while the sessions are told something newer."""

    coming = Family[str, TopicView | None](CLIENTS, None)
    """The answer that a broker has put together for a client, and that has not arrived."""


@action("475-PUSH-04", client=CLIENTS)
def answer_lookup(w: LateAnswers, client: str) -> None:
    """A broker reads what the topic is and sends it to a client that opens its session again."""
    require(w.view[client] is not None)

    w.coming[client] = seen(w)


@action("475-LOOKUP-11", client=CLIENTS, fair=WEAK)
def deliver_answer(w: LateAnswers, client: str) -> None:
    """The answer arrives, whatever the client was told meanwhile."""
    answer = w.coming[client]

    w.coming[client] = None
    if answer != w.view[client]:
        tell(w, client, answer)


@sometimes("475-LOOKUP-11", client=CLIENTS)
def an_answer_is_overtaken(w: LateAnswers, client: str) -> object:
    """A client knows the real layout, and a synthetic one is on its way to it."""
    coming, view = w.coming[client], w.view[client]
    return coming is not None and coming.synthetic and view is not None and not view.synthetic
