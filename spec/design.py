"""
Designs are data: one field per decision that the documents leave open or get wrong.

`AS_WRITTEN` is the documents taken literally, read generously only where they are silent. `HARDENED` is what
we recommend. Every field in which they differ is a finding: with that one repair taken out of `HARDENED` a
world is violated (`./braid findings`), or else the repair is not needed and goes.
"""

from dataclasses import dataclass
from enum import Enum


class Readiness(Enum):
    """Which segments a subscription's consumers may be given."""

    ACTIVE_AT_ONCE = "every active segment, as soon as it is published"
    PARENTS_DRAINED = "every undrained segment whose parents are drained"
    ANCESTORS_DRAINED = "every undrained segment all of whose ancestors are drained"


class Discovery(Enum):
    """Where a layout change learns which subscriptions its children need cursors for."""

    PARENT_CURSORS = "from the cursors that the parent segments have at that moment"
    RECORD = "from the topic record, into which a subscription is written before it gets any cursor"


class Conflict(Enum):
    """What a layout change does when the record was written since it was read."""

    PUBLISH_AGAIN = "apply the same change to the new record, and write that"
    START_AGAIN = "read the record and begin anew"


class Pruning(Enum):
    """Which of the drained sealed segments may be forgotten."""

    ANY_DRAINED = "every one"
    OLDEST_FIRST = "those without parents in the layout"


class Unknown(Enum):
    """What an entry is taken for when its transaction has no header any more."""

    ABORTED = "the entry is skipped"
    COMMITTED = "the entry is delivered"
    NEVER_ASKED = "nobody asks, because what became of each entry is kept with its segment"


class Sweep(Enum):
    """What becomes of operation records that are left when a transaction's retention is over."""

    FORCES = "they are deleted, and the header with them"
    WAITS = "they stay, and the header with them, until those whose records they are have done their work"


class Ids(Enum):
    """Where a coordinator takes the id of a new transaction from."""

    COUNTED = "it counts in memory"
    COUNTED_AND_FREE = "it counts in memory, and skips the ids under which a header is stored"
    DRAWN_AT_START = "it draws a number when it is started, and counts in memory behind that"
    DRAWN = "from a sequence of the store, which outlives every header"


