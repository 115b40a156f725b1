"""`Picture`: a plot independent of its format, saved as a PNG or as one offline HTML file.

A panel has lines, optionally over a heat map or boxes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from honestdp.errors import fail

Scale = Literal["linear", "log"]
Range = tuple[float, float]  # low, high, in values


@dataclass(frozen=True)
class Line:
    """style "points": not joined. light: faint, for the background. low, high: a shaded interval
    around the line. color: a CSS name, or #rrggbb. A name "" is not in the legend."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["solid", "dash", "dot", "points"] = "solid"
    markers: bool = False
    color: str | None = None
    light: bool = False
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _same_length("y", self.y, self.x, "the line's x")
        if (self.low is None) != (self.high is None):
            raise fail("line", self.name, "give both low and high, or neither")
        _same_length("low", self.x if self.low is None else self.low, self.x, "the line's x")
        _same_length("high", self.x if self.high is None else self.high, self.x, "the line's x")


@dataclass(frozen=True)
class Heat:
    """Cells, equally spaced: z[i][j] is at y[i], x[j], the first row lowest.

    A cell that is not finite is grey, a marked one white. The panel's lines are in values of x and
    y, on a logarithmic scale if all of these are above 0; on an axis of texts the cells are at 0,
    1, 2, ... label: what the colours mean. z_range: for equal colours across panels.
    """

    x: Sequence[str] | Sequence[float]
    y: Sequence[str] | Sequence[float]
    z: Sequence[Sequence[float]]
    marked: Sequence[Sequence[bool]] | None = None
    label: str = ""
    z_range: Range | None = None

    def __post_init__(self) -> None:
        for name, rows in (("z", self.z), ("marked", self.marked)):
            if rows is not None:
                _same_length(name, rows, self.y, "the heat map's y")
                for row in rows:
                    _same_length(f"a row of {name}", row, self.x, "the heat map's x")


@dataclass(frozen=True)
class Dots:
    """Single values drawn over the boxes: values[i] are those of group i, if any."""

    name: str
    values: Sequence[Sequence[float]]
    color: str = "black"


@dataclass(frozen=True)
class Boxes:
    """A box for each group: values[i] are those of groups[i]; a group without values is a gap."""

    groups: Sequence[str]
    values: Sequence[Sequence[float]]
    dots: Sequence[Dots] = ()

    def __post_init__(self) -> None:
        for name, values in (("values", self.values), *((d.name, d.values) for d in self.dots)):
            _same_length(name, values, self.groups, "the boxes' groups")
        for group, own in zip(self.groups, self.values, strict=True):
            if not all(map(math.isfinite, own)):
                raise fail("group", group, "a box needs finite values; count the others elsewhere")


@dataclass(frozen=True)
class Panel:
    """under: the heat map or boxes that the lines are drawn over."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line] = ()
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_range: Range | None = None
    y_range: Range | None = None
    under: Heat | Boxes | None = None

    def __post_init__(self) -> None:
        own = (self.x_scale, self.y_scale, self.x_range, self.y_range)
        if isinstance(self.under, Heat) and own != ("linear", "linear", None, None):
            raise fail("panel", self.title, "a heat map has its own axes: give no scale or range")


@dataclass(frozen=True)
class Picture:
    """columns: panels in a row; by default all. shared_legend: one legend for all panels, with one
    colour per name. simulation: made with known seeds, and marked as such."""

    title: str
    panels: Sequence[Panel]
    caption: str = ""
    columns: int | None = None
    shared_legend: bool = False
    simulation: bool = False


def check_target(path: Path) -> None:
    """Raise InputError, before any computation, if a picture cannot be written there."""
    if path.suffix.lower() not in (".html", ".png"):
        raise fail("plot", str(path), "give a file that ends in .html or .png")
    if not path.absolute().parent.is_dir():
        raise fail("plot", str(path), "its folder does not exist; create it first")
    if path.is_dir():
        raise fail("plot", str(path), "is a folder; give a file in it")


def save(picture: Picture, path: Path) -> None:
    """Write the picture in the format of the file's suffix."""
    check_target(path)
    if path.suffix.lower() == ".png":
        from honestdp.report import draw_png

        draw_png.save(picture, path)
    else:
        from honestdp.report import draw_html

        draw_html.save(picture, path)


def _same_length(name: str, values: Sequence[object], others: Sequence[object], of: str) -> None:
    if len(values) != len(others):
        raise fail(name, len(values), f"there must be as many as there are in {of}: {len(others)}")
