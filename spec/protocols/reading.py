"""
Reading a topic in order: whatever may be assigned is read by somebody, one message at a time.

Who that is does not matter here: `spec.protocols.coordination` says how consumers get their segments. Which
segments may be read is the rule of `spec.assignment`.
"""

from collections.abc import Iterator

from spec.assignment import assignable
from spec.layout import ancestors
from spec.machine import WEAK, action, leads_to, require, sometimes, step
from spec.protocols.topic import SEGMENTS, SUBSCRIPTIONS, Subscribed, Topic, drained, receive, unread


class Reading(Topic):
    """STREAM consumers of every subscription, as one reader."""


@action(
    "475-ROUTE-01", "475-ROUTE-02", "468-LAYOUT-20", subscription=SUBSCRIPTIONS, segment=SEGMENTS, fair=WEAK
)
def read(w: Reading, subscription: str, segment: int) -> None:
    """Receive and acknowledge the next message of a segment that the subscription may read."""
    record = w.record
    assert record is not None
    require(unread(w, subscription, segment))
    done = drained(w, subscription, record.layout)
    require(segment in [s.segment_id for s in assignable(record.layout, done, w.design)])

    receive(w, subscription, segment)


@leads_to("468-SPLIT-03", "468-SPLIT-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def everything_is_read_in_the_end(w: Reading, subscription: str, segment: int) -> tuple[object, object]:
    """What a subscription is owed and has not read in a segment, it will."""
    left = unread(w, subscription, segment) if w.subscribed[subscription] is Subscribed.CREATED else ()
    owed = any(subscription in message.owed for message in left)
    return owed, not owed


@step("475-ROUTE-03", "468-ASSIGN-09", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_child_waits_for_all_its_ancestors(
    w: Reading, after: Reading, subscription: str, segment: int
) -> Iterator[str]:
    """Nothing is read from a segment while something is unread in one that came before it."""
    before, then, record = w.cursor[subscription, segment], after.cursor[subscription, segment], w.record
    if record is None or not record.layout.has(segment) or before is None or then is None or then <= before:
        return

    for ancestor in sorted(ancestors(record.layout, segment)):
        if unread(w, subscription, ancestor):
            yield f"{subscription} read segment {segment} before segment {ancestor}, from which it descends"


@sometimes("475-ROUTE-01", subscription=SUBSCRIPTIONS, segment=SEGMENTS)
def a_child_was_read(w: Reading, subscription: str, segment: int) -> object:
    """A subscription has read from a segment that came from another."""
    record = w.record
    if record is None or not record.layout.has(segment) or not record.layout.segment(segment).parent_ids:
        return False
    return bool(w.cursor[subscription, segment])
