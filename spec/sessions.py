"""
Consumer sessions of one subscription: durable membership, and the leader's memory of who is connected.

The name and the assignment are persisted and survive disconnections and leaders. Whether a consumer is
connected, and since when not, lives only in the leader's memory, so that liveness costs the store nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from spec.assignment import ConsumerAssignment, assign, difference
from spec.layout import SegmentInfo
from spec.names import TopicName
from spec.refusals import Reason, Refused


@dataclass(frozen=True, slots=True)
class Session:
    """
    One consumer's session, found by the name that the client chose; its connection is not part of who it is.

    Exactly one of `connection` and `disconnected_at` is set. [468-SESSION-03, 468-READ-32]
    """

    consumer: str
    assignment: ConsumerAssignment
    connection: int | None = None
    disconnected_at: int | None = None

    @property
    def connected(self) -> bool:
        return self.connection is not None

    def __str__(self) -> str:
        since = f"connection {self.connection}" if self.connected else "disconnected"
        return f"{self.consumer} ({since}) has {self.assignment}"


@dataclass(frozen=True, slots=True)
class Subscription:
    """
    The coordinator of one subscription: what there is to assign, and who is there to take it. [468-COORD-01]
    """

    topic: TopicName
    epoch: int
    segments: tuple[SegmentInfo, ...]
    sessions: tuple[Session, ...] = ()

    def session(self, consumer: str) -> Session:
        """The session of that name."""
        for session in self.sessions:
            if session.consumer == consumer:
                return session
        raise Refused(Reason.CONSUMER_UNKNOWN, consumer)

    def has(self, consumer: str) -> bool:
        return any(s.consumer == consumer for s in self.sessions)

    def __str__(self) -> str:
        return "; ".join(map(str, self.sessions)) or "nobody"


def register(subscription: Subscription, consumer: str, connection: int) -> Subscription:
    """
    A new consumer joins and everything is dealt out anew; a known one resumes what it had, disturbing nobody.

    A known consumer that comes on a second connection takes the session over: the first one may be half open,
    and its end will be noticed only later.
    [468-COORD-03, 468-SESSION-07, 468-SESSION-17, 468-SESSION-18, 468-READ-09]
    """
    if subscription.has(consumer):
        session = subscription.session(consumer)
        return _put(subscription, replace(session, connection=connection, disconnected_at=None))

    newcomer = Session(consumer, ConsumerAssignment(subscription.epoch), connection=connection)
    return _rebalance(subscription, (*subscription.sessions, newcomer))


def disconnect(subscription: Subscription, consumer: str, connection: int, now: int) -> Subscription:
    """
    A connection is gone: the session stays and its grace period begins.

    The end of a stale connection is nothing. [468-SESSION-16, 468-READ-09]
    """
    if not subscription.has(consumer):
        return subscription
    session = subscription.session(consumer)
    if session.connection != connection:
        return subscription
    return _put(subscription, replace(session, connection=None, disconnected_at=now))


def unregister(subscription: Subscription, consumer: str) -> Subscription:
    """A consumer leaves for good, and the others take over its segments at once. [468-COORD-04]"""
    gone = subscription.session(consumer)
    return _rebalance(subscription, (s for s in subscription.sessions if s != gone))


def grace_over(disconnected_at: int, grace: int, now: int) -> bool:
    """
    The grace period has run its full length. [468-SESSION-19]

    pre: grace >= 0
    post: implies(now < disconnected_at, not _)
    post: _ == (now >= disconnected_at + grace)
    """
    return now - disconnected_at >= grace


def expired(subscription: Subscription, grace: int, now: int) -> tuple[str, ...]:
    """The consumers whose grace period is over. None of them is connected."""
    return tuple(
        s.consumer
        for s in subscription.sessions
        if s.disconnected_at is not None and grace_over(s.disconnected_at, grace, now)
    )


def evict_expired(subscription: Subscription, grace: int, now: int) -> Subscription:
    """
    The timer fires: sessions past their grace period end, and the others take over their segments.

    [468-SESSION-19, 468-SESSION-23]
    """
    gone = expired(subscription, grace, now)
    if not gone:
        return subscription
    return _rebalance(subscription, (s for s in subscription.sessions if s.consumer not in gone))


def layout_changed(subscription: Subscription, epoch: int, segments: Iterable[SegmentInfo]) -> Subscription:
    """
    After a split, a merge or a drained segment, everything is dealt out anew over what is assignable now.

    All sessions take part, connected or not. [468-COORD-05, 468-READ-38]
    """
    changed = replace(subscription, epoch=epoch, segments=tuple(segments))
    return _rebalance(changed, changed.sessions)


def to_tell(before: Subscription, after: Subscription) -> tuple[Session, ...]:
    """The sessions to which a change is pushed: the connected ones whose segments are no longer the same."""
    changed = {c.consumer for c in difference(persisted(before), persisted(after))}
    return tuple(s for s in after.sessions if s.connected and s.consumer in changed)


def persisted(subscription: Subscription) -> dict[str, ConsumerAssignment]:
    """
    What the store holds: each consumer's name and assignment, and nothing of its connection.

    [468-SESSION-10, 468-SESSION-13]
    """
    return {s.consumer: s.assignment for s in subscription.sessions}


def restore(
    topic: TopicName,
    epoch: int,
    segments: Iterable[SegmentInfo],
    registrations: Mapping[str, ConsumerAssignment],
    now: int,
) -> Subscription:
    """
    A new leader takes every session over as it was, and gives each a full grace period to come back.

    What a leader left half written is mended by dealing out anew (`layout_changed`), which gives back the
    same assignments where nothing was amiss. [468-SESSION-20, 468-SESSION-21, 468-READ-34]
    """
    sessions = (Session(name, registrations[name], disconnected_at=now) for name in sorted(registrations))
    return Subscription(topic, epoch, tuple(segments), tuple(sessions))


def _rebalance(subscription: Subscription, sessions: Iterable[Session]) -> Subscription:
    members = sorted(sessions, key=lambda s: s.consumer)
    dealt = assign(
        subscription.topic, subscription.epoch, subscription.segments, (m.consumer for m in members)
    )
    return replace(subscription, sessions=tuple(replace(m, assignment=dealt[m.consumer]) for m in members))


def _put(subscription: Subscription, changed: Session) -> Subscription:
    sessions = (changed if s.consumer == changed.consumer else s for s in subscription.sessions)
    return replace(subscription, sessions=tuple(sessions))
