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

from spec.design import Design
from spec.layout import SegmentLayout
from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Memory,
    Variable,
    action,
    always,
    leads_to,
    require,
    step,
)
from spec.migration import CONFLICT, NO_CONTENT, NOT_FOUND, STATUS, RegularTopic, migrated_layout, precheck
from spec.protocols.one_name import (
    CLIENTS,
    CREATION,
    NOTHING_YET,
    V4,
    OneName,
    attached,
    claimed_by,
    deleted,
    old_topic,
    partitions_of,
    scalable_layout,
    seen,
    tell,
)
from spec.protocols.topic import BROKERS, SEGMENTS, Announced, Ledger, Record, Stage
from spec.refusals import Refused

COMMANDS = Domain("command", "m")
RUNNING = 100
"""How it is with an operator who waits for the answer."""


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

    @property
    def counted(self) -> RegularTopic:
        """The topic, where its partitions have been counted for sure."""
        assert self.topic is not None
        return self.topic

    def __str__(self) -> str:
        return f"{self.step.name.lower()} for {self.claim}" + ("" if self.asked else ", begun by another")


class Migrating(OneName):
    """The brokers that migrate the topic, the lock between them, and the operators who wait."""

    largest_record = Bound()
    """How many partitions a topic can have for its layout to fit into one value of the store."""

    migration_lock = Variable[str | None](None)
    """The broker that holds the lock, a node that is removed at the end or with the broker's session."""
    work = Memory[str, Work | None](BROKERS, None)
    told = Family[str, int | None](COMMANDS, None)
    """What the operator was told; nothing before the command is given."""


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
    work = at_step(w, broker, Step.CHECK)

    connections = sum(attached(state) for state in w.v4.values())
    if not w.design.v5_connections_are_marked:
        connections += sum(view is not None for view in w.view.values())
    topic = old_topic(w)
    if topic is not None:
        topic = replace(topic, v4_connections=connections)
    try:
        found = precheck(topic, scalable=w.record is not None)
    except Refused as refused:
        finish(w, broker, work, STATUS[refused.reason])
    else:
        go_on(w, broker, replace(work, topic=found))


@action("475-STEP-05", broker=BROKERS, fair=WEAK)
def announce(w: Migrating, broker: str) -> None:
    """Claim the name by a record without segments, if there is no record."""
    work = at_step(w, broker, Step.ANNOUNCE)

    _commit(w, broker, work, NOTHING_YET)


@action("475-STEP-04", broker=BROKERS, fair=WEAK)
def fence_the_regular_topic(w: Migrating, broker: str) -> None:
    """
    Write the migration into the regular topic's metadata, and read how many partitions it has.

    Whoever began to add a partition or to delete the topic before the name was claimed fails from now on.
    """
    work = at_step(w, broker, Step.FENCE)

    if w.design.migration_is_announced and not _stands(w, work):
        finish(w, broker, work, CONFLICT)
        return
    topic = old_topic(w)
    if topic is not None:
        w.fenced_for = work.claim
    go_on(w, broker, replace(work, topic=topic))


@action("475-STEP-06", "475-STEP-09", broker=BROKERS, fair=WEAK)
def confirm(w: Migrating, broker: str) -> None:
    """
    Write into the record what the layout will be: the commit point.

    Before it nothing has been touched, and where the topic was deleted, or its layout is more than the store
    takes, the claim is withdrawn. After it the topic becomes scalable, whoever crashes. [475-READ-56]
    """
    work = at_step(w, broker, Step.CONFIRM)

    if not _stands(w, work):
        finish(w, broker, work, CONFLICT)
    elif confirmed(w):
        go_on(w, broker, work)
    elif work.topic is None:
        _withdraw(w, broker, work, NOT_FOUND)
    elif work.topic.ledger_count > w.largest_record:
        _withdraw(w, broker, work, CONFLICT)
    else:
        assert w.record is not None
        old = tuple(partitions_of(work.topic))
        w.record = w.record.written(announced=Announced(old, migrated_layout(work.topic)))
        go_on(w, broker, work)


def confirmed(w: Migrating) -> bool:
    """Whether the record says what the layout will be, or what it is."""
    record = w.record
    return record is not None and (record.announced is not None or record.stage is not Stage.CLAIMED)


