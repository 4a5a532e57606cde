"""
Migrations that are interrupted: brokers crash, and the store ends sessions and loses answers.

Who is interrupted before the commit has changed nothing. After it the topic becomes scalable, by whichever
broker finds the record that says so. [475-STEP-09, 475-STEP-10]
"""

from collections.abc import Iterator
from dataclasses import replace

from spec.machine import WEAK, Bound, Variable, action, always, choose, forget, leads_to, require, start, step
from spec.migration import CONFLICT, migrated_layout
from spec.protocols.migrating import (
    COMMANDS,
    Migrating,
    Step,
    Work,
    at_step,
    claim_name,
    drop_lock,
    finish,
    go_on,
)
from spec.protocols.one_name import NOTHING_YET, claimed_by, deleted, partitions_of, scalable_layout
from spec.protocols.topic import BROKERS, Ledger

GONE = 0
"""What becomes of the answer when the broker crashes that owes it."""
FAILED = 500
"""What an operator is told when the broker does not know what became of a write."""

# Brokers that crash


class Crashing(Migrating):
    """Brokers that crash in the middle of a migration, and brokers that finish it."""

    crashes = Bound()
    crashes_left = Variable[int](0)


@start
def nobody_has_crashed_yet(w: Crashing) -> None:
    """All brokers are up."""
    w.crashes_left = w.crashes


@action("475-STEP-10", broker=BROKERS, fair=WEAK)
def finish_migration(w: Crashing, broker: str) -> None:
    """A broker that finds a migration announced, and nobody at it, goes on from there."""
    require(w.design.brokers_finish_migrations)
    claim = claimed_by(w)
    require(claim in w.told and scalable_layout(w) is None and not deleted(w))
    assert claim is not None
    require(w.work[broker] is None)
    require(w.migration_lock is None)

    w.migration_lock = broker
    go_on(w, broker, Work(Step.ANNOUNCE, claim, asked=False, topic=w.regular))


@action("475-STEP-09", "475-STEP-10", broker=BROKERS, fault=True)
def crash(w: Crashing, broker: str) -> None:
    """A broker forgets what it was about; it is up again at once, without its lock."""
    require(w.crashes_left)
    work = w.work[broker]

    w.crashes_left -= 1
    if work is not None and work.asked:
        w.told[work.claim] = GONE
    forget(w, broker)
    if w.migration_lock == broker:
        drop_lock(w)


@always("475-STEP-06", command=COMMANDS)
def who_migrates_is_not_told_otherwise(w: Crashing, command: str) -> Iterator[str]:
    """A command whose write was the commit is not told that it failed."""
    if claimed_by(w) == command and w.told[command] in (CONFLICT, FAILED):
        yield f"{command} migrated the topic and was told {w.told[command]}"


@leads_to("475-STEP-06", "475-STEP-10")
def what_is_begun_is_finished(w: Crashing) -> tuple[object, object]:
    """A topic that is announced, or has lost a partition to write to, becomes scalable."""
    sealed = any(w.ledger[k] is Ledger.TERMINATED for k in partitions_of(w.regular))
    under_way = (sealed or w.record is not None) and scalable_layout(w) is None
    return under_way, not under_way


@step("475-STEP-06", broker=BROKERS)
def what_is_scalable_is_left_alone(w: Crashing, after: Crashing, broker: str) -> Iterator[str]:
    """Nobody sets out to finish a migration that is finished, or whose topic is being deleted."""
    then, over = after.work[broker], scalable_layout(w) is not None or deleted(w)
    if over and w.work[broker] is None and then is not None and not then.asked:
        yield f"{broker} goes on with a migration that was finished"


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
    drop_lock(w)


@action("475-STEP-05", "475-STEP-09", broker=BROKERS, fault=True)
def commit_without_an_answer(w: UnreliableStore, broker: str) -> None:
    """The write that commits is not answered: it took effect, or it did not. [475-READ-38]"""
    require(w.replies_left)
    announced = w.design.migration_is_announced
    work = at_step(w, broker, Step.ANNOUNCE if announced else Step.PUBLISH)

    w.replies_left -= 1
    if w.record is None and choose(w, (True, False)):
        claim_name(w, work, NOTHING_YET if announced else migrated_layout(work.counted))
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
        finish(w, broker, work, FAILED)
