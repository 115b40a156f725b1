"""Figures of an evaluation: its plots and its confusion matrix, as plotly's JSON.

They only draw what `honestdp.evaluation.curves` computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from honestdp.evaluation.curves import Interval, Matrix, Plot, percent
from honestdp.report.figures import Figure, axis, figure, plain

LONGEST = 18  # characters of a class beside an axis; the hover has all of them
MOST_NUMBERS = 12  # classes, up to which every cell of the matrix shows its share
MOST_INTERVALS = 4  # and its interval


def plot_figure(plot: Plot) -> Figure:
    """The figure of a plot."""
    traces = _FORMS[plot.form](plot)
    if plot.reference:
        x, y = zip(*plot.reference, strict=True)
        line = {"color": "quiet", "dash": "dash", "width": 1.5}
        traces.insert(0, {"type": "scatter", "mode": "lines", "x": list(x), "y": list(y),
                          "line": line, "hoverinfo": "skip"})  # fmt: skip
    across = axis(plot.x_title)
    if plot.x_kind == "log":
        across = axis(plot.x_title, "log") | {"dtick": 1, "exponentformat": "none"}
    if plot.x_kind == "category":
        across |= _names(plot.names)
    shares: dict[str, Any] = {"range": [-0.03, 1.03], "tickformat": ".0%"} if plot.shares else {}
    if plot.shares and plot.x_kind == "linear":
        across |= shares
    return figure(traces, height=360, xaxis=across, yaxis=axis(plot.y_title) | shares)


def _line(plot: Plot) -> list[Figure]:
    """Joined points; the band between the upper left and lower right corners of intervals."""
    points = plot.points
    upper = [(one.x.low, one.y.high) for one in points]
    lower = [(one.x.high, one.y.low) for one in reversed(points)]
    x, y = zip(*upper, *lower, strict=True)
    return [
        {
            "type": "scatter", "mode": "lines", "x": list(x), "y": list(y), "fill": "toself",
            "fillcolor": "shade1", "line": {"width": 0, "color": "shade1"}, "hoverinfo": "skip",
        },
        {
            "type": "scatter", "mode": "lines+markers", "x": [one.x.value for one in points],
            "y": [one.y.value for one in points], "line": {"color": "accent", "width": 2},
            "marker": {"size": 5, "color": "accent"},
            "hovertext": [plain(one.label) for one in points], "hoverinfo": "text",
        },
    ]  # fmt: skip


def _points(plot: Plot) -> list[Figure]:
    """Points, each with its own bars."""
    points = plot.points
    return [
        {
            "type": "scatter", "mode": "markers", "x": [one.x.value for one in points],
            "y": [one.y.value for one in points],
            "error_x": _bar([one.x for one in points], "rule"),
            "error_y": _bar([one.y for one in points], "shade4"),
            "marker": {"size": 8, "color": "accent"},
            "hovertext": [plain(one.label) for one in points], "hoverinfo": "text",
        }
    ]  # fmt: skip


_FORMS = {"line": _line, "points": _points}


def _bar(found: Sequence[Interval], color: str) -> Figure:
    return {
        "type": "data", "symmetric": False, "color": color, "width": 0, "thickness": 2,
        "array": [one.high - one.value for one in found],
        "arrayminus": [one.value - one.low for one in found],
    }  # fmt: skip


def matrix_figure(matrix: Matrix) -> Figure:
    """The confusion matrix: a row for each class, shaded by the share of each answer.

    Drawn with rectangles: plotly's own heat map is a picture, which needs a looser policy.
    """
    count = len(matrix.classes)
    places = [(i, j) for i in range(count) for j in range(count)]
    trace = {
        "type": "scatter", "mode": "markers", "x": [j for _, j in places],
        "y": [i for i, _ in places], "marker": {"size": 18, "opacity": 0},
        "hovertext": [_hover(matrix, i, j) for i, j in places], "hoverinfo": "text",
    }  # fmt: skip
    known = [(i, j, row[j]) for i, row in enumerate(matrix.shares) if row for j in range(count)]
    notes = [_note(*one, count) for one in known] if count <= MOST_NUMBERS else []
    notes += [
        _text((count - 1) / 2, i, "too few rows", 11)
        for i, row in enumerate(matrix.shares) if row is None
    ]  # fmt: skip
    ticks, span = _names(matrix.classes), [-0.5, count - 0.5]
    return figure(
        [trace], height=min(280 + 24 * count, 760), annotations=notes,
        shapes=[_cell(*one) for one in known],
        xaxis=axis("answer", showgrid=False, range=span) | ticks,
        yaxis=axis("true class", showgrid=False, range=span[::-1]) | ticks,
        narrow={"annotations": [{**note, "font": {"size": 9, "color": "ink"}} for note in notes]},
    )  # fmt: skip


def _cell(i: int, j: int, share: Interval) -> Figure:
    return {
        "type": "rect", "x0": j - 0.48, "x1": j + 0.48, "y0": i - 0.48, "y1": i + 0.48,
        "fillcolor": "shade3", "opacity": share.value, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def _hover(matrix: Matrix, i: int, j: int) -> str:
    row, true, answer = matrix.shares[i], plain(matrix.classes[i]), plain(matrix.classes[j])
    if row is None:
        return f"{true}: too few rows to tell them from noise"
    return f"of {true}, {percent(row[j])} answered {answer}<br>about {matrix.counts[i][j]:.0f} rows"


def _note(i: int, j: int, share: Interval, count: int) -> Figure:
    text = f"{100 * share.value:.0f} %" if share.low > 0 else ""
    if count <= MOST_INTERVALS:
        text = f"{100 * share.value:.1f} %<br>({100 * share.low:.1f} to {100 * share.high:.1f})"
    return _text(j, i, text, 13 if count <= MOST_INTERVALS else 11)


def _text(x: float, y: float, text: str, size: int) -> Figure:
    font = {"size": size, "color": "ink"}
    return {"x": x, "y": y, "text": text, "showarrow": False, "font": font}


def _names(names: Sequence[str]) -> dict[str, Any]:
    """Ticks with the names of classes."""
    short = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\u2026" for name in names]
    return {
        "tickmode": "array", "tickvals": list(range(len(names))),
        "ticktext": [plain(name) for name in short],
    }  # fmt: skip
