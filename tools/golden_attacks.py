"""Compute the golden figures of tests/golden/attacks.json, without honestdp.

    python tools/golden_attacks.py            write the file; needs riskcal
    python tools/golden_attacks.py --check    compute all but riskcal's, compare, write nothing

What someone can do who bets on one row, for mechanisms whose loss is known: two Gaussians by their
formulas, a training and a search by dp-accounting's losses (as in golden_figures.py), and, as a
second opinion on the same losses, riskcal 1.5.1 (Kulynych, Gomez et al. 2024), which answers with
the trade-off curve of one direction of neighbours and not with delta.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import golden_figures as known
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.optimize import brentq
from scipy.stats import norm

PLACE = known.PLACE.with_name("attacks.json")
RATES = (0.001, 0.01, 0.1)
NOISE = 1.654  # of one run on Adult at epsilon 1
LOSSES = known.LOSSES


def gaussian_delta(mu: float, epsilon: float) -> float:
    return float(
        norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    )


def of_gaussian(mu: float) -> dict[str, Any]:
    """N(0, 1) against N(mu, 1); swapped, by way of the null row, mu counts twice."""
    return {
        "mu": mu,
        "success": float(norm.cdf(mu / 2)),
        "swapped": float(norm.cdf(mu)),
        "rates": [float(norm.cdf(norm.ppf(rate) + mu)) for rate in RATES],
    }


def of_deltas(deltas: np.ndarray) -> dict[str, Any]:
    """From delta at `LOSSES`, of both directions: the least over all (epsilon, delta) statements
    of what each says of a test, by trying all of them."""
    grown = np.exp(LOSSES)

    def tail(rate: float) -> float:
        return float(min(np.min(grown * rate + deltas), np.min(1 - (1 - rate - deltas) / grown)))

    advantage = max(tail(a) - a for a in np.linspace(0.3, 0.5, 2001))
    half = brentq(lambda a: tail(a) - 0.5, 0.0, 0.5)
    return {
        "success": (1 + advantage) / 2,
        "swapped": 1 - half,
        "rates": [tail(rate) for rate in RATES],
    }


def training(sigma: float) -> np.ndarray:
    return known.profile(*known.JOBS["adult"], sigma)


def search(shape: float) -> np.ndarray:
    """The profile bound for 40 runs at sigma 4, as a profile."""
    deltas = training(known.SIGMA)
    shift = known.shift_of(deltas, known.derivative(shape, known.gamma_of(shape, known.K)))
    moved = np.interp(np.maximum(0.0, LOSSES - shift), LOSSES, deltas)
    return np.minimum(1.0, known.K * moved)


def two_trainings() -> np.ndarray:
    n, steps = known.JOBS["adult"]
    both = [known.losses(n, steps, sigma) for sigma in (NOISE, known.SIGMA)]
    return np.array(both[0].compose(both[1]).get_delta_for_epsilon(LOSSES.tolist()))


def figures() -> dict[str, Any]:
    mu = float(brentq(lambda m: gaussian_delta(m, 1.0) - 1e-6, 0.05, 1.0, xtol=1e-15))
    return {
        "gaussian at (1, 1e-6)": of_gaussian(mu),
        "worst case at (1, 1e-6)": (math.e + 1e-6) / (1 + math.e),
        "gaussians of noise 8 and 5": of_gaussian(math.hypot(1 / 8, 1 / 5)),
        "training": of_deltas(training(NOISE)),
        "search": {str(shape): of_deltas(search(shape)) for shape in (0, 1)},
        "two trainings": of_deltas(two_trainings()),
    }


def by_riskcal() -> dict[str, Any]:
    """The largest of both directions, which riskcal's curve is not: its error rates both ways."""
    from riskcal.analysis.conversions import get_advantage_from_pld, get_beta_from_pld

    n, steps = known.JOBS["adult"]
    one = known.losses(n, steps, NOISE)
    turned = pld.PrivacyLossDistribution(one._pmf_add, one._pmf_remove)
    rates = [
        1 - min(float(get_beta_from_pld(side, alpha=rate)) for side in (one, turned))
        for rate in RATES
    ]
    return {"success": (1 + float(get_advantage_from_pld(one))) / 2, "rates": rates}


def main() -> None:
    if "--check" in sys.argv:
        kept = json.loads(PLACE.read_text())["figures"]
        wrong = list(known.differences(known.rounded(figures()), kept))
        print("\n".join(wrong) or "every figure is as in the file")
        sys.exit(bool(wrong))
    found = {"figures": known.rounded(figures() | {"riskcal": by_riskcal()})}
    Path(PLACE).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
