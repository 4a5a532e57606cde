"""
The life of a topic: it is created, deleted, and created again under the same name.

As written, creation writes the record and then makes the segments, and deletion removes the record last; a
crash in between leaves a record whose segments do not exist. In the design the record says first what is to
be done. A creation claims the name, makes the segments and publishes them; a deletion marks the record,
deletes the segments and removes it. Any broker that finds a claim or a mark finishes it, and to clients
neither is a topic. Names, versions and epochs of a new topic begin where those of the last one began, so the
design gives each incarnation names of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.layout import SegmentLayout, initial_layout
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
    Stage,
    Subscribed,
    Topic,
    create_segment,
    delete_segment,
    published,
)


@dataclass(frozen=True, slots=True)
class Creation:
    """A topic that a broker is creating, and the segments that it has yet to make."""

    incarnation: int
    segments: tuple[int, ...]
    looks: bool = False
    """It has yet to look for a regular topic of that name."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """A topic that a broker is deleting, and the segments that it has yet to delete."""

    incarnation: int
    segments: tuple[int, ...]
    regular: str | None = None
    """The migration whose regular topic has to go as well."""


class Lifecycle(Topic):
    """What brokers do to a topic as a whole, once they were asked or have found that somebody was."""

    failures = Bound()

    failures_left = Variable[int](0)
    task = Memory[str, Creation | Deletion | None](BROKERS, None)


@start
def nobody_creates_or_deletes_yet(w: Lifecycle) -> None:
    """Deletions of segments may fail so often."""
    w.failures_left = w.failures


def claim(w: Lifecycle, layout: SegmentLayout, incarnation: int, claimant: str | None = None) -> None:
    """Write the record of a new topic where there is none: a claim, or as written the topic itself."""
    stage = Stage.CLAIMED if w.design.creations_are_claimed else Stage.PUBLISHED
    incarnation = incarnation if w.design.topics_have_incarnations else 0
    w.record = Record(layout, incarnation=incarnation, stage=stage, claimant=claimant)


def mark_deleted(w: Lifecycle, record: Record) -> None:
    """Write into the record of a topic that it is deleted; as written nothing says so until the end."""
    if w.design.deletions_are_marked:
        w.record = record.written(stage=Stage.DELETED)


def standing(w: Lifecycle, stage: Stage, incarnation: int) -> Record | None:
    """The record, if it is still the one that a broker has read: the condition of each of its writes."""
    record = w.record
    if record is None or record.stage is not stage or record.incarnation != incarnation:
        return None
    return record


@action("468-CREATE-05", broker=BROKERS, fair=WEAK)
def make_first_segment(w: Lifecycle, broker: str) -> None:
    """Create the next of the first segments; what exists under its name is taken for it."""
    creation = w.task[broker]
    require(isinstance(creation, Creation) and creation.segments and not creation.looks)
    assert isinstance(creation, Creation)

    segment, *rest = creation.segments
    create_segment(w, segment, creation.incarnation, ())
    w.task[broker] = replace(creation, segments=tuple(rest))


@action("468-CREATE-05", broker=BROKERS, fair=WEAK)
def finish_creation(w: Lifecycle, broker: str) -> None:
    """Publish the topic, unless somebody else has done that, and answer."""
    creation = w.task[broker]
    require(isinstance(creation, Creation) and not creation.segments)
    assert isinstance(creation, Creation)

    w.task[broker] = None
    record = standing(w, Stage.CLAIMED, creation.incarnation)
    if record is not None:
        w.record = record.written(stage=Stage.PUBLISHED)


@action("468-DELETE-02", "468-SEGAPI-11", broker=BROKERS, fair=WEAK)
def delete_next_segment(w: Lifecycle, broker: str) -> None:
    """Delete the next segment of the topic."""
    deletion = w.task[broker]
    require(isinstance(deletion, Deletion) and deletion.segments)
    assert isinstance(deletion, Deletion)

    segment, *rest = deletion.segments
    delete_segment(w, segment, deletion.incarnation)
    w.task[broker] = replace(deletion, segments=tuple(rest))


@action("468-DELETE-03", broker=BROKERS, fault=True)
def fail_to_delete_segment(w: Lifecycle, broker: str) -> None:
    """
    A segment cannot be deleted; the deletion of the topic goes on without it.

    As written that is all. A record that says what is to be deleted lets the broker come back to it.
    """
    require(w.failures_left)
    deletion = w.task[broker]
    require(isinstance(deletion, Deletion) and deletion.segments)
    assert isinstance(deletion, Deletion)

    w.failures_left -= 1
    failed, *rest = deletion.segments
    again = (failed,) if w.design.deletions_are_marked else ()
    w.task[broker] = replace(deletion, segments=(*rest, *again))


@action("468-DELETE-04", broker=BROKERS, fair=WEAK)
def finish_deletion(w: Lifecycle, broker: str) -> None:
    """Remove the record as the last step, and answer."""
    deletion = w.task[broker]
    require(isinstance(deletion, Deletion) and not deletion.segments and deletion.regular is None)
    assert isinstance(deletion, Deletion)

    w.task[broker] = None
    if not w.design.deletions_are_marked or standing(w, Stage.DELETED, deletion.incarnation):
        w.record = None


# Topics that were never anything else


class Lives(Lifecycle, Election):
    """Any broker is asked to create the topic, or to delete it."""

    lives = Bound()

    births = Variable[int](0)
    """How many creations were begun after the first; each takes a name of its own."""


@action("468-CREATE-05", "468-CREATE-02", broker=BROKERS)
def create_topic(w: Lives, broker: str) -> None:
    """
    Any broker is asked to create the topic, and claims its name, or as written writes the record.

    It is refused where the topic exists. Where a claim or a deletion stands, that is finished first.
    """
    require(_idle(w, broker))
    require(w.record is None)
    require(w.births < w.lives)

    w.births += 1
    claim(w, initial_layout(w.initial_segments), w.births)
    w.task[broker] = _to_create(w.record)


@action("468-DELETE-01", "468-DELETE-02", broker=BROKERS)
def delete_topic(w: Lives, broker: str) -> None:
    """Any broker is asked to delete the topic: it closes its controller, and marks the record."""
    record = published(w)
    require(_idle(w, broker))
    require(record is not None)
    assert record is not None

    w.controller[broker] = Controller.ABSENT
    w.stands[broker] = False
    w.term[broker] = 0
    w.current[broker] = None
    clear_lock(w, broker)
    mark_deleted(w, record)
    w.task[broker] = _to_delete(record)
    for subscription in w.subscribed:
        if w.subscribed[subscription] is Subscribed.CREATED:
            w.subscribed[subscription] = Subscribed.DELETED


@action("468-CREATE-05", "468-DELETE-04", broker=BROKERS, fair=WEAK)
def go_on_for_another(w: Lives, broker: str) -> None:
    """A broker that finds a claim or a deletion in the record goes on with it, whoever began it."""
    require(w.design.brokers_finish_claims)
    require(_idle(w, broker))
    record = w.record
    require(record is not None and record.stage is not Stage.PUBLISHED)
    assert record is not None

    w.task[broker] = _to_create(record) if record.stage is Stage.CLAIMED else _to_delete(record)


def _idle(w: Lives, broker: str) -> bool:
    return w.up[broker] and w.task[broker] is None


def _to_create(record: Record | None) -> Creation:
    assert record is not None
    return Creation(record.incarnation, tuple(s.segment_id for s in record.layout.active))


def _to_delete(record: Record) -> Deletion:
    """All segments of a topic, and those that a layout change has announced."""
    listed = record.layout if record.announced is None else record.announced.after
    return Deletion(record.incarnation, tuple(s.segment_id for s in listed.segments))


@step("468-DELETE-02", "468-CREATE-05", broker=BROKERS)
def tasks_are_done_before_they_are_dropped(w: Lives, after: Lives, broker: str) -> Iterator[str]:
    """Who creates or deletes a topic visits all its segments, and does nothing else meanwhile."""
    before, then = w.task[broker], after.task[broker]
    if before is not None and then is None and before.segments and after.up[broker]:
        yield f"{broker} is done and has left out {', '.join(map(str, before.segments))}"
    if before is not None and then is not None and before.incarnation != then.incarnation:
        yield f"{broker} was not done with incarnation {before.incarnation}"
    if type(before) is not type(then) and before is not None and then is not None:
        yield f"{broker} creates and deletes at once"


@always("468-CREATE-05", "468-DELETE-03")
def nothing_happens_more_often_than_it_may(w: Lives) -> Iterator[str]:
    """Who is down is about nothing; creations and failures stay within their budgets."""
    for broker, task in w.task.items():
        if task is not None and not w.up[broker]:
            yield f"{broker} is down and works"
    if w.births > w.lives or w.failures_left < 0:
        yield "there are more creations or failures than there may be"


@always("468-DELETE-02", "468-DELETE-03", "468-DELETE-04")
def nothing_is_left_where_the_name_is_free(w: Lives) -> Iterator[str]:
    """Once the record is gone, so is every segment of the topic, and none comes back."""
    if w.record is None:
        for segment, ledger in w.ledger.items():
            if ledger is not Ledger.ABSENT:
                yield f"the topic is deleted, and segment {segment} of it is there"


@leads_to("468-DELETE-04", "468-CREATE-05")
def what_is_asked_for_comes_to_an_end(w: Lives) -> tuple[object, object]:
    """A broker that creates or deletes a topic is done with it, in the end."""
    busy = any(task is not None for task in w.task.values())
    return busy, not busy


@leads_to("468-CREATE-05", "468-DELETE-04")
def a_name_is_a_topic_or_free(w: Lives) -> tuple[object, object]:
    """A name that is claimed becomes a topic, and one whose topic is deleted is free again."""
    between = w.record is not None and published(w) is None
    return between, not between


@leads_to("468-CREATE-05", "468-DELETE-04")
def no_topic_stays_without_its_segments(w: Lives) -> tuple[object, object]:
    """A topic whose segments do not exist is not left behind."""
    record = published(w)
    if record is None:
        return False, True
    here = [w.ledger[s.segment_id] is not Ledger.ABSENT for s in record.layout.active]
    names = [w.born[s.segment_id] == record.incarnation for s in record.layout.active]
    return not all(here + names), all(here + names)


@sometimes("468-CREATE-05")
def a_topic_lives_again(w: Lives) -> object:
    """The topic exists, was deleted and created again."""
    return w.births and published(w) is not None and all(task is None for task in w.task.values())


@sometimes("468-DELETE-03", "468-DELETE-04")
def a_deletion_stopped_half_way(w: Lives) -> object:
    """The topic is deleted, a segment of it is still there, and nobody is about it."""
    marked = w.record is not None and w.record.stage is Stage.DELETED
    left = any(ledger is not Ledger.ABSENT for ledger in w.ledger.values())
    return marked and left and all(task is None for task in w.task.values())
