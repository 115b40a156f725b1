"""Figures as plotly's JSON. Colours are names ("ink", "accent"), which the page's style sheet
defines for light and dark mode; texts are escaped, as plotly parses tags in them."""

from __future__ import annotations

from html import escape
from typing import Any

from honestdp.planning.table import Inputs
from honestdp.procedures.base import HIT_PROBABILITY, SUBSET_SHARE
from honestdp.release.card import Card
from honestdp.report.cost_plot import cost_lines, request_line
from honestdp.report.inputs import Declared
from honestdp.report.picture import Line
from honestdp.report.view_model import Budget
from honestdp.text import up

Figure = dict[str, Any]


def plain(text: object) -> str:
    """Escape a text for plotly, which parses tags and entities in every label."""
    return escape(str(text), quote=False)


def axis(title: str, kind: str = "linear", **more: Any) -> dict[str, Any]:
    found = {
        "title": {"text": plain(title)}, "type": kind, "fixedrange": True, "automargin": True,
        "zeroline": False, **more,
    }  # fmt: skip
    if kind == "log":  # plain numbers: 0.4, not 4 x 10^-1
        found |= {"dtick": "D2", "tickformat": "~r", "exponentformat": "none"}
    return found


def figure(traces: list[Figure], narrow: Figure | None = None, **layout: Any) -> Figure:
    """narrow: the layout that differs on a phone."""
    base = {
        "height": 380, "margin": {"l": 56, "r": 12, "t": 16, "b": 48}, "showlegend": False,
        "hovermode": "closest", "dragmode": False, "hoverlabel": {"align": "left"},
    }  # fmt: skip
    return {"data": traces, "layout": {**base, **layout}, "narrow": narrow or {}}


def budget_figure(budget: Budget) -> Figure:
    """The share of the budget that was used after every charge."""
    trace: Figure = {
        "type": "bar", "x": [str(number) for number, _, _ in budget.points],
        "y": [100 * used for _, _, used in budget.points],
        "marker": {"color": ["accent" if number == budget.own_number else "quiet"
                             for number, _, _ in budget.points]},
        "hovertext": [f"charge {number}: \u03b5 {up(epsilon)} alone<br>"
                      f"{100 * used:.1f} % used after it"
                      for number, epsilon, used in budget.points],
        "hoverinfo": "text",
    }  # fmt: skip
    return figure(
        [trace], height=280, bargap=0.35, xaxis=axis("charge", "category"),
        yaxis=axis("used in all, %", range=[0, 104]),
        shapes=[{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 100, "y1": 100,
                 "line": {"color": "bad", "dash": "dash"}}],
    )  # fmt: skip


class Costs:
    """What every procedure would have cost at this run's noise, with the run on its own line.

    mark: (candidates, epsilon) of the run, as on its card.
    """

    def __init__(self, card: Card, declared: Declared) -> None:
        request = declared.search.request
        self.candidates = len(declared.grid)
        self.mark = (self.candidates, card.covered[0].epsilon)
        self.learnt = card.preprocessing.epsilon > 0  # paid in addition to the search
        self.noise = declared.noise_multiplier
        own = request.among(self.candidates)
        self.hit = request.options.get("hit_probability")
        if (
            request.options.get("mean_runs") is not None
        ):  # the others with this run's hit probability
            self.hit = own.hit_probability
        elif own.hit_probability in (None, 1.0) or not own.selects:
            self.hit = HIT_PROBABILITY
        if self.hit is not None and not 0 < self.hit < 1:
            self.hit = None
        inputs = Inputs(
            n=declared.training_rows,
            lot_size=max(1, round(declared.sampling_probability * declared.training_rows)),
            steps=declared.steps,
            candidates=self.candidates,
            delta=declared.search.delta,
            noise_multiplier=declared.noise_multiplier,
            epsilon=None,
            hit_probability=self.hit,
            subset=request.options.get("subset", SUBSET_SHARE),
        )
        self.own = self._through_mark(request_line(inputs, request, card.accounting.bound))
        self.others = [line for line in cost_lines(inputs) if not _same(line, self.own)]

    def _through_mark(self, line: Line | None) -> Line | None:
        """The line, if it goes through the run's point; a card of another version may not."""
        k, epsilon = self.mark
        here = dict(zip(line.x, line.y, strict=True)).get(k) if line else None
        return line if here is not None and abs(here - epsilon) <= 0.01 * epsilon else None

    @property
    def figure(self) -> Figure:
        traces = [_cost_trace(line, i) for i, line in enumerate(self.others)]
        k, epsilon = self.mark
        less = " (without learnt bounds)" if self.learnt else ""
        this = f"this run: {_among(k)}, \u03b5 {up(epsilon)}{less}"
        if self.own is not None:
            own = _cost_trace(self.own, None)
            if k in self.own.x:  # the point beneath the star
                own["hovertext"][list(self.own.x).index(k)] = this
            traces.append(own)
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": "this run", "x": [k], "y": [epsilon],
                "marker": {"color": "accent", "size": 15, "symbol": "star",
                           "line": {"color": "paper", "width": 1}},
                "hovertext": [this],
                "hoverinfo": "text",
            }
        )  # fmt: skip
        below = {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "font": {"size": 10.5}}
        return figure(
            traces, showlegend=True, legend={"traceorder": "normal"}, height=440,
            xaxis=axis("candidates to choose among", "log"),
            yaxis=axis("\u03b5 of the whole search", "log"),
            narrow={"legend": below, "height": 680, "margin": {"l": 48, "r": 8, "t": 8, "b": 260}},
        )  # fmt: skip


def _among(k: int) -> str:
    return "one candidate" if k == 1 else f"{k} candidates"


def _cost_trace(line: Line, number: int | None) -> Figure:
    own = number is None
    color = "accent" if own else f"line{(number or 0) % 10}"
    name = f"{line.name}: as this run" if own else line.name
    return {
        "type": "scatter", "mode": "lines+markers", "name": plain(name),
        "x": list(line.x), "y": list(line.y),
        "line": {"color": color, "width": 4 if own else 1.6},
        "marker": {"size": 4},
        "hovertext": [plain(f"{line.name}: {_among(int(k))}, \u03b5 {up(y)}")
                      for k, y in zip(line.x, line.y, strict=True)],
        "hoverinfo": "text",
    }  # fmt: skip


def _same(line: Line, own: Line | None) -> bool:
    return own is not None and (line.name, line.x, line.y) == (own.name, own.x, own.y)
