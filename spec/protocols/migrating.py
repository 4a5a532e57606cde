"""
A regular topic becomes a scalable one: the operator's command, step by step, while clients of both
generations go on.

The text has the broker lock, check, build a layout, write it, push it and release the lock. The design has
the record written three times. The first write claims the name, so that the partition count can be fixed. The
second one says what the layout will be: this is the commit point, and any broker finishes what stands there.
Then v4 clients are closed, the old partitions are terminated, and the children get a topic and a cursor for
every subscription. The last write publishes the layout. [475-STEP-02, 475-READ-13, 475-READ-15]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from spec.assignment import assignable
from spec.design import Design
from spec.immutable import Misuse
from spec.layout import SegmentInfo, SegmentLayout, layout_of
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    always,
    choose,
    forget,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.migration import (
    CONFLICT,
    NO_CONTENT,
    NOT_FOUND,
    STATUS,
    Client,
    RegularTopic,
    guard_v4_lookup,
    look_up,
    migrated_layout,
    precheck,
)
from spec.names import RegularName
from spec.protocols.topic import (
    BROKERS,
    KEYS,
    SEGMENTS,
    SUBSCRIPTIONS,
    Announced,
    Ledger,
    Record,
    Subscribed,
    Topic,
    append,
    receive,
    unread,
)
from spec.refusals import Refused
from spec.routing import TopicView, latest, route

COMMANDS = Domain("command", "m")
CLIENTS = Domain("client", "c")
"""V5 clients, each with a lookup session and a producer."""
V4_CLIENTS = Domain("v4_client", "v")

NAME = RegularName("t", "n", "x")
KEY_NAMES = ("b", "3")
"""Keys that two partitions route one way and two ranges the other way; there are two. [475-HASH-07]"""

NOTHING_YET = layout_of(0, 0, ())
"""The layout in a record that claims the name and has yet to say for what."""

CREATION = "creation"
DELETION = "deletion"
"""Who else than a migration can stand in the record as its writer."""

FAILED = 500
"""What an operator is told when the broker does not know what became of a write."""
RUNNING = 100
GONE = 0
"""How it is with an operator who waits for the answer, and with one whose broker has crashed."""


class Step(Enum):
    """What a broker that migrates a topic does next."""

    CHECK = "see whether the topic may be migrated"
    ANNOUNCE = "claim the name by a record without segments"
    FENCE = "write to the regular topic's metadata, so that no operation that was under way succeeds"
    CONFIRM = "write into the record what the layout will be"
    CLOSE = "close the v4 connections"
    SEAL = "terminate the old partitions"
    DISCOVER = "ask the old partitions for their subscriptions"
    CREATE = "create the children, each with a cursor for each subscription"
    PUBLISH = "write the layout"
    RELEASE = "release the lock and answer"


def plan(design: Design) -> tuple[Step, ...]:
    """The steps that a design takes, in their order; as written there is little between check and flip."""
    taken = {
        Step.CHECK: True,
        Step.ANNOUNCE: design.migration_is_announced,
        Step.FENCE: design.migration_fences_the_regular_topic,
        Step.CONFIRM: design.migration_is_announced,
        Step.CLOSE: design.migration_closes_v4,
        Step.SEAL: design.migration_seals_first,
        Step.DISCOVER: design.migration_makes_children,
        Step.CREATE: design.migration_makes_children,
        Step.PUBLISH: True,
        Step.RELEASE: True,
    }
    steps = [one for one, wanted in taken.items() if wanted]
    if not design.migration_discovers_after_sealing and Step.SEAL in steps and Step.DISCOVER in steps:
        steps.remove(Step.DISCOVER)
        steps.insert(steps.index(Step.SEAL), Step.DISCOVER)
    return tuple(steps)


@dataclass(frozen=True, slots=True)
class Work:
    """A migration that a broker is about: its next step, and what it has found out."""

    step: Step
    claim: str
    """The command that began the migration, as it stands in the record."""
    asked: bool = True
    """An operator waits for the answer; not where a broker finishes what another one began."""
    topic: RegularTopic | None = None
    """The topic as it was when its partitions were counted."""
    subscriptions: tuple[str, ...] = ()
    done: int = 0
    """How many partitions, or children, this step has dealt with."""
    unsure: bool = False
    """Its last write was not answered."""

    def __str__(self) -> str:
        return f"{self.step.name.lower()} for {self.claim}" + ("" if self.asked else ", begun by another")


class V4(Enum):
    """How close a v4 client is to the topic."""

    AWAY = "it does not know which broker serves the topic"
    KNOWS = "it has looked the topic up, and can connect without asking again"
    PRODUCES = "its producer is attached"
    CONSUMES = "its consumer is attached, and nobody else is served under that subscription"


class Migrating(Topic):
    """One name: the regular topic, the record, the brokers that migrate, and the V5 clients."""

    partitions = Bound()
    """Of the regular topic, at the beginning; 0 if it is not partitioned."""
    most_partitions = Bound()
    largest_record = Bound()
    """How many partitions a topic can have for its layout to fit into one value of the store."""
    messages = Bound()
    crashes = Bound()

    crashes_left = Variable[int](0)
    regular = Variable[RegularTopic | None](None)
    served = Variable[bool](True)
    """The brokers let clients use the regular topic."""
    closed = Variable[bool](False)
    """The old partitions are closed to v4 clients; whoever loads one later knows it from the record."""
    fenced_for = Variable[str | None](None)
    """The migration that was last written into the regular topic's metadata."""
    claimed_by = Variable[str | None](None)
    """Who wrote the record first, as the record says: a command, a creation or a deletion."""
    migration_lock = Variable[str | None](None)
    """The broker that holds the lock, a node that is removed at the end or with the broker's session."""
    work = Memory[str, Work | None](BROKERS, None)
    told = Family[str, int | None](COMMANDS, None)
    """What the operator was told; nothing before the command is given."""
    view = Family[str, TopicView | None](CLIENTS, None)
    """What a client's lookup session has told it. [475-LOOKUP-02]"""
    v4 = Family[str, V4](V4_CLIENTS, V4.AWAY)


