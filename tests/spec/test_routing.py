"""Routing in figures, and how a client follows a layout that changes."""

import pytest

from spec.hashing import Profile
from spec.layout import SegmentLayout, initial_layout, split_segment
from spec.migration import RegularTopic, migrated_layout, synthetic_view
from spec.names import RegularName, TopicName
from spec.refusals import Reason, Refused
from spec.routing import Reconciliation, Routing, TopicView, attachments, latest, real, reconcile, route

X = RegularName("t", "n", "x")
IDENTITY = TopicName("t", "n", "x")


def view_of(layout: SegmentLayout) -> TopicView:
    return TopicView(IDENTITY, layout, Routing.RANGE)


VECTORS = [
    # key, mod 4, mod 3, and the segment of 4 by the low half and by the high half of the hash
    ("", 0, 0, 0, 0),
    ("a", 2, 2, 1, 0),
    ("b", 3, 0, 1, 2),
    ("key-0", 3, 2, 3, 3),
    ("key-1", 0, 1, 0, 2),
    ("k-0", 3, 2, 0, 1),
    ("hello", 3, 1, 3, 0),
    ("user-42", 0, 0, 3, 2),
    ("orders/123", 3, 0, 0, 1),
    ("kéy", 0, 1, 1, 3),
    ("pulsar", 3, 1, 1, 2),
    ("test-key", 3, 2, 2, 3),
]


@pytest.mark.claims("475-HASH-05", "475-HASH-07", "475-HASH-09", "475-HASH-11", "475-HASH-12")
@pytest.mark.parametrize(("key", "mod4", "mod3", "low", "high"), VECTORS)
def test_where_a_key_goes(key: str, mod4: int, mod3: int, low: int, high: int) -> None:
    for partitions, expected in ((4, mod4), (3, mod3), (1, 0)):
        chosen = route(synthetic_view(RegularTopic(X, partitions)), key)
        assert chosen.legacy_topic == X.of_partition(expected)
    assert route(synthetic_view(RegularTopic(X)), key).legacy_topic == X

    born, migrated = view_of(initial_layout(4)), view_of(migrated_layout(RegularTopic(X, 4)))
    for profile, expected in ((Profile.LOW16, low), (Profile.HIGH16, high)):
        assert route(born, key, profile=profile).segment_id == expected
        assert route(migrated, key, profile=profile).segment_id == 4 + expected
    assert route(born, key).segment_id == low


def test_messages_without_a_key_take_turns_in_range_order() -> None:
    view = view_of(split_segment(initial_layout(2), 0))
    assert [route(view, None, sent).segment_id for sent in range(5)] == [2, 3, 1, 2, 3]
    assert route(view, "").segment_id == route(view, "", 1).segment_id == 2

    special = synthetic_view(RegularTopic(X, 3))
    assert [route(special, None, sent).segment_id for sent in range(4)] == [0, 1, 2, 0]


@pytest.mark.parametrize("key", [None, "a"])
@pytest.mark.parametrize("routing", Routing)
def test_a_layout_without_active_segments_takes_nothing(key: str | None, routing: Routing) -> None:
    with pytest.raises(Refused) as refusal:
        route(TopicView(IDENTITY, SegmentLayout(0, 0, (), ()), routing), key)
    assert refusal.value.reason is Reason.HASH_UNOWNED


@pytest.mark.claims("475-HASH-08", "475-LOOKUP-13")
def test_the_view_carries_its_routing() -> None:
    assert [r.value for r in Routing] == ["range-based", "mod-N"]
    assert synthetic_view(RegularTopic(X, 2)).synthetic
    assert not view_of(migrated_layout(RegularTopic(X, 2))).synthetic


@pytest.mark.claims("475-SPECIAL-07", "475-SPECIAL-08", "475-SPECIAL-09")
def test_a_synthetic_layout_points_at_the_migration_command() -> None:
    with pytest.raises(Refused) as refusal:
        real(synthetic_view(RegularTopic(X, 2)))
    assert refusal.value.reason is Reason.LAYOUT_IS_SYNTHETIC
    assert str(refusal.value) == (
        "the topic has not been migrated, so it has no segments of its own: "
        "run migrate-to-scalable on persistent://t/n/x first"
    )


def test_a_real_layout_is_handed_out() -> None:
    layout = migrated_layout(RegularTopic(X, 2))
    assert real(view_of(layout)) is layout


MIGRATED = migrated_layout(RegularTopic(X, 2))


@pytest.mark.claims("475-LOOKUP-11")
@pytest.mark.parametrize(
    ("held", "pushed", "taken"),
    [
        (synthetic_view(RegularTopic(X, 2)), view_of(MIGRATED), True),
        (view_of(MIGRATED), synthetic_view(RegularTopic(X, 2)), False),
        (view_of(split_segment(MIGRATED, 2)), synthetic_view(RegularTopic(X, 3)), False),
        (synthetic_view(RegularTopic(X, 2)), synthetic_view(RegularTopic(X, 3)), True),
        (view_of(MIGRATED), view_of(split_segment(MIGRATED, 2)), True),
        (view_of(split_segment(MIGRATED, 2)), view_of(MIGRATED), False),
        (view_of(initial_layout(1)), view_of(initial_layout(1)), True),
    ],
)
def test_what_a_client_takes_over(held: TopicView, pushed: TopicView, taken: bool) -> None:
    assert latest(held, pushed) is (pushed if taken else held)


@pytest.mark.claims("475-SPECIAL-06", "475-SDK-08", "475-SDK-09", "475-SDK-10")
def test_what_a_client_reconnects() -> None:
    before, after = synthetic_view(RegularTopic(X, 2)), view_of(MIGRATED)
    writing, now_writing = (attachments(view, view.layout.active) for view in (before, after))
    assert {i: str(name) for i, name in writing.items()} == {
        0: "persistent://t/n/x-partition-0",
        1: "persistent://t/n/x-partition-1",
    }
    assert {i: str(name) for i, name in now_writing.items()} == {
        2: "segment://t/n/x/0000-7fff-2",
        3: "segment://t/n/x/8000-ffff-3",
    }
    assert reconcile(writing, now_writing) == Reconciliation(closed=(0, 1), opened=(2, 3), rebuilt=())

    reading, now_reading = (attachments(view, view.layout.segments) for view in (before, after))
    assert reconcile(reading, now_reading) == Reconciliation(closed=(), opened=(2, 3), rebuilt=())

    born = view_of(initial_layout(3))
    shadowing = attachments(born, born.layout.active)
    assert reconcile(writing, shadowing) == Reconciliation(closed=(), opened=(2,), rebuilt=(0, 1))
    assert reconcile(shadowing, shadowing) == Reconciliation((), (), ())
