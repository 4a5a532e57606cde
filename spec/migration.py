"""
From a regular topic to a scalable one: what clients see before, what the record says after, and who is turned
away.
"""

from dataclasses import dataclass
from enum import Enum

from spec.layout import SegmentInfo, SegmentLayout, SegmentState, layout_of, served_as
from spec.names import RegularName, SegmentName, TopicName, scalable_identity
from spec.ranges import HASH_COUNT, equal_slices
from spec.refusals import Reason, Refused
from spec.routing import Routing, TopicView

NO_CONTENT = 204
"""What a migration answers when it is done. [475-REST-03]"""
NOT_FOUND = 404
NOT_ALLOWED = 405
CONFLICT = 409
GONE = 410

STATUS = {
    Reason.MIGRATION_DISABLED: NOT_ALLOWED,
    Reason.TOPIC_NOT_FOUND: NOT_FOUND,
    Reason.NAME_IS_A_PARTITION: CONFLICT,
    Reason.ALREADY_SCALABLE: CONFLICT,
    Reason.V4_CLIENTS_ATTACHED: CONFLICT,
    Reason.SEGMENT_COUNT_OUT_OF_RANGE: CONFLICT,
    Reason.TOPIC_MIGRATED: GONE,
}
"""
The HTTP status of each refusal by the migration's precheck and by the v4 guard.

[475-CHECK-01, 475-CHECK-03, 475-CHECK-04, 475-GUARD-05, 475-READ-50]
"""

SERVER_ERROR = {Reason.TOPIC_NOT_FOUND: "NotFound", Reason.TOPIC_MIGRATED: "TopicMigrated"}
"""What a lookup by the binary protocol answers when it is refused. [475-LOOKUP-06, 475-GUARD-04]"""

CLIENT_EXCEPTION = {Reason.DOMAIN_UNSUPPORTED: "UnsupportedOperationException"}
"""What a V5 application gets for a name that no lookup is opened for. [475-SDK-02]"""


class Client(Enum):
    """The generation of a client, by the mark on its connection; one without a mark counts as v4."""

    V4 = "v4"
    V5 = "V5"


LOOKUP_COMMAND = {Client.V4: "CommandLookupTopic", Client.V5: "CommandScalableTopicLookup"}
"""How each generation asks for a topic: only V5 clients have a lookup session. [475-GUARD-03]"""


@dataclass(frozen=True, slots=True)
class RegularTopic:
    """A regular topic as a lookup or the migration command finds it; 0 partitions means not partitioned."""

    name: RegularName
    partitions: int = 0
    v4_connections: int = 0

    def __str__(self) -> str:
        return f"{self.name}, partitions {self.partitions}"

    @property
    def ledger_count(self) -> int:
        """N: a topic that is not partitioned counts as one. [475-SPECIAL-05, 475-ROUTE-06]"""
        return self.partitions or 1

    def ledgers(self) -> tuple[RegularName, ...]:
        """The topics that hold the data: each partition, or the topic itself."""
        if self.partitions == 0:
            return (self.name,)
        return tuple(self.name.of_partition(k) for k in range(self.partitions))


@dataclass(frozen=True, slots=True)
class MigrationOrigin:
    """
    Where a scalable topic came from; for people and labels, never consulted by the protocol.

    [475-ORIGIN-02, 475-ORIGIN-03]
    """

    topic: RegularName
    partitions: int


def synthetic_view(topic: RegularTopic) -> TopicView:
    """
    A regular topic as V5 clients see it: one special segment per partition, routed as v4 does.

    A special segment is marked by the name of the topic that it stands for. Its range is nominal: no hash
    decides who gets a key. [475-SPECIAL-01, 475-SPECIAL-02, 475-SPECIAL-03, 475-SPECIAL-04, 475-READ-08]
    """
    ranges = equal_slices(topic.ledger_count)
    segments = tuple(
        SegmentInfo(k, whole, legacy_topic=ledger)
        for k, (whole, ledger) in enumerate(zip(ranges, topic.ledgers(), strict=True))
    )
    layout = SegmentLayout(0, len(segments), segments, segments)
    return TopicView(scalable_identity(topic.name), layout, Routing.MOD_N)


