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
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from honestdp.errors import InputError
from honestdp.privacy.events import Composition, Event, Gaussian, Repeated
from honestdp.units import LARGEST_NOISE

Asked = TypeVar("Asked", bound="Question")


@dataclass(frozen=True)
class Question(ABC):
    """What is asked of every row with Gaussian noise; one class a question.

    noise_multiplier: The noise of each answer over what one record can change of it.

    Attributes:
        name: Its name in `Questions`.
        what: What is learnt, in words.
        share: The name of the option that gives its share of the budget.
        mechanism: How it is answered, in words for the card.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    share: ClassVar[str] = "learn_share"
    mechanism: ClassVar[str] = "a histogram of all rows for each, with Gaussian noise"
    noise_multiplier: float

    def __post_init__(self) -> None:
        if self.noise_multiplier > LARGEST_NOISE:
            remedy = f"needs noise above {LARGEST_NOISE:g} for {self.what}; raise it, or epsilon"
            raise InputError(f"{self.share}: {remedy}")

    @property
    def event(self) -> Event:
        """What it costs; by default one Gaussian."""
        return Gaussian(self.noise_multiplier)

    @property
    @abstractmethod
    def line(self) -> str:
        """The line of a plan."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it is about, in words for the card."""

    @abstractmethod
    def public(self) -> dict[str, Any]:
        """What `Plan.public` says of it; no key stands in another question's."""


@dataclass(frozen=True)
class AboutColumns(Question):
    """Bounds, edges and scales that the schema leaves open. columns: A histogram for each."""

    name = "columns"
    what = "what is learnt about columns"
    columns: tuple[str, ...]

    @property
    def event(self) -> Event:
        """What the histograms cost together."""
        return Repeated(Gaussian(self.noise_multiplier), len(self.columns))

    @property
    def line(self) -> str:
        return f"learnt with noise: {', '.join(self.columns)}"

    @property
    def subject(self) -> str:
        return f"facts about {', '.join(self.columns)}"

    def public(self) -> dict[str, Any]:
        told = {"columns": list(self.columns), "noise_multiplier": self.noise_multiplier}
        return {"learnt_bounds": told}


@dataclass(frozen=True)
class AboutNorms(Question):
    """The norm of a typical row: one histogram."""

    name = "norms"
    what = "the norms of rows"

    @property
    def line(self) -> str:
        return "learnt with noise: the norm of a typical row"

    @property
    def subject(self) -> str:
        return "the norm of a typical encoded row"

    def public(self) -> dict[str, Any]:
        return {"row_norm_noise": self.noise_multiplier}


class Questions(tuple[Question, ...]):
    """The questions of a plan, in the order in which they are asked; no name stands twice.

    Example:
        >>> asked = Questions([AboutColumns(8.0, ("age",)), AboutNorms(6.0)])
        >>> [one.name for one in asked], asked.get(AboutNorms).noise_multiplier
        (['columns', 'norms'], 6.0)
    """

    __slots__ = ()

    @property
    def event(self) -> Event | None:
        """What all of them cost together; None if nothing is asked."""
        return Composition(*(one.event for one in self)) if self else None

    def get(self, kind: type[Asked]) -> Asked | None:
        """The question of a class; None if it is not asked."""
        return next((one for one in self if isinstance(one, kind)), None)


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
