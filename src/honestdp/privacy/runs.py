"""How many runs a random search makes: the laws of K; `privacy.run_count` has their contract."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from honestdp.errors import (
    above,
    between,
    fail,
    instance,
    open_unit,
    positive,
    positive_integer,
    unit,
)
from honestdp.privacy.run_count import Floats, RunCount

LARGEST_TABLE = 20_000


@dataclass(frozen=True)
class TruncatedNegativeBinomial(RunCount):
    """P(K = k) proportional to (1-gamma)^k * prod_{l<k} (l + shape)/(l + 1), k >= 1.

    Shape eta > -1 and gamma in (0, 1]; shape 1 is the geometric law, shape 0 the logarithmic.
    Definition 1 of Papernot & Steinke, "Hyperparameter Tuning with Renyi Differential Privacy"
    (2022). f'(1-u) = E[K] * (gamma / (gamma + (1-gamma) u))^(1 + eta).
    """

    shape: float
    gamma: float

    def __post_init__(self) -> None:
        above(-1, "shape", self.shape)
        unit("gamma", self.gamma)

    @property
    def mean(self) -> float:
        g = self.gamma
        if g == 1:
            return 1.0
        if self.shape == 1:
            return 1 / g
        return (1 - g) / g * _expm1_ratio(self.shape, math.log(g))

    def pgf_tail(self, u: ArrayLike) -> Floats:
        u = np.asarray(u, dtype=float)
        if self.gamma == 1:
            return 1 - u
        # The logarithm of 1 - (1-gamma)(1-u), the base of every power here.
        log_s = np.log(self.gamma + (1 - self.gamma) * u)
        if self.shape == 0:
            return log_s / math.log(self.gamma)
        # (s^-eta - 1)/(gamma^-eta - 1), arranged so that no power overflows.
        log_gamma = math.log(self.gamma)
        powers = np.expm1(self.shape * log_s) / math.expm1(self.shape * log_gamma)
        return np.exp(-self.shape * (log_s - log_gamma)) * powers

    def log_derivative_tail(self, u: ArrayLike) -> Floats:
        s = self.gamma + (1 - self.gamma) * np.asarray(u, dtype=float)
        return math.log(self.mean) + (1 + self.shape) * (math.log(self.gamma) - np.log(s))

    def probabilities(self, largest: int) -> Floats:
        result = np.zeros(largest + 1)
        if largest < 1:
            return result
        if self.gamma == 1:
            result[1] = 1
            return result
        k = np.arange(1, largest)
        log_ratios = math.log1p(-self.gamma) + np.log((k + self.shape) / (k + 1))
        log_first = float(self.log_derivative_tail(1.0))  # f'(0) = P(K = 1)
        result[1:] = np.exp(log_first + np.concatenate([[0.0], np.cumsum(log_ratios)]))
        return result

    def beyond(self, largest: int) -> float:
        """By the geometric series above the tail: from here on, neighbours' ratios only fall."""
        ratio = (1 - self.gamma) * max(1.0, (largest + self.shape) / (largest + 1))
        last = float(self.probabilities(largest)[-1])
        return last * ratio / (1 - ratio) if ratio < 1 else 1.0

    def cumulative(self, k: int) -> Any:
        if k < 1:
            return mpmath.mpf(0)
        stay, shape = 1 - mpmath.mpf(self.gamma), mpmath.mpf(self.shape)
        if stay == 0:
            return mpmath.mpf(1)
        if shape == 1:
            return 1 - stay**k
        # P(K = 1) = shape stay / (gamma^-shape - 1), and each ratio is stay (j + shape)/(j + 1).
        with mpmath.extraprec(64):
            log_gamma = mpmath.log(self.gamma)
            if shape == 0:
                term = -stay / log_gamma
            else:
                term = shape * stay / mpmath.expm1(-shape * log_gamma)
            total = term
            for j in range(1, k):
                term *= stay * (j + shape) / (j + 1)
                total += term
        return +total

    @classmethod
    def from_mean(cls, shape: float, mean: float) -> TruncatedNegativeBinomial:
        """The law of this shape with E[K] = mean >= 1."""
        positive("mean", mean)
        if mean < 1:
            raise fail("mean", mean, "a truncated negative binomial has at least 1 run")
        cls(shape, 1.0)
        if mean == 1 or shape == 1:
            return cls(shape, 1.0 / mean)
        return cls(shape, _solve_gamma(shape, lambda g: math.log(cls(shape, g).mean / mean)))

    @classmethod
    def from_hit_probability(
        cls, shape: float, candidates: int, probability: float
    ) -> TruncatedNegativeBinomial:
        """The law that ever draws one given of `candidates` with at least this probability."""
        open_unit("hit_probability", probability)
        k = positive_integer("candidates", candidates)
        if probability <= cls(shape, 1.0).hit_probability(k):
            return cls(shape, 1.0)

        def excess(gamma: float) -> float:
            return cls(shape, gamma).hit_probability(k) - probability

        return cls(shape, _solve_gamma(shape, excess))


