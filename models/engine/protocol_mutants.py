"""
Mutants of protocols: one function with one change, tried in every world in which it is at work.

A guard may be needed for one question only, so that a mutant survives in most worlds and is noticed in one.
Beyond what mutants of a world change, an assignment or the call of another function is left out, and so is a
condition of a decision; and beyond actions, the functions change that actions are written in terms of. The
properties stay as they are, even where they call the same functions: they say what is right.
"""

import ast
import copy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, SimpleNamespace
from typing import Any

from models.engine.mutants import Explore, changes_of, compiled, is_guard, text_of
from models.engine.result import Result
from spec.design import Design
from spec.machine import Action, Machine
from spec.world import World

Line = tuple[str, int]
"""A file and a line of it."""


@dataclass(frozen=True, slots=True, eq=False)
class ProtocolMutant:
    """One change to one function that takes part in actions."""

    function: FunctionType
    made: FunctionType
    lines: range
    """Those of the text where it differs: where none of them is run, nobody can tell it from the original."""
    change: str
    guard: bool
    actions: tuple[str, ...]
    """The actions in which the function takes part."""
    rules: tuple[str, ...]
    """Their ids."""

    @property
    def place(self) -> Line:
        return self.function.__code__.co_filename, self.lines.start

    def reached(self, run: Set[Line]) -> bool:
        """Whether one of the lines was run that it changes."""
        return any((self.function.__code__.co_filename, number) in run for number in self.lines)


def protocol_mutants(
    worlds: Iterable[World], ours: Callable[[FunctionType], bool]
) -> Iterator[ProtocolMutant]:
    """Every change to a function of ours that an action of some world runs, function by function."""
    some = list(worlds)
    actions = list(dict.fromkeys(a for world in some for machine in world.machines for a in machine.actions))
    users: dict[FunctionType, list[Action]] = {}
    for action in actions:
        for function in _reachable([_function(action)]):
            users.setdefault(function, []).append(action)
    designs = tuple(dict.fromkeys(world.design for world in some))
    for function in sorted(users, key=lambda one: (one.__code__.co_filename, one.__code__.co_firstlineno)):
        if ours(function) and _takes_a_view(function):
            names = tuple(action.name for action in users[function])
            rules = tuple(dict.fromkeys(id for action in users[function] for id in action.ids))
            for lines, change, guard, made in _changed(function, designs):
                yield ProtocolMutant(function, made, lines, change, guard, names, rules)


def applied(mutant: ProtocolMutant, world: World, name: str) -> World | None:
    """The same world with the changed function in it; None if no action of it has to do with the function."""
    bodies = {_function(action) for machine in world.machines for action in machine.actions}
    fresh = _rebound(bodies, mutant)
    if bodies.isdisjoint(fresh):
        return None
    return replace(world, name=name, machines=tuple(_machine(one, fresh) for one in world.machines))


def lines_run(world: World, explore: Explore, files: Iterable[str]) -> tuple[Result, frozenset[Line]]:
    """Explore a world, and note which lines of some files are run: all that ever are, each at least once."""
    wanted, found = frozenset(files), set[Line]()

    def inside(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            found.add((frame.f_code.co_filename, frame.f_lineno))
        return inside

    def called(frame: FrameType, event: str, _: Any) -> Any:
        return inside if frame.f_code.co_filename in wanted else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        result = explore(world)
    finally:
        sys.settrace(before)
    return result, frozenset(found)


# what calls what


def _function(action: Action) -> FunctionType:
    assert isinstance(action.body, FunctionType)
    return action.body


@cache
def _calls(function: FunctionType) -> Mapping[str, FunctionType]:
    """The functions that a function names, by these names; an action that is a part of another is one."""
    found = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
    bodies = {name: one.body if isinstance(one, Action) else one for name, one in found.items()}
    return {name: one for name, one in bodies.items() if isinstance(one, FunctionType) and _takes_a_view(one)}


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names, inner))


@cache
def _takes_a_view(function: FunctionType) -> bool:
    """Whether a function sees the state: its first parameter is a machine."""
    code = function.__code__
    first = function.__annotations__.get(code.co_varnames[0]) if code.co_argcount else None
    return isinstance(first, type) and issubclass(first, Machine)


def _reachable(roots: Iterable[FunctionType]) -> list[FunctionType]:
    """Functions, and all that they call, however far away."""
    found, todo = dict[FunctionType, None](), list(roots)
    while todo:
        one = todo.pop()
        if one not in found:
            found[one] = None
            todo += _calls(one).values()
    return list(found)


def _rebound(roots: Iterable[FunctionType], mutant: ProtocolMutant) -> dict[FunctionType, FunctionType]:
    """New versions of the changed function, and of all functions from which it is called; nobody else's."""
    every = _reachable(roots)
    if mutant.function not in every:
        return {}
    affected = {mutant.function}
    while more := {one for one in every if one not in affected and affected & {*_calls(one).values()}}:
        affected |= more

    fresh = {one: _copied(mutant.made if one is mutant.function else one) for one in affected}
    for old, new in fresh.items():
        for name, callee in _calls(old).items():
            if callee in fresh:
                was = old.__globals__[name]
                body = fresh[callee]
                new.__globals__[name] = replace(was, body=body) if isinstance(was, Action) else body
    return fresh


