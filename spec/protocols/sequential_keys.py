"""
Sequential keys: the store gives every operation record of a transaction a number of its own.

A store that has them does so in the one step in which it takes the record, and goes by the highest number
that it finds: when the last record is deleted, its number is free. Where there are none, a counter record is
increased by conditional writes before the record is put: numbers are left out, but none is used again. A
deletion whose reply was lost is repeated. [473-READ-12]
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
    Memory,
    Variable,
    action,
    always,
    forget,
    leads_to,
    require,
    sometimes,
    start,
    step,
)

WRITERS = Domain("writer", "w")
"""Brokers that put operation records of the same transaction."""
NUMBERS = Domain("number")


class Stage(Enum):
    """How far an operation record has come."""

    BEGUN = "it has no number yet"
    READ = "the counter was read"
    NUMBERED = "the number is its own"
    STORED = "it is in the store"


@dataclass(frozen=True, slots=True)
class Putting:
    """An operation record on its way into the store."""

    operation: int
    after: int
    """The highest number that anybody had been told when it was begun; nobody can read this."""
    stage: Stage = Stage.BEGUN
    number: int = -1

    def __str__(self) -> str:
        number = f" {self.number}" if self.number >= 0 else ""
        return f"operation {self.operation}, {self.stage.name.lower()}{number}"


class SequentialKeys(Machine):
    """The operation records of one transaction, the counter, and what the writers were told."""

    operations = Bound()

    operations_left = Variable[int](0)
    counter = Variable[int](0)
    """The next number that was never given to anybody."""
    stored = Family[int, int | None](NUMBERS, None)
    """The operation whose record is stored under a number."""
    used = Family[int, bool](NUMBERS, False)
    """Whether any record was ever stored there; nobody can read this."""
    told = Variable[int](-1)
    """The highest number that any writer was told."""
    putting = Memory[str, Putting | None](WRITERS, None)
    mine = Memory[str, tuple[tuple[int, int], ...]](WRITERS, ())
    """Numbers and operations of the records that a writer knows to be stored."""
    deleting = Memory[str, tuple[int, int] | None](WRITERS, None)
    """Number and operation of the record that a writer has deleted, as long as it has had no reply."""


@start
def there_is_something_to_record(w: SequentialKeys) -> None:
    """So many operations."""
    w.operations_left = w.operations


@action("473-OP-02", "473-BUFFER-01", writer=WRITERS)
def begin_record(w: SequentialKeys, writer: str) -> None:
    """A write or an acknowledgement in the transaction arrives at a broker."""
    require(w.operations_left and w.putting[writer] is None)

    w.putting[writer] = Putting(w.operations - w.operations_left, w.told)
    w.operations_left -= 1


def put_under(w: SequentialKeys, writer: str, number: int) -> None:
    """The record is stored under a number, whatever was there."""
    putting = under_way(w, writer)
    w.stored[number] = putting.operation
    w.used[number] = True
    w.putting[writer] = replace(putting, stage=Stage.STORED, number=number)


def under_way(w: SequentialKeys, writer: str, *stages: Stage) -> Putting:
    """The record that a writer is about to put, if it has come so far."""
    putting = w.putting[writer]
    require(putting is not None and (not stages or putting.stage in stages))
    assert putting is not None
    return putting


@action("473-OP-03", "473-OP-10", writer=WRITERS, fair=WEAK)
def hear_number(w: SequentialKeys, writer: str) -> None:
    """The writer is told that its record is stored, and under which number."""
    putting = under_way(w, writer, Stage.STORED)

    w.mine[writer] += ((putting.number, putting.operation),)
    w.told = max(w.told, putting.number)
    w.putting[writer] = None


@action("473-GC-02", writer=WRITERS)
def delete_own_record(w: SequentialKeys, writer: str) -> None:
    """
    A writer deletes its first record by its key, or repeats that, because it had no reply.

    As written, whatever is stored under the key is deleted. Else it has to be the version that was put.
    """
    if w.deleting[writer] is None:
        require(w.mine[writer])
        w.deleting[writer] = w.mine[writer][0]
        w.mine[writer] = w.mine[writer][1:]

    deleting = w.deleting[writer]
    assert deleting is not None
    number, operation = deleting
    if w.stored[number] == operation or not w.design.deletions_name_their_version:
        w.stored[number] = None


@action("473-GC-02", writer=WRITERS, fair=WEAK)
def hear_of_deletion(w: SequentialKeys, writer: str) -> None:
    """The writer is told that its record is deleted."""
    w.deleting[writer] = None


@action("473-RECOVER-03", writer=WRITERS, fault=True)
def crash_writer(w: SequentialKeys, writer: str) -> None:
    """A writer crashes, as often as it may, and with it goes what it was about to put."""
    forget(w, writer)


class NativeKeys(SequentialKeys):
    """A store that has sequential keys."""


@action("473-OP-03", "473-STORE-06", writer=WRITERS, fair=WEAK)
def put_numbered(w: NativeKeys, writer: str) -> None:
    """The store takes the record and gives it the number after the highest that it has, in one step."""
    under_way(w, writer, Stage.BEGUN)

    put_under(w, writer, next_number(w))


def next_number(w: SequentialKeys) -> int:
    """One more than the highest number of all that are stored."""
    return max((number for number, operation in w.stored.items() if operation is not None), default=-1) + 1


@sometimes("473-READ-12", number=NUMBERS)
def a_number_is_used_again(w: NativeKeys, number: int) -> object:
    """A record is stored under a number whose last record may be deleted once more."""
    repeated = [one for one in w.deleting.values() if one is not None and one[0] == number]
    return any(w.stored[number] not in (None, operation) for _, operation in repeated)


class CountedKeys(SequentialKeys):
    """A store that has none, and keeps a counter record instead. [473-OP-09, 473-STORE-08]"""


@action("473-OP-09", "473-STORE-08", writer=WRITERS, fair=WEAK)
def read_counter(w: CountedKeys, writer: str) -> None:
    """The counter record is read."""
    putting = under_way(w, writer, Stage.BEGUN)

    w.putting[writer] = replace(putting, stage=Stage.READ, number=w.counter)


@action("473-OP-09", "473-OP-10", writer=WRITERS, fair=WEAK)
def take_number(w: CountedKeys, writer: str) -> None:
    """The counter record is written one higher, if it is as it was read; else it is read again."""
    putting = under_way(w, writer, Stage.READ)

    if w.counter != putting.number:
        w.putting[writer] = replace(putting, stage=Stage.BEGUN, number=-1)
        return
    w.counter = putting.number + 1
    w.putting[writer] = replace(putting, stage=Stage.NUMBERED)


@action("473-OP-09", "473-OP-03", writer=WRITERS, fair=WEAK)
def put_record(w: CountedKeys, writer: str) -> None:
    """The record is put under the number that was taken for it, which is nobody else's."""
    put_under(w, writer, under_way(w, writer, Stage.NUMBERED).number)


