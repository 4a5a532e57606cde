"""
The compiled inner loops: walk rows through learned decision trees, fingerprint, insert, materialise.

Nothing here knows what an action means. A row is a few 64-bit words with every variable's value id packed
into some bits of one word; a decision tree asks for one variable after another and ends in a leaf; a leaf has
alternatives, an alternative is a list of (place, new value id). What a tree does not know yet is a miss, and
its row is handed back to Python.

The fingerprint of a state is the exclusive-or over all places of a random word for (place, value). So a
successor's fingerprint needs only the places that were written, and two given states collide with
probability 2**-64, whatever they look like. With symmetry, see `orbit`.
"""

from typing import Any

import numpy as np

from models.engine.compiled import compiled, inlined, lowest, prefetch
from models.engine.orbit import orbit_print
from models.engine.program import LOW, U0, U1, U16, U32, Array, Program

FALSE, TRUE = 1, 2
"""The leaves of a predicate."""

STUCK, FAILED = -1, -2
"""What is noted of a row besides the numbers of predicates: nothing can happen, an action failed."""

SEEN, UNSEEN, NO_WRITES, FAILS = 0, 1, 2, 3
"""Kinds of alternatives: whether it has read all that it writes, writes nothing, or raised an exception."""

EXPAND, REST, LOOK, EDGES = 0, 1, 2, 3
"""
What to do with a row: check it and let things happen in it, let the rest happen after a reduction, only check
it, only let things happen and keep every edge.
"""

MISSES, HITS, TRANSITIONS, EDGE = 0, 1, 2, 3
"""What is counted in `totals`."""

OUTSIDE = 2
"""What is noted in `reduced` of a row in which nothing happens because it lies outside `within`."""

AHEAD = 24
"""How many candidates ahead the slots of the visited set are asked for."""


@inlined
def _mixed(key: Any) -> Any:
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    return key ^ (key >> np.uint64(29))


@inlined
def descend(p: Program, node: int, value: int) -> int:
    """The child of a node for a value: another node, a leaf (negative), or 0 if it is not known."""
    if value < p.tree[node + 1]:
        return p.tree[node + 2 + value]
    key = (np.uint64(node) << U32) | np.uint64(value)
    mask = np.uint64(len(p.hash_key) - 1)
    place = _mixed(key) & mask
    while True:
        found = p.hash_key[place]
        if found == key:
            return p.hash_child[place]
        if found == U0:
            return 0
        place = (place + U1) & mask


@compiled
def hash_insert(keys: Array, children: Array, node: int, value: int, child: int) -> None:
    """Remember a child for a large value id; the table must have room."""
    key = (np.uint64(node) << U32) | np.uint64(value)
    mask = np.uint64(len(keys) - 1)
    place = _mixed(key) & mask
    while keys[place] != U0 and keys[place] != key:
        place = (place + U1) & mask
    keys[place] = key
    children[place] = child


@inlined
def walk(p: Program, node: int, values: Array) -> int:
    """The leaf to which a row leads from a node; 0 if the tree does not know."""
    while node > 0:
        node = descend(p, node, values[p.tree[node]])
    return -node


@inlined
def unpack(p: Program, row: Array, values: Array) -> None:
    """The value ids of a packed row."""
    for place in range(len(p.packing)):
        word = row[p.packing[place, 0]]
        values[place] = (word >> np.uint64(p.packing[place, 1])) & np.uint64(p.packing[place, 2])


@compiled
def repack(old: Array, rows: Array, new: Array, packed: Array) -> None:
    """Rows packed in one way become rows packed in another."""
    for i in range(len(rows)):
        for place in range(len(new)):
            value = (rows[i, old[place, 0]] >> np.uint64(old[place, 1])) & np.uint64(old[place, 2])
            packed[i, new[place, 0]] |= value << np.uint64(new[place, 1])


@inlined
def successor(p: Program, row: Array, way: int, made: Array) -> None:
    """The row to which an alternative leads."""
    for word in range(len(row)):
        made[word] = row[word]
    for w in range(p.way[way, 0], p.way[way, 1]):
        place = p.write[w, 0]
        word, shift = p.packing[place, 0], np.uint64(p.packing[place, 1])
        kept = made[word] & ~(np.uint64(p.packing[place, 2]) << shift)
        made[word] = kept | (np.uint64(p.write[w, 1]) << shift)