@start
def a_regular_topic(w: Migrating) -> None:
    """The topic is a regular one, with subscriptions that have a cursor on each of its partitions."""
    if w.keys > len(KEY_NAMES):
        raise Misuse(f"there are {len(KEY_NAMES)} keys that show both routings, and not {w.keys}")
    w.crashes_left = w.crashes
    w.record = None
    w.regular = RegularTopic(NAME, w.partitions)
    for place in w.ledger:
        old = place < w.regular.ledger_count
        w.ledger[place] = Ledger.OPEN if old else Ledger.ABSENT
        for subscription in w.subscribed:
            w.subscribed[subscription] = Subscribed.CREATED
            w.cursor[subscription, place] = 0 if old else None


def scalable_layout(w: Migrating) -> SegmentLayout | None:
    """The layout of the scalable topic, once there is one; a record that only claims the name has none."""
    return w.record.layout if w.record is not None and w.record.layout.segments else None


def old_topic(w: Migrating) -> RegularTopic | None:
    """The regular topic, if there is one that brokers serve."""
    return w.regular if w.served else None


def seen(w: Migrating) -> TopicView | None:
    """What a lookup of the name finds at this moment. [475-PUSH-04]"""
    if w.claimed_by == DELETION:
        return None
    try:
        return look_up(NAME, scalable_layout(w), old_topic(w))
    except Refused:
        return None


def place_of(w: Migrating, layout: SegmentLayout, segment: SegmentInfo) -> int:
    """Where a segment's messages lie: partition K in place K, and the children behind all partitions."""
    if segment.legacy_topic is not None:
        return segment.legacy_topic.partition or 0
    return w.most_partitions + segment.segment_id - sum(s.legacy_topic is not None for s in layout.segments)


def places(w: Migrating, layout: SegmentLayout) -> tuple[int, ...]:
    """Where the messages of all segments of a layout lie."""
    return tuple(place_of(w, layout, s) for s in layout.segments)


