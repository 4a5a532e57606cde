"""
Clients that have nothing to do with each other, until each of them registers once in the same place.

Nearly all of this world's states differ only in how far one client has come while another waits: nothing in
it depends on that order, nor on the clients' names. It is there for the reductions.
"""

from collections.abc import Iterator

from spec.machine import (
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    final,
    require,
    sometimes,
)
from spec.world import Holds, World

CLIENTS = Domain("client", "c")
NUMBERS = Domain("number", plural="clients")


class Registry(Machine):
    """A registry that gives out numbers, and the clients' own sessions."""

    clients = Bound()
    steps = Bound()

    session = Family[str, int](CLIENTS, 0)
    """How many of its private steps a client has done."""
    number = Family[str, int | None](CLIENTS, None)
    registered = Variable[int](0)
    holder = Family[int, str | None](NUMBERS, None)


@action(client=CLIENTS, fair=WEAK)
def prepare(w: Registry, client: str) -> None:
    """Do one more step in the client's own session, of which nobody else knows."""
    require(w.session[client] < w.steps)

    w.session[client] += 1


@action(client=CLIENTS, fair=WEAK)
def register(w: Registry, client: str) -> None:
    """Take the next number of the registry, once the session is prepared."""
    require(w.number[client] is None)
    require(w.session[client] == w.steps)

    w.number[client] = w.registered
    w.holder[w.registered] = client
    w.registered += 1


@always(client=CLIENTS)
def a_number_belongs_to_whoever_holds_it(w: Registry, client: str) -> Iterator[str]:
    """The registry knows every client under the number that the client was given."""
    number = w.number[client]
    if number is not None and w.holder[number] != client:
        yield f"{client} was given number {number}, which the registry knows as {w.holder[number]}"


@always(number=NUMBERS)
def numbers_are_given_out_in_order(w: Registry, number: int) -> Iterator[str]:
    """A number has a holder exactly when the registry has come past it."""
    if (w.holder[number] is not None) != (number < w.registered):
        yield f"number {number} is held by {w.holder[number]}, and {w.registered} are given out"


@sometimes()
def everybody_is_registered(w: Registry) -> bool:
    return w.registered == w.clients


@final()
def nobody_has_anything_left_to_do(w: Registry) -> bool:
    return w.registered == w.clients


def independent_clients(name: str, bounds: dict[str, int], expect: Holds, large: bool = False) -> World:
    """The question, within these bounds."""
    return World(
        name=name,
        asks="If clients prepare on their own and then register in one place, does each get its own number?",
        machines=(Registry,),
        bounds=bounds,
        interchangeable=(CLIENTS,),
        expect=expect,
        large=large,
    )


SMALL = independent_clients("independent-clients", {"clients": 5, "steps": 3}, Holds(states=5_144, depth=20))
LARGE = independent_clients(
    "independent-clients-large", {"clients": 9, "steps": 2}, Holds(states=7_280_604, depth=27), large=True
)
WORLDS = (SMALL, LARGE)
