"""`RunCount`: the contract of a law of K, the number of runs that a random search makes.

A law is known by its probability generating function f(x) = E[x^K]. The bounds need ln f'
near x = 1, so everything is written in the tail u = 1 - x, where it stays exact. The laws that
there are stand in `privacy.runs`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from honestdp.errors import fail, open_unit, positive_integer
from honestdp.precision import working_precision

if TYPE_CHECKING:  # what draws is compiled; what things cost must not wait for that
    from honestdp.randomness.exact import Uniform

Floats = NDArray[np.float64]

LARGEST_DRAW = 2**20  # a plan that may need more runs is refused


class RunCount(ABC):
    """The law of the number K of runs.

    Your own law derives from this class, is immutable, and compares by identity or by all of its
    fields: prices are cached by law. To be run, and not only priced, it must be a frozen dataclass
    that is registered by `formats.register_law`: ledgers and cards hold its fields.
    """

    def __init_subclass__(cls) -> None:
        """No law derives from another: theorems for Poisson's K do not hold for its children's,
        and an inherited == would not see what a child adds."""
        if any(issubclass(base, RunCount) and base is not RunCount for base in cls.__bases__):
            raise fail("law", cls.__name__, "derive from RunCount itself, not from another law")

    @property
    @abstractmethod
    def mean(self) -> float:
        """E[K] = f'(1)."""

    @property
    def maximum(self) -> int | None:
        """The largest K that can occur; None if there is no limit."""
        return None

    @abstractmethod
    def pgf_tail(self, u: ArrayLike) -> Floats:
        """f(1 - u)."""

    @abstractmethod
    def log_derivative_tail(self, u: ArrayLike) -> Floats:
        """ln f'(1 - u)."""

    @abstractmethod
    def probabilities(self, largest: int) -> Floats:
        """P(K = k) for k = 0 .. largest."""

    def probability_of_none(self) -> float:
        """P(K = 0) = f(0)."""
        return max(0.0, float(self.pgf_tail(1.0)))

    @property
    def may_be_none(self) -> bool:
        """Whether K may be 0, if only with a probability that is too small to be written down."""
        return self.probability_of_none() > 0

    def cumulative(self, k: int) -> Any:
        """P(K <= k) as an mpmath number, at its working precision. By default the sum of
        `probabilities`, as floats, cut at LARGEST_DRAW."""
        if k >= LARGEST_DRAW:
            return mpmath.mpf(1)
        return mpmath.fsum(mpmath.mpf(float(p)) for p in self.probabilities(max(k, 0))[: k + 1])

    def draw_exactly(self, uniform: Uniform) -> int:
        """Draw K: the least k with P(K <= k) > U, for a U of as many bits as that takes.

        Floating point gives a first guess; `cumulative` decides.
        """

        def decide(low: Fraction, high: Fraction, precision: int) -> int | None:
            guess = self.draw(min(max(float(low), 1e-300), 1 - 2.0**-53))
            with working_precision(precision + 64):
                error = mpmath.ldexp(1, -precision)
                return self._settled(guess, _real(low), _real(high), error)

        return uniform.settle(decide)

    def _settled(self, guess: int, low: Any, high: Any, error: Any) -> int | None:
        """The least k whose cumulative probability is above all from low to high; None if that
        is not the same one for all."""
        k = guess
        while k > 0 and self._at(k - 1) - error > low:
            k -= 1
        while self._at(k) + error <= low:
            k += 1
        sure = (k == 0 or self._at(k - 1) + error <= low) and high <= self._at(k) - error
        last = k == self.maximum and (k == 0 or self._at(k - 1) + error <= low)
        return k if sure or last else None

    def _at(self, k: int) -> Any:
        """`cumulative`, and 1 from the maximum on."""
        return (
            mpmath.mpf(1) if self.maximum is not None and k >= self.maximum else self.cumulative(k)
        )

    def draw(self, uniform: float) -> int:
        """K to floating point, from one uniform draw on (0, 1): where the distribution function
        passes it. For simulations; a law without a maximum is cut at LARGEST_DRAW.
        """
        open_unit("uniform", uniform)
        most = LARGEST_DRAW if self.maximum is None else self.maximum
        largest = max(64, 2 * math.ceil(self.mean))
        while True:
            largest = min(largest, most)
            below = _below(self, largest)
            if below[-1] > uniform:
                return int(np.searchsorted(below, uniform, side="right"))
            if largest == most:  # the rounding of the sum, or the cut: the last K that counts
                return int(np.searchsorted(below, below[-1]))
            largest *= 8

    def beyond(self, largest: int) -> float:
        """P(K > largest), or a little more; 0 where K cannot be so large."""
        if self.maximum is not None and self.maximum <= largest:
            return 0.0
        return max(0.0, 1.0 - math.fsum(self.probabilities(largest)))

    def hit_probability(self, candidates: int) -> float:
        """The chance that K uniform draws among `candidates` ever draw one given candidate."""
        k = positive_integer("candidates", candidates)
        return 1.0 - float(self.pgf_tail(1.0 / k))


@lru_cache(maxsize=4)
def _below(law: RunCount, largest: int) -> Floats:
    """P(K <= k) for k = 0 .. largest, of which a search draws many."""
    below: Floats = np.cumsum(law.probabilities(largest))
    below.setflags(write=False)
    return below


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator
