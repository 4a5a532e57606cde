"""
How the kernel is compiled: without the interpreter's lock, without reference counts, kept on disk.

The compiled code of an earlier run is used again, so that only the first one waits for the compiler.
"""

from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from models.engine import cache

config.CACHE_DIR = str(cache.folder())


def compiled(function: Any) -> Any:
    """
    Compile a loop. Every array belongs to the caller: counting references each time one is named would cost
    more than the work.
    """
    return njit(cache=True, nogil=True, error_model="numpy", _nrt=False)(function)


def inlined(function: Any) -> Any:
    """Compile a part of a loop into it: a call would hand over every array of the program."""
    return njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)(function)


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Ask for a cache line before it is needed."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        element = builder.gep(made.data, [arguments[1]])
        byte = builder.bitcast(element, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.type, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [byte, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), build


@intrinsic  # type: ignore[untyped-decorator]
def lowest(typing: Any, bits: Any) -> Any:
    """The number of the lowest bit that is set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), build
