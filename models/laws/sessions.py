"""Laws of consumer sessions: what survives a connection, a client's restart and a leader."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from models.laws.law import law, seen
from models.laws.values import step
from spec.layout import SegmentLayout, initial_layout
from spec.names import TopicName
from spec.refusals import Reason, Refused
from spec.sessions import (
    Subscription,
    disconnect,
    evict_expired,
    expired,
    layout_changed,
    persisted,
    register,
    restore,
    to_tell,
    unregister,
)

TOPIC = TopicName("t", "n", "x")
NAMES = ("a", "b", "c", "d")
GRACE = 3

Event = tuple[str, str, int]
"""What happens, to whom, and a number: the connection, the time that passes, or the segment to choose."""

names: SearchStrategy[str] = st.sampled_from(NAMES)
connections: SearchStrategy[int] = st.integers(1, 2)
liveness: SearchStrategy[Event] = st.tuples(st.sampled_from(["register", "disconnect"]), names, connections)
event: SearchStrategy[Event] = liveness | st.tuples(
    st.sampled_from(["unregister", "wait", "evict", "split", "merge", "fail over"]),
    names,
    st.integers(0, 2 * GRACE),
)
events: SearchStrategy[list[Event]] = st.lists(event, max_size=4) | st.lists(event, min_size=9, max_size=25)


@dataclass
class Leader:
    """A leader at work: the subscription that it coordinates, the topic's layout, and the time."""

    subscription: Subscription
    layout: SegmentLayout
    now: int = 0

    def meets(self, event: Event) -> None:
        """Do what the event asks for."""
        kind, name, number = event
        match kind:
            case "register":
                self.subscription = register(self.subscription, name, number)
            case "disconnect":
                self.subscription = disconnect(self.subscription, name, number, self.now)
            case "unregister":
                self.subscription = unregister(self.subscription, name)
            case "evict":
                self.now += number
                self.subscription = evict_expired(self.subscription, GRACE, self.now)
            case "wait":
                self.now += number
            case "fail over":
                self.subscription = successor(self.subscription, self.now)
            case _:
                self.layout = step(self.layout, kind, number)
                self.subscription = layout_changed(self.subscription, self.layout.epoch, self.layout.active)


@dataclass
class Diary:
    """The same in the simplest terms: who is a member, what each holds, and who is away since when."""

    segment_ids: list[int]
    holds: dict[str, list[int]] = field(default_factory=dict)
    connection: dict[str, int] = field(default_factory=dict)
    away_since: dict[str, int] = field(default_factory=dict)

    def deal(self, members: Sequence[str]) -> None:
        """Every member takes each n-th segment."""
        self.holds = {
            name: self.segment_ids[rank :: len(members)] for rank, name in enumerate(sorted(members))
        }
        self.connection = {name: c for name, c in self.connection.items() if name in members}
        self.away_since = {name: t for name, t in self.away_since.items() if name in members}

    def notes(self, event: Event, at: int) -> None:
        """What the event means for the members."""
        kind, name, number = event
        if kind == "register":
            self.connection[name] = number
            self.away_since.pop(name, None)
            if name not in self.holds:
                self.deal([*self.holds, name])
        elif kind == "disconnect" and self.connection.get(name) == number:
            del self.connection[name]
            self.away_since[name] = at
        elif kind == "unregister":
            self.deal([member for member in self.holds if member != name])
        elif kind == "evict":
            overdue = [member for member, since in self.away_since.items() if at >= since + GRACE]
            if overdue:
                self.deal([member for member in self.holds if member not in overdue])
        elif kind == "fail over":
            self.connection.clear()
            self.away_since = dict.fromkeys(self.holds, at)
        elif kind in ("split", "merge"):
            self.deal(list(self.holds))


def new_leader(segments: int) -> Leader:
    """A leader of a new topic with a subscription that nobody has joined."""
    layout = initial_layout(segments)
    return Leader(Subscription(TOPIC, layout.epoch, layout.active), layout)


def successor(subscription: Subscription, now: int) -> Subscription:
    """What the next leader makes of what the store holds."""
    return restore(TOPIC, subscription.epoch, reversed(subscription.segments), persisted(subscription), now)


@st.composite
def leaders(draw: DrawFn) -> Leader:
    """A leader after anything that may happen to its subscription, with some of the members just lost."""
    leader = new_leader(draw(st.integers(1, 5)))
    first = draw(st.integers(0, len(NAMES)))
    members: list[Event] = [("register", name, 1) for name in NAMES[:first]]
    lost: list[Event] = [("disconnect", name, c) for name in draw(st.sets(names, max_size=2)) for c in (1, 2)]
    for event in (*members, *draw(events), *lost):
        try:
            leader.meets(event)
        except Refused:
            continue
    return leader


