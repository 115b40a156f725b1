"""The common part of both formats of a picture: colours, layout, positions on axes, boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from honestdp.report.picture import Boxes, Dots, Heat, Line, Panel, Picture

# matplotlib's ten, in both formats.
PALETTE = (
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd"),
    *("#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"),
)
HEAT = "viridis"
MISSING = "#b8b8b8"  # a heat map's cell without a number
MARKED = "#ffffff"
STAMP = "#b00020"
LIGHT = 0.5  # opacity of a light line
SHADE = 0.18  # and of an interval


def grid(picture: Picture) -> tuple[int, int]:
    """Rows and columns."""
    columns = min(picture.columns or len(picture.panels), len(picture.panels))
    return math.ceil(len(picture.panels) / columns), columns


def colored(picture: Picture) -> Picture:
    """The same picture with a colour for every line: one per name, in a panel or in all."""
    shared = _given(picture.panels)
    panels = []
    for panel in picture.panels:
        used = shared if picture.shared_legend else _given([panel])
        panels.append(replace(panel, lines=[_color(line, used) for line in panel.lines]))
    return replace(picture, panels=panels)


def _given(panels: Sequence[Panel]) -> dict[str, str]:
    """The colours that lines already have, by name."""
    found: dict[str, str] = {}
    for panel in panels:
        for line in panel.lines:
            if line.color is not None and line.name:
                found.setdefault(line.name, line.color)
    return found


def _color(line: Line, used: dict[str, str]) -> Line:
    if line.color is not None:
        return line
    name = line.name or f"unnamed {len(used)}"
    if name not in used:
        free = [color for color in PALETTE if color not in used.values()]
        used[name] = free[0] if free else PALETTE[len(used) % len(PALETTE)]
    return replace(line, color=used[name])


def placed(line: Line, under: object) -> Line:
    """The line in the coordinates of its panel's axes: over a heat map, those of its cells."""
    if not isinstance(under, Heat):
        return line
    low, high = (side and places(side, under.y) for side in (line.low, line.high))
    return replace(line, x=places(line.x, under.x), y=places(line.y, under.y), low=low, high=high)


def places(values: Sequence[float], axis: Sequence[str] | Sequence[float]) -> list[float]:
    """The positions of values on a heat map's axis, whose cells are at 0, 1, 2, ...; NaN: none."""
    from scipy.interpolate import make_interp_spline

    wanted = np.asarray(values, float)
    if len(axis) > 1 and not any(isinstance(value, str) for value in axis):
        known = np.asarray(axis, float)
        if (known > 0).all():
            known = np.log(known)
            wanted = np.log(np.where(wanted > 0, wanted, np.nan))
        order = np.argsort(known)
        wanted = make_interp_spline(known[order], order.astype(float), k=1)(wanted)
    return [float(place) for place in wanted]


def ticks(axis: Sequence[str] | Sequence[float], most: int) -> tuple[list[int], list[str]]:
    """Positions and texts of at most `most` labels; if some are left out, short ones (whole
    decades) are preferred."""
    texts = [value if isinstance(value, str) else f"{value:.3g}" for value in axis]
    least = math.ceil(len(axis) / most)
    steps = [least] if least == 1 else [least, least + 1, least + 2]
    step = min(steps, key=lambda step: max(map(len, texts[::step])))
    return list(range(0, len(axis), step)), texts[::step]


def boxes(under: Boxes) -> list[tuple[int, dict[str, Any]]]:
    """Position, quartiles, whiskers and outliers of every group that has values; the same for both
    formats, as plotly's own quartiles differ."""
    from matplotlib.cbook import boxplot_stats

    return [
        (place, boxplot_stats(list(values))[0])
        for place, values in enumerate(under.values)
        if len(values)
    ]


def spread(dots: Dots) -> tuple[list[float], list[float]]:
    """The dots of every group side by side, about its middle."""
    xs: list[float] = []
    ys: list[float] = []
    for place, values in enumerate(dots.values):
        step = min(0.08, 0.4 / max(1, len(values)))
        xs += [place + step * (i - (len(values) - 1) / 2) for i in range(len(values))]
        ys += values
    return xs, ys
