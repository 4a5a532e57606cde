"""
Which places an action or a property may read and may write, told from its text.

What `Model.run` records is what happened in one state; reductions must know what could happen in any. Where
these rules do not suffice, every place counts as read and written:

- `w.x` is one place; `w.family[key]` is the place of a key that is known from the arguments, or all places
  that agree with what is known of it; to walk through the keys of a family, to count or to search them reads
  nothing, because the world fixes them; its items and values are all its places; and a family that is given
  a second name or passed on is read and written as a whole;
- a function that is called with `w` counts with its own text, and with the arguments known from the call;
- a branch that the design or the bounds of the world rule out does not count;
- whoever lets `w` go anywhere else, keeps it, returns it or gives it to something without a text, may do
  anything.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import getattr_static
from itertools import chain
from types import FunctionType
from typing import Any

from models.engine.known import VIEW, Anything, Frame, Given, Known, may_be
from spec.immutable import ordered
from spec.machine import Action, Property, Sort, choose
from spec.world import Evaluation, Model


@dataclass(frozen=True, slots=True)
class Footprint:
    """The places that may be read and those that may be written, by their numbers in `model.slots`."""

    reads: frozenset[int]
    writes: frozenset[int]
    why: str = ""
    """If every place is in it for want of something better: the line from which on nothing more is known."""

    def strays(self, found: Evaluation) -> frozenset[int]:
        """Places that an action read or wrote although its text does not say so: there must be none."""
        written = {place for way in found.result for place, _ in way.writes}
        return (frozenset(found.reads) - self.reads) | (written - self.writes)


def footprints(model: Model) -> list[Footprint]:
    """What each of `model.instances` may read and write."""
    return [_footprint(model, one.of.body, 1, one.arguments) for one in model.instances]


def check_footprints(model: Model) -> list[Footprint]:
    """What each of `model.checks` may read; both views of a step are views of the same places."""
    return [
        _looking(_footprint(model, one.of.body, 2 if one.of.sort is Sort.STEP else 1, one.arguments))
        for one in model.checks
    ]


def final_footprints(model: Model) -> list[Footprint]:
    """What each of `model.finals` may read."""
    return [_looking(_footprint(model, one.of.body, 1, one.arguments)) for one in model.finals]


def within_footprint(model: Model) -> Footprint:
    """What `within` may read; nothing if the world has none."""
    within = model.world.within
    if within is None:
        return Footprint(frozenset(), frozenset())
    return _looking(_footprint(model, within, 1, ()))


def _looking(found: Footprint) -> Footprint:
    return Footprint(found.reads, frozenset(), found.why)


def _footprint(model: Model, body: object, views: int, arguments: Sequence[Any]) -> Footprint:
    reading = _Reading(model)
    try:
        reading.follow(body, Given([*[VIEW] * views, *map(Known, arguments)], {}))
    except Anything as reason:
        every = frozenset(range(len(model.slots)))
        return Footprint(every, every, str(reason))
    return Footprint(frozenset(reading.reads), frozenset(reading.writes))


LOOKING = (len, list, tuple, sorted, ordered, set, frozenset, enumerate, any, all)
"""Functions that do nothing with a family, as their first argument, but walk through its keys."""
BACKDOORS = frozenset({"eval", "exec", "locals", "vars"})
"""Names by which the view is reached without being named."""
WORKINGS = frozenset({"_w", "_read", "_write", "_decide", "_values", "_reads", "_writes", "_places"})
"""How the view is made inside; whoever goes in there may do anything."""


class _Reading:
    """What was found in the text of a function, and in those that it calls with the view."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.followed: set[tuple[FunctionType, str]] = set()

    def follow(self, function: object, given: Given, depth: int = 0) -> None:
        """Read the text of a function, once for each combination of arguments."""
        frame = Frame(self.model, function, given, depth)
        call = frame.source.function, repr(sorted(frame.worths.items()))
        if call in self.followed:
            return
        self.followed.add(call)
        body = frame.source.node.body
        _Reader(self, frame).visit_all(body if isinstance(body, list) else [body])


