"""The natural logarithm, compiled, with an error bound that is proved and not measured.

`minus_two_log(u)` for a float64 u in (0, 1): |minus_two_log(u) + 2 ln u| <= LOG_ERROR * |2 ln u|,
and `natural_log` likewise, half of it with the other sign (which is exact).

Proof. Write u = m 2^e with m in [sqrt(1/2), sqrt(2)) and g = (m - 1)/(m + 1), so s = g^2 < 0.02944
and -2 ln m = -4 atanh g = g (-4 - 4/3 s - 4/5 s^2 - ...). With v = 2^-53:
- The series in s is a polynomial of degree 7, which misses it by less than 2^-53 (`economized`
  says by how much, and the import fails otherwise): v/4 of it, as it is above 4.
- m - 1 is exact (Sterbenz), m + 1 and the quotient round once each: g carries 2v. The terms above
  -4 are below 0.011, so their own roundings (some 30) add 0.1v; adding -4 and multiplying by g
  round once each. With the polynomial 5v, of |2 ln m|.
- -2 ln 2 is within v of its float64, and its product with e rounds once: 2v, of |e| 2 ln 2.
- Their sum rounds once: v.
- Where e = 0 that is 6v. Else |ln m| <= ln(2)/2 <= |ln u|, so |e| ln 2 <= 2 |ln u|: at most
  5v + 4v + v = 10v. LOG_ERROR = 2^-47 = 64v leaves room.
A fused multiply-add rounds less often than is counted here, so contraction may stay on.

The bits are taken apart by operations that every CPU has for vectors: t holds e + 1024 in its
first twelve bits, and behind them how far the bits of m are above those of sqrt(1/2).
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from numba import uint64

from honestdp.compiled import compiled_fused
from honestdp.precision import working_precision
from honestdp.randomness.polynomials import economized

LOG_ERROR = 2.0**-47
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_LARGEST_SQUARE = 0.02944  # of g
_MINUS_TWO_LOG_2 = -1.3862943611198906
_MANTISSA = (1 << 52) - 1
_BIAS = 1024
_WHOLE = 0x4330000000000000  # the bits of 2^52, from where on float64 numbers are whole


def _polynomial() -> tuple[float, ...]:
    """For -4 atanh(g) / g, in s = g^2."""
    with working_precision(200):
        series = [mpmath.mpf(-4) / (2 * k + 1) for k in range(40)]
    found, error = economized(series, _LARGEST_SQUARE, 7)
    assert error < 2.0**-53
    return found


_P0, _P1, _P2, _P3, _P4, _P5, _P6, _P7 = _polynomial()


@compiled_fused
def minus_two_log(u: Any) -> Any:
    """-2 ln u for a float64 between 0 and 1, both excluded; see the module for its error."""
    t = np.float64(u).view(np.uint64) + uint64((_BIAS << 52) - _ROOT_HALF)
    m = np.uint64((t & uint64(_MANTISSA)) + uint64(_ROOT_HALF)).view(np.float64)
    e = np.uint64((t >> uint64(52)) | uint64(_WHOLE)).view(np.float64) - (2.0**52 + _BIAS)
    g = (m - 1.0) / (m + 1.0)
    s = g * g
    p = _P0 + s * (_P1 + s * (_P2 + s * (_P3 + s * (_P4 + s * (_P5 + s * (_P6 + s * _P7))))))
    return g * p + e * _MINUS_TWO_LOG_2


@compiled_fused
def natural_log(u: Any) -> Any:
    """ln u for a float64 between 0 and 1, both excluded; see the module for its error."""
    return -0.5 * minus_two_log(u)
