"""
The text of a function as a tree, found by its file and line and checked against the code that runs.

A file may have changed since it was imported, and a decorator may have put another function in the place of
the one that is written there. So the text counts only if compiling it gives the very code of the function.
"""

import ast
import builtins
import linecache
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

Written = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
NOTHING = object()
"""What a name stands for that cannot be looked up before the function runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function and its text."""

    function: FunctionType
    node: Written
    parameters: frozenset[str]
    bound: frozenset[str]
    """Every name that is given a meaning somewhere in the body, however deep."""
    once: Mapping[str, tuple[ast.expr, int | None]]
    """Names that are assigned once and for all: the expression, and which part of it if it is taken apart."""
    each: Mapping[str, ast.expr]
    """Names that only stand for what one loop walks through, and what that is."""

    def resolve(self, node: ast.expr) -> Any:
        """What a name or a dotted name from outside the function stands for."""
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            return getattr(base, node.attr, NOTHING) if isinstance(base, ModuleType | type) else NOTHING
        if not isinstance(node, ast.Name) or node.id in self.bound or node.id in self.parameters:
            return NOTHING
        code = self.function.__code__
        if node.id in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(node.id)]
            try:
                return cell.cell_contents
            except ValueError:
                return NOTHING
        return self.function.__globals__.get(node.id, getattr(builtins, node.id, NOTHING))

    def place(self, node: ast.AST) -> str:
        line = getattr(node, "lineno", self.function.__code__.co_firstlineno)
        return f"{self.function.__code__.co_filename}:{line}"


@lru_cache(maxsize=4096)
def source_of(function: FunctionType) -> Source | None:
    """The text of a function; None if it cannot be found, or is not what runs."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    found = _file("".join(linecache.getlines(code.co_filename)), code.co_filename)
    place = code.co_name, code.co_firstlineno
    if found is None or _print(code) not in map(_print, found.codes.get(place, ())):
        return None
    node = min((one for one in found.nodes[place] if _holds(one, code)), key=_length, default=None)
    if node is None:
        return None
    arguments = node.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    body: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
    names = Counter(name for part in body for name in _bindings(part))
    once = {name: value for name, value in _assigned(body) if names[name] == 1}
    each = {name: value for name, value in _walked(body) if names[name] == 1}
    return Source(function, node, frozenset(a.arg for a in every if a), frozenset(names), once, each)


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    nodes: Mapping[tuple[str, int], list[Written]]
    codes: Mapping[tuple[str, int], list[CodeType]]


@lru_cache(maxsize=256)
def _file(text: str, name: str) -> _File | None:
    """Every function of a file, by its name and first line, as text and as code."""
    try:
        tree = ast.parse(text, name)
        module = compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    nodes: dict[tuple[str, int], list[Written]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            nodes.setdefault(("<lambda>", node.lineno), []).append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            nodes.setdefault((node.name, first), []).append(node)
    codes: dict[tuple[str, int], list[CodeType]] = {}
    for code in _codes(module):
        codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    return _File(nodes, codes)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _print(code: CodeType) -> tuple[Any, ...]:
    """What tells one function from another: its instructions, what they name, and where they stand."""
    constants = tuple(_print(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_name, code.co_code, constants, names, tuple(code.co_positions())


def _holds(node: Written, code: CodeType) -> bool:
    """Whether a code stands within a text; of several lambdas in a line, the shortest one is then its own."""
    if not isinstance(node, ast.Lambda):
        return True
    first, last = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    spans = [span for span in code.co_positions() if None not in span and span[3]]
    return bool(spans) and all(
        first <= (line, column) and (end_line, end_column) <= last
        for line, end_line, column, end_column in spans
    )


def _length(node: Written) -> tuple[int, int]:
    lines = (node.end_lineno or 0) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset


def _bindings(tree: ast.AST) -> Iterator[str]:
    """Every name to which something in a text gives a meaning."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield (other or name).partition(".")[0]
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _assigned(body: list[ast.AST]) -> Iterator[tuple[str, tuple[ast.expr, int | None]]]:
    """The plain assignments of a text to its own names."""
    for part in _own(body):
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, (value, None)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, (value, None)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                if not any(isinstance(one, ast.Starred) for one in names):
                    yield from (
                        (one.id, (value, n)) for n, one in enumerate(names) if isinstance(one, ast.Name)
                    )


def _walked(body: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """
    The names of loops; those of a comprehension count if nothing outside of it goes by the same name. What it
    walks through first stands outside.
    """
    for part in _own(body):
        if isinstance(part, ast.For) and isinstance(part.target, ast.Name):
            yield part.target.id, part.iter
        if isinstance(part, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            inside = _loads([part]) - _loads([part.generators[0].iter])
            for one in part.generators:
                name = one.target.id if isinstance(one.target, ast.Name) else ""
                if name and inside[name] == _loads(body)[name]:
                    yield name, one.iter


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every part of a text but those of functions and classes within it."""
    for part in body:
        yield part
        if not isinstance(part, SCOPES):
            yield from _own(ast.iter_child_nodes(part))


def _loads(body: Iterable[ast.AST]) -> Counter[str]:
    parts = (part for one in body for part in ast.walk(one))
    return Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))