def _stands(w: Migrating, work: Work) -> bool:
    """Whether the record is still the one of this migration, whose topic was not deleted since."""
    return claimed_by(w) == work.claim and not deleted(w)


def _withdraw(w: Migrating, broker: str, work: Work, status: int) -> None:
    """Remove the claim: the name is what it was."""
    w.record = None
    finish(w, broker, work, status)


@action("475-GUARD-01", broker=BROKERS, fair=WEAK)
def close_v4_clients(w: Migrating, broker: str) -> None:
    """The old partitions close the connections of v4 clients, and from then on take no others."""
    work = at_step(w, broker, Step.CLOSE)

    if refused_as_late(w, work.claim):
        finish(w, broker, work, CONFLICT)
        return
    w.closed = True
    for client, state in w.v4.items():
        if attached(state):
            w.v4[client] = V4.KNOWS
    go_on(w, broker, work)


@action("475-ROUTE-01", "475-LAYOUT-11", broker=BROKERS, fair=WEAK)
def seal_partition(w: Migrating, broker: str) -> None:
    """Terminate the next old partition, so that it can be drained for good."""
    work = at_step(w, broker, Step.SEAL)

    if refused_as_late(w, work.claim):
        finish(w, broker, work, CONFLICT)
    else:
        w.ledger[work.done] = Ledger.TERMINATED
        _next_of(w, broker, work)


def refused_as_late(w: Migrating, migration: str) -> bool:
    """
    Whether an old partition refuses a step, because its topic is not the one that the migration has marked.

    A topic of the same name that was created since has no mark in its metadata, which its owner need not ask
    the record for.
    """
    marked = w.design.migration_fences_the_regular_topic and w.design.late_steps_are_refused
    return marked and w.fenced_for != migration


@action("475-GOAL-01", broker=BROKERS, fair=WEAK)
def discover_subscriptions(w: Migrating, broker: str) -> None:
    """Ask the old partitions for their subscriptions, and take the union."""
    work = at_step(w, broker, Step.DISCOVER)

    old = partitions_of(work.topic)
    held = tuple(s for s in w.subscribed if any(w.cursor[s, k] is not None for k in old))
    go_on(w, broker, replace(work, subscriptions=held))


@action("475-ROUTE-04", broker=BROKERS, fair=WEAK)
def create_child(w: Migrating, broker: str) -> None:
    """
    Create the next child's topic with a cursor at its beginning for each subscription.

    A broker that comes late, after another one has published, would bring back what was deleted since; the
    design has the child refuse it, because the record says that the migration is over.
    """
    work = at_step(w, broker, Step.CREATE)

    over = w.design.migration_is_announced and (not _stands(w, work) or scalable_layout(w) is not None)
    if not (over and w.design.late_steps_are_refused):
        child = w.most_partitions + work.done
        w.ledger[child] = Ledger.OPEN
        w.born[child] = _incarnation(w, work)
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
    work = at_step(w, broker, Step.PUBLISH)

    if not w.design.migration_is_announced:
        _commit(w, broker, work, migrated_layout(work.counted))
        return
    if w.record is not None and w.record.announced is not None:
        after = w.record.announced.after
        w.record = w.record.written(layout=after, announced=None, stage=Stage.PUBLISHED)
    go_on(w, broker, work)


@action("475-PUSH-02", "475-PUSH-03", broker=BROKERS, client=CLIENTS)
def push_layout(w: Migrating, broker: str, client: str) -> None:
    """Step 5: push the layout on an open session; each push is an attempt that may never be made."""
    at_step(w, broker, Step.RELEASE)

    tell(w, client, seen(w))


@action("475-STEP-08", broker=BROKERS, fair=WEAK)
def release_lock(w: Migrating, broker: str) -> None:
    """Step 6: release the lock and tell the operator that it is done."""
    work = at_step(w, broker, Step.RELEASE)

    finish(w, broker, work, NO_CONTENT)


# What the steps have in common


def at_step(w: Migrating, broker: str, step: Step) -> Work:
    """What a broker is about, if this is its next step and its last write was answered."""
    work = w.work[broker]
    require(work is not None and work.step is step and not work.unsure)
    assert work is not None
    return work