def active_places(w: Migrating, view: TopicView) -> tuple[int, ...]:
    return tuple(place_of(w, view.layout, s) for s in view.layout.active)


def partitions_of(regular: RegularTopic | None) -> range:
    """The places of the old partitions."""
    return range(0 if regular is None else regular.ledger_count)


def passes_the_guard(w: Migrating, client: Client) -> bool:
    """Whether the v4 guard lets a client through to the old topic, now that the name is claimed or not."""
    try:
        guard_v4_lookup(NAME, w.record is not None, client)
    except Refused:
        return False
    return True


# The command, step by step


@action("475-STEP-01", "475-STEP-03", "475-STEP-04", "475-GOAL-09", broker=BROKERS, command=COMMANDS)
def begin_migration(w: Migrating, broker: str, command: str) -> None:
    """Step 1: an operator's command makes the owning broker take the lock, if nobody has it."""
    require(w.told[command] is None)
    require(w.work[broker] is None)
    require(w.migration_lock is None)

    w.told[command] = RUNNING
    w.migration_lock = broker
    w.work[broker] = Work(Step.CHECK, command)


@action("475-STEP-02", "475-CHECK-01", "475-CHECK-03", "475-CHECK-04", broker=BROKERS, fair=WEAK)
def check(w: Migrating, broker: str) -> None:
    """
    Step 2: refuse what cannot be migrated: no topic, a scalable one, one with v4 clients.

    The count of connections holds for this moment only. Where connections have no mark, those of V5 clients
    count as well. [475-READ-30, 475-READ-31]
    """
    work = _at(w, broker, Step.CHECK)

    connections = sum(attached(state) for state in w.v4.values())
    if not w.design.v5_connections_are_marked:
        connections += sum(view is not None for view in w.view.values())
    topic = old_topic(w)
    if topic is not None:
        topic = replace(topic, v4_connections=connections)
    try:
        found = precheck(topic, scalable=w.record is not None)
    except Refused as refused:
        _finish(w, broker, work, STATUS[refused.reason])
    else:
        _go_on(w, broker, topic=found)


@action("475-STEP-05", broker=BROKERS, fair=WEAK)
def announce(w: Migrating, broker: str) -> None:
    """Claim the name by a record without segments, if there is no record."""
    work = _at(w, broker, Step.ANNOUNCE)

    _commit(w, broker, work, NOTHING_YET)


@action("475-STEP-04", broker=BROKERS, fair=WEAK)
def fence_the_regular_topic(w: Migrating, broker: str) -> None:
    """
    Write the migration into the regular topic's metadata, and read how many partitions it has.

    Whoever began to add a partition or to delete the topic before the name was claimed fails from now on.
    """
    work = _at(w, broker, Step.FENCE)

    if w.design.migration_is_announced and not _stands(w, work):
        _finish(w, broker, work, CONFLICT)
        return
    topic = old_topic(w)
    if topic is not None:
        w.fenced_for = work.claim
    _go_on(w, broker, topic=topic)


@action("475-STEP-06", "475-STEP-09", broker=BROKERS, fair=WEAK)
def confirm(w: Migrating, broker: str) -> None:
    """
    Write into the record what the layout will be: the commit point.

    Before it nothing has been touched, and where the topic was deleted, or its layout is more than the store
    takes, the claim is withdrawn. After it the topic becomes scalable, whoever crashes. [475-READ-56]
    """
    work = _at(w, broker, Step.CONFIRM)

    if not _stands(w, work):
        _finish(w, broker, work, CONFLICT)
    elif confirmed(w):
        _go_on(w, broker)
    elif work.topic is None:
        _withdraw(w, broker, work, NOT_FOUND)
    elif work.topic.ledger_count > w.largest_record:
        _withdraw(w, broker, work, CONFLICT)
    else:
        assert w.record is not None
        old = tuple(partitions_of(work.topic))
        w.record = w.record.written(announced=Announced(old, migrated_layout(_counted(work))))
        _go_on(w, broker)