class Listing(Enum):
    """How a store without secondary indexes makes up for them."""

    ENTRY_LAST = "by a second key for each entry, which is written after the record"
    ENTRY_FIRST = "by a second key for each entry, which is written before the record"
    SCANNED = "by reading the records themselves, and leaving out those that do not belong there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A set of decisions."""

    # Layout changes

    discovery: Discovery
    """468-READ-11, 468-READ-13: else a subscription made during a split has no cursor on the children."""

    conflict: Conflict
    """468-READ-17: else the children that are published are not those that were given cursors."""

    changes_are_announced: bool
    """
    468-READ-19: a change is written into the record before its first step, and from then on it is only
    finished. Else a deposed leader seals a segment of which nobody else knows that it was to be sealed.
    """

    leaders_finish_changes: bool
    """468-READ-16: else a crash between sealing and publishing leaves a range that nobody may write to."""

    lost_replies_are_read_back: bool
    """A write whose reply was lost may have happened: else consumers are never told of that split."""

    cursors_follow_the_record: bool
    """468-READ-12, 468-READ-48: else a cursor of a deleted subscription stays and holds back its segment."""

    subscriptions_have_numbers: bool
    """Else a late deletion of a cursor hits that of a subscription which was created again meanwhile."""

    readiness: Readiness
    """
    468-READ-01: with active segments alone, nobody is ever told to drain a sealed one, and order is lost.
    """

    producers_settle_before_rerouting: bool
    """468-READ-30: else a message that a sealed segment sent back arrives after a later one of its key."""

    segments_open_only_where_listed: bool
    """468-READ-44: else a producer that knows an old layout brings a segment of a deleted topic back."""

    pruning: Pruning
    """468-READ-04: else a child forgets that its grandparents are not drained, and is read before them."""

    # Leadership

    leaders_are_fenced: bool
    """468-READ-19: a leader's term stands in the record. Else a deposed leader goes on changing it."""

    leaders_load_after_the_lock: bool
    """468-READ-21: else a new leader does not know who registered while it was being elected."""

    lost_sessions_read_again: bool
    """Notifications do not cross a lost session: else a broker never hears that there is no leader."""

    # The life of a topic

    creations_are_claimed: bool
    """468-READ-43: else a crash leaves a topic whose segments do not exist, and creating it is refused."""

    deletions_are_marked: bool
    """468-READ-44: else a deletion that stops half-way leaves a topic without segments."""

    brokers_finish_claims: bool
    """Else a crash leaves a name that is claimed or being deleted for ever: no topic, and not free either."""

    topics_have_incarnations: bool
    """468-READ-45: else a re-created topic finds segments, versions and epochs of the one before."""

    # Consumers and their sessions

    disconnects_name_their_connection: bool
    """468-READ-09: else the late end of an old connection starts the timer of a consumer that is back."""

    late_registrations_are_ignored: bool
    """468-READ-09: else one that was overtaken by a reconnect puts the session on a dead connection."""

    consumers_listen_to_one_connection: bool
    """468-READ-41: else a push from an earlier connection undoes a later one of the same epoch, for good."""

    replaced_consumers_are_told: bool
    """468-SESSION-03: else a process whose name another one uses, too, reads on and is never told."""

    sessions_are_fenced: bool
    """468-READ-40: else the timers of a deposed leader evict consumers that have long moved on."""

    restores_deal_anew: bool
    """468-READ-34: else what a leader left half written is restored, and segments have two owners or none."""

    leaders_hang_up_when_deposed: bool
    """Else consumers who never left are strangers to a broker that is elected again, and evicted there."""

    segments_admit_one_consumer: bool
    """468-READ-35: else a consumer that has not heard yet reads on beside the new owner of its segment."""

    consumers_finish_before_releasing: bool
    """468-READ-35: else the next owner goes past a message that the last one still has in hand."""

    checkpoints_say_what_is_drained: bool
    """468-READ-51: else no sealed segment of a CheckpointConsumer is ever drained, and no child assigned."""

    # DAG watch sessions

    watches_before_loading: bool
    """468-READ-23: else a change between loading and watching is never pushed."""

    watches_follow_the_leader: bool
    """468-READ-24: else consumers never learn where the new leader is, and are evicted alive."""

    watches_open_controllers: bool
    """468-READ-22: else nobody stands for election once every broker with a controller has gone."""

    clients_keep_the_latest: bool
    """468-READ-42: else a push that was overtaken takes a client's layout back."""

    watches_push_in_order: bool
    """Updates of one session are put together one after the other: else the older address comes last."""

    clients_look_segments_up: bool
    """468-READ-25, 468-READ-26: else a segment that has moved is looked for where it was."""

    # Queue consumers

    queue_subscriptions_come_first: bool
    """Else the controller does not know of a subscription, and the children of a split have no cursor."""

    queues_drain_by_acknowledgement: bool
    """468-READ-49: else what a consumer gives back is in a segment that the others have dropped."""

    # Auto split and merge

    merge_leaves_room_for_consumers: bool
    """483-READ-40: without it, merging and splitting for consumers alternate for ever on a quiet topic."""

    merge_weighs_the_sum: bool
    """483-READ-41: without it, segments that are cold but too hot together are merged and split again."""

    split_skips_single_hashes: bool
    """483-READ-37: without it, a hot segment of one hash is chosen again and again, and each time refused."""

    cooldowns_outlive_leaders: bool
    """483-READ-27: else every change of leader allows another split and another merge at once."""

    depth_outlives_pruning: bool
    """483-READ-44: else a pruned past counts for nothing, and splits and merges alternate for ever."""

    merge_allows_for_silence: bool
    """483-READ-12: else a segment whose load has grown, but not enough to be reported, is merged as cold."""

    load_reports_are_conditional: bool
    """483-READ-08: else the late report of an old owner stands, and a hot segment reads cold."""

    load_records_go_with_the_topic: bool
    """483-READ-10: else a re-created topic inherits the age of a record, and is merged without any window."""

    windows_use_one_clock: bool
    """483-READ-15: else a leader whose clock is ahead merges what was reported as cold just now."""

    small_rates_are_not_news: bool
    """483-READ-14: else a nearly idle segment is reported at every wobble, and is never merged."""

    changes_keep_the_policy: bool
    """483-READ-57: else a split rebuilds the record from the layout, and an opted-out topic is in again."""

    # Migration

    migration_seals_first: bool
    """475-READ-13: else old partitions take writes after they count as drained."""

    migration_makes_children: bool
    """475-READ-16, 475-READ-17: else the first messages after the flip have no cursor to keep them."""

    migration_closes_v4: bool
    """475-READ-30: else a v4 client that came after the precheck stays attached to an old partition."""

    migration_is_watched: bool
    """475-READ-39: else a lookup session that missed the push shows the regular topic for ever."""

    creation_respects_regular_topics: bool
    """475-READ-29: else a scalable topic hides the regular one of that name, and all that is in it."""

    migration_is_announced: bool
    """475-READ-15: else a crash after terminating partitions leaves a topic that nobody can write to."""

    brokers_finish_migrations: bool
    """475-READ-15: else a migration whose broker crashed shuts everybody out for ever."""

    migration_fences_the_regular_topic: bool
    """475-READ-27: else a partition that is added meanwhile is in no layout, nor is what is sent to it."""

    migration_discovers_after_sealing: bool
    """475-READ-17: else a subscription that is made meanwhile has no cursor on the children."""

    sealed_partitions_freeze_subscriptions: bool
    """475-READ-17: else a subscription is made where nothing is written any more, and nowhere else."""

    v4_guard_covers_attaching: bool
    """475-READ-42: else a v4 client that knows its broker connects without a lookup, past the guard."""

    v5_connections_are_marked: bool
    """475-READ-31, 475-READ-43: else the guard keeps V5 consumers from the old partitions as well."""

    auto_creation_looks_again: bool
    """475-READ-44: else a regular topic comes to be under a name that was claimed meanwhile."""

    deletion_takes_regular_topics_along: bool
    """475-READ-28: else deleting a migrated topic brings the regular one back."""

    migration_lock_has_its_own_path: bool
    """475-READ-35: else the record goes with the lock in whose place it was written."""

    sessions_follow_the_partition_count: bool
    """475-READ-27: else a V5 client never learns of a partition that was added to a regular topic."""

    late_steps_are_refused: bool
    """Else a broker that comes late brings deleted cursors back, or terminates a newer topic of that name."""

    # Transactions

    writes_hold_the_horizon: bool
    """473-READ-05, 473-READ-20: else an entry is read between its append and the news of its record."""

    unknown: Unknown
    """473-READ-04, 473-READ-19: a header is gone before the last reader has come, so no answer is right."""

    unrecorded_entries_are_void: bool
    """473-READ-21: else an entry of which nobody claims that it belongs there is committed with the rest."""

    operations_look_again: bool
    """473-READ-14, 473-READ-26: else an operation is added to a transaction that was decided meanwhile."""

    superseded_owners_are_fenced: bool
    """Else the last owner of a segment acknowledges what the next one has never heard of."""

    sweep: Sweep
    """473-READ-17: else what a participant has yet to do is deleted, only because it took long."""

    records_go_with_their_segment: bool
    """473-READ-44: else what is recorded of a segment that is gone stays, and the header with it."""

    leftovers_load_their_segment: bool
    """Else a sealed segment that everybody has drained is loaded by nobody, and never deletes its records."""

    serving_waits_for_recovery: bool
    """473-READ-28: else a broker shows what it would not, had it read what is stored."""

    headers_are_watched_before_read: bool
    """473-READ-41: else a decision between reading a header and watching it is never noticed."""

    lost_watches_read_again: bool
    """473-READ-40: else a decision that fell into a lost session is never noticed."""

    ends_are_dated_at_once: bool
    """473-READ-01: else a header whose coordinator crashed after the decision is never collected."""

    acks_are_durable_before_records_go: bool
    """473-READ-24: else a crash takes back what a committed transaction has consumed."""

    cumulative_acks_say_so: bool
    """473-READ-15: else the next owner takes an ack of everything up to a message for an ack of that one."""

    held_messages_are_refused: bool
    """473-READ-27: else two transactions that both commit have consumed the same message."""

    held_messages_stay_held: bool
    """473-READ-28: else what an open transaction has consumed is delivered again when a consumer leaves."""

    aborted_acks_are_redelivered: bool
    """473-READ-28: else what an aborted transaction gives back stays with a consumer that is done with it."""

    participants_delete_their_own_records: bool
    """473-READ-22: else a range of keys takes acks of others along that are not applied yet."""

    acks_name_their_cursor: bool
    """473-READ-44: else acks for a deleted subscription move the cursor of the next one of that name."""

    legacy_ledgers_keep_their_buffer: bool
    """473-READ-35: else what legacy transactions have committed vanishes when the topic is migrated."""

    migration_ends_open_transactions: bool
    """473-READ-35: else an old partition is sealed without a marker, and nothing behind it is ever read."""

    transaction_ids: Ids
    """473-READ-11: else an id is used again, and a client's commit ends the transaction of another one."""

    listing: Listing
    """473-READ-51: else a crash between two writes hides a header from the sweeps for ever."""

    deletions_name_their_version: bool
    """473-READ-12: else a deletion that is repeated takes a later record that was given the same key."""


