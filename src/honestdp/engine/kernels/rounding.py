"""Rounding to whole numbers in one addition, so that a rounded sum is as fast as a plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32

from honestdp.compiled import compiled_fast

# 1.5 * 2^23: between 2^23 and 2^24 the float32 numbers are the whole ones, so adding it rounds to
# the nearest, ties to even, and the low bits are the result. Right for |x| <= 2^22.
SHIFT = np.float32(12582912.0)
SHIFT_BITS = 0x4B400000


@compiled_fast
def shifted(x: Any) -> Any:
    """The bits of x + SHIFT: round(x) + SHIFT_BITS, as int32. Sums of them may wrap around; taking
    SHIFT_BITS away as often as there were terms gives the sum of the whole numbers."""
    return np.float32(float32(x) + SHIFT).view(np.int32)


@compiled_fast
def rounded(x: Any) -> Any:
    """round(x) as int32, for |x| <= 2^22."""
    return int32(shifted(x) - int32(SHIFT_BITS))