@sometimes("473-READ-12", number=NUMBERS)
def a_number_is_left_out(w: CountedKeys, number: int) -> object:
    """A writer crashed after it took a number, and the next one is used."""
    later = any(used for other, used in w.used.items() if other > number)
    return later and w.told > number and not w.used[number] and not any(w.putting.values())


@sometimes("473-OP-10")
def two_writers_read_the_same(w: CountedKeys) -> object:
    """Two writers have read the counter, and one of them will have to read it again."""
    read = [putting.number for putting in w.putting.values() if putting and putting.stage is Stage.READ]
    return len(read) > len(set(read))


@step("473-OP-10", "473-OP-03", number=NUMBERS)
def a_number_is_used_once(w: CountedKeys, after: CountedKeys, number: int) -> Iterator[str]:
    """Under a number of the counter there is never another record than the first."""
    before, then = w.stored[number], after.stored[number]
    if then not in (None, before) and w.used[number]:
        yield f"the record of operation {then} has the number {number}, which another one had"


@step("473-OP-10", number=NUMBERS)
def no_record_is_overwritten(w: SequentialKeys, after: SequentialKeys, number: int) -> Iterator[str]:
    """Where there is a record, no other one is put."""
    before, then = w.stored[number], after.stored[number]
    if before is not None and then not in (None, before):
        yield f"operation {then} is put under {number}, where operation {before} is"


@always("473-OP-02", "473-OP-10", writer=WRITERS)
def no_record_is_lost(w: SequentialKeys, writer: str) -> Iterator[str]:
    """What a writer knows to be stored is there until it deletes it."""
    for number, operation in w.mine[writer]:
        if w.stored[number] != operation:
            found = "nothing" if w.stored[number] is None else f"operation {w.stored[number]}"
            yield f"{writer} put operation {operation} under {number}, and {found} is there"


@always("473-READ-12", writer=WRITERS)
def what_begins_later_comes_later(w: CountedKeys, writer: str) -> Iterator[str]:
    """An operation that begins when the number of another one is known gets a higher one."""
    putting = w.putting[writer]
    if putting is not None and putting.stage is Stage.STORED and putting.number <= putting.after:
        yield f"{putting} was begun when {putting.after} was known"


@always("473-OP-10")
def no_record_takes_two_numbers(w: CountedKeys) -> Iterator[str]:
    """There are never more numbers given than records were begun."""
    begun = w.operations - w.operations_left
    if w.counter > begun:
        yield f"{w.counter} numbers are given, and {begun} records were begun"


@step("473-OP-02", writer=WRITERS)
def one_record_after_the_other(w: SequentialKeys, after: SequentialKeys, writer: str) -> Iterator[str]:
    """A writer begins with a record only when it is done with the one before."""
    before, then = w.putting[writer], after.putting[writer]
    if before is not None and then is not None and before.operation != then.operation:
        yield f"{writer} leaves {before}, and begins with {then.operation}"


@leads_to("473-OP-02", writer=WRITERS)
def every_record_gets_its_number(w: SequentialKeys, writer: str) -> tuple[object, object]:
    """Nobody waits for ever to put a record, however many others do the same."""
    return w.putting[writer] is not None, w.putting[writer] is None


@leads_to("473-GC-02", writer=WRITERS)
def deletions_come_to_an_end(w: SequentialKeys, writer: str) -> tuple[object, object]:
    """Whoever deletes a record hears that it is gone."""
    return w.deleting[writer] is not None, w.deleting[writer] is None
