"""
Mutants of a world: one action with one guard taken out or one decision forced, made from its own text.

A guard whose removal nobody notices either guards against nothing, or no property says what it is for.
"""

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from models.engine.result import Result
from models.verdict import Verdict
from spec.immutable import Misuse
from spec.machine import Action, Machine
from spec.world import World

Explore = Callable[[World], Result]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A world with one change to one action, and the line where it was made."""

    name: str
    action: str
    line: int
    change: str
    world: World


def mutants_of(world: World) -> Iterator[Mutant]:
    """Every mutant of a world: machine by machine, action by action, from top to bottom."""
    number = 0
    for machine in world.machines:
        for action in machine.actions:
            for line, change, body in _changed_bodies(action.body):
                number += 1
                name = f"{world.name}~{number}"
                yield Mutant(name, action.name, line, change, _with(world, name, machine, action, body))


def survivors(world: World, explore: Explore) -> list[Mutant]:
    """The mutants that nobody notices."""
    usual = outcome(world, explore)
    return [mutant for mutant in mutants_of(world) if not noticed(outcome(mutant.world, explore), usual)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What comes of exploring a world, as far as a mutant can change it."""

    verdict: Verdict
    because: tuple[str, ...] = ()
    """The breached properties, or what never happened, or the misuse."""


def outcome(world: World, explore: Explore) -> Outcome:
    """Explore a world. An action that no longer makes sense without its guard is a violation, too."""
    try:
        result = explore(world)
    except Misuse as misuse:
        return Outcome(Verdict.VIOLATED, (str(misuse),))
    if result.breaches:
        return Outcome(result.verdict, tuple(sorted(breach.property for breach in result.breaches)))
    return Outcome(result.verdict, tuple(result.missing) if result.verdict is Verdict.VACUOUS else ())


def noticed(found: Outcome, usual: Outcome) -> bool:
    """Whether a mutant is told from the world it was made of; to run out of bounds is not enough."""
    return found != usual and found.verdict in (Verdict.VIOLATED, Verdict.VACUOUS)


def _with(
    world: World, name: str, machine: type[Machine], action: Action, body: Callable[..., None]
) -> World:
    """The same world with another body of one action."""
    changed: Any = type(machine.__name__, (machine,), {"__module__": machine.__module__})
    changed.actions = [replace(one, body=body) if one is action else one for one in machine.actions]
    changed.properties = machine.properties
    machines = tuple(changed if one is machine else one for one in world.machines)
    return replace(world, name=name, machines=machines)


def _changed_bodies(body: Callable[..., None]) -> Iterator[tuple[int, str, Callable[..., None]]]:
    """Every changed version of a function: the line, what was done there, and the function."""
    function = text_of(body)
    found = [(place, node) for place, node in enumerate(ast.walk(function)) if isinstance(node, ast.stmt)]
    for place, node in sorted(found, key=lambda one: one[1].lineno):
        for change, apply in changes_of(node):
            changed = copy.deepcopy(function)
            apply(list(ast.walk(changed))[place])
            yield node.lineno, change, compiled(changed, body)


def changes_of(node: Any) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """What can be done to a node: a guard loses one of its conditions or all, a decision is forced."""
    if is_guard(node):
        [guard] = node.value.args
        yield f"without {ast.unparse(guard)}", _unguarded
        if isinstance(guard, ast.BoolOp) and isinstance(guard.op, ast.And):
            for place, part in enumerate(guard.values):
                yield f"without {ast.unparse(part)}", _without_part(place)
    if isinstance(node, ast.If):
        for forced in (False, True):
            yield f"always {forced}: {ast.unparse(node.test)}", _forced(forced)


def is_guard(node: Any) -> bool:
    """Whether a statement is a call of `require`."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "require"


def _unguarded(node: Any) -> None:
    node.value.args[0] = _constant(node.value.args[0], True)


def _without_part(place: int) -> Callable[[Any], None]:
    def apply(node: Any) -> None:
        parts = node.value.args[0].values
        parts[place] = _constant(parts[place], True)

    return apply


def _forced(value: bool) -> Callable[[Any], None]:
    def apply(node: Any) -> None:
        node.test = _constant(node.test, value)

    return apply


def _constant(old: ast.expr, value: bool) -> ast.expr:
    return ast.copy_location(ast.Constant(value), old)


def text_of(body: Callable[..., None]) -> ast.FunctionDef:
    """The function in the text of its file, so that all lines keep their numbers."""
    lines, _ = inspect.findsource(body)
    first = body.__code__.co_firstlineno
    functions = (node for node in ast.walk(_parsed("".join(lines))) if isinstance(node, ast.FunctionDef))
    return next(
        one for one in functions if min([one.lineno, *(d.lineno for d in one.decorator_list)]) == first
    )


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def compiled(function: ast.FunctionDef, body: Callable[..., None]) -> Callable[..., None]:
    """
    A function from changed text that sees the same names as the original.

    Names of an enclosing function stay what they are: the text is compiled inside a function that has them as
    parameters, and is then given the cells of the original.
    """
    code = body.__code__
    outer = ast.parse(f"def outer({', '.join(code.co_freevars)}): pass")
    function.decorator_list = []
    outer.body[0].body = [function]  # type: ignore[attr-defined]
    module = compile(ast.fix_missing_locations(outer), code.co_filename, "exec")
    inner = _named(_named(module, "outer"), body.__name__)

    cells = dict(zip(code.co_freevars, body.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in inner.co_freevars)
    made = FunctionType(inner, body.__globals__, body.__name__, body.__defaults__, closure)
    made.__doc__, made.__annotations__ = body.__doc__, body.__annotations__
    return made


def _named(code: CodeType, name: str) -> CodeType:
    return next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