AS_WRITTEN = Design(
    discovery=Discovery.PARENT_CURSORS,
    conflict=Conflict.PUBLISH_AGAIN,
    changes_are_announced=False,
    leaders_finish_changes=False,
    lost_replies_are_read_back=False,
    cursors_follow_the_record=False,
    subscriptions_have_numbers=False,
    readiness=Readiness.ACTIVE_AT_ONCE,
    producers_settle_before_rerouting=False,
    segments_open_only_where_listed=False,
    pruning=Pruning.ANY_DRAINED,
    leaders_are_fenced=False,
    leaders_load_after_the_lock=False,
    lost_sessions_read_again=False,
    creations_are_claimed=False,
    deletions_are_marked=False,
    brokers_finish_claims=False,
    topics_have_incarnations=False,
    disconnects_name_their_connection=False,
    late_registrations_are_ignored=False,
    consumers_listen_to_one_connection=False,
    replaced_consumers_are_told=False,
    sessions_are_fenced=False,
    restores_deal_anew=False,
    leaders_hang_up_when_deposed=False,
    segments_admit_one_consumer=False,
    consumers_finish_before_releasing=False,
    checkpoints_say_what_is_drained=False,
    watches_before_loading=False,
    watches_follow_the_leader=False,
    watches_open_controllers=False,
    clients_keep_the_latest=False,
    watches_push_in_order=False,
    clients_look_segments_up=False,
    queue_subscriptions_come_first=False,
    queues_drain_by_acknowledgement=False,
    merge_leaves_room_for_consumers=False,
    merge_weighs_the_sum=False,
    split_skips_single_hashes=False,
    cooldowns_outlive_leaders=False,
    depth_outlives_pruning=False,
    merge_allows_for_silence=False,
    load_reports_are_conditional=False,
    load_records_go_with_the_topic=False,
    windows_use_one_clock=False,
    small_rates_are_not_news=False,
    changes_keep_the_policy=False,
    migration_seals_first=False,
    migration_makes_children=False,
    migration_closes_v4=False,
    migration_is_watched=False,
    creation_respects_regular_topics=False,
    migration_is_announced=False,
    brokers_finish_migrations=False,
    migration_fences_the_regular_topic=False,
    migration_discovers_after_sealing=False,
    sealed_partitions_freeze_subscriptions=False,
    v4_guard_covers_attaching=False,
    v5_connections_are_marked=False,
    auto_creation_looks_again=False,
    deletion_takes_regular_topics_along=False,
    migration_lock_has_its_own_path=False,
    sessions_follow_the_partition_count=False,
    late_steps_are_refused=False,
    writes_hold_the_horizon=False,
    unknown=Unknown.ABORTED,
    unrecorded_entries_are_void=False,
    operations_look_again=False,
    superseded_owners_are_fenced=False,
    sweep=Sweep.FORCES,
    records_go_with_their_segment=False,
    leftovers_load_their_segment=False,
    serving_waits_for_recovery=False,
    headers_are_watched_before_read=False,
    lost_watches_read_again=False,
    ends_are_dated_at_once=False,
    acks_are_durable_before_records_go=False,
    cumulative_acks_say_so=False,
    held_messages_are_refused=False,
    held_messages_stay_held=False,
    aborted_acks_are_redelivered=False,
    participants_delete_their_own_records=False,
    acks_name_their_cursor=False,
    legacy_ledgers_keep_their_buffer=False,
    migration_ends_open_transactions=False,
    transaction_ids=Ids.COUNTED,
    listing=Listing.ENTRY_LAST,
    deletions_name_their_version=False,
)

