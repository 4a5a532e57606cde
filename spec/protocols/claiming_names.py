"""
Who a name belongs to: a regular topic, a migration of it, a new scalable topic, or a deletion.

The regular topic and the record of the scalable one are two entries of the metadata store, and nothing writes
both at once. Whoever wants the name writes its own entry first and looks at the other one after that.
"""

from collections.abc import Iterator

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
from spec.protocols.migrating import Migrating
from spec.protocols.one_name import (
    CREATION,
    DELETION,
    NAME,
    NOTHING_YET,
    OneName,
    fenced,
    old_topic,
    partitions_of,
    passes_the_guard,
    scalable_layout,
    seen,
)
from spec.protocols.topic import Ledger, Record, Subscribed


class Naming(Migrating):
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
        _remove(w)


@action("475-STEP-04")
def create_scalable_topic(w: Naming) -> None:
    """
    Write the record of a new scalable topic, if there is none.

    The design only claims the name at first, because nothing stops a regular topic from coming to be between
    a look and a write. [475-READ-29]
    """
    require(w.creations_left)
    require(w.record is None)

    w.creations_left -= 1
    w.claimed_by = CREATION
    w.record = Record(NOTHING_YET)
    if not w.design.creation_respects_regular_topics:
        _publish_new_topic(w)


@action("475-STEP-04", fair=WEAK)
def settle_claim(w: Naming) -> None:
    """Whoever finds a claim of a creation publishes the new topic, or withdraws for a regular one."""
    require(w.claimed_by == CREATION and scalable_layout(w) is None)

    if w.regular is None:
        _publish_new_topic(w)
    else:
        w.record = w.claimed_by = None


def _publish_new_topic(w: Naming) -> None:
    assert w.record is not None
    w.record = w.record.written(layout=initial_layout(1))
    w.ledger[w.most_partitions] = Ledger.OPEN


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
        _remove(w)


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
        _remove(w)


def _remove(w: Naming) -> None:
    """The regular topic is gone with its messages and its subscriptions."""
    for place in partitions_of(w.regular):
        w.ledger[place] = Ledger.ABSENT
        w.log[place] = ()
        for subscription in w.subscribed:
            w.subscribed[subscription] = Subscribed.NOT
            w.cursor[subscription, place] = None
    w.regular = None


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
    if old_topic(w) is not None and after.regular is None and not w.removing and w.claimed_by != DELETION:
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
    if w.claimed_by == CREATION and scalable_layout(w) is not None and w.regular is not None and w.served:
        yield "a regular topic and a new scalable one have the same name"


@leads_to("475-STEP-04")
def claims_are_settled(w: Naming) -> tuple[object, object]:
    """Nobody claims the name for ever without using it."""
    claimed = w.record is not None and scalable_layout(w) is None
    return claimed, not claimed


@sometimes("475-STEP-04")
def a_creation_gives_way(w: Naming) -> object:
    """A claim for a new topic stands although there is a regular one."""
    return w.claimed_by == CREATION and scalable_layout(w) is None and w.regular is not None


@sometimes("475-GUARD-02")
def an_auto_creation_gives_way(w: Naming) -> object:
    """A regular topic was created under a name that is claimed by now."""
    return not w.served and w.record is not None


# The end of a migrated topic


class Deleting(OneName):
    """A migrated topic is deleted."""

    deletions = Bound()
    deletions_left = Variable[int](0)


@start
def nobody_deletes_yet(w: Deleting) -> None:
    """The topic is to be deleted later."""
    w.deletions_left = w.deletions


@action("475-GOAL-05", "475-GOAL-06")
def delete_topic(w: Deleting) -> None:
    """
    Delete a scalable topic: as written its record and its segments, and nothing that it was made from.

    By the design the record stays and says that the topic is being deleted, until all else is gone.
    """
    require(w.deletions_left)
    require(scalable_layout(w) is not None)

    w.deletions_left -= 1
    w.claimed_by = DELETION
    if not w.design.deletion_takes_regular_topics_along:
        _delete_segments(w, range(w.most_partitions, w.segments))
        w.record = w.claimed_by = None


@action("475-GOAL-06", fair=WEAK)
def delete_segments(w: Deleting) -> None:
    """Delete the segments, and the regular topic whose partitions were the first of them."""
    require(w.claimed_by == DELETION)

    _delete_segments(w, range(w.segments))
    w.regular = w.fenced_for = None
    w.closed = False


def _gone(w: Deleting) -> bool:
    return w.regular is None and all(state is Ledger.ABSENT for state in w.ledger.values())


def _delete_segments(w: Deleting, which: range) -> None:
    for place in which:
        w.ledger[place] = Ledger.ABSENT


@action("475-GOAL-06", fair=WEAK)
def delete_record(w: Deleting) -> None:
    """The record goes last, and with it the name is free."""
    require(w.claimed_by == DELETION)
    require(_gone(w))

    w.record = w.claimed_by = None


@always("475-GOAL-05", "475-GOAL-06")
def a_deleted_topic_does_not_come_back(w: Deleting) -> Iterator[str]:
    """Once a migrated topic was deleted, no lookup finds the regular one that it was made from."""
    if w.deletions_left < w.deletions and w.claimed_by is None and seen(w) is not None:
        yield "the topic was deleted, and a lookup finds what it was made from"


@always("475-GOAL-06")
def what_was_deleted_takes_no_messages(w: Deleting) -> Iterator[str]:
    """Once a topic was deleted and its name is free, no segment of it comes back."""
    if w.deletions_left < w.deletions and w.claimed_by is None and w.record is None:
        for place, state in w.ledger.items():
            if state is not Ledger.ABSENT and place >= w.most_partitions:
                yield f"the topic was deleted, and segment {place} takes messages again"


@leads_to("475-GOAL-06")
def deletions_end(w: Deleting) -> tuple[object, object]:
    """A deletion that has begun frees the name."""
    return w.claimed_by == DELETION, w.record is None
