"""
What the compiled kernel knows of a world, learned from running the specification.

A function of the specification is deterministic, so the values that it reads decide what it does. Each value
of each variable gets a small number; each action and property becomes a decision tree over these numbers. A
tree grows by one path whenever a row comes along that it does not know: the function is run there once, and
never again for any state in which it would read the same.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from models.engine import kernel
from models.engine.kernel import FAILS, FALSE, NO_WRITES, SEEN, TRUE, UNSEEN, Array, Program
from models.engine.symmetry import Renaming
from spec.immutable import Misuse, encode
from spec.machine import Action, Property, Sort
from spec.world import Alternative, Instance, Model, State

WAYS = 1 << 12
"""How many alternatives one action may have in one state."""


class Growing:
    """An array with room behind its end."""

    def __init__(self, *shape: int, dtype: Any = np.int32, fill: int = 0) -> None:
        self.fill, self.size = fill, 0
        self.array: Array = np.full((64, *shape), fill, dtype)

    def append(self, *rows: Any) -> int:
        """Add rows at the end and return the number of the first."""
        begin = self.size
        self.reserve(begin + len(rows))
        for i, row in enumerate(rows):
            self.array[begin + i] = row
        self.size = begin + len(rows)
        return begin

    def extend(self, count: int) -> int:
        """Add so many empty rows."""
        begin = self.size
        self.reserve(begin + count)
        self.size = begin + count
        return begin

    def reserve(self, size: int) -> None:
        if size > len(self.array):
            grown = np.full(
                (max(size, 2 * len(self.array)), *self.array.shape[1:]), self.fill, self.array.dtype
            )
            grown[: self.size] = self.array[: self.size]
            self.array = grown


class Values:
    """The values that each place has had so far, numbered, with the random words of their fingerprints."""

    def __init__(self, model: Model, renamings: Sequence[Renaming], salt: int) -> None:
        self.model, self.renamings, self.salt = model, renamings, salt
        self.ids: list[dict[Any, int]] = [{} for _ in model.slots]
        self.known: list[list[Any]] = [[] for _ in model.slots]
        self.room = np.full(len(model.slots), 8, np.int64)
        self._lay_out()

    def _lay_out(self) -> None:
        self.offset = np.concatenate(([0], np.cumsum(self.room)))[:-1].astype(np.int64)
        self.total = int(self.room.sum())

    def intern(self, place: int, value: Any) -> int:
        """The number of a value at a place."""
        found = self.ids[place].get(value)
        if found is not None:
            known = self.known[place][found]
            if known is not value and encode(known) != encode(value):
                raise Misuse(
                    f"{self.model.slots[place].name} holds {known!r} and {value!r}, which are equal but not the "
                    "same: keep to one type"
                )
            return found
        number = len(self.known[place])
        self.ids[place][value] = number
        self.known[place].append(value)
        return number

    def words(self, place: int, value: Any) -> list[int]:
        """The random words of a value, one for each renaming; they depend on nothing but names and content."""
        return [
            int.from_bytes(
                blake2b(
                    encode((self.model.slots[r.places[place]].name, r.value(value))),
                    digest_size=8,
                    key=self.salt.to_bytes(8, "little"),
                ).digest(),
                "little",
            )
            for r in self.renamings
        ]

    def state(self, ids: Sequence[int]) -> State:
        """The values behind a row of numbers."""
        return tuple(known[i] for known, i in zip(self.known, ids, strict=True))


class Knowledge:
    """Everything learned so far, and how to learn more."""

    def __init__(self, model: Model, renamings: Sequence[Renaming] = (), salt: int = 0) -> None:
        self.model = model
        self.renamings = tuple(renamings) or (Renaming.identity(model),)
        self.values = Values(model, self.renamings, salt)
        self.evaluations = 0
        self.contexts: dict[str, int] = {}
        self.instances = model.instances
        self._by_arguments = {
            (i.of.name, i.arguments): i for i in (*model.instances, *model.checks, *model.finals)
        }
        self._random: Array = np.zeros(self.values.total * len(self.renamings), np.uint64)
        self._first: Array = np.full((self.values.total, 2), -1, np.int32)
        self._false_by: Array = np.zeros(self.values.total, np.uint64)
        self._go_on, self._go_on_instance = Growing(), Growing()
        self._node, self._child = Growing(3), Growing()
        self._children: dict[tuple[int, int], int] = {}
        self._hash_key: Array = np.zeros(1024, np.uint64)
        self._hash_child: Array = np.zeros(1024, np.int32)
        self._hashed = 0
        self._leaf, self._way, self._write = Growing(3), Growing(4), Growing(2)
        self._changes = Growing(len(self.renamings), dtype=np.uint64)
        self._node.append((0, 0, 0))
        self._leaf.append((0, 0, 0), (0, 0, 0), (0, 0, 0))
        self._leaves: dict[Any, int] = {}
        self._watch: Array = np.zeros(len(model.slots), np.uint64)

        looks = [c for c in model.checks if c.of.sort in (Sort.ALWAYS, Sort.SOMETIMES)]
        self.looks, self.steps = looks, [c for c in model.checks if c.of.sort is Sort.STEP]
        self._look_roots: Array = np.zeros(len(looks), np.int32)
        self._step_roots: Array = np.zeros(len(self.steps), np.int32)
        self._final_roots: Array = np.zeros(len(model.finals), np.int32)
        self._within_root: Array = np.zeros(0 if model.world.within is None else 1, np.int32)
        self.idle = np.zeros(len(looks), np.bool_)
        """Witnesses that have been found: nobody needs to look again."""

        self._roots: list[int] = []
        self._begin()
        self.packing = self._packed()

    def _begin(self) -> None:
        """Find out where each tree begins, by running everything on an initial state."""
        state = self.model.initial[0]
        for one in self.model.initial:
            for place, value in enumerate(one):
                self.intern(place, value)
        self._starts_at: dict[int, list[int]] = {}
        self._instance_roots = []
        for number, instance in enumerate(self.instances):
            reads, _ = self._run(instance, state)
            self._starts_at.setdefault(reads[0], []).append(number)
            self._instance_roots.append(self._new_node(reads[0]))
        self._roots = sorted(self._starts_at)
        for roots, checks in (
            (self._look_roots, self.looks),
            (self._step_roots, self.steps),
            (self._final_roots, self.model.finals),
        ):
            for k, check in enumerate(checks):
                after = state if check.of.sort is Sort.STEP else None
                roots[k] = self._new_node(self._look(check, state, after)[0][0])
        if len(self._within_root):
            self._within_root[0] = self._new_node((self.model.inside(state).reads or (0,))[0])

    # what the kernel sees

    def program(self) -> Program:
        """The arrays as they are now."""
        active = np.where(self.idle, 0, self._look_roots).astype(np.int32)
        none = np.zeros((0, 1), np.uint64)
        return Program(
            offset=self.values.offset,
            random=self._random,
            first=self._first,
            go_on=self._go_on.array,
            roots=np.array(self._roots, np.int32),
            node=self._node.array,
            child=self._child.array,
            hash_key=self._hash_key,
            hash_child=self._hash_child,
            leaf=self._leaf.array,
            way=self._way.array,
            change=self._changes.array.ravel(),
            write=self._write.array,
            watch=self._watch,
            predicate=active,
            looked_at=np.unique(self._node.array[self._look_roots, 0]).astype(np.int32),
            false_by=self._false_by,
            step=self._step_roots,
            final=self._final_roots,
            within=self._within_root,
            packing=self.packing,
            bring=none,
            hidden=np.zeros(0, np.uint8),
            blocked=none,
        )

    def _packed(self) -> Array:
        """Place every variable in a word, in as few bits as its values need."""
        packing: Array = np.zeros((len(self.values.known), 3), np.int64)
        word = used = 0
        for place, known in enumerate(self.values.known):
            bits = (len(known) - 1).bit_length()
            if used + bits > 64:
                word, used = word + 1, 0
            packing[place] = word, used % 64, (1 << bits) - 1
            used += bits
        return packing

    @property
    def row_words(self) -> int:
        return int(self.packing[:, 0].max()) + 1

    def outgrown(self) -> bool:
        """Whether a variable has more values than its bits can tell apart."""
        return any(len(known) - 1 > self.packing[place, 2] for place, known in enumerate(self.values.known))

    def pack_again(self) -> Array:
        """Make room for all values; returns the packing that rows have had until now."""
        old, self.packing = self.packing, self._packed()
        return old

    def pack(self, ids: Sequence[int]) -> list[int]:
        """The words of a row."""
        words = [0] * self.row_words
        for (word, shift, _), number in zip(self.packing.tolist(), ids, strict=True):
            words[word] |= number << shift
        return words

    def unpack(self, words: Sequence[int]) -> list[int]:
        """The value ids in a row."""
        return [(int(words[word]) >> shift) & mask for word, shift, mask in self.packing.tolist()]

    def prints(self, ids: Sequence[int]) -> list[int]:
        """The fingerprints of a row, one for each renaming."""
        many = len(self.renamings)
        found = [0] * many
        for place, number in enumerate(ids):
            at = (int(self.values.offset[place]) + number) * many
            for g in range(many):
                found[g] ^= int(self._random[at + g])
        return found

    def everything(self) -> int:
        """All state predicates, as bits."""
        return (1 << min(len(self.looks), 64)) - 1

    def move(self, number: int) -> tuple[int, int]:
        """Instance and alternative of a move as the kernel writes it down."""
        return divmod(number - 1, WAYS)

    # interning and growing

    def intern(self, place: int, value: Any) -> int:
        """The number of a value, with its random words in place."""
        number = self.values.intern(place, value)
        if number >= self.values.room[place]:
            self._make_room(place)
        at = (int(self.values.offset[place]) + number) * len(self.renamings)
        if not self._random[at]:
            self._random[at : at + len(self.renamings)] = np.array(self.values.words(place, value), np.uint64)
        return number

    def _make_room(self, place: int) -> None:
        old_offset, old_room, many = self.values.offset, self.values.room.copy(), len(self.renamings)
        self.values.room[place] *= 2
        self.values._lay_out()
        random: Array = np.zeros(self.values.total * many, np.uint64)
        first: Array = np.full((self.values.total, 2), -1, np.int32)
        false_by: Array = np.zeros(self.values.total, np.uint64)
        for p, (old, new) in enumerate(zip(old_offset.tolist(), self.values.offset.tolist(), strict=True)):
            size = int(old_room[p])
            random[new * many : (new + size) * many] = self._random[old * many : (old + size) * many]
            first[new : new + size] = self._first[old : old + size]
            false_by[new : new + size] = self._false_by[old : old + size]
        self._random, self._first, self._false_by = random, first, false_by

    def _new_node(self, place: int) -> int:
        """A node that asks for a place; the values known by now get a child slot each, later ones are hashed."""
        after = place - len(self.model.slots) if place >= len(self.model.slots) else place
        room = min(256, max(16, 2 << (len(self.values.known[after]) - 1).bit_length()))
        return self._node.append((place, self._child.extend(room), room))

    def _set_child(self, node: int, value: int, child: int) -> None:
        self._children[node, value] = child
        _, base, room = self._node.array[node].tolist()
        if value < room:
            self._child.array[base + value] = child
            return
        if 2 * self._hashed >= len(self._hash_key):
            self._grow_hash()
        self._hashed += 1
        kernel.hash_insert(self._hash_key, self._hash_child, node, value, child)

    def _grow_hash(self) -> None:
        old = zip(self._hash_key.tolist(), self._hash_child.tolist(), strict=True)
        size = 4 * len(self._hash_key)
        self._hash_key, self._hash_child = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        for key, child in old:
            if key:
                kernel.hash_insert(self._hash_key, self._hash_child, key >> 32, key & 0xFFFFFFFF, child)

    def _grow_path(self, root: int, reads: Sequence[int], ids: Sequence[int], leaf: int) -> None:
        """Add the path that these reads take below a root."""
        node = root
        for place, following in zip(reads, [*reads[1:], -1], strict=True):
            value = ids[place]
            if following < 0:
                self._set_child(node, value, -leaf)
                return
            child = self._children.get((node, value), 0)
            if child == 0:
                child = self._new_node(following)
                self._set_child(node, value, child)
            node = child

    # learning

    def learn(self, ids: Sequence[int], todo: int) -> None:
        """Run everything on a row that some tree does not know yet."""
        state = self.values.state(ids)
        row = np.array(self.pack(ids), np.uint64)
        actions: Array = np.empty(len(self.instances) + 1, np.int64)
        predicates: Array = np.empty(len(self.looks) + 1, np.int64)
        values: Array = np.empty(len(ids), np.int64)
        n, m = kernel.unknown(self.program(), row, np.uint64(todo), values, actions, predicates)
        for k in predicates[:m].tolist():
            reads, found = self._look(self.looks[k], state)
            for place in reads:
                self._watch[place] |= np.uint64(1 << min(k, 63))
            self._grow_path(int(self._look_roots[k]), reads, ids, TRUE if found else FALSE)
            if len(reads) == 1 and not found and k < 63:
                self._false_by[self.values.offset[reads[0]] + ids[reads[0]]] |= np.uint64(1 << k)
        for what in actions[:n].tolist():
            if what >= 0:
                self._learn_action(int(self._go_on_instance.array[what]), state, ids)
            else:
                self._learn_first(-1 - what, state, ids)
        self._learn_rest(state, ids)

    def _learn_first(self, place: int, state: State, ids: Sequence[int]) -> None:
        """Run every action that looks at this place first: its value is new."""
        entries = []
        for number in self._starts_at[place]:
            self._learn_action(number, state, ids)
            child = self._children[self._instance_roots[number], ids[place]]
            if child > 0 or self._leaf.array[-child][0] < self._leaf.array[-child][1]:
                entries.append((child, number))
        begin = self._go_on.append(*(child for child, _ in entries))
        self._go_on_instance.append(*(number for _, number in entries))
        self._first[self.values.offset[place] + ids[place]] = begin, begin + len(entries)

    def _learn_action(self, number: int, state: State, ids: Sequence[int]) -> None:
        reads, ways = self._run(self.instances[number], state)
        leaf = self._leaf_of(number, reads, ways, ids)
        self._grow_path(self._instance_roots[number], reads, ids, leaf)

    def _leaf_of(
        self, number: int, reads: Sequence[int], ways: Sequence[Alternative], ids: Sequence[int]
    ) -> int:
        """The leaf with these alternatives; equal ones are shared."""
        if len(ways) >= WAYS:
            raise Misuse(f"{self.instances[number].label} has {len(ways):,} alternatives in one state")
        effects = [tuple((p, self.intern(p, v)) for p, v in way.writes) for way in ways]
        seen = tuple((p, ids[p]) for effect in effects for p, _ in effect if p in reads)
        key = number, tuple(effects), seen, tuple(way.failure for way in ways)
        if key not in self._leaves:
            rows, changes = [], []
            for i, (way, effect) in enumerate(zip(ways, effects, strict=True)):
                begin, move = self._write.append(*effect), number * WAYS + i + 1
                unseen = any(p not in reads for p, _ in effect)
                kind = FAILS if way.failure else UNSEEN if unseen else SEEN if effect else NO_WRITES
                rows.append((begin, begin + len(effect), move, kind))
                changes.append(np.uint64(0) if unseen else self._change(effect, ids))
            self._changes.append(*changes)
            begin = self._way.append(*rows)
            self._leaves[key] = self._leaf.append((begin, begin + len(rows), number))
        return self._leaves[key]

    def _change(self, effect: Sequence[tuple[int, int]], ids: Sequence[int]) -> Array:
        """What an effect does to the fingerprints of a row, under each renaming."""
        many = len(self.renamings)
        change: Array = np.zeros(many, np.uint64)
        for place, value in effect:
            for number in (ids[place], value):
                at = (int(self.values.offset[place]) + number) * many
                change ^= self._random[at : at + many]
        return change

    def _learn_rest(self, state: State, ids: Sequence[int]) -> None:
        """The questions that are asked only of some rows: `within`, final states, steps."""
        p = self.program()
        row: Array = np.array([*ids, *ids], np.int64)
        if len(self._within_root) and kernel.walk(p, self._within_root[0], row) == 0:
            told = self.model.inside(state)
            self._grow_path(
                int(self._within_root[0]), told.reads or (0,), ids, TRUE if told.result else FALSE
            )
        if not (self.steps or self.model.finals):
            return
        leaves: Array = np.empty(len(self.instances) + 1, np.int64)
        n = kernel.enabled(self.program(), row, leaves)
        ways = [way for leaf in leaves[:n].tolist() for way in range(*self._leaf.array[leaf][:2].tolist())]
        if not ways:
            for k, final in enumerate(self.model.finals):
                if kernel.walk(self.program(), self._final_roots[k], row) == 0:
                    reads, found = self._look(final, state)
                    self._grow_path(int(self._final_roots[k]), reads, ids, TRUE if found else FALSE)
        for way in ways if self.steps else ():
            begin, end = self._way.array[way][:2].tolist()
            after = list(ids)
            for place, value in self._write.array[begin:end].tolist():
                after[place] = value
            both = [*ids, *after]
            row[:] = both
            for k, step in enumerate(self.steps):
                if kernel.walk(self.program(), self._step_roots[k], row) == 0:
                    reads, found = self._look(step, state, self.values.state(after))
                    self._grow_path(int(self._step_roots[k]), reads, both, TRUE if found else FALSE)

    def _run(self, instance: Instance[Action], state: State) -> tuple[Sequence[int], Sequence[Alternative]]:
        self.evaluations += 1
        self.contexts[instance.of.name] = self.contexts.get(instance.of.name, 0) + 1
        told = self.model.run(instance, state)
        return told.reads or (0,), told.result

    def _look(
        self, check: Instance[Property], state: State, after: State | None = None
    ) -> tuple[Sequence[int], Any]:
        self.evaluations += 1
        self.contexts[check.of.name] = self.contexts.get(check.of.name, 0) + 1
        told = self.model.look(check, state, after)
        return told.reads or (0,), told.result
