"""Metadata-driven transactions: figures, tables, exact texts and every refusal by name."""

import json
from dataclasses import fields, replace

import pytest

from spec.documents import Stored
from spec.names import RegularName, SegmentName, TopicName
from spec.paths import HeaderAt, OperationAt, partition_key, path_of
from spec.ranges import HashRange
from spec.records import HEADER, OPERATION
from spec.refusals import Reason, Refused
from spec.transactions import (
    INDEXES,
    RETENTION,
    TXN_CONFLICT,
    Ack,
    Coordinator,
    Header,
    KeyRange,
    Operation,
    Position,
    TxnState,
    Visibility,
    Write,
    ack_key,
    add_participant,
    begin,
    collectable,
    collectable_ranges,
    coordinator_of,
    end,
    exactly,
    expired_range,
    final_key,
    index_entries,
    is_aborted,
    last_past,
    number_key,
    parse_position,
    past,
    read_horizon,
    take_operation,
    timed_out,
    visibility,
    write_key,
)

OPEN, COMMITTED, ABORTED = TxnState.OPEN, TxnState.COMMITTED, TxnState.ABORTED
SEGMENT = SegmentName(TopicName("t", "n", "x"), HashRange(0x0000, 0x7FFF), 1)
HEADERS = {
    None: None,
    OPEN: Header(OPEN, timeout_at=1500, created_at=1000),
    COMMITTED: Header(COMMITTED, timeout_at=1500, created_at=1000, finalized_at=1200),
    ABORTED: Header(ABORTED, timeout_at=1500, created_at=1000, finalized_at=1200),
}


@pytest.mark.claims("473-HEADER-03")
def test_a_header_is_in_one_of_three_states() -> None:
    assert [state.value for state in TxnState] == ["OPEN", "COMMITTED", "ABORTED"]


@pytest.mark.claims("473-COORD-05", "473-HEADER-04")
def test_a_new_transaction_is_open_until_now_plus_its_timeout() -> None:
    assert begin(now=1_000_000, timeout=500) == Header(OPEN, timeout_at=1_000_500, created_at=1_000_000)


@pytest.mark.claims("473-COORD-05")
@pytest.mark.parametrize(
    ("now", "timeout", "taken"),
    [(9, 0, True), (9, -1, False), (2, 2**63 - 3, True), (2, 2**63 - 2, False)],
)
def test_a_timeout_is_not_negative_and_its_deadline_fits_64_bits(now: int, timeout: int, taken: bool) -> None:
    if taken:
        assert timed_out(begin(now, timeout), now) == (timeout == 0)
        return
    with pytest.raises(Refused) as refusal:
        begin(now, timeout)
    assert refusal.value.reason is Reason.TIMEOUT_INVALID
    assert refusal.value.detail == str(timeout)


@pytest.mark.claims("473-HEADER-01", "473-OP-01", "473-STORE-04")
def test_a_transactions_records_lie_in_two_places_of_one_partition() -> None:
    header, operation = HeaderAt("(1,42)"), OperationAt("(1,42)", 7)
    assert path_of(header) == "/txn/%281%2C42%29"
    assert path_of(operation) == "/txn-op/%281%2C42%29/00000000000000000007"
    assert partition_key(header) == partition_key(operation) == "(1,42)"


@pytest.mark.claims("473-HEADER-02", "473-HEADER-04", "473-COORD-01", "473-END-02")
def test_the_header_has_three_fields_and_once_ended_a_fourth() -> None:
    opened = {"state": "OPEN", "timeout_ms": 1500, "created_ms": 1000}
    ended = {"state": "COMMITTED", "timeout_ms": 1500, "created_ms": 1000, "finalized_ms": 1200}
    header = begin(1000, 500)
    assert json.loads(HEADER.encode(Stored(header))) == opened
    assert json.loads(HEADER.encode(Stored(end(header, COMMITTED, 1200)))) == ended


