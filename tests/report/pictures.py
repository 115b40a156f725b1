"""One picture of each kind, for tests here and in the browser."""

from __future__ import annotations

import math

from honestdp.report.picture import Boxes, Dots, Heat, Line, Panel, Picture, Scale

RATES = [10.0**i for i in range(-4, 1)]
NORMS = [0.1, 1.0, 10.0]
CELLS = [[0.1, 0.2, 0.3, 0.4, math.nan], [0.2, 0.3, 0.9, 0.4, math.inf], [0.1] * 5]
MARKED = [[False] * 5, [False, False, True, False, False], [False] * 5]


def _lines(panel: str, scale: Scale) -> Panel:
    lines = [
        Line("DPAdam", [1, 2, 3, 4], [1, 2, 2, 1], color="crimson",
             low=[0.5, 1.5, math.nan, 0.5], high=[1.5, 2.5, math.nan, 1.5]),
        Line("DPSGD < DPAdam", [1, 2, 3, 4], [2, 1, 1, 2], "dash", light=True),
        Line("as printed", [2, 3], [1.2, 1.4], "points"),
    ]  # fmt: skip
    return Panel(panel, "steps", "accuracy", lines, scale, x_range=(1, 10), y_range=(0, 3))


HEAT = Panel(
    "Adult",
    "learning rate",
    "clipping norm",
    [Line("formula", [1e-4, 1e-2, 1.0], [10.0, 1.0, 0.1], color="red")],
    under=Heat(RATES, NORMS, CELLS, MARKED, "accuracy", (0, 1)),
)
BOXES = Panel("Adult", "", "accuracy", under=Boxes(
    ["DPSGD", "DPAdam", "none"],
    [[0.5, 0.6, 0.65, 0.7, 0.8, 2.0], [0.7, 0.8, 0.9], []],
    [Dots("four candidates", [[0.5, 0.6, 0.7], [0.7], []]),
     Dots("chosen", [[0.8], [0.9], []], "gold")],
))  # fmt: skip

PICTURES = {
    "lines": Picture("Lines", [_lines("Adult", "log")]),
    "grid": Picture(
        "A grid", [_lines(f"panel {i}", "linear") for i in range(8)], "What it shows.",
        columns=4, shared_legend=True, simulation=True,
    ),
    "heat": Picture("A heat map", [HEAT], simulation=True),
    "boxes": Picture("Boxes", [BOXES, BOXES], columns=2, shared_legend=True),
}  # fmt: skip
