"""
Two-phase commit: participants promise, a coordinator decides, participants follow.

Whoever has promised can no longer decide by itself. That is why nobody ends when the coordinator dies at the
wrong moment, which the second world shows.
"""

from collections.abc import Iterator
from enum import Enum

from spec.machine import (
    WEAK,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    final,
    leads_to,
    require,
    sometimes,
    step,
)
from spec.world import Holds, Violated, World

PARTICIPANTS = Domain("participant", "p")


class Stage(Enum):
    """How far a participant has come."""

    WORKING = "it can still refuse"
    PREPARED = "it has promised to commit if it is told to"
    COMMITTED = "its part is durable"
    ABORTED = "its part is undone"


class Decision(Enum):
    """What the coordinator has written down."""

    COMMIT = "all promised"
    ABORT = "not all promised in time"
    NEVER = "it died undecided"


ENDED = (Stage.COMMITTED, Stage.ABORTED)


class Commit(Machine):
    """One transaction of several participants."""

    stage = Family[str, Stage](PARTICIPANTS, Stage.WORKING)
    decision = Variable[Decision | None](None)
    promises = Variable[frozenset[str]](frozenset())
    """The participants whose promise the coordinator has heard."""

    promise = Family[str, bool](PARTICIPANTS, False)
    """Whether a promise is under way to the coordinator."""
    order = Family[str, Decision | None](PARTICIPANTS, None)
    """The decision that is under way to a participant."""


@action("2PC-PREPARE", participant=PARTICIPANTS)
def prepare(w: Commit, participant: str) -> None:
    """A participant promises to commit, and from now on cannot decide by itself."""
    require(w.stage[participant] is Stage.WORKING)

    w.stage[participant] = Stage.PREPARED
    w.promise[participant] = True


@action("2PC-REFUSE", participant=PARTICIPANTS)
def refuse(w: Commit, participant: str) -> None:
    """A participant that has promised nothing aborts by itself."""
    require(w.stage[participant] is Stage.WORKING)

    w.stage[participant] = Stage.ABORTED


@action("2PC-HEAR", participant=PARTICIPANTS, fair=WEAK)
def hear(w: Commit, participant: str) -> None:
    """The coordinator hears a promise."""
    require(w.promise[participant])

    w.promise[participant] = False
    w.promises |= {participant}


@action("2PC-DECIDE", fair=WEAK)
def decide_to_commit(w: Commit) -> None:
    """The coordinator decides to commit once everybody has promised, and tells everybody."""
    require(w.decision is None)
    require(len(w.promises) == len(w.stage))

    announce(w, Decision.COMMIT)


@action("2PC-GIVE-UP", fair=WEAK)
def decide_to_abort(w: Commit) -> None:
    """The coordinator may abort at any time before: it cannot tell a refusal from a slow promise."""
    require(w.decision is None)

    announce(w, Decision.ABORT)


def announce(w: Commit, decision: Decision) -> None:
    """Write the decision down, and send it to everybody."""
    w.decision = decision
    for participant in w.order:
        w.order[participant] = decision


@action("2PC-OBEY", participant=PARTICIPANTS, fair=WEAK)
def obey(w: Commit, participant: str) -> None:
    """A participant does what was decided."""
    order = w.order[participant]
    require(order is not None)

    w.order[participant] = None
    w.stage[participant] = Stage.COMMITTED if order is Decision.COMMIT else Stage.ABORTED


@always("2PC-AGREE")
def all_participants_end_alike(w: Commit) -> Iterator[str]:
    """Nobody aborts what somebody else has committed."""
    ended = {stage: [p for p, s in w.stage.items() if s is stage] for stage in ENDED}
    if all(ended.values()):
        yield f"{ended[Stage.COMMITTED][0]} has committed, {ended[Stage.ABORTED][0]} has aborted"


@step("2PC-DURABLE", participant=PARTICIPANTS)
def an_end_is_an_end(before: Commit, after: Commit, participant: str) -> Iterator[str]:
    """A participant that has committed or aborted never does anything else."""
    was, became = before.stage[participant], after.stage[participant]
    if was in ENDED and became is not was:
        yield f"{participant} was {was.name.lower()} and became {became.name.lower()}"


@step("2PC-ONCE")
def a_decision_is_final(before: Commit, after: Commit) -> Iterator[str]:
    """What is written down is never overwritten."""
    if before.decision not in (None, after.decision):
        yield f"the decision was {before.decision} and became {after.decision}"


@leads_to("2PC-LIVE", participant=PARTICIPANTS)
def whoever_promised_learns_the_end(w: Commit, participant: str) -> tuple[object, object]:
    """A participant does not keep its locks for ever."""
    return w.stage[participant] is Stage.PREPARED, w.stage[participant] in ENDED


@sometimes("2PC-COMMITTED")
def everybody_has_committed(w: Commit) -> object:
    """A transaction can succeed."""
    return all(stage is Stage.COMMITTED for stage in w.stage.values())


@sometimes("2PC-IN-VAIN")
def a_promise_was_in_vain(w: Commit) -> object:
    """A participant keeps its promise, although another one has refused."""
    stages = list(w.stage.values())
    return Stage.PREPARED in stages and Stage.ABORTED in stages


@final("2PC-DONE")
def everybody_has_ended(w: Commit) -> object:
    """The transaction is over when each participant has committed or aborted."""
    return all(stage in ENDED for stage in w.stage.values())


class MortalCoordinator(Commit):
    """The same transaction with a coordinator that may die, for good."""


@action("2PC-DIE", fault=True)
def die(w: MortalCoordinator) -> None:
    """The coordinator dies before it has decided."""
    require(w.decision is None)

    w.decision = Decision.NEVER


WORLDS = (
    World(
        name="two-phase-commit",
        asks="Do all participants of a transaction end alike, and does each of them end?",
        machines=(Commit,),
        bounds={"participants": 3},
        interchangeable=(PARTICIPANTS,),
        expect=Holds(states=415, depth=10),
    ),
    World(
        name="two-phase-commit-without-a-coordinator",
        asks="Can participants end a transaction whose coordinator has died?",
        machines=(Commit, MortalCoordinator),
        bounds={"participants": 3},
        interchangeable=(PARTICIPANTS,),
        expect=Violated("no_deadlock", steps=5),
    ),
)
