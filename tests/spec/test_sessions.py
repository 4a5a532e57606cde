"""Sessions, step by step: joining, losing a connection, coming back, leaving, and a change of leader."""

from dataclasses import fields

import pytest

from spec.assignment import ConsumerAssignment
from spec.layout import initial_layout, merge_segments, split_segment
from spec.names import TopicName
from spec.refusals import Reason, Refused
from spec.sessions import (
    Session,
    Subscription,
    disconnect,
    evict_expired,
    expired,
    grace_over,
    layout_changed,
    persisted,
    register,
    restore,
    to_tell,
    unregister,
)

TOPIC = TopicName("t", "n", "x")
LAYOUT = initial_layout(4)
NOBODY = Subscription(TOPIC, LAYOUT.epoch, LAYOUT.active)
PAIR = register(register(NOBODY, "a", connection=1), "b", connection=2)
GRACE = 60


def held(subscription: Subscription) -> dict[str, tuple[int, ...]]:
    return {s.consumer: s.assignment.segment_ids for s in subscription.sessions}


@pytest.mark.claims("468-COORD-03", "468-COORD-04", "468-SESSION-07", "468-CTRL-11", "468-CTRL-12")
def test_joining_and_leaving_deal_everything_out_anew() -> None:
    assert held(NOBODY) == {}
    alone = register(NOBODY, "b", connection=2)
    assert held(alone) == {"b": (0, 1, 2, 3)}
    both = register(alone, "a", connection=1)
    assert held(both) == {"a": (0, 2), "b": (1, 3)}
    assert held(unregister(both, "b")) == {"a": (0, 1, 2, 3)}
    assert held(unregister(alone, "b")) == {}


@pytest.mark.claims("468-SESSION-15")
def test_a_newcomer_is_connected_and_stored() -> None:
    assert PAIR.session("b").connected
    assert PAIR.session("b").connection == 2
    assert set(persisted(PAIR)) == {"a", "b"}


@pytest.mark.claims("468-ASSIGN-08")
def test_a_consumer_too_many_holds_an_empty_assignment() -> None:
    crowd = NOBODY
    for number, name in enumerate("abcde"):
        crowd = register(crowd, name, number)
    assert crowd.session("e").assignment == ConsumerAssignment(0)
    assert held(unregister(crowd, "a"))["e"] == (3,)


def test_who_is_unknown_cannot_leave() -> None:
    with pytest.raises(Refused) as refusal:
        unregister(PAIR, "c")
    assert refusal.value.reason is Reason.CONSUMER_UNKNOWN
    assert str(refusal.value) == "no consumer of that name has a session: c"


def test_the_lost_connection_of_someone_unknown_is_nothing() -> None:
    assert disconnect(PAIR, "c", connection=3, now=100) is PAIR


@pytest.mark.claims("468-SESSION-16")
def test_a_lost_connection_starts_the_grace_period_and_moves_nothing() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    assert lost.session("b") == Session("b", PAIR.session("b").assignment, disconnected_at=100)
    assert not lost.session("b").connected
    assert held(lost) == held(PAIR)


@pytest.mark.claims("468-SESSION-17", "468-SESSION-18", "468-SESSION-03")
def test_the_same_name_resumes_on_another_connection() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    back = register(lost, "b", connection=7)
    assert back.session("b") == Session("b", PAIR.session("b").assignment, connection=7)
    assert back.session("a") is PAIR.session("a")
    assert to_tell(lost, back) == ()


@pytest.mark.claims("468-SESSION-03")
def test_another_name_is_another_consumer_even_on_the_same_connection() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    assert held(register(lost, "b2", connection=2)) == {"a": (0, 3), "b": (1,), "b2": (2,)}


@pytest.mark.claims("468-SESSION-17")
def test_a_second_connection_takes_the_session_over() -> None:
    taken = register(PAIR, "b", connection=7)
    assert disconnect(taken, "b", connection=2, now=100) is taken
    assert expired(taken, GRACE, now=10_000) == ()
    assert disconnect(taken, "b", connection=7, now=100).session("b").disconnected_at == 100


@pytest.mark.claims("468-SESSION-16")
def test_a_connection_that_ends_twice_starts_one_timer() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    assert disconnect(lost, "b", connection=2, now=150) is lost


