"""Write a picture as one offline HTML file, with plotly inlined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.colors import to_hex, to_rgb
from plotly import subplots

from honestdp.report import drawing
from honestdp.report.figures import plain
from honestdp.report.picture import Boxes, Heat, Line, Panel, Picture, Range, Scale
from honestdp.text import SIMULATION

Trace = dict[str, Any]


def save(picture: Picture, path: Path) -> None:
    figure(picture).write_html(path, include_plotlyjs=True, full_html=True)


def figure(picture: Picture) -> Any:
    picture = drawing.colored(picture)
    rows, columns = drawing.grid(picture)
    heats = any(isinstance(panel.under, Heat) for panel in picture.panels)
    below = picture.shared_legend or heats  # the colour scale is at the right
    height = (300 if picture.columns else 390) * rows
    made = subplots.make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[_wrapped(p.title, 34 if columns > 2 else 60) for p in picture.panels],
        horizontal_spacing=min(0.12 if heats else 0.07, 0.5 / columns),
        vertical_spacing=min(90 / height, 0.5 / rows),
    )
    listed: set[str] = set()
    for i, panel in enumerate(picture.panels):
        where = {"row": i // columns + 1, "col": i % columns + 1}
        for trace in _traces(panel, made.get_subplot(**where)):
            if not isinstance(panel.under, Heat) or trace["type"] != "heatmap":
                _legend(trace, picture, i, below, listed)
            made.add_trace(trace, **where)
        x_axis, y_axis = _axes(panel, most=6 if columns > 2 else 10)
        made.update_xaxes(title_text=_wrapped(panel.x_label, 110 // columns), **x_axis, **where)
        made.update_yaxes(title_text=_wrapped(panel.y_label, 36), **y_axis, **where)
    _frame(made, picture, height, below)
    return made


def _traces(panel: Panel, subplot: Any) -> list[Trace]:
    under = panel.under
    lines = [trace for line in panel.lines for trace in _line(line, under)]
    if isinstance(under, Heat):
        return [*_heat(under, subplot), *lines]
    if isinstance(under, Boxes):
        return [*_boxes(under), *lines]
    return lines


def _line(line: Line, under: object) -> list[Trace]:
    line = drawing.placed(line, under)
    color = to_hex(str(line.color))
    points = line.style == "points"
    trace = {
        "type": "scatter",
        "x": list(line.x),
        "y": list(line.y),
        "name": line.name,
        "mode": "markers" if points else "lines+markers" if line.markers else "lines",
        "line": {"color": color, "dash": "solid" if points else line.style},
        "opacity": drawing.LIGHT if line.light else 1,
    }
    if line.low is None or line.high is None:
        return [trace]
    return [_band(line.x, line.low, line.high, color) | {"name": line.name}, trace]


def _band(x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str) -> Trace:
    """A closed outline for each sequence of finite points."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for finite, run in groupby(
        zip(x, low, high, strict=True), key=lambda point: all(map(math.isfinite, point))
    ):
        if finite:
            points = list(run)
            xs += [p[0] for p in points] + [p[0] for p in points[::-1]] + [None]
            ys += [p[1] for p in points] + [p[2] for p in points[::-1]] + [None]
    red, green, blue = (round(255 * part) for part in to_rgb(color))
    return {
        "type": "scatter",
        "x": xs,
        "y": ys,
        "mode": "none",
        "fill": "toself",
        "fillcolor": f"rgba({red},{green},{blue},{drawing.SHADE})",
        "hoverinfo": "skip",
    }


def _heat(heat: Heat, subplot: Any) -> list[Trace]:
    """The cells, and over them the marked and the missing ones, each in one colour."""
    right, (low, high) = subplot.xaxis.domain[1], subplot.yaxis.domain
    places = {"x": list(range(len(heat.x))), "y": list(range(len(heat.y)))}
    texts = [
        [plain(f"{x}, {y}: {z:.4g}") for x, z in zip(heat.x, row, strict=True)]
        for y, row in zip(heat.y, heat.z, strict=True)
    ]
    z_low, z_high = heat.z_range or (None, None)
    cells = {
        "z": [[z if math.isfinite(z) else None for z in row] for row in heat.z],
        "colorscale": drawing.HEAT,
        "zmin": z_low,
        "zmax": z_high,
        "colorbar": {
            "title": {"text": plain(heat.label), "side": "right"},
            "x": right + 0.005,
            "y": (low + high) / 2,
            "len": high - low,
            "thickness": 12,
            "ypad": 0,
        },
    }
    missing = [[not math.isfinite(z) for z in row] for row in heat.z]
    traces = [cells, _cells(missing, drawing.MISSING)]
    if heat.marked is not None:
        traces.append(_cells(heat.marked, drawing.MARKED))
    shared = {"type": "heatmap", **places, "text": texts, "hoverinfo": "text"}
    return [shared | trace for trace in traces]