@pytest.mark.claims("473-HEADER-06", "473-HEADER-07", "473-RECOVER-05", "473-END-02")
@pytest.mark.parametrize(
    ("state", "outcome", "result"),
    [
        (OPEN, COMMITTED, Header(COMMITTED, 1500, 1000, 9999)),
        (OPEN, ABORTED, Header(ABORTED, 1500, 1000, 9999)),
        (COMMITTED, COMMITTED, HEADERS[COMMITTED]),
        (ABORTED, ABORTED, HEADERS[ABORTED]),
        (
            COMMITTED,
            ABORTED,
            "the transaction has already ended the other way: COMMITTED cannot become ABORTED",
        ),
        (
            ABORTED,
            COMMITTED,
            "the transaction has already ended the other way: ABORTED cannot become COMMITTED",
        ),
        (OPEN, OPEN, "the transaction has already ended the other way: OPEN cannot become OPEN"),
        (COMMITTED, OPEN, "the transaction has already ended the other way: COMMITTED cannot become OPEN"),
        (ABORTED, OPEN, "the transaction has already ended the other way: ABORTED cannot become OPEN"),
    ],
)
def test_every_change_of_state(state: TxnState, outcome: TxnState, result: Header | str) -> None:
    if isinstance(result, Header):
        assert end(HEADERS[state], outcome, 9999) == result
        return
    with pytest.raises(Refused) as refusal:
        end(HEADERS[state], outcome, 9999)
    assert refusal.value.reason is Reason.TRANSACTION_CONFLICT
    assert str(refusal.value) == result


@pytest.mark.claims("473-HEADER-06")
@pytest.mark.parametrize("outcome", TxnState)
def test_a_transaction_without_header_cannot_end(outcome: TxnState) -> None:
    with pytest.raises(Refused) as refusal:
        end(None, outcome, 0)
    assert refusal.value.reason is Reason.TRANSACTION_UNKNOWN
    assert str(refusal.value) == "no transaction has that id"


@pytest.mark.claims("473-COORD-06")
@pytest.mark.parametrize("header", HEADERS.values())
def test_naming_a_participant_changes_nothing(header: Header | None) -> None:
    assert add_participant(header) is header


@pytest.mark.claims("473-PUBLISH-02", "473-LATE-01")
@pytest.mark.parametrize(
    ("state", "says"),
    [
        (None, "the transaction no longer takes writes and acknowledgements: it has no header"),
        (COMMITTED, "the transaction no longer takes writes and acknowledgements: COMMITTED"),
        (ABORTED, "the transaction no longer takes writes and acknowledgements: ABORTED"),
    ],
)
def test_only_an_open_transaction_takes_operations(state: TxnState | None, says: str) -> None:
    take_operation(HEADERS[OPEN])
    with pytest.raises(Refused) as refusal:
        take_operation(HEADERS[state])
    assert refusal.value.reason is Reason.TRANSACTION_NOT_OPEN
    assert str(refusal.value) == says


@pytest.mark.claims("473-PUBLISH-02")
def test_two_refusals_are_heard_as_txn_conflict() -> None:
    assert {reason.name for reason in TXN_CONFLICT} == {"TRANSACTION_CONFLICT", "TRANSACTION_NOT_OPEN"}


@pytest.mark.claims("473-OP-08")
def test_nothing_in_a_header_grows_with_the_operations() -> None:
    names = [field.name for field in fields(Header)]
    assert names == ["state", "timeout_at", "created_at", "finalized_at"]
    last = path_of(OperationAt("t", 2**63 - 1))
    assert (
        path_of(OperationAt("t", 9))
        < path_of(OperationAt("t", 10))
        < last
        == "/txn-op/t/09223372036854775807"
    )


@pytest.mark.claims("473-COORD-09")
@pytest.mark.parametrize(("now", "expected"), [(1499, False), (1500, True), (1501, True)])
def test_a_deadline_is_past_from_its_very_millisecond_on(now: int, expected: bool) -> None:
    header = begin(1000, 500)
    assert past(1500, now) == timed_out(header, now) == expected
    assert not timed_out(end(header, COMMITTED, 1200), now)


