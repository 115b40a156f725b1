"""What is asked of every row before the search, with noise: bounds, bin edges, row norms.

Each question is one or more histograms of all rows. A record is in at most one bin of each, so
replacing it by a null record changes one count by one; a histogram with noise of standard deviation
s costs one `Gaussian(s)`. Every record answers all of them, whatever its role in the search.

How much each may use is a share of the budget's precision: a budget of (epsilon, delta) is that
of a Gaussian with some noise s, 1/s^2 is its precision, and precisions of Gaussians add up. A
share of 0.05 for four histograms means noise of s sqrt(4 / 0.05) for each. The search gets what
is left, composed tightly with the questions (`role_costs.priced_after`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from honestdp.errors import InputError
from honestdp.privacy.events import Composition, Event, Gaussian, Repeated
from honestdp.units import LARGEST_NOISE


@dataclass(frozen=True)
class Question:
    """Noisy histograms of all rows.

    what: What is learnt, in words. columns: A histogram for each; a question about whole rows
    names none and has one. noise_multiplier: Of each histogram.
    """

    what: str
    columns: tuple[str, ...]
    noise_multiplier: float

    def __post_init__(self) -> None:
        if self.noise_multiplier > LARGEST_NOISE:
            remedy = f"needs noise above {LARGEST_NOISE:g} for {self.what}; raise it, or epsilon"
            raise InputError(f"learn_share: {remedy}")

    @property
    def event(self) -> Event:
        """What the histograms cost together."""
        return Repeated(Gaussian(self.noise_multiplier), max(1, len(self.columns)))


@dataclass(frozen=True)
class Questions:
    """The questions of a plan. learning: About columns. norms: About the norms of rows."""

    learning: Question | None
    norms: Question | None

    @property
    def event(self) -> Event | None:
        """What all of them cost together; None if nothing is asked."""
        asked = [one.event for one in (self.learning, self.norms) if one is not None]
        return Composition(*asked) if asked else None


def share_of(share: float, histograms: int, epsilon: float, delta: float) -> float:
    """The noise multiplier of each of several histograms that use a share of a budget."""
    return math.sqrt(histograms / share) / gaussian_mu(epsilon, delta)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest sensitivity over noise at which a Gaussian mechanism is (epsilon, delta)-DP.

    delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle & Wang 2018, Theorem
    8), solved for mu. It divides a budget into shares, and is no part of a guarantee.
    """

    def excess(log_mu: float) -> float:
        mu = math.exp(log_mu)
        less = math.exp(min(epsilon + float(log_ndtr(-mu / 2 - epsilon / mu)), 0.0))
        return float(ndtr(mu / 2 - epsilon / mu)) - less - delta

    return math.exp(brentq(excess, math.log(1e-9), math.log(1e4), xtol=1e-6))
