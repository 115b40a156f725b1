"""What is asked of every row before the search, with noise: whether the table is readable, bounds,
bin edges, row norms.

What is learnt is read off histograms of all rows. A record is in at most one bin of each, so
replacing it by a null record changes one count by one; a histogram with noise of standard deviation
s costs one `Gaussian(s)`. Every record answers all of them, whatever its role in the search.

How much each may use is a share of the budget's precision: a budget of (epsilon, delta) is that
of a Gaussian with some noise s, 1/s^2 is its precision, and precisions of Gaussians add up. A
share of 0.05 for four histograms means noise of s sqrt(4 / 0.05) for each. The search gets what
is left, composed tightly with the questions (`role_costs.priced_after`). The check of the table has
its price in `schema.paid_check`; as a search may be stopped by it and tried again, a plan pays for
CHECKS of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from honestdp.errors import InputError
from honestdp.privacy.events import Composition, Event, Gaussian, Repeated
from honestdp.schema import Schema
from honestdp.schema.learn import ROW_NORM
from honestdp.schema.paid_check import PaidCheck
from honestdp.units import LARGEST_NOISE

CHECKS = 3  # how often a table may be checked before the one search of a charge

Asked = TypeVar("Asked", bound="Question")


@dataclass(frozen=True)
class Question(ABC):
    """What is asked of every row with Gaussian noise; one class a question.

    noise_multiplier: The noise of each answer over what one record can change of it.

    Attributes:
        name: Its name in `Questions`.
        what: What is learnt, in words.
        option: The name of the option that gives its share of the budget.
        mechanism: How it is answered, in words for the card.
        learns: Whether the search reads its answer.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    option: ClassVar[str] = "learn_share"
    mechanism: ClassVar[str] = "a histogram of all rows for each, with Gaussian noise"
    learns: ClassVar[bool] = True
    noise_multiplier: float

    def __post_init__(self) -> None:
        if self.noise_multiplier > LARGEST_NOISE:
            remedy = f"needs noise above {LARGEST_NOISE:g} for {self.what}; raise it, or epsilon"
            raise InputError(f"{self.option}: {remedy}")

    @property
    def event(self) -> Event:
        """What it costs; by default one Gaussian."""
        return Gaussian(self.noise_multiplier)

    @property
    def precision(self) -> float:
        """What it uses of the budget's precision; by default that of one Gaussian."""
        return self.noise_multiplier**-2

    def share_of_budget(self, epsilon: float, delta: float) -> float:
        """The share of a budget that it uses; the inverse of `share_of`."""
        return self.precision / gaussian_mu(epsilon, delta) ** 2

    @property
    @abstractmethod
    def line(self) -> str:
        """The line of a plan."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it is about, in words for the card."""

    def told(self, askings: int) -> str:
        """What the card adds on how often it was asked; by default nothing, as that is once."""
        return ""

    @abstractmethod
    def learnt(self, asked: Schema, made: Schema) -> list[tuple[str, str, dict[str, Any]]]:
        """What was learnt: about what, in words, and as values by name.

        Args:
            asked: The schema of the plan, with all that is to be learnt open in it.
            made: The same with all that was learnt.
        """

    @abstractmethod
    def public(self) -> dict[str, Any]:
        """What `Plan.public` says of it; no key stands in another question's."""