@pytest.mark.claims("473-GC-04", "473-GC-03")
@pytest.mark.parametrize(("now", "expected"), [(61_199, False), (61_200, True), (61_201, True)])
def test_a_finished_transaction_is_kept_for_60_seconds_by_default(now: int, expected: bool) -> None:
    header = end(begin(1000, 500), ABORTED, 1200)
    assert RETENTION == 60_000
    assert collectable(header, now) == collectable(header, now - 59_990, retention=10) == expected


@pytest.mark.claims("473-GC-04")
def test_what_is_not_finished_is_never_collectable() -> None:
    assert not collectable(Header(OPEN, 0, 0), 10**9)
    assert not collectable(Header(OPEN, 0, 0, finalized_at=0), 10**9)
    assert not collectable(Header(COMMITTED, 0, 0, finalized_at=None), 10**9)


@pytest.mark.claims("473-COORD-02")
@pytest.mark.parametrize(
    ("participant", "coordinator"),
    [
        (SEGMENT, Coordinator.V5),
        (RegularName("t", "n", "x"), Coordinator.LEGACY),
        (RegularName("t", "n", "x", 3), Coordinator.LEGACY),
    ],
)
def test_the_domain_of_a_topic_says_which_of_two_coordinators(
    participant: SegmentName | RegularName, coordinator: Coordinator
) -> None:
    assert len(Coordinator) == 2
    assert coordinator_of(participant) is coordinator


@pytest.mark.claims("473-OP-04", "473-OP-05", "473-OP-06", "473-OP-07", "473-ACK-02")
@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (
            Write(SEGMENT, Position(5, 0)),
            '{"kind":"write","segment":"segment://t/n/x/0000-7fff-1","position":"5:0"}',
        ),
        (
            Ack(SEGMENT, "s", Position(5, 17)),
            '{"kind":"ack","segment":"segment://t/n/x/0000-7fff-1","subscription":"s","position":"5:17"}',
        ),
        (
            Ack(SEGMENT, "s", Position(5, 17), cumulative=True),
            '{"kind":"ack","segment":"segment://t/n/x/0000-7fff-1","subscription":"s","position":"5:17",'
            '"cumulative":true}',
        ),
    ],
)
def test_operation_records(operation: Operation, text: str) -> None:
    assert OPERATION.encode(Stored(operation)) == text
    assert OPERATION.decode(text).value == operation


@pytest.mark.claims("473-OP-04", "473-OP-05", "473-OP-06", "473-OP-07")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "read"),
        ("kind", None),
        ("segment", None),
        ("segment", "topic://t/n/x"),
        ("segment", "persistent://t/n/x"),
        ("subscription", None),
        ("position", None),
        ("position", "5"),
    ],
)
def test_an_ack_record_without_one_of_its_fields_is_refused(field: str, value: str | None) -> None:
    record = json.loads(OPERATION.encode(Stored(Ack(SEGMENT, "s", Position(5, 17)))))
    changed = {**record, field: value} if value else {k: v for k, v in record.items() if k != field}
    with pytest.raises(Refused) as refusal:
        OPERATION.decode(json.dumps(changed))
    assert refusal.value.reason in (Reason.RECORD_MALFORMED, Reason.NAME_MALFORMED)


@pytest.mark.claims("473-OP-07")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0:0", Position(0, 0)),
        ("12:-1", Position(12, -1)),
        ("9223372036854775807:9223372036854775807", Position(2**63 - 1, 2**63 - 1)),
    ],
)
def test_positions_in_words(text: str, place: Position) -> None:
    assert parse_position(text) == place
    assert str(place) == text


