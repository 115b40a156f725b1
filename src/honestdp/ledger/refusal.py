"""What is said of a plan that a budget does not cover: its cost, what is left, what would fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from honestdp.errors import BudgetError
from honestdp.privacy.curve import RdpCurve, gaussian
from honestdp.privacy.spending import Budget, Spending
from honestdp.text import down, small, up

_GAUSSIAN = gaussian(1.0)


def refusal(budget: Budget, spent: Sequence[Spending], cost: Spending) -> BudgetError:
    """The error for a plan that does not fit: its cost, what is left, and what would fit."""
    epsilon, delta = budget.left(spent)
    return BudgetError(
        f"plan costs epsilon={up(cost.epsilon)} (delta={small(cost.delta)}); left are "
        f"epsilon={down(epsilon)}, delta={delta:.3g} of "
        f"epsilon={budget.epsilon:g}, delta={budget.delta:g}; {_would_fit(budget, spent, cost)}"
    )


def _would_fit(budget: Budget, spent: Sequence[Spending], cost: Spending) -> str:
    if cost.largest_loss < math.inf:  # known as a pair
        found = budget.largest(spent, lambda e: Spending.of_pair(e, cost.slack), cost.epsilon)
        if float(down(found)) > 0:
            return f"epsilon={down(found)} at this delta would fit"
        return "a smaller delta may fit" if cost.slack else "nothing more fits"

    def similar(weight: float) -> Spending:  # a Gaussian of noise multiplier 1 / sqrt(weight)
        curve = RdpCurve(_GAUSSIAN.orders, weight * _GAUSSIAN.values)
        return Spending.of_curve(curve, cost.delta, slack=cost.slack)

    # A training that uses up what is left behaves much like one Gaussian. Its epsilon is scaled by
    # how much tighter the refused plan's epsilon is than that of its curve.
    own = cost.curve.epsilon(cost.delta - cost.slack)
    tighter = cost.epsilon / own if 0 < own < math.inf else 1.0
    found = tighter * similar(budget.largest(spent, similar, 4 * budget.epsilon)).epsilon
    if float(down(found)) <= 0:
        return "nothing more of its kind fits"
    return f"a plan with epsilon of about {down(found)} at this delta would fit"
