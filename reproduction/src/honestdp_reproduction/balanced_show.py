"""balanced in words and as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from honestdp.report.picture import Line, Panel, Picture
from honestdp.text import columns
from honestdp_reproduction.experiment import DATASETS, Result

CLIP_NORM = 1.0  # of the tables, but one; and where the curvature is known
MUCH = 0.005  # a loss worth a word: half a point
COLOURS = {100: "#8e24aa", 250: "#1565c0", 1000: "#e08214", 4000: "#1b7837"}  # by lot size
NOTES = (
    "Noise is that of the total epsilon given, by the library's accountant; delta by its rule for "
    "n. B is the root-mean-square row norm of the training rows, declared public here.",
    "Free: the best of all twelve kappas (1/16 to 32), last or averaged, by the test rows; clip "
    "norm 1 where no other is named. Of so many it is a little too good, so a small loss is none.",
    "a s: the step size times the largest eigenvalue that the loss' Hessian can have, lambda_max("
    "X'X/n)/4 for two classes, /2 for more. Unclipped steps swing away above 2. Limit: where "
    "clipped ones do near the optimum, by the Jacobian of the mean clipped gradient there.",
    "Breaks at: the first kappa above the best that loses half a point against it, in brackets "
    "its a s.",
)


def text(result: Result) -> str:
    """One row a setup; then where the default loses half a point or more, and why."""
    head = ["table", "eps", "lot", "T", "sigma", "free"]
    for kind in ("averaged", "last"):
        head += [f"{kind}: best kappa", "loss at 3", "at 2", "breaks at"]
    rows = []
    for point in result["points"]:
        row = [_table(point), f"{point['epsilon']:g}", point["lot_size"], point["steps"]]
        row += [f"{point['noise_multiplier']:.3g}", f"{100 * point['free']:.2f}"]
        for kind in ("averaged", "last"):
            row.append(f"{point['best_kappa'][kind]:g}")
            row += [f"{100 * point['loss'][kind][kappa]:.2f}" for kappa in ("3", "2")]
            row.append(_broken(point["breaks"][kind]))
        limit = "-" if point["limit"] is None else f"{point['limit']:.1f}"
        rows.append([*row, f"{_at(point, 'stability', 3.0):.1f}", limit])
    parts = [
        "balanced: what kappa = 3, averaged, loses against a step size tuned for free, in points",
        result["what"],
        "\n".join(columns([*head, "a s at 3", "limit"], rows, left=1)),
        "\n".join(_worst(result)),
        "\n".join(f"- {note}" for note in NOTES),
    ]
    return "\n\n".join(parts)


def _broken(found: Mapping[str, float] | None) -> str:
    return "-" if found is None else f"{found['kappa']:g} ({found['stability']:.0f})"


def _worst(result: Result) -> list[str]:
    found = [point for point in result["points"] if point["loss"]["averaged"]["3"] > MUCH]
    if not found:
        return [f"Nowhere does the default lose more than {100 * MUCH:g} points."]
    return [
        f"More than {100 * MUCH:g} points are lost by the default (kappa = 3, averaged) at:",
        *(f"  {_name(point)}: {_why(point)}" for point in found),
    ]


def _why(point: Mapping[str, Any]) -> str:
    loss, steep, limit = (
        point["loss"]["averaged"]["3"],
        _at(point, "stability", 3.0),
        point["limit"],
    )
    best, rows, free = point["best_kappa"]["averaged"], point["test_rows"], point["free"]
    error = math.sqrt(free * (1 - free) / rows)
    lost = (
        f"{100 * loss:.2f} points, {loss / error:.1f} standard errors of {rows} test rows; best "
        f"kappa {best:g}"
    )
    if limit is None:
        return lost
    within = "beyond" if steep > limit else "within"
    return f"{lost}; steps {within} the limit (a s {steep:.1f}, limit {limit:.1f})"


def _name(point: Mapping[str, Any]) -> str:
    return f"{_table(point)}, lots of {point['lot_size']}, {point['steps']} steps"


def _table(point: Mapping[str, Any]) -> str:
    clip = "" if point["clip_norm"] == CLIP_NORM else f", C {point['clip_norm']:g}"
    return DATASETS[point["dataset"]] + clip


def _at(point: Mapping[str, Any], what: str, kappa: float) -> float:
    return float(point[what][point["kappas"].index(kappa)])


def picture(result: Result) -> Picture:
    """A panel for each table and number of steps: solid averaged, dashed last, by lot size."""
    panels: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for point in result["points"]:
        panels.setdefault((_table(point), point["steps"]), []).append(point)
    return Picture(
        "The balanced rule: accuracy against kappa at one total epsilon",
        [
            Panel(
                f"{table}, {steps} steps, eps {points[0]['epsilon']:g}",
                "kappa",
                "test accuracy",
                _lines(points),
                x_scale="log",
            )
            for (table, steps), points in panels.items()
        ],
        "Solid: the mean of the second half's parameters; dashed: the last. Level, dotted: the "
        "best of all, DPSGD tuned for free. The library's default is kappa = 3, averaged.",
        columns=4,
        shared_legend=True,
        simulation=True,
    )


def _lines(points: list[Mapping[str, Any]]) -> list[Line]:
    lines = []
    for point in points:
        kappas, lot, colour = point["kappas"], point["lot_size"], COLOURS[point["lot_size"]]
        ends = [kappas[0], kappas[-1]]
        lines += [
            Line(f"lots of {lot}", kappas, point["averaged"], markers=True, color=colour),
            Line(f"lots of {lot}, last", kappas, point["last"], "dash", color=colour),
            Line("", ends, [point["free"]] * 2, "dot", color=colour, light=True),
        ]
    return lines
