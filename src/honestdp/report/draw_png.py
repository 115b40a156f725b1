"""Write a picture as a PNG, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from PIL import Image

from honestdp.report import drawing
from honestdp.report.picture import Boxes, Heat, Line, Panel, Picture
from honestdp.text import SIMULATION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_STYLES = {"solid": "-", "dash": "--", "dot": ":", "points": "none"}
_INSIDE = 5  # largest number of legend entries that fit into a panel


def save(picture: Picture, path: Path) -> None:
    with matplotlib.rc_context(_settings(picture)):  # ticks are computed when drawn
        figure(picture).savefig(buffer := BytesIO(), format="png")
    colors = Image.open(buffer).convert("RGB")
    # 256 colours are enough, and reduce the file to a third.
    colors.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def figure(picture: Picture) -> Figure:
    picture = drawing.colored(picture)
    rows, columns = drawing.grid(picture)
    with matplotlib.rc_context(_settings(picture)):
        width, height = _panel_size(picture)
        made = Figure(figsize=(width * columns, height * rows), layout="constrained")
        axes = made.subplots(rows, columns, squeeze=False).ravel().tolist()
        for axis, panel in zip(axes, picture.panels, strict=False):
            _draw(axis, panel, 34 if picture.columns and columns > 1 else 70)
            if not picture.shared_legend:
                _legend(axis)
        for axis in axes[len(picture.panels) :]:
            axis.set_axis_off()
        _frame(made, picture, axes)
    return made


def _settings(picture: Picture) -> Any:
    """Larger texts for more columns, which a page shows smaller."""
    _, columns = drawing.grid(picture)
    size = min(13, 8 + 1.25 * columns) if picture.columns else 10
    return {
        "font.size": size,
        "axes.titlesize": size + 1,
        "legend.fontsize": size - (1.5 if picture.columns else 2),
        "figure.titlesize": size + 3,
        "figure.dpi": 110 if picture.columns else 130,
        "text.parse_math": False,
    }


def _panel_size(picture: Picture) -> tuple[float, float]:
    if picture.columns:
        return 4.0, 3.3
    most = max(sum(line.name != "" for line in panel.lines) for panel in picture.panels)
    beside = most > _INSIDE and not picture.shared_legend
    return 6.2 + 3.2 * beside, 4.8


def _draw(axis: Axes, panel: Panel, width: int) -> None:
    """width: The width of its texts, in characters."""
    axis.set(xscale=panel.x_scale, yscale=panel.y_scale)
    axis.set_title(fill(panel.title, width))
    axis.set(xlabel=fill(panel.x_label, width), ylabel=fill(panel.y_label, 30))
    axis.grid(alpha=0.3, which="both", linewidth=0.5)
    axis.set_axisbelow(True)
    for line in panel.lines:
        _line(axis, drawing.placed(line, panel.under))
    if isinstance(panel.under, Heat):
        _heat(axis, panel.under)
    elif isinstance(panel.under, Boxes):
        _boxes(axis, panel.under)
    if panel.x_range:
        axis.set_xlim(*panel.x_range)
    if panel.y_range:
        axis.set_ylim(*panel.y_range)
    for scaled, scale in ((axis.xaxis, panel.x_scale), (axis.yaxis, panel.y_scale)):
        if scale == "log":
            _log_ticks(scaled)


def _line(axis: Axes, line: Line) -> None:
    axis.plot(
        line.x,
        line.y,
        linestyle=_STYLES[line.style],
        label=line.name,
        color=line.color,
        marker="o" if line.markers or line.style == "points" else None,
        markersize=4,
        alpha=drawing.LIGHT if line.light else 1,
        zorder=2 if line.light else 2.5,
    )
    if line.low is not None and line.high is not None:
        shade: dict[str, Any] = {"color": line.color, "alpha": drawing.SHADE, "linewidth": 0}
        axis.fill_between(line.x, line.low, line.high, **shade)


def _heat(axis: Axes, heat: Heat) -> None:
    values = np.ma.masked_invalid(np.array(heat.z, float))
    low, high = heat.z_range or (None, None)
    colors = matplotlib.colormaps[drawing.HEAT].with_extremes(bad=drawing.MISSING)
    look: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    image = axis.imshow(values, cmap=colors, vmin=low, vmax=high, zorder=1, **look)
    if heat.marked is not None:
        marked = np.ma.masked_equal(np.array(heat.marked, int), 0)
        axis.imshow(marked, cmap=ListedColormap([drawing.MARKED]), zorder=1.1, **look)
    axis.grid(False)
    room = _room(axis, share=0.55)  # the colour scale takes the rest
    texts = any(isinstance(value, str) for value in heat.x)
    _named(axis, *drawing.ticks(heat.x, 12 if texts else max(3, int(room / 6.5))), room)
    axis.set_yticks(*drawing.ticks(heat.y, 12 if isinstance(heat.y[0], str) else 7))
    axis.set(xlim=(-0.5, len(heat.x) - 0.5), ylim=(-0.5, len(heat.y) - 0.5))
    axis.figure.colorbar(image, ax=axis, label=heat.label)


def _boxes(axis: Axes, under: Boxes) -> None:
    found = drawing.boxes(under)
    axis.bxp(
        [stats for _, stats in found],
        positions=[place for place, _ in found],
        widths=0.6,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": "#dce6f1", "edgecolor": "#555555"},
        medianprops={"color": "#1f4e79", "linewidth": 1.5},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "#999999"},
    )
    for dots in under.dots:
        look: dict[str, Any] = {"edgecolors": "black", "linewidths": 0.5, "zorder": 3}
        axis.scatter(*drawing.spread(dots), s=22, color=dots.color, label=dots.name, **look)
    _named(axis, range(len(under.groups)), under.groups, _room(axis, share=0.8))
    axis.set_xlim(-0.6, len(under.groups) - 0.4)
    axis.grid(False, axis="x")


def _room(axis: Axes, share: float) -> float:
    """About how many characters fit below an axis with this share of its panel's width."""
    columns = axis.get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
    width = axis.get_figure(root=True).get_size_inches()[0] / columns  # type: ignore[union-attr]
    return float(share * width * 72 / (0.62 * matplotlib.rcParams["font.size"]))


