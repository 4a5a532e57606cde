"""
What the records of a transaction cannot tell: questions about an entry and about an acknowledgement, and for
each way to keep records whether any rule at all answers them.

Everything else is repaired in all of them, so that nothing but what is kept can be to blame. An entry and its
reader are chosen; that the reader is still before the entry stands for one that lags, and for a subscription
that is created later and begins at the earliest message.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from models.indistinguishable import Answer, Demand, look_for_two
from models.worlds.acks_follow_their_transaction import FOLLOWING
from models.worlds.only_committed_data_is_read import ONLY_COMMITTED_DATA_IS_READ
from spec.design import HARDENED, Design, Sweep, Unknown
from spec.protocols.applying_acks import ApplyingAcks
from spec.protocols.dispatching import Dispatching
from spec.protocols.pending_acks import positions_of
from spec.transactions import TxnState
from spec.world import World

GHOSTS = {
    "outcome": "what was decided, also when the header is gone",
    "answered": "which end the client was told",
    "accepted": "which of its writes the client knows to be part of the transaction",
    "refused": "of which it knows that they are not",
    "to_write": "what clients have yet to write in transactions",
    "plain_left": "and outside of them",
    "sent": "how many messages clients have sent",
    "received": "what consumers have received",
    "subscribed": "what somebody who asked for a subscription knows",
    "to_ack": "what clients have yet to acknowledge in transactions",
    "plain_acks_left": "and outside of them",
    "asked_acks": "which acks were asked for, and what their clients were told",
    "plainly": "what was acknowledged outside of transactions",
    "undated": "what a coordinator has in mind to do",
    "cleared": "the same",
    "moves_left": "a budget of the exploration",
    "stops_left": "another one",
    "lost_sessions_left": "another one",
    "departures_left": "another one",
}
"""The variables that no broker can read, and what they stand for; all others are stored or in memory."""

TRANSACTION, READER, SEGMENT, ENTRY = "t1", "s1", 0, 0

DELIVERED = "the entry must be delivered"
SKIPPED = "the entry must be skipped"
WAITS = "the entry must wait"
CONSUMED = "the message must not be delivered again"
GIVEN_BACK = "the message must be delivered again"
OWED = {TxnState.COMMITTED: DELIVERED, TxnState.ABORTED: SKIPPED, TxnState.OPEN: WAITS}


@dataclass(frozen=True, slots=True)
class Keeping:
    """A way to keep records."""

    name: str
    design: Design
    bounds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody who starts now has to know."""

    name: str
    title: str
    says: str
    demand: Demand
    bounds: Mapping[str, int] = field(default_factory=dict)
    """Those that differ; two states that are found where headers stay are also there where they go."""


def as_it_was_decided(w: Dispatching) -> Iterator[str]:
    """A write that was acknowledged shares the fate of its transaction."""
    transaction = _unread(w)
    if transaction is not None and (SEGMENT, ENTRY) in w.accepted[transaction]:
        outcome = w.outcome[transaction]
        assert outcome is not None
        yield OWED[outcome]


def as_the_client_was_told(w: Dispatching) -> Iterator[str]:
    """Besides, a write that was refused is no part of it."""
    transaction = _unread(w)
    if transaction is not None and (SEGMENT, ENTRY) in w.refused[transaction]:
        yield SKIPPED
    yield from as_it_was_decided(w)


def as_often_as_it_was_sent(w: Dispatching) -> Iterator[str]:
    """Besides, a write that was never answered and sent again is not delivered beside its repetition."""
    transaction = _unread(w)
    if transaction is not None and w.outcome[transaction] is TxnState.COMMITTED:
        answered = w.accepted[transaction] + w.refused[transaction]
        if (SEGMENT, ENTRY) not in answered and w.accepted[transaction]:
            yield SKIPPED
    yield from as_the_client_was_told(w)


def _unread(w: Dispatching) -> str | None:
    """The transaction of the entry, if it is there and its reader has not passed it."""
    log, position = w.log[SEGMENT], w.cursor[READER, SEGMENT]
    return log[ENTRY].transaction if len(log) > ENTRY and position == ENTRY else None


