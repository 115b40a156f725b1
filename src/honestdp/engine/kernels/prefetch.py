"""Asking for memory before it is needed: the one instruction numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def prefetch(context: Any, array: Any, index: Any) -> Any:
    """Starts to load the cache line of array[index], and goes on. Changes no result; the index
    must lie in the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        held = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(
            context, builder, kind, held, [arguments[1]], wraparound=False, boundscheck=False
        )
        word, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [pointer, word, word, word]),
            "llvm.prefetch.p0",
        )
        # to read (0), keep in all caches (3), data (1)
        how = [ir.Constant(word, value) for value in (0, 3, 1)]
        builder.call(function, [builder.bitcast(place, pointer), *how])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
