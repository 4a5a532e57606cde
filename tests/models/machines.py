"""
Random machines, written as the text of a module: real declarations, which the engines run and the reductions
read.

A machine is drawn from one source of numbers, `below(n)`: Hypothesis in a test (`worlds`), elsewhere a seeded
generator elsewhere (`seeded`). Everything that a machine may do is here once: guards that read what earlier
values decide, copies, counters, sets and tuples and records of names, choices whose options depend on values,
writes of what was never read, actions that fail, several initial states, properties with parameters.

In an `alike` machine everything treats the members of a domain alike: they come in as parameters, by choice
and in values, and none is ever named, compared by order or picked by its place. So they are interchangeable.
"""

import linecache
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import ModuleType
from typing import Any, TypeVar

from hypothesis import strategies as st

from spec.machine import Property, Sort
from spec.world import World

T = TypeVar("T")
Below = Callable[[int], int]
"""A number from 0 to one below the given one."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What sort of machine is wanted."""

    alike: bool = False
    """Members of domains are treated alike and declared interchangeable."""
    promises: bool = False
    """It has `leads_to` and fairness."""
    reducible: bool = False
    """It has rather many actions that have nothing to do with each other, and properties that see little."""


@st.composite
def worlds(draw: st.DrawFn, manner: Manner = Manner()) -> World:
    """A strategy for worlds; a failing one is shown as the text of its module."""
    text = written(lambda n: draw(st.integers(0, n - 1)), manner)
    return loaded(text)


def seeded(seed: int, manner: Manner = Manner()) -> World:
    """The world of a seed."""
    return loaded(written(random.Random(seed).randrange, manner))


def loaded(text: str) -> World:
    """Run the text of a module, such that its functions know their text, and return its world."""
    name = f"generated_{blake2b(text.encode(), digest_size=6).hexdigest()}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = f"/generated/{name}.py"
        linecache.cache[module.__file__] = len(text), None, text.splitlines(keepends=True), module.__file__
        sys.modules[name] = module
        exec(compile(text, module.__file__, "exec"), module.__dict__)
    world: World = sys.modules[name].WORLD
    return world


def text_of(world: World) -> str:
    """The text of a generated world."""
    return "".join(linecache.getlines(f"/generated/{world.machines[0].__module__}.py"))


def forget(world: World) -> None:
    """Let go of a generated module."""
    name = world.machines[0].__module__
    sys.modules.pop(name, None)
    linecache.cache.pop(f"/generated/{name}.py", None)


def alone(world: World, one: Property | None) -> World:
    """The same world with a single property, or none; `sometimes` and `final` stay what they are."""
    every = [p for m in world.machines for p in m.properties]
    kept = [p for p in every if p is one or (p.sort is Sort.FINAL and one is None)]
    return replace(world, properties=tuple(kept))


HEAD = '''"""A machine that was drawn by lot."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from spec.immutable import ordered
from spec.machine import (
    STRONG,
    WEAK,
    Bound,
    Domain,
    Family,
    Machine,
    Variable,
    action,
    always,
    choose,
    final,
    leads_to,
    require,
    sometimes,
    start,
    step,
)
from spec.world import World


class Mood(Enum):
    CALM = "calm"
    KEEN = "keen"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Note:
    who: object
    count: int
'''


@dataclass(frozen=True, slots=True)
class Names:
    """A domain of a drawn machine."""

    constant: str
    parameter: str
    declared: str
    bound: str
    members: tuple[Any, ...]
    swaps: bool


