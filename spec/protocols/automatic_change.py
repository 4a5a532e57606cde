"""
Automatic changes on the road of PIP-468: the leader decides, and begins the steps of any split or merge.

`scaling` takes a change for one step; here the questions are about what is in flight, and who began it.
[483-GOAL-08]
"""

from collections.abc import Iterator

from spec.autoscale import Split, Trigger
from spec.load import QUIET, LoadSample
from spec.machine import WEAK, Bound, Memory, action, choose, leads_to, require, sometimes, start, step
from spec.protocols.election import admitted, fenced, leading
from spec.protocols.layout_change import OPERATIONS, LayoutChange, begin_merge, begin_split
from spec.protocols.load_reports import active_segments
from spec.protocols.scaling import Scaling, decision, is_crowded
from spec.protocols.topic import BROKERS, Record
from spec.sessions import register


class AutomaticChange(LayoutChange, Scaling):
    """The same decisions, carried out step by step by the protocol of PIP-468."""

    crowd = Bound()
    automatic = Memory[tuple[str, str], tuple[int, ...]]((BROKERS, OPERATIONS), ())
    """The parents of the change that a leader has last begun of its own accord."""


@start
def crowded_or_deserted(w: AutomaticChange) -> None:
    """There is a crowd of consumers, or nobody; nothing is sent, and that has been reported."""
    for consumer in range(choose(w, [0, w.crowd])):
        w.consumers = register(w.consumers, f"c{consumer + 1}", connection=1)
    for segment in active_segments(w):
        w.load[segment.segment_id] = LoadSample(QUIET, 0)


@action("483-GOAL-01", "483-GOAL-08", "483-TRIGGER-05", broker=BROKERS, operation=OPERATIONS, fair=WEAK)
def begin_automatic_change(w: AutomaticChange, broker: str, operation: str) -> None:
    """
    The leader decides, and begins the very split or merge that an operator could have asked for.

    It holds back while it is about another change, or the record has one announced. [483-READ-30]
    """
    record = admitted(w, broker)
    layout = w.current[broker]
    assert layout is not None
    wanted = decision(w, layout, broker, Trigger.TICK, in_flight=_in_flight(w, broker, record)).action
    require(wanted is not None)
    assert wanted is not None

    w.automatic[broker, operation] = wanted.segments
    if isinstance(wanted, Split):
        begin_split(w, broker, operation, wanted.segment_id)
    else:
        begin_merge(w, broker, operation, wanted.left_id)


def _in_flight(w: AutomaticChange, broker: str, record: Record) -> bool:
    own = [change for (b, _), change in w.change.items() if b == broker]
    return any(change is not None for change in own) or record.announced is not None


@step("483-SPLIT-01", "483-GOAL-01", "483-TRIGGER-11", broker=BROKERS, operation=OPERATIONS)
def automatic_changes_begin_alone(
    w: AutomaticChange, after: AutomaticChange, broker: str, operation: str
) -> Iterator[str]:
    """Only the leader begins automatic changes, and none while another that can take effect is in flight."""
    record = w.record
    begun = after.change[broker, operation]
    if w.change[broker, operation] is not None or begun is None or record is None:
        return
    if w.automatic[broker, operation] == after.automatic[broker, operation]:
        return

    if w.lock is not None and w.lock != broker and leading(w, w.lock):
        yield f"{broker} began to change {begun.of}, although {w.lock} leads"
    for (other, _), change in w.change.items():
        if change is not None and not change.published and not fenced(w, other, record):
            yield f"{broker} began to change {begun.of} while {other} was about {change.of}"


@step("483-GOAL-04", "483-GOAL-08", broker=BROKERS, operation=OPERATIONS)
def what_is_published_respects_the_ceiling(
    w: AutomaticChange, after: AutomaticChange, broker: str, operation: str
) -> Iterator[str]:
    """An automatic split that is published takes the topic to maxSegments at most."""
    before = w.change[broker, operation]
    count = len(active_segments(after))
    grown = count > max(w.max_segments, len(active_segments(w)))
    if grown and before is not None and before != after.change[broker, operation]:
        if before.of.parents == w.automatic[broker, operation]:
            yield f"an automatic split made {count} segments, {w.max_segments} are allowed"


@leads_to("483-GOAL-02", "483-GOAL-08")
def crowds_get_their_segments(w: AutomaticChange) -> tuple[object, object]:
    """Step by step too, a topic is split while it has more consumers than segments, whoever leads it."""
    record = w.record
    crowded = is_crowded(w) and record is not None and record.layout.next_segment_id + 2 <= w.segments
    return crowded, not crowded


@sometimes("483-GOAL-08", parents=(1, 2))
def a_leader_changes_the_layout_by_itself(w: AutomaticChange, parents: int) -> object:
    """A split, or a merge, that nobody asked for is under way."""
    under_way = ((change, w.automatic[key]) for key, change in w.change.items() if change is not None)
    return any(len(wanted) == parents and change.of.parents == wanted for change, wanted in under_way)
