"""
What the compiled kernel knows of a world, learned from running the specification.

A function of the specification is deterministic, so the values that it reads decide what it does. Each value
of each variable gets a small number; each action and property becomes a decision tree over these numbers. A
tree grows by one path whenever a row comes along that it does not know: the function is run there once, and
never again for any state in which it would read the same.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from models.engine import kernel
from models.engine.kernel import FAILS, FALSE, NO_WRITES, SEEN, TRUE, UNSEEN
from models.engine.program import Array, Program
from models.engine.reduction import Dependence
from models.engine.slicing import slice_of
from models.engine.symmetry import Renaming, Symmetry
from models.engine.trees import Growing, Trees
from models.engine.values import Values
from spec.immutable import Misuse
from spec.machine import Action, Property, Sort
from spec.world import Alternative, Evaluation, Instance, Model, State

WAYS = 1 << 12
"""How many alternatives one action may have in one state."""

DOUBTED = 64
"""How many evaluations of a function are all done twice, to see that nothing but the state decides."""

STAY = 0
"""The alternative in which nothing happens."""

ANYWHERE = (0,)
"""Where the tree of a function begins that reads nothing."""


class Knowledge:
    """Everything learned so far, and how to learn more."""

    def __init__(
        self,
        model: Model,
        *,
        symmetry: bool = False,
        partial_order: bool = False,
        slicing: bool = False,
        exact: bool = False,
        salt: int = 0,
    ) -> None:
        self.model, self.exact = model, exact
        self.symmetry = Symmetry(model) if symmetry else None
        self.renamings = self.symmetry.tried if self.symmetry else ()
        self.partial_order = Dependence(model) if partial_order else None
        self.slice = slice_of(model) if slicing else None
        self.values = Values(model, self.symmetry, salt)
        self.trees = Trees()
        self.evaluations = 0
        self.contexts: dict[str, int] = {}
        self._told: Program | None = None
        self._begun: set[tuple[int, int]] = set()
        self._new_first: list[tuple[int, int, int, int]] = []
        self._new_false: list[tuple[int, int, int]] = []
        bounds = self.symmetry.bounds() if self.symmetry else []
        self._groups: Array = np.array(bounds, np.int32).reshape(-1, 2)
        self._name_everything()
        self._make_leaves()
        self._begin()
        self.values.pack_again()

    def _name_everything(self) -> None:
        """Sort out what there is: actions that are kept, predicates by what they are asked of."""
        model = self.model
        self.instances = model.instances
        self.kept = tuple(range(len(model.instances))) if self.slice is None else self.slice.instances
        self.dropped = [] if self.slice is None else list(self.slice.left_out)
        self.looks = [c for c in model.checks if c.of.sort in (Sort.ALWAYS, Sort.SOMETIMES)]
        self.steps = [c for c in model.checks if c.of.sort is Sort.STEP]
        self.idle: Array = np.zeros(len(self.looks), np.bool_)
        """Witnesses that have been found: nobody needs to look again."""
        self.watch: Array = np.zeros(len(model.slots), np.uint64)
        """By place, which state predicates have ever read it."""
        self._inside: list[Instance[Property]] = []
        if model.world.within is not None:
            asked = Property("within", (), "", Sort.FINAL, model.world.within, {})
            self._inside.append(Instance(asked, (), "within()", ""))
        every: list[Instance[Any]] = [*model.instances, *model.checks, *model.finals, *self._inside]
        self._by_arguments = {(i.of.name, i.arguments): i for i in every}

    def _make_leaves(self) -> None:
        """Leaves, alternatives and writes, with the two leaves of predicates and the alternative to stay."""
        words = self.partial_order.words if self.partial_order else 1
        self._leaf, self._way, self._write = Growing(3), Growing(4), Growing(2)
        self._changes = Growing(dtype=np.uint64)
        self._go_on, self._go_on_instance = Growing(), Growing()
        self._bring, self._hidden = Growing(words, dtype=np.uint64), Growing(dtype=np.uint8)
        self._blocked: Array = np.zeros((len(self.instances), words), np.uint64)
        self._leaves: dict[Any, int] = {}
        self._way.append((0, 0, 0, NO_WRITES))
        self._changes.append(np.uint64(0))
        for by_leaf in (self._leaf, self._bring, self._hidden):
            by_leaf.extend(TRUE + 1)

    def _begin(self) -> None:
        """Find out where each tree begins, by running everything on an initial state."""
        state = self.model.initial[0]
        for r in self.renamings:
            if {r.state(one) for one in self.model.initial} != set(self.model.initial):
                raise Misuse(f"{self.model.world.name}: the initial states tell {', '.join(r.names)} apart")
        for one in self.model.initial:
            for place, value in enumerate(one):
                self.values.intern(place, value)
        self._starts_at: dict[int, list[int]] = {}
        self._instance_roots: dict[int, int] = {}
        for number in self.kept:
            reads, _ = self._run(self.instances[number], state)
            self._starts_at.setdefault(reads[0], []).append(number)
            self._instance_roots[number] = self._root(reads)
            if self.partial_order:
                self._blocked[number] = self.partial_order.brought(reads[:1], ())
        self._roots: Array = np.array(sorted(self._starts_at), np.int32)
        self._look_roots = self._roots_of(self.looks, state)
        self._step_roots = self._roots_of(self.steps, state)
        self._final_roots = self._roots_of(self.model.finals, state)
        self._within_roots = self._roots_of(self._inside, state)
        self._looked_at: Array = np.unique(self.trees.tree.array[self._look_roots]).astype(np.int32)

    def _roots_of(self, checks: Sequence[Instance[Property]], state: State) -> Array:
        stays = [state if check.of.sort is Sort.STEP else None for check in checks]
        found = [self._look(check, state, after)[0] for check, after in zip(checks, stays, strict=True)]
        return np.array([self._root(reads) for reads in found], np.int32)

    def _root(self, reads: Sequence[int]) -> int:
        known = self.values.known
        return self.trees.new_node(reads[0], len(known[reads[0] % len(known)]))

    def _grow(self, root: int, reads: Sequence[int], ids: Sequence[int], leaf: int) -> None:
        self.trees.grow(int(root), reads, ids, leaf, self.values.known)

    # what the kernel sees

    def program(self) -> Program:
        """The arrays as they are now, with everything that was learned."""
        self.publish()
        values, trees = self.values, self.trees
        told = self._told
        if told is not None and not self._moved(told):
            return told
        self._told = Program(
            offset=values.offset,
            random=values.random.ravel(),
            first=values.first,
            go_on=self._go_on.array,
            roots=self._roots,
            tree=trees.tree.array,
            hash_key=trees.hash_key,
            hash_child=trees.hash_child,
            leaf=self._leaf.array,
            way=self._way.array,
            change=self._changes.array,
            write=self._write.array,
            watch=self.watch,
            predicate=np.where(self.idle, 0, self._look_roots).astype(np.int32),
            looked_at=self._looked_at,
            false_by=values.false_by.ravel(),
            step=self._step_roots,
            final=self._final_roots,
            within=self._within_roots,
            packing=values.packing,
            group=self._groups,
            orbit=values.orbit,
            mention=values.mention.array,
            sign=values.sign.array,
            orbit_word=values.orbit_word.array,
            bring=self._bring.array if self.partial_order else self._bring.array[:0],
            hidden=self._hidden.array,
            blocked=self._blocked,
        )
        return self._told

    def _moved(self, told: Program) -> bool:
        """Whether an array that the kernel was last told of has been replaced by a larger one."""
        now = (
            (told.offset, self.values.offset),
            (told.tree, self.trees.tree.array),
            (told.hash_key, self.trees.hash_key),
            (told.leaf, self._leaf.array),
            (told.way, self._way.array),
            (told.write, self._write.array),
            (told.go_on, self._go_on.array),
            (told.packing, self.values.packing),
            (told.mention, self.values.mention.array),
            (told.orbit_word, self.values.orbit_word.array),
        )
        return any(one is not other for one, other in now)

    @property
    def nbytes(self) -> int:
        """About how much memory this takes."""
        arrays = (self.trees.tree, self._leaf, self._way, self._write)
        there = sum(int(a.array.nbytes) for a in arrays)
        return there + 200 * len(self.trees.children) + 500 * len(self._leaves)

    def instance_and_way(self, moves: Array) -> tuple[Array, Array]:
        """The same for many moves, counted from 0."""
        return moves // WAYS, moves % WAYS

    def notes(self) -> list[str]:
        """What a reader of the verdict should know."""
        said = []
        if self.symmetry:
            names = ", ".join(domain.bound for domain in self.model.world.interchangeable)
            many = f"{self.symmetry.order:,} renamings of {names}"
            told = (
                ""
                if len(self.renamings) + 1 == self.symmetry.order
                else f", {len(self.renamings)} of them tried"
            )
            said.append(f"symmetry: {many}{told}; states are counted once for all")
        if self.partial_order:
            said.append("partial-order reduction: traces need not be shortest")
        if self.slice is not None:
            said.append(f"slicing: {self.slice.why}")
        return said

    def details(self) -> dict[str, Any]:
        """Figures for those who want to understand a slow world."""
        return {
            "contexts": dict(sorted(self.contexts.items(), key=lambda item: -item[1])),
            "evaluations": self.evaluations,
            "nodes": len(self.trees.places),
            "values": {s.name: len(v) for s, v in zip(self.model.slots, self.values.known, strict=True)},
            "row_bytes": 8 * self.values.row_words,
        }

    def sliced(self, state: State) -> State:
        """The state as it was declared wherever nobody looks, so that nothing differs only there."""
        if self.slice is None:
            return state
        declared, places = self.model.declared, self.slice.places
        return tuple(value if place in places else declared[place] for place, value in enumerate(state))

    def everything(self) -> int:
        """All state predicates, as bits."""
        return (1 << min(len(self.looks), 64)) - 1

    def retire(self, name: str) -> None:
        """Nobody waits for this witness any more."""
        for number, check in enumerate(self.looks):
            self.idle[number] |= check.of.name == name
        self._told = None

    def move(self, number: int) -> tuple[int, int]:
        """Instance and alternative of a move as the kernel writes it down."""
        return divmod(number - 1, WAYS)

    # learning

    def learn(self, program: Program, rows: Array, todo: Array) -> None:
        """
        Run on some rows, given by their value ids, everything that the trees do not know of them yet.

        The kernel may go on working with the program meanwhile: it sees what was learned only when it is told
        (`publish`), so that what it does not know never depends on who was faster.
        """
        some: Array = np.empty((len(rows) * (len(self.looks) + len(self.instances) + 1), 2), np.int64)
        count = kernel.unknown(program, rows, todo, some)
        numbers = rows.tolist()
        for row, what in some[:count].tolist():
            ids = numbers[row]
            if what < 0:
                self._learn_first(-1 - what, ids)
            elif what < len(self.looks):
                self._learn_look(what, ids)
            else:
                self._learn_action(int(self._go_on_instance.array[what - len(self.looks)]), ids)
        if self.steps or self.model.finals or self._inside:
            for ids in numbers:
                self._learn_rest(ids)

    def publish(self) -> None:
        """Let the kernel see everything that was learned."""
        self.trees.publish()
        for place, number, begin, end in self._new_first:
            self.values.first[self.values.at(place, number)] = begin, end
        for place, number, k in self._new_false:
            self.values.false_by[self.values.at(place, number)] |= np.uint64(1 << k)
        self._new_first.clear()
        self._new_false.clear()

    def _learn_look(self, k: int, ids: Sequence[int]) -> None:
        """Ask a state predicate."""
        if self.trees.leaf(int(self._look_roots[k]), ids):
            return
        reads, found = self._look(self.looks[k], self.values.state(ids))
        for place in reads:
            self.watch[place] |= np.uint64(1 << min(k, 63))
        self._grow(self._look_roots[k], reads, ids, TRUE if found else FALSE)
        if len(reads) == 1 and not found and k < 63:
            self._new_false.append((reads[0], ids[reads[0]], k))

    def _learn_first(self, place: int, ids: Sequence[int]) -> None:
        """Run every action that looks at this place first: its value is new."""
        for number in self._starts_at[place]:
            self._learn_action(number, ids)
        if (place, ids[place]) in self._begun:
            return
        self._begun.add((place, ids[place]))
        entries = []
        for number in self._starts_at[place]:
            child = self.trees.children[self._instance_roots[number], ids[place]]
            if child > 0 or self._leaf.array[-child][0] < self._leaf.array[-child][1]:
                entries.append((child, number))
        begin = self._go_on.append(*(child for child, _ in entries))
        self._go_on_instance.append(*(number for _, number in entries))
        self._new_first.append((place, ids[place], begin, begin + len(entries)))

    def _learn_action(self, number: int, ids: Sequence[int]) -> None:
        """Run an action, unless its tree knows the row by now."""
        if self.trees.leaf(self._instance_roots[number], ids):
            return
        reads, ways = self._run(self.instances[number], self.values.state(ids))
        leaf = self._leaf_of(number, reads, ways, ids)
        self._grow(self._instance_roots[number], reads, ids, leaf)

    def _leaf_of(
        self, number: int, reads: Sequence[int], ways: Sequence[Alternative], ids: Sequence[int]
    ) -> int:
        """The leaf with these alternatives; equal ones are shared."""
        if len(ways) >= WAYS:
            raise Misuse(f"{self.instances[number].label} has {len(ways):,} alternatives in one state")
        cone = self.slice.places if self.slice else None
        effects = [
            tuple((p, self.values.intern(p, v)) for p, v in way.writes if cone is None or p in cone)
            for way in ways
        ]
        seen = tuple((p, ids[p]) for effect in effects for p, _ in effect if p in reads)
        apart = frozenset(reads) if self.partial_order else None
        key = number, tuple(effects), seen, tuple(way.failure for way in ways), apart
        if key not in self._leaves:
            rows, changes = [], []
            for i, (way, effect) in enumerate(zip(ways, effects, strict=True)):
                begin, move = self._write.append(*effect), number * WAYS + i + 1
                unseen = any(p not in reads for p, _ in effect)
                kind = FAILS if way.failure else UNSEEN if unseen else SEEN if effect else NO_WRITES
                rows.append((begin, begin + len(effect), move, kind))
                changes.append(0 if unseen else self._change(effect, ids))
            self._changes.append(*changes)
            begin = self._way.append(*rows)
            self._leaves[key] = self._leaf.append((begin, begin + len(rows), number))
            self._note_dependence(number, reads, [p for effect in effects for p, _ in effect], ways)
        return self._leaves[key]

    def _note_dependence(
        self, number: int, reads: Sequence[int], writes: list[int], ways: Sequence[Alternative]
    ) -> None:
        """What partial-order reduction must know of a new leaf."""
        if self.partial_order is None:
            return
        may = self.partial_order.prints[number]
        told = may.reads.union(ANYWHERE if len(reads) == 1 else ())
        if not self.renamings and not (told.issuperset(reads) and may.writes.issuperset(writes)):
            raise AssertionError(f"{self.instances[number].label} does more than its text says")
        self._bring.append(self.partial_order.brought(reads, writes))
        fails = any(way.failure for way in ways)
        self._hidden.append(not fails and self.partial_order.hidden(writes))

    def _change(self, effect: Sequence[tuple[int, int]], ids: Sequence[int]) -> int:
        """What an effect does to the fingerprint of a row."""
        change = 0
        for place, value in effect:
            change ^= self.values.words[place][ids[place]] ^ self.values.words[place][value]
        return change

    def _learn_rest(self, ids: Sequence[int]) -> None:
        """The questions that are asked only of some rows: `within`, final states, steps."""
        self._ask(self._inside, self._within_roots, ids)
        if not (self.steps or self.model.finals):
            return
        leaves = [self.trees.leaf(root, ids) for root in self._instance_roots.values()]
        ways = [way for leaf in leaves for way in range(*self._leaf.array[leaf][:2].tolist())]
        if not ways:
            self._ask(self.model.finals, self._final_roots, ids)
        for way in ways if self.steps else ():
            begin, end = self._way.array[way][:2].tolist()
            after = list(ids)
            for place, value in self._write.array[begin:end].tolist():
                after[place] = value
            self._ask(self.steps, self._step_roots, [*ids, *after])

    def _ask(self, checks: Sequence[Instance[Property]], roots: Array, ids: Sequence[int]) -> None:
        """Grow the trees of some predicates that do not know a row, or a row and the one after it."""
        size = len(self.model.slots)
        for root, check in zip(roots.tolist(), checks, strict=True):
            if not self.trees.leaf(root, ids):
                after = self.values.state(ids[size:]) if len(ids) > size else None
                reads, found = self._look(check, self.values.state(ids[:size]), after)
                self._grow(root, reads, ids, TRUE if found else FALSE)

    def _run(self, instance: Instance[Action], state: State) -> tuple[Sequence[int], Sequence[Alternative]]:
        told = self.model.run(instance, state, twice=self._count(instance))
        reads = dict.fromkeys(told.reads or ANYWHERE)
        for r in self.renamings:
            other, mirrored = self._other(instance, r), r.state(state)
            seen = self.model.run(other, mirrored)
            reads.update(dict.fromkeys(map(r.back, seen.reads)))
            here = Counter((r.effects(way.writes), bool(way.failure)) for way in told.result)
            there = Counter((frozenset(way.writes), bool(way.failure)) for way in seen.result)
            if here != there and self._ends(told, state, r) != self._ends(seen, mirrored):
                raise Misuse(self._differs(instance, other, r))
        return tuple(reads), told.result

    def _ends(self, told: Evaluation, state: State, r: Renaming | None = None) -> Counter[tuple[State, bool]]:
        """Where alternatives lead, renamed if there is a renaming."""
        ends = [(self.model.after(state, way), bool(way.failure)) for way in told.result]
        return Counter((r.state(end), failed) if r else (end, failed) for end, failed in ends)

    def _look(
        self, check: Instance[Property], state: State, after: State | None = None
    ) -> tuple[Sequence[int], bool]:
        told = self.model.look(check, state, after, twice=self._count(check))
        reads = dict.fromkeys(told.reads or ANYWHERE)
        for r in self.renamings:
            other = self._other(check, r)
            seen = self.model.look(other, r.state(state), None if after is None else r.state(after))
            reads.update(dict.fromkeys(map(r.back, seen.reads)))
            if bool(seen.result) != bool(told.result):
                raise Misuse(self._differs(check, other, r))
        return tuple(reads), bool(told.result)

    def _count(self, instance: Instance[Any]) -> bool:
        """Count an evaluation, and say whether it is to be done twice: often at first, now and then later."""
        self.evaluations += 1
        before = self.contexts.get(instance.of.name, 0)
        self.contexts[instance.of.name] = before + 1
        return before < DOUBTED or before % 16 == 0

    def _other(self, instance: Instance[Any], r: Renaming) -> Instance[Any]:
        return self._by_arguments[instance.of.name, r.value(instance.arguments)]

    def _differs(self, one: Instance[Any], other: Instance[Any], r: Renaming) -> str:
        code = one.of.body.__code__
        swapped = ", ".join(f"{old} is called {new}" for old, new in r.names.items())
        return (
            f"{one.label} and {other.label} do not do the same when {swapped}: "
            f"the world must not call these names interchangeable\n  {code.co_filename}:{code.co_firstlineno}"
        )