def confirmed(w: Migrating) -> bool:
    """Whether the record says what the layout will be, or what it is."""
    record = w.record
    return record is not None and (record.announced is not None or record.layout != NOTHING_YET)


def fenced(w: Migrating) -> bool:
    """Whether the regular topic belongs to the migration in the record; a mark of any other is stale."""
    return w.fenced_for is not None and w.fenced_for == w.claimed_by


def _stands(w: Migrating, work: Work) -> bool:
    """Whether the record is still the one of this migration."""
    return w.record is not None and w.claimed_by == work.claim


def _withdraw(w: Migrating, broker: str, work: Work, status: int) -> None:
    """Remove the claim: the name is what it was."""
    w.record = w.claimed_by = None
    _finish(w, broker, work, status)


@action("475-GUARD-01", broker=BROKERS, fair=WEAK)
def close_v4_clients(w: Migrating, broker: str) -> None:
    """The old partitions close the connections of v4 clients, and from then on take no others."""
    work = _at(w, broker, Step.CLOSE)

    if _refused_as_late(w, work):
        _finish(w, broker, work, CONFLICT)
        return
    w.closed = True
    for client, state in w.v4.items():
        if attached(state):
            w.v4[client] = V4.KNOWS
    _go_on(w, broker)


@action("475-ROUTE-01", "475-LAYOUT-11", broker=BROKERS, fair=WEAK)
def seal_partition(w: Migrating, broker: str) -> None:
    """Terminate the next old partition, so that it can be drained for good."""
    work = _at(w, broker, Step.SEAL)

    if _refused_as_late(w, work):
        _finish(w, broker, work, CONFLICT)
    else:
        w.ledger[work.done] = Ledger.TERMINATED
        _next_of(w, broker, work)


def _refused_as_late(w: Migrating, work: Work) -> bool:
    """
    Whether an old partition refuses a step, because its topic is not the one that the migration has marked.

    A topic of the same name that was created since has no mark in its metadata, which its owner need not ask
    the record for.
    """
    marked = w.design.migration_fences_the_regular_topic and w.design.late_steps_are_refused
    return marked and w.fenced_for != work.claim


@action("475-GOAL-01", broker=BROKERS, fair=WEAK)
def discover_subscriptions(w: Migrating, broker: str) -> None:
    """Ask the old partitions for their subscriptions, and take the union."""
    work = _at(w, broker, Step.DISCOVER)

    old = partitions_of(work.topic)
    held = tuple(s for s in w.subscribed if any(w.cursor[s, k] is not None for k in old))
    _go_on(w, broker, subscriptions=held)


@action("475-ROUTE-04", broker=BROKERS, fair=WEAK)
def create_child(w: Migrating, broker: str) -> None:
    """
    Create the next child's topic with a cursor at its beginning for each subscription.

    A broker that comes late, after another one has published, would bring back what was deleted since; the
    design has the child refuse it, because the record says that the migration is over.
    """
    work = _at(w, broker, Step.CREATE)

    over = w.design.migration_is_announced and (not _stands(w, work) or scalable_layout(w) is not None)
    if not (over and w.design.late_steps_are_refused):
        child = w.most_partitions + work.done
        w.ledger[child] = Ledger.OPEN
        for subscription in work.subscriptions:
            if w.cursor[subscription, child] is None:
                w.cursor[subscription, child] = 0
    _next_of(w, broker, work)


@action("475-STEP-02", "475-STEP-05", "475-STEP-06", "475-GOAL-02", broker=BROKERS, fair=WEAK)
def publish(w: Migrating, broker: str) -> None:
    """
    Steps 3 and 4: write the layout that the record has promised, or as written where no record is.

    Who finds it written already, by a broker that went on with the same migration, has nothing to do.
    """
    work = _at(w, broker, Step.PUBLISH)

    if not w.design.migration_is_announced:
        _commit(w, broker, work, migrated_layout(_counted(work)))
        return
    if w.record is not None and w.record.announced is not None:
        w.record = w.record.written(layout=w.record.announced.after, announced=None)
    _go_on(w, broker)


