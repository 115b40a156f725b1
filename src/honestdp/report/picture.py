"""Line charts, to a PNG (matplotlib) or to one offline HTML file (plotly, inlined)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from honestdp.errors import fail

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Line:
    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["solid", "dash", "dot"] = "solid"
    markers: bool = False


@dataclass(frozen=True)
class Panel:
    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"


@dataclass(frozen=True)
class Picture:
    title: str
    panels: Sequence[Panel]
    caption: str = field(default="")


def check_target(path: Path) -> None:
    """Fails early, before any computing, where a picture could not be written."""
    if path.suffix.lower() not in (".html", ".png"):
        raise fail("plot", str(path), "name a file that ends in .html or .png")
    if not path.absolute().parent.is_dir():
        raise fail("plot", str(path), "its folder does not exist; make it first")
    if path.is_dir():
        raise fail("plot", str(path), "is a folder; name a file in it")


def save(picture: Picture, path: Path) -> None:
    """Write the picture in the format its suffix names."""
    check_target(path)
    if path.suffix.lower() == ".png":
        _save_png(picture, path)
    else:
        _save_html(picture, path)


def _save_png(picture: Picture, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    count = len(picture.panels)
    wide = 3.2 if any(len(panel.lines) > 5 for panel in picture.panels) else 0
    figure, axes = plt.subplots(1, count, figsize=((6.2 + wide) * count, 4.8), squeeze=False)
    styles = {"solid": "-", "dash": "--", "dot": ":"}
    for axis, panel in zip(axes[0], picture.panels, strict=True):
        for line in panel.lines:
            marker = "o" if line.markers else None
            axis.plot(
                line.x, line.y, styles[line.style], label=line.name, marker=marker, markersize=4
            )
        axis.set(xscale=panel.x_scale, yscale=panel.y_scale, title=panel.title)
        axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
        axis.grid(alpha=0.3, which="both", linewidth=0.5)
        for scaled, scale in ((axis.xaxis, panel.x_scale), (axis.yaxis, panel.y_scale)):
            if scale == "log":  # plain numbers: 0.4, not 4 x 10^-1
                scaled.set_major_formatter(lambda value, _: f"{value:,.10g}")
                scaled.set_minor_formatter(NullFormatter())
                if len([t for t in scaled.get_ticklocs() if _inside(scaled, t)]) < 3:
                    scaled.set_major_locator(LogLocator(subs=(1, 2, 5)))
        _legend(axis)
    figure.suptitle(picture.title)
    if picture.caption:
        caption = fill(picture.caption, 110 * count)
        figure.text(0.5, 0.01, caption, ha="center", va="bottom", fontsize=8)
    figure.tight_layout(rect=(0, 0.05 if picture.caption else 0, 1, 1))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _inside(axis: Axis, value: float) -> bool:
    low, high = axis.get_view_interval()
    return bool(low <= value <= high)


def _legend(axis: Axes) -> None:
    """Inside while it is small; beside the panel where it would hide the lines."""
    if len(axis.get_lines()) <= 5:
        axis.legend(fontsize=8, framealpha=0.9)
    else:
        axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def _save_html(picture: Picture, path: Path) -> None:
    from plotly import graph_objects, subplots

    figure = subplots.make_subplots(
        rows=1, cols=len(picture.panels), subplot_titles=[p.title for p in picture.panels]
    )
    for column, panel in enumerate(picture.panels, start=1):
        for line in panel.lines:
            trace = graph_objects.Scatter(
                x=list(line.x),
                y=list(line.y),
                name=line.name,
                mode="lines+markers" if line.markers else "lines",
                line={"dash": line.style},
                legendgroup=str(column),
                legendgrouptitle={"text": panel.title},
            )
            figure.add_trace(trace, row=1, col=column)
        figure.update_xaxes(title_text=panel.x_label, type=panel.x_scale, row=1, col=column)
        figure.update_yaxes(title_text=panel.y_label, type=panel.y_scale, row=1, col=column)
    caption = fill(picture.caption, 150).replace("\n", "<br>")
    title = picture.title + (f"<br><sub>{caption}</sub>" if caption else "")
    figure.update_layout(title=title, template="plotly_white", height=560, margin={"t": 110})
    figure.write_html(path, include_plotlyjs=True, full_html=True)
