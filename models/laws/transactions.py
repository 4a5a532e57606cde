"""Laws of metadata-driven transactions."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from models.laws.law import law, seen
from models.laws.values import longs, segment_names, texts, times
from spec.documents import Stored
from spec.names import SegmentName, TopicName
from spec.paths import HeaderAt, OperationAt, address_of, partition_key, path_of
from spec.ranges import FULL_RANGE, HashRange
from spec.records import HEADER, OPERATION
from spec.refusals import Reason, Refused
from spec.transactions import (
    ACKS_BY_SEGMENT_SUBSCRIPTION,
    EARLIEST_ENTRY,
    INDEXES,
    TXN_BY_DEADLINE,
    TXN_BY_FINAL_STATE,
    TXN_CONFLICT,
    WRITES_BY_SEGMENT,
    Ack,
    Header,
    Index,
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
    end,
    exactly,
    expired_range,
    final_key,
    index_entries,
    number_key,
    parse_position,
    read_horizon,
    take_operation,
    timed_out,
    visibility,
    write_key,
)

T = TypeVar("T")

OPEN, COMMITTED, ABORTED = TxnState.OPEN, TxnState.COMMITTED, TxnState.ABORTED

moments: SearchStrategy[int] = st.integers(0, 12) | st.sampled_from([98, 99, 100, 101, 999, 1000]) | times
"""Times; those next to a power of ten come up often, because there the order of bare digits goes wrong."""

margins: SearchStrategy[int] = st.sampled_from([-1, 0, 1]) | st.integers(-2000, 2000)
finals: SearchStrategy[TxnState] = st.sampled_from([COMMITTED, ABORTED])

places: SearchStrategy[Position] = st.builds(Position, st.integers(0, 3), st.integers(0, 3))
"""Entries; so few of them that equal and neighbouring ones come up often."""

odd_signs: SearchStrategy[str] = st.sampled_from([*[""] * 9, "0", "+", "-"])
odd_numbers: SearchStrategy[int] = st.sampled_from([-1, 0, 7, 2**63 - 1, 2**63])

transactions: SearchStrategy[str] = st.sampled_from(["t", "t/", "t/1", "1", "..", "T"]) | texts
AWKWARD = ("s", "s/", "s%2F", "S", "a b", "a+b", "..")
subscriptions: SearchStrategy[str] = st.sampled_from(AWKWARD) | texts

_TOPIC = TopicName("t", "n", "x")
LOOKALIKES = (
    SegmentName(_TOPIC, FULL_RANGE, 1),
    SegmentName(_TOPIC, FULL_RANGE, 10),
    SegmentName(_TOPIC, FULL_RANGE, 11),
    SegmentName(_TOPIC, HashRange(0x0000, 0x7FFF), 1),
    SegmentName(TopicName("t", "n", "x/0000-ffff-1"), FULL_RANGE, 1),
)
"""Segments whose names begin alike, so that a query by prefix would find too much."""

segments: SearchStrategy[SegmentName] = st.sampled_from(LOOKALIKES) | segment_names
operations: SearchStrategy[Operation] = st.builds(Write, segments, places) | st.builds(
    Ack, segments, subscriptions, places, st.booleans()
)


@st.composite
def headers(draw: DrawFn) -> Header:
    """A header that some transaction can have."""
    header = begin(draw(moments), draw(moments))
    return end(header, draw(finals), draw(moments)) if draw(st.booleans()) else header


def query(records: Mapping[str, Header | Operation], index: Index, wanted: KeyRange) -> list[str]:
    """What a store with that index answers: the paths whose records have a key in the range."""
    keys = ((path, index_entries(record).get(index.name)) for path, record in records.items())
    return sorted(path for path, key in keys if key is not None and key in wanted)


def answer(attempt: Callable[..., T], *to: object) -> T | Reason:
    """What an attempt gives, or why it is refused."""
    try:
        return attempt(*to)
    except Refused as refusal:
        return refusal.reason


@law(
    "473-HEADER-03",
    "473-HEADER-06",
    "473-HEADER-07",
    "473-RECOVER-05",
    "473-END-02",
    "473-CONTENT-01",
    header=st.builds(begin, moments, moments),
    requests=st.lists(st.tuples(st.sampled_from(TxnState), moments), max_size=8),
    sometimes=("a commit", "an abort", "an equal repeat at another time", "an opposite end"),
)
def the_first_end_decides(header: Header, requests: list[tuple[TxnState, int]]) -> None:
    """The first end decides state and time; equal ones change nothing, opposite ones are refused."""
    ends = [request for request in requests if request[0] is not OPEN]
    decided = replace(header, state=ends[0][0], finalized_at=ends[0][1]) if ends else header

    for outcome, at in requests:
        after = answer(end, header, outcome, at)
        if outcome is decided.state and outcome is not OPEN:
            assert after == decided
            seen("a commit", outcome is COMMITTED)
            seen("an abort", outcome is ABORTED)
            seen("an equal repeat at another time", header == decided and at != decided.finalized_at)
            header = decided
        else:
            assert after is Reason.TRANSACTION_CONFLICT
            seen("an opposite end", outcome is not OPEN)
        assert (header.finalized_at is None) == (header.state is OPEN)


@law(
    "473-COORD-05",
    "473-HEADER-04",
    "473-COORD-09",
    now=moments,
    timeout=moments,
    margin=margins,
    shift=moments,
    sometimes=("the very millisecond", "one millisecond early"),
)
def a_timeout_is_over_when_that_much_time_has_passed(now: int, timeout: int, margin: int, shift: int) -> None:
    """An open transaction times out as soon as its timeout has gone by, whenever it began."""
    later = now + timeout + margin
    header = begin(now, timeout)

    assert timed_out(header, later) == (later - now >= timeout)
    assert timed_out(begin(now + shift, timeout), later + shift) == timed_out(header, later)
    assert not any(timed_out(end(header, outcome, later), later) for outcome in (COMMITTED, ABORTED))
    seen("the very millisecond", margin == 0)
    seen("one millisecond early", margin == -1)


@law(
    "473-GC-03",
    "473-GC-04",
    header=st.builds(begin, moments, moments),
    outcome=finals,
    at=moments,
    retention=moments,
    margin=margins,
    sometimes=("the very millisecond", "one millisecond early"),
)
def a_finished_transaction_is_kept_for_the_retention_window(
    header: Header, outcome: TxnState, at: int, retention: int, margin: int
) -> None:
    """It may be forgotten as soon as the window after its end has gone by; an open one never."""
    later = at + retention + margin

    assert collectable(end(header, outcome, at), later, retention) == (later - at >= retention)
    assert not collectable(header, later, retention)
    assert not collectable(replace(header, finalized_at=at), later, retention)
    seen("the very millisecond", margin == 0)
    seen("one millisecond early", margin == -1)


@law(
    "473-PUBLISH-02",
    "473-OP-08",
    "473-LATE-01",
    header=st.none() | headers(),
    count=st.integers(1, 500),
    sometimes=("open", "finished", "no header"),
)
def an_open_transaction_takes_any_number_of_operations(header: Header | None, count: int) -> None:
    """Nothing counts the operations of an open transaction; any other takes none, and says TxnConflict."""
    answers = {answer(take_operation, header) for _ in range(count)}

    is_open = header is not None and header.state is OPEN
    assert len(answers) == 1
    assert answers == {None} if is_open else answers <= TXN_CONFLICT
    seen("no header", header is None)
    seen("open", is_open)
    seen("finished", header is not None and not is_open)


@law("473-COORD-06", header=st.none() | headers(), sometimes=("no header", "a finished transaction"))
def naming_a_participant_changes_nothing(header: Header | None) -> None:
    """Whatever the transaction, its header is afterwards what it was before."""
    assert add_participant(header) == header
    seen("no header", header is None)
    seen("a finished transaction", header is not None and header.state is not OPEN)


@law(
    "473-HEADER-01",
    "473-OP-01",
    "473-OP-08",
    "473-STORE-04",
    transaction=transactions,
    other=transactions,
    numbers=st.lists(longs, min_size=2, max_size=6, unique=True),
    sometimes=("numbers of different length", "another transaction"),
)
def operations_lie_below_their_transaction_in_the_order_of_their_numbers(
    transaction: str, other: str, numbers: list[int]
) -> None:
    """Each operation has a place of its own below its transaction only, in the order of the numbers."""
    paths = {path_of(OperationAt(transaction, number)): number for number in numbers}
    header = HeaderAt(transaction)
    foreign = path_of(HeaderAt(other)).replace("/txn/", "/txn-op/", 1) + "/"

    assert [paths[path] for path in sorted(paths)] == sorted(numbers)
    assert {partition_key(OperationAt(transaction, n)) for n in numbers} == {partition_key(header)}
    assert all(path.startswith(foreign) == (transaction == other) for path in paths)
    assert (path_of(header) == path_of(HeaderAt(other))) == (transaction == other)
    seen("numbers of different length", len({len(str(number)) for number in numbers}) > 1)
    seen("another transaction", transaction != other)


@law(
    "473-OP-04",
    "473-OP-05",
    "473-OP-06",
    "473-OP-07",
    "473-ACK-02",
    segment=segment_names,
    subscription=st.none() | subscriptions,
    place=places | st.builds(Position, longs, longs),
    cumulative=st.booleans(),
    sometimes=("a write", "an ack", "a cumulative ack"),
)
def an_operation_record_says_what_was_done_where(
    segment: SegmentName, subscription: str | None, place: Position, cumulative: bool
) -> None:
    """The record has kind, segment and position, for acks also the subscription, and reads back the same."""
    operation = (
        Write(segment, place) if subscription is None else Ack(segment, subscription, place, cumulative)
    )
    text = OPERATION.encode(Stored(operation))
    fields = json.loads(text)

    assert OPERATION.decode(text).value == operation
    assert fields.pop("kind") == ("write" if subscription is None else "ack")
    assert re.fullmatch(r"segment://[^/]+/[^/]+/.+/[0-9a-f]{4}-[0-9a-f]{4}-[0-9]+", fields.pop("segment"))
    assert fields.pop("position") == f"{place.ledger}:{place.entry}"
    assert fields.pop("subscription", None) == subscription
    assert fields.pop("cumulative", False) == (cumulative and subscription is not None)
    assert fields == {}
    seen("a write", subscription is None)
    seen("an ack", subscription is not None)
    seen("a cumulative ack", cumulative and subscription is not None)


@law(
    "473-INDEX-04",
    "473-INDEX-05",
    ends=st.lists(st.tuples(finals, moments | longs), max_size=8),
    sometimes=("digits that sort otherwise",),
)
def keys_sort_as_what_they_stand_for(ends: list[tuple[TxnState, int]]) -> None:
    """Times sort as numbers, ends by state and then by time."""
    numbers = [at for _, at in ends]

    assert sorted(numbers, key=number_key) == sorted(numbers)
    assert sorted(ends, key=lambda e: final_key(*e)) == sorted(ends, key=lambda e: (e[0].value, e[1]))
    seen("digits that sort otherwise", sorted(numbers, key=str) != sorted(numbers))


@law(
    "473-INDEX-03",
    "473-OP-06",
    one=st.tuples(segments, subscriptions),
    other=st.tuples(segments, subscriptions),
    sometimes=("the same segment", "the same subscription"),
)
def two_pairs_never_share_a_key(one: tuple[SegmentName, str], other: tuple[SegmentName, str]) -> None:
    """The acks of a subscription on a segment have a key that no other such pair has."""
    assert (ack_key(*one) == ack_key(*other)) == (one == other)
    seen("the same segment", one[0] == other[0] and one != other)
    seen("the same subscription", one[1] == other[1] and one != other)


@law("473-INDEX-03", topic=segment_names, inner=segment_names, subscription=subscriptions)
def a_subscription_called_like_a_segment_shares_no_key(
    topic: SegmentName, inner: SegmentName, subscription: str
) -> None:
    """Two pairs whose plain texts are equal, because of slashes in names, still have two keys."""
    nested = replace(topic.topic, local=f"{topic.topic.local}/{topic.descriptor}")
    longer = SegmentName(nested, inner.range, inner.segment_id)
    awkward = f"{inner.descriptor}/{subscription}"

    assert f"{longer}/{subscription}" == f"{topic}/{awkward}"
    assert ack_key(longer, subscription) != ack_key(topic, awkward)


@law(
    "473-INDEX-02",
    "473-INDEX-03",
    "473-INDEX-04",
    "473-INDEX-05",
    "473-STORE-03",
    record=operations
    | st.builds(Header, st.sampled_from(TxnState), moments, moments, moments)
    | st.builds(Header, st.sampled_from(TxnState), moments, moments),
    transaction=transactions,
    sometimes=(*(index.name for index in INDEXES), "an end whose time was never noted"),
)
def each_record_is_listed_by_the_index_for_its_kind_only(
    record: Header | Operation, transaction: str
) -> None:
    """Writes, acks, open headers and finished headers each have their index, and none has two."""
    match record:
        case Write():
            expected = {"idx:writes-by-segment": "/txn-op/"}
        case Ack():
            expected = {"idx:acks-by-segment-subscription": "/txn-op/"}
        case Header(state=TxnState.OPEN):
            expected = {"idx:txn-by-deadline": "/txn/"}
        case Header(finalized_at=None):
            expected = {}
            seen("an end whose time was never noted")
        case _:
            expected = {"idx:txn-by-final-state": "/txn/"}
    address = HeaderAt(transaction) if isinstance(record, Header) else OperationAt(transaction, 0)

    assert {i.name: i.prefix for i in INDEXES if i.name in index_entries(record)} == expected
    assert all(path_of(address).startswith(prefix) for prefix in expected.values())
    for name in expected:
        seen(name)


@law(
    "473-INDEX-02",
    "473-INDEX-03",
    stored=st.lists(
        st.builds(Write, st.sampled_from(LOOKALIKES), places)
        | st.builds(Ack, st.sampled_from(LOOKALIKES), st.sampled_from(AWKWARD), places),
        min_size=4,
        max_size=12,
    ),
    wanted=st.sampled_from(LOOKALIKES),
    subscription=st.sampled_from(AWKWARD),
    sometimes=("a write of the segment", "an ack of the pair", "something else on the segment"),
)
def a_segment_finds_exactly_what_is_its_own(
    stored: list[Operation], wanted: SegmentName, subscription: str
) -> None:
    """A query by segment answers its writes, one by segment and subscription their acks; nothing else."""
    records = {path_of(OperationAt("t", n)): operation for n, operation in enumerate(stored)}
    writes = [p for p, o in records.items() if isinstance(o, Write) and o.segment == wanted]
    acks = [
        p
        for p, o in records.items()
        if isinstance(o, Ack) and o.segment == wanted and o.subscription == subscription
    ]

    assert query(records, WRITES_BY_SEGMENT, exactly(write_key(wanted))) == writes
    assert query(records, ACKS_BY_SEGMENT_SUBSCRIPTION, exactly(ack_key(wanted, subscription))) == acks
    seen("a write of the segment", bool(writes))
    seen("an ack of the pair", bool(acks))
    seen("something else on the segment", sum(o.segment == wanted for o in stored) > len(writes + acks))


@law(
    "473-COORD-09",
    "473-INDEX-04",
    known=st.lists(headers(), max_size=8),
    now=moments,
    last=st.none() | finals,
    sometimes=(
        "a deadline of exactly now",
        "a deadline in a millisecond",
        "a finished one past its deadline",
    ),
)
def the_timeout_sweep_finds_exactly_the_expired_transactions(
    known: list[Header], now: int, last: TxnState | None
) -> None:
    """The deadlines up to now in the index are those of the open transactions that have timed out."""
    due = [begin(0, now), begin(now, 1), begin(0, max(now - 1, 0))]
    due[2] = due[2] if last is None else end(due[2], last, now)
    store = {path_of(HeaderAt(str(n))): header for n, header in enumerate(known + due)}

    found = query(store, TXN_BY_DEADLINE, expired_range(now))

    assert found == sorted(path for path, header in store.items() if timed_out(header, now))
    seen("a deadline of exactly now", any(store[path].timeout_at == now for path in found))
    seen("a deadline in a millisecond", any(store[path].timeout_at == now + 1 for path in store))
    seen("a finished one past its deadline", last is not None)


@law(
    "473-GC-03",
    "473-INDEX-05",
    known=st.lists(headers(), max_size=8),
    now=moments,
    retention=moments,
    outcome=finals,
    sometimes=(
        "a commit to collect",
        "an abort to collect",
        "one kept a millisecond more",
        "too early for any",
    ),
)
def the_collecting_sweep_finds_exactly_what_is_past_retention(
    known: list[Header], now: int, retention: int, outcome: TxnState
) -> None:
    """The two ranges of the final-state index hold the finished transactions whose window is over."""
    last = max(now - retention, 0)
    edges = [end(begin(0, 0), outcome, at) for at in (last, last + 1)]
    store = {path_of(HeaderAt(str(n))): header for n, header in enumerate(known + edges)}

    ranges = collectable_ranges(now, retention)
    found = [path for wanted in ranges for path in query(store, TXN_BY_FINAL_STATE, wanted)]

    assert all(wanted.low <= wanted.high for wanted in ranges)
    assert sorted(found) == sorted(path for path in store if collectable(store[path], now, retention))
    seen("a commit to collect", any(store[path].state is COMMITTED for path in found))
    seen("an abort to collect", any(store[path].state is ABORTED for path in found))
    seen("one kept a millisecond more", edges[0] in map(store.get, found))
    seen("too early for any", now < retention)


@law(
    "473-INDEX-04",
    "473-INDEX-05",
    "473-INDEX-06",
    header=st.builds(begin, moments, moments),
    outcome=finals,
    at=moments,
)
def ending_moves_a_header_from_one_index_to_the_other(header: Header, outcome: TxnState, at: int) -> None:
    """An open header is listed by its deadline, the ended one by its end, neither by both."""
    assert index_entries(header) == {"idx:txn-by-deadline": number_key(header.timeout_at)}
    assert index_entries(end(header, outcome, at)) == {"idx:txn-by-final-state": final_key(outcome, at)}


@law(
    "473-OP-07",
    one=st.builds(Position, st.integers(0, 3) | longs, st.sampled_from([EARLIEST_ENTRY, 0, 1]) | longs),
    other=places,
    sometimes=("the first entry of a ledger", "the start of a ledger", "the same ledger"),
)
def positions_are_ordered_by_ledger_and_then_by_entry(one: Position, other: Position) -> None:
    """Order is that of the two numbers, texts read back, and `before` leaves no entry in between."""
    assert (one < other) == ((one.ledger, one.entry) < (other.ledger, other.entry))
    assert parse_position(str(one)) == one
    assert (other < one) == (other <= one.before())
    assert one.before() < one or one.entry == EARLIEST_ENTRY
    seen("the first entry of a ledger", one.entry == 0)
    seen("the start of a ledger", one.entry == EARLIEST_ENTRY)
    seen("the same ledger", one.ledger == other.ledger and one != other)


@law(
    "473-OP-07",
    text=st.builds("{}{}:{}{}".format, odd_signs, odd_numbers, odd_signs, odd_numbers)
    | st.text("0123456789:-+ _٣", max_size=6),
    sometimes=(
        "a position",
        "a number just small enough",
        "a number with a sign or zeros",
        "a number too large",
    ),
)
def a_text_is_a_position_only_in_its_one_spelling(text: str) -> None:
    """Whatever is read as a position is written the same again and fits 64 bits; the rest is refused."""
    place = answer(parse_position, text)

    if isinstance(place, Position):
        assert str(place) == text
        assert 0 <= place.ledger < 2**63
        assert EARLIEST_ENTRY <= place.entry < 2**63
        seen("a position")
        seen("a number just small enough", str(2**63 - 1) in text)
    else:
        assert place is Reason.RECORD_MALFORMED
        seen("a number with a sign or zeros", text.startswith(("0", "+")))
        seen("a number too large", str(2**63) in text)


@law(
    "473-BUFFER-05",
    "473-BUFFER-06",
    pinned=st.lists(places, max_size=3),
    confirmed=places | st.builds(Position, st.integers(0, 3), st.just(EARLIEST_ENTRY)),
    sometimes=(
        "nothing open",
        "a ledger's first entry open",
        "open beyond the confirmed",
        "nothing readable",
    ),
)
def the_horizon_is_the_last_place_before_everything_open(pinned: list[Position], confirmed: Position) -> None:
    """An entry is within the horizon exactly if it is confirmed and lies before every open one."""
    horizon = read_horizon(iter(pinned), confirmed)
    every = [Position(ledger, entry) for ledger in range(5) for entry in range(5)]
    within = [p for p in every if p <= horizon]

    assert within == [p for p in every if p <= confirmed and all(p < one for one in pinned)]
    assert horizon <= confirmed
    seen("nothing open", not pinned)
    seen("a ledger's first entry open", any(p.entry == 0 and p.before() == horizon for p in pinned))
    seen("open beyond the confirmed", any(p > confirmed for p in pinned))
    seen("nothing readable", not within)


@law(
    "473-BUFFER-05",
    "473-BUFFER-06",
    pinned=st.lists(places, min_size=1, max_size=4),
    ended=places,
    confirmed=places,
    more=places,
    sometimes=("it moves on", "it reaches the last confirmed"),
)
def the_horizon_moves_on_when_a_transaction_ends(
    pinned: list[Position], ended: Position, confirmed: Position, more: Position
) -> None:
    """It never goes back when open entries go away or more is confirmed, and ends at the last confirmed."""
    before = read_horizon([*pinned, ended], confirmed)
    after = read_horizon(pinned, confirmed)

    assert before <= after <= read_horizon([], confirmed) == confirmed
    assert after <= read_horizon(pinned, max(confirmed, more))
    seen("it moves on", before < after)
    seen("it reaches the last confirmed", before < after == confirmed)


@law(
    "473-DISPATCH-03",
    "473-BUFFER-07",
    "473-RECOVER-04",
    place=places,
    horizon=places,
    opened=st.builds(begin, moments, moments),
    at=moments,
    sometimes=("beyond the horizon", "at the horizon", "before the horizon"),
)
def readers_see_all_up_to_the_horizon_but_what_was_aborted(
    place: Position, horizon: Position, opened: Header, at: int
) -> None:
    """Entries beyond the horizon wait, aborted ones are skipped, and without a header `unknown` decides."""
    committed, aborted = end(opened, COMMITTED, at), end(opened, ABORTED, at)
    became = partial(visibility, place, horizon)

    shown = {became(transactional=False), became(opened), became(committed), became(None, unknown=COMMITTED)}
    hidden = {became(aborted), became(None), became(None, unknown=ABORTED)}
    shown |= {became(committed, unknown=ABORTED), became(aborted, transactional=False)}
    hidden |= {became(aborted, unknown=COMMITTED)}

    if place > horizon:
        assert shown == hidden == {Visibility.WITHHELD}
        seen("beyond the horizon")
    else:
        assert shown == {Visibility.DELIVERED}
        assert hidden == {Visibility.SKIPPED}
        seen("at the horizon" if place == horizon else "before the horizon")


HERE, ELSEWHERE = LOOKALIKES[:2]

Log = list[tuple[Position, str | None]]
"""A segment's entries, each with the transaction that wrote it, if any."""