def go_on(w: Migrating, broker: str, work: Work) -> None:
    """Turn to the next step, with what was found out in this one."""
    steps = plan(w.design)
    w.work[broker] = replace(work, step=steps[steps.index(work.step) + 1], done=0)


def _next_of(w: Migrating, broker: str, work: Work) -> None:
    """Turn to the next partition or child, and after the last one to the next step."""
    if work.done + 1 < work.counted.ledger_count:
        w.work[broker] = replace(work, done=work.done + 1)
    else:
        go_on(w, broker, work)


def _commit(w: Migrating, broker: str, work: Work, layout: SegmentLayout) -> None:
    """Write the record if there is none; who finds its own name in it has succeeded already."""
    if w.record is None:
        claim_name(w, work, layout)
    if claimed_by(w) == work.claim:
        go_on(w, broker, work)
    else:
        finish(w, broker, work, CONFLICT)


def claim_name(w: Migrating, work: Work, layout: SegmentLayout) -> None:
    """Write the first record of that name, in the name of a migration."""
    stage = Stage.PUBLISHED if layout.segments else Stage.CLAIMED
    w.record = Record(layout, incarnation=_incarnation(w, work), stage=stage, claimant=work.claim)


def _incarnation(w: Migrating, work: Work) -> int:
    """Each migration makes a topic whose segments have names of their own."""
    return 1 + list(w.told).index(work.claim) if w.design.topics_have_incarnations else 0


def finish(w: Migrating, broker: str, work: Work, status: int) -> None:
    """Be done, one way or the other: answer, and let go of the lock if it is still there."""
    if work.asked:
        w.told[work.claim] = status
    if w.migration_lock == broker:
        drop_lock(w)
    w.work[broker] = None


def drop_lock(w: Migrating) -> None:
    """The lock's node is removed, and with it whatever was written into the same node."""
    w.migration_lock = None
    if not w.design.migration_lock_has_its_own_path:
        w.record = None


# What must hold


@always("475-STEP-09", segment=SEGMENTS)
def nothing_is_touched_before_the_commit(w: Migrating, segment: int) -> Iterator[str]:
    """Until a migration is confirmed, the old partitions take writes, also of v4 clients, and are alone."""
    if not confirmed(w):
        if w.closed:
            yield "v4 clients are shut out, and the topic is a regular one"
        if segment in partitions_of(w.regular) and w.ledger[segment] is not Ledger.OPEN:
            yield f"partition {segment} takes no writes, and the topic is a regular one"
        claimed = claimed_by(w) == CREATION
        if segment >= w.most_partitions and w.ledger[segment] is not Ledger.ABSENT and not claimed:
            yield f"child {segment} exists, and the topic is a regular one"


@always("475-STEP-04", "475-STEP-05")
def one_command_migrates(w: Migrating) -> Iterator[str]:
    """Of all commands one at most is told that it has migrated the topic, and then it has."""
    winners = [command for command, status in w.told.items() if status == NO_CONTENT]
    if len(winners) > 1:
        yield f"{winners[0]} and {winners[1]} were both told that they migrated the topic"
    if winners and scalable_layout(w) is None:
        yield f"{winners[0]} was told that the topic is scalable, and it is not"


@step("475-STEP-04", "475-STEP-03")
def a_held_lock_keeps_others_out(w: Migrating, after: Migrating) -> Iterator[str]:
    """While one broker holds the lock, no other one begins to migrate."""
    for broker, work in w.work.items():
        if work is None and after.work[broker] is not None and w.migration_lock not in (None, broker):
            yield f"{broker} began to migrate while {w.migration_lock} held the lock"


@leads_to("475-STEP-02", command=COMMANDS)
def every_command_is_answered(w: Migrating, command: str) -> tuple[object, object]:
    """An operator whose broker does not crash is told how it ended."""
    return w.told[command] == RUNNING, w.told[command] != RUNNING


@leads_to("475-STEP-08", broker=BROKERS)
def every_lock_is_released(w: Migrating, broker: str) -> tuple[object, object]:
    """Who holds the lock lets go of it."""
    return w.migration_lock == broker, w.migration_lock != broker
