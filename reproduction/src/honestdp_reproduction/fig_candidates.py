"""Appendix B's figure: LT (gamma = 1/k) against MA as the number of candidates k grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from honestdp.report.picture import Line, Panel, Picture
from honestdp_reproduction.accounting import (
    LOGS,
    compared,
    crossing,
    delta_for,
    lt,
    ma,
    run_curve,
    settings,
)

STEPS = 10_000
MOST = 40

# Printed in the figure's caption, by n.
PRINTED = {5_000: 14, 60_000: 26}
REASONS = {
    5_000: "14 under the natural log; base 2 just reaches 15 (the lines cross at k = 15.04). "
    "No single log gives both of the caption's counts.",
    60_000: "26 under log base 2; the natural log stops at 25 (the lines cross at k = 25.9). "
    "No single log gives both of the caption's counts.",
}


def compute() -> dict[str, Any]:
    """Both costs for k = 1 ... 40, and the last k at which MA costs no more than LT."""
    ks = list(range(1, MOST + 1))
    panels = []
    for n in PRINTED:
        run, delta = run_curve(n, STEPS), delta_for(n)
        found = {
            name: {
                "lt": [lt(run, delta, 1 / k, log) for k in ks],
                "crossing": crossing(run, delta, log),
            }
            for name, log in LOGS.items()
        }
        panels.append({"n": n, "delta": delta, "ma": [ma(run, delta, k) for k in ks], **found})
    return {
        "settings": settings(STEPS),
        "candidates": ks,
        "panels": panels,
        "comparison": comparison(),
    }


def comparison() -> list[dict[str, Any]]:
    """The two crossings beside the printed ones."""
    return [
        compared(
            f"candidates MA composes at the cost of LT(gamma = 1/k), n = {n}",
            printed,
            {name: crossing(run_curve(n, STEPS), delta_for(n), log) for name, log in LOGS.items()},
            REASONS[n],
        )
        for n, printed in PRINTED.items()
    ]


def picture(result: Mapping[str, Any]) -> Picture:
    """A panel for each n, as in the paper."""
    panels = []
    for panel in result["panels"]:
        ks, natural, base2 = result["candidates"], panel["natural_log"], panel["base2_log"]
        k = natural["crossing"]
        lines = [
            Line("LT, natural log", ks, natural["lt"]),
            Line("MA", ks, panel["ma"]),
            Line("LT, log base 2", ks, base2["lt"], "dash"),
            Line(f"MA costs no more up to k = {k}", [k], [panel["ma"][k - 1]], "points"),
        ]
        title = f"n = {panel['n']}: MA composes {k} ({base2['crossing']} with log base 2)"
        panels.append(Panel(title, "candidates k", "epsilon", lines))
    printed = " and ".join(str(row["printed"]) for row in result["comparison"])
    return Picture(
        "Appendix B: LT (gamma = 1/k) against MA",
        panels,
        f"sigma 4, L 250, T 10000. The paper prints {printed}: the first is the natural log's, "
        "the second base 2's.",
    )