def geometric(gamma: float) -> TruncatedNegativeBinomial:
    """K = the number of tosses until a gamma-coin first shows heads."""
    return TruncatedNegativeBinomial(1.0, gamma)


def logarithmic(gamma: float) -> TruncatedNegativeBinomial:
    """P(K = k) = (1-gamma)^k / (k ln(1/gamma))."""
    return TruncatedNegativeBinomial(0.0, gamma)


@dataclass(frozen=True)
class Poisson(RunCount):
    """K ~ Poisson(mean). K may be 0: then nothing is released."""

    rate: float

    def __post_init__(self) -> None:
        positive("rate", self.rate)

    @property
    def mean(self) -> float:
        return self.rate

    @property
    def may_be_none(self) -> bool:
        return True  # although e^-rate rounds to 0 where the rate is large

    def pgf_tail(self, u: ArrayLike) -> Floats:
        return np.exp(-self.rate * np.asarray(u, dtype=float))

    def log_derivative_tail(self, u: ArrayLike) -> Floats:
        return math.log(self.rate) - self.rate * np.asarray(u, dtype=float)

    def probabilities(self, largest: int) -> Floats:
        k = np.arange(largest + 1)
        return np.exp(k * math.log(self.rate) - self.rate - gammaln(k + 1))

    def beyond(self, largest: int) -> float:
        ratio = self.rate / (largest + 1)
        last = float(self.probabilities(largest)[-1])
        return last * ratio / (1 - ratio) if ratio < 1 else 1.0

    def cumulative(self, k: int) -> Any:
        return mpmath.gammainc(k + 1, self.rate, regularized=True) if k >= 0 else mpmath.mpf(0)

    @classmethod
    def from_hit_probability(cls, candidates: int, probability: float) -> Poisson:
        open_unit("hit_probability", probability)
        rate = -positive_integer("candidates", candidates) * math.log1p(-probability)
        return cls(rate * (1 + 1e-12))


@dataclass(frozen=True)
class Binomial(RunCount):
    """K ~ Binomial(trials, probability): each of `trials` runs happens on its own coin."""

    trials: int
    probability: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", positive_integer("trials", self.trials))
        unit("probability", self.probability)

    @property
    def mean(self) -> float:
        return self.trials * self.probability

    @property
    def maximum(self) -> int:
        return self.trials

    def pgf_tail(self, u: ArrayLike) -> Floats:
        return (1 - self.probability * np.asarray(u, dtype=float)) ** self.trials

    def log_derivative_tail(self, u: ArrayLike) -> Floats:
        if self.trials == 1:
            return np.full(np.shape(u), math.log(self.probability))
        with np.errstate(divide="ignore"):
            log_x = np.log1p(-self.probability * np.asarray(u, dtype=float))
        return math.log(self.mean) + (self.trials - 1) * log_x

    def probabilities(self, largest: int) -> Floats:
        result = np.zeros(largest + 1)
        k = np.arange(min(largest, self.trials) + 1)
        if self.probability == 1:
            result[k] = k == self.trials
            return result
        log_choose = gammaln(self.trials + 1) - gammaln(k + 1) - gammaln(self.trials - k + 1)
        log_odds = math.log(self.probability) - math.log1p(-self.probability)
        result[k] = np.exp(log_choose + k * log_odds + self.trials * math.log1p(-self.probability))
        return result

    def cumulative(self, k: int) -> Any:
        heads = mpmath.mpf(self.probability)
        terms = (
            mpmath.mpf(math.comb(self.trials, j)) * heads**j * (1 - heads) ** (self.trials - j)
            for j in range(min(k, self.trials) + 1)
        )
        return mpmath.fsum(terms)