@compiled
def unknown(p: Program, rows: Array, todo: Array, found: Array) -> int:
    """
    What the trees do not know of some rows: (row, what), where what is the number of a predicate, or -1 -
    place if no action that begins there was tried with its value, or the number of predicates and on top of
    it the position of a single action in `go_on`.
    """
    n = 0
    for row in range(len(rows)):
        values = rows[row]
        for k in range(len(p.predicate)):
            wanted = (todo[row] >> np.uint64(min(k, 63))) & U1
            if wanted and p.predicate[k] > 0 and walk(p, p.predicate[k], values) == 0:
                found[n, 0], found[n, 1] = row, k
                n += 1
        for r in range(len(p.roots)):
            root = p.roots[r]
            at = p.offset[root] + values[root]
            if p.first[at, 0] < 0:
                found[n, 0], found[n, 1] = row, -1 - root
                n += 1
                continue
            for i in range(p.first[at, 0], p.first[at, 1]):
                if walk(p, p.go_on[i], values) == 0:
                    found[n, 0], found[n, 1] = row, len(p.predicate) + i
                    n += 1
    return n


@inlined
def _note(hits: Array, seen: Array, totals: Array, code: int, row: int, way: int) -> None:
    """Remember the first row for which something is to be said."""
    if not seen[code]:
        seen[code] = 1
        n = totals[HITS]
        hits[n, 0], hits[n, 1], hits[n, 2] = code, row, way
        totals[HITS] = n + 1


@inlined
def look(p: Program, values: Array, todo: int, row: int, hits: Array, seen: Array, totals: Array) -> bool:
    """Check the state predicates that could have changed; false if one of them does not know the row."""
    known = True
    for i in range(len(p.looked_at)):
        place = p.looked_at[i]
        todo &= ~p.false_by[p.offset[place] + values[place]]
    while todo:
        bit = lowest(todo)
        todo &= todo - U1
        for k in range(bit, len(p.predicate) if bit == 63 else bit + 1):
            if p.predicate[k] > 0:
                leaf = walk(p, p.predicate[k], values)
                if leaf == TRUE:
                    _note(hits, seen, totals, k, row, 0)
                elif leaf == 0:
                    known = False
    return known


@inlined
def enabled(p: Program, values: Array, leaves: Array) -> int:
    """The leaves of all actions that can happen; -1 if a tree does not know the row."""
    n = 0
    for r in range(len(p.roots)):
        root = p.roots[r]
        at = p.offset[root] + values[root]
        begin = p.first[at, 0]
        if begin < 0:
            return -1
        for i in range(begin, p.first[at, 1]):
            leaf = walk(p, p.go_on[i], values)
            if leaf == 0:
                return -1
            leaves[n] = leaf
            n += 1
    return n


@inlined
def _steps_known(
    p: Program, values: Array, leaves: Array, n: int, row: int, hits: Array, seen: Array, totals: Array
) -> bool:
    """Check the step predicates on everything that can happen; false if one of them does not know."""
    size = len(p.packing)
    known = True
    for place in range(size):
        values[size + place] = values[place]
    for i in range(n):
        for way in range(p.leaf[leaves[i], 0], p.leaf[leaves[i], 1]):
            for w in range(p.way[way, 0], p.way[way, 1]):
                values[size + p.write[w, 0]] = p.write[w, 1]
            for k in range(len(p.step)):
                leaf = walk(p, p.step[k], values)
                if leaf == TRUE:
                    _note(hits, seen, totals, len(p.predicate) + k, row, way)
                elif leaf == 0:
                    known = False
            for w in range(p.way[way, 0], p.way[way, 1]):
                values[size + p.write[w, 0]] = values[p.write[w, 0]]
    return known


@inlined
def is_final(p: Program, values: Array) -> int:
    """Whether a state may be the last; 0 if a tree does not know."""
    verdict = FALSE
    for k in range(len(p.final)):
        leaf = walk(p, p.final[k], values)
        if leaf == TRUE:
            return TRUE
        if leaf == 0:
            verdict = 0
    return verdict