@action("475-PUSH-02", "475-PUSH-03", broker=BROKERS, client=CLIENTS)
def push_layout(w: Migrating, broker: str, client: str) -> None:
    """Step 5: push the layout on an open session; each push is an attempt that may never be made."""
    _at(w, broker, Step.RELEASE)

    tell(w, client, seen(w))


@action("475-STEP-08", broker=BROKERS, fair=WEAK)
def release_lock(w: Migrating, broker: str) -> None:
    """Step 6: release the lock and tell the operator that it is done."""
    work = _at(w, broker, Step.RELEASE)

    _finish(w, broker, work, NO_CONTENT)


@action("475-STEP-10", broker=BROKERS, fair=WEAK)
def finish_migration(w: Migrating, broker: str) -> None:
    """A broker that finds a migration announced, and nobody at it, goes on from there."""
    require(w.design.brokers_finish_migrations)
    claim = w.claimed_by
    require(claim in w.told and scalable_layout(w) is None)
    assert claim is not None
    require(w.work[broker] is None)
    require(w.migration_lock is None)

    w.migration_lock = broker
    w.work[broker] = Work(Step.ANNOUNCE, claim, asked=False, topic=w.regular)
    _go_on(w, broker)


def attached(state: V4) -> bool:
    """Whether a v4 client has a connection to an old partition."""
    return state in (V4.PRODUCES, V4.CONSUMES)


def _at(w: Migrating, broker: str, step: Step) -> Work:
    """What a broker is about, if this is its next step and its last write was answered."""
    work = w.work[broker]
    require(work is not None and work.step is step and not work.unsure)
    assert work is not None
    return work


def _go_on(w: Migrating, broker: str, **found: object) -> None:
    """Turn to the next step, with what was found out."""
    work = w.work[broker]
    assert work is not None
    steps = plan(w.design)
    following = steps[steps.index(work.step) + 1]
    w.work[broker] = replace(work, step=following, done=0, unsure=False, **found)  # type: ignore[arg-type]


def _next_of(w: Migrating, broker: str, work: Work) -> None:
    """Turn to the next partition or child, and after the last one to the next step."""
    if work.done + 1 < _counted(work).ledger_count:
        w.work[broker] = replace(work, done=work.done + 1)
    else:
        _go_on(w, broker)


def _counted(work: Work) -> RegularTopic:
    """The topic as the migration counted its partitions."""
    assert work.topic is not None
    return work.topic


def _commit(w: Migrating, broker: str, work: Work, layout: SegmentLayout) -> None:
    """Write the record if there is none; who finds its own name in it has succeeded already."""
    if w.record is None:
        _claim(w, work, layout)
    if w.claimed_by == work.claim:
        _go_on(w, broker)
    else:
        _finish(w, broker, work, CONFLICT)


def _claim(w: Migrating, work: Work, layout: SegmentLayout) -> None:
    w.record = Record(layout)
    w.claimed_by = work.claim


def _finish(w: Migrating, broker: str, work: Work, status: int) -> None:
    """Be done, one way or the other: answer, and let go of the lock if it is still there."""
    if work.asked:
        w.told[work.claim] = status
    if w.migration_lock == broker:
        _drop_lock(w)
    w.work[broker] = None


def _drop_lock(w: Migrating) -> None:
    """The lock's node is removed, and with it whatever was written into the same node."""
    w.migration_lock = None
    if not w.design.migration_lock_has_its_own_path:
        w.record = w.claimed_by = None


# What breaks


@action("475-STEP-09", "475-STEP-10", broker=BROKERS, fault=True)
def crash(w: Migrating, broker: str) -> None:
    """A broker forgets what it was about; it is up again at once, without its lock."""
    require(w.crashes_left)
    work = w.work[broker]

    w.crashes_left -= 1
    if work is not None and work.asked:
        w.told[work.claim] = GONE
    forget(w, broker)
    if w.migration_lock == broker:
        _drop_lock(w)


# V5 clients