def as_it_was_consumed(w: ApplyingAcks) -> Iterator[str]:
    """A message that an acknowledged ack covers shares the fate of the transaction; else it is given back."""
    covering = [one for one in w.asked_acks[TRANSACTION] if ENTRY in positions_of([one.record])]
    if any(one.accepted for one in covering):
        if w.outcome[TRANSACTION] is not TxnState.OPEN:
            yield CONSUMED if w.outcome[TRANSACTION] is TxnState.COMMITTED else GIVEN_BACK
    elif all(one.accepted is False for one in covering):
        yield GIVEN_BACK


@dataclass(frozen=True, slots=True)
class Chapter:
    """Questions of one kind, and the ways to keep records that matter to them."""

    title: str
    world: World
    keepings: tuple[Keeping, ...]
    questions: tuple[Question, ...]


_FORGETFUL = replace(HARDENED, unknown=Unknown.ABORTED)
_TERSE = replace(HARDENED, cumulative_acks_say_so=False)

ENTRIES = Chapter(
    "Entries",
    ONLY_COMMITTED_DATA_IS_READ.at(subscriptions=1, transactional_writes=1, plain_writes=0, stops=1),
    (
        Keeping("as the text has it", _FORGETFUL),
        Keeping("headers are kept for ever", _FORGETFUL, {"retention": 1}),
        Keeping("what became of each entry is kept with its segment", HARDENED),
    ),
    (
        Question(
            "decided",
            "Was the transaction committed?",
            "A participant has heard of the decision, has deleted its operation records, and has crashed; "
            "the header is gone after retention. The entry bears the id of its transaction and nothing else.",
            as_it_was_decided,
        ),
        Question(
            "told",
            "Was the write part of the transaction?",
            "A write that arrives while its transaction is decided is in the ledger before anybody knows "
            "that it came too late. Its record is withdrawn and the client told so. The record of one that "
            "came in time is deleted as well, when the decision is materialised. So even a header that is "
            "kept for ever, and says `COMMITTED`, does not tell what to do with the entry.",
            as_the_client_was_told,
        ),
        Question(
            "repeated",
            "Was the write sent again?",
            "A broker crashes between the record of a write and its answer, and the client sends the "
            "message again. Both entries are recorded, as they are when two different messages were sent. "
            "No way to keep outcomes helps here: this takes producers that number their messages, and "
            "brokers that compare the numbers.",
            as_often_as_it_was_sent,
            {"transactional_writes": 2, "stops": 2, "retention": 1},
        ),
    ),
)

ACKNOWLEDGEMENTS = Chapter(
    "Acknowledgements",
    FOLLOWING.at(owners=1, departures=0, plain_acks=0),
    (
        Keeping("as the text has it", replace(_TERSE, sweep=Sweep.FORCES)),
        Keeping("records stay until the cursor is written down", _TERSE),
        Keeping("and they say whether they are cumulative", HARDENED),
    ),
    (
        Question(
            "consumed",
            "Was the message consumed?",
            "A participant is down when the transaction ends, and retention is over before it is back. The "
            "sweep deletes the records that it finds, although nobody has applied them. After that an ack "
            "that was accepted looks like one that came too late, and a commit like an abort: the cursor is "
            "where it was.",
            as_it_was_consumed,
        ),
        Question(
            "alone",
            "Was the message acknowledged?",
            "An ack of one message and an ack of everything up to it have the same record. After a crash the "
            "next owner of the segment either delivers the messages before it again, although a committed "
            "transaction has consumed them, or takes them for consumed although nobody has.",
            as_it_was_consumed,
            {"backlog": 2, "cumulative_acks": 1},
        ),
    ),
)

CHAPTERS = (ENTRIES, ACKNOWLEDGEMENTS)


def world_of(chapter: Chapter, question: Question, keeping: Keeping) -> World:
    """The world in which a question is asked: one transaction, one reader, and a broker that may crash."""
    return replace(chapter.world.at(**{**question.bounds, **keeping.bounds}), design=keeping.design)


def answer(chapter: Chapter, question: Question, keeping: Keeping) -> Answer:
    """Whether there is a rule, as far as this world can say."""
    return look_for_two(world_of(chapter, question, keeping), GHOSTS, question.demand)