@inlined
def _reduced_set(
    p: Program, leaves: Array, n: int, current: Array, chosen: Array, queue: Array, best: Array
) -> int:
    """
    A stubborn set of instances, the smallest from one seed each, as flags in `best`; 0 if there is none.

    `current` has the leaf of every instance that is not disabled by its first read, else 0. Whatever could
    change what a member reads, or notice what it writes, comes along; a set whose enabled members a property
    could notice is no good.
    """
    smallest, size = n, len(current)
    for seed in range(n):
        leaf = leaves[seed]
        if p.leaf[leaf, 0] == p.leaf[leaf, 1] or not p.hidden[leaf]:
            continue
        for i in range(size):
            chosen[i] = 0
        head, tail, count, good = 0, 1, 0, True
        queue[0] = p.leaf[leaf, 2]
        chosen[queue[0]] = 1
        while head < tail and good:
            member = queue[head]
            head += 1
            at = current[member]
            if at and p.leaf[at, 0] < p.leaf[at, 1]:
                count += 1
                good = p.hidden[at] != 0 and count < smallest
            for word in range(p.blocked.shape[1]):
                bits = p.bring[at, word] if at else p.blocked[member, word]
                base = word * 64
                while bits:
                    number = base + lowest(bits)
                    bits &= bits - U1
                    if number < size and not chosen[number]:
                        chosen[number] = 1
                        queue[tail] = number
                        tail += 1
        if good and count < smallest:
            smallest = count
            for i in range(size):
                best[i] = chosen[i]
            if count == 1:
                break
    return smallest if smallest < n else 0


@inlined
def _orbit_after(p: Program, way: int, values: Array, ranking: Array) -> Any:
    """The fingerprint of the orbit to which an alternative leads."""
    size = len(p.packing)
    for place in range(size):
        values[size + place] = values[place]
    for w in range(p.way[way, 0], p.way[way, 1]):
        values[size + p.write[w, 0]] = p.write[w, 1]
    return orbit_print(p, values, size, ranking)


@compiled
def expand(  # noqa: PLR0915 (one loop; a call inside it would cost more than the work)
    p: Program,
    rows: Array,
    prints: Array,
    todo: Array,
    begin: int,
    end: int,
    mode: int,
    candidates: Array,
    counts: Array,
    recent: Array,
    misses: Array,
    hits: Array,
    seen: Array,
    fired: Array,
    totals: Array,
    reduced: Array,
    values: Array,
    leaves: Array,
    scratch: Array,
    ranking: Array,
) -> int:
    """
    Check rows and let everything happen in them; candidates go to the owners of their fingerprints.

    A row that some tree does not know is noted as a miss and otherwise left alone. What was sent lately is
    not sent again. Returns the row before which a bucket ran out of room, or `end`.
    """
    current, chosen, best, queue = scratch[0], scratch[1], scratch[2], scratch[3]
    owners, remembered = np.uint64(len(counts) - 1), np.uint64(len(recent) - 1)
    symmetric = len(p.group) > 0
    room = candidates.shape[1]
    fullest = 0
    for owner in range(len(counts)):
        fullest = max(fullest, counts[owner])
    partial = len(p.bring) > 0 and mode != EDGES
    filtered = len(recent) > 1 and mode != EDGES

    for row in range(begin, end):
        unpack(p, rows[row], values)
        known = True
        if todo[row] and mode in (EXPAND, LOOK):
            known = look(p, values, todo[row], row, hits, seen, totals)
        if mode == LOOK:
            if not known:
                misses[totals[MISSES]] = row
                totals[MISSES] += 1
            continue
        if len(p.within):
            inside = walk(p, p.within[0], values)
            if inside == FALSE and known:
                totals[EDGE] += 1
                reduced[row] = OUTSIDE
                continue
            known = known and inside != 0
        n = enabled(p, values, leaves)
        if known and n >= 0 and len(p.step) and mode == EXPAND:
            known = _steps_known(p, values, leaves, n, row, hits, seen, totals)
        ways = 0
        for i in range(n):
            ways += p.leaf[leaves[i], 1] - p.leaf[leaves[i], 0]
        if known and n >= 0 and ways == 0 and len(p.final):
            last = is_final(p, values)
            if last == FALSE:
                _note(hits, seen, totals, STUCK, row, 0)
            known = last != 0
        if n < 0 or not known:
            misses[totals[MISSES]] = row
            totals[MISSES] += 1
            continue
        if fullest + ways > room:
            return row

        some = False
        if partial and n > 1:
            for i in range(len(current)):
                current[i] = 0
            for i in range(n):
                current[p.leaf[leaves[i], 2]] = leaves[i]
            some = _reduced_set(p, leaves, n, current, chosen, queue, best) > 0
            reduced[row] = some
        for i in range(n):
            leaf = leaves[i]
            if some and (best[p.leaf[leaf, 2]] != 0) == (mode == REST):
                continue
            fired[p.leaf[leaf, 2]] += p.leaf[leaf, 1] - p.leaf[leaf, 0]
            totals[TRANSITIONS] += p.leaf[leaf, 1] - p.leaf[leaf, 0]
            for way in range(p.leaf[leaf, 0], p.leaf[leaf, 1]):
                kind = p.way[way, 3]
                if kind >= NO_WRITES:
                    if kind == FAILS:
                        _note(hits, seen, totals, FAILED, row, way)
                    continue
                found = _orbit_after(p, way, values, ranking) if symmetric else prints[row] ^ p.change[way]
                if kind == UNSEEN and not symmetric:
                    for w in range(p.way[way, 0], p.way[way, 1]):
                        base = p.offset[p.write[w, 0]]
                        found ^= p.random[base + values[p.write[w, 0]]] ^ p.random[base + p.write[w, 1]]
                if filtered:
                    if recent[(found >> U16) & remembered] == found:
                        continue
                    recent[(found >> U16) & remembered] = found
                owner = found & owners
                at = counts[owner]
                candidates[owner, at, 0] = found
                candidates[owner, at, 1] = (np.uint64(row) << U32) | np.uint64(way)
                counts[owner] = at + 1
                fullest = max(fullest, at + 1)
    return end


