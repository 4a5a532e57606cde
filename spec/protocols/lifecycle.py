"""
The life of a topic: it is created, deleted, and created again under the same name.

As written, creation writes the record and then makes the segments, and deletion removes the record last; a
crash in between leaves a record whose segments do not exist. Names, versions and epochs of the new topic
begin where those of the old one began, so the design gives each incarnation names of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.layout import initial_layout
from spec.machine import (
    WEAK,
    Bound,
    Memory,
    Variable,
    action,
    always,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.protocols.election import Controller, Election, clear_lock
from spec.protocols.topic import (
    BROKERS,
    Ledger,
    Record,
    Subscribed,
    create_segment,
    delete_segment,
    show_segment,
)


@dataclass(frozen=True, slots=True)
class Creation:
    """A topic that a broker is creating, and the segments that it has yet to make."""

    incarnation: int
    segments: tuple[int, ...]
    recorded: bool


@dataclass(frozen=True, slots=True)
class Deletion:
    """A topic that a broker is deleting, and the segments that it has yet to delete."""

    incarnation: int
    segments: tuple[int, ...]
    recorded: bool


class Lifecycle(Election):
    """What brokers are asked to do about the topic as a whole."""

    lives = Bound()
    failures = Bound()

    births = Variable[int](0)
    """How many creations were begun after the first; each takes a name of its own."""
    failures_left = Variable[int](0)
    work = Memory[str, Creation | Deletion | None](BROKERS, None)


@start
def one_life_is_being_lived(w: Lifecycle) -> None:
    """The topic exists; deletions of segments may fail so often."""
    w.failures_left = w.failures


@action("468-CREATE-05", "468-CREATE-02", broker=BROKERS)
def create_topic(w: Lifecycle, broker: str) -> None:
    """Any broker is asked to create the topic: first the record, or, in the design, first its segments."""
    require(w.up[broker] and w.work[broker] is None)
    require(w.record is None)
    require(w.births < w.lives)

    w.births += 1
    incarnation = w.births if w.design.topics_have_incarnations else 0
    layout = initial_layout(w.initial_segments)
    if not w.design.segments_before_record:
        w.record = Record(layout, incarnation=incarnation)
    segments = tuple(s.segment_id for s in layout.active)
    w.work[broker] = Creation(incarnation, segments, recorded=not w.design.segments_before_record)


@action("468-CREATE-05", broker=BROKERS, fair=WEAK)
def make_first_segment(w: Lifecycle, broker: str) -> None:
    """Create the next of the first segments; what exists under its name is taken for it."""
    creation = w.work[broker]
    require(isinstance(creation, Creation) and creation.segments)
    assert isinstance(creation, Creation)

    segment, *rest = creation.segments
    create_segment(w, segment, creation.incarnation, ())
    w.work[broker] = replace(creation, segments=tuple(rest))


@action("468-CREATE-05", broker=BROKERS, fair=WEAK)
def finish_creation(w: Lifecycle, broker: str) -> None:
    """Answer that the topic is created; where the record comes last, only if nobody else was first."""
    creation = w.work[broker]
    require(isinstance(creation, Creation) and not creation.segments)
    assert isinstance(creation, Creation)

    w.work[broker] = None
    if not creation.recorded and w.record is None:
        w.record = Record(initial_layout(w.initial_segments), incarnation=creation.incarnation)
        for segment in w.record.layout.active:
            if segment.segment_id not in creation.segments:
                show_segment(w, segment.segment_id, creation.incarnation)


@action("468-DELETE-01", "468-DELETE-02", broker=BROKERS)
def delete_topic(w: Lifecycle, broker: str) -> None:
    """
    Any broker is asked to delete the topic: it closes its controller and reads the record.

    In the design the record goes now, before anything else; as written, when all segments are gone.
    """
    record = w.record
    require(w.up[broker] and w.work[broker] is None)
    require(record is not None)
    assert record is not None

    w.controller[broker] = Controller.ABSENT
    w.stands[broker] = False
    w.term[broker] = 0
    w.current[broker] = None
    clear_lock(w, broker)
    segments = tuple(s.segment_id for s in record.layout.segments)
    if w.design.record_goes_first:
        w.record = None
    w.work[broker] = Deletion(record.incarnation, segments, recorded=not w.design.record_goes_first)
    for subscription in w.subscribed:
        if w.subscribed[subscription] is Subscribed.CREATED:
            w.subscribed[subscription] = Subscribed.DELETED


@action("468-DELETE-02", "468-SEGAPI-11", broker=BROKERS, fair=WEAK)
def delete_next_segment(w: Lifecycle, broker: str) -> None:
    """Delete the next segment of the topic."""
    deletion = w.work[broker]
    require(isinstance(deletion, Deletion) and deletion.segments)
    assert isinstance(deletion, Deletion)

    segment, *rest = deletion.segments
    delete_segment(w, segment, deletion.incarnation)
    w.work[broker] = replace(deletion, segments=tuple(rest))


@action("468-DELETE-03", broker=BROKERS, fault=True)
def fail_to_delete_segment(w: Lifecycle, broker: str) -> None:
    """A segment cannot be deleted; the deletion of the topic goes on without it."""
    require(w.failures_left)
    deletion = w.work[broker]
    require(isinstance(deletion, Deletion))
    assert isinstance(deletion, Deletion)

    w.failures_left -= 1
    w.work[broker] = replace(deletion, segments=deletion.segments[1:])


@action("468-DELETE-04", broker=BROKERS, fair=WEAK)
def finish_deletion(w: Lifecycle, broker: str) -> None:
    """Remove the record as the last step, if it is still there, and answer."""
    deletion = w.work[broker]
    require(isinstance(deletion, Deletion) and not deletion.segments)
    assert isinstance(deletion, Deletion)

    w.work[broker] = None
    if deletion.recorded:
        w.record = None


@step("468-DELETE-02", "468-CREATE-05", broker=BROKERS)
def work_is_done_before_it_is_dropped(w: Lifecycle, after: Lifecycle, broker: str) -> Iterator[str]:
    """Who creates or deletes a topic visits all its segments, and does nothing else meanwhile."""
    before, then = w.work[broker], after.work[broker]
    if before is not None and then is None and before.segments and after.up[broker]:
        yield f"{broker} is done and has left out {', '.join(map(str, before.segments))}"
    if before is not None and then is not None and before.incarnation != then.incarnation:
        yield f"{broker} was not done with incarnation {before.incarnation}"
    if type(before) is not type(then) and before is not None and then is not None:
        yield f"{broker} creates and deletes at once"


@always("468-CREATE-05", "468-DELETE-03")
def nothing_happens_more_often_than_it_may(w: Lifecycle) -> Iterator[str]:
    """Who is down is about nothing; creations and failures stay within their budgets."""
    for broker, work in w.work.items():
        if work is not None and not w.up[broker]:
            yield f"{broker} is down and works"
    if w.births > w.lives or w.failures_left < 0:
        yield "there are more creations or failures than there may be"


@leads_to("468-DELETE-04", "468-CREATE-05")
def what_is_asked_for_comes_to_an_end(w: Lifecycle) -> tuple[object, object]:
    """A broker that creates or deletes a topic is done with it, in the end."""
    busy = any(work is not None for work in w.work.values())
    return busy, not busy


@leads_to("468-CREATE-05", "468-DELETE-04")
def no_topic_stays_without_its_segments(w: Lifecycle) -> tuple[object, object]:
    """A record that names segments which do not exist is not left behind."""
    record = w.record
    if record is None:
        return False, True
    here = [w.ledger[s.segment_id] is not Ledger.ABSENT for s in record.layout.active]
    names = [w.born[s.segment_id] == record.incarnation for s in record.layout.active]
    return not all(here + names), all(here + names)


@sometimes("468-CREATE-05")
def a_topic_lives_again(w: Lifecycle) -> object:
    """The topic exists, was deleted and created again."""
    return w.births and w.record is not None and all(work is None for work in w.work.values())


@sometimes("468-DELETE-03")
def a_segment_outlives_its_topic(w: Lifecycle) -> object:
    """The topic is deleted, and a segment of it is still there."""
    gone = w.record is None and all(work is None for work in w.work.values())
    return gone and any(ledger is not Ledger.ABSENT for ledger in w.ledger.values())
