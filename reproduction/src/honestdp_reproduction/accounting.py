"""What the paper's accounting figures share: its own accountant, not the library's best one.

A run is T steps of the Poisson-sampled Gaussian with sigma = 4 and L = 250. Its Renyi curve is
taken at the paper's orders and converted the classic way. "MA" (moments accountant) composes k
such runs. "LT" is Liu & Talwar's Theorem 3.4, with Upsilon as the real number the paper
computes with; `privacy.selection` rounds it up to the rounds that are really run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from honestdp.planning.costs import default_delta
from honestdp.privacy import calibrate
from honestdp.privacy.curve import RdpCurve, at_orders
from honestdp.privacy.selection import LT_SLACK, liu_talwar, liu_talwar_run_delta
from honestdp_reproduction.experiment import LOT_SIZE

SIGMA = 4.0

# 1.1, 1.2, ... 10.9, 12, 13, ... 512: the grid of the paper's time, 11 left out as there.
ORDERS = (*(round(1 + i / 10, 1) for i in range(1, 100)), *(float(a) for a in range(12, 513)))

Log = Callable[[float], float]
# The logarithm in Upsilon. The theorem's is natural; Figure 1 fits the printed one with base 2.
LOGS: dict[str, Log] = {"natural_log": math.log, "base2_log": math.log2}

BASE_2 = "printed with log base 2 in Upsilon; the theorem's log is natural"

delta_for = default_delta  # the paper's rule, though Table 3's caption says otherwise


def settings(steps: int) -> dict[str, Any]:
    """What a reader needs to compute the same figures elsewhere, for JSON."""
    return {
        "noise_multiplier": SIGMA,
        "lot_size": LOT_SIZE,
        "steps": steps,
        "delta": "10^(floor(log10(1/n)) - 1)",
        "lt_slack": LT_SLACK,
        "accountant": "rdp-classic, orders 1.1, 1.2, ... 10.9, 12, 13, ... 512",
    }


@lru_cache(maxsize=64)
def _step_curve(q: float, sigma: float) -> RdpCurve:
    return at_orders(q, sigma, 1, ORDERS)  # 600 orders take most of a second


def run_curve(n: int, steps: int) -> RdpCurve:
    """The Renyi curve of one candidate's training."""
    return _step_curve(LOT_SIZE / n, SIGMA) * steps


def ma(run: RdpCurve, delta: float, candidates: int = 1) -> float:
    """epsilon of training all the candidates and releasing everything."""
    return (run * candidates).epsilon(delta, "classic")


def lt(run: RdpCurve, delta: float, gamma: float, log: Log = math.log) -> float:
    """epsilon of random stopping, 1/gamma candidates expected, Upsilon = log(1/delta_2)/gamma."""
    run_delta = liu_talwar_run_delta(delta, log(1 / LT_SLACK) / gamma)
    # Only the epsilon is needed; the delta that comes with it is for a rounded Upsilon.
    return liu_talwar(run.epsilon(run_delta, "classic"), run_delta, gamma)[0]


def ma_candidates(run: RdpCurve, delta: float, epsilon: float) -> int:
    """How many candidates MA composes at no more than epsilon."""
    return calibrate.candidates(lambda k: ma(run, delta, k), epsilon)


def crossing(run: RdpCurve, delta: float, log: Log = math.log) -> int:
    """The most candidates k that MA composes at no more than LT(gamma = 1/k)."""
    # A fixed budget of 1 for the ratio of the two, which grows with k: MA gains on LT.
    return calibrate.candidates(lambda k: ma(run, delta, k) / lt(run, delta, 1 / k, log), 1.0)


def compared(
    what: str, printed: float | None, found: dict[str, float], reason: str
) -> dict[str, Any]:
    """One figure under both logs beside the printed one; no reason needed where they agree."""
    return {"what": what, "printed": printed, **found, "reason": reason}
