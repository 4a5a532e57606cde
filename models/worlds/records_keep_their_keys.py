"""Has every operation record a key of its own, on stores that number them and on those that do not?"""

from dataclasses import replace

from spec.machine import WEAK, action
from spec.protocols.sequential_keys import (
    WRITERS,
    CountedKeys,
    NativeKeys,
    SequentialKeys,
    Stage,
    next_number,
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

    w.putting[writer] = replace(putting, stage=Stage.READ, number=next_number(w))


@action("473-OP-03", writer=WRITERS, fair=WEAK)
def put_guessed(w: GuessedKeys, writer: str) -> None:
    """The record is put under the number that was free when the writer looked."""
    put_under(w, writer, under_way(w, writer, Stage.READ).number)


NATIVE = World(
    name="records-keep-their-keys",
    asks="On a store that has sequential keys, is every record there until its own writer deletes it?",
    machines=(SequentialKeys, NativeKeys),
    bounds={"writers": 2, "numbers": 3, "operations": 3},
    expect=Holds(states=2_870, depth=15),
)

WORLDS = (
    NATIVE,
    NATIVE.without("deletions_name_their_version", Violated("no_record_is_lost", steps=8)),
    NATIVE.as_written(Violated("no_record_is_lost", steps=8)),
    replace(
        NATIVE,
        name="counted-records-keep-their-keys",
        asks="On a store that only keeps a counter, do two records never share a number, whoever crashes?",
        machines=(SequentialKeys, CountedKeys),
        expect=Holds(states=6_237, depth=21),
    ),
    replace(
        NATIVE,
        name="guessed-keys-collide",
        asks="Can a writer look for the next number itself?",
        machines=(SequentialKeys, GuessedKeys),
        properties=(no_record_is_lost,),
        expect=Violated("no_record_is_lost", steps=7),
    ),
)