class _Reader:
    """Goes through the text of one call, and notes what it reads and writes wherever the view appears."""

    def __init__(self, reading: _Reading, frame: Frame) -> None:
        self.reading, self.frame, self.model = reading, frame, reading.model

    def visit(self, node: ast.AST) -> None:
        frame = self.frame
        match node:
            case ast.Name(id=name):
                if frame.is_view(node):
                    raise self.anything(node, f"{name} goes where it cannot be followed")
                if name in BACKDOORS:
                    raise self.anything(node, f"{name} reaches everything")
            case ast.Attribute(value=value) if frame.is_view(value):
                self.visit_attribute(node)
            case ast.Attribute(attr=attr) if attr in WORKINGS:
                raise self.anything(node, f"{attr} is how the view works inside")
            case ast.Attribute(value=value, attr="items" | "values") if family := frame.family(value):
                self.reading.reads.update(family.values())
            case ast.Subscript(value=value, slice=key, ctx=context) if family := frame.family(value):
                self.touch(self.keyed(family, key), context)
                self.visit(key)
            case ast.AugAssign(target=target, value=value):
                self.visit_all([_to_read(target), target, value])
            case ast.For(iter=walked) | ast.comprehension(iter=walked):
                self.look(walked)
                self.visit_all(child for child in ast.iter_child_nodes(node) if child is not walked)
            case ast.Compare(left=left, ops=operators, comparators=others):
                self.visit(left)
                for one, other in zip(operators, others, strict=True):
                    (self.look if isinstance(one, ast.In | ast.NotIn) else self.visit)(other)
            case ast.Starred(value=value):
                self.look(value)
            case ast.If(test=test, body=then, orelse=otherwise):
                self.visit_all([test, *chain(*frame.open(test, then, otherwise))])
            case ast.IfExp(test=test, body=first, orelse=second):
                self.visit_all([test, *frame.open(test, first, second)])
            case ast.BoolOp():
                self.visit_all(frame.until_decided(node))
            case ast.Call():
                self.visit_call(node)
            case _:
                self.visit_all(ast.iter_child_nodes(node))

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def look(self, node: ast.AST) -> None:
        """Of a family that is only walked through, counted or searched by its keys, no member is read."""
        if self.frame.family(node) is None:
            self.visit(node)

    def touch(self, places: Iterable[int], context: ast.expr_context) -> None:
        (self.reading.reads if isinstance(context, ast.Load) else self.reading.writes).update(places)

    def keyed(self, family: Mapping[Any, int], key: ast.expr) -> Iterable[int]:
        """The places that a key can denote, from what is known of it."""
        if isinstance(key, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in key.elts):
            worths = [self.frame.worth(part) for part in key.elts]
            keys = [one for one in family if isinstance(one, tuple) and len(one) == len(worths)]
            return [family[one] for one in keys if all(map(may_be, worths, one))]
        worth = self.frame.worth(key)
        return [place for one, place in family.items() if may_be(worth, one)]

    def visit_attribute(self, node: ast.Attribute) -> None:
        places = self.model.places.get(node.attr)
        if isinstance(places, int):
            self.touch([places], node.ctx)
        elif places is not None:
            self.reading.reads.update(places.values())
            self.reading.writes.update(places.values())
        elif node.attr != "design" and node.attr not in self.model.world.bounds:
            declared = getattr_static(self.model.view_class, node.attr, None)
            if not isinstance(declared, property):
                raise self.anything(node, f"{node.attr} is no variable")
            self.reading.follow(declared.fget, Given([VIEW], {}), self.frame.depth + 1)

    def visit_call(self, node: ast.Call) -> None:
        frame, function = self.frame, node.func
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(function, ast.Attribute) and frame.is_view(function.value):
            method = getattr_static(self.model.view_class, function.attr, None)
            if not isinstance(method, FunctionType):
                raise self.anything(node, f"{function.attr} has no text")
            self.reading.follow(method, frame.given(node, VIEW), frame.depth + 1)
            self.visit_all(value for value in values if not frame.is_view(value))
            return

        target = frame.source.resolve(function)
        if target is choose:
            for value in values:
                if not frame.is_view(value):
                    self.look(value)
        elif target in LOOKING and node.args:
            self.look(node.args[0])
            self.visit_all(values[1:])
        elif any(map(frame.is_view, values)):
            if not isinstance(target, FunctionType | Action | Property):
                raise self.anything(node, f"{ast.unparse(function)} is given everything")
            self.reading.follow(target, frame.given(node), frame.depth + 1)
            self.visit_all(value for value in values if not frame.is_view(value))
        else:
            self.visit_all([function, *values])

    def anything(self, node: ast.AST, why: str) -> Anything:
        return Anything(f"{self.frame.source.place(node)}: {why}")


def _to_read(target: ast.expr) -> ast.expr:
    """The target of `x += 1` as the expression that is read there."""
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target
