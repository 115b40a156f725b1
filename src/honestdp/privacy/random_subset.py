"""The best of a random subset of the candidates, drawn without replacement: what it costs."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from honestdp.errors import fail, instance, positive_integer
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.profile import Profile
from honestdp.privacy.runs import Tabulated
from honestdp.privacy.selection import BestOf, best_of_as_curve
from honestdp.privacy.subset_shift import LARGEST, certified_shift
from honestdp.privacy.two_way_tail import TwoWayTail


def random_subset(profile: Profile, runs: Tabulated, candidates: int) -> BestOf:
    """The profile of the best of K of k candidates, K from a law on 1 .. k.

    A uniform permutation of the candidates and K are drawn, and stay secret; the first K train; the
    best-scored alone is released, with its name.

    Theorem (NOTES section 8; for K runs with replacement, `selection.profile_bound`). Let every
    candidate's run Q_i have a profile of at most delta_Q, in both directions, p_m = P(K = m), e_m
    the elementary symmetric polynomials, G as in `TwoWayTail`, and
      H(s_1 .. s_{k-1}) = sum_m m p_m e_{m-1}(s) / C(k-1, m-1),
      Lambda = sup over u in [0, 1]^{k-1} of ln H(1 - u_1, ..) / H(1 - G(u_1), ..).
    Then delta_A(epsilon) <= min(1, E[K] delta_Q(max(0, epsilon - Lambda))) for epsilon >= 0.
    Proof. Order outcomes by score, ties by independent uniforms, and let F_j(y) be the probability
    that candidate j scores below y. Candidate i is among the first m with probability m/k; the
    others among them are a uniform subset of size m - 1, all of which must score below y with
    probability e_{m-1}(F)/C(k-1, m-1) on average. So the winner is i with output y with density
    A(i, y) = Q_i(y) H(F_j(y), j != i)/k. On the neighbour 1 - F'_j <= G(1 - F_j), and H does not
    fall in any argument, so A'(i, y) >= Q'_i(y) e^-Lambda H(F)/k. Hence
    A - e^epsilon A' <= (H/k) [Q_i - e^(epsilon - Lambda) Q'_i], and H <= H(1, .., 1) = E[K];
    integrate the positive part and sum over the k candidates. For epsilon < Lambda: the output
    depends on the K runs alone, so delta_A(0) <= E[K] delta_Q(0).
    Conditions: runs are independent given the data (own lots, own noise, own coins); permutation
    and K are independent of the data and never released, nor are the losers; the law is the one
    that is run; P(K = 1) > 0, else Lambda may be infinite: an error. Candidates may differ in
    everything, as long as each run's profile is at most delta_Q. A record of the validation part is
    protected by the same law, with the profile of a score.

    Args:
        profile: delta_Q, of both directions.
        runs: The law of K.
        candidates: k, at least the law's maximum.

    Returns:
        The bound; its `shift` is Lambda, certified (`subset_shift.certified_shift`).

    Raises:
        InputError: If K may exceed k, cannot be 1, or k is too large for the certificate.

    Example:
        >>> from honestdp.privacy import guarantee
        >>> from honestdp.privacy.events import Gaussian
        >>> run = guarantee.profile(Gaussian(10.0))
        >>> best_of_two = random_subset(run, Tabulated((0.2, 0.8)), candidates=2)
        >>> round(best_of_two.epsilon(1e-6) / run.epsilon(1e-6), 2)
        1.25
    """
    return BestOf(profile, runs.mean, subset_shift(profile, runs, candidates))


def random_subset_rdp(
    curve: RdpCurve, profile: Profile, runs: Tabulated, candidates: int
) -> RdpCurve:
    """`random_subset` as a Renyi curve, which composes with other spending.

    e_A(a) <= e_Q(a) + Lambda + ln E[K]/(a - 1). By the same proof: A/A' <= e^Lambda Q_i/Q'_i
    pointwise and A(i, y) <= Q_i(y) E[K]/k, so the moment of order a is at most E[K]/k times a sum
    over the k candidates of exp((a - 1)(Lambda + e_Q(a))). Conditions, arguments and errors as
    there; `curve` holds for every candidate's run, in both directions.
    """
    return best_of_as_curve(curve, random_subset(profile, runs, candidates))


def subset_shift(profile: Profile, runs: Tabulated, candidates: int) -> float:
    """Lambda of `random_subset`, which has its arguments and errors."""
    check_subset_law(runs, candidates)
    return _shift(profile, runs, candidates)


def check_subset_law(runs: Tabulated, candidates: int) -> None:
    """Check that a law of K is one that `random_subset` prices, which has the errors."""
    instance(Tabulated, "law", runs, "Tabulated((0.2, 0.8))")
    k = positive_integer("candidates", candidates)
    if runs.maximum > k:
        raise fail("law", runs.maximum, f"runs; without replacement there are {k} at most")
    if not runs.chances[0] > 0:
        raise fail("law", "P(K = 1) = 0", "a single run must be possible; choose another law")
    if k > LARGEST:
        raise fail("candidates", k, f"at most {LARGEST} can be priced; use random-repeats")


@lru_cache(maxsize=256)
def _shift(profile: Profile, runs: Tabulated, candidates: int) -> float:
    p = runs.probabilities(candidates)[1:]
    found = certified_shift(TwoWayTail.of(profile), np.asarray(p))
    if not math.isfinite(found):  # a NaN must never pass for 0
        raise fail("law", runs, "has no finite bound; choose another")
    return found
