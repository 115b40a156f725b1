"""Compute the golden figures of tests/golden/figures.json, without honestdp.

    python tools/golden_figures.py            write the file
    python tools/golden_figures.py --check    compute the quick ones, compare, write nothing

One run is T steps of the Poisson-subsampled Gaussian mechanism, for neighbours that add or remove
one record. Its Renyi divergences and its privacy loss distribution are dp-accounting's; every
theorem on top of them is written out below as it is printed. References: CKS 2020 is Canonne,
Kamath & Steinke, Proposition 12; Liu & Talwar 2019, Theorem 3.4; Papernot & Steinke 2022, Theorems
2 and 6; the profile bound and the threshold variant are proved in the docstrings of
honestdp.privacy.selection, the filter in that of honestdp.privacy.spending.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant as rdp
from scipy.optimize import brentq

PLACE = Path(__file__).parents[1] / "tests" / "golden" / "figures.json"

DELTA = 1e-6
LOT = 250
SIGMA = 4.0
K = 40
JOBS = {"adult": (36177, 2500), "mnist": (60000, 10000), "small": (5000, 10000)}  # n, T
ORDERS = np.unique(
    np.concatenate(
        [
            np.arange(1.05, 12, 0.05),
            np.arange(12, 64, 0.5),
            np.arange(64, 513),
            np.rint(np.geomspace(512, 8192, 60)),
        ]
    )
)
LOSSES = np.concatenate([np.linspace(0, 4, 8001), np.linspace(4, 40, 3601)[1:]])  # the t of G
LT_DELTA_2 = 1e-20


# One run


@cache
def divergences(n: int, steps: int, sigma: float, orders: tuple[float, ...]) -> np.ndarray:
    """Renyi divergences of a run at these orders."""
    one = rdp._compute_rdp_poisson_subsampled_gaussian(LOT / n, float(sigma), np.array(orders))
    return steps * np.asarray(one)


def curve(n: int, steps: int, sigma: float) -> np.ndarray:
    return divergences(n, steps, sigma, tuple(ORDERS.tolist()))


@cache
def losses(n: int, steps: int, sigma: float) -> Any:
    """The privacy loss distribution of a run, on the private side."""
    step = pld.from_gaussian_mechanism(
        float(sigma), sampling_prob=LOT / n, value_discretization_interval=1e-4
    )
    return step.self_compose(steps)


@cache
def profile(n: int, steps: int, sigma: float) -> np.ndarray:
    """delta_Q at `LOSSES`, the larger of both directions."""
    return np.array(losses(n, steps, sigma).get_delta_for_epsilon(LOSSES.tolist()))


# From curve or profile to epsilon


def conversion(order: Any, delta: float) -> Any:
    """CKS 2020: (divergence + this, delta)-DP."""
    return np.log1p(-1 / order) - np.log(order * delta) / (order - 1)


def of_curve(values: np.ndarray, delta: float = DELTA, orders: np.ndarray = ORDERS) -> float:
    return float(np.min(values + conversion(orders, delta)))


def of_profile(deltas: np.ndarray, multiplier: float, shift: float, delta: float = DELTA) -> float:
    """The least epsilon with multiplier * delta_Q(epsilon - shift) <= delta; ln delta_Q is taken
    as linear between the losses of the table."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(deltas, 1e-300))
    wanted = math.log(delta / multiplier)
    first = int(np.argmax(logs <= wanted))
    a, b = LOSSES[first - 1], LOSSES[first]
    share = (logs[first - 1] - wanted) / (logs[first - 1] - logs[first])
    return float(a + share * (b - a)) + shift


# Laws of K: gamma and f'


def mean_of(shape: float, gamma: float) -> float:
    if shape == 0:
        return (1 / gamma - 1) / math.log(1 / gamma)
    return shape * (1 - gamma) / (gamma * (1 - gamma**shape))


def gamma_of(shape: float, mean: float) -> float:
    return float(brentq(lambda g: mean_of(shape, g) - mean, 1e-9, 1 - 1e-9, xtol=1e-15))


def derivative(shape: float, gamma: float) -> Callable[[np.ndarray], np.ndarray]:
    """f'(1 - u) up to a constant factor, truncated negative binomial."""
    return lambda u: (gamma + (1 - gamma) * u) ** -(1 + shape)


def capped_geometric(gamma: float, cap: int) -> tuple[float, Callable[[np.ndarray], np.ndarray]]:
    """The mean of min(K, cap), and f'(1 - u) as the sum it is."""
    k = np.arange(1, cap + 1)
    p = gamma * (1 - gamma) ** (k - 1)
    p[-1] = (1 - gamma) ** (cap - 1)
    return float((k * p).sum()), lambda u: ((k * p) * (1 - u[:, None]) ** (k - 1)).sum(axis=1)


