"""Compute the golden figures of tests/golden/subset.json, without honestdp.

    python tools/golden_subset.py            write the file
    python tools/golden_subset.py --check    compute some, compare, write nothing

What a search costs over one run, for runs that are mu-GDP with mu = 0.1 at delta = 1e-6: the table
of section 8 of the project's notes on the paper. delta_Q and G are closed forms,
delta_Q(e) = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu), G(u) = Phi(Phi^-1(u) + mu). The theorem and
its proof are in the docstring of honestdp.privacy.random_subset. Laws come from linear programmes
on the diagonal of the cube; their Lambda is then the largest ratio that climbing from many starts
finds: no proof, but the figures to compare a certificate with.
"""

from __future__ import annotations

import json
import math
import sys
from math import comb
from pathlib import Path

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.special import ndtr, ndtri

PLACE = Path(__file__).parents[1] / "tests" / "golden" / "subset.json"
MU, DELTA = 0.1, 1e-6
SUBSETS = [
    (2, 0.9), (3, 0.9), (4, 0.9), (4, 0.97), (6, 0.97), (8, 0.9), (10, 0.75), (10, 0.9),
    (20, 0.75), (20, 0.9), (40, 0.5), (40, 0.9),
]  # fmt: skip
REPEATS = [(4, 0.9), (10, 0.9), (40, 0.9)]
QUICK = 4  # figures that --check computes
U = ndtr(np.linspace(-8, 8, 321))
OWN, OTHER = 1 - U, 1 - ndtr(ndtri(U) + MU)


def epsilon(delta: float, times: float = 1) -> float:
    """Of `times` runs, all released, at this delta."""
    mu = MU * math.sqrt(times)

    def excess(e: float) -> float:
        return float(ndtr(mu / 2 - e / mu) - math.exp(e) * ndtr(-mu / 2 - e / mu)) - delta

    return float(brentq(excess, 0, 20, xtol=1e-12))


def over_one_run(shift: float, mean: float) -> float:
    return (shift + epsilon(DELTA / mean)) / epsilon(DELTA)


def best_law(runs: np.ndarray, hits: np.ndarray, hit: float, most: float | None = None):
    """The least Lambda for which a law on `runs` has this hit probability, and the law; `most`: a
    limit of E[K]."""
    own, other = (runs * s[:, None] ** (runs - 1.0) for s in (OWN, OTHER))
    low, high, law = 0.0, 3.0, None
    while high - low > 2e-5:
        shift = (low + high) / 2
        rows = own - math.exp(shift) * other
        rows /= np.abs(rows).max(axis=1, keepdims=True)
        limits = np.zeros(len(rows))
        if most is not None:
            rows, limits = np.vstack([rows, runs / most]), np.append(limits, 1.0)
        found = linprog(
            -hits, A_ub=rows, b_ub=limits, A_eq=np.ones((1, len(runs))), b_eq=[1.0],
            bounds=[(1e-4 if m == 1 else 0, 1) for m in runs],
        )  # fmt: skip
        if found.status == 0 and -found.fun >= hit:
            high, law = shift, found.x
        else:
            low = shift
    return high, law


def form(law: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray]:
    """H at a point, and the two coefficients of H as a function of each argument."""
    k = len(law)
    weights = np.array([m * law[m - 1] / comb(k - 1, m - 1) for m in range(1, k + 1)])
    lines = np.empty((k - 1, 2))
    for j in range(k - 1):
        e = np.zeros(k)
        e[0] = 1
        for i in range(k - 1):
            if i != j:
                e[1:] = e[1:] + s[i] * e[:-1]
        lines[j] = e @ weights, e[:-1] @ weights[1:]
    return float(lines[0, 0] + lines[0, 1] * s[0]), lines


def largest(law: np.ndarray) -> float:
    """ln of the largest ratio of H that is found, one coordinate moved at a time."""
    k, best = len(law), 0.0
    for start in range(10, len(U), 60):
        places, before = np.full(k - 1, start), -1.0
        while True:
            for j in range(k - 1):
                _, up = form(law, OWN[places])
                _, down = form(law, OTHER[places])
                ratio = (up[j, 0] + up[j, 1] * OWN) / (down[j, 0] + down[j, 1] * OTHER)
                places[j] = int(ratio.argmax())
            now = form(law, OWN[places])[0] / form(law, OTHER[places])[0]
            if now <= before * (1 + 1e-9) or k > 10:
                break
            before = now
        best = max(best, math.log(now))
    return best


def subset(k: int, hit: float) -> float:
    m = np.arange(1, k + 1)
    if k <= 4:  # one or all
        law = np.zeros(k)
        law[0] = k * (1 - hit) / (k - 1)
        law[-1] = 1 - law[0]
        shift = 0.0
    else:
        shift, law = best_law(m, m / k, hit)
    return over_one_run(max(shift, largest(law)) if k <= 10 else shift, float(m @ law))


def geometric(k: int, hit: float) -> float:
    gamma = (1 / hit - 1) / (k - 1)
    slope = (gamma + (1 - gamma) * np.stack([U, 1 - OTHER])) ** -2.0
    return over_one_run(float(np.log(slope[0] / slope[1]).max()), 1 / gamma)


def optimal_repeats(k: int, hit: float) -> float:
    """The best law of K draws with replacement, among those of some means."""
    runs = np.unique(np.rint(1.2 ** np.arange(0, 50)).astype(int))
    hits = 1 - (1 - 1 / k) ** runs
    costs = []
    for most in k * np.geomspace(2, 12, 8):
        shift, law = best_law(runs, hits, hit, float(most))
        if law is not None:
            costs.append(over_one_run(shift, float(runs @ law)))
    return min(costs)


def composition(k: int) -> float:
    return epsilon(DELTA, k) / epsilon(DELTA)


def key(k: int, hit: float) -> str:
    return f"{k} candidates, hit {hit:g}"


def figures(quick: bool) -> dict[str, dict[str, float]]:
    few = slice(None, QUICK if quick else None)
    repeats = REPEATS[:1] if quick else REPEATS
    found = {
        "subset": {key(*each): subset(*each) for each in SUBSETS[few]},
        "geometric": {key(*each): geometric(*each) for each in SUBSETS[few]},
        "optimal repeats": {key(*each): optimal_repeats(*each) for each in repeats},
        "composition": {str(k): composition(k) for k in (2, 3, 4, 8, 10, 20, 40)[few]},
    }  # fmt: skip
    return {name: {at: round(x, 4) for at, x in some.items()} for name, some in found.items()}


def main() -> None:
    if "--check" in sys.argv[1:]:
        known = json.loads(PLACE.read_text())["figures"]
        wrong = [
            f"{name}, {at}: {value} computed, {known[name][at]} in the file"
            for name, some in figures(quick=True).items()
            for at, value in some.items()
            if abs(value - known[name][at]) > 5e-4
        ]
        sys.exit("\n".join(wrong) or None)
    made = {"by": "tools/golden_subset.py", "mu": MU, "delta": DELTA}
    PLACE.write_text(json.dumps({"made": made, "figures": figures(quick=False)}, indent=2) + "\n")


if __name__ == "__main__":
    main()
