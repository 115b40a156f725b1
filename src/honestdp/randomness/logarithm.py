"""The natural logarithm, compiled, with an error bound that is proved and not measured.

`natural_log(u)` for a float64 u in (0, 1): |natural_log(u) - ln u| <= LOG_ERROR * |ln u|.

Proof. Write u = m 2^e with m in [sqrt(1/2), sqrt(2)) and g = (m - 1)/(m + 1), so |g| < 0.1716 and
ln m = 2 atanh g = 2g + (2/3) g^3 + (2/5) g^5 + ... With v = 2^-53:
- The series is cut after g^19. What is left is below 2 g^21/(21 (1 - g^2)), which is below
  2.5e-17 of 2 |g|.
- m - 1 is exact (Sterbenz), m + 1 and the quotient round once each: g carries 2v. The terms above
  2g are below 0.01 of it, so their own roundings (some 30) add 0.3v. Three multiplications and
  additions more: 6v in all, of |ln m| <= ln(2)/2.
- e ln 2 is added as e*HIGH + e*LOW. HIGH has 32 bits, so e*HIGH is exact; e*LOW is below 2^-30 of
  the sum. Two roundings of at most v each, of numbers no larger than |e| ln 2 + |ln m|.
- Where e = 0 nothing is added, and the bound is 6v. Else |ln u| >= ln(2)/2, while |e| ln 2 + |ln m|
  <= 3 |ln u|: at most 3 (6v + 2v) = 24v. Doubled for good measure: LOG_ERROR = 2^-47.
A fused multiply-add rounds less often than is counted here, so contraction may stay on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from honestdp.compiled import compiled_fused

LOG_ERROR = 2.0**-47
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_HIGH, _LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # ln 2 in two parts


@compiled_fused
def natural_log(u: Any) -> Any:
    """ln u for a float64 between 0 and 1, both excluded; see the module for its error."""
    bits = np.float64(u).view(np.int64)
    exponent = (bits - int64(_ROOT_HALF)) >> 52
    m = np.int64(bits - (exponent << 52)).view(np.float64)
    e = float64(exponent)
    g = (m - 1.0) / (m + 1.0)
    s = g * g
    p = 2 / 19.0
    p = p * s + 2 / 17.0
    p = p * s + 2 / 15.0
    p = p * s + 2 / 13.0
    p = p * s + 2 / 11.0
    p = p * s + 2 / 9.0
    p = p * s + 2 / 7.0
    p = p * s + 2 / 5.0
    p = p * s + 2 / 3.0
    return (g * 2.0 + (g * s * p + e * _LOW)) + e * _HIGH
