"""
What the expressions of a function are worth when its arguments, the bounds and the design are known.

Only what is the same in every state counts as known. The rest is unknown, which is always a right answer.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import FunctionType
from typing import Any

from models.engine.source import NOTHING, Source, source_of
from spec.design import Design
from spec.immutable import ATOMS
from spec.machine import Action, Property
from spec.world import Model


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is the same whenever this instance runs."""

    value: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value that is always one of these."""

    values: tuple[Any, ...]


class Mark(Enum):
    VIEW = "the state, as the function sees it"
    UNKNOWN = "some value, but not the view"


VIEW, UNKNOWN = Mark.VIEW, Mark.UNKNOWN
Worth = Known | OneOf | Mark


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call, by position and by name."""

    by_position: Sequence[Worth]
    by_name: Mapping[str, Worth]
    and_more: bool = False
    """There are others that the text does not show, by `*` or `**`."""


class Anything(Exception):
    """From here on the text does not say what is read and written."""


DEEPEST = 20
"""How many calls within calls are followed."""

OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Frame:
    """One call of a function: its text, and what its parameters are worth."""

    def __init__(self, model: Model, function: object, given: Given, depth: int = 0) -> None:
        if isinstance(function, Action | Property):
            function = function.body
        if not isinstance(function, FunctionType):
            raise Anything(f"{function!r} has no text")
        source = source_of(function)
        if source is None:
            raise Anything(f"{function.__qualname__}: its text is not known")
        if depth > DEEPEST:
            raise Anything(f"{source.place(source.node)}: calls go too deep")
        self.model, self.source, self.depth = model, source, depth
        self.worths = _worths(source, given)
        self.asked: set[str] = set()

    def is_view(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and self.worths.get(node.id) is VIEW

    def family(self, node: ast.AST) -> Mapping[Any, int] | None:
        """The places of `w.family`, if that is what stands here."""
        if isinstance(node, ast.Attribute) and self.is_view(node.value):
            places = self.model.places.get(node.attr)
            return places if isinstance(places, Mapping) else None
        return None

    def given(self, node: ast.Call, *before: Worth) -> Given:
        """The arguments of a call that is made here, as far as they are known."""
        shown = [*node.args]
        while any(isinstance(value, ast.Starred) for value in shown):
            shown.pop()
        named = {keyword.arg: self.worth(keyword.value) for keyword in node.keywords if keyword.arg}
        more = len(shown) < len(node.args) or len(named) < len(node.keywords)
        return Given([*before, *map(self.worth, shown)], named, more)

    def open(self, test: ast.expr, first: Any, second: Any) -> list[Any]:
        """Those of two branches that the world does not rule out."""
        worth = self.worth(test)
        return [first if worth.value else second] if isinstance(worth, Known) else [first, second]

    def until_decided(self, node: ast.BoolOp) -> Iterator[ast.expr]:
        """The operands of `and` and `or`, up to the one that settles the matter."""
        for value in node.values:
            yield value
            worth = self.worth(value)
            if isinstance(worth, Known) and bool(worth.value) == isinstance(node.op, ast.Or):
                return

    def worth(self, node: ast.expr) -> Worth:
        """What an expression is worth; one that fails is worth nothing that anybody could go on with."""
        try:
            return self._worth(node)
        except Exception:
            return UNKNOWN

    def _worth(self, node: ast.expr) -> Worth:
        match node:
            case ast.Constant(value=value):
                return Known(value)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(node, base, attr)
            case ast.Tuple(elts=parts):
                return self._made(lambda *values: values, *parts)
            case ast.UnaryOp(op=one, operand=operand):
                return self._made(OPERATORS[type(one)], operand)
            case ast.BinOp(left=left, op=one, right=right):
                return self._made(OPERATORS[type(one)], left, right)
            case ast.Compare(left=left, ops=[one], comparators=[right]):
                return self._made(OPERATORS[type(one)], left, right)
            case ast.Subscript(value=base, slice=key):
                return self._made(operator.getitem, base, key)
            case ast.BoolOp():
                return self._made(lambda *values: values[-1], *self.until_decided(node))
            case ast.IfExp(test=test, body=first, orelse=second):
                branches = self.open(test, first, second)
                return self.worth(branches[0]) if len(branches) == 1 else UNKNOWN
            case ast.Call(func=function, args=[of]) if self.source.resolve(function) is len:
                family = self.family(of)
                return self._made(len, of) if family is None else Known(len(family))
            case ast.Call(func=function):
                callee = self.source.resolve(function)
                return Frame(self.model, callee, self.given(node), self.depth + 1).result()
        return UNKNOWN

    def _made(self, how: Callable[..., Any], *parts: ast.expr) -> Worth:
        worths = [self.worth(part) for part in parts]
        known = [worth.value for worth in worths if isinstance(worth, Known)]
        return Known(how(*known)) if len(known) == len(worths) else UNKNOWN

    def _name(self, node: ast.Name, name: str) -> Worth:
        if name in self.worths:
            return self.worths[name]
        if name not in self.source.bound:
            return _constant(self.source.resolve(node))
        if name in self.asked or not (name in self.source.once or name in self.source.each):
            return UNKNOWN
        value, part = self.source.once.get(name) or (self.source.each[name], None)
        self.asked.add(name)
        worth = self.worth(value)
        self.asked.remove(name)
        if name in self.source.each:
            walked = worth.value if isinstance(worth, Known) else None
            return OneOf(walked) if isinstance(walked, tuple) else UNKNOWN
        return Known(worth.value[part]) if isinstance(worth, Known) and part is not None else worth

    def _attribute(self, node: ast.Attribute, base: ast.expr, attr: str) -> Worth:
        if self.is_view(base):
            if attr == "design":
                return Known(self.model.world.design)
            bounds = self.model.world.bounds
            return Known(bounds[attr]) if attr in bounds and attr not in self.model.places else UNKNOWN
        owner = self.worth(base)
        if isinstance(owner, Known):
            return Known(getattr(owner.value, attr)) if isinstance(owner.value, Design | Enum) else UNKNOWN
        return _constant(self.source.resolve(node))

    def result(self) -> Worth:
        """What the call returns."""
        code, body = self.source.function.__code__, self.source.node.body
        if code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
            return UNKNOWN
        return (self._returned(body) or Known(None)) if isinstance(body, list) else self.worth(body)

    def _returned(self, body: Sequence[ast.stmt]) -> Worth | None:
        """What some statements return; None if they come to their end without."""
        for one in body:
            if isinstance(one, ast.Return):
                return self.worth(one.value) if one.value else Known(None)
            branches = self.open(one.test, one.body, one.orelse) if isinstance(one, ast.If) else []
            if len(branches) == 1:
                found = self._returned(branches[0])
                if found is not None:
                    return found
            elif any(isinstance(part, ast.Return) for part in ast.walk(one)):
                return UNKNOWN
        return None


def _worths(source: Source, given: Given) -> dict[str, Worth]:
    """What each parameter is worth in a call; one that is bound anew in the body is worth nothing certain."""
    arguments, function = source.node.args, source.function
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    named = [*positional, *(one.arg for one in arguments.kwonlyargs)]
    defaults = function.__defaults__ or ()
    usual = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    usual.update(function.__kwdefaults__ or {})

    worths: dict[str, Worth] = dict.fromkeys(source.parameters, UNKNOWN)
    if not given.and_more:
        worths.update((name, _constant(value)) for name, value in usual.items())
    worths.update(zip(positional, given.by_position, strict=False))
    worths.update((name, worth) for name, worth in given.by_name.items() if name in named)

    stray = [*given.by_position[len(positional) :], *(w for n, w in given.by_name.items() if n not in named)]
    if VIEW in stray or any(worth is VIEW and name in source.bound for name, worth in worths.items()):
        raise Anything(f"{source.place(source.node)}: the view goes where it cannot be followed")
    return {name: UNKNOWN if name in source.bound else worth for name, worth in worths.items()}


def _constant(value: Any) -> Worth:
    """A value from outside a function is known if it can never change."""

    def lasting(one: Any) -> bool:
        return isinstance(one, (*ATOMS, Enum)) or (isinstance(one, tuple) and all(map(lasting, one)))

    return Known(value) if value is not NOTHING and lasting(value) else UNKNOWN


def may_be(worth: Worth, value: Any) -> bool:
    """Whether what is known of an expression leaves room for a value."""
    if isinstance(worth, Known):
        return bool(worth.value == value)
    return value in worth.values if isinstance(worth, OneOf) else True
