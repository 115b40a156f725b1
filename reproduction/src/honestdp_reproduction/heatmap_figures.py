"""What follows from saved maps: the paper's white cells, its claims measured, Theorem 2's rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from honestdp.report.picture import Heat, Line, Panel, Picture
from honestdp.text import columns
from honestdp_reproduction import theorem2
from honestdp_reproduction.experiment import LOT_SIZE, WHAT, Choice, Result, rounded
from honestdp_reproduction.heatmaps import OPTIMIZERS, Found, Maps, wanted

NAMES = {"dpsgd": "DPSGD", "dpsgd-averaged": "DPSGD, averaged", "dpadam": "DPAdam"}
USUAL = (0.1, 0.2)  # clip norms the paper names as having no white cell


def result(dataset: str, repetitions: Mapping[int, int], choice: Choice, maps: Maps) -> Result:
    """One entry for each sigma and number of steps, over all its repetitions."""
    groups: dict[tuple[float, int], list[Found]] = {}
    for one in wanted(dataset, repetitions, choice):
        groups.setdefault((one.sigma, one.steps), []).append(maps.get(one))
    any_map = next(iter(groups.values()))[0]
    return {
        "what": WHAT,
        "dataset": dataset,
        "problem": any_map.problem,
        "lot_size": LOT_SIZE,
        "grid": list(any_map.map.grid),
        "maps": [_entry(sigma, steps, found) for (sigma, steps), found in groups.items()],
    }


def _entry(sigma: float, steps: int, found: Sequence[Found]) -> dict[str, Any]:
    by_name = {name: [f for f in found if f.map.optimizer == name] for name in OPTIMIZERS}
    grid, problem = found[0].map.grid, found[0].problem
    setting = theorem2.Setting(problem["distance"], problem["parameters"], steps, sigma, LOT_SIZE)
    first = {name: by_name[name][0].losses for name in ("dpsgd", "dpadam")}
    threshold = theorem2.first_percentile(first["dpsgd"])
    return {
        "sigma": sigma,
        "steps": steps,
        "repetitions": len(by_name["dpsgd"]),
        "threshold": threshold,
        "first": {
            name: {
                "log10_loss": _rows(np.log10(losses)),
                "white": theorem2.white(losses, threshold).tolist(),
            }
            for name, losses in first.items()
        },
        "claims": [
            _claims(grid, sgd.losses, adam.losses)
            for sgd, adam in zip(by_name["dpsgd"], by_name["dpadam"], strict=True)
        ],
        "corrected": [setting.corrected(clip) for clip in grid],
        "printed": [setting.printed(clip) for clip in grid],
        "best": {name: _best(grid, by_name[name]) for name in OPTIMIZERS},
    }


def _rows(values: theorem2.Losses) -> list[list[float | None]]:
    return [[rounded(v) if np.isfinite(v) else None for v in row] for row in values]


def _claims(
    grid: Sequence[float], sgd: theorem2.Losses, adam: theorem2.Losses
) -> dict[str, dict[str, Any]]:
    threshold = theorem2.first_percentile(sgd)
    return {
        name: theorem2.spread(grid, marked) | {"line": theorem2.on_one_line(grid, marked)}
        for name, marked in (
            ("dpsgd", theorem2.white(sgd, threshold)),
            ("dpadam", theorem2.white(adam, threshold)),
        )
    }


def _best(grid: Sequence[float], found: Sequence[Found]) -> dict[str, Any]:
    """By the mean logarithm of the loss over the repetitions."""
    logs = np.mean([np.log10(f.losses) for f in found], 0)
    clipped = np.mean([f.clipped for f in found], 0)
    rates = theorem2.best_rates(grid, logs, clipped)
    return {"rates": rates, "branches": theorem2.branches(rates)}


def text(title: str, result: Result, why: Sequence[str]) -> str:
    problem = result["problem"]
    lines = [
        title,
        result["what"],
        f"{problem['rows']} rows, {problem['parameters']} parameters "
        f"({problem['parameters_are']}), L = {result['lot_size']}; {problem['loss']}, log10",
        f"R = {problem['distance']:g}: {problem['distance_is']}",
    ]
    for entry in result["maps"]:
        lines += [
            "",
            f"sigma = {entry['sigma']:g}, T = {entry['steps']}; {entry['repetitions']} times",
            "",
            *_white_table(entry),
            "",
            *_branch_table(entry, problem["distance"]),
            *_limits(entry, problem),
        ]
    return "\n".join([*lines, "", *why])


def _white_table(entry: Mapping[str, Any]) -> list[str]:
    """What is white, as a range over the repetitions."""

    def over(name: str, *keys: str, digits: int = 0) -> str:
        values = []
        for claim in entry["claims"]:
            value = claim[name]
            for key in keys:
                value = value[key]
            values.append(value)
        return _span(values, digits)

    rows = [
        [
            NAMES[name],
            over(name, "cells"),
            over(name, "line", "cells"),
            over(name, "rates"),
            over(name, "clips"),
            over(name, "clip_decades", digits=1),
            over(name, "clips_at_best_rate"),
            over(name, "clip_decades_at_best_rate", digits=1),
            _without(claim[name]["clips_without"] for claim in entry["claims"]),
        ]
        for name in ("dpsgd", "dpadam")
    ]
    heads = ["white cells", "all", "near a line", "rates", "clips", "decades"]
    return columns([*heads, "clips at best rate", "decades there", "none at C ="], rows, left=1)


def _span(values: Iterable[float | None], digits: int) -> str:
    known = [value for value in values if value is not None]
    ends = sorted({f"{v:.{digits}f}" for v in (min(known), max(known))}, key=float)
    return "..".join(ends)


def _without(lists: Iterable[Sequence[float]]) -> str:
    """In how many repetitions the clip norms the paper names are without a white cell."""
    found = list(lists)
    return ", ".join(f"{c:g} ({sum(c in one for one in found)}/{len(found)})" for c in USUAL)


def _branch_table(entry: Mapping[str, Any], distance: float) -> list[str]:
    formula = entry["corrected"][0] * entry["best"]["dpsgd"]["rates"][0]["clip"]
    printed = entry["printed"][0] * entry["best"]["dpsgd"]["rates"][0]["clip"]
    rows = [
        [
            NAMES[name],
            "10 % or more" if branch["clipped"] else "fewer",
            f"{branch['from']:g}..{branch['to']:g}",
            branch["points"],
            f"{branch['slope']:.2f}",
            f"{branch['product']:.3g}",
            *(
                # The theorem is about DPSGD.
                "" if name == "dpadam" else f"{branch['product'] / theory:.2g}"
                for theory in (formula, printed, formula / distance)
            ),
        ]
        for name in OPTIMIZERS
        for branch in entry["best"][name]["branches"]
    ]
    heads = ["best rate of", "rows clipped", "C", "points", "slope in C", "rate x C"]
    return [
        f"Theorem 2, rate x C: {formula:.3g} corrected, {printed:.3g} as printed; slope -1",
        *columns([*heads, "/ corrected", "/ printed", "R that fits"], rows, left=3),
    ]


def _limits(entry: Mapping[str, Any], problem: Mapping[str, Any]) -> list[str]:
    lines = [
        f"Unclipped gradient descent is stable below a rate of {2 / problem['smoothness']:.2g}; "
        f"the median gradient at the start is {problem['first_gradients'][1]:.3g} long."
    ]
    straight = problem.get("one_direction")
    if straight:
        lines.append(
            "A clip norm below all gradients leaves their directions alone, which never turn: "
            f"training goes straight, best at rate x C = {straight['travel'] / entry['steps']:.2g},"
            f" loss {straight['loss']:.3g}, whatever C."
        )
    return lines


def picture(title: str, result: Result) -> Picture:
    panels = []
    grid = result["grid"]
    for entry in result["maps"]:
        for name, found in entry["first"].items():
            lines = _formulas(grid, entry) if name == "dpsgd" else []
            panels.append(
                Panel(
                    f"{NAMES[name]}, T = {entry['steps']}, sigma = {entry['sigma']:g}",
                    "clip norm C",
                    "learning rate",
                    lines,
                    under=Heat(
                        grid, grid, _filled(found["log10_loss"]), found["white"],
                        "log10 of the training loss", _colours(entry),
                    ),
                )
            )  # fmt: skip
        panels.append(_theorem(grid, entry, result["problem"]))
    return Picture(
        title,
        panels,
        f"{result['problem']['loss'].capitalize()} over all training rows at the end. White: below "
        "the 1st percentile of DPSGD's 900 losses. Maps: one repetition; best rates: the mean "
        "logarithm over all. The model has a bias, the paper's has not.",
        columns=3,
        shared_legend=True,
        simulation=True,
    )


def _filled(rows: Sequence[Sequence[float | None]]) -> list[list[float]]:
    return [[float("nan") if v is None else v for v in row] for row in rows]


def _colours(entry: Mapping[str, Any]) -> tuple[float, float]:
    """The same for both maps: as far above the median, which is near the loss of doing nothing, as
    the least is below it; what is worse has the last colour."""
    maps = entry["first"].values()
    values = [v for one in maps for row in one["log10_loss"] for v in row if v is not None]
    return min(values), min(max(values), 2 * float(np.median(values)) - min(values))


def _formulas(grid: Sequence[float], entry: Mapping[str, Any]) -> list[Line]:
    return [
        _within(grid, "Theorem 2 corrected", entry["corrected"], "solid", "red"),
        _within(grid, "Theorem 2 as printed", entry["printed"], "dash", "red"),
    ]


def _within(
    grid: Sequence[float], name: str, rates: Sequence[float], style: Any, color: str
) -> Line:
    kept = [(c, r) for c, r in zip(grid, rates, strict=True) if grid[0] <= r <= grid[-1]]
    return Line(name, [c for c, _ in kept], [r for _, r in kept], style, color=color)


def _theorem(grid: Sequence[float], entry: Mapping[str, Any], problem: Mapping[str, Any]) -> Panel:
    marks = {"dpsgd": "black", "dpsgd-averaged": "blue", "dpadam": "orange"}
    lines = []
    for name, color in marks.items():
        inner = [row for row in entry["best"][name]["rates"] if not row["edge"]]
        clips, rates = ([row[key] for row in inner] for key in ("clip", "rate"))
        lines.append(Line(f"best rate, {NAMES[name]}", clips, rates, "points", color=color))
    lines += [
        *_formulas(grid, entry),
    ]
    limit = 2 / problem["smoothness"]
    lines.append(Line("stable unclipped", [grid[0], grid[-1]], [limit, limit], "dot", color="grey"))
    straight = problem.get("one_direction")
    if straight:
        rates = [straight["travel"] / entry["steps"] / clip for clip in grid]
        lines.append(_within(grid, "gradients' directions alone", rates, "dot", "green"))
    return Panel(
        f"Best rate by C, T = {entry['steps']}",
        "clip norm C",
        "learning rate",
        lines,
        "log",
        "log",
        y_range=(grid[0], grid[-1]),
    )
