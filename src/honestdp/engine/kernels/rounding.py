"""Products rounded to whole numbers in one addition: a rounded sum is as fast as a plain one.

A product is rounded once, by an explicit fused multiply-add, wherever it is computed: what a row
adds must not depend on whether the compiler fuses in one loop and not in another. Nothing here may
be reassociated either: (z * x) * factor in place of (z * factor) * x could overflow on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32

from honestdp.compiled import compiled
from honestdp.instructions import fused_multiply_add

# 1.5 * 2^23: between 2^23 and 2^24 the float32 numbers are the whole ones, so adding it rounds to
# the nearest, ties to even, and the low bits are the result. Right for |x| <= 2^22.
SHIFT = np.float32(12582912.0)
SHIFT_BITS = 0x4B400000
EIGHT_SHIFTS = np.int32(8 * SHIFT_BITS % 2**32)  # int32 wraps around, and so do sums of bits


@compiled
def round_bits(a: Any, b: Any) -> Any:
    """The bits of a * b + SHIFT: round(a * b) + SHIFT_BITS, as int32. Sums of them may wrap around;
    taking SHIFT_BITS away as often as there were terms gives the sum of the whole numbers."""
    return np.float32(fused_multiply_add(float32(a), float32(b), SHIFT)).view(np.int32)


@compiled
def rounded_product(a: Any, b: Any) -> Any:
    """round(a * b) as int32, for |a * b| <= 2^22."""
    return int32(round_bits(a, b) - int32(SHIFT_BITS))


@compiled
def rounded(x: Any) -> Any:
    """round(x) as int32, for |x| <= 2^22."""
    return rounded_product(x, float32(1))


@compiled
def eight_rounded_products(a: Any, b: Any) -> Any:
    """The sum of round(a[i] * b[i]) of two tuples of eight, as int32."""
    left = int32(
        round_bits(a[0], b[0]) + round_bits(a[1], b[1]) + round_bits(a[2], b[2])
        + round_bits(a[3], b[3])
    )  # fmt: skip
    right = int32(
        round_bits(a[4], b[4]) + round_bits(a[5], b[5]) + round_bits(a[6], b[6])
        + round_bits(a[7], b[7])
    )  # fmt: skip
    return int32(int32(left + right) - EIGHT_SHIFTS)