@st.composite
def logs(draw: DrawFn) -> Log:
    """Entries in ledger order; now and then a new ledger begins."""
    log: Log = []
    place = Position(0, EARLIEST_ENTRY)
    for author in draw(st.lists(st.none() | st.sampled_from("abcd"), min_size=1, max_size=10)):
        rolled = draw(st.sampled_from([False, False, True]))
        place = Position(place.ledger + 1, 0) if rolled else Position(place.ledger, place.entry + 1)
        log.append((place, author))
    return log


@law(
    "473-BUFFER-05",
    "473-BUFFER-06",
    "473-BUFFER-07",
    "473-RECOVER-04",
    "473-NOTIFY-10",
    log=logs(),
    confirmed=st.integers(0, 9),
    fates=st.fixed_dictionaries(
        {name: st.sampled_from([OPEN, COMMITTED, COMMITTED, ABORTED, None]) for name in "abcd"}
    ),
    sometimes=("held back", "skipped", "forgotten", "committed", "plain", "not yet confirmed"),
)
def what_readers_see_follows_from_the_records_alone(
    log: Log, confirmed: int, fates: dict[str, TxnState | None]
) -> None:
    """Indexes and headers, with no message from anybody, tell the horizon and every entry's fate."""
    last_confirmed = log[min(confirmed, len(log) - 1)][0]
    headers: dict[str, Header] = {}
    records: dict[str, Operation] = {}
    for name, fate in fates.items():
        if fate is not None:
            headers[name] = begin(0, 9) if fate is OPEN else end(begin(0, 9), fate, 5)
        records[path_of(OperationAt(name, 98))] = Ack(HERE, "s", log[0][0])
        records[path_of(OperationAt(name, 99))] = Write(ELSEWHERE, log[0][0])
    for n, (place, author) in enumerate(log):
        if author is not None:
            records[path_of(OperationAt(author, n))] = Write(HERE, place)

    pinned = []
    for path in query(records, WRITES_BY_SEGMENT, exactly(write_key(HERE))):
        writer = headers.get(partition_key(_operation_at(path)))
        if writer is not None and writer.state is OPEN:
            pinned.append(records[path].position)
    horizon = read_horizon(pinned, last_confirmed)
    delivered = [
        place
        for place, author in log
        if visibility(place, horizon, headers.get(author or ""), transactional=author is not None)
        is Visibility.DELIVERED
    ]

    expected = []
    for place, author in log:
        fate = fates[author] if author else COMMITTED
        seen("not yet confirmed", place > last_confirmed)
        seen("held back", fate is OPEN)
        if place > last_confirmed or fate is OPEN:
            break
        if fate is COMMITTED:
            expected.append(place)
            seen("committed" if author else "plain")
        else:
            seen("forgotten" if fate is None else "skipped")
    assert delivered == expected