HARDENED = Design(
    discovery=Discovery.RECORD,
    conflict=Conflict.START_AGAIN,
    changes_are_announced=True,
    leaders_finish_changes=True,
    lost_replies_are_read_back=True,
    cursors_follow_the_record=True,
    subscriptions_have_numbers=True,
    readiness=Readiness.ANCESTORS_DRAINED,
    producers_settle_before_rerouting=True,
    segments_open_only_where_listed=True,
    pruning=Pruning.OLDEST_FIRST,
    leaders_are_fenced=True,
    leaders_load_after_the_lock=True,
    lost_sessions_read_again=True,
    creations_are_claimed=True,
    deletions_are_marked=True,
    brokers_finish_claims=True,
    topics_have_incarnations=True,
    disconnects_name_their_connection=True,
    late_registrations_are_ignored=True,
    consumers_listen_to_one_connection=True,
    replaced_consumers_are_told=True,
    sessions_are_fenced=True,
    restores_deal_anew=True,
    leaders_hang_up_when_deposed=True,
    segments_admit_one_consumer=True,
    consumers_finish_before_releasing=True,
    checkpoints_say_what_is_drained=True,
    watches_before_loading=True,
    watches_follow_the_leader=True,
    watches_open_controllers=True,
    clients_keep_the_latest=True,
    watches_push_in_order=True,
    clients_look_segments_up=True,
    queue_subscriptions_come_first=True,
    queues_drain_by_acknowledgement=True,
    merge_leaves_room_for_consumers=True,
    merge_weighs_the_sum=True,
    split_skips_single_hashes=True,
    cooldowns_outlive_leaders=True,
    depth_outlives_pruning=True,
    merge_allows_for_silence=True,
    load_reports_are_conditional=True,
    load_records_go_with_the_topic=True,
    windows_use_one_clock=True,
    small_rates_are_not_news=True,
    changes_keep_the_policy=True,
    migration_seals_first=True,
    migration_makes_children=True,
    migration_closes_v4=True,
    migration_is_watched=True,
    creation_respects_regular_topics=True,
    migration_is_announced=True,
    brokers_finish_migrations=True,
    migration_fences_the_regular_topic=True,
    migration_discovers_after_sealing=True,
    sealed_partitions_freeze_subscriptions=True,
    v4_guard_covers_attaching=True,
    v5_connections_are_marked=True,
    auto_creation_looks_again=True,
    deletion_takes_regular_topics_along=True,
    migration_lock_has_its_own_path=True,
    sessions_follow_the_partition_count=True,
    late_steps_are_refused=True,
    writes_hold_the_horizon=True,
    unknown=Unknown.NEVER_ASKED,
    unrecorded_entries_are_void=True,
    operations_look_again=True,
    superseded_owners_are_fenced=True,
    sweep=Sweep.WAITS,
    records_go_with_their_segment=True,
    leftovers_load_their_segment=True,
    serving_waits_for_recovery=True,
    headers_are_watched_before_read=True,
    lost_watches_read_again=True,
    ends_are_dated_at_once=True,
    acks_are_durable_before_records_go=True,
    cumulative_acks_say_so=True,
    held_messages_are_refused=True,
    held_messages_stay_held=True,
    aborted_acks_are_redelivered=True,
    participants_delete_their_own_records=True,
    acks_name_their_cursor=True,
    legacy_ledgers_keep_their_buffer=True,
    migration_ends_open_transactions=True,
    transaction_ids=Ids.DRAWN,
    listing=Listing.SCANNED,
    deletions_name_their_version=True,
)

NAMED = {"AS_WRITTEN": AS_WRITTEN, "HARDENED": HARDENED}
"""The designs that can be asked for by name."""
