"""
Retention: the leader forgets sealed segments that every subscription has drained, then deletes their ledgers.

The documents name the operation on the layout and a tick that calls it, and leave the rest open: here the
record goes first, so that no client is sent to a ledger that is gone. [468-READ-52]
"""

from spec.design import Pruning
from spec.layout import prune_segment
from spec.machine import WEAK, Memory, action, leads_to, require, sometimes
from spec.protocols.election import Election, admitted
from spec.protocols.topic import BROKERS, SEGMENTS, Ledger, delete_segment, drained


class Retention(Election):
    """The segments that brokers have pruned and have yet to delete."""

    doomed = Memory[str, tuple[int, int] | None](BROKERS, None)
    """The incarnation of the topic, and the id."""


@action("468-LAYOUT-03", "483-TRIGGER-08", broker=BROKERS, segment=SEGMENTS)
def prune(w: Retention, broker: str, segment: int) -> None:
    """
    The leader takes a sealed segment out of the layout, once every subscription has drained it.

    A change that is announced names the layout that it leads to, so nothing else may change it meanwhile.
    """
    record = admitted(w, broker)
    require(w.doomed[broker] is None)
    require(record.announced is None)
    require(record.layout.has(segment) and not record.layout.segment(segment).active)
    require(all(segment in drained(w, s, record.layout) for s in w.subscribed))
    if w.design.pruning is Pruning.OLDEST_FIRST:
        require(not record.layout.segment(segment).parent_ids)

    w.record = record.written(layout=prune_segment(record.layout, segment))
    w.current[broker] = w.record.layout
    w.doomed[broker] = record.incarnation, segment


@action("468-SEGAPI-11", broker=BROKERS, fair=WEAK)
def delete_pruned(w: Retention, broker: str) -> None:
    """Delete the ledger of what was pruned; after a crash it stays, empty of meaning."""
    doomed = w.doomed[broker]
    require(doomed is not None)
    assert doomed is not None

    incarnation, segment = doomed
    delete_segment(w, segment, incarnation)
    w.doomed[broker] = None


@leads_to("468-SEGAPI-11", broker=BROKERS, segment=SEGMENTS)
def what_is_pruned_is_deleted(w: Retention, broker: str, segment: int) -> tuple[object, object]:
    """Unless its broker crashes, who has pruned a segment deletes its ledger."""
    doomed = w.doomed[broker]
    gone = w.ledger[segment] is Ledger.ABSENT or not w.up[broker]
    return doomed is not None and doomed[1] == segment and not gone, gone


@sometimes("468-LAYOUT-03")
def a_segment_is_forgotten(w: Retention) -> object:
    """The layout has fewer segments than ids were given."""
    record = w.record
    return record is not None and len(record.layout.segments) < record.layout.next_segment_id
