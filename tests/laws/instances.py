"""Random and planted mechanism pairs, and random laws of K, to try bounds on."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator

import numpy as np
from exact import Pair, Tuned

from honestdp.privacy.profile import Profile
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import (
    Binomial,
    Capped,
    Poisson,
    TruncatedNegativeBinomial,
    geometric,
    logarithmic,
)
from honestdp.privacy.selection import worst_tail

Rng = np.random.Generator


def drawn(name: str, count: int) -> Iterator[tuple[Rng, Pair]]:
    rng = np.random.default_rng([zlib.crc32(name.encode()), count])
    for _ in range(count):
        yield rng, pair(rng)


def pair(rng: Rng) -> Pair:
    """A pair of one of the kinds below, its outcomes in random score order unless planted."""
    kind = _KINDS[rng.integers(len(_KINDS))]
    q, r = kind(rng)
    if kind not in _PLANTED:
        order = rng.permutation(len(q))
        q, r = q[order], r[order]
    if rng.random() < 0.5:
        q, r = r, q
    return Pair(q, r, _ranks(rng, len(q)))


def _ranks(rng: Rng, count: int) -> np.ndarray:
    """Mostly no ties, sometimes a few."""
    if rng.random() < 0.75:
        return np.arange(count)
    return np.cumsum(rng.random(count) < 0.6)


def _dense(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    count = rng.integers(2, 7)
    spread = np.full(count, 10.0 ** rng.uniform(-0.7, 1))
    q, r = rng.dirichlet(spread) + 1e-9, rng.dirichlet(spread) + 1e-9
    return q / q.sum(), r / r.sum()


def _near(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    q, _ = _dense(rng)
    r = q * np.exp(rng.normal(size=len(q)) * 10.0 ** rng.uniform(-3, 0.3))
    return q, r / r.sum()


def _holes(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes that only one side has: infinite privacy loss, G(0) > 0."""
    q, r = _near(rng)
    q, r = q.copy(), r.copy()
    q[rng.integers(len(q))] *= 0.0 if rng.random() < 0.7 else 1.0
    r[rng.integers(len(r))] *= 0.0 if rng.random() < 0.7 else 1.0
    if q.sum() == 0 or r.sum() == 0:
        return _holes(rng)
    return q / q.sum(), r / r.sum()