def kinks(deltas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """u and G(u) = min(1, min_t e^t u + delta_Q(t)) where two lines of G meet."""
    slopes = np.exp(LOSSES)
    u = -np.diff(deltas) / np.diff(slopes)
    u = u[(u > 1e-14) & (u < 1)]
    blocks = np.array_split(u, max(1, len(u) // 200))
    g = np.concatenate([(slopes * b[:, None] + deltas).min(axis=1) for b in blocks])
    return u, np.minimum(1, g)


def shift_of(deltas: np.ndarray, f: Callable[[np.ndarray], np.ndarray]) -> float:
    """Lambda = sup_u ln f'(1 - u) / f'(1 - G(u)), at the kinks of G and at u = 0."""
    u, g = kinks(deltas)
    u, g = np.append(u, 0.0), np.append(g, deltas.min())
    return float(np.max(np.log(f(u) / f(g))))


# The figures


def composition_rdp(n: int, steps: int, times: int = K) -> float:
    return of_curve(times * curve(n, steps, SIGMA))


def composition_pld(n: int, steps: int, times: int = K) -> float:
    return float(losses(n, steps * times, SIGMA).get_epsilon_for_delta(DELTA))


def liu_talwar(n: int, steps: int) -> float:
    rounds = math.ceil(math.log(1 / LT_DELTA_2) * K)  # gamma = 1/K
    run_delta = ((DELTA - LT_DELTA_2) / rounds) ** 2 / 2
    return 3 * of_curve(curve(n, steps, SIGMA), run_delta) + 3 * math.sqrt(2 * run_delta)


def papernot_steinke(n: int, steps: int, shape: float) -> float:
    gamma, values = gamma_of(shape, K), curve(n, steps, SIGMA)
    least = np.min((1 - 1 / ORDERS) * values + math.log(1 / gamma) / ORDERS)
    return of_curve(values + (1 + shape) * least + math.log(K) / (ORDERS - 1))


def papernot_steinke_poisson(n: int, steps: int) -> float:
    deltas = losses(n, steps, SIGMA).get_delta_for_epsilon(
        np.log1p(1 / (ORDERS[::-1] - 1)).tolist()
    )
    values = curve(n, steps, SIGMA) + K * np.array(deltas)[::-1] + math.log(K) / (ORDERS - 1)
    return of_curve(values)


def profile_bound(n: int, steps: int, shape: float, sigma: float = SIGMA, mean: float = K) -> float:
    deltas = profile(n, steps, sigma)
    return of_profile(deltas, mean, shift_of(deltas, derivative(shape, gamma_of(shape, mean))))


def capped(n: int, steps: int, mean: float, cap: int) -> float:
    deltas = profile(n, steps, SIGMA)
    multiplier, f = capped_geometric(1 / mean, cap)
    return of_profile(deltas, multiplier, shift_of(deltas, f))


def profile_bound_poisson(n: int, steps: int) -> float:
    deltas = profile(n, steps, SIGMA)
    return of_profile(deltas, K, K * float(deltas[0]))  # Lambda = mu delta_Q(0)


def profile_bound_as_curve(n: int, steps: int, shape: float) -> float:
    shift = shift_of(profile(n, steps, SIGMA), derivative(shape, gamma_of(shape, K)))
    return of_curve(curve(n, steps, SIGMA) + shift + math.log(K) / (ORDERS - 1))


def threshold_shift(n: int, steps: int) -> float:
    """sup_p ln (gamma + (1-gamma) G(p)) / (gamma + (1-gamma) p): f' of shape 0, gamma = 1/K."""
    return shift_of(profile(n, steps, SIGMA), derivative(0.0, 1 / K))


def shared_lots(n: int, steps: int, times: int) -> float:
    return of_curve(curve(n, steps, SIGMA / math.sqrt(times)))


def hit(shape: float | str) -> float:
    """1 - f(1 - 1/K) at E[K] = K."""
    if shape == "poisson":
        return 1 - math.exp(-1)
    gamma = gamma_of(float(shape), K)
    s = gamma + (1 - gamma) / K
    if shape == 0:
        return 1 - math.log(s) / math.log(gamma)
    return 1 - (s ** -float(shape) - 1) / (gamma ** -float(shape) - 1)


def runs_for_hit(probability: float) -> float:
    """The mean of a geometric K that draws one of K candidates so often: 1 - f(1 - 1/K) with
    f(x) = gamma x / (1 - (1-gamma) x) is (1/K) / (gamma + (1-gamma)/K)."""
    gamma = float(brentq(lambda g: (1 / K) / (g + (1 - g) / K) - probability, 1e-9, 1))
    return 1 / gamma


def run_at_total_of_one(n: int, steps: int, shape: float) -> float:
    """The epsilon of one run where the whole search, by the profile bound, has epsilon 1."""
    sigma = brentq(lambda s: profile_bound(n, steps, shape, round(s, 6)) - 1, 2.0, 4.0, xtol=1e-3)
    return float(losses(n, steps, round(sigma, 6)).get_epsilon_for_delta(DELTA))


def large_table(most: int | None) -> float:
    """One run at n = 950,000, T = 10,000: with orders below `most`, or all."""
    orders = ORDERS
    if most is not None:
        orders = np.array([1 + x / 10 for x in range(1, 100)] + list(range(11, most + 1)))
    return of_curve(divergences(950_000, 10_000, SIGMA, tuple(orders.tolist())), DELTA, orders)


# The filter: a budget of (1, 1e-6), plans of sigma 6

FILTER = (10.75, 20.0, 40.0)  # its orders
NOISE = 6.0


def _room() -> list[tuple[float, float, float]]:
    """Order, what a plan adds there, what is left for plans: epsilon 1 minus CKS 2020 at a third
    of 3/4 of delta."""
    values = divergences(*JOBS["adult"], NOISE, FILTER)
    d = 0.75 * DELTA / len(FILTER)
    return [(a, float(r), 1 - float(conversion(a, d))) for a, r in zip(FILTER, values, strict=True)]


def plans_in_a_budget() -> int:
    return max(math.floor(room / r) for _, r, room in _room())


def left_after_one() -> float:
    """The largest pure epsilon e that fits beside one plan: it adds min(e, a e^2 / 2)."""
    rest = [(a, room - r) for a, r, room in _room() if room > r]
    return min(1.0, max(max(x, math.sqrt(2 * x / a)) for a, x in rest))


def plans_fixed_in_advance(times: int) -> float:
    return of_curve(times * curve(*JOBS["adult"], NOISE))


def quick() -> dict[str, Any]:
    """The figures that need no large loss distribution."""
    adult = JOBS["adult"]
    jobs = JOBS.values()
    return {
        "composition, rdp": [composition_rdp(*job) for job in jobs],
        "random-stopping, liu-talwar": [liu_talwar(*job) for job in jobs],
        "random-repeats, papernot-steinke, shape 1": [papernot_steinke(*j, 1) for j in jobs],
        "random-repeats, papernot-steinke, shape 0": [papernot_steinke(*j, 0) for j in jobs],
        "shared lots": {str(k): shared_lots(*adult, k) for k in (40, 4)},
        "lots apart": {str(k): composition_rdp(*adult, k) for k in (40, 4)},
        "profile, adult": {str(s): profile_bound(*adult, s) for s in (1, 0)},
        "uncapped": {"40": profile_bound(*adult, 1), "1000": profile_bound(*adult, 1, mean=1000)},
        "capped": {"40": capped(*adult, 40, 120), "1000": capped(*adult, 1000, 40)},
        "poisson": {
            "profile": profile_bound_poisson(*adult),
            "papernot-steinke": papernot_steinke_poisson(*adult),
        },
        "profile as a curve": {str(s): profile_bound_as_curve(*adult, s) for s in (1, 0)},
        "threshold": of_profile(profile(*adult, SIGMA), K, threshold_shift(*adult)),
        "threshold as a curve": of_curve(
            curve(*adult, SIGMA) + threshold_shift(*adult) + math.log(K) / (ORDERS - 1)
        ),
        "hit probability": {str(s): hit(s) for s in (0, 1, "poisson")},
        "runs for a hit probability of 0.9": runs_for_hit(0.9),
        "one run of 950000 rows": {"63": large_table(63), "all": large_table(None)},
        "filter": {
            "one plan": float(losses(*adult, NOISE).get_epsilon_for_delta(DELTA)),
            "plans": plans_in_a_budget(),
            "left after one": left_after_one(),
            "fixed in advance": {str(k): plans_fixed_in_advance(k) for k in (14, 15)},
        },
    }


def slow() -> dict[str, Any]:
    jobs = JOBS.values()
    return {
        "composition, pld": [composition_pld(*job) for job in jobs],
        "random-repeats, profile, shape 1": [profile_bound(*job, 1) for job in jobs],
        "random-repeats, profile, shape 0": [profile_bound(*job, 0) for job in jobs],
        "one run at a total of 1": {str(s): run_at_total_of_one(*JOBS["adult"], s) for s in (1, 0)},
    }


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return value if isinstance(value, int) else float(f"{value:.5g}")


def differences(found: Any, known: Any, where: str = "") -> Iterable[str]:
    if isinstance(found, dict):
        for name, value in found.items():
            yield from differences(value, known[name], f"{where}/{name}")
    elif isinstance(found, list):
        for i, value in enumerate(found):
            yield from differences(value, known[i], f"{where}/{i}")
    elif abs(found - known) > 2e-4 * abs(known):
        yield f"{where}: {found:.6g} computed, {known:.6g} in the file"


def main() -> None:
    if "--check" in sys.argv[1:]:
        wrong = list(differences(quick(), json.loads(PLACE.read_text())["figures"]))
        sys.exit("\n".join(wrong) or None)
    figures = rounded({**quick(), **slow()})
    made = {"by": "tools/golden_figures.py", "dp-accounting": version("dp-accounting")}
    PLACE.write_text(json.dumps({"made": made, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