def _named(axis: Axes, places: Sequence[int], texts: Sequence[str], room: float) -> None:
    """Names below the axis, rotated if they would overlap."""
    turned = (max(map(len, texts)) + 1) * len(texts) > room + 3
    look: dict[str, Any] = (
        {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    )
    axis.set_xticks(places, texts, **look)


def _log_ticks(scaled: Axis) -> None:
    """Plain numbers: 0.4, not 4 x 10^-1."""
    scaled.set_major_formatter(lambda value, _: f"{value:,.10g}")
    scaled.set_minor_formatter(NullFormatter())
    low, high = scaled.get_view_interval()
    if sum(low <= tick <= high for tick in scaled.get_ticklocs()) < 3:
        scaled.set_major_locator(LogLocator(subs=(1, 2, 5)))


def _legend(axis: Axes) -> None:
    """Place the legend inside if it is small, else beside the panel."""
    handles, _ = axis.get_legend_handles_labels()
    if 0 < len(handles) <= _INSIDE:
        axis.legend(framealpha=0.9)
    elif handles:
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def _frame(made: Figure, picture: Picture, axes: Sequence[Axes]) -> None:
    """Add mark and title above the panels, shared legend and caption below; the figure grows to
    make room for them."""
    width, panels = made.get_size_inches()
    title_size, small = matplotlib.rcParams["figure.titlesize"], matplotlib.rcParams["font.size"]
    title = fill(picture.title, int(width * 72 / (0.58 * title_size)))
    caption = fill(picture.caption, int(width * 72 / (0.56 * (small - 1))))
    mark = _lines(1, small) if picture.simulation else 0
    above = mark + _lines(title.count("\n") + 1, title_size)
    caption_height = _lines(caption.count("\n") + 1, small - 1) if caption else 0
    legend = _shared_legend(made, axes) if picture.shared_legend else None
    below = caption_height + (legend.get_window_extent().height / made.dpi if legend else 0)
    height = panels + above + below
    made.set_size_inches(width, height)
    if legend:
        legend.set_bbox_to_anchor((0.5, caption_height / height))
    text: dict[str, Any] = {"ha": "center", "va": "top"}
    made.text(0.5, 1 - (mark + 0.06) / height, title, fontsize=title_size, **text)
    made.text(0.5, caption_height / height, caption, fontsize=small - 1, **text)
    if picture.simulation:
        look: dict[str, Any] = {"fontsize": small, "fontweight": "bold", "color": drawing.STAMP}
        made.text(0.06 / width, 1 - 0.06 / height, SIMULATION, va="top", **look)
    engine = made.get_layout_engine()
    engine.set(rect=(0, below / height, 1, 1 - (above + below) / height))  # type: ignore[union-attr, call-arg]


def _lines(count: int, size: float) -> float:
    """The height of lines of text, in inches."""
    return (count * 1.25 * size + 6) / 72


def _shared_legend(made: Figure, axes: Sequence[Axes]) -> Any:
    """A legend with as many entries in a row as fit."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    for columns in range(len(found), 0, -1):
        legend = made.legend(
            found.values(), found.keys(), ncols=columns, loc="lower center", frameon=False
        )
        if columns == 1 or legend.get_window_extent().width < made.bbox.width:
            return legend
        legend.remove()
    return None