@inlined
def slot_of(fingerprint: int, size: int) -> int:
    """Where a fingerprint would like to stand in a table."""
    return ((fingerprint >> U32) * np.uint64(size)) >> U32


@inlined
def insert(table: Array, candidates: Array, count: int, progressed: Array) -> int:
    """Add fingerprints to a table that has room for all; the new ones move to the front of the candidates."""
    size = len(table)
    fresh = 0
    for c in range(count):
        if c + AHEAD < count:
            prefetch(table, np.int64(slot_of(candidates[c + AHEAD, 0], size)))
        mark = candidates[c, 0] | np.uint64(candidates[c, 0] == U0)
        slot = slot_of(mark, size)
        while True:
            found = table[slot]
            if found == mark:
                break
            if found == U0:
                table[slot] = mark
                candidates[fresh, 0] = candidates[c, 0]
                candidates[fresh, 1] = candidates[c, 1]
                progressed[candidates[c, 1] >> U32] = 1
                fresh += 1
                break
            slot += U1
            if slot == size:
                slot = U0
    return fresh


@compiled
def insert_all(
    tables: tuple[Array, ...],
    candidates: Array,
    counts: Array,
    fresh: Array,
    first: int,
    last: int,
    progressed: Array,
) -> None:
    """Insert what some owners were sent, each into its table."""
    for owner in range(first, last):
        fresh[owner] = insert(tables[owner], candidates[owner], counts[owner], progressed)


@inlined
def same_row(row: Array, stored: Array) -> bool:
    """Whether two rows are one state."""
    for word in range(len(row)):  # noqa: SIM110 (compiled)
        if row[word] != stored[word]:
            return False
    return True


