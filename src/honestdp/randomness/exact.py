"""Random numbers whose law is exactly the stated one: bits are drawn until the result is certain.

A uniform real number U is known by its first bits, so it lies in an interval that every bit halves.
Whatever is made of U (a whole number, a yes or no) is computed for both ends of the interval, with
error bounds, and more bits are drawn until the two agree. Nothing is ever rounded to the nearest
case, so given uniform bits the law has no error, in the tails neither. How many bits it takes
depends on the bits alone.

Everything here is for draws that are few, or that fast arithmetic leaves in doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import mpmath

from honestdp.precision import working_precision
from honestdp.randomness.normal import ANGLE_BITS, RADIUS_BITS

Result = TypeVar("Result")
FIRST_BITS, MOST_BITS = 64, 1 << 16
GUARD = 40  # bits of working precision beyond those of the interval


class Uniform:
    """A real number, uniform on (0, 1), whose bits are drawn as they are needed.

    bits(count): its first `count` bits as a whole number; asked with growing counts.
    """

    def __init__(self, bits: Callable[[int], int]) -> None:
        self._bits = bits

    def settle(self, decide: Callable[[Fraction, Fraction, int], Result | None]) -> Result:
        """What `decide(low, high, precision)` says once it is not None: the interval's ends, and
        a working precision in bits that suits it."""
        count = FIRST_BITS
        while count <= MOST_BITS:
            first = self._bits(count)
            low, high = Fraction(first, 1 << count), Fraction(first + 1, 1 << count)
            found = decide(low, high, count + GUARD)
            if found is not None:
                return found
            count *= 2
        raise RuntimeError(f"a draw was not settled by {MOST_BITS} random bits")  # chance 2^-65000

    def below(self, probability: float | Fraction) -> bool:
        """Whether U < probability: a coin of exactly this probability."""
        goal = Fraction(probability)

        def decide(low: Fraction, high: Fraction, _: int) -> bool | None:
            return True if high <= goal else False if low >= goal else None

        return self.settle(decide)

    def index(self, count: int) -> int:
        """A whole number from 0 to count - 1, all with the same probability."""

        def decide(low: Fraction, high: Fraction, _: int) -> int | None:
            first, last = math.floor(low * count), math.ceil(high * count) - 1
            return first if first == last else None

        return self.settle(decide)

    def geometric(self, probability: float) -> int:
        """How many tails a coin shows before its first head: floor(ln U / ln(1 - probability))."""
        if probability == 1:
            return 0

        def decide(low: Fraction, high: Fraction, precision: int) -> int | None:
            if low == 0:
                return None
            with working_precision(precision + 64):
                per_toss = mpmath.log1p(-mpmath.mpf(probability))
                least, most = (mpmath.log(_real(end)) / per_toss for end in (high, low))
                return _floor_of(least, most, precision)

        return self.settle(decide)

    def gumbel(self, scale: float) -> int:
        """floor(scale * G), G = -ln(-ln U) of Gumbel's law."""

        def decide(low: Fraction, high: Fraction, precision: int) -> int | None:
            if low == 0 or high == 1:
                return None
            with working_precision(precision + 64):
                least, most = (-scale * mpmath.log(-mpmath.log(_real(end))) for end in (low, high))
                return _floor_of(least, most, precision)

        return self.settle(decide)


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def _floor_of(least: Any, most: Any, precision: int) -> int | None:
    """floor(x) where it is the same for all x from `least` to `most`, each known to `precision`
    bits; else None."""
    room = mpmath.ldexp(1 + abs(most), -precision)
    low, high = int(mpmath.floor(least - room)), int(mpmath.floor(most + room))
    return low if low == high else None


def normal_pair(scale: float, words: Sequence[int], more: Callable[[int], tuple[int, int]]) -> Any:
    """The two whole numbers that `normal.round_normals` left in doubt, (cosine's, sine's).

    words: the pair's three words. more(count): `count` bits more of u and as many of f.
    """
    a, b, c = (int(word) for word in words)
    radius, angle = a << 16 | c & 0xFFFF, (b & 0x1FFFFFFF) << 16 | c >> 16
    count = 32
    while count <= MOST_BITS:
        u_more, f_more = more(count)
        u, f = radius << count | u_more, angle << count | f_more
        found = _rounded(scale, u, RADIUS_BITS + count, f, ANGLE_BITS + count)
        if found is not None:
            x, y = found
            x, y = (-x if b >> 31 & 1 else x), (-y if b >> 30 & 1 else y)
            return (y, x) if b >> 29 & 1 else (x, y)
        count *= 2
    raise RuntimeError(f"a normal was not settled by {MOST_BITS} random bits")


def _rounded(scale: float, u: int, u_bits: int, f: int, f_bits: int) -> tuple[int, int] | None:
    """round(scale r cos) and round(scale r sin), if they are the same all over the cell."""
    if u == 0:
        return None
    precision = max(u_bits, f_bits) + 80
    with working_precision(precision):
        far, near = (
            mpmath.sqrt(-2 * mpmath.log(mpmath.ldexp(end, -u_bits))) * scale for end in (u, u + 1)
        )  # the radius falls as u grows
        first, last = (mpmath.pi / 4 * mpmath.ldexp(end, -f_bits) for end in (f, f + 1))
        half = mpmath.mpf(0.5)
        # Working precision is 80 bits beyond the cell's: 64 of them are more than enough.
        kept = precision - 16 - max(0, math.frexp(scale)[1])
        x = _floor_of(near * mpmath.cos(last) + half, far * mpmath.cos(first) + half, kept)
        y = _floor_of(near * mpmath.sin(first) + half, far * mpmath.sin(last) + half, kept)
    return None if x is None or y is None else (x, y)
