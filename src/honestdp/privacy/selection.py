"""What selecting the best of several private runs costs: one function per theorem.

Throughout, Q is one candidate's run: drawing a candidate at random from a public list,
training it *and* scoring it. Its cost is given as a Renyi curve or a privacy profile that
holds in both directions of neighbours and for every candidate. Runs are independent given the
data: own lots, own noise, own coins. Under every bound but `composition` only the winner is
released; K, the losers and their scores must not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from honestdp.errors import fail, not_negative, open_unit, positive, positive_integer, unit
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.profile import CurveProfile, Profile
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import (
    Binomial,
    Capped,
    Poisson,
    Tabulated,
    TruncatedNegativeBinomial,
    geometric,
)
from honestdp.privacy.two_way_tail import TwoWayTail

Floats = NDArray[np.float64]

LT_SLACK = 1e-20  # the paper's delta_2


def composition(curves: Sequence[RdpCurve]) -> RdpCurve:
    """Every candidate trains and everything may be released: Renyi curves add.

    Theorem (Mironov 2017, Prop. 1): if M_i has divergence at most e_i(a) at order a, and M_i
    may look at the outputs of M_1 .. M_{i-1}, then (M_1, ..., M_k) has at most sum_i e_i(a).
    Condition: independent randomness, lots included. Lots shared between candidates cost more
    (`events.shared_lots`). The paper's "MA". Under "pld" the same composition is done on privacy
    loss distributions by `guarantee.profile`.
    """
    if not curves:
        raise fail("curves", "none", "give at least one run")
    return reduce(RdpCurve.__add__, curves)


def liu_talwar_rounds(gamma: float, slack: float = LT_SLACK) -> int:
    """The hard stop of random stopping: ceil(Upsilon), Upsilon = ln(1/delta_2) / gamma."""
    unit("gamma", gamma)
    open_unit("slack", slack)
    if not math.log(1 / slack) / gamma < math.inf:
        small = ("slack", slack) if slack < 1e-300 else ("gamma", gamma)
        raise fail(*small, "is too small for a number of rounds; raise it")
    return math.ceil(math.log(1 / slack) / gamma)


def liu_talwar(
    epsilon: float, delta: float, gamma: float, slack: float = LT_SLACK
) -> tuple[float, float]:
    """Random stopping with a hard stop.

    Theorem 3.4 of Liu & Talwar, "Private Selection from Private Candidates" (2019), as in the
    paper: if Q is (epsilon_1, delta_1)-DP, gamma in (0, 1], delta_2 > 0 and
    Upsilon = ln(1/delta_2)/gamma, then drawing from Q until a gamma-coin stops, at most
    Upsilon times, and releasing the best drawn, is (3 epsilon_1 + 3 sqrt(2 delta_1),
    sqrt(2 delta_1) Upsilon + delta_2)-DP. Upsilon is rounded up to the whole number of rounds
    that are run. Very loose: `profile_bound` holds for the same algorithm.
    """
    not_negative("epsilon", epsilon)
    if not 0 <= delta < 1:
        raise fail("delta", delta, "must be at least 0 and below 1")
    root = math.sqrt(2 * delta)
    return 3 * epsilon + 3 * root, root * liu_talwar_rounds(gamma, slack) + slack


def liu_talwar_inverse(
    epsilon: float, delta: float, gamma: float, slack: float = LT_SLACK
) -> tuple[float, float]:
    """The (epsilon_1, delta_1) a run may cost so that random stopping costs (epsilon, delta).

    Inverts `liu_talwar`: delta_1 = ((delta - delta_2)/ceil(Upsilon))^2 / 2,
    epsilon_1 = epsilon/3 - sqrt(2 delta_1). Conditions: delta > delta_2, and an epsilon that
    leaves something for the run.
    """
    positive("epsilon", epsilon)
    run_delta = liu_talwar_run_delta(delta, liu_talwar_rounds(gamma, slack), slack)
    run_epsilon = (epsilon / 3 - math.sqrt(2 * run_delta)) * (1 - 1e-12)
    if run_epsilon <= 0:
        raise fail("epsilon", epsilon, "leaves nothing for a run; raise it")
    return run_epsilon, run_delta


def liu_talwar_run_delta(delta: float, rounds: float, slack: float = LT_SLACK) -> float:
    """delta_1 with sqrt(2 delta_1) * rounds + delta_2 = delta, rounded down."""
    open_unit("delta", delta)
    if delta <= slack:
        raise fail("delta", delta, f"must be above the hard stop's own {slack:g}")
    return ((delta - slack) / rounds) ** 2 / 2 * (1 - 1e-12)


def papernot_steinke(curve: RdpCurve, runs: RunCount, profile: Profile | None = None) -> RdpCurve:
    """Best of K runs, K from a truncated negative binomial or Poisson law, as a Renyi curve.

    Papernot & Steinke, "Hyperparameter Tuning with Renyi Differential Privacy" (2022).
    Theorem 2, K truncated negative binomial with shape eta > -1 and gamma in (0, 1]:
      e'(a) = e(a) + (1 + eta) min_b [(1 - 1/b) e(b) + ln(1/gamma)/b] + ln E[K]/(a - 1)
    over known orders b >= 1. Theorem 6, K ~ Poisson(mu), mu >= 1:
      e'(a) = e(a) + mu d + ln(mu)/(a - 1), where Q is (ln(1 + 1/(a-1)), d)-DP.
    d comes from `profile` where given (tighter), else from the curve. Orders a > 1. A capped K
    is not covered: use `profile_bound`. dp-accounting has both theorems for eta >= 0, for
    events only and with d from the curve; the tests hold the two equal there.
    """
    orders, values = curve.orders, curve.values
    if not papernot_steinke_covers(runs):
        raise fail("runs", runs, "not covered (Poisson needs mean >= 1); use profile_bound")
    found = values + math.log(runs.mean) / (orders - 1)
    if isinstance(runs, TruncatedNegativeBinomial):
        log_stop = math.log(1 / runs.gamma)
        constant = float(np.min((1 - 1 / orders) * values + log_stop / orders))
        found = found + (1 + runs.shape) * constant
    else:
        run = CurveProfile(curve) if profile is None else profile
        deltas = run.deltas(np.log1p(1 / (orders[::-1] - 1)))[::-1]
        found = found + runs.mean * deltas
    # A divergence grows with its order, so a larger order's bound holds for a smaller one.
    return RdpCurve(orders, np.minimum.accumulate(found[::-1])[::-1])


def papernot_steinke_covers(runs: RunCount) -> bool:
    """Whether `papernot_steinke` has a theorem for this law of K: these very two, no others."""
    if type(runs) is Poisson:
        return runs.rate >= 1
    return type(runs) is TruncatedNegativeBinomial


class BestOf(Profile):
    """The profile `multiplier * delta_Q(max(0, epsilon - shift))` of a selection."""

    def __init__(self, run: Profile, multiplier: float, shift: float) -> None:
        self._run = run
        self.multiplier = multiplier
        self.shift = shift

    def delta(self, epsilon: float) -> float:
        return min(1.0, self.multiplier * self._run.delta(max(0.0, epsilon - self.shift)))

    def epsilon(self, delta: float) -> float:
        open_unit("delta", delta)
        inner = self._run.epsilon(min(delta / self.multiplier, 1 - 1e-15))
        return 0.0 if inner == 0 else self.shift + inner


def profile_bound(profile: Profile, runs: RunCount) -> BestOf:
    """Best of K runs for any law of K, from the privacy profile of a run.

    Theorem (NOTES section 4; generalises Koskela, Redberg & Wang, "Privacy Profiles for Private
    Selection", 2024). Let f be the generating function of K, delta_Q the run's profile,
      G(u) = min(1, min_{t >= 0} e^t u + delta_Q(t)),  Lambda = sup_u ln f'(1-u)/f'(1-G(u)).
    Then for epsilon >= 0: delta_A(epsilon) <= min(1, f'(1) delta_Q(max(0, epsilon - Lambda))).
    Proof. Order outcomes by score, ties by independent uniforms. The winner has density
    A(y) = Q(y) f'(F(y)), F(y) = Q(<= y). With u = Q(> y), the neighbour has Q'(> y) <= G(u) and
    f' does not fall, so A'(y) >= Q'(y) f'(1-G(u)) >= e^-Lambda Q'(y) f'(1-u); hence
    A - e^epsilon A' <= f'(1-u) [Q - e^(epsilon-Lambda) Q'] <= f'(1) [...]_+; integrate. For
    epsilon < Lambda: delta_A(epsilon) <= TV(A, A') <= E[K] TV(Q, Q').
    Conditions: the profile holds in both directions; f is the law actually run, cap included;
    P(K = 1) > 0 unless delta_Q(0) = 0 (else Lambda is infinite: an error). K = 0 may occur:
    nothing is released then, equally often on both neighbours.
    """
    return BestOf(profile, runs.mean, _runs_shift(profile, runs))


@lru_cache(maxsize=64)
def _runs_shift(profile: Profile, runs: RunCount) -> float:
    """Lambda of `profile_bound`. It does not depend on delta, of which a search that follows
    questions is asked for dozens."""
    if type(runs) in (TruncatedNegativeBinomial, Poisson, Binomial):
        # Of these f' is a power of a linear function, or exponential; of no other law is it known.
        return selection_shift(profile, runs.log_derivative_tail, at_corners=True)
    if type(runs) is Capped and type(runs.law) is TruncatedNegativeBinomial and runs.law.shape == 1:
        # Capped over uncapped f' is 1 - r^N + u (1-g) N r^(N-1) s/g with r = (1-g)(1-u) and
        # s = g + (1-g)u <= 1, so it lies in [1 - c, 1 + c/g], c = (1-g)^N: a far cap is free.
        gamma = runs.law.gamma
        c = (1 - gamma) ** runs.cap
        if c < 1e-9 * gamma:
            return _runs_shift(profile, runs.law) + math.log1p(c / gamma) - math.log1p(-c)
    if type(runs) is Tabulated:  # laws with few single runs, which feel the tail at large u
        polygon = TwoWayTail.of(profile).polygon
        return selection_shift(profile, runs.log_derivative_tail, polygon=polygon)
    return selection_shift(profile, runs.log_derivative_tail)


def profile_bound_rdp(curve: RdpCurve, profile: Profile, runs: RunCount) -> RdpCurve:
    """`profile_bound` as a Renyi curve, which composes with other spending.

    e_A(a) <= e_Q(a) + Lambda + ln f'(1)/(a-1); where K may be 0, with p = P(K = 0):
    ln(p + f'(1) exp((a-1)(e_Q(a) + Lambda)))/(a-1). By the same proof: A/A' <= e^Lambda Q/Q'
    pointwise, and A <= f'(1) Q. Conditions as for `profile_bound`.
    """
    shift = _runs_shift(profile, runs)
    return shifted_curve(curve, shift, runs.mean, runs.probability_of_none())


def shifted_curve(curve: RdpCurve, shift: float, mean: float, none: float) -> RdpCurve:
    less_one = curve.orders - 1
    log_moment = math.log(mean) + less_one * (curve.values + shift)
    if none > 0:
        log_moment = np.logaddexp(math.log(none), log_moment)
    return RdpCurve(curve.orders, np.maximum(log_moment / less_one, 0))


def best_of_as_curve(curve: RdpCurve, bound: BestOf) -> RdpCurve:
    """A `BestOf` bound of densities, A <= multiplier Q and A/A' <= e^shift Q/Q', as a Renyi curve.

    e_A(a) <= e_Q(a) + shift + ln(multiplier)/(a-1), as in `profile_bound_rdp`; for `threshold`,
    whose proof bounds the densities of hits and of last misses alike ("nothing" only joins the
    latter, which is post-processing). `curve` is that of the run the bound was made from.
    """
    return shifted_curve(curve, bound.shift, bound.multiplier, none=0.0)


def best_of_curve(curve: RdpCurve, profile: Profile, runs: RunCount) -> RdpCurve:
    """The smaller, at each order, of the Renyi bounds that hold for best-of-K."""
    found = profile_bound_rdp(curve, profile, runs)
    if not papernot_steinke_covers(runs):
        return found
    return found.minimum(papernot_steinke(curve, runs, profile))


def threshold(profile: Profile, gamma: float, cap: int | None = None) -> BestOf:
    """Draw; a score at or above a public threshold is released; else stop empty-handed with
    probability gamma; else draw again (at most `cap` times).

    Theorem (NOTES section 4; the algorithm is Liu & Talwar's, section 3.1). With G as in
    `profile_bound` and K = min(Geometric(gamma), cap) of generating function f, let
    h(p) = (1 - f(1-p))/p and b(p) = f(1-p)/(1-p). Then delta_A(epsilon) <=
    E[K] delta_Q(max(0, epsilon - Lambda)),
    Lambda = max(sup_p ln h(p)/h(G(p)), sup_p ln b(p)/b(G(p))).
    Proof. A draw y at or above the threshold leaves with density Q(y) h(p), p = Q(at or above);
    a draw below it that is the last has density Q(y) b(p) and leaves as "nothing". Both h and b
    fall in p and p' <= G(p), so A' >= e^-Lambda Q' h(p) (or b(p)), and both are at most E[K].
    Without a cap both suprema are sup_p ln (gamma + (1-gamma) G(p))/(gamma + (1-gamma) p).
    Conditions: gamma in (0, 1], the threshold is public, at least one draw.
    """
    unit("gamma", gamma)

    def s(p: Floats) -> Floats:
        return gamma + (1 - gamma) * p

    if cap is None:
        return BestOf(profile, 1 / gamma, selection_shift(profile, lambda p: -np.log(s(p)), True))
    rounds = positive_integer("cap", cap)
    log_stay = math.log1p(-gamma) if gamma < 1 else -math.inf

    def log_hit(p: Floats) -> Floats:  # ln h: the expected number of draws up to a hit
        with np.errstate(divide="ignore"):
            return np.log(-np.expm1(rounds * (log_stay + np.log1p(-p))) / s(p))

    def log_miss(p: Floats) -> Floats:  # ln b, arranged so that no term is negative
        last = p * math.exp(rounds * log_stay) * (1 - p) ** (rounds - 1)
        return np.log((gamma + last) / s(p))

    shift = max(selection_shift(profile, log_hit), selection_shift(profile, log_miss))
    return BestOf(profile, Capped(geometric(gamma), rounds).mean, shift)


def subset_tuning(tuning: RdpCurve, final: RdpCurve, share: float) -> RdpCurve:
    """Tune on a Poisson subset, train the winner on the rest.

    Theorem (Koskela & Kulkarni, "Practical Differentially Private Hyperparameter Tuning with
    Subsampling", 2023; NOTES section 4). Each record goes to the tuning subset with probability
    q = `share`, else to the rest; the tuning reads only the subset (curve e_P), the final run
    with the hyperparameters it chose only the rest (curve e_Q, for the worst hyperparameters).
    At integer a >= 2 the divergence is at most the larger of
      1/(a-1) ln sum_{j=0..a} C(a,j) q^(a-j) (1-q)^j exp((a-j-1) e_P(a-j) + (j-1) e_Q(j)),
      1/(a-1) ln sum_{j<a} C(a-1,j) q^j (1-q)^(a-1-j) exp(j e_P(j+1) + (a-1-j) e_Q(a-j)),
    an exponent at order 0 or 1 being 0. First: the a-th power of the mixture, expanded.
    Second: 1/(q x + (1-q) y) <= q/x + (1-q)/y, expanded. Conditions: both curves hold in both
    directions and are known at every integer order 2..a; orders where they are not are left out.
    The result is given at a selection of the orders (all to 20, then 5 % apart).
    """
    open_unit("share", share)
    p, q = _integer_values(tuning), _integer_values(final)
    top = min(len(p), len(q)) - 1
    if top < 2:
        raise fail("orders", top, "both curves need the integer orders 2, 3, ...")
    orders = np.unique([*range(2, min(20, top) + 1), *_spaced(20, top), top])
    return RdpCurve(orders, _subset_orders(p, q, share, orders))


def _integer_values(curve: RdpCurve) -> Floats:
    """values[a] at integer orders a = 0, 1, 2, ... as far as they are known without a gap."""
    known = dict(zip(curve.orders.tolist(), curve.values.tolist(), strict=True))
    values = [0.0, 0.0]
    while math.isfinite(known.get(float(len(values)), math.inf)):
        values.append(known[float(len(values))])
    return np.array(values)


def _spaced(low: int, high: int) -> list[int]:
    count = max(0, round(math.log(max(high / low, 1)) / 0.05))
    return [round(low * (high / low) ** (i / count)) for i in range(count)]


def _subset_orders(p: Floats, q: Floats, share: float, orders: NDArray[np.int64]) -> Floats:
    """Both sums of `subset_tuning` at every order: a row each, ended by terms of weight 0."""
    log_share, log_rest = math.log(share), math.log1p(-share)
    a, j = orders[:, None], np.arange(orders.max() + 1)
    left = np.maximum(a - j, 0)  # a - j, where there is a term
    exponent = np.maximum(left - 1, 0) * p[left] + np.maximum(j - 1, 0) * q[j]
    terms = _log_choose(a, np.minimum(j, a)) + left * log_share + j * log_rest + exponent
    forward = logsumexp(np.where(j <= a, terms, -math.inf), axis=1)
    j = j[:-1]
    less, left = np.maximum(a - 1 - j, 0), np.maximum(a - j, 1)
    exponent = j * p[j + 1] + less * q[left]
    terms = _log_choose(a - 1, np.minimum(j, a - 1)) + j * log_share + less * log_rest + exponent
    backward = logsumexp(np.where(j < a, terms, -math.inf), axis=1)
    ulps = 1e-15 * (4 + gammaln(orders + 1))  # of the logarithms above, on the private side
    return (np.maximum(0.0, np.maximum(forward, backward)) + ulps) / (orders - 1)


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def worst_tail(profile: Profile) -> tuple[Floats, Floats]:
    """G(u) = min(1, min_t e^t u + delta(t)) as a polygon: its corners u and its values there.

    If an outcome set has probability u on one neighbour, it has at most G(u) on the other.
    The minimum over finitely many t is an upper bound on the true G, so it is safe.
    """
    t, delta = profile.table
    # Lines of rising slope and falling offset; the constant 1 is one more, with slope 0.
    rising, kept = np.unique(np.exp(t), return_index=True)
    slopes = np.concatenate([[0.0], rising])
    offsets = np.concatenate([[1.0], np.minimum(delta[kept], 1.0)])
    hull = [0]
    corners: list[float] = []  # where hull[i+1] takes over from hull[i], going left from u = inf
    for i in range(1, len(slopes)):
        while True:
            last = hull[-1]
            cross = (offsets[last] - offsets[i]) / (slopes[i] - slopes[last])
            if corners and cross >= corners[-1]:
                hull.pop()
                corners.pop()
                continue
            break
        if cross <= 0:
            continue
        hull.append(i)
        corners.append(float(cross))
    inner = sorted(u for u in corners if 0 < u < 1)
    u = np.array([0.0, *inner, 1.0])
    g = np.min(slopes[:, None] * u[None, :] + offsets[:, None], axis=0)
    return u, np.maximum(g, u)


def selection_shift(
    profile: Profile,
    log_weight: Callable[[Floats], Floats],
    at_corners: bool = False,
    polygon: tuple[Floats, Floats] | None = None,
) -> float:
    """Lambda = sup_u log_weight(u) - log_weight(G(u)), from above, for a falling log_weight.

    `at_corners`: the difference is monotone while G is a straight line, so the supremum sits at
    a corner of G. That is so where log_weight is linear, or a multiple of the logarithm of a
    linear function. Else by branch and bound: on [a, b] the supremum is at most
    log_weight(a) - log_weight(G(b)), both being monotone; intervals that could still beat the
    best point found by more than 0.05 % are cut up.
    `polygon`: corners and values of G; by default `worst_tail`. That of `TwoWayTail` is smaller,
    and G as well, as `profile_bound` has profiles of both directions.
    """
    corners, values = worst_tail(profile) if polygon is None else polygon
    with np.errstate(invalid="ignore", divide="ignore"):
        at = log_weight(corners) - log_weight(values)
    best = float(np.max(at))
    if not math.isfinite(best):  # a NaN must never pass for 0
        raise fail("runs", "P(K = 1) = 0", "a single run must be possible; choose another law")
    if at_corners:
        return max(0.0, best)

    def tail(points: Floats) -> Floats:
        return np.interp(points, corners, values)

    u = np.union1d(corners, np.geomspace(1e-12, 1, 200))
    left, right = u[:-1], u[1:]
    while True:
        tolerance = 1e-5 + 5e-4 * best
        upper = log_weight(left) - log_weight(tail(right))
        hopeful = upper > best + tolerance
        if not hopeful.any():
            return max(0.0, best + tolerance)
        if np.count_nonzero(hopeful) > 10_000:  # flat: what is known is close enough
            return float(np.max(upper))
        cuts = np.linspace(left[hopeful], right[hopeful], 9, axis=0)
        left, right = cuts[:-1].ravel(), cuts[1:].ravel()
        best = max(best, float(np.max(log_weight(left) - log_weight(tail(left)))))
