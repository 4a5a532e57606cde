"""
Fingerprints of orbits: states that differ only in who is called what get the same one.

Every interchangeable member gets a signature from what the state says of it: the values that mention it, with
its own name and those of the others blotted out, and then, where several are mentioned together, the
signatures of these. Ranked by signature, the members take each other's names, and the renamed state is
fingerprinted. Members with equal signatures that are never mentioned together with others are alike, and it
does not matter who comes first; for others the smallest fingerprint of all their orders counts.

Whatever the order, the result is the fingerprint of a renaming of the state, so that two states never share
one without being each other's renamings (but for chance); too few orders tried only make orbits count twice.
"""

from typing import Any

import numpy as np

from models.engine.compiled import inlined
from models.engine.program import U0, U1, Array, Program

ORDERS = 720
"""How many orders of members with equal signatures are tried at most."""

SIGN, MIXED, ORDER, RANK, TANGLED, TIE = 0, 1, 2, 3, 4, 5
ROWS = 6
"""The rows of the scratch array, one column for each member."""


@inlined
def _stirred(word: Any) -> Any:
    word = (word ^ (word >> np.uint64(31))) * np.uint64(0x7FB5D329728EA185)
    return (word ^ (word >> np.uint64(27))) * np.uint64(0x81DADEF4BC2DD44D)


@inlined
def _sign(p: Program, values: Array, begin: int, r: Array) -> None:
    """Give every member its signature."""
    members = r.shape[1]
    for m in range(members):
        r[SIGN, m] = r[MIXED, m] = r[TANGLED, m] = U0
    for place in range(len(p.packing)):
        at = p.offset[place] + values[begin + place]
        first, last = p.orbit[at, 0], p.orbit[at, 1]
        for j in range(first, last):
            m = p.mention[j, 0]
            r[SIGN, m] += p.sign[j]
            if last - first > 1:
                r[TANGLED, m] = U1
    for place in range(len(p.packing)):
        at = p.offset[place] + values[begin + place]
        first, last = p.orbit[at, 0], p.orbit[at, 1]
        for j in range(first, last if last - first > 1 else first):
            together = p.sign[j]
            for i in range(first, last):
                if i != j:
                    together += _stirred(p.sign[i] ^ r[SIGN, p.mention[i, 0]])
            r[MIXED, p.mention[j, 0]] += _stirred(together)
    for m in range(members):
        r[SIGN, m] ^= r[MIXED, m]


@inlined
def _rank(p: Program, r: Array) -> int:
    """Order the members of each domain by signature; returns in how many orders they could stand."""
    orders = 1
    for g in range(len(p.group)):
        first, last = p.group[g, 0], p.group[g, 1]
        for i in range(first, last):
            m, j = np.uint64(i), i
            while j > first and r[SIGN, np.int64(r[ORDER, j - 1])] > r[SIGN, i]:
                r[ORDER, j] = r[ORDER, j - 1]
                j -= 1
            r[ORDER, j] = m
        size = 1
        for i in range(first, last):
            m = np.int64(r[ORDER, i])
            r[RANK, m] = np.uint64(i - first)
            same = i > first and r[SIGN, m] == r[SIGN, np.int64(r[ORDER, i - 1])]
            size = size + 1 if same and r[TANGLED, m] else 1
            r[TIE, i] = np.uint64(size)
            orders = min(orders * size, ORDERS)
    return orders


@inlined
def _arrange(p: Program, r: Array, number: int) -> None:
    """Put the members with equal signatures into one of their orders."""
    for g in range(len(p.group)):
        first, last = p.group[g, 0], p.group[g, 1]
        for i in range(first, last):
            r[RANK, np.int64(r[ORDER, i])] = np.uint64(i - first)
        for i in range(first, last):
            size = np.int64(r[TIE, i])
            if size > 1:
                back = number % size
                number //= size
                one, other = np.int64(r[ORDER, i]), np.int64(r[ORDER, i - back])
                r[RANK, one], r[RANK, other] = r[RANK, other], r[RANK, one]


@inlined
def _renamed_print(p: Program, values: Array, begin: int, r: Array) -> Any:
    found = U0
    for place in range(len(p.packing)):
        at = p.offset[place] + values[begin + place]
        word = p.orbit[at, 2]
        for j in range(p.orbit[at, 0], p.orbit[at, 1]):
            word += np.int64(r[RANK, p.mention[j, 0]]) * p.mention[j, 1]
        found ^= p.orbit_word[word]
    return found


@inlined
def orbit_print(p: Program, values: Array, begin: int, r: Array) -> Any:
    """The fingerprint of the orbit of a row whose values begin there."""
    _sign(p, values, begin, r)
    orders = _rank(p, r)
    least = _renamed_print(p, values, begin, r)
    for number in range(1, orders):
        _arrange(p, r, number)
        least = min(least, _renamed_print(p, values, begin, r))
    return least
