"""The trade-off curve of a release: how often an attacker must be wrong, one way or the other."""

from __future__ import annotations

import numpy as np

from honestdp.release.attack_facts import AttackFacts
from honestdp.release.card import Card
from honestdp.report.figures import Figure, axis, figure


def trade_off_figure(card: Card, attack: AttackFacts) -> Figure:
    """The curve, the worst case at the same epsilon and delta, and a coin."""
    own: Figure = {
        "type": "scatter", "mode": "lines", "name": "this release",
        "x": [100 * one.false_positive for one in attack.trade_off],
        "y": [100 * one.false_negative for one in attack.trade_off],
        "line": {"color": "accent", "width": 3}, "hovertemplate": _told("this release"),
    }  # fmt: skip
    coin: Figure = {
        "type": "scatter", "mode": "lines", "name": "a coin", "x": [0, 100], "y": [100, 0],
        "line": {"color": "quiet", "dash": "dash"}, "hoverinfo": "skip",
    }  # fmt: skip
    x, y = worst_case(card.guarantee.epsilon, card.guarantee.delta)
    worst: Figure = {
        "type": "scatter", "mode": "lines", "name": "the worst case",
        "x": [100 * a for a in x], "y": [100 * b for b in y],
        "line": {"color": "bad", "dash": "dot", "width": 1.6},
        "hovertemplate": _told("the worst case at this \u03b5 and \u03b4"),
    }  # fmt: skip
    legend = {"x": 0.98, "y": 0.98, "xanchor": "right", "yanchor": "top"}
    return figure(
        [coin, worst, own], height=320, showlegend=True, legend=legend,
        xaxis=axis("empty rows taken for real ones, in 100", range=[0, 100]),
        yaxis=axis("real rows missed, in 100", range=[0, 102]),
    )  # fmt: skip


def worst_case(epsilon: float, delta: float) -> tuple[list[float], list[float]]:
    """Corners of the trade-off curve of the most revealing mechanism of this (epsilon, delta):
    max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)) (Kairouz, Oh & Viswanath 2015)."""
    middle = float((1 - delta) * np.exp(-epsilon) / (1 + np.exp(-epsilon)))
    return [0.0, middle, 1 - delta, 1.0], [1 - delta, middle, 0.0, 0.0]


def _told(name: str) -> str:
    return f"{name}: %{{x:.3g}} false alarms, %{{y:.3g}} missed<extra></extra>"