@dataclass(frozen=True)
class AboutFit(Question):
    """Whether the table fits its schema, which is asked up to CHECKS times.

    check: What is counted, and with how much noise. share: What all askings use of the budget's
    precision.
    """

    name = "check"
    what = "the check of the table"
    mechanism = (
        "counts of the rows that do not fit the schema, with Gaussian noise, in units of what one "
        "record can change of all of them together"
    )
    learns = False
    noise_multiplier: float = field(init=False)
    check: PaidCheck
    share: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_multiplier", self.check.noise_multiplier)
        super().__post_init__()

    @property
    def event(self) -> Event:
        """What all askings cost together."""
        return Repeated(Gaussian(self.noise_multiplier), CHECKS)

    @property
    def precision(self) -> float:
        return CHECKS * self.noise_multiplier**-2

    def learnt(self, asked: Schema, made: Schema) -> list[tuple[str, str, dict[str, Any]]]:
        return []

    @property
    def line(self) -> str:
        return (
            f"{self.check.describe()}: {100 * self.share:.2g} % of the budget pays for up to "
            f"{CHECKS} checks"
        )

    @property
    def subject(self) -> str:
        return f"whether the table fits its schema, up to {CHECKS} times"

    def told(self, askings: int) -> str:
        times = {0: "not asked", 1: "asked once"}.get(askings, f"asked {askings} times")
        return f" ({times}; {CHECKS} are paid for)"

    def public(self) -> dict[str, Any]:
        told = {
            "questions": self.check.questions,
            "noise": self.check.noise,
            "noise_multiplier": self.noise_multiplier,
            "times": CHECKS,
        }
        return {"check": told}


@dataclass(frozen=True)
class _AboutEach(Question):
    """A histogram for each of some columns. columns: Their names."""

    columns: tuple[str, ...]

    @property
    def event(self) -> Event:
        """What the histograms cost together."""
        return Repeated(Gaussian(self.noise_multiplier), len(self.columns))

    @property
    def precision(self) -> float:
        return len(self.columns) * self.noise_multiplier**-2

    def learnt(self, asked: Schema, made: Schema) -> list[tuple[str, str, dict[str, Any]]]:
        pairs = zip(asked.columns, made.columns, strict=True)
        return [
            (one.name, one.learnt_words(other), one.learnt_facts(other))
            for one, other in pairs
            if one.name in self.columns
        ]


@dataclass(frozen=True)
class AboutColumns(_AboutEach):
    """Bounds, edges and scales that the schema leaves open."""

    name = "columns"
    what = "what is learnt about columns"

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
class AboutCategories(_AboutEach):
    """Which categories have rows enough for a weight of their own."""

    name = "categories"
    what = "the counts of categories"
    option = "epsilon"

    @property
    def line(self) -> str:
        return f"counted with noise: the categories of {', '.join(self.columns)}"

    @property
    def subject(self) -> str:
        return f"which categories of {', '.join(self.columns)} are rare"

    def public(self) -> dict[str, Any]:
        told = {"columns": list(self.columns), "noise_multiplier": self.noise_multiplier}
        return {"counted_categories": told}


@dataclass(frozen=True)
class AboutNorms(Question):
    """The norm of a typical row: a histogram for each encoding of the rows. encodings: Their
    number."""

    name = "norms"
    what = "the norms of rows"
    encodings: int = 1

    @property
    def event(self) -> Event:
        one = Gaussian(self.noise_multiplier)
        return one if self.encodings == 1 else Repeated(one, self.encodings)

    @property
    def precision(self) -> float:
        return self.encodings * self.noise_multiplier**-2

    @property
    def line(self) -> str:
        return "learnt with noise: the norm of a typical row"

    @property
    def subject(self) -> str:
        return "the norm of a typical encoded row"

    def learnt(self, asked: Schema, made: Schema) -> list[tuple[str, str, dict[str, Any]]]:
        scale = made.row_scale
        if asked.row_scale is not None or scale is None:  # of another encoding of the rows
            return []
        words = f"norm {ROW_NORM / scale:.6g}, so every row is multiplied by {scale:.6g}"
        return [("a typical encoded row", words, {"row_scale": scale})]

    def public(self) -> dict[str, Any]:
        several = {} if self.encodings == 1 else {"row_norms": self.encodings}
        return {"row_norm_noise": self.noise_multiplier, **several}


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

    smallest, largest = math.log(1e-9), math.log(1e4)  # beyond these no share has a use
    if excess(smallest) > 0 or excess(largest) < 0:
        return math.exp(smallest if excess(smallest) > 0 else largest)
    return math.exp(brentq(excess, smallest, largest, xtol=1e-6))
