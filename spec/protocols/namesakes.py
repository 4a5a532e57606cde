"""
Two processes that register under one name, which both of them chose.

For the leader the second is the first one come back. The first has done nothing wrong, its connection is as
good as before, and nobody has a reason to tell it anything any more.
"""

from spec.machine import WEAK, action, forget, require, sometimes, start
from spec.protocols.connections import Connections
from spec.protocols.coordination import CONSUMERS, Life, is_served
from spec.protocols.topic import BROKERS


class Namesakes(Connections):
    """Consumers that are all called like the first."""


@start
def all_have_one_name(w: Namesakes) -> None:
    """Every consumer was given the same name."""
    for consumer in w.name:
        w.name[consumer] = next(iter(w.name))


@action("468-SESSION-03", "468-SESSION-17", broker=BROKERS, consumer=CONSUMERS, fair=WEAK)
def stop_whoever_was_replaced(w: Namesakes, broker: str, consumer: str) -> None:
    """
    The leader tells a consumer whose name another connection has taken, and the consumer stops.

    Were it to register again, the two would take the name from each other for ever.
    """
    require(w.design.replaced_consumers_are_told)
    line = w.line[consumer]
    require(line is not None and line.broker == broker and not is_served(w, broker, consumer))

    w.life[consumer] = Life.LEFT
    forget(w, consumer)


@sometimes("468-SESSION-03")
def two_believe_to_be_the_one(w: Namesakes) -> object:
    """Two consumers of one name hold segments and are connected."""
    return sum(w.holds[c] is not None and w.line[c] is not None for c in w.life) > 1
