"""Short polynomials in place of long power series, with an error that is proved.

A power series is written in Chebyshev polynomials of [0, top], which never leave [-1, 1] there, and
cut. What is cut is at most the sum of its coefficients' sizes. For the same error this takes one to
three terms fewer than to cut the power series itself (Lanczos 1938).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath

from honestdp.precision import working_precision

_PRECISION = 200


def economized(series: Sequence[Any], top: float, degree: int) -> tuple[tuple[float, ...], float]:
    """A polynomial of float64 coefficients for a power series on [0, top].

    Args:
        series: The coefficients of z^0, z^1, ... as mpmath has them; those that are left out must
            be too small to matter.
        top: Where the interval ends.
        degree: That of the polynomial, at least 1.

    Returns:
        The polynomial's coefficients, from z^0 on, and a bound on |polynomial - series| for every z
        of the interval: what was cut, and the rounding of the coefficients to float64.

    Example:
        >>> (c0, c1), error = economized([1, 1, mpmath.mpf(1) / 2, mpmath.mpf(1) / 6], 0.5, 1)
        >>> error < 0.05  # the series itself, cut after z, would miss by 0.15
        True
    """
    with working_precision(_PRECISION):
        terms = _in_chebyshev(series, mpmath.mpf(top))
        powers = _in_powers(terms[: degree + 1], mpmath.mpf(top))
        found = tuple(float(power) for power in powers)
        cut = sum(abs(term) for term in terms[degree + 1 :])
        rounded = sum(
            abs(power - near) * mpmath.mpf(top) ** k
            for k, (power, near) in enumerate(zip(powers, found, strict=True))
        )
        return found, math.nextafter(float(cut + rounded), math.inf)


def _in_chebyshev(series: Sequence[Any], top: Any) -> list[Any]:
    """Coefficients of T_0, T_1, ... on [0, top]. There z = top cos(t/2)^2 and T_j = cos(j t), and
    cos(t/2)^(2k) = 4^-k sum_j C(2k, k - j) cos(j t) over j from -k to k."""
    found = [mpmath.mpf(0)] * len(series)
    for k, coefficient in enumerate(series):
        for j in range(k + 1):
            ways = math.comb(2 * k, k - j) * (2 if j else 1)
            found[j] += coefficient * (top / 4) ** k * ways
    return found


def _in_powers(terms: Sequence[Any], top: Any) -> list[Any]:
    """Coefficients of z^0, z^1, ... by T_(j+1) = 2 (2z/top - 1) T_j - T_(j-1)."""
    found = [mpmath.mpf(0)] * len(terms)
    below, here = [mpmath.mpf(0)], [mpmath.mpf(1)]
    for j, term in enumerate(terms):
        for k, power in enumerate(here):
            found[k] += term * power
        factor = 2 if j else 1  # T_1 = (2z/top - 1) T_0
        above = [mpmath.mpf(0)] * (len(here) + 1)
        for k, power in enumerate(here):
            above[k] -= factor * power
            above[k + 1] += factor * 2 / top * power
        for k, power in enumerate(below if j else ()):
            above[k] -= power
        below, here = here, above
    return found
