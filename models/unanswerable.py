"""
What the records of a transaction cannot tell: three questions about an entry, and for each way to keep
records whether any rule at all answers it.

Everything else is repaired in all of them, so that nothing but what is kept can be to blame. An entry and its
reader are chosen; that the reader is still before the entry stands for one that lags, and for a subscription
that is created later and begins at the earliest message.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from models.indistinguishable import Answer, Demand, look_for_two
from models.worlds.only_committed_data_is_read import ONLY_COMMITTED_DATA_IS_READ
from spec.design import HARDENED, Design, Unknown
from spec.protocols.dispatching import Dispatching
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
    "undated": "what a coordinator has in mind to do",
    "cleared": "the same",
    "moves_left": "a budget of the exploration",
    "stops_left": "another one",
    "lost_sessions_left": "another one",
}
"""The variables that no broker can read, and what they stand for; all others are stored or in memory."""

READER, SEGMENT, ENTRY = "s1", 0, 0

DELIVERED = "the entry must be delivered"
SKIPPED = "the entry must be skipped"
WAITS = "the entry must wait"
OWED = {TxnState.COMMITTED: DELIVERED, TxnState.ABORTED: SKIPPED, TxnState.OPEN: WAITS}


@dataclass(frozen=True, slots=True)
class Keeping:
    """A way to keep records."""

    name: str
    design: Design
    bounds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody who starts now has to know about the entry."""

    name: str
    title: str
    says: str
    demand: Demand
    bounds: Mapping[str, int] = field(default_factory=dict)


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


_TEXT = replace(HARDENED, unknown=Unknown.ABORTED)

KEEPINGS = (
    Keeping("as the text has it", _TEXT),
    Keeping("headers are kept for ever", _TEXT, {"retention": 1}),
    Keeping("what became of each entry is kept with its segment", HARDENED),
)

QUESTIONS = (
    Question(
        "decided",
        "Was the transaction committed?",
        "A participant has heard of the decision, has deleted its operation records, and has crashed; the "
        "header is gone after retention. The entry bears the id of its transaction and nothing else.",
        as_it_was_decided,
    ),
    Question(
        "told",
        "Was the write part of the transaction?",
        "A write that arrives while its transaction is decided is in the ledger before anybody knows that it "
        "came too late. Its record is withdrawn and the client told so. The record of one that came in time "
        "is deleted as well, when the decision is materialised. So even a header that is kept for ever, and "
        "says `COMMITTED`, does not tell what to do with the entry.",
        as_the_client_was_told,
    ),
    Question(
        "repeated",
        "Was the write sent again?",
        "A broker crashes between the record of a write and its answer, and the client sends the message "
        "again. Both entries are recorded, as they are when two different messages were sent. "
        "No way to keep outcomes helps here: this takes producers that number their messages, and brokers "
        "that compare the numbers.",
        as_often_as_it_was_sent,
        {"transactional_writes": 2, "stops": 2},
    ),
)


def world_of(question: Question, keeping: Keeping) -> World:
    """The world in which a question is asked: one transaction, one reader, and a broker that may crash."""
    smallest = ONLY_COMMITTED_DATA_IS_READ.at(subscriptions=1, plain_writes=0, stops=1)
    return replace(smallest.at(**{**question.bounds, **keeping.bounds}), design=keeping.design)


def answer(question: Question, keeping: Keeping) -> Answer:
    """Whether there is a rule, as far as this world can say."""
    return look_for_two(world_of(question, keeping), GHOSTS, question.demand)