@action("475-PUSH-04", "475-LOOKUP-02", client=CLIENTS)
def open_session(w: Migrating, client: str) -> None:
    """A client opens its lookup session, or opens it again, and is told what the topic is now."""
    if w.view[client] is None:
        w.view[client] = seen(w)
    else:
        tell(w, client, seen(w))


@action("475-PUSH-01", "475-PUSH-02", "475-HASH-10", client=CLIENTS, fair=WEAK)
def notice_change(w: Migrating, client: str) -> None:
    """
    A session watches the record, also where there is none, and the partition count, and pushes what it finds.

    [475-READ-39, 475-READ-27]
    """
    design = w.design
    scalable = scalable_layout(w) is not None
    require(design.migration_is_watched if scalable else design.sessions_follow_the_partition_count)

    tell(w, client, seen(w))


def tell(w: Migrating, client: str, pushed: TopicView | None) -> None:
    """
    An open session tells its client something new, which takes it over unless it holds something later.

    [468-READ-42]
    """
    held = w.view[client]
    require(held is not None and pushed is not None and pushed != held)
    assert held is not None
    assert pushed is not None

    w.view[client] = latest(held, pushed) if w.design.clients_keep_the_latest else pushed


@action("475-ROUTE-04", "475-HASH-10", client=CLIENTS, key=KEYS)
def send(w: Migrating, client: str, key: int) -> None:
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
    require(absent or w.ledger[place] is Ledger.OPEN)

    w.ledger[place] = Ledger.OPEN
    append(w, place, key)


@action(
    "475-ROUTE-01", "475-ROUTE-02", "475-WIRE-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS, fair=WEAK
)
def read(w: Migrating, subscription: str, segment: int) -> None:
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


def readable(w: Migrating, subscription: str) -> tuple[int, ...]:
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


def _drained(w: Migrating, subscription: str, place: int) -> bool:
    ended = w.ledger[place] is not Ledger.OPEN or not w.design.migration_seals_first
    return ended and not unread(w, subscription, place)


# What must hold


@step("475-GOAL-05", "475-GOAL-06", "475-STEP-10")
def once_scalable_always_scalable(w: Migrating, after: Migrating) -> Iterator[str]:
    """Nothing turns a scalable topic into a regular one again."""
    if scalable_layout(w) is not None and scalable_layout(after) is None:
        yield "the topic was scalable and is no longer"


@step("475-LOOKUP-11", "475-GOAL-06", client=CLIENTS)
def sessions_never_go_back(w: Migrating, after: Migrating, client: str) -> Iterator[str]:
    """A client that has seen the real layout never sees a synthetic one again."""
    held, taken = w.view[client], after.view[client]
    if held is not None and not held.synthetic and (taken is None or taken.synthetic):
        yield f"{client} knew the real layout and holds a synthetic one"


@always("475-STEP-09", segment=SEGMENTS)
def nothing_is_touched_before_the_commit(w: Migrating, segment: int) -> Iterator[str]:
    """Until a migration is confirmed, the old partitions take writes, also of v4 clients, and are alone."""
    if not confirmed(w):
        if w.closed:
            yield "v4 clients are shut out, and the topic is a regular one"
        if segment in partitions_of(w.regular) and w.ledger[segment] is not Ledger.OPEN:
            yield f"partition {segment} takes no writes, and the topic is a regular one"
        if segment >= w.most_partitions and w.ledger[segment] is not Ledger.ABSENT:
            yield f"child {segment} exists, and the topic is a regular one"


@always("475-ROUTE-01", "475-ROUTE-04")
def old_and_new_never_both_take_writes(w: Migrating) -> Iterator[str]:
    """Once the layout is published, no old partition takes a message."""
    open_still = [k for k in partitions_of(w.regular) if w.ledger[k] is Ledger.OPEN]
    if scalable_layout(w) is not None and w.served and open_still:
        yield f"partition {open_still[0]} takes messages beside the children"


