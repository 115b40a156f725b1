"""round(s X) for a true standard normal X and a public scale s, compiled: fast, and never wrong.

The map of Box and Muller (1958), in real numbers: for u and f uniform on (0, 1), independent,
`r = sqrt(-2 ln u)` and an angle of pi/4 f in an octant chosen by three coins give two independent
standard normals, `r cos` and `r sin`. Here u and f are real numbers of which only the first bits
are drawn: 48 of u, 45 of f and the three coins, 96 bits for two normals. From their middle point
float64 arithmetic gives y, near s X for *every* X that the drawn bits leave open:

    |y - s X| <= E = s (2^-45 r + cell),    cell >= 2^-48 (1 + 2^-7) / (u r).

Where no half-integer lies within E of y, round(s X) = round(y) for certain, whatever the bits
that were not drawn. Else the pair is *in doubt*: the caller draws more bits and decides with as
many digits as it takes (`exact.normal_pair`). So the result is round(s X), X exactly normal,
without an end of the tail; given uniform bits there is no error at all, however rare.

Proof of E. The cells are |u' - u| <= 2^-49, |f' - f| <= 2^-46; let u >= 2^-40 (else in doubt).
- -2 ln u' differs from -2 ln u by at most 2 * 2^-49 / (u - 2^-49) <= 2^-48 (1 + 2^-8)/u, and
  r' - r is that over r + r' >= r: at most 2^-48 (1 + 2^-8) / (u r).
- cell is made from bits. Those of a positive float64 x, read as a whole number, are
  2^52 (1023 + l(x)), l(x) <= log2 x <= l(x) + 0.09: l joins log2 at the powers of two by straight
  lines. cell has l(cell) = l(2^-48 (1 + 2^-6)) - l(u) - l(r), so it is at least
  2^(-48 + 2^-6) / (u r) > 2^-48 (1 + 2^-7) / (u r), and less than 1.3 * 2^-48 / (u r).
- The angle differs by at most pi/4 2^-46, so cosine and sine by less than 0.3927 * 2^-45.
- minus_two_log errs by 2^-47 relatively, so r by 2^-48; the roots, products and polynomials round
  some 20 times at 2^-53, together below 2^-48. The polynomials miss cosine and sine by less than
  2^-48 (`economized` says by how much, and the import fails otherwise). In all 3 * 2^-48 < 2^-46 of
  r, so with the angle below 0.9 * 2^-45.
- What is tested is |x - whole| < 1/2 - E, in three roundings of numbers up to 1/2: 2^-52 in all. It
  matters where a half-integer is near, so s r > 1/4, and is there below 2^-5 of E's first term.
- The second-order terms are below 2^-8 of the first, and both terms have that room.
Adding 1.5 * 2^52 rounds to a whole number below 2^51; beyond, E > 1/2, and the pair is in doubt.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from numba import int64, uint32, uint64

from honestdp.compiled import compiled_fused, compiled_fused_inline
from honestdp.instructions import fused_multiply_add, prefer_wide_vectors
from honestdp.precision import working_precision
from honestdp.randomness.chacha import BLOCKS, TILE, fill_tile
from honestdp.randomness.logarithm import minus_two_log
from honestdp.randomness.polynomials import economized

PAIRS = TILE  # pairs of normals in a group: three tiles of words
GROUP = 2 * PAIRS  # normals in a group: a pair's cosine, and PAIRS further on its sine
TILES = 3
RADIUS_BITS, ANGLE_BITS = 48, 45
LEAST_RADIUS_UNIFORM = 2.0**-40  # below, a pair is in doubt
RELATIVE_ERROR = 2.0**-45
_ONE = 0x3FF0000000000000  # the bits of 1.0
_SHIFT = 1.5 * 2.0**52
_SIGN = -(2**63)
# The bits of 2^-48 (1 + 2^-6), and twice those of 1.0: what cell's are made from.
_CELL = (3 * 1023 - 48 << 52) + (1 << 46)


def _polynomial(odd: int, degree: int) -> tuple[float, ...]:
    """In z = f^2, for cos(pi f / 4), or where odd is 1 for sin(pi f / 4) / f."""
    with working_precision(200):
        series = [
            (-1) ** k * (mpmath.pi / 4) ** (2 * k + odd) / math.factorial(2 * k + odd)
            for k in range(30)
        ]
    found, error = economized(series, 1.0, degree)
    assert error < 2.0**-48
    return found


_C0, _C1, _C2, _C3, _C4, _C5, _C6 = _polynomial(0, 6)
_S0, _S1, _S2, _S3, _S4, _S5 = _polynomial(1, 5)


@compiled_fused
def round_normals(words: Any, scale: Any, out: Any, doubt: Any) -> Any:
    """One group: words[TILES * TILE] to whole numbers out[GROUP], in float64; doubt[pair] says
    which pairs are not settled. Returns whether there are any."""
    prefer_wide_vectors()
    settled = int64(-1)
    for i in range(PAIRS):
        a, b, c = words[i], words[i + PAIRS], words[i + 2 * PAIRS]
        sure, out[i], out[i + PAIRS] = _round_pair(a, b, c, scale)
        settled &= sure
    if settled < 0:
        doubt[:] = False
        return False
    for i in range(PAIRS):  # seldom, so it costs less than to write it down every time
        a, b, c = words[i], words[i + PAIRS], words[i + 2 * PAIRS]
        doubt[i] = _round_pair(a, b, c, scale)[0] >= 0
    return True


@compiled_fused_inline
def _round_pair(a: Any, b: Any, c: Any, scale: Any) -> Any:
    """Three words to a number that is negative where the pair is settled, and the pair."""
    high = uint64(a) << uint64(20)
    low = uint64(c & uint32(0xFFFF)) << uint64(4)
    u = np.uint64(high | low | uint64(8 | _ONE)).view(np.float64) - 1.0
    high = uint64(b & uint32(0x1FFFFFFF)) << uint64(23)
    low = uint64(c >> uint32(16)) << uint64(7)
    f = np.uint64(high | low | uint64(64 | _ONE)).view(np.float64) - 1.0
    r = np.sqrt(minus_two_log(u))
    z = f * f
    cosine = _C0 + z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6)))))
    sine = f * (_S0 + z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * _S5)))))
    reach = scale * r
    whole_x = fused_multiply_add(reach, cosine, _SHIFT) - _SHIFT
    whole_y = fused_multiply_add(reach, sine, _SHIFT) - _SHIFT
    off_x = abs(fused_multiply_add(reach, cosine, -whole_x))
    off_y = abs(fused_multiply_add(reach, sine, -whole_y))
    bits = np.float64(u).view(np.uint64) + np.float64(r).view(np.uint64)
    cell = np.uint64(uint64(_CELL) - bits).view(np.float64)
    room = 0.5 - scale * cell - reach * RELATIVE_ERROR
    beyond = (off_x if off_x > off_y else off_y) - room
    # Two numbers are both negative where their bits, and-ed, are those of a negative one.
    sure = np.float64(beyond).view(np.int64) & np.float64(LEAST_RADIUS_UNIFORM - u).view(np.int64)
    sign_x, sign_y = int64(b) << int64(32), int64(b) << int64(33)
    whole_x = np.int64(np.float64(whole_x).view(np.int64) ^ sign_x & int64(_SIGN)).view(np.float64)
    whole_y = np.int64(np.float64(whole_y).view(np.int64) ^ sign_y & int64(_SIGN)).view(np.float64)
    swapped = (b & uint32(0x20000000)) != 0
    return sure, whole_y if swapped else whole_x, whole_x if swapped else whole_y


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
