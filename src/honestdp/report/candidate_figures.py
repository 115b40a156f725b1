"""Figures of all candidates, for procedures that release all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from honestdp.errors import InputError
from honestdp.release.card import Card, Chosen, MetricFacts
from honestdp.report.figures import Figure, axis, figure, plain
from honestdp.report.inputs import Declared
from honestdp.report.score_spread import score_spread, spread_words
from honestdp.report.view_model import shown

SHADES = 5  # of scores, in parallel coordinates
PAIR = ("learning_rate", "clip_norm")


@dataclass(frozen=True)
class Candidates:
    """All released candidates, the best first; the winner is the first of the card.

    spread: The standard deviation of a candidate's score, by noise and sampling.
    """

    everyone: tuple[Chosen, ...]
    winner: Chosen
    metric: MetricFacts
    spread: Callable[[Chosen], float | None] = lambda one: None
    spread_words: str = ""

    @classmethod
    def of(cls, card: Card, declared: Declared) -> Candidates | None:
        """The candidates of a card; None unless it has more than the winner."""
        if card.winner is None or not card.others:
            return None
        everyone = [card.winner, *card.others]
        without = sum(one.noisy_score is None for one in everyone)
        if 0 < without < len(everyone):
            raise InputError("card.json: only some of its candidates have scores; it was altered")
        if without:
            return cls(tuple(everyone), card.winner, card.metric)
        larger = card.metric.larger_is_better
        if larger is not None:  # else as on the card, which has the best first
            everyone.sort(key=lambda one: one.noisy_score or 0.0, reverse=larger)
        return cls(
            tuple(everyone), card.winner, card.metric,
            lambda one: score_spread(card, declared, one.noisy_score or 0.0), spread_words(card),
        )  # fmt: skip

    @property
    def scored(self) -> bool:
        """Whether scores were released."""
        return self.winner.noisy_score is not None

    @property
    def has_spread(self) -> bool:
        """Whether it is known how far scores may be off."""
        return self.scored and self.spread(self.winner) is not None

    @property
    def score_name(self) -> str:
        return f"noisy {self.metric.label}"

    @property
    def _shades(self) -> str:
        return "shades reversed" if self.metric.larger_is_better is False else "shades"

    @property
    def scores(self) -> list[float]:
        return [one.noisy_score or 0.0 for one in self.everyone]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for one in self.everyone for name in one.setting))

    @property
    def varying(self) -> list[str]:
        """Hyperparameters with more than one value."""
        return [name for name in self.names if len({repr(v) for v in self.values(name)}) > 1]

    def values(self, name: str) -> list[Any]:
        return [one.setting.get(name) for one in self.everyone]

    def label(self, one: Chosen) -> str:
        lines = [f"{plain(name)} = {plain(shown(v))}" for name, v in one.setting.items()]
        if one.noisy_score is not None:
            spread = self.spread(one)
            off = "" if spread is None else f" \u00b1 {spread:.2g}"
            lines.append(f"{self.score_name} {one.noisy_score:.4f}{off}")
        return "<br>".join([*(["the winner"] if one is self.winner else []), *lines])

    @property
    def labels(self) -> list[str]:
        return [self.label(one) for one in self.everyone]

    @property
    def _points(self) -> Figure:
        """The common part of all figures of single candidates."""
        return {
            "type": "scatter", "mode": "markers", "hovertext": self.labels, "hoverinfo": "text",
            "error_y": {"type": "data", "array": [self.spread(one) for one in self.everyone],
                        "color": "quiet", "width": 0, "thickness": 1.5},
            "marker": {
                "color": ["accent" if one is self.winner else "ink" for one in self.everyone],
                "size": [12 if one is self.winner else 6 for one in self.everyone],
            },
        }  # fmt: skip

    def ranked(self) -> Figure:
        places = list(range(1, len(self.everyone) + 1))
        trace = {**self._points, "x": places, "y": self.scores}
        return figure(
            [trace], xaxis=axis("candidates, the best score first"), yaxis=axis(self.score_name)
        )

    def slices(self) -> list[tuple[str, Figure]]:
        """The scores against each hyperparameter."""
        found = []
        for name in self.varying:
            kind, values = _scaled(self.values(name))
            trace = {**self._points, "x": values, "y": self.scores}
            found.append(
                (name, figure([trace], height=300, xaxis=_named(name, kind, values),
                              yaxis=axis(self.score_name)))
            )  # fmt: skip
        return found

    def contour(self) -> Figure | None:
        """Scores over learning rate and clip norm, averaged over everything else; None if one of
        them does not vary, or is not a number."""
        if not self.scored or not set(PAIR) <= set(self.varying):
            return None
        (x_kind, x), (y_kind, y) = (_scaled(self.values(name)) for name in PAIR)
        if "category" in (x_kind, y_kind):
            return None
        cells: dict[tuple[float, float], list[float]] = {}
        for a, b, score in zip(x, y, self.scores, strict=True):
            cells.setdefault((a, b), []).append(score)
        means = {place: sum(scores) / len(scores) for place, scores in cells.items()}
        across, upward = sorted(set(x)), sorted(set(y))
        traces: list[Figure] = [
            {
                "type": "contour", "x": across, "y": upward, "hoverinfo": "skip",
                "z": [[means.get((a, b)) for a in across] for b in upward],
                "colorscale": self._shades,
                "showscale": False,  # plotly's bar needs a looser policy; the lines are labelled
                "contours": {"showlabels": True, "labelfont": {"color": "ink", "size": 11}},
                "line": {"color": "paper", "width": 1},
            },
            {
                "type": "scatter", "mode": "markers", "x": [a for a, _ in means],
                "y": [b for _, b in means], "marker": {"color": "ink", "size": 5},
                "hovertext": [f"learning_rate = {a:g}<br>clip_norm = {b:g}<br>{self.score_name} "
                              f"{mean:.4f}{_mean_of(len(cells[a, b]))}"
                              for (a, b), mean in means.items()],
                "hoverinfo": "text",
            },
            {
                "type": "scatter", "mode": "markers", "x": [self.winner.setting[PAIR[0]]],
                "y": [self.winner.setting[PAIR[1]]], "hovertext": [self.label(self.winner)],
                "hoverinfo": "text",
                "marker": {"color": "accent", "size": 15, "symbol": "star",
                           "line": {"color": "paper", "width": 1}},
            },
        ]  # fmt: skip
        return figure(
            traces, xaxis=_named(PAIR[0], x_kind, across), yaxis=_named(PAIR[1], y_kind, upward)
        )

    def parallel(self) -> Figure:
        """Parallel coordinates: a line for each candidate. Drawn with plain lines, as plotly's own
        needs WebGL, prints blurred and has no dark mode."""
        names = self.varying
        axes = [_Scale.of(name, self.values(name)) for name in names]
        if self.scored:
            axes.append(_Scale.of(self.score_name, self.scores, ends=True))
        shades: dict[int, list[int]] = {}
        for i, one in enumerate(self.everyone):
            if one is not self.winner:
                shades.setdefault(self._shade(i), []).append(i)
        traces = [self._threads(axes, who, f"shade{shade}", 1.5) for shade, who in shades.items()]
        traces.append(self._threads(axes, [self.everyone.index(self.winner)], "accent", 4))
        ticks = [
            _note(i, y, text, xshift=4, bgcolor="veil")
            for i, scale in enumerate(axes) for y, text in scale.ticks
        ]  # fmt: skip
        titles = [_note(i, 0, one.name, yanchor="top", yshift=-12) for i, one in enumerate(axes)]
        lines = [
            {"type": "line", "x0": i, "x1": i, "y0": 0, "y1": 1, "line": {"color": "quiet"}}
            for i in range(len(axes))
        ]
        turned = [{**title, "textangle": 25} for title in titles]
        return figure(
            traces, height=440, annotations=[*ticks, *titles], shapes=lines,
            margin={"l": 8, "r": 96, "t": 16, "b": 40},
            xaxis=axis("", visible=False, range=[-0.02, len(axes) - 0.98]),
            yaxis=axis("", visible=False, range=[-0.04, 1.04]),
            narrow={"annotations": [*ticks, *turned],
                    "margin": {"l": 8, "r": 72, "t": 16, "b": 90}},
        )  # fmt: skip

    def _shade(self, index: int) -> int:
        if not self.scored:
            return SHADES // 2
        return min(SHADES - 1, (len(self.everyone) - 1 - index) * SHADES // len(self.everyone))

    def _threads(
        self, axes: Sequence[_Scale], who: Sequence[int], color: str, width: float
    ) -> Figure:
        x: list[float | None] = []
        y: list[float | None] = []
        texts: list[str] = []
        for i in who:
            x += [*range(len(axes)), None]
            y += [*(scale.heights[i] for scale in axes), None]
            texts += [self.label(self.everyone[i])] * (len(axes) + 1)
        return {
            "type": "scatter", "mode": "lines+markers", "x": x, "y": y, "hovertext": texts,
            "hoverinfo": "text", "line": {"color": color, "width": width}, "marker": {"size": 4},
        }  # fmt: skip


@dataclass(frozen=True)
class _Scale:
    """One vertical axis of parallel coordinates: heights from 0 to 1, and its ticks."""

    name: str
    heights: list[float]
    ticks: list[tuple[float, str]]

    @classmethod
    def of(cls, name: str, values: list[Any], ends: bool = False) -> _Scale:
        kind, found = _scaled(values)
        if kind == "category":
            order = list(dict.fromkeys(found))
            numbers = [float(order.index(value)) for value in found]
        else:
            numbers = [math.log(value) if kind == "log" else float(value) for value in found]
        low, high = min(numbers), max(numbers)
        width = (high - low) or 1.0
        heights = [(number - low) / width for number in numbers]
        marks = sorted(dict(zip(heights, values, strict=True)).items())
        if ends or len(marks) > 12:
            marks = [marks[0], marks[-1]]
        ticks = [(h, f"{v:.4g}" if isinstance(v, float) else shown(v)) for h, v in marks]
        return cls(name, heights, ticks)


def _note(x: float, y: float, text: str, **more: Any) -> Figure:
    """A text to the right of a point."""
    return {
        "x": x, "y": y, "text": plain(text), "showarrow": False, "xanchor": "left",
        "font": {"size": 12, "color": "ink"}, **more,
    }  # fmt: skip


def _scaled(values: list[Any]) -> tuple[str, list[Any]]:
    """The kind of axis for these values, and the values for it."""
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        return "category", [plain(shown(v)) for v in values]
    wide = min(values) > 0 and max(values) / min(values) >= 8
    return "log" if wide else "linear", values


def _named(name: str, kind: str, values: Sequence[Any]) -> dict[str, Any]:
    """An axis with a tick at every value if there are few."""
    few = sorted(set(values)) if kind != "category" else []
    ticks = (
        {"tickmode": "array", "tickvals": few, "ticktext": [f"{v:g}" for v in few]}
        if 0 < len(few) <= 12
        else {}
    )
    return {**axis(name, kind), **ticks}


def _mean_of(count: int) -> str:
    return "" if count == 1 else f", the mean of {count}"
