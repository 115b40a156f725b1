"""Small figures of what each column adds to a linear model's prediction, the largest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from honestdp.report.figures import Figure, axis, figure, plain

if TYPE_CHECKING:
    from honestdp.release.effects import ColumnEffect, Effect, Effects  # which need torch

MOST = 12  # columns that are drawn
MOST_BARS = 16  # categories of a column that are drawn, those that matter most
LONGEST = 22  # characters of a label beside a bar; the hover has all of them
HEIGHT, BAR = 240, 22  # of a curve, and of each bar, in pixels


@dataclass(frozen=True)
class Panel:
    """One column's figure, and the same in words."""

    name: str  # of the figure
    column: str
    size: str
    noise: str
    lowest: str
    highest: str
    figure: Figure
    notes: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Effect of {self.column}: lowest {self.lowest}, highest {self.highest}"


@dataclass(frozen=True)
class EffectPanels:
    """The figures of the largest columns, on one scale.

    hidden: How many smaller columns are not drawn. several: Whether there are more than two
    classes; each column is then drawn for the class that it changes most.
    """

    panels: tuple[Panel, ...]
    hidden: int
    several: bool
    unit: str
    note: str
    has_noise: bool

    @classmethod
    def of(cls, effects: Effects) -> EffectPanels:
        chosen = [(column, _class_of(column, effects)) for column in effects.columns[:MOST]]
        shown = [(column, name, column.of_class(name)) for column, name in chosen]
        ends = [_ends(one) for _, _, points in shown for one in points]
        span = [min(low for low, _ in ends), max(high for _, high in ends)]
        room = 0.05 * ((span[1] - span[0]) or 1.0)
        span = [span[0] - room, span[1] + room]
        several = len(effects.classes) > 1
        return cls(
            panels=tuple(
                _panel(i, column, name if several else None, points, span)
                for i, (column, name, points) in enumerate(shown)
            ),
            hidden=len(effects.columns) - len(shown),
            several=several,
            unit=effects.unit,
            note=effects.note,
            has_noise=effects.noise_sd is not None,
        )


def _class_of(column: ColumnEffect, effects: Effects) -> str | None:
    """The class whose output the column changes most."""

    def size(name: str | None) -> float:
        values = [one.contribution for one in column.of_class(name)]
        return max(values) - min(values)

    return max(effects.classes, key=size)


def _ends(one: Effect) -> tuple[float, float]:
    """A contribution minus and plus one standard deviation of its noise."""
    noise = one.noise_sd or 0.0
    return one.contribution - noise, one.contribution + noise


def _panel(
    place: int, column: ColumnEffect, of: str | None, points: Sequence[Effect], span: list[float]
) -> Panel:
    title = column.column if of is None else f"{column.column}, for {of}"
    draw = _bars if column.kind == "bars" else _curve
    low = min(points, key=lambda one: one.contribution)
    high = max(points, key=lambda one: one.contribution)
    return Panel(
        name=f"effect-{place}",
        column=title,
        size=f"{column.size:.3g}",
        noise="" if column.noise_sd is None else f"\u00b1{column.noise_sd:.2g}",
        lowest=f"at {low.label} ({low.contribution:+.2g})",
        highest=f"at {high.label} ({high.contribution:+.2g})",
        figure=draw(_short(title, 2 * LONGEST), points, span),
        notes=column.notes,
    )


def _curve(title: str, points: Sequence[Effect], span: list[float]) -> Figure:
    placed = [one for one in points if one.position is not None]
    x, y = [one.position for one in placed], [one.contribution for one in placed]
    traces: list[Figure] = []
    if placed[0].noise_sd is not None:
        lower, upper = zip(*map(_ends, placed), strict=True)
        traces.append(
            {
                "type": "scatter", "mode": "lines", "x": [*x, *x[::-1]],
                "y": [*upper, *lower[::-1]], "fill": "toself", "fillcolor": "shade1",
                "line": {"width": 0, "color": "shade1"}, "hoverinfo": "skip",
            }
        )  # fmt: skip
    traces.append(
        {
            "type": "scatter", "mode": "lines+markers", "x": x, "y": y,
            "line": {"color": "accent", "width": 2.5}, "marker": {"color": "accent", "size": 5},
            "hovertext": _hovers(placed), "hoverinfo": "text",
        }
    )  # fmt: skip
    for one in points:  # a case apart, such as a missing cell: a line across
        if one.position is None:
            hovers = _hovers([one]) * len(x)
            traces.append({
                "type": "scatter", "mode": "lines", "x": x, "y": [one.contribution] * len(x),
                "line": {"color": "quiet", "width": 2, "dash": "dot"}, "hovertext": hovers,
                "hoverinfo": "text",
            })  # fmt: skip
    return _small(traces, title, HEIGHT, yaxis=_values(span), xaxis=axis(""))


def _bars(title: str, points: Sequence[Effect], span: list[float]) -> Figure:
    # Categories without a weight of their own come last.
    largest = sorted(points, key=lambda one: (one.note, -abs(one.contribution)))[:MOST_BARS]
    shown = sorted(largest, key=lambda one: one.contribution)
    places = list(range(len(shown)))
    bars: Figure = {
        "type": "bar", "orientation": "h", "y": places, "x": [one.contribution for one in shown],
        "marker": {"color": "shade3"}, "hovertext": _hovers(shown), "hoverinfo": "text",
    }  # fmt: skip
    if shown[0].noise_sd is not None:
        noise = [one.noise_sd for one in shown]
        bars["error_x"] = {
            "type": "data", "array": noise, "color": "ink", "thickness": 1.2, "width": 3
        }  # fmt: skip
    left = len(points) - len(shown)
    more = f" ({left} more)" if left else ""
    labels = [plain(_short(one.label, LONGEST)) for one in shown]
    ticks: dict[str, Any] = {
        "tickmode": "array",
        "tickvals": places,
        "ticktext": labels,
        "showgrid": False,
    }
    height = max(HEIGHT // 2, 90 + BAR * len(shown))
    return _small(
        [bars], title + more, height, xaxis=_values(span), yaxis=axis("", **ticks), bargap=0.3
    )


def _small(traces: list[Figure], title: str, height: int, **layout: Any) -> Figure:
    head = {"text": plain(title), "x": 0.02, "xanchor": "left", "y": 0.97, "yanchor": "top",
            "font": {"size": 14, "color": "ink"}}  # fmt: skip
    margin = {"l": 44, "r": 12, "t": 36, "b": 36}
    return figure(traces, height=height, title=head, margin=margin, **layout)


def _values(span: list[float]) -> Figure:
    """The axis of contributions, the same for all columns, with a line at zero."""
    return axis("", range=span, zeroline=True, zerolinecolor="quiet", nticks=6)


def _hovers(points: Sequence[Effect]) -> list[str]:
    return [
        f"{plain(one.label)}: {one.contribution:+.3g}"
        + ("" if one.noise_sd is None else f" \u00b1 {one.noise_sd:.2g}")
        + (f" ({plain(one.note)})" if one.note else "")
        for one in points
    ]


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"