@pytest.mark.claims("468-SESSION-19", "468-SESSION-23")
@pytest.mark.parametrize(("now", "over"), [(99, False), (100, False), (159, False), (160, True), (161, True)])
def test_grace_is_over_exactly_at_its_end(now: int, over: bool) -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    assert grace_over(100, GRACE, now) is over
    assert expired(lost, GRACE, now) == (("b",) if over else ())
    assert held(evict_expired(lost, GRACE, now)) == ({"a": (0, 1, 2, 3)} if over else held(PAIR))


@pytest.mark.claims("468-SESSION-19")
def test_a_timer_that_finds_nobody_overdue_changes_nothing() -> None:
    assert evict_expired(PAIR, 0, now=10_000) is PAIR


@pytest.mark.claims("468-SESSION-17")
def test_who_comes_late_but_before_the_timer_fires_resumes() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    assert expired(lost, GRACE, now=500) == ("b",)
    back = register(lost, "b", connection=7)
    assert persisted(evict_expired(back, GRACE, now=500)) == persisted(PAIR)


@pytest.mark.claims("468-SESSION-19", "468-SESSION-23")
def test_all_overdue_sessions_end_in_one_rebalance() -> None:
    lost = disconnect(disconnect(register(PAIR, "c", 3), "a", 1, now=100), "b", 2, now=130)
    assert held(evict_expired(lost, GRACE, now=190)) == {"c": (0, 1, 2, 3)}
    assert held(evict_expired(lost, GRACE, now=189)) == {"b": (0, 2), "c": (1, 3)}


@pytest.mark.claims("468-COORD-05", "468-ASSIGN-04")
def test_a_split_and_a_merge_deal_out_to_those_away_as_well() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    layout = split_segment(LAYOUT, 0)
    after = layout_changed(lost, layout.epoch, layout.active)
    assert held(after) == {"a": (4, 1, 3), "b": (5, 2)}
    assert {a.layout_epoch for a in persisted(after).values()} == {1}
    assert after.session("b").disconnected_at == 100

    layout = merge_segments(layout, 5, 1)
    assert held(layout_changed(after, layout.epoch, layout.active)) == {"a": (4, 2), "b": (6, 3)}


@pytest.mark.claims("468-NOTIFY-01", "468-SPLIT-15")
def test_a_push_goes_to_those_connected_whose_segments_changed() -> None:
    layout = split_segment(LAYOUT, 3)
    lost = disconnect(PAIR, "b", connection=2, now=100)
    before, after = (layout_changed(s, layout.epoch, layout.active) for s in (PAIR, lost))

    assert held(after) == {"a": (0, 2, 5), "b": (1, 4)}
    assert [s.consumer for s in to_tell(PAIR, before)] == ["a", "b"]
    assert [s.consumer for s in to_tell(lost, after)] == ["a"]
    assert to_tell(after, after) == ()


@pytest.mark.claims("468-SESSION-10", "468-SESSION-13")
def test_the_store_holds_name_and_assignment_and_nothing_else() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    assert persisted(lost) == {name: PAIR.session(name).assignment for name in ("a", "b")}
    assert [f.name for f in fields(ConsumerAssignment)] == ["layout_epoch", "segments"]


@pytest.mark.claims(
    "468-SESSION-11", "468-SESSION-12", "468-SESSION-20", "468-SESSION-21", "468-SESSION-22", "468-SESSION-24"
)
def test_a_new_leader_gives_everyone_a_full_grace_period() -> None:
    lost = disconnect(PAIR, "b", connection=2, now=100)
    after = restore(TOPIC, 0, LAYOUT.active, persisted(lost), now=159)

    assert (after.topic, after.epoch, after.segments) == (TOPIC, 0, LAYOUT.active)
    assert held(after) == held(PAIR)
    assert [(s.connection, s.disconnected_at) for s in after.sessions] == [(None, 159), (None, 159)]
    assert expired(after, GRACE, now=218) == ()
    assert expired(after, GRACE, now=219) == ("a", "b")
    assert persisted(register(after, "b", connection=8)) == persisted(PAIR)


@pytest.mark.claims("468-SESSION-20")
def test_a_new_leader_restores_what_is_stored_and_can_mend_it() -> None:
    torn = persisted(PAIR) | {"b": persisted(unregister(PAIR, "a"))["b"]}
    found = restore(TOPIC, 0, LAYOUT.active, torn, now=0)
    assert held(found) == {"a": (0, 2), "b": (0, 1, 2, 3)}
    assert held(layout_changed(found, 0, LAYOUT.active)) == held(PAIR)