@law(
    "468-COORD-02",
    "468-COORD-03",
    "468-COORD-04",
    "468-COORD-05",
    "468-SESSION-09",
    "468-SESSION-16",
    "468-SESSION-19",
    "468-SESSION-21",
    segments=st.integers(1, 5),
    events=events,
    sometimes=("a reconnection", "an eviction", "a stale end", "a failover with members", "an unknown name"),
)
def sessions_are_what_a_simple_diary_says(segments: int, events: list[Event]) -> None:
    """Members, holdings, connections and times away are, after any events, those that one would note down."""
    leader = new_leader(segments)
    diary = Diary([s.segment_id for s in leader.layout.active])
    for event in events:
        kind, name, number = event
        known, connected = name in diary.holds, name in diary.connection
        seen("a reconnection", kind == "register" and known and not connected)
        seen("a stale end", kind == "disconnect" and connected and diary.connection[name] != number)
        seen("a failover with members", kind == "fail over" and bool(diary.holds))
        members = len(diary.holds)
        try:
            leader.meets(event)
        except Refused as refusal:
            if kind != "unregister" or known or refusal.reason is not Reason.CONSUMER_UNKNOWN:
                raise
            seen("an unknown name")
            continue
        diary.segment_ids = [s.segment_id for s in leader.layout.active]
        diary.notes(event, leader.now)
        seen("an eviction", kind == "evict" and len(diary.holds) < members)

        sessions = {s.consumer: s for s in leader.subscription.sessions}
        assert {name: list(s.assignment.segment_ids) for name, s in sessions.items()} == diary.holds
        assert {name: s.connection for name, s in sessions.items() if s.connected} == diary.connection
        away = {name: s.disconnected_at for name, s in sessions.items() if s.disconnected_at is not None}
        assert away == diary.away_since


@law(
    "468-SESSION-10",
    "468-SESSION-13",
    "468-SESSION-14",
    "468-SESSION-16",
    "468-SESSION-25",
    leader=leaders(),
    outdated=st.booleans(),
    comings=st.lists(liveness, max_size=6),
    sometimes=("a connection that ends", "a known name that comes", "a return to an older layout's segments"),
)
def coming_and_going_writes_nothing(leader: Leader, outdated: bool, comings: list[Event]) -> None:
    """However often known consumers come and go, what the store holds stays, and nobody is told anything."""
    if outdated:
        layout = step(leader.layout, "split", 0)
        stored = persisted(leader.subscription)
        leader.subscription = restore(TOPIC, layout.epoch, layout.active, stored, leader.now)
    before = leader.subscription
    for kind, name, connection in comings:
        if not before.has(name):
            continue
        leader.meets((kind, name, connection))
        seen(
            "a connection that ends", kind == "disconnect" and not leader.subscription.session(name).connected
        )
        seen("a known name that comes", kind == "register")
        seen("a return to an older layout's segments", kind == "register" and outdated)

    assert persisted(leader.subscription) == persisted(before)
    assert to_tell(before, leader.subscription) == ()


@law(
    "468-SESSION-17",
    "468-SESSION-18",
    "468-SESSION-19",
    leader=leaders(),
    away=st.integers(0, 2 * GRACE),
    sometimes=("back in time", "back too late"),
)
def who_comes_back_in_time_resumes_and_disturbs_nobody(leader: Leader, away: int) -> None:
    """A consumer that returns within its grace period finds its session; after it, it joins as a new one."""
    for session in leader.subscription.sessions:
        if session.connection is None:
            continue
        gone = disconnect(leader.subscription, session.consumer, session.connection, leader.now)
        then = evict_expired(gone, GRACE, leader.now + away)
        back = register(then, session.consumer, session.connection)
        others = [s for s in then.sessions if s.consumer != session.consumer]

        if away < GRACE:
            seen("back in time")
            assert persisted(back) == persisted(then)
            assert [s for s in back.sessions if s.consumer != session.consumer] == others
            assert to_tell(then, back) == ()
        else:
            seen("back too late")
            assert list(then.sessions) == others
            assert persisted(back).keys() == {*persisted(then), session.consumer}


@law(
    "468-SESSION-03",
    "468-SESSION-17",
    leader=leaders(),
    name=names,
    old=connections,
    new=connections,
    sometimes=("an old connection that ends late",),
)
def the_end_of_a_stale_connection_is_nothing(leader: Leader, name: str, old: int, new: int) -> None:
    """Once a name has come on another connection, what becomes of its earlier one starts no timer."""
    held = register(register(leader.subscription, name, old), name, new)
    if old == new:
        return
    seen("an old connection that ends late")

    assert disconnect(held, name, old, leader.now) == held
    assert held.session(name).connection == new
    assert name not in expired(held, 0, leader.now)


