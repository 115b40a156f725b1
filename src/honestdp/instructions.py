"""What a CPU can do and numba has no name for."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def fused_multiply_add(context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once; all three float32 or all three float64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    known = a == b == c and a in (types.float32, types.float64)
    return (a(a, b, c), generate) if known else None


@intrinsic
def prefer_wide_vectors(context: Any) -> Any:
    """Loops of the function that calls this use vectors of 512 bits, where the CPU has them.

    LLVM by itself uses half of such a register, since the first CPUs that had them ran slower with
    the whole. It is a preference: on other CPUs nothing changes, and no result depends on it in
    code whose sums may not be reordered.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Not `attributes.add`, which knows none of LLVM's attributes that have a value.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate
