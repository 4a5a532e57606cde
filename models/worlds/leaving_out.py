"""What cannot happen in a world whose budget for it is nothing: names for the `idle` of such worlds."""

NO_DISCOVERY = ("discover",)
"""The design takes subscriptions from the record, and asks no segment for them."""

NO_EXPIRY = (
    "expire_session",
    "notice_lost_session",
    "notice_later_term",
    "a_deposed_leader_acts_beside_its_successor",
)
NO_CRASH = ("crash", "restart", "open_controller")
NO_LOST_REPLY = ("publish_without_an_answer", "learn_the_outcome")
NO_MERGE = (
    "begin_merge",
    "a_merge_was_published",
    "one_parent_of_a_merge_is_sealed_before_the_other",
)
NO_SPLIT = ("begin_split", "a_split_was_published")
NO_CREATION = ("make_first_segment", "finish_creation")
NO_FAILED_DELETION = ("fail_to_delete_segment",)
NO_LOST_ACKNOWLEDGEMENT = ("send_unacknowledged", "send_again", "give_up", "a_message_stands_in_two_segments")
NO_FAILOVER = (*NO_EXPIRY, *NO_CRASH, "finish_change")

NO_MOVE = ("move", "notice_the_next_owner", "a_superseded_owner_goes_on")
NO_STOP = ("stop", "take_over_segment")
NO_RECOVERY = (*NO_MOVE, *NO_STOP, "recover_writes", "finish_recovery", "an_entry_belongs_to_nobody")
NO_LOST_SESSION = ("lose_session", "read_again")
NO_ORDINARY_MESSAGE = ("write_outside_of_transactions", "an_ordinary_message_waits")
NO_CLOCK = ("tick",)
"""Deadlines and retention are over at once, so that time need not pass."""

AS_ONE_WRITES_IT = ("date_the_end", "set_watch", "hear_of_records")
"""What only the text as written does: ends in two writes, watches after reads, news of one's own writes."""

AS_HEADERS_ARE_WRITTEN = ("date_the_end", "set_watch")
"""The same, where nobody writes messages in transactions."""

NO_REPLAY = ("open_cursor", "replay_acks", "finish_replay", "drop_strays")
"""Where no segment is ever opened again, no acks are read back, and nobody has put any beside the owner."""

NO_PLAIN_ACK = ("acknowledge_plainly",)
NO_DEPARTURE = ("leave",)
NO_COLLECTION = ("look_for_leftovers", "delete_header", "a_header_is_gone", "a_client_was_told_nothing")
"""Headers are kept beyond the end of the world."""