@law(
    "468-SESSION-19",
    "468-SESSION-23",
    leader=leaders(),
    grace=st.integers(0, 3),
    later=st.integers(0, 3),
    sometimes=("someone is evicted", "someone stays in grace", "someone connected stays", "to the tick"),
)
def the_timer_fires_exactly_when_grace_is_over(leader: Leader, grace: int, later: int) -> None:
    """Gone are those whose full grace period has passed since they left; nobody connected ever is."""
    now = leader.now + later
    before = {s.consumer: s for s in leader.subscription.sessions}
    after = evict_expired(leader.subscription, grace, now)

    for name, session in before.items():
        if session.disconnected_at is None:
            seen("someone connected stays")
            assert after.has(name)
        else:
            left = session.disconnected_at + grace - now
            assert after.has(name) == (left > 0)
            seen("someone is evicted", left <= 0)
            seen("someone stays in grace", left > 0)
            seen("to the tick", left == 0)
    assert tuple(n for n in before if not after.has(n)) == expired(leader.subscription, grace, now)
    assert len(after.sessions) < len(before) or after == leader.subscription
    assert evict_expired(after, grace, now) == after


@law(
    "468-SESSION-11",
    "468-SESSION-12",
    "468-SESSION-20",
    "468-SESSION-21",
    "468-SESSION-22",
    "468-SESSION-24",
    leader=leaders(),
    idle=st.integers(0, 9),
    sometimes=("someone was long away", "someone was connected"),
)
def a_new_leader_keeps_every_session_for_a_full_grace_period(leader: Leader, idle: int) -> None:
    """After a failover all hold what they held without registering, and have the whole time to come back."""
    before, now = leader.subscription, leader.now + idle
    after = successor(before, now)

    assert persisted(after) == persisted(before)
    assert expired(after, GRACE, now + GRACE - 1) == ()
    assert set(expired(after, GRACE, now + GRACE)) == persisted(before).keys()
    for session in before.sessions:
        back = register(after, session.consumer, 9)
        assert persisted(back) == persisted(before)
        assert back.session(session.consumer).connected
        seen("someone was connected", session.connected)
        seen(
            "someone was long away",
            session.disconnected_at is not None and now - session.disconnected_at > GRACE,
        )


@law("468-SESSION-12", "468-SESSION-20", leader=leaders(), sometimes=("sessions to take over",))
def dealing_out_anew_confirms_what_was_complete(leader: Leader) -> None:
    """A leader that computes all assignments anew from names and layout finds those that are stored."""
    found = successor(leader.subscription, leader.now)
    seen("sessions to take over", bool(found.sessions))

    assert layout_changed(found, found.epoch, found.segments) == found


@law(
    "468-COORD-01",
    "468-COORD-02",
    "468-COORD-05",
    "468-ASSIGN-04",
    "468-ASSIGN-08",
    "468-SESSION-07",
    "468-CTRL-11",
    leader=leaders(),
    sometimes=("several members", "a member with nothing", "nobody left"),
)
def the_members_share_all_segments_between_them(leader: Leader) -> None:
    """At any moment each segment has exactly one holder, under the present epoch, if there is any member."""
    subscription = leader.subscription
    held = sorted(i for s in subscription.sessions for i in s.assignment.segment_ids)

    assert held == (sorted(s.segment_id for s in subscription.segments) if subscription.sessions else [])
    assert all(s.assignment.layout_epoch == leader.layout.epoch for s in subscription.sessions)
    names = [s.consumer for s in subscription.sessions]
    assert names == sorted(set(names))
    seen("several members", len(names) > 1)
    seen("a member with nothing", any(not s.assignment.segments for s in subscription.sessions))
    seen("nobody left", not names)


@law(
    "468-NOTIFY-01",
    "468-SPLIT-15",
    "468-MERGE-09",
    "468-CTRL-12",
    leader=leaders(),
    name=names,
    number=st.integers(1, 2 * GRACE),
    sometimes=(
        "split is told",
        "merge is told",
        "register is told",
        "unregister is told",
        "evict is told",
        "somebody away misses it",
    ),
)
def those_connected_are_told_what_changed_for_them(leader: Leader, name: str, number: int) -> None:
    """A change reaches the connected consumers whose segments it changes, and no others."""
    before = leader.subscription
    for kind in ("split", "merge", "register", "unregister", "evict"):
        leading = copy(leader)
        try:
            leading.meets((kind, name, number))
        except Refused:
            continue
        after = leading.subscription
        told = to_tell(before, after)

        for session in after.sessions:
            had = before.session(session.consumer).assignment.segments if before.has(session.consumer) else ()
            changed = set(had) != set(session.assignment.segments)
            assert (session in told) == (changed and session.connected)
            seen("somebody away misses it", changed and not session.connected)
        assert set(told) <= set(after.sessions)
        seen(f"{kind} is told", bool(told))
