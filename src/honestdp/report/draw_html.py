"""A picture as one offline HTML file, by plotly, inlined."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from honestdp.report.picture import Picture


def save(picture: Picture, path: Path) -> None:
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
                line={"dash": "solid" if line.style == "points" else line.style},
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
