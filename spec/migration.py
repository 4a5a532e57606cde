"""
From a regular topic to a scalable one: what clients see before, what the record says after, and who is turned
away.

`partitions` is the regular topic's partition count; 0 means that it is not partitioned, which counts as one.
"""

from dataclasses import dataclass

from spec.layout import SegmentInfo, SegmentLayout, SegmentState, layout_of
from spec.names import RegularName, TopicName, scalable_identity
from spec.ranges import equal_slices
from spec.refusals import Reason, Refused
from spec.routing import Routing, TopicView

NO_CONTENT = 204
NOT_FOUND = 404
NOT_ALLOWED = 405
CONFLICT = 409
GONE = 410

STATUS = {
    Reason.MIGRATION_DISABLED: NOT_ALLOWED,
    Reason.NAME_IS_A_PARTITION: CONFLICT,
    Reason.TOPIC_NOT_FOUND: NOT_FOUND,
    Reason.ALREADY_SCALABLE: CONFLICT,
    Reason.V4_CLIENTS_ATTACHED: CONFLICT,
    Reason.TOPIC_MIGRATED: GONE,
}
"""The HTTP status of each refusal that migration and the v4 guard know."""


@dataclass(frozen=True, slots=True)
class RegularTopic:
    """A regular topic as the migration command finds it."""

    name: RegularName
    partitions: int = 0
    v4_connections: int = 0

    def ledgers(self) -> tuple[RegularName, ...]:
        """The topics that hold the data: each partition, or the topic itself."""
        if self.partitions == 0:
            return (self.name,)
        return tuple(self.name.of_partition(k) for k in range(self.partitions))


@dataclass(frozen=True, slots=True)
class MigrationOrigin:
    """Where a scalable topic came from; for people and labels, never consulted by the protocol."""

    topic: RegularName
    partitions: int


def synthetic_view(topic: RegularTopic) -> TopicView:
    """A regular topic as V5 clients see it: one special segment per partition, routed as v4 does."""
    ledgers = topic.ledgers()
    segments = tuple(
        SegmentInfo(k, whole, legacy_topic=ledger)
        for k, (ledger, whole) in enumerate(zip(ledgers, equal_slices(len(ledgers)), strict=True))
    )
    layout = SegmentLayout(0, len(segments), segments, segments)
    return TopicView(scalable_identity(topic.name), layout, Routing.MOD_N)


def migrated_layout(topic: RegularTopic) -> SegmentLayout:
    """
    N sealed parents that wrap the old ledgers, and N active children of equal width that each descend from
    all of them.

    A key's messages may lie in any parent, so a child has to wait for all. The parents' ranges are nominal:
    mod-N routing has none.
    """
    ledgers = topic.ledgers()
    count = len(ledgers)
    parent_ids, child_ids = tuple(range(count)), tuple(range(count, 2 * count))
    ranges = equal_slices(count)

    parents = (
        SegmentInfo(k, ranges[k], SegmentState.SEALED, child_ids=child_ids, legacy_topic=ledgers[k])
        for k in parent_ids
    )
    children = (SegmentInfo(count + k, ranges[k], parent_ids=parent_ids) for k in parent_ids)
    return layout_of(0, 2 * count, (*parents, *children))


def precheck(topic: RegularTopic | None, scalable: bool, enabled: bool = True) -> RegularTopic:
    """The topic, if it may be migrated now; otherwise the first thing in the way, in this order."""
    if not enabled:
        raise Refused(Reason.MIGRATION_DISABLED, "enableScalableTopicMigration=false")
    if topic is None:
        raise Refused(Reason.TOPIC_NOT_FOUND)
    if topic.name.partition is not None:
        raise Refused(Reason.NAME_IS_A_PARTITION, str(topic.name))
    if scalable:
        raise Refused(Reason.ALREADY_SCALABLE, str(topic.name))
    if topic.v4_connections:
        raise Refused(Reason.V4_CLIENTS_ATTACHED, f"{topic.v4_connections} connections")
    return topic


def look_up(
    name: TopicName | RegularName, scalable: SegmentLayout | None, regular: RegularTopic | None
) -> TopicView:
    """
    What a lookup session answers: the real layout wherever one exists, else a synthetic one for a regular
    topic.

    There is no way back: as soon as scalable metadata exists, no form of the name yields a synthetic layout.
    """
    identity = scalable_identity(name)
    if scalable is not None:
        return TopicView(identity, scalable, Routing.RANGE)
    if isinstance(name, TopicName) or regular is None:
        raise Refused(Reason.TOPIC_NOT_FOUND, str(name))
    return synthetic_view(regular)


def guard_v4_lookup(name: RegularName, scalable: bool) -> None:
    """A v4 client that looks up a topic which is scalable by now is sent away, with the topic's new name."""
    if scalable:
        raise Refused(Reason.TOPIC_MIGRATED, str(TopicName(name.tenant, name.namespace, name.local)))
