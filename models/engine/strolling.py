"""The compiled loop of a random walk: from row to row through the trees, checking on the way."""

from typing import Any

import numpy as np

from models.engine.compiled import compiled, inlined
from models.engine.kernel import FAILS, FALSE, TRUE, enabled, is_final, walk
from models.engine.program import U0, U1, Array, Program

UNIFORM, FEWEST, PRIORITY = 0, 1, 2
"""All alternatives alike; what happened least often so far; random priorities that change at times."""

ENOUGH, UNKNOWN, FOUND, STUCK, OUTSIDE = 0, 1, 2, 3, 4
"""Why a walk stops: all steps are done, a tree does not know, a predicate is true, nothing can happen."""

CHANGES = 5
"""How often on average the priorities change in a walk."""


@inlined
def _drawn(state: Array) -> Any:
    """The next random number (xorshift, multiplied)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)


@inlined
def _chosen(p: Program, leaves: Array, n: int, bias: int, fired: Array, rank: Array, random: Array) -> Any:
    """The leaf that goes next; -1 if nothing can happen."""
    ways = 0
    for i in range(n):
        ways += p.leaf[leaves[i], 1] - p.leaf[leaves[i], 0]
    if ways == 0:
        return -1
    if bias == UNIFORM:
        left = np.int64(_drawn(random) % np.uint64(ways))
        for i in range(n):
            left -= p.leaf[leaves[i], 1] - p.leaf[leaves[i], 0]
            if left < 0:
                return leaves[i]
    best, begin = -1, np.int64(_drawn(random) % np.uint64(n))
    for j in range(n):
        leaf = leaves[(begin + j) % n]
        number = p.leaf[leaf, 2]
        if p.leaf[leaf, 0] == p.leaf[leaf, 1]:
            continue
        if (
            best < 0
            or (bias == FEWEST and fired[number] < fired[p.leaf[best, 2]])
            or (bias == PRIORITY and rank[number] > rank[p.leaf[best, 2]])
        ):
            best = leaf
    return best


@compiled
def stroll(
    p: Program,
    values: Array,
    todo: Array,
    at: int,
    moves: Array,
    bias: int,
    fired: Array,
    rank: Array,
    random: Array,
    leaves: Array,
    true: Array,
) -> tuple[int, int]:
    """
    Walk on from step `at` until there is a reason to stop; returns the reason and the step.

    `values` is the row, in its first half; `todo` what is still to be checked in it; `true` gets the numbers
    of the predicates that are true there, step predicates behind state predicates, and at its end how many.
    """
    size, last = len(p.packing), len(true) - 1
    true[last] = 0
    while True:
        for k in range(len(p.predicate)):
            if p.predicate[k] > 0 and (todo[0] >> np.uint64(min(k, 63))) & U1:
                leaf = walk(p, p.predicate[k], values)
                if leaf == 0:
                    return UNKNOWN, at
                if leaf == TRUE:
                    true[true[last]] = k
                    true[last] += 1
        todo[0] = U0
        if true[last]:
            return FOUND, at
        if at == len(moves):
            return ENOUGH, at
        if len(p.within):
            inside = walk(p, p.within[0], values)
            if inside != TRUE:
                return (UNKNOWN if inside == 0 else OUTSIDE), at
        n = enabled(p, values, leaves)
        if n < 0:
            return UNKNOWN, at
        leaf = _chosen(p, leaves, n, bias, fired, rank, random)
        if leaf < 0:
            last_word = is_final(p, values)
            if last_word == 0:
                return UNKNOWN, at
            return (ENOUGH if last_word == TRUE else STUCK), at
        number = p.leaf[leaf, 2]
        if bias == PRIORITY and _drawn(random) % np.uint64(len(moves)) < np.uint64(CHANGES):
            rank[number] = -np.int64(_drawn(random))
        ways = p.leaf[leaf, 1] - p.leaf[leaf, 0]
        way = p.leaf[leaf, 0] + np.int64(_drawn(random) % np.uint64(ways))
        for place in range(size):
            values[size + place] = values[place]
        for w in range(p.way[way, 0], p.way[way, 1]):
            values[size + p.write[w, 0]] = p.write[w, 1]
        for k in range(len(p.step)):
            leaf = walk(p, p.step[k], values)
            if leaf == 0:
                return UNKNOWN, at
            if leaf != FALSE:
                true[true[last]] = len(p.predicate) + k
                true[last] += 1
        fired[number] += 1
        moves[at] = p.way[way, 2]
        for w in range(p.way[way, 0], p.way[way, 1]):
            values[p.write[w, 0]] = p.write[w, 1]
            todo[0] |= p.watch[p.write[w, 0]]
        at += 1
        if true[last] or p.way[way, 3] == FAILS:
            return FOUND, at