@dataclass(frozen=True, slots=True)
class Var:
    """A variable or a family; `of` is the domain whose members its values mention."""

    name: str
    kind: str
    of: Names | None
    over: tuple[Names, ...]
    cap: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may use: views of the state, and names for members of domains."""

    views: tuple[str, ...] = ("w",)
    members: tuple[tuple[str, Names], ...] = ()

    def with_member(self, name: str, of: Names) -> "Scope":
        return replace(self, members=(*self.members, (name, of)))


@dataclass
class Written:
    """The text of a module in the making."""

    below: Below
    manner: Manner
    lines: list[str] = field(default_factory=list)
    names: int = 0

    # drawing

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def often(self, percent: int) -> bool:
        """Hypothesis makes numbers smaller to make things simpler: rarely is what it comes down to."""
        return self.below(100) >= 100 - percent

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # declarations

    def module(self) -> str:
        self.domains = self.drawn_domains()
        self.variables = self.drawn_variables()
        self.helper: str | None = None
        self.lines += HEAD.splitlines()
        self.blank()
        for one in self.domains:
            self.lines.append(f"{one.constant} = {one.declared}")
        self.declare_machine()
        self.declare_start()
        self.declare_helper()
        for _ in range(4 + self.below(3)):
            self.declare_action()
        if self.padding:
            self.declare_padding()
        self.declare_properties()
        self.declare_world()
        return "\n".join(self.lines) + "\n"

    def drawn_domains(self) -> list[Names]:
        alike = self.manner.alike
        size = self.pick((2, 2, 3)) if alike else self.pick((1, 2, 2, 3))
        found = [
            Names("CLIENTS", "client", 'Domain("client", "c")', "clients", _members("c", size), alike),
        ]
        if self.often(40):
            size = 1 + self.below(2)
            if self.often(50):
                swaps = alike and self.often(60)
                declared = 'Domain("shelf", "s", "shelves")'
                found.append(Names("SHELVES", "shelf", declared, "shelves", _members("s", size), swaps))
            else:
                found.append(
                    Names("NUMBERS", "number", 'Domain("number")', "numbers", tuple(range(size)), False)
                )
        return found

    def drawn_variables(self) -> list[Var]:
        found = []
        self.padding = self.often(8)
        for number in range(3 + self.below(3)):
            over: tuple[Names, ...] = ()
            chance = self.below(10)
            if chance >= 5 or (self.manner.reducible and chance >= 3):
                over = (self.pick(self.domains),)
            if chance == 9 and len(self.domains) > 1:
                over = (self.domains[0], self.domains[1])
            kind = self.pick(
                ("count", "count", "mood", "word", "flag", "who", "who", "crowd", "queue", "note")
            )
            if over and kind in ("crowd", "queue", "note") and len(over) > 1:
                kind = "mood"
            cap = 1 + self.below(3)
            if not over and number == 0 and self.often(8):
                kind, cap = "count", 40
            of = self.pick(self.domains) if kind in ("who", "crowd", "queue", "note") else None
            found.append(Var(f"v{number}", kind, of, over, cap))
        return found

    def declare_machine(self) -> None:
        self.blank()
        self.machine = "Drawn"
        self.lines.append("class Drawn(Machine):")
        self.lines.append("    most = Bound()")
        cut = self.below(len(self.variables)) if self.often(20) else 0
        for number, one in enumerate(self.variables):
            if cut and number == cut:
                self.blank()
                self.machine = "Larger"
                self.lines.append("class Larger(Drawn):")
            self.lines.append(f"    {one.name} = {self.declaration(one)}")
        if self.padding:
            self.lines.append("    padded = Variable(0)")
            self.lines.append('    pad = Family(Domain("pad"), 0)')

    def declaration(self, one: Var) -> str:
        initial = self.constant(one, Scope(), initial=True)
        if not one.over:
            return f"Variable({initial})"
        over = ", ".join(domain.constant for domain in one.over)
        return f"Family({f'({over})' if len(one.over) > 1 else over}, {initial})"

    def declare_start(self) -> None:
        if not self.often(35):
            return
        self.blank()
        self.lines += ["@start", f"def begin(w: {self.machine}) -> None:"]
        for one in {self.pick(self.variables): None, self.pick(self.variables): None}:
            if len(one.over) > 1:
                self.put(1, "pass")
                continue
            options = self.options_for(one, Scope())
            if one.over:
                keys = self.fresh("key")
                self.lines.append(f"    for {keys} in w.{one.name}:")
                self.lines.append(f"        w.{one.name}[{keys}] = choose(w, {options})")
            else:
                self.lines.append(f"    w.{one.name} = choose(w, {options})")

    def options_for(self, one: Var, scope: Scope) -> str:
        """Two values that a variable may have."""
        if one.kind == "who" and one.of is not None:
            family = next((v for v in self.variables if v.over == (one.of,)), None)
            if family is not None:
                return f"tuple(w.{family.name})"
        first, second = self.constant(one, scope), self.constant(one, scope)
        return f"({first}, {second})"

    def declare_helper(self) -> None:
        """A function that several actions call."""
        if not self.often(40):
            return
        self.blank()
        domain = self.domains[0]
        self.helper = "settle"
        self.lines.append(f"def settle(w: {self.machine}, one: object) -> None:")
        self.block(Scope(members=(("one", domain),)), 1, 1)

    # actions

    def declare_action(self) -> None:
        self.blank()
        over = [one for one in self.domains if self.often(60)]
        members = [(one.parameter, one) for one in over]
        if over and self.often(20):
            members.append(("other", over[0]))
        given = [f"{name}={one.constant}" for name, one in members]
        if self.often(10):
            given.append("extra=(1, 2)")
        if self.manner.promises and self.often(60):
            given.append(f"fair={self.pick(('WEAK', 'WEAK', 'STRONG'))}")
        parameters = [f"w: {self.machine}", *(f"{name}: object" for name, _ in members)]
        if "extra=(1, 2)" in given:
            parameters.append("extra: int")
        self.lines.append(f"@action({', '.join(given)})")
        self.lines.append(f"def {self.fresh('act')}({', '.join(parameters)}) -> None:")
        scope = Scope(members=tuple(members))
        for _ in range(self.pick((0, 1, 1, 2))):
            sort = self.pick(("early", "early", "any"))
            self.lines.append(f"    require({self.conditions(scope, 1, sort)})")
        if self.often(70):
            self.assign(scope, 1, forward=True)
        self.block(scope, 1, 2)

    def block(self, scope: Scope, indent: int, depth: int) -> None:
        """Some statements, at least one."""
        for _ in range(1 + self.below(2 if self.manner.reducible else 3)):
            scope = self.statement(scope, indent, depth)

    def statement(self, scope: Scope, indent: int, depth: int) -> Scope:
        sort = self.pick((*["assign"] * 8, *["if"] * 4, *["choose"] * 3, *["require"] * 2, "rest"))
        if depth == 0:
            sort = "assign"
        if sort == "assign":
            self.assign(scope, indent)
        elif sort == "if":
            self.put(indent, f"if {self.conditions(scope, 1)}:")
            self.block(scope, indent + 1, depth - 1)
            if self.often(50):
                self.put(indent, "else:")
                self.block(scope, indent + 1, depth - 1)
        elif sort == "choose":
            return self.choice(scope, indent)
        elif sort == "require":
            self.put(indent, f"require({self.conditions(scope, 1)})")
        else:
            self.rare(scope, indent)
        return scope

    def rare(self, scope: Scope, indent: int) -> None:
        """Loops, failures, second names of families, calls."""
        families = [one for one in self.variables if len(one.over) == 1]
        sort = self.pick(("loop", "fail", "alias", "call", "dynamic"))
        if sort == "loop" and families:
            one = self.pick(families)
            key = self.fresh("each")
            self.put(indent, f"for {key} in w.{one.name}:")
            self.put(indent + 1, f"w.{one.name}[{key}] = {self.constant(one, scope)}")
        elif sort == "alias" and families:
            one = self.pick(families)
            member = self.key(one.over[0], scope)
            if member is not None:
                alias = self.fresh("alias")
                self.put(indent, f"{alias} = w.{one.name}")
                self.put(indent, f"{alias}[{member}] = {self.value(one, scope)}")
        elif sort == "call" and self.helper is not None and self.key(self.domains[0], scope) is not None:
            self.put(indent, f"{self.helper}(w, {self.key(self.domains[0], scope)})")
        elif sort == "dynamic" and families:
            one = self.pick(families)
            held = [v for v in self.variables if v.kind == "who" and v.of == one.over[0] and not v.over]
            if held:
                who = self.pick(held)
                self.put(indent, f"if w.{who.name} is not None:")
                self.put(indent + 1, f"w.{one.name}[w.{who.name}] = {self.value(one, scope)}")
        elif self.often(40):
            self.put(indent, f"if {self.conditions(scope, 3, 'later')}:")
            self.put(indent + 1, 'raise ValueError("this was never thought of")')
        self.assign(scope, indent)

    def assign(self, scope: Scope, indent: int, forward: bool = False) -> None:
        """Give a variable a value; `forward`, one that it did not have in the beginning."""
        reachable = [one for one in self.variables if self.place(one, scope, "w") is not None]
        if not reachable:
            self.put(indent, "pass")
            return
        one = self.pick(reachable)
        place = str(self.place(one, scope, "w"))
        self.put(indent, f"{place} = {self.ahead(one, place, scope) if forward else self.value(one, scope)}")

    def ahead(self, one: Var, place: str, scope: Scope) -> str:
        """A value that leads away from the initial one."""
        key = None if one.of is None else self.key(one.of, scope)
        if one.kind == "count":
            return f"min({place} + 1, {one.cap})"
        if one.kind == "mood":
            return self.pick(("Mood.KEEN", "Mood.DONE"))
        if one.kind == "word":
            return "'busy'"
        if one.kind == "flag":
            return "True"
        if key is None:
            return self.value(one, scope)
        return {
            "who": key,
            "crowd": f"{place} | {{{key}}}",
            "queue": f"({key}, *{place})[:2]",
            "note": f"Note({key}, min({place}.count + 1, 1))",
        }[one.kind]

    def choice(self, scope: Scope, indent: int) -> Scope:
        """Choose a member, or a value for a variable; options may depend on values."""
        name = self.fresh("pick")
        pools: list[tuple[str, Names]] = []
        for one in self.variables:
            place = self.place(one, scope, "w")
            if one.kind in ("crowd", "queue") and one.of is not None and place is not None:
                pools.append((f"ordered({place})" if one.kind == "crowd" else place, one.of))
            if len(one.over) == 1:
                pools.append((f"tuple(w.{one.name})", one.over[0]))
                pools.append((f"[k for k in w.{one.name} if {self.about_family(one)}]", one.over[0]))
        if pools and self.often(60):
            options, of = self.pick(pools)
            self.put(indent, f"{name} = choose(w, {options})")
            return scope.with_member(name, of)
        reachable = [one for one in self.variables if self.place(one, scope, "w") is not None]
        if not reachable:
            self.put(indent, "pass")
            return scope
        one = self.pick(reachable)
        options = f"({self.value(one, scope)}, {self.value(one, scope)})"
        if one.kind == "count" and self.often(50):
            options = f"range({self.value(one, scope)} + 1)"
        self.put(indent, f"{self.place(one, scope, 'w')} = choose(w, {options})")
        return scope

    def about_family(self, one: Var) -> str:
        """A condition on the member `k` of a family."""
        return self.about(one, f"w.{one.name}[k]", Scope())

    # expressions

    def key(self, of: Names, scope: Scope) -> str | None:
        """An expression for a member of a domain."""
        known = [name for name, domain in scope.members if domain == of]
        if not of.swaps and (not known or self.often(15)):
            return repr(self.pick(of.members))
        return self.pick(known) if known else None

    def place(self, one: Var, scope: Scope, view: str) -> str | None:
        """An expression for a variable or a member of a family, if one can be named."""
        keys = [self.key(domain, scope) for domain in one.over]
        if None in keys:
            return None
        return f"{view}.{one.name}" + (f"[{', '.join(map(str, keys))}]" if keys else "")

    def constant(self, one: Var, scope: Scope, initial: bool = False) -> str:
        """A value that depends on nothing but names in scope."""
        if one.kind == "count":
            return str(0 if initial else self.below(min(one.cap, 3) + 1))
        if one.kind == "mood":
            return f"Mood.{'CALM' if initial else self.pick(('CALM', 'KEEN', 'DONE'))}"
        if one.kind == "word":
            return repr("idle" if initial else self.pick(("idle", "busy")))
        if one.kind == "flag":
            return str(False if initial else self.often(60))
        assert one.of is not None
        key = None if initial and one.of.swaps else self.key(one.of, scope)
        if one.kind == "who":
            return str(key) if key is not None and self.often(60) else "None"
        if one.kind == "crowd":
            return f"frozenset({{{key}}})" if key is not None and self.often(60) else "frozenset()"
        if one.kind == "queue":
            return f"({key},)" if key is not None and self.often(60) else "()"
        return f"Note({key if self.often(60) else None}, {0 if initial else self.below(2)})"

    def value(self, one: Var, scope: Scope) -> str:
        """A value for a variable, from whatever is in scope."""
        view = self.pick(scope.views)
        same = [
            place
            for other in self.variables
            if other.kind == one.kind and other.of == one.of and other.cap <= one.cap
            for place in [self.place(other, scope, view)]
            if place is not None
        ]
        old = self.pick(same) if same else self.constant(one, scope)
        if self.often(35):
            return self.constant(one, scope)
        if one.kind == "count":
            if one.cap == 40:
                return f"min({old} + 1, 40)"
            return self.pick(
                (old, f"min({old} + 1, {one.cap})", f"({old} + 1) % {one.cap + 1}", f"max({old} - 1, 0)")
            )
        if one.kind == "flag":
            return self.conditions(scope, 1) if self.often(50) else f"not {old}"
        if one.of is None:
            return old
        key = self.key(one.of, scope)
        if one.kind == "crowd" and key is not None:
            return self.pick((f"{old} | {{{key}}}", f"{old} - {{{key}}}", old))
        if one.kind == "queue":
            return self.pick((old, f"({key}, *{old})[:2]" if key is not None else old, f"{old}[1:]"))
        if one.kind == "note":
            return self.pick((old, f"Note({key}, {old}.count)", f"Note({old}.who, min({old}.count + 1, 1))"))
        return old if key is None or self.often(50) else key

    def conditions(self, scope: Scope, count: int, when: str = "any") -> str:
        """So many conditions, all of which must be true; sometimes one of two."""
        left = list(self.variables)
        parts = []
        for _ in range(count):
            parts.append(self.condition(scope, when, left.pop(self.below(len(left)))))
        return (" or " if count == 2 and self.often(15) else " and ").join(parts)

    def condition(self, scope: Scope, when: str, one: Var) -> str:
        """A condition; `early` and `later` ones are true and false of initial values, as a rule."""
        view = self.pick(scope.views)
        place = self.place(one, scope, view)
        if place is None or (len(one.over) == 1 and self.often(15)):
            sort = self.pick(("any", "all"))
            return f"{sort}({self.about(one, 'some', Scope(), when)} for some in {view}.{one.name}.values())"
        return self.about(one, place, scope, when)

    def about(self, one: Var, place: str, scope: Scope, when: str = "any") -> str:
        """Something to ask about a value."""
        early, later = self.asked(one, place, scope)
        return self.pick(early if when == "early" else later if when == "later" else [*early, *later])

    def asked(self, one: Var, place: str, scope: Scope) -> tuple[list[str], list[str]]:
        """What is true of an initial value, and what is not."""
        key = None if one.of is None else self.key(one.of, scope)
        if one.kind == "count":
            most = f"{place} <= {scope.views[0]}.most"
            return [f"{place} < {one.cap}", most, f"{place} == 0"], [
                f"{place} == {one.cap}",
                f"{place} > {self.below(one.cap)}",
            ]
        if one.kind == "mood":
            return [f"{place} != Mood.DONE", f"{place} is Mood.CALM"], [
                f"{place} is Mood.KEEN",
                f"{place} == Mood.DONE",
            ]
        if one.kind == "word":
            return [f"{place} == 'idle'"], [f"{place} != 'idle'"]
        if one.kind == "flag":
            return [f"not {place}"], [place]
        if one.kind == "who":
            early, later = [f"{place} is None"], [f"{place} is not None"]
            return ([*early, f"{place} != {key}"], [*later, f"{place} == {key}"]) if key else (early, later)
        if one.kind == "note":
            early, later = [f"{place}.count == 0"], [f"{place}.count == 1"]
            return (early, [*later, f"{place}.who == {key}"]) if key else (early, later)
        early, later = [f"len({place}) < 2", f"not {place}"], [f"len({place}) == 2", f"len({place}) > 0"]
        return ([*early, f"{key} not in {place}"], [*later, f"{key} in {place}"]) if key else (early, later)

    # properties

    def declare_padding(self) -> None:
        """So many variables that a row needs several words, of which few ever change."""
        self.blank()
        self.lines.append('@action(pad=Domain("pad"), extra=(1, 2, 3))')
        self.lines.append(f"def fill(w: {self.machine}, pad: int, extra: int) -> None:")
        self.lines.append("    require(w.padded < 1)")
        self.lines.append("    w.padded += 1")
        self.lines.append("    w.pad[pad] = extra")

    def declare_properties(self) -> None:
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            self.declare_property("always", 3)
        if self.often(25):
            self.declare_property("step", 3)
        for _ in range(self.pick((0, 1, 2))):
            self.declare_property("sometimes", 2)
        if self.often(30):
            self.declare_property("final", 1)
        if self.manner.promises:
            for _ in range(1 + self.below(2)):
                self.declare_property("leads_to", 1)

    def declare_property(self, sort: str, most: int) -> None:
        self.blank()
        over = [one for one in self.domains if self.often(30)] if sort != "final" else []
        members = tuple((one.parameter, one) for one in over)
        views = ("w", "after") if sort == "step" else ("w",)
        scope = Scope(views, members)
        parameters = [f"{view}: {self.machine}" for view in views]
        parameters += [f"{name}: object" for name, _ in members]
        name = self.fresh(sort)
        self.lines.append(f"@{sort}({', '.join(f'{one.parameter}={one.constant}' for one in over)})")
        returned = {"always": "Iterator[str]", "step": "Iterator[str]", "leads_to": "tuple[object, object]"}
        self.lines.append(f"def {name}({', '.join(parameters)}) -> {returned.get(sort, 'object')}:")
        count = 1 + self.below(most) if sort not in ("always", "step") else most
        asked = self.conditions(scope, count, "any" if sort in ("final", "leads_to") else "later")
        if sort in ("always", "step"):
            if sort == "step" and self.often(60):
                seen = [one for one in self.variables if not one.over]
                changed = self.pick(seen).name if seen else ""
                asked = f"w.{changed} != after.{changed} and {asked}" if changed else asked
            self.put(1, f"if {asked}:")
            self.put(2, f'yield "{name} does not hold"')
        elif sort == "leads_to":
            self.put(1, f"return {asked}, {self.conditions(scope, 1)}")
        else:
            self.put(1, f"return {asked}")

    def declare_world(self) -> None:
        inside = not self.manner.promises and self.often(12)
        if inside:
            self.blank()
            self.lines.append(f"def inside(w: {self.machine}) -> object:")
            self.put(1, f"return {self.conditions(Scope(), 2, 'early').replace(' and ', ' or ')}")
        self.blank()
        bounds: dict[str, int] = {one.bound: len(one.members) for one in self.domains}
        used = {one.bound for one in self.domains if any(one in v.over for v in self.variables)}
        text = "\n".join(self.lines)
        used |= {one.bound for one in self.domains if f"={one.constant}" in text}
        bounds = {name: size for name, size in bounds.items() if name in used} | {"most": self.below(3)}
        if self.padding:
            bounds["pads"] = 30
        machines = "(Drawn,)" if self.machine == "Drawn" else "(Drawn, Larger)"
        swapped = [one.constant for one in self.domains if one.swaps and one.bound in used]
        self.lines += [
            "WORLD = World(",
            '    name="generated",',
            '    asks="Do all engines agree?",',
            f"    machines={machines},",
            f"    bounds={bounds!r},",
        ]
        if swapped:
            self.lines.append(f"    interchangeable=({', '.join(swapped)},),")
        if inside:
            self.lines.append("    within=inside,")
        self.lines.append(")")

    # layout

    def put(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def blank(self) -> None:
        self.lines += ["", ""]


def _members(prefix: str, size: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(1, size + 1))


def written(below: Below, manner: Manner) -> str:
    """The text of a module with a machine and its world."""
    return Written(below, manner).module()
