"""Figure 6: 180 settings of DPAdam's learning rate and decays; is Adam's default a good one?"""

from __future__ import annotations

from typing import Any

import numpy as np

from honestdp.report.picture import Boxes, Dots, Panel, Picture
from honestdp.text import columns
from honestdp_reproduction.experiment import WHAT, Choice, ReportProgress, Result
from honestdp_reproduction.experiment_trainings import (
    FOUR,
    Block,
    Panels,
    selected_trainings,
    title,
)
from honestdp_reproduction.store import Store
from honestdp_reproduction.trainings import Results, Training, train_all

STEPS = 2500
GRID = "dpadam-180"
DEFAULT = {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999}
RUN = (
    Block(("adult", "enron"), ("lr",), (4.0,), {GRID: 3}),
    Block(("adult",), ("lr",), (2.0, 8.0), {GRID: 3}),
    Block(("gisette-standin", "mnist", "enron-counts"), ("lr",), (4.0,), {GRID: 1}),
    Block(("adult", "mnist"), ("tlnn",), (4.0,), {GRID: 1}),
)


def _training(dataset: str, model: str, grid: str, sigma: float, repetition: int) -> Training:
    return Training(dataset, model, grid, sigma, STEPS, repetition, every=STEPS)


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    train_all(selected_trainings(choice, RUN, _training), Results(store), tell)


def result(choice: Choice, store: Store) -> dict[str, Any]:
    """Final accuracies of all settings, means over the repetitions, and where the default is."""
    panels = Panels.of(selected_trainings(choice, RUN, _training), Results(store))
    rows = []
    for (dataset, model, sigma), grids in panels.found.items():
        kept = grids[GRID]
        accuracy = np.mean([curves.accuracy[:, -1] for curves in kept], axis=0)
        settings = kept[0].settings
        usual = [_is(s, {"learning_rate": 0.001}) for s in settings]
        default = [_is(s, DEFAULT) for s in settings].index(True)
        rate = {s["learning_rate"]: 0.0 for s in settings}
        for setting, value in zip(settings, accuracy, strict=True):
            rate[setting["learning_rate"]] = max(rate[setting["learning_rate"]], float(value))
        rows.append(
            {
                "dataset": dataset,
                "model": model,
                "sigma": sigma,
                "repetitions": len(kept),
                "accuracy": [round(float(a), 5) for a in accuracy],
                "usual_rate": usual,
                "default": float(accuracy[default]),
                "best": float(accuracy.max()),
                "best_setting": settings[int(accuracy.argmax())],
                "best_by_rate": {f"{a:g}": round(v, 5) for a, v in sorted(rate.items())},
                "rank_of_default": int((accuracy > accuracy[default]).sum()) + 1,
            }
        )
    return {
        "experiment": "defaults",
        "what": WHAT,
        "steps": STEPS,
        "clip_norm": 0.5,
        "panels": rows,
        "not_run": panels.missing,
        "core_seconds": panels.core_seconds,
        "candidate_steps": panels.candidate_steps,
    }


def _is(setting: dict[str, Any], wanted: dict[str, float]) -> bool:
    return all(setting[name] == value for name, value in wanted.items())


def text(result: Result) -> str:
    headers = (
        *("dataset", "model", "sigma", "runs", "default", "rank of 180", "best", "its rate"),
        *("best at 0.001", "best at 0.01"),
    )
    rows = [
        (
            *(row["dataset"], row["model"], f"{row['sigma']:g}", row["repetitions"]),
            *(f"{row['default']:.4f}", row["rank_of_default"], f"{row['best']:.4f}"),
            f"{row['best_setting']['learning_rate']:g}",
            *(f"{row['best_by_rate'][rate]:.4f}" for rate in ("0.001", "0.01")),
        )
        for row in result["panels"]
    ]
    return "\n".join(
        [
            f"Figure 6: DPAdam, 180 settings, C 0.5, T {STEPS}",
            WHAT,
            "",
            *columns(headers, rows, left=2),
            "",
            "default: learning rate 0.001, beta1 0.9, beta2 0.999. best: of all 180, by the rows",
            "that score them.",
        ]
    )


def picture(result: Result) -> Picture:
    """A panel for each sigma: a box a dataset and model, rate 0.001 in black, the default gold."""
    panels = []
    for sigma in sorted({row["sigma"] for row in result["panels"]}):
        rows = [row for row in result["panels"] if row["sigma"] == sigma]
        rows.sort(key=lambda row: (row["model"], [*FOUR, row["dataset"]].index(row["dataset"])))
        usual = [
            [a for a, u in zip(row["accuracy"], row["usual_rate"], strict=True) if u]
            for row in rows
        ]
        panels.append(
            Panel(
                f"sigma {sigma:g}",
                "",
                "accuracy on the validation rows",
                under=Boxes(
                    [title((row["dataset"], row["model"], sigma)).split(",")[0] for row in rows],
                    [row["accuracy"] for row in rows],
                    [
                        Dots("learning rate 0.001", usual, "black"),
                        Dots("Adam's default", [[row["default"]] for row in rows], "gold"),
                    ],
                ),
            )
        )
    return Picture(
        "Figure 6: DPAdam over learning rate, beta1 and beta2",
        panels,
        f"180 settings a box, C 0.5, T {STEPS}, L 250, LR and TLNN.",
        shared_legend=True,
        simulation=True,
    )