@dataclass(frozen=True)
class Capped(RunCount):
    """min(K, cap) for another law of K: a hard stop."""

    law: RunCount
    cap: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "cap", positive_integer("cap", self.cap))
        instance(RunCount, "law", self.law, "geometric(0.025)")
        if isinstance(self.law, Capped):
            raise fail("law", self.law, "is capped already; keep the smaller cap")
        if not self._is_geometric and self.cap > LARGEST_TABLE:
            raise fail("cap", self.cap, f"at most {LARGEST_TABLE}, or no cap at all")

    @property
    def _is_geometric(self) -> bool:
        return type(self.law) is TruncatedNegativeBinomial and self.law.shape == 1

    @property
    def mean(self) -> float:
        return math.exp(float(self.log_derivative_tail(0.0)))

    @property
    def maximum(self) -> int:
        return self.cap if self.law.maximum is None else min(self.cap, self.law.maximum)

    @property
    def may_be_none(self) -> bool:
        return self.law.may_be_none

    def cumulative(self, k: int) -> Any:
        return mpmath.mpf(1) if k >= self.cap else self.law._at(k)

    def probabilities(self, largest: int) -> Floats:
        result = np.zeros(largest + 1)
        known = self.law.probabilities(min(largest, self.cap - 1))
        result[: len(known)] = known
        if largest >= self.cap:
            result[self.cap] = max(0.0, 1.0 - known.sum())
        return result

    def pgf_tail(self, u: ArrayLike) -> Floats:
        u = np.asarray(u, dtype=float)
        if self._is_geometric:
            # 1 - f(x) = (1-x) * sum_{j<cap} ((1-gamma) x)^j
            log_r, s = self._geometric_base(u)
            return 1 + u * np.expm1(self.cap * log_r) / s
        return np.exp(self._log_sum(u, power=0))

    def log_derivative_tail(self, u: ArrayLike) -> Floats:
        u = np.asarray(u, dtype=float)
        if self._is_geometric:
            # The derivative of the line above, arranged so that no term is negative.
            g = self.law.gamma  # type: ignore[attr-defined]
            log_r, s = self._geometric_base(u)
            head = -np.expm1(self.cap * log_r) / s * (g / s)
            if self.cap == 1:
                return np.zeros(np.shape(u))
            return np.log(head + (1 - g) * u * self.cap * np.exp((self.cap - 1) * log_r) / s)
        return self._log_sum(u, power=1)

    def _geometric_base(self, u: Floats) -> tuple[Floats, Floats]:
        g = self.law.gamma  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            log_r = np.log1p(-u) + (math.log1p(-g) if g < 1 else -math.inf)
        return log_r, g + (1 - g) * u

    def _log_sum(self, u: Floats, power: int) -> Floats:
        """ln sum_k k^power p_k x^(k - power), by the table of p."""
        k = np.arange(power, self.maximum + 1)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.probabilities(self.maximum)[power:])
            log_x = np.log1p(-np.atleast_1d(u))
        if power:
            log_weights = log_weights + np.log(k)
        exponents = (k - power)[None, :] * np.maximum(log_x, -1e300)[:, None]
        found = logsumexp(log_weights[None, :] + exponents, axis=1)
        return np.where(found < -1e290, -math.inf, found).reshape(np.shape(u))


@dataclass(frozen=True)
class Tabulated(RunCount):
    """A law given by its probabilities: P(K = m) = chances[m - 1], m = 1, 2, ...

    The last chance above 0 is what the others leave of 1: the one given may be off by 1e-9.
    """

    chances: tuple[float, ...]

    def __post_init__(self) -> None:
        given = self.chances
        if not isinstance(given, (tuple, list)) or not given:
            raise fail("chances", given, "must be a list of probabilities, such as (0.1, 0, 0.9)")
        if len(given) > LARGEST_TABLE:
            raise fail("chances", len(given), f"runs; at most {LARGEST_TABLE}")
        chances = [float(between(0, 1, "chances", chance)) for chance in given]
        total = math.fsum(chances)
        if not abs(total - 1) <= 1e-9:
            raise fail("chances", total, "is their sum; probabilities sum to 1")
        while not chances[-1]:
            chances.pop()
        chances[-1] = max(0.0, 1 - math.fsum(chances[:-1]))
        object.__setattr__(self, "chances", tuple(chances))

    @property
    def mean(self) -> float:
        return math.fsum(m * chance for m, chance in enumerate(self.chances, start=1))

    @property
    def maximum(self) -> int:
        return len(self.chances)

    def pgf_tail(self, u: ArrayLike) -> Floats:
        m, chances = self._possible
        return np.asarray((1 - np.asarray(u, dtype=float)[..., None]) ** m @ chances)

    def log_derivative_tail(self, u: ArrayLike) -> Floats:
        m, chances = self._possible
        powers = (1 - np.asarray(u, dtype=float)[..., None]) ** (m - 1)
        with np.errstate(divide="ignore"):
            return np.log(powers @ (m * chances))

    @property
    def _possible(self) -> tuple[Floats, Floats]:
        """The numbers of runs that can occur, and their probabilities; often few of many."""
        chances = np.array(self.chances, dtype=np.float64)
        places = np.flatnonzero(chances)
        return np.asarray(places + 1, dtype=np.float64), chances[places]

    def probabilities(self, largest: int) -> Floats:
        result = np.zeros(largest + 1)
        known = (0.0, *self.chances)[: largest + 1]
        result[: len(known)] = known
        return result


def _expm1_ratio(a: float, log_gamma: float) -> float:
    """a / (1 - gamma^a), continued to 1 / ln(1/gamma) at a = 0."""
    denominator = -math.expm1(a * log_gamma)
    return a / denominator if abs(denominator) > 1e-12 else -1 / log_gamma


def _solve_gamma(shape: float, falling: Callable[[float], float]) -> float:
    """A gamma just below the root of a function that falls as gamma grows to 1."""
    lowest, highest = -690 / max(1.0, shape), -1e-12  # as small as gamma^shape can be written
    if falling(math.exp(lowest)) < 0:
        raise fail("shape", shape, "no law of this shape runs that often; choose a larger shape")
    if falling(math.exp(highest)) > 0:
        return math.exp(highest)
    root = brentq(lambda x: falling(math.exp(x)), lowest, highest, xtol=1e-13)
    return math.exp(root) * (1 - 1e-11)  # below the root: never fewer runs than wanted
