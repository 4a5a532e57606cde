"""
Who a name belongs to: a regular topic, a migration of it, a new scalable topic, or a deletion.

The regular topic and the record of the scalable one are two entries of the metadata store, and nothing writes
both at once. Whoever wants the name writes its own entry first and looks at the other one after that.
Creation and deletion are those of `spec.protocols.lifecycle`, with a look at the regular topic.
"""

from collections.abc import Iterator
from dataclasses import replace

from spec.layout import initial_layout
from spec.machine import (
    WEAK,
    Bound,
    Variable,
    action,
    always,
    choose,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.migration import Client, RegularTopic
from spec.protocols.lifecycle import Creation, Deletion, Lifecycle, claim, mark_deleted, standing
from spec.protocols.migrating import Migrating, refused_as_late
from spec.protocols.one_name import (
    CREATION,
    NAME,
    claimed_by,
    deleted,
    fenced,
    old_topic,
    partitions_of,
    passes_the_guard,
    places,
    scalable_layout,
    seen,
)
from spec.protocols.topic import BROKERS, Ledger, Record, Stage, Subscribed, published


class Claiming(Lifecycle, Migrating):
    """Brokers that go on with what the record says, and what they do to the regular topic."""


@action("475-STEP-04", "475-GOAL-06", broker=BROKERS, fair=WEAK)
def go_on_for_another(w: Claiming, broker: str) -> None:
    """A broker that finds the claim of a creation, or a deletion, goes on with it, whoever began it."""
    require(w.design.brokers_finish_claims)
    require(w.task[broker] is None)
    record = w.record
    require(record is not None)
    assert record is not None
    require(record.stage is Stage.DELETED or (record.stage is Stage.CLAIMED and record.claimant == CREATION))

    w.task[broker] = _to_delete(w, record) if record.stage is Stage.DELETED else _to_create(w, record)


def _to_create(w: Claiming, record: Record) -> Creation:
    looks = w.design.creation_respects_regular_topics and record.stage is Stage.CLAIMED
    return Creation(record.incarnation, places(w, record.layout), looks)


def _to_delete(w: Claiming, record: Record) -> Deletion:
    """As written the segments and nothing that the topic was made from. [475-READ-28]"""
    segments = tuple(place for place in places(w, record.layout) if place >= w.most_partitions)
    migrated = any(segment.legacy_topic is not None for segment in record.layout.segments)
    along = migrated and w.design.deletion_takes_regular_topics_along
    return Deletion(record.incarnation, segments, record.claimant if along else None)


@action("475-GOAL-06", broker=BROKERS, fair=WEAK)
def delete_regular_topic(w: Claiming, broker: str) -> None:
    """Delete the regular topic from which the scalable one was made, and no later one of its name."""
    deletion = w.task[broker]
    require(isinstance(deletion, Deletion) and deletion.regular is not None)
    assert isinstance(deletion, Deletion)
    assert deletion.regular is not None

    if not refused_as_late(w, deletion.regular):
        _remove_regular_topic(w)
    w.task[broker] = replace(deletion, regular=None)


def _remove_regular_topic(w: Claiming) -> None:
    """The regular topic is gone with its messages and its subscriptions, and with what was marked in it."""
    for place in partitions_of(w.regular):
        w.ledger[place] = Ledger.ABSENT
        w.log[place] = ()
        for subscription in w.subscribed:
            w.subscribed[subscription] = Subscribed.NOT
            w.cursor[subscription, place] = None
    w.regular = w.fenced_for = None
    w.closed = False


@always("475-GOAL-06")
def what_was_deleted_takes_no_messages(w: Claiming) -> Iterator[str]:
    """Where a name is free, there is no segment of a topic that was deleted, and none comes back."""
    if w.record is None:
        for place, state in w.ledger.items():
            if state is not Ledger.ABSENT and place >= w.most_partitions:
                yield f"there is no scalable topic, and segment {place} takes messages"


@leads_to("475-GOAL-06")
def deletions_end(w: Claiming) -> tuple[object, object]:
    """A deletion that has begun frees the name."""
    return deleted(w), w.record is None


# Who gets a name


class Naming(Claiming):
    """Somebody creates a scalable topic of the same name, and a v4 client brings a regular one about."""

    creations = Bound()
    creations_left = Variable[int](0)
    auto_creations = Bound()
    auto_creations_left = Variable[int](0)
    auto_creating = Variable[bool](False)
    """A broker has seen that the name is free and is about to create the regular topic of a v4 client."""
    removals = Bound()
    removals_left = Variable[int](0)
    removing = Variable[bool](False)
    """A broker has looked at lock and record and is about to delete the regular topic."""


@start
def the_name_is_free_or_taken(w: Naming) -> None:
    """There is a regular topic of that name, or there is nothing."""
    w.creations_left = w.creations
    w.auto_creations_left = w.auto_creations
    w.removals_left = w.removals
    if choose(w, (True, False)):
        _remove_regular_topic(w)


@action("475-STEP-04", broker=BROKERS)
def create_scalable_topic(w: Naming, broker: str) -> None:
    """
    A broker is asked for a new scalable topic, and claims the name if there is no record.

    It looks for a regular topic after that, because one could come to be between a look and a write.
    [475-READ-29]
    """
    require(w.creations_left)
    require(w.task[broker] is None)
    require(w.record is None)

    w.creations_left -= 1
    claim(w, initial_layout(1), len(w.told) + w.creations - w.creations_left, CREATION)
    assert w.record is not None
    w.task[broker] = _to_create(w, w.record)


@action("475-STEP-04", broker=BROKERS, fair=WEAK)
def look_for_a_regular_topic(w: Naming, broker: str) -> None:
    """
    Who creates a topic looks for a regular one of that name, and withdraws the claim if there is one.

    Somebody else may have made segments for that claim already, so it is deleted like a topic.
    """
    creation = w.task[broker]
    require(isinstance(creation, Creation) and creation.looks)
    assert isinstance(creation, Creation)

    if w.regular is None:
        w.task[broker] = replace(creation, looks=False)
        return
    w.task[broker] = None
    record = standing(w, Stage.CLAIMED, creation.incarnation)
    if record is not None:
        mark_deleted(w, record)
        w.task[broker] = _to_delete(w, record)


@action("475-GUARD-02")
def ask_for_a_regular_topic(w: Naming) -> None:
    """A v4 client asks for a topic that does not exist, and the broker finds the name free."""
    require(w.auto_creations_left)
    require(w.regular is None)
    require(passes_the_guard(w, Client.V4))

    w.auto_creations_left -= 1
    w.auto_creating = True


@action("475-GUARD-02", fair=WEAK)
def auto_create(w: Naming) -> None:
    """The broker creates the regular topic; by the design it serves nobody before it has looked again."""
    require(w.auto_creating)

    w.auto_creating = False
    w.regular = RegularTopic(NAME)
    w.ledger[0] = Ledger.OPEN
    w.served = not w.design.auto_creation_looks_again


@action("475-GUARD-02", fair=WEAK)
def look_again(w: Naming) -> None:
    """The broker reads the record after creating the topic, and withdraws it if the name was claimed."""
    require(not w.served)

    w.served = True
    if not passes_the_guard(w, Client.V4):
        _remove_regular_topic(w)


@action("475-STEP-04")
def ask_to_remove(w: Naming) -> None:
    """A broker is asked to delete the regular topic: it looks for a lock and for a record."""
    require(w.removals_left)
    require(w.migration_lock is None)
    require(w.record is None)

    w.removals_left -= 1
    w.removing = True


@action("475-STEP-04", fair=WEAK)
def remove_regular_topic(w: Naming) -> None:
    """The broker deletes the regular topic, unless a migration has written to its metadata meanwhile."""
    require(w.removing)

    w.removing = False
    if not fenced(w):
        _remove_regular_topic(w)


@step("475-STEP-04", "475-GUARD-02")
def claimed_names_are_left_alone(w: Naming, after: Naming) -> Iterator[str]:
    """Nobody begins to create or to delete a regular topic whose name is claimed, or locked for that."""
    if not w.auto_creating and after.auto_creating and w.record is not None:
        yield "somebody began to create a regular topic under a claimed name"
    if not w.removing and after.removing and (w.record is not None or w.migration_lock is not None):
        yield "somebody began to delete a regular topic during a migration"


@step("475-GOAL-01")
def no_topic_is_removed_unasked(w: Naming, after: Naming) -> Iterator[str]:
    """A regular topic that is served is only removed because somebody asked for that."""
    if old_topic(w) is not None and after.regular is None and not w.removing and not deleted(w):
        yield "the regular topic is gone, and nobody had asked for that"


@always("475-STEP-04", "475-GOAL-01")
def a_migrated_topic_has_its_parents(w: Naming) -> Iterator[str]:
    """What a migrated topic was made from exists as long as its layout says so."""
    view = seen(w)
    if view is not None and w.regular is None:
        for segment in view.layout.segments:
            if segment.legacy_topic is not None:
                yield f"segment {segment.segment_id} wraps {segment.legacy_topic}, which was deleted"


@always("475-GUARD-02", "475-STEP-04")
def a_name_is_one_topic(w: Naming) -> Iterator[str]:
    """No regular topic is served under the name of a scalable one that was not made from it."""
    if claimed_by(w) == CREATION and scalable_layout(w) is not None and w.regular is not None and w.served:
        yield "a regular topic and a new scalable one have the same name"


@leads_to("475-STEP-04")
def claims_are_settled(w: Naming) -> tuple[object, object]:
    """Nobody claims the name for ever without using it."""
    claimed = w.record is not None and scalable_layout(w) is None
    return claimed, not claimed


@sometimes("475-STEP-04")
def a_creation_gives_way(w: Naming) -> object:
    """A claim for a new topic stands although there is a regular one."""
    return claimed_by(w) == CREATION and scalable_layout(w) is None and w.regular is not None


@sometimes("475-GUARD-02")
def an_auto_creation_gives_way(w: Naming) -> object:
    """A regular topic was created under a name that is claimed by now."""
    return not w.served and w.record is not None


# The end of a migrated topic


class Deleting(Claiming):
    """A scalable topic is deleted, and with it the regular one that it was made from."""

    deletions = Bound()
    deletions_left = Variable[int](0)


@start
def nobody_deletes_yet(w: Deleting) -> None:
    """The topic is to be deleted later."""
    w.deletions_left = w.deletions


@action("475-GOAL-05", "475-GOAL-06", broker=BROKERS)
def delete_topic(w: Deleting, broker: str) -> None:
    """A broker is asked to delete the scalable topic: it marks the record, and no lookup finds it then."""
    record = published(w)
    require(w.deletions_left)
    require(w.task[broker] is None)
    require(record is not None)
    assert record is not None

    w.deletions_left -= 1
    mark_deleted(w, record)
    w.task[broker] = _to_delete(w, record)


@always("475-GOAL-05", "475-GOAL-06")
def a_deleted_topic_does_not_come_back(w: Deleting) -> Iterator[str]:
    """Once a migrated topic was deleted, no lookup finds the regular one that it was made from."""
    if w.deletions_left < w.deletions and w.record is None and seen(w) is not None:
        yield "the topic was deleted, and a lookup finds what it was made from"