def _cells(chosen: Sequence[Sequence[bool]], color: str) -> Trace:
    return {
        "z": [[1 if cell else None for cell in row] for row in chosen],
        "colorscale": [[0, color], [1, color]],
        "showscale": False,
    }


def _boxes(under: Boxes) -> list[Trace]:
    found = drawing.boxes(under)
    box = {
        "type": "box",
        "name": "",
        "x": [place for place, _ in found],
        **{key: [stats[name] for _, stats in found] for key, name in _BOX.items()},
        "line": {"color": "#555555", "width": 1.2},
        "fillcolor": "#dce6f1",
    }
    beyond = [(place, float(value)) for place, stats in found for value in stats["fliers"]]
    outliers = {
        "type": "scatter",
        "name": "",
        "mode": "markers",
        "x": [place for place, _ in beyond],
        "y": [value for _, value in beyond],
        "marker": {"color": "#999999", "size": 3},
    }
    dots = []
    for each in under.dots:
        xs, ys = drawing.spread(each)
        look = {"color": to_hex(each.color), "size": 7, "line": {"color": "black", "width": 0.7}}
        trace = {"type": "scatter", "mode": "markers", "x": xs, "y": ys, "name": each.name}
        dots.append(trace | {"marker": look})
    return [box, outliers, *dots]


_BOX = {
    "q1": "q1",
    "median": "med",
    "q3": "q3",
    "lowerfence": "whislo",
    "upperfence": "whishi",
}


def _axes(panel: Panel, most: int) -> tuple[Trace, Trace]:
    under = panel.under
    x, y = _axis(panel.x_scale, panel.x_range), _axis(panel.y_scale, panel.y_range)
    if isinstance(under, Heat):
        x, y = _named(*drawing.ticks(under.x, most)), _named(*drawing.ticks(under.y, most))
        x |= {"range": [-0.5, len(under.x) - 0.5], "showgrid": False, "zeroline": False}
        y |= {"range": [-0.5, len(under.y) - 0.5], "showgrid": False, "zeroline": False}
    elif isinstance(under, Boxes):
        x = _named(list(range(len(under.groups))), under.groups)
        x |= {"range": [-0.6, len(under.groups) - 0.4], "showgrid": False, "zeroline": False}
    return x, y


def _axis(scale: Scale, limits: Range | None) -> Trace:
    found: Trace = {"type": scale, "automargin": True}
    if scale == "log":
        found |= {"exponentformat": "none", "nticks": 5}  # 0.000001, not 1 micro
        limits = limits and (math.log10(limits[0]), math.log10(limits[1]))
    return found | ({"range": list(limits)} if limits else {})


def _named(places: Sequence[int], texts: Sequence[str]) -> Trace:
    return {"tickvals": list(places), "ticktext": [plain(t) for t in texts], "automargin": True}


def _legend(trace: Trace, picture: Picture, number: int, below: bool, listed: set[str]) -> None:
    """Add one legend entry per name in a panel, or in the picture if the legend is shared; traces
    of the same name are shown and hidden together."""
    name, title = trace["name"], picture.panels[number].title
    group = name if picture.shared_legend else f"{number} {name}"
    entry = bool(name) and trace.get("mode") != "none" and group not in listed
    own_title = entry and not picture.shared_legend and len(picture.panels) > 1
    if own_title and below:  # plotly has no headings there
        name = f"{title}: {name}"
    elif own_title and f"heading {number}" not in listed:
        trace["legendgrouptitle"] = {"text": plain(title)}
    trace |= {"name": plain(name), "showlegend": entry, "legendgroup": group}
    if entry:
        listed |= {group, f"heading {number}"}


def _frame(made: Any, picture: Picture, height: int, below: bool) -> None:
    """The mark, the title and the caption above; the legend at the right, or below."""
    caption = _wrapped(picture.caption, 150)
    mark = f'<b style="color:{drawing.STAMP}">{SIMULATION}</b><br>' if picture.simulation else ""
    title = plain(picture.title) + (f"<br><sub>{caption}</sub>" if caption else "")
    top = 76 + 22 * (mark + title).count("<br>")
    legend: Trace = {"tracegroupgap": 4}
    if below:
        legend |= {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"}
        legend |= {"x": 0.5, "xanchor": "center"}
    bottom = 110 if below else 60
    made.update_layout(
        template="plotly_white",
        title={"text": mark + title, "y": 1, "yanchor": "top", "pad": {"t": 14}, "x": 0.02},
        height=top + height + bottom,
        margin={"t": top, "b": bottom, "l": 60},
        legend=legend,
        bargap=0.2,
    )
    made.update_annotations(font_size=13)  # the panels' titles


def _wrapped(text: str, width: int) -> str:
    return plain(fill(text, width)).replace("\n", "<br>")
