"""Privacy losses of Gaussians, sampled or not, composed: dp-accounting's formulas, on arrays.

dp-accounting inverts the loss in a Python loop over the grid and bounds the tails of a composition
by 40 calls of scipy; together that is most of the time of a plan. Here the same formulas are
taken for all points at once. What they build on (the connected dots, the tails, the sums of
losses) is dp-accounting's, and the tests hold the two equal.
"""

from __future__ import annotations

import math

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]

_TAIL = 1e-15  # mass a composition may cut off, which it then counts as an infinite loss
_ORDERS = 20  # of the Chernoff bound, in units of 1 / length of the grid


class _SampledGaussian(GaussianPrivacyLoss):  # type: ignore[misc]
    """One Gaussian on a Poisson lot, whose delta is taken at many epsilons at once."""

    def get_delta_for_epsilon(self, epsilon: Floats) -> Floats:
        sign = 1.0 if self.adjacency_type is AdjacencyType.REMOVE else -1.0
        # No outcome loses less (or gains more) than this; with all rows there is no such bound
        edge = math.log1p(-self.sampling_prob) if self.sampling_prob < 1 else -math.inf
        epsilons = np.asarray(epsilon, dtype=float)
        deltas = np.maximum(-np.expm1(epsilons), 0.0) if sign > 0 else np.zeros_like(epsilons)
        inside = sign * epsilons > edge
        x = self._cutoffs(sign * epsilons[inside], edge)
        x = -0.5 - sign * x * self._standard_deviation**2 + (0.0 if sign > 0 else 1.0)
        lower = self.mu_lower_log_cdf(x)
        deltas[inside] = self.mu_upper_cdf(x) - np.exp(epsilons[inside] + lower)
        return np.clip(deltas, 0, 1)

    def _cutoffs(self, losses: Floats, edge: float) -> Floats:
        """ln(1 + (e^loss - 1)/q): the loss without sampling; -inf at the edge."""
        q = self.sampling_prob
        scaled, rest = losses - math.log(q), 1 / q - 1
        if rest == 0:
            return scaled
        gap = math.log(rest) - scaled
        at_edge = np.isclose(losses, edge, rtol=1e-9, atol=0)
        if np.any((gap >= 0) & ~at_edge):
            raise ValueError("the grid is finer than the numbers it is made of")
        with np.errstate(divide="ignore", invalid="ignore"):
            found = scaled + np.log1p(-np.exp(gap))
        return np.where(at_edge, -math.inf, np.where(losses == 0, 0.0, found))


def one_step(q: float, sigma: float, step: float) -> PrivacyLossDistribution:
    """One Gaussian of this noise on a lot, on a grid of this step; pessimistic on any grid."""

    def direction(kind: AdjacencyType) -> pld_pmf.PLDPmf:
        # dp-accounting's own construction takes any loss, but has no public name.
        return privacy_loss_distribution._create_pld_pmf_from_monotone_privacy_loss(
            _SampledGaussian(sigma, sampling_prob=q, adjacency_type=kind),
            value_discretization_interval=step,
            use_connect_dots=True,
        )

    remove = direction(AdjacencyType.REMOVE)
    if q == 1:  # both directions have the same losses
        return PrivacyLossDistribution(remove)
    return PrivacyLossDistribution(remove, direction(AdjacencyType.ADD))


def repeated(losses: PrivacyLossDistribution, count: int) -> PrivacyLossDistribution:
    """The losses of `count` independent runs."""
    if count == 1:
        return losses
    remove = _self_compose(losses._pmf_remove.to_dense_pmf(), count)
    if losses._symmetric:
        return PrivacyLossDistribution(remove)
    return PrivacyLossDistribution(remove, _self_compose(losses._pmf_add.to_dense_pmf(), count))


def _self_compose(pmf: pld_pmf.DensePLDPmf, count: int) -> pld_pmf.DensePLDPmf:
    """dp-accounting's `DensePLDPmf.self_compose`, which see."""
    probs = np.asarray(pmf._probs, dtype=float)
    low, high = _reach(probs, count)
    size = high - low + 1
    fast = fft.next_fast_len(max(size, len(probs)), real=True)
    composed = fft.irfft(fft.rfft(probs, fast) ** count, fast)
    infinite = _TAIL - math.expm1(count * math.log1p(-pmf._infinity_mass))
    lower_loss = pmf._lower_loss * count + low
    probs = np.roll(composed, -low)[:size]  # the transform wraps round
    return pld_pmf.DensePLDPmf(pmf._discretization, lower_loss, probs, infinite, True)


def _reach(probs: Floats, count: int) -> tuple[int, int]:
    """Between which points all but `_TAIL` of the composed mass lies, by Chernoff's bound."""
    grown = np.exp(np.arange(len(probs)) / len(probs))
    power = np.ones(len(probs))
    low, high = 0, (len(probs) - 1) * count
    slack = math.log(2 / _TAIL)
    for order in range(1, _ORDERS + 1):  # by products, as 20 exponentials would take longer
        power *= grown
        scale = len(probs) / order
        with np.errstate(divide="ignore", invalid="ignore"):
            above = scale * (count * np.log(power @ probs) + slack)
            below = -scale * (count * np.log((1 / power) @ probs) + slack)
        high = min(high, math.ceil(above)) if math.isfinite(above) else high
        low = max(low, math.floor(below)) if math.isfinite(below) else low
    return low, high
