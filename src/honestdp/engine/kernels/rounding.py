"""Products rounded to whole numbers in one addition: a rounded sum is as fast as a plain one.

Compiled without the right to reassociate: a compiler that may multiply (z * x) * factor in place of
(z * factor) * x could overflow on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32

from honestdp.compiled import compiled_fused

# 1.5 * 2^23: between 2^23 and 2^24 the float32 numbers are the whole ones, so adding it rounds to
# the nearest, ties to even, and the low bits are the result. Right for |x| <= 2^22.
SHIFT = np.float32(12582912.0)
SHIFT_BITS = 0x4B400000
EIGHT_SHIFTS = np.int32(8 * SHIFT_BITS % 2**32)  # as far as int32 counts


@compiled_fused
def shifted(a: Any, b: Any) -> Any:
    """The bits of a * b + SHIFT: round(a * b) + SHIFT_BITS, as int32. Sums of them may wrap around;
    taking SHIFT_BITS away as often as there were terms gives the sum of the whole numbers."""
    return np.float32(float32(a) * float32(b) + SHIFT).view(np.int32)


@compiled_fused
def rounded_product(a: Any, b: Any) -> Any:
    """round(a * b) as int32, for |a * b| <= 2^22."""
    return int32(shifted(a, b) - int32(SHIFT_BITS))


@compiled_fused
def rounded(x: Any) -> Any:
    """round(x) as int32, for |x| <= 2^22."""
    return rounded_product(x, float32(1))