@pytest.mark.claims("473-OP-07")
@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "5:", ":5", "5:6:7", "-1:0", "5:-2", "05:6", "5:06", "5:-0", "+5:6", " 5:6", "5:6\n"),
        *("٣:0", "9223372036854775808:0", "0:9223372036854775808", "10000000000000000000:0"),
    ],
)
def test_other_spellings_of_a_position_are_refused(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse_position(text)
    assert refusal.value.reason is Reason.RECORD_MALFORMED
    assert refusal.value.detail == f"expected ledgerId:entryId, found {text!r}"


@pytest.mark.claims("473-OP-07", "473-BUFFER-05")
def test_the_place_before_an_entry() -> None:
    assert Position(5, 3).before() == Position(5, 2)
    assert Position(5, 0).before() == Position(5, -1)
    assert Position(5, -1).before() == Position(5, -1)
    assert Position(4, 10**6) < Position(5, -1) < Position(5, 0) < Position(5, 9) < Position(5, 10)


@pytest.mark.claims("473-STORE-03", "473-INDEX-02", "473-INDEX-03", "473-INDEX-04", "473-INDEX-05")
def test_the_four_indexes_and_where_their_records_lie() -> None:
    assert [(index.name, index.prefix) for index in INDEXES] == [
        ("idx:writes-by-segment", "/txn-op/"),
        ("idx:acks-by-segment-subscription", "/txn-op/"),
        ("idx:txn-by-deadline", "/txn/"),
        ("idx:txn-by-final-state", "/txn/"),
    ]


@pytest.mark.claims("473-INDEX-02", "473-INDEX-03", "473-INDEX-04", "473-INDEX-05")
@pytest.mark.parametrize(
    ("record", "entries"),
    [
        (Write(SEGMENT, Position(5, 0)), {"idx:writes-by-segment": "segment://t/n/x/0000-7fff-1"}),
        (
            Ack(SEGMENT, "a/b c", Position(5, 0)),
            {"idx:acks-by-segment-subscription": "segment://t/n/x/0000-7fff-1/a%2Fb+c"},
        ),
        (HEADERS[OPEN], {"idx:txn-by-deadline": "00000000000000001500"}),
        (HEADERS[COMMITTED], {"idx:txn-by-final-state": "COMMITTED/00000000000000001200"}),
        (HEADERS[ABORTED], {"idx:txn-by-final-state": "ABORTED/00000000000000001200"}),
        (Header(OPEN, 1500, 1000, finalized_at=1200), {"idx:txn-by-deadline": "00000000000000001500"}),
        (Header(COMMITTED, 1500, 1000, finalized_at=None), {}),
    ],
)
def test_what_each_index_lists_and_under_which_key(
    record: Header | Operation, entries: dict[str, str]
) -> None:
    assert index_entries(record) == entries


@pytest.mark.claims("473-INDEX-03")
def test_subscriptions_that_look_alike_have_keys_of_their_own() -> None:
    nested = SegmentName(TopicName("t", "n", "x/0000-7fff-1"), HashRange(0x0000, 0x7FFF), 2)
    names = ["s", "S", "s/", "/s", "s%2F", "s+", "s ", "s%20", ".", "%2E", "0000-7fff-2/s"]
    keys = {ack_key(segment, name) for segment in (SEGMENT, nested) for name in names}
    assert len(keys) == 2 * len(names)


@pytest.mark.claims("473-INDEX-03")
@pytest.mark.parametrize("subscription", ["", "\ud800"])
def test_a_subscription_that_cannot_be_an_element_of_a_key_is_refused(subscription: str) -> None:
    with pytest.raises(Refused) as refusal:
        ack_key(SEGMENT, subscription)
    assert refusal.value.reason is Reason.NAME_MALFORMED


@pytest.mark.claims("473-INDEX-02")
def test_a_query_for_a_segment_does_not_find_the_one_whose_name_goes_on() -> None:
    wanted = exactly(write_key(SEGMENT))
    assert write_key(SEGMENT) in wanted
    assert write_key(replace(SEGMENT, segment_id=10)) not in wanted
    assert write_key(replace(SEGMENT, segment_id=0)) not in wanted


@pytest.mark.claims("473-COORD-09", "473-INDEX-04")
def test_the_timeout_sweep_asks_for_deadlines_up_to_and_including_now() -> None:
    assert expired_range(99) == KeyRange("00000000000000000000", "00000000000000000100")
    assert [n for n in (0, 9, 10, 99, 100, 1000) if number_key(n) in expired_range(99)] == [0, 9, 10, 99]


@pytest.mark.claims("473-GC-03", "473-GC-04", "473-INDEX-05")
def test_the_collecting_sweep_asks_one_range_per_final_state() -> None:
    assert collectable_ranges(now=60_099) == (
        KeyRange("ABORTED/00000000000000000000", "ABORTED/00000000000000000100"),
        KeyRange("COMMITTED/00000000000000000000", "COMMITTED/00000000000000000100"),
    )
    assert last_past(60_099, RETENTION) == 99
    assert collectable_ranges(now=59_998) == (
        KeyRange("ABORTED/00000000000000000000", "ABORTED/00000000000000000000"),
        KeyRange("COMMITTED/00000000000000000000", "COMMITTED/00000000000000000000"),
    )
    assert final_key(ABORTED, 0) not in collectable_ranges(now=59_999)[0]
    assert final_key(ABORTED, 0) in collectable_ranges(now=60_000)[0]


@pytest.mark.claims("473-BUFFER-05", "473-BUFFER-06")
@pytest.mark.parametrize(
    ("pinned", "confirmed", "horizon"),
    [
        ([], "5:9", "5:9"),
        (["5:4"], "5:9", "5:3"),
        (["5:7", "5:4", "6:0"], "5:9", "5:3"),
        (["5:0"], "5:9", "5:-1"),
        (["5:0"], "4:20", "4:20"),
        (["5:9"], "5:9", "5:8"),
        (["5:10"], "5:9", "5:9"),
        (["7:3"], "5:9", "5:9"),
    ],
)
def test_the_read_horizon(pinned: list[str], confirmed: str, horizon: str) -> None:
    places = map(parse_position, pinned)
    assert str(read_horizon(places, parse_position(confirmed))) == horizon


@pytest.mark.claims("473-BUFFER-07", "473-RECOVER-04")
@pytest.mark.parametrize(
    ("state", "unknown", "aborted"),
    [
        (OPEN, ABORTED, False),
        (COMMITTED, ABORTED, False),
        (ABORTED, COMMITTED, True),
        (None, ABORTED, True),
        (None, COMMITTED, False),
    ],
)
def test_the_header_says_whether_a_transaction_is_aborted(
    state: TxnState | None, unknown: TxnState, aborted: bool
) -> None:
    assert is_aborted(HEADERS[state], unknown) is aborted


@pytest.mark.claims("473-RECOVER-04")
def test_a_transaction_that_nobody_knows_counts_as_aborted() -> None:
    place = Position(5, 0)
    assert is_aborted(None)
    assert visibility(place, place) is Visibility.SKIPPED
    assert visibility(place, place, unknown=COMMITTED) is Visibility.DELIVERED


@pytest.mark.claims("473-DISPATCH-03", "473-BUFFER-07")
@pytest.mark.parametrize(
    ("state", "within"),
    [
        (OPEN, Visibility.DELIVERED),
        (COMMITTED, Visibility.DELIVERED),
        (ABORTED, Visibility.SKIPPED),
        (None, Visibility.SKIPPED),
    ],
)
def test_what_becomes_of_an_entry(state: TxnState | None, within: Visibility) -> None:
    horizon = Position(5, 3)
    assert visibility(Position(5, 3), horizon, HEADERS[state]) is within
    assert visibility(Position(5, 4), horizon, HEADERS[state]) is Visibility.WITHHELD
    assert visibility(Position(5, 3), horizon, HEADERS[state], transactional=False) is Visibility.DELIVERED
    assert visibility(Position(6, 0), horizon, transactional=False) is Visibility.WITHHELD
