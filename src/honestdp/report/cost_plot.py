"""Cost against the number of candidates, for every procedure: `honestdp plan --plot`, reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from honestdp.errors import InputError
from honestdp.planning.costs import answer, variants
from honestdp.planning.table import CostTable, Inputs
from honestdp.procedures import Procedure, Request, Training
from honestdp.report.picture import Line, Panel, Picture, save


def draw(table: CostTable, path: Path) -> None:
    """Draw the costs for 1 candidate up to four times those of the table."""
    save(cost_picture(table.inputs), path)


def cost_picture(inputs: Inputs) -> Picture:
    y_label = "epsilon" if inputs.epsilon is None else "noise multiplier"
    panel = Panel("", "candidates", y_label, cost_lines(inputs), "log", "log")
    return Picture("What an honest search costs", [panel], str(inputs))


def cost_lines(inputs: Inputs) -> list[Line]:
    """One line for each procedure and bound, in the order of their ends."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for k in candidate_counts(inputs):
        for option in variants(k, inputs.hit_probability, inputs.subset):
            for bound in option.drawn_bounds:
                _put(curves, inputs, option, bound)
    lines = _lines(curves)
    return sorted(lines, key=lambda line: -line.y[-1])


def request_line(inputs: Inputs, request: Request, bound: str) -> Line | None:
    """The line of one procedure with its options; None if its bound has no answer anywhere."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for k in candidate_counts(inputs):
        with suppress(InputError):  # no law of its shape finds the best of so many
            _put(curves, inputs, request.among(k), bound)
    return next(iter(_lines(curves)), None)


def candidate_counts(inputs: Inputs, points: int = 9) -> list[int]:
    most = max(100, 4 * inputs.candidates)
    return sorted({round(most ** (i / (points - 1))) for i in range(points)} | {inputs.candidates})


def _put(
    curves: dict[str, list[tuple[int, float]]], inputs: Inputs, option: Procedure, bound: str
) -> None:
    """Add a point, if the bound has an answer."""
    before = curves.get(_name(option, bound), ())
    found = answer(inputs, _job(inputs), option, bound, _last(before))
    value = found.epsilon if inputs.epsilon is None else found.noise_multiplier
    if value is not None:
        curves.setdefault(_name(option, bound), []).append((option.candidates, value))


def _lines(curves: dict[str, list[tuple[int, float]]]) -> list[Line]:
    return [
        Line(name, [x for x, _ in points], [y for _, y in points], markers=True)
        for name, points in curves.items()
    ]


def _job(inputs: Inputs) -> Training:
    return Training(inputs.n, inputs.lot_size, inputs.steps)


def _name(option: Procedure, bound: str) -> str:
    shape = "" if option.shape is None else f", shape {option.shape}".removesuffix(".0")
    return f"{option.name}{shape} ({bound})"


def _last(before: Sequence[tuple[int, float]]) -> float:
    """The previous point of the same curve: a first guess for the next one."""
    return before[-1][1] if before and math.isfinite(before[-1][1]) else 2.0
