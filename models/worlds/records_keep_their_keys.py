"""Has every operation record a key of its own, on stores that number them and on those that do not?"""

from dataclasses import replace

from spec.machine import WEAK, action
from spec.protocols.sequential_keys import (
    WRITERS,
    CountedKeys,
    NativeKeys,
    SequentialKeys,
    Stage,
    a_number_is_used_once,
    no_record_is_lost,
    put_under,
    under_way,
)
from spec.world import Holds, Violated, World


class GuessedKeys(SequentialKeys):
    """What comes to mind first: the writer looks which numbers are taken, and uses the next."""


@action("473-OP-03", writer=WRITERS, fair=WEAK)
def list_records(w: GuessedKeys, writer: str) -> None:
    """The writer lists the records of the transaction and adds one to the highest number."""
    putting = under_way(w, writer, Stage.BEGUN)

    highest = max((number for number, operation in w.stored.items() if operation is not None), default=-1)
    w.putting[writer] = replace(putting, stage=Stage.READ, number=highest + 1)


class PutAnyway(GuessedKeys):
    """The record is put there."""


@action("473-OP-03", writer=WRITERS, fair=WEAK)
def put_guessed(w: PutAnyway, writer: str) -> None:
    """The record is put under the number that was free when the writer looked."""
    put_under(w, writer, under_way(w, writer, Stage.READ).number)


class PutIfFree(GuessedKeys):
    """The record is put there, on condition that nothing is."""


@action("473-OP-03", writer=WRITERS, fair=WEAK)
def put_if_free(w: PutIfFree, writer: str) -> None:
    """The record is created under that number, and if somebody was faster, the writer looks again."""
    putting = under_way(w, writer, Stage.READ)

    if w.stored[putting.number] is None:
        put_under(w, writer, putting.number)
    else:
        w.putting[writer] = replace(putting, stage=Stage.BEGUN, number=-1)


COUNTED = World(
    name="counted-records-keep-their-keys",
    asks="On a store that only keeps a counter, do two records never share a number, whoever crashes?",
    machines=(SequentialKeys, CountedKeys),
    bounds={"writers": 2, "numbers": 3, "operations": 3},
    expect=Holds(states=6_458, depth=21),
)

WORLDS = (
    COUNTED,
    replace(
        COUNTED,
        name="records-keep-their-keys",
        asks="On a store that has sequential keys, do two records never share a number, whoever crashes?",
        machines=(SequentialKeys, NativeKeys),
        expect=Holds(states=2_340, depth=15),
    ),
    replace(
        COUNTED,
        name="guessed-keys-collide",
        asks="Can a writer look for the next number itself?",
        machines=(SequentialKeys, GuessedKeys, PutAnyway),
        properties=(a_number_is_used_once, no_record_is_lost),
        expect=Violated("a_number_is_used_once", steps=6),
    ),
    replace(
        COUNTED,
        name="guessed-keys-are-used-again",
        asks="Can a writer look for the next number itself, if it never puts a record where there is one?",
        machines=(SequentialKeys, GuessedKeys, PutIfFree),
        properties=(no_record_is_lost,),
        expect=Violated("no_record_is_lost", steps=10),
    ),
)
