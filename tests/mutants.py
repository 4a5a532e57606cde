"""
Mutants: the specification with one thing changed, to see whether any check notices.

Each mutant runs in a process of its own, in which one module of `spec/` is replaced by its changed text
before anything imports it. The tests of that module are tried first, then all laws; the first that fails has
killed the mutant. This module imports nothing of `spec/`, so that its children can.
"""

import ast
import copy
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = 100
SECONDS = 300
"""How much processor time a mutant may take; one that runs for ever is as good as caught."""

KILLED, SURVIVED = 0, 17
"""What the process of a mutant ends with. A signal is a kill too, except for the one that others send."""

QUIETLY = ("-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "--no-cov")
ALREADY_IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one module, and the line where it was made."""

    module: str
    line: int
    change: str
    source: str
    laws: bool = True
    """Whether the laws are tried on it too, after the tests of its module."""


FLIPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
WITHOUT = "without the guard"
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


def modules() -> list[str]:
    """The modules that can be changed: all of the specification."""
    return sorted(f"spec.{path.stem}" for path in (ROOT / "spec").glob("*.py") if path.stem != "__init__")


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, from top to bottom."""
    tree = ast.parse(unchanged(module).source)
    decoration = {
        id(n)
        for c in ast.walk(tree)
        if isinstance(c, ast.ClassDef)
        for d in c.decorator_list
        for n in ast.walk(d)
    }
    found = []
    for place, node in enumerate(ast.walk(tree)):
        for change, apply in _changes(node) if id(node) not in decoration else ():
            changed = copy.deepcopy(tree)
            apply(list(ast.walk(changed))[place])
            source = ast.unparse(ast.fix_missing_locations(changed))
            found.append(Mutant(module, getattr(node, "lineno", 0), change, source))
    yield from sorted(found, key=lambda mutant: mutant.line)


def unchanged(module: str, laws: bool = True) -> Mutant:
    """A mutant that is none. If it is killed, the kills of the others mean nothing."""
    source = ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    return Mutant(module, 0, "unchanged", source, laws)


def run(mutants: list[Mutant], processes: int, tell: Callable[[Mutant, bool], None]) -> list[Mutant]:
    """Try every mutant, so many at a time, and return those that no check noticed."""
    survivors = []
    waiting, running = list(reversed(mutants)), dict[int, Mutant]()
    while waiting or running:
        while waiting and len(running) < processes:
            mutant = waiting.pop()
            running[_start(mutant)] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        killed = os.waitstatus_to_exitcode(status) not in (SURVIVED, -signal.SIGKILL)
        tell(mutant, killed)
        if not killed:
            survivors.append(mutant)
    return survivors


def _start(mutant: Mutant) -> int:
    """Try a mutant in a child; forked from the only thread there is, so that no lock is held for ever."""
    child = os.fork()
    if child:
        return child
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            killed = _some_check_fails(mutant)
    except BaseException:
        killed = True
    os._exit(KILLED if killed else SURVIVED)


def _some_check_fails(mutant: Mutant) -> bool:
    assert not any(name == "spec" or name.startswith("spec.") for name in sys.modules)
    sys.meta_path.insert(0, _Replaced(mutant))
    own = ROOT / "tests" / "spec" / f"test_{mutant.module.rpartition('.')[2]}.py"
    if own.exists() and pytest.main([*QUIETLY, *ALREADY_IMPORTED, str(own)]) != 0:
        return True

    from models.laws import all_laws  # noqa: PLC0415 (only now, in the child)
    from models.laws.law import run as run_law  # noqa: PLC0415

    return mutant.laws and any(run_law(law, EXAMPLES).verdict.value == "violated" for law in all_laws())


class _Replaced(MetaPathFinder, Loader):
    """Answers the import of one module with a mutant's text."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return spec_from_loader(name, self) if name == self.mutant.module else None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.mutant.source, f"<mutant of {self.mutant.module}>", "exec"), module.__dict__)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    """What can be changed at a node: a guard taken out, an operator flipped, a number moved."""
    if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise) and not node.orelse:
        yield f"{WITHOUT} {ast.unparse(node.test)}", lambda n: setattr(n, "body", [ast.Pass()])
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in FLIPPED:
                yield f"flipped: {ast.unparse(node)}", _flip_comparison(place)
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in FLIPPED:
        yield f"flipped: {ast.unparse(node)}", lambda n: setattr(n, "op", FLIPPED[type(n.op)]())  # type: ignore[attr-defined]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"negated: {ast.unparse(node)}", lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
        yield f"swapped: {ast.unparse(node)}", lambda n: setattr(n.func, "id", SWAPPED[n.func.id])  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield f"one more: {node.value}", lambda n: setattr(n, "value", n.value + 1)  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"opposite: {node.value}", lambda n: setattr(n, "value", not n.value)  # type: ignore[attr-defined]


def _flip_comparison(place: int) -> Callable[[ast.AST], None]:
    def flip(node: ast.AST) -> None:
        assert isinstance(node, ast.Compare)
        node.ops[place] = FLIPPED[type(node.ops[place])]()  # type: ignore[call-overload]

    return flip
