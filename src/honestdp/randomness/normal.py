"""round(s X) for a true standard normal X and a public scale s, compiled: fast, and never wrong.

The map of Box and Muller (1958), in real numbers: for u and f uniform on (0, 1), independent,
`r = sqrt(-2 ln u)` and an angle of pi/4 f in an octant chosen by three coins give two independent
standard normals, `r cos` and `r sin`. Here u and f are real numbers of which only the first bits
are drawn: 48 of u, 45 of f and the three coins, 96 bits for two normals. From their middle point
float64 arithmetic gives y, near s X for *every* X that the drawn bits leave open:

    |y - s X| <= E = s (2^-45 r + 2^-47 / (u r)).

Where no half-integer lies within E of y, round(s X) = round(y) for certain, whatever the bits
that were not drawn. Else the pair is *in doubt*: the caller draws more bits and decides with as
many digits as it takes (`exact.normal_pair`). So the result is round(s X), X exactly normal,
without an end of the tail; given uniform bits there is no error at all, however rare.

Proof of E. The cells are |u' - u| <= 2^-49, |f' - f| <= 2^-46; let u >= 2^-40 (else in doubt).
- -2 ln u' differs from -2 ln u by at most 2 * 2^-49 / (u - 2^-49) <= 2^-48 (1 + 2^-8)/u, and
  r' - r is that over r + r' >= r: at most 2^-48 (1 + 2^-8) / (u r), below half of the second term,
  which is taken with u and r at the powers of two below them.
- The angle differs by at most pi/4 2^-46, so cosine and sine by less than 0.3927 * 2^-45.
- natural_log errs by 2^-47 relatively, so r by 2^-48; the roots, products and polynomials round
  some 20 times at 2^-53, together below 2^-48. The polynomials are Taylor's, cut after f^14
  (cosine) and f^15 (sine): below 2^-49. In all 2^-46 of r, so with the angle below 0.9 * 2^-45.
- The second-order terms are below 2^-8 of the first, and both terms have that room.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from numba import int64, uint32, uint64

from honestdp.compiled import compiled_fused
from honestdp.precision import working_precision
from honestdp.randomness.chacha import BLOCKS, TILE, fill_tile
from honestdp.randomness.logarithm import natural_log

PAIRS = TILE  # pairs of normals in a group: three tiles of words
GROUP = 2 * PAIRS  # normals in a group: a pair's cosine, and PAIRS further on its sine
TILES = 3
RADIUS_BITS, ANGLE_BITS = 48, 45
LEAST_RADIUS_UNIFORM = 2.0**-40  # below, a pair is in doubt
RELATIVE_ERROR = 2.0**-45
_ONE = 0x3FF0000000000000  # the bits of 1.0


def _taylor(power: int) -> float:
    """The coefficient of f^power in the series of cos(pi f / 4) + sin(pi f / 4)."""
    with working_precision(120):
        sign = -1 if power % 4 in (2, 3) else 1
        return float(sign * (mpmath.pi / 4) ** power / math.factorial(power))


_C2, _C4, _C6, _C8, _C10, _C12, _C14 = (_taylor(power) for power in range(2, 15, 2))
_S1, _S3, _S5, _S7, _S9, _S11, _S13, _S15 = (_taylor(power) for power in range(1, 16, 2))


@compiled_fused
def round_normals(words: Any, scale: Any, out: Any, doubt: Any) -> Any:
    """One group: words[TILES * TILE] to whole numbers out[GROUP], in float64; doubt[pair] says
    which pairs are not settled. Returns whether there are any."""
    for i in range(PAIRS):
        a, b, c = words[i], words[i + PAIRS], words[i + 2 * PAIRS]
        high = uint64(a) << uint64(20)
        low = uint64(c & uint32(0xFFFF)) << uint64(4)
        u = np.uint64(high | low | uint64(8 | _ONE)).view(np.float64) - 1.0
        high = uint64(b & uint32(0x1FFFFFFF)) << uint64(23)
        low = uint64(c >> uint32(16)) << uint64(7)
        f = np.uint64(high | low | uint64(64 | _ONE)).view(np.float64) - 1.0
        r = np.sqrt(-2.0 * natural_log(u))
        z = f * f
        cosine = 1.0 + z * (_C2 + z * (_C4 + z * (_C6 + z * (
            _C8 + z * (_C10 + z * (_C12 + z * _C14))))))  # fmt: skip
        sine = f * (_S1 + z * (_S3 + z * (_S5 + z * (_S7 + z * (
            _S9 + z * (_S11 + z * (_S13 + z * _S15)))))))  # fmt: skip
        reach = scale * r
        x, y = reach * cosine, reach * sine
        whole_x, whole_y = np.rint(x), np.rint(y)
        # 2^(-47 - exponent of u - exponent of r), by its bits
        exponents = (np.float64(u).view(np.uint64) >> uint64(52)) + (
            np.float64(r).view(np.uint64) >> uint64(52)
        )
        cell = np.uint64((uint64(3 * 1023 - 47) - exponents) << uint64(52)).view(np.float64)
        room = 0.5 - (reach * RELATIVE_ERROR + scale * cell)
        doubt[i] = not (
            (abs(x - whole_x) < room) & (abs(y - whole_y) < room) & (u >= LEAST_RADIUS_UNIFORM)
        )
        sign_x = np.int64(int64(b) << int64(32)) & int64(-(2**63))
        sign_y = np.int64(int64(b) << int64(33)) & int64(-(2**63))
        whole_x = np.int64(np.float64(whole_x).view(np.int64) ^ sign_x).view(np.float64)
        whole_y = np.int64(np.float64(whole_y).view(np.int64) ^ sign_y).view(np.float64)
        swapped = (b & uint32(0x20000000)) != 0
        out[i] = whole_y if swapped else whole_x
        out[i + PAIRS] = whole_x if swapped else whole_y
    found = False
    for i in range(PAIRS):
        found |= doubt[i]
    return found


@compiled_fused
def fill_normals(
    key: Any, purpose: Any, candidate: Any, step: Any, group: Any, scale: Any,
    words: Any, out: Any, doubt: Any,
) -> Any:  # fmt: skip
    """The group'th GROUP of round(scale * X) of a stream into out, as `round_normals`; words is
    work space of TILES * TILE words."""
    tiles = words.reshape(TILES, 16, BLOCKS)
    for tile in range(TILES):
        first = uint32((group * TILES + tile) * BLOCKS)
        fill_tile(key, purpose, candidate, step, first, tiles[tile])
    return round_normals(words, scale, out, doubt)
