"""Cost against the number of candidates, for every procedure: `honestdp plan --plot`."""

from __future__ import annotations

import math
from pathlib import Path

from honestdp.planning.costs import answer
from honestdp.planning.procedures import Procedure, RandomStopping, Training, procedures
from honestdp.planning.table import CostTable, Inputs
from honestdp.report.picture import Line, Panel, Picture, save


def draw(table: CostTable, path: Path) -> None:
    """Draw the costs for 1 candidate up to four times as many as asked for."""
    save(cost_picture(table.inputs), path)


def cost_picture(inputs: Inputs, points: int = 9) -> Picture:
    most = max(100, 4 * inputs.candidates)
    grid = sorted({round(most ** (i / (points - 1))) for i in range(points)} | {inputs.candidates})
    curves: dict[str, list[tuple[int, float]]] = {}
    for k in grid:
        for option in procedures(k, inputs.hit_probability, inputs.subset):
            for bound in _drawn(option):
                found = answer(inputs, _job(inputs), option, bound, _last(curves, option, bound))
                value = found.epsilon if inputs.epsilon is None else found.noise_multiplier
                if value is not None:
                    curves.setdefault(_name(option, bound), []).append((k, value))
    lines = [
        Line(name, [x for x, _ in points_], [y for _, y in points_], markers=True)
        for name, points_ in curves.items()
    ]
    asked = "epsilon" if inputs.epsilon is None else "noise multiplier"
    lines.sort(key=lambda line: -line.y[-1])  # the legend in the order of the lines' ends
    panel = Panel("", "candidates", asked, lines, "log", "log")
    return Picture("What an honest search costs", [panel], str(inputs))


def _job(inputs: Inputs) -> Training:
    return Training(inputs.n, inputs.lot_size, inputs.steps)


def _drawn(option: Procedure) -> tuple[str, ...]:
    """Both bounds of random stopping (the paper's and ours); else the usually smallest one."""
    if isinstance(option, RandomStopping):
        return option.bounds
    if option.shape == "poisson" or option.name == "subset-tuning":
        return option.bounds[:1]
    return option.bounds[-1:]


def _name(option: Procedure, bound: str) -> str:
    shape = "" if option.shape is None else f", shape {option.shape}".removesuffix(".0")
    return f"{option.name}{shape} ({bound})"


def _last(curves: dict[str, list[tuple[int, float]]], option: Procedure, bound: str) -> float:
    """The point before on the same curve: a first guess for this one."""
    before = curves.get(_name(option, bound))
    return before[-1][1] if before and math.isfinite(before[-1][1]) else 2.0