def _copied(function: FunctionType) -> FunctionType:
    """The same function with names of its own."""
    made = FunctionType(
        function.__code__,
        dict(function.__globals__),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    made.__annotations__ = function.__annotations__
    return made


def _machine(machine: type[Machine], fresh: Mapping[FunctionType, FunctionType]) -> type[Machine]:
    if not any(_function(action) in fresh for action in machine.actions):
        return machine
    changed: Any = type(machine.__name__, (machine,), {"__module__": machine.__module__})
    changed.actions = [
        replace(action, body=fresh.get(_function(action), action.body)) for action in machine.actions
    ]
    changed.properties = machine.properties
    return changed  # type: ignore[no-any-return]


# what is changed


def _changed(
    function: FunctionType, designs: tuple[Design, ...]
) -> Iterator[tuple[range, str, bool, FunctionType]]:
    """Every changed version of a function: the lines, what was done there, whether to a guard."""
    text, view = text_of(function), function.__code__.co_varnames[0]
    found = [(place, node) for place, node in enumerate(ast.walk(text)) if isinstance(node, ast.stmt)]
    for place, node in sorted(found, key=lambda one: one[1].lineno):
        guards = list(changes_of(node))
        for number, (change, apply) in enumerate([*guards, *_further_changes(node, view)]):
            changed = copy.deepcopy(text)
            apply(list(ast.walk(changed))[place])
            if _idle(node, change, function, designs):
                continue
            made: Any = compiled(changed, function)
            guard = number < len(guards) and not isinstance(node, ast.If)
            yield _lines(node), change, guard, made


def _lines(node: ast.stmt) -> range:
    """The lines of a statement, but not of those inside it."""
    head: Any = node.test if isinstance(node, ast.If | ast.While) else node
    return range(node.lineno, (head.end_lineno or node.lineno) + 1)


def _further_changes(node: Any, view: str) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """An assignment or a call that is left out, a condition that no longer counts."""
    if isinstance(node, ast.If):
        for place, part in enumerate(_conditions(node.test)):
            yield f"without {ast.unparse(part)}", _without_condition("test", place)
    if isinstance(node, ast.Return):
        for place, part in enumerate(_conditions(node.value)):
            yield f"without {ast.unparse(part)}", _without_condition("value", place)
    if isinstance(node, ast.Assign):
        if any(_is_of(target, view) for target in node.targets):
            yield f"without {ast.unparse(node)}", _unassigned(view)
    elif isinstance(node, ast.AugAssign) and _is_of(node.target, view):
        yield f"without {ast.unparse(node)}", _unassigned(view)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_given(node.value, view):
        yield f"without {ast.unparse(node)}", _uncalled


def _conditions(test: ast.expr | None) -> list[ast.expr]:
    """What a condition joins with `and`; nothing if it is one."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else []


def _without_condition(where: str, place: int) -> Callable[[Any], None]:
    def apply(node: Any) -> None:
        parts = getattr(node, where).values
        parts[place] = ast.copy_location(ast.Constant(True), parts[place])

    return apply


def _is_of(target: ast.expr, view: str) -> bool:
    """Whether an assignment goes to the state: to `w.x`, `w.x[...]` or several of them."""
    if isinstance(target, ast.Tuple):
        return any(_is_of(part, view) for part in target.elts)
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        if isinstance(target, ast.Name):
            return target.id == view
    return False


def _is_given(call: ast.Call, view: str) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == view


def _unassigned(view: str) -> Callable[[Any], None]:
    """The value is still computed, and still given to those targets that are no part of the state."""

    def apply(node: Any) -> None:
        targets = [] if isinstance(node, ast.AugAssign) else node.targets
        kept = [one for one in targets if not _is_of(one, view)]
        _become(node, ast.Assign(kept or [ast.Name("_", ast.Store())], node.value))

    return apply


def _uncalled(node: Any) -> None:
    node.value = ast.copy_location(ast.Constant(None), node.value)


def _become(node: Any, other: ast.stmt) -> None:
    """Make a node of the tree another one, where it stands."""
    node.__class__ = type(other)
    node.__dict__.update({**vars(other), "lineno": node.lineno, "col_offset": node.col_offset})


def _idle(node: Any, change: str, function: FunctionType, designs: tuple[Design, ...]) -> bool:
    """Whether a change makes no difference under these designs: a decision that the design takes anyway."""
    if isinstance(node, ast.If) and change.startswith("always "):
        forced = change.startswith("always True")
        return all(_decided(node.test, function, design) is forced for design in designs)
    if is_guard(node):
        [guard] = node.value.args
        parts = [guard, *_conditions(guard)]
    else:
        parts = _conditions(node.test if isinstance(node, ast.If) else getattr(node, "value", None))
    left_out = [one for one in parts if change == f"without {ast.unparse(one)}"]
    return any(all(_decided(one, function, design) is True for design in designs) for one in left_out)


def _decided(test: ast.expr, function: FunctionType, design: Design) -> bool | None:
    """What a condition is that only depends on the design; None if there is more to it."""
    view = function.__code__.co_varnames[0]
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} - {view}
    if not names <= {*function.__globals__} - {*function.__code__.co_varnames}:
        return None
    code = compile(ast.fix_missing_locations(ast.Expression(copy.deepcopy(test))), "<design>", "eval")
    try:
        return bool(eval(code, dict(function.__globals__), {view: SimpleNamespace(design=design)}))
    except Exception:
        return None


def files_of(worlds: Iterable[World], ours: Callable[[FunctionType], bool]) -> frozenset[str]:
    """The files in which the functions stand that can be changed."""
    roots = [_function(a) for world in worlds for machine in world.machines for a in machine.actions]
    return frozenset(one.__code__.co_filename for one in _reachable(roots) if ours(one))


def protocol_of(function: FunctionType) -> str:
    """The protocol that a function belongs to: the module in which it stands."""
    return Path(function.__code__.co_filename).stem
