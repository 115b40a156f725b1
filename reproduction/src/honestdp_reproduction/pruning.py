"""The appendix on pruning: how often each (learning rate, clip norm) of DPSGD is the best."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.report.picture import Heat, Panel, Picture
from honestdp.text import columns
from honestdp_reproduction.experiment import WHAT, Choice, ReportProgress, Result
from honestdp_reproduction.experiment_trainings import Block, Panels, selected_trainings
from honestdp_reproduction.grids import GRIDS
from honestdp_reproduction.store import Store
from honestdp_reproduction.trainings import Curves, Results, train_all

GRID = "dpsgd-40"
RUN = (
    Block(("adult", "enron", "mnist"), ("lr",), (4.0,), {GRID: 3}),
    Block(("adult",), ("lr",), (2.0, 8.0), {GRID: 3}),
    Block(("gisette-standin", "enron-counts"), ("lr",), (4.0,), {GRID: 1}),
    Block(("adult", "mnist"), ("tlnn",), (4.0,), {GRID: 1}),
)


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    train_all(selected_trainings(choice, RUN), Results(store), tell)


def mean_accuracy(kept: list[Curves]) -> NDArray[np.float64]:
    """[candidate, time], over the repetitions."""
    return np.asarray(np.mean([curves.accuracy for curves in kept], axis=0))


def wins(panels: Iterable[list[Curves]]) -> NDArray[np.float64]:
    """How often each candidate is the best, over all panels and times; ties share."""
    counted = []
    for kept in panels:
        accuracy = mean_accuracy(kept)
        best = accuracy == accuracy.max(axis=0)
        counted.append((best / best.sum(axis=0)).sum(axis=1))
    return np.asarray(np.sum(counted, axis=0))


def kept_rates(grid: str, panels: Iterable[list[Curves]]) -> list[float]:
    """The learning rates that are best at least once: the paper describes its pruning without
    defining it, and this is the reading that favours the pruned the most."""
    won = wins(panels)
    rates = {
        setting["learning_rate"]
        for setting, count in zip(GRIDS[grid].settings, won, strict=True)
        if count > 0
    }
    return sorted(rates)


def result(choice: Choice, store: Store) -> dict[str, Any]:
    panels = Panels.of(selected_trainings(choice, RUN), Results(store))
    groups = [grids[GRID] for grids in panels.found.values()]
    won = wins(groups)
    settings = GRIDS[GRID].settings
    return {
        "experiment": "pruning",
        "what": WHAT,
        "panels": [list(key) for key in panels.found],
        "times": round(won.sum()),
        "wins": [
            {
                "learning_rate": setting["learning_rate"],
                "clip_norm": setting["clip_norm"],
                "wins": round(float(count), 3),
            }
            for setting, count in zip(settings, won, strict=True)
        ],
        "kept_rates": kept_rates(GRID, groups),
        "not_run": panels.missing,
        "core_seconds": panels.core_seconds,
        "candidate_steps": panels.candidate_steps,
    }


def _table(result: Result) -> tuple[list[float], list[float], list[list[float]]]:
    rates = sorted({row["learning_rate"] for row in result["wins"]})
    clips = sorted({row["clip_norm"] for row in result["wins"]})
    count = {(row["learning_rate"], row["clip_norm"]): row["wins"] for row in result["wins"]}
    return rates, clips, [[count[rate, clip] for clip in clips] for rate in rates]


def text(result: Result) -> str:
    rates, clips, table = _table(result)
    rows = [
        (f"{rate:g}", *(f"{count:.1f}" for count in row), f"{sum(row):.1f}")
        for rate, row in zip(rates, table, strict=True)
    ]
    dropped = [f"{rate:g}" for rate in rates if rate not in result["kept_rates"]]
    return "\n".join(
        [
            "Pruning: how often each (learning rate, clip norm) of DPSGD is best",
            WHAT,
            "",
            *columns(("rate", *(f"C {clip:g}" for clip in clips), "all"), rows),
            "",
            f"{result['times']} times: every 100 steps of {len(result['panels'])} panels "
            "(dataset, model, sigma); ties share.",
            f"never best, and so pruned: {', '.join(dropped) or 'none'}",
        ]
    )


def picture(result: Result) -> Picture:
    rates, clips, table = _table(result)
    return Picture(
        "Pruning: how often each (learning rate, clip norm) of DPSGD is best",
        [Panel("", "clip norm C", "learning rate", under=Heat(clips, rates, table, label="wins"))],
        f"{result['times']} times: every 100 steps of {len(result['panels'])} panels.",
        simulation=True,
    )
