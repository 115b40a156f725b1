"""A picture as a PNG, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from honestdp.report.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


def save(picture: Picture, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    count = len(picture.panels)
    wide = 3.2 if any(len(panel.lines) > 5 for panel in picture.panels) else 0
    figure, axes = plt.subplots(1, count, figsize=((6.2 + wide) * count, 4.8), squeeze=False)
    styles = {"solid": "-", "dash": "--", "dot": ":", "points": ""}
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
