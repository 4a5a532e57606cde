"""
A lock server: clients ask for the lock by message, wait in line, use it, and give it back.

Messages arrive late and in any order, but none is lost. What goes wrong when the server takes the lock back
from a client that is slow, not dead, is the second world.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.machine import (
    WEAK,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    final,
    leads_to,
    require,
    sometimes,
    step,
)
from spec.world import Holds, Violated, World

CLIENTS = Domain("client", "c")


class Client(Enum):
    """Where a client stands."""

    IDLE = "does not need the lock"
    WAITING = "has asked for it"
    HOLDING = "was told that it has it"


class Word(Enum):
    """What messages say."""

    PLEASE = "client to server"
    YOURS = "server to client"
    DONE = "client to server, too"


@dataclass(frozen=True, slots=True)
class Message:
    """A word that is under way to or from a client."""

    word: Word
    client: str

    def __str__(self) -> str:
        return f"{self.client} {self.word.name.lower()}"


class LockServer(Machine):
    """One server, its clients, and the messages between them."""

    client = Family[str, Client](CLIENTS, Client.IDLE)
    holder = Variable[str | None](None)
    line = Variable[tuple[str, ...]](())
    """Who waits, as the server knows it, first come first."""
    wire = Variable[frozenset[Message]](frozenset())


@action("LOCK-ASK", client=CLIENTS)
def ask(w: LockServer, client: str) -> None:
    """A client that needs the lock asks for it and waits."""
    require(w.client[client] is Client.IDLE)

    w.client[client] = Client.WAITING
    w.wire |= {Message(Word.PLEASE, client)}


@action("LOCK-QUEUE", client=CLIENTS, fair=WEAK)
def queue(w: LockServer, client: str) -> None:
    """The server hears a client ask, and puts it at the end of the line."""
    require(Message(Word.PLEASE, client) in w.wire)

    w.wire -= {Message(Word.PLEASE, client)}
    w.line = (*w.line, client)


@action("LOCK-GRANT", fair=WEAK)
def grant(w: LockServer) -> None:
    """The server gives a lock that is free to the first in line."""
    require(w.holder is None)
    require(w.line)

    first, *rest = w.line
    w.holder, w.line = first, tuple(rest)
    w.wire |= {Message(Word.YOURS, first)}


@action("LOCK-ENTER", client=CLIENTS, fair=WEAK)
def enter(w: LockServer, client: str) -> None:
    """A client hears that the lock is its own."""
    require(Message(Word.YOURS, client) in w.wire)

    w.wire -= {Message(Word.YOURS, client)}
    w.client[client] = Client.HOLDING


@action("LOCK-LEAVE", client=CLIENTS, fair=WEAK)
def leave(w: LockServer, client: str) -> None:
    """A client that is done with the lock says so, and at once behaves as if it had none."""
    require(w.client[client] is Client.HOLDING)

    w.client[client] = Client.IDLE
    w.wire |= {Message(Word.DONE, client)}


@action("LOCK-FREE", client=CLIENTS, fair=WEAK)
def free(w: LockServer, client: str) -> None:
    """The server hears that the holder is done; from now on the lock is free."""
    require(Message(Word.DONE, client) in w.wire)

    w.wire -= {Message(Word.DONE, client)}
    w.holder = None


@always("LOCK-ONE")
def one_client_holds_the_lock(w: LockServer) -> Iterator[str]:
    """No two clients believe at the same time that they have the lock."""
    holding = [client for client, stands in w.client.items() if stands is Client.HOLDING]
    if len(holding) > 1:
        yield f"{' and '.join(holding)} both hold the lock"


@always("LOCK-KNOWN", client=CLIENTS)
def the_server_knows_the_holder(w: LockServer, client: str) -> Iterator[str]:
    """Whoever believes that it has the lock has it."""
    if w.client[client] is Client.HOLDING and w.holder != client:
        yield f"{client} holds the lock, and the server believes that {w.holder or 'nobody'} does"


@always("LOCK-LINE")
def whoever_stands_in_line_waits(w: LockServer) -> Iterator[str]:
    """Nobody stands in line twice, or without having asked."""
    for client in w.line:
        if w.line.count(client) > 1:
            yield f"{client} stands in line twice"
        if w.client[client] is not Client.WAITING:
            yield f"{client} stands in line and is {w.client[client].name.lower()}"


@step("LOCK-FAIR")
def nobody_jumps_the_line(before: LockServer, after: LockServer) -> Iterator[str]:
    """The line only loses its first and only grows at its end."""
    grew = after.line[: len(before.line)] == before.line
    if not grew and after.line != before.line[1:]:
        yield f"the line was {', '.join(before.line)} and became {', '.join(after.line) or 'empty'}"


@leads_to("LOCK-LIVE", client=CLIENTS)
def whoever_waits_gets_the_lock(w: LockServer, client: str) -> tuple[object, object]:
    """A client that asks holds the lock in the end."""
    return w.client[client] is Client.WAITING, w.client[client] is Client.HOLDING


@sometimes("LOCK-BUSY")
def somebody_holds_it_while_all_others_wait(w: LockServer) -> object:
    """One client has the lock, and everybody else stands in line."""
    return Client.HOLDING in w.client.values() and len(w.line) == len(w.client) - 1


@sometimes("LOCK-LATE")
def a_release_is_under_way_while_its_client_asks_again(w: LockServer) -> object:
    """A client may need the lock again before the server knows that it had been done with it."""
    return any({Message(Word.DONE, client), Message(Word.PLEASE, client)} <= w.wire for client in w.client)


@final("LOCK-ENDLESS")
def a_lock_server_is_never_done(w: LockServer) -> object:
    """There is no state in which nothing more could happen."""
    return False


class Leases(LockServer):
    """The same server, which does not wait for ever."""


@action("LOCK-EXPIRE", fault=True)
def expire(w: Leases) -> None:
    """The first in line has waited long enough: it gets the lock, whatever has become of the holder."""
    require(w.line)

    first, *rest = w.line
    w.holder, w.line = first, tuple(rest)
    w.wire |= {Message(Word.YOURS, first)}


WORLDS = (
    World(
        name="lock-server",
        asks="Does each client that asks get the lock, and never two at a time, however late messages are?",
        machines=(LockServer,),
        bounds={"clients": 3},
        interchangeable=(CLIENTS,),
        expect=Holds(states=212, depth=11),
    ),
    World(
        name="lock-server-with-leases",
        asks="May the server take the lock back from a client that it has not heard of for a while?",
        machines=(LockServer, Leases),
        bounds={"clients": 2},
        properties=(one_client_holds_the_lock, a_lock_server_is_never_done),
        interchangeable=(CLIENTS,),
        expect=Violated("one_client_holds_the_lock", steps=8),
    ),
)