def _small_holes(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The same with a small delta: the usual shape of an approximate guarantee."""
    q, r = _near(rng)
    mass = 10.0 ** rng.uniform(-6, -1, size=2)
    return (
        np.concatenate([q * (1 - mass[0]), [mass[0], 0.0]]),
        np.concatenate([r * (1 - mass[1]), [0.0, mass[1]]]),
    )


def _pure(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Every ratio is at one of the two ends of a pure guarantee."""
    epsilon = 10.0 ** rng.uniform(-2, 0.7)
    count = rng.integers(2, 7)
    raised = np.arange(count) < rng.integers(1, count)
    up, down = rng.dirichlet(np.ones(raised.sum())), rng.dirichlet(np.ones((~raised).sum()))
    share = 1 / (1 + math.exp(epsilon))  # share * e^eps + (1 - share) * e^-eps = 1
    q = np.concatenate([share * up, (1 - share) * down])
    r = q * np.where(raised, math.exp(epsilon), math.exp(-epsilon))
    return q, r / r.sum()


def _spike(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The worst case of the profile bound's proof: a rare outcome of the largest loss, just
    under a top whose probability grows as much as the guarantee allows."""
    epsilon = 10.0 ** rng.uniform(-1, 0.7)
    rare = 10.0 ** rng.uniform(-5, -3)
    top = rng.choice([1.0, 1.0, 10.0 ** rng.uniform(-3, 0)]) / (1 + math.exp(epsilon))
    top -= rare * (1 + math.exp(-epsilon))
    top = max(top, rare)
    q = np.array([1 - rare - top, rare, top])
    r = np.array([0.0, rare * math.exp(-epsilon), top * math.exp(epsilon)])
    r[0] = 1 - r.sum()
    return q, r


def _rare_top(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """The best outcome is rare, and far rarer on the neighbour: selection multiplies it by m."""
    here = 10.0 ** rng.choice([rng.uniform(-4, -1), rng.uniform(-1, -0.3)])
    there = here * 10.0 ** rng.choice([rng.uniform(-2, 0), rng.uniform(-12, -2)])
    return np.array([1 - here, here]), np.array([1 - there, there])


def _empty_top(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """A top that one side never reaches: forward and reverse profiles differ the most."""
    mass = 10.0 ** rng.uniform(-3, -0.1)
    return np.array([1.0, 0.0]), np.array([1 - mass, mass])


def _disjoint(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """delta_Q(0) = 1: no guarantee at all."""
    share = rng.uniform(0.1, 0.9)
    return np.array([share, 0.0, 1 - share]), np.array([0.0, 1.0, 0.0])


_KINDS: tuple[Callable[[Rng], tuple[np.ndarray, np.ndarray]], ...] = (
    *(_dense, _near, _near, _holes, _small_holes, _pure, _pure),
    *(_spike, _spike, _spike, _rare_top, _rare_top, _empty_top, _disjoint),
)
_PLANTED = {_spike, _rare_top, _empty_top}


def _gamma(rng: Rng) -> float:
    return float(rng.choice([math.exp(rng.uniform(math.log(0.01), 0)), rng.uniform(0.8, 1)]))


def _negative_shape(rng: Rng) -> RunCount:
    shape = float(rng.choice([rng.uniform(-0.99, -0.01), -0.999, -1e-9]))
    return TruncatedNegativeBinomial(shape, _gamma(rng))


def _small_shape(rng: Rng) -> RunCount:
    return TruncatedNegativeBinomial(float(rng.choice([rng.uniform(0, 1), 1e-9])), _gamma(rng))


def _large_shape(rng: Rng) -> RunCount:
    shape = float(rng.choice([rng.uniform(1, 6), 1 + 1e-9, 50.0]))
    return TruncatedNegativeBinomial(shape, max(_gamma(rng), 0.2 if shape == 50 else 0.0))


LAWS: dict[str, Callable[[Rng], RunCount]] = {
    "shape below 0": _negative_shape,
    "logarithmic": lambda rng: logarithmic(_gamma(rng)),
    "shape in (0, 1)": _small_shape,
    "geometric": lambda rng: geometric(_gamma(rng)),
    "shape above 1": _large_shape,
    "poisson": lambda rng: Poisson(math.exp(rng.uniform(math.log(0.2), math.log(60)))),
    "binomial": lambda rng: Binomial(int(rng.integers(1, 60)), float(rng.uniform(0.01, 0.99))),
}


def law(rng: Rng, family: str, profile: Profile, *, capped: bool) -> RunCount:
    """A law of this family, with a hard stop if `capped`."""
    while True:
        found = LAWS[family](rng)
        if not capped:
            return found
        found = Capped(found, cap(rng))
        if is_quick(found, profile):
            return found


def cap(rng: Rng) -> int:
    return int(rng.choice([1, 2, 3, math.ceil(math.exp(rng.uniform(0, 4.5)))]))


def is_quick(law: Capped, profile: Profile) -> bool:
    """Whether `selection_shift` needs few intervals: it cuts [0, 1] until ln f' varies by less
    than its tolerance on each, wherever the supremum is nearly reached."""
    corners, tails = worst_tail(profile)
    weights = law.log_derivative_tail(np.concatenate([corners, tails]))
    shift = np.max(weights[: len(corners)] - weights[len(corners) :])
    return np.ptp(weights) < 10_000 * (1e-5 + 5e-4 * shift)


def tuned(rng: Rng) -> Tuned:
    """A tuning and a final run for each of its outcomes; half of them very distinguishable."""
    if rng.random() < 0.5:
        tuning = pair(rng)
        return Tuned(tuning, tuple(pair(rng) for _ in tuning.q))
    # An outcome that is likely without the record and rare with it, in both stages.
    rare = 10.0 ** rng.uniform(-3, -1)
    likely = rng.uniform(0.6, 0.95)
    r = np.array([likely, 1 - likely])
    q = np.array([likely * rare, 1 - likely * rare])
    one = Pair(q, r, np.arange(2))
    return Tuned(one, (one, one))