@compiled
def insert_exactly(
    p: Program,
    table: Array,
    numbers: Array,
    candidates: Array,
    count: int,
    rows: Array,
    store: Array,
    slots: Array,
    progressed: Array,
    made: Array,
) -> int:
    """
    Add candidates to a table, and compare the whole states wherever fingerprints are equal.

    `numbers` holds the number of a stored state, or -1 - i for the i-th new one of this call, whose row does
    not exist yet; `slots` says where the new ones stand.
    """
    size = len(table)
    fresh = 0
    for c in range(count):
        mark = candidates[c, 0] | np.uint64(candidates[c, 0] == U0)
        source, way = np.int64(candidates[c, 1] >> U32), np.int64(candidates[c, 1] & LOW)
        successor(p, rows[source], way, made[0])
        slot = slot_of(mark, size)
        while True:
            if table[slot] == U0:
                table[slot] = mark
                numbers[slot] = -1 - fresh
                slots[fresh] = slot
                candidates[fresh, 0] = candidates[c, 0]
                candidates[fresh, 1] = candidates[c, 1]
                progressed[source] = 1
                fresh += 1
                break
            if table[slot] == mark:
                number = numbers[slot]
                if number >= 0:
                    found = same_row(made[0], store[number])
                else:
                    what = candidates[-1 - number, 1]
                    successor(p, rows[np.int64(what >> U32)], np.int64(what & LOW), made[1])
                    found = same_row(made[0], made[1])
                if found:
                    break
            slot += U1
            if slot == size:
                slot = U0
    return fresh


@compiled
def find(
    p: Program,
    table: Array,
    numbers: Array,
    candidates: Array,
    count: int,
    rows: Array,
    store: Array,
    made: Array,
    found: Array,
) -> None:
    """The numbers of states in a table with whole rows; -1 for one that is not there."""
    size = len(table)
    for c in range(count):
        mark = candidates[c, 0] | np.uint64(candidates[c, 0] == U0)
        successor(p, rows[np.int64(candidates[c, 1] >> U32)], np.int64(candidates[c, 1] & LOW), made)
        slot = slot_of(mark, size)
        found[c] = -1
        while table[slot] != U0:
            if table[slot] == mark and same_row(made, store[numbers[slot]]):
                found[c] = numbers[slot]
                break
            slot += U1
            if slot == size:
                slot = U0


@compiled
def fingerprints(p: Program, rows: Array, values: Array, ranking: Array, prints: Array) -> None:
    """The fingerprints of rows, from their values; of their orbits if there is symmetry."""
    for i in range(len(rows)):
        unpack(p, rows[i], values)
        if len(p.group) > 0:
            prints[i] = orbit_print(p, values, 0, ranking)
            continue
        found = U0
        for place in range(len(p.packing)):
            found ^= p.random[p.offset[place] + values[place]]
        prints[i] = found


@compiled
def move_numbers(old: Array, old_numbers: Array, new: Array, numbers: Array) -> None:
    """Put every entry of a table with numbers into a larger one."""
    size = len(new)
    for i in range(len(old)):
        if old[i] != U0:
            slot = slot_of(old[i], size)
            while new[slot] != U0:
                slot += U1
                if slot == size:
                    slot = U0
            new[slot] = old[i]
            numbers[slot] = old_numbers[i]


@compiled
def move_table(old: Array, new: Array) -> None:
    """Put every entry of a table into a larger one."""
    size = len(new)
    for i in range(len(old)):
        mark = old[i]
        if mark != U0:
            slot = slot_of(mark, size)
            while new[slot] != U0:
                slot += U1
                if slot == size:
                    slot = U0
            new[slot] = mark


@compiled
def materialise(
    p: Program,
    rows: Array,
    ids: Array,
    candidates: Array,
    fresh: Array,
    at: Array,
    first: int,
    last: int,
    new_rows: Array,
    new_prints: Array,
    todo: Array,
    parents: Array,
) -> None:
    """Make the rows of the new candidates of some owners, with fingerprints and where they came from."""
    for owner in range(first, last):
        for c in range(fresh[owner]):
            what = candidates[owner, c, 1]
            source, way = np.int64(what >> U32), np.int64(what & LOW)
            to = at[owner] + c
            successor(p, rows[source], way, new_rows[to])
            new_prints[to] = candidates[owner, c, 0]
            watch = U0
            for w in range(p.way[way, 0], p.way[way, 1]):
                watch |= p.watch[p.write[w, 0]]
            todo[to] = watch
            parents[to, 0] = ids[source]
            parents[to, 1] = p.way[way, 2]