def migrated_layout(topic: RegularTopic) -> SegmentLayout:
    """
    N sealed parents that wrap the old ledgers, and N active children of equal width that each descend from
    all of them.

    A key's messages may lie in any parent, so a child has to wait for all. The parents' ranges are nominal:
    mod-N routing has none.
    [475-LAYOUT-01, 475-LAYOUT-02, 475-LAYOUT-03, 475-LAYOUT-04, 475-LAYOUT-05, 475-LAYOUT-06, 475-LAYOUT-09,
    475-LAYOUT-10, 475-ROUTE-05]
    """
    ranges = equal_slices(topic.ledger_count)
    ledgers = topic.ledgers()
    count = len(ledgers)
    parent_ids, child_ids = tuple(range(count)), tuple(range(count, 2 * count))

    parents = (
        SegmentInfo(k, ranges[k], SegmentState.SEALED, child_ids=child_ids, legacy_topic=ledgers[k])
        for k in parent_ids
    )
    children = (SegmentInfo(count + k, ranges[k], parent_ids=parent_ids) for k in parent_ids)
    return layout_of(0, 2 * count, (*parents, *children))


def ledger_of(layout: SegmentLayout, name: SegmentName) -> SegmentName | RegularName:
    """
    The topic whose managed ledger a segment's name leads to: for a wrapped partition that of the old topic.

    [475-LAYOUT-07, 475-LAYOUT-08, 475-READ-12]
    """
    segment = layout.segment(name.segment_id)
    if segment.range != name.range:
        raise Refused(Reason.SEGMENT_UNKNOWN, name.descriptor)
    return served_as(name.topic, segment)


def precheck(topic: RegularTopic | None, scalable: bool, enabled: bool = True) -> RegularTopic:
    """
    The topic, if it may be migrated now; otherwise the first thing in the way, in this order.

    [475-CHECK-02, 475-CHECK-06, 475-READ-32]
    """
    if not enabled:
        raise Refused(Reason.MIGRATION_DISABLED, "enableScalableTopicMigration=false")
    if topic is None:
        raise Refused(Reason.TOPIC_NOT_FOUND)
    if topic.name.partition is not None:
        raise Refused(Reason.NAME_IS_A_PARTITION, str(topic.name))
    if scalable:
        raise Refused(Reason.ALREADY_SCALABLE, str(topic.name))
    if topic.v4_connections:
        raise Refused(Reason.V4_CLIENTS_ATTACHED, f"{topic.v4_connections} of them")
    if topic.ledger_count > HASH_COUNT:
        raise Refused(Reason.SEGMENT_COUNT_OUT_OF_RANGE, f"{topic.partitions} partitions")
    return topic


def look_up(
    name: TopicName | RegularName, scalable: SegmentLayout | None, regular: RegularTopic | None
) -> TopicView:
    """
    What a lookup session answers: the real layout wherever one exists, else a synthetic one for a regular
    topic.

    There is no way back: as soon as scalable metadata exists, no form of the name yields a synthetic layout.
    [475-LOOKUP-05, 475-LOOKUP-07, 475-LOOKUP-09, 475-LOOKUP-10, 475-GOAL-06, 475-READ-25, 475-READ-26]
    """
    identity = scalable_identity(name)
    if scalable is not None:
        return TopicView(identity, scalable, Routing.RANGE)
    if isinstance(name, TopicName) or regular is None or regular.name != name:
        raise Refused(Reason.TOPIC_NOT_FOUND, str(name))
    return synthetic_view(regular)


def name_from_now_on(asked: TopicName | RegularName, view: TopicView) -> TopicName | RegularName:
    """
    What a client calls the topic after a lookup: its identity as soon as it has seen a real layout.

    Until then the topic is unknown under that identity, so the client keeps to what it asked for.
    [475-LOOKUP-08, 475-READ-24]
    """
    return asked if view.synthetic else view.identity


def guard_v4_lookup(name: RegularName, scalable: bool, client: Client = Client.V4) -> None:
    """
    A v4 client that looks up a topic which is scalable by now is sent away, with the topic's new name.

    One partition of the topic counts as the topic. V5 clients pass, because they drain the old partitions
    under their old names. [475-GUARD-04, 475-GUARD-06, 475-READ-42, 475-READ-43]
    """
    if scalable and client is Client.V4:
        raise Refused(Reason.TOPIC_MIGRATED, str(TopicName(name.tenant, name.namespace, name.local)))
