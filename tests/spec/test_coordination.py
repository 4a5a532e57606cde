"""What the worlds of consumers rely on and do not check themselves: how sessions read in a trace."""

from spec.layout import initial_layout
from spec.names import TopicName
from spec.sessions import Subscription, disconnect, register

TOPIC = TopicName("t", "n", "x")


def test_a_coordinator_reads_as_a_list_of_consumers() -> None:
    layout = initial_layout(3)
    nobody = Subscription(TOPIC, 0, layout.active)
    both = register(register(nobody, "c1", 0), "c2", 1)

    assert str(nobody) == "nobody"
    assert str(disconnect(both, "c2", 1, now=0)) == (
        "c1 (connection 0) has segments 0, 2 (epoch 0); c2 (disconnected) has segments 1 (epoch 0)"
    )


def test_who_has_nothing_is_told_so() -> None:
    subscription = register(register(Subscription(TOPIC, 7, initial_layout(1).active), "c1", 0), "c2", 0)

    assert str(subscription.session("c2").assignment) == "nothing (epoch 7)"