def _operation_at(path: str) -> OperationAt:
    address = address_of(path)
    assert isinstance(address, OperationAt)
    return address


Step = tuple[str, str, int]


@law(
    "473-COORD-01",
    "473-RECOVER-06",
    steps=st.lists(
        st.tuples(
            st.sampled_from(["new", "new", "COMMITTED", "ABORTED", "sweep", "collect"]),
            st.sampled_from(["a", "b/"]),
            st.integers(0, 6),
        ),
        min_size=10,
        max_size=25,
    ),
    sometimes=("a timeout", "a collection", "a conflict", "an end of nothing"),
)
def a_coordinator_that_knows_only_the_records_does_the_same(steps: list[Step]) -> None:
    """Restarted before every step from the stored texts, it replies and writes as if it never had been."""

    def restart(store: dict[str, Header]) -> dict[str, Header]:
        stored = {path: HEADER.encode(Stored(header)) for path, header in store.items()}
        return {path: HEADER.decode(text).value for path, text in stored.items()}

    assert _coordinate(steps, restart) == _coordinate(steps, lambda store: store)


def _coordinate(
    steps: list[Step], restart: Callable[[dict[str, Header]], dict[str, Header]]
) -> tuple[dict[str, Header], list[str]]:
    """The store and the replies after a coordinator's steps, each of which takes some milliseconds."""
    store: dict[str, Header] = {}
    replies: list[str] = []
    now = 0
    for kind, name, duration in steps:
        now += duration
        store = restart(store)
        path = path_of(HeaderAt(name))
        match kind:
            case "new":
                store.setdefault(path, begin(now, duration))
            case "sweep":
                for expired in query(store, TXN_BY_DEADLINE, expired_range(now)):
                    store[expired] = end(store[expired], ABORTED, now)
                    seen("a timeout")
            case "collect":
                for wanted in collectable_ranges(now, retention=5):
                    for finished in query(store, TXN_BY_FINAL_STATE, wanted):
                        del store[finished]
                        seen("a collection")
            case _:
                after = answer(end, store.get(path), TxnState(kind), now)
                if isinstance(after, Header):
                    store[path] = after
                else:
                    replies.append(after.name)
                    seen("a conflict", after is Reason.TRANSACTION_CONFLICT)
                    seen("an end of nothing", after is Reason.TRANSACTION_UNKNOWN)
    return store, replies