@always("475-ROUTE-04", "475-GOAL-02")
def every_child_takes_writes(w: Migrating) -> Iterator[str]:
    """Every active segment of a published layout has a topic that takes messages."""
    layout = scalable_layout(w)
    if layout is not None:
        for segment in layout.active:
            if w.ledger[place_of(w, layout, segment)] is not Ledger.OPEN:
                yield f"segment {segment.segment_id} is active and takes no messages"


@always("475-GOAL-01", "475-ROUTE-03", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def no_subscription_loses_a_message(w: Migrating, subscription: str, segment: int) -> Iterator[str]:
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
def keys_stay_in_order_across_the_flip(w: Migrating, subscription: str, key: int) -> Iterator[str]:
    """A subscription receives the messages of a key in the order in which they were acknowledged."""
    got = w.received[subscription, key]
    if list(got) != sorted(got):
        yield f"{subscription} received the messages of key {key} in the order {', '.join(map(str, got))}"


@step("475-GOAL-03", "475-GOAL-04", "475-LAYOUT-11", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def ledgers_and_cursors_stay(
    w: Migrating, after: Migrating, subscription: str, segment: int
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


@step("475-ROUTE-01", segment=SEGMENTS)
def nothing_is_added_to_what_is_terminated(w: Migrating, after: Migrating, segment: int) -> Iterator[str]:
    """A terminated partition takes no message, and nobody opens it again."""
    if w.ledger[segment] is Ledger.TERMINATED:
        if after.log[segment] != w.log[segment] or after.ledger[segment] is Ledger.OPEN:
            yield f"partition {segment} was terminated and takes messages"


@always("475-HASH-10", key=KEYS)
def a_key_has_one_partition(w: Migrating, key: int) -> Iterator[str]:
    """Whoever sends it, a key's messages are in one old partition."""
    used = [k for k in partitions_of(w.regular) if any(message.key == key for message in w.log[k])]
    if len(used) > 1:
        yield f"key {key} was sent to the partitions {used[0]} and {used[1]}"


@always("475-STEP-04", "475-STEP-05")
def one_command_migrates(w: Migrating) -> Iterator[str]:
    """Of all commands one at most is told that it has migrated the topic, and then it has."""
    winners = [command for command, status in w.told.items() if status == NO_CONTENT]
    if len(winners) > 1:
        yield f"{winners[0]} and {winners[1]} were both told that they migrated the topic"
    if winners and scalable_layout(w) is None:
        yield f"{winners[0]} was told that the topic is scalable, and it is not"


@always("475-STEP-06", command=COMMANDS)
def who_migrates_is_not_told_otherwise(w: Migrating, command: str) -> Iterator[str]:
    """A command whose write was the commit is not told that it failed."""
    if w.claimed_by == command and w.told[command] in (CONFLICT, FAILED):
        yield f"{command} migrated the topic and was told {w.told[command]}"


@step("475-STEP-04", "475-STEP-03")
def a_held_lock_keeps_others_out(w: Migrating, after: Migrating) -> Iterator[str]:
    """While one broker holds the lock, no other one begins to migrate."""
    for broker, work in w.work.items():
        if work is None and after.work[broker] is not None and w.migration_lock not in (None, broker):
            yield f"{broker} began to migrate while {w.migration_lock} held the lock"


@leads_to("475-STEP-06", "475-STEP-10")
def what_is_begun_is_finished(w: Migrating) -> tuple[object, object]:
    """A topic that is announced, or has lost a partition to write to, becomes scalable."""
    sealed = any(w.ledger[k] is Ledger.TERMINATED for k in partitions_of(w.regular))
    under_way = (sealed or w.record is not None) and scalable_layout(w) is None
    return under_way, not under_way


@leads_to("475-STEP-02", command=COMMANDS)
def every_command_is_answered(w: Migrating, command: str) -> tuple[object, object]:
    """An operator whose broker does not crash is told how it ended."""
    return w.told[command] == RUNNING, w.told[command] != RUNNING


@step("475-STEP-06", broker=BROKERS)
def what_is_scalable_is_left_alone(w: Migrating, after: Migrating, broker: str) -> Iterator[str]:
    """Nobody sets out to finish a migration that is finished."""
    then = after.work[broker]
    if scalable_layout(w) is not None and w.work[broker] is None and then is not None and not then.asked:
        yield f"{broker} goes on with a migration that was finished"


@leads_to("475-STEP-08", broker=BROKERS)
def every_lock_is_released(w: Migrating, broker: str) -> tuple[object, object]:
    """Who holds the lock lets go of it."""
    return w.migration_lock == broker, w.migration_lock != broker


@leads_to("475-PUSH-01", "475-PUSH-02", client=CLIENTS)
def every_session_sees_the_real_layout(w: Migrating, client: str) -> tuple[object, object]:
    """A session that was open before the flip shows the real layout in the end."""
    view = w.view[client]
    behind = scalable_layout(w) is not None and view is not None and view.synthetic
    return behind, not behind


@leads_to("475-ROUTE-01", "475-GOAL-01", "475-WIRE-03", subscription=SUBSCRIPTIONS)
def migrated_topics_are_drained(w: Migrating, subscription: str) -> tuple[object, object]:
    """Once a topic is scalable, a subscription receives whatever its old partitions still hold."""
    if scalable_layout(w) is None:
        return False, True
    backlog = any(unread(w, subscription, k) for k in partitions_of(w.regular))
    return backlog, not backlog


@sometimes("475-ROUTE-04")
def a_child_is_written_while_its_parents_drain(w: Migrating) -> object:
    """A message waits in a child while an older one waits in an old partition."""
    waiting = [k for s in w.subscribed for k in w.ledger if unread(w, s, k)]
    return min(waiting, default=w.most_partitions) < w.most_partitions <= max(waiting, default=0)


@sometimes("475-ROUTE-03", subscription=SUBSCRIPTIONS)
def a_subscription_reads_across_the_flip(w: Migrating, subscription: str) -> object:
    """A subscription has received messages of an old partition and then of a child."""
    return any(w.cursor[subscription, k] for k in partitions_of(w.regular)) and any(
        w.cursor[subscription, k] for k in w.ledger if k >= w.most_partitions
    )


# A store on which nobody can rely


class UnreliableStore(Migrating):
    """The metadata store ends sessions whose brokers live on, and loses answers."""

    expiries = Bound()
    lost_replies = Bound()

    expiries_left = Variable[int](0)
    replies_left = Variable[int](0)


@start
def nothing_was_lost_yet(w: UnreliableStore) -> None:
    """So far the store has answered everybody."""
    w.expiries_left = w.expiries
    w.replies_left = w.lost_replies


@action("475-STEP-03", fault=True)
def lose_lock(w: UnreliableStore) -> None:
    """The session of the lock's holder expires; the holder goes on and does not notice. [475-READ-37]"""
    require(w.expiries_left)
    require(w.migration_lock is not None)

    w.expiries_left -= 1
    _drop_lock(w)


@action("475-STEP-05", "475-STEP-09", broker=BROKERS, fault=True)
def commit_without_an_answer(w: UnreliableStore, broker: str) -> None:
    """The write that commits is not answered: it took effect, or it did not. [475-READ-38]"""
    require(w.replies_left)
    announced = w.design.migration_is_announced
    work = _at(w, broker, Step.ANNOUNCE if announced else Step.PUBLISH)

    w.replies_left -= 1
    if w.record is None and choose(w, (True, False)):
        _claim(w, work, NOTHING_YET if announced else migrated_layout(_counted(work)))
    w.work[broker] = replace(work, unsure=True)


@action("475-STEP-05", broker=BROKERS, fair=WEAK)
def learn_the_outcome(w: UnreliableStore, broker: str) -> None:
    """
    After a write that was not answered, try again and go by what the record says.

    As written, no answer is a failure, whatever the record says by now.
    """
    work = w.work[broker]
    require(work is not None and work.unsure)
    assert work is not None

    if w.design.lost_replies_are_read_back:
        w.work[broker] = replace(work, unsure=False)
    else:
        _finish(w, broker, work, FAILED)
