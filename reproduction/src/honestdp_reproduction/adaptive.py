"""Figure 8: DPAdam, ADADP and DPAdamWOSM: best and median over the clip norm, time a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from honestdp.report.picture import Line, Picture
from honestdp.text import columns
from honestdp_reproduction.experiment import (
    LOT_SIZE,
    WHAT,
    Choice,
    ReportProgress,
    Result,
    in_order,
)
from honestdp_reproduction.experiment_trainings import (
    Block,
    Key,
    Panels,
    accuracy_panel,
    selected_trainings,
    shown,
    to_list,
)
from honestdp_reproduction.grids import candidates
from honestdp_reproduction.pruning import mean_accuracy
from honestdp_reproduction.store import Store
from honestdp_reproduction.trainings import Curves, Results, training_jobs

ADAM, ADADP, WOSM = "dpadam-4", "adadp-4", "dpadamwosm-4"
NAMES = {ADAM: "DPAdam", ADADP: "ADADP", WOSM: "DPAdamWOSM"}
COLORS = {ADAM: "#1b9e77", ADADP: "#e7298a", WOSM: "#e6ab02"}
THRICE, ONCE = ({ADAM: times, ADADP: times, WOSM: times} for times in (3, 1))
RUN = (
    Block(("adult", "enron", "gisette-standin", "mnist"), ("lr",), (4.0,), THRICE),
    Block(("adult",), ("lr",), (2.0, 8.0), THRICE),
    Block(("enron-counts",), ("lr",), (4.0,), ONCE),
    Block(("adult", "mnist"), ("tlnn",), (4.0,), ONCE),
)
# Where a step's time is measured: by steps, so that a rule has about a second a turn.
TIMED = {("adult", "lr"): 1000, ("mnist", "lr"): 100, ("adult", "tlnn"): 100, ("mnist", "tlnn"): 20}
TURNS, TOGETHER = 15, 40
SECONDS = 45.0  # that a table's timing takes
TIMES = ("timings", "adaptive", "rows")


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    jobs = list(training_jobs(selected_trainings(choice, RUN), Results(store)))
    if not choice.given:
        jobs += [
            (f"timing {dataset} {model}", SECONDS, partial(_time, store, dataset, model))
            for dataset, model in _untimed(store)
        ]
    in_order(jobs, tell)


def _timed(store: Store) -> dict[str, Any]:
    return store.read(*TIMES) or {"what": WHAT, "rows": []}


def _untimed(store: Store) -> list[tuple[str, str]]:
    there = {(row["dataset"], row["model"]) for row in _timed(store)["rows"]}
    return [each for each in TIMED if each not in there]


def _time(store: Store, dataset: str, model: str, tell: Callable[[float], None]) -> None:
    """Milliseconds a candidate-step takes under each rule: 40 candidates at once, rules in turns,
    quartiles. To be run on a quiet machine."""
    from honestdp.engine import Schedule, train
    from honestdp.randomness import Randomness
    from honestdp_reproduction.data import load

    if (dataset, model) not in _untimed(store):
        return  # another process was faster
    data, steps = load(dataset, model), TIMED[dataset, model]
    took: dict[str, list[float]] = {grid: [] for grid in NAMES}
    for turn in range(TURNS + 1):
        tell(turn / (TURNS + 1))
        for grid in NAMES:
            many = candidates(grid, 4.0) * (TOGETHER // 4)
            start = time.perf_counter()
            train(data.model, data.train, many, Schedule(steps, LOT_SIZE),
                  Randomness.simulation(turn))  # fmt: skip
            if turn:  # the first is the compiler's
                took[grid].append(1000 * (time.perf_counter() - start) / steps / TOGETHER)
    quartiles = {
        grid: [round(float(q), 5) for q in np.quantile(each, [0.25, 0.5, 0.75])]
        for grid, each in took.items()
    }
    known = _timed(store)
    known["rows"].append(
        {
            "dataset": dataset,
            "model": model,
            "milliseconds": {grid: middle for grid, (_, middle, _) in quartiles.items()},
            "quartiles": quartiles,
        }
    )
    collection, name, rows = TIMES
    store.save(collection, name, known, rows)


def result(choice: Choice, store: Store) -> dict[str, Any]:
    panels = Panels.of(selected_trainings(choice, RUN), Results(store))
    return {
        "experiment": "adaptive",
        "what": WHAT,
        "panels": [_panel(key, grids) for key, grids in panels.found.items()],
        "milliseconds": _timed(store)["rows"],
        "not_run": [*panels.missing, *_times_missing(choice, store)],
        "core_seconds": panels.core_seconds,
        "candidate_steps": panels.candidate_steps,
    }


def _times_missing(choice: Choice, store: Store) -> list[str]:
    return [] if choice.given else [f"timing {' '.join(each)}" for each in _untimed(store)]


def _panel(key: Key, grids: dict[str, list[Curves]]) -> dict[str, Any]:
    dataset, model, sigma = key
    first = next(iter(grids.values()))[0]
    accuracy = {grid: mean_accuracy(kept) for grid, kept in grids.items()}
    return {
        "dataset": dataset,
        "model": model,
        "sigma": sigma,
        "steps": first.steps,
        "repetitions": {grid: len(kept) for grid, kept in grids.items()},
        "best": {grid: to_list(found.max(axis=0)) for grid, found in accuracy.items()},
        "median": {grid: to_list(np.median(found, axis=0)) for grid, found in accuracy.items()},
    }


def text(result: Result) -> str:
    lines = ["Figure 8: three adaptive rules, four clip norms each", WHAT]
    for words, part, early in (
        ("Best over the clip norms, after the last step:", "best", False),
        ("Median over the clip norms, after the last step:", "median", False),
        ("Best over the clip norms, mean of the first tenth of the steps:", "best", True),
    ):
        rows = [
            (
                *(row["dataset"], row["model"], f"{row['sigma']:g}"),
                *(shown(row[part].get(grid), early) for grid in NAMES),
            )
            for row in result["panels"]
        ]
        headers = ("dataset", "model", "sigma", *NAMES.values())
        lines += ["", words, "", *columns(headers, rows, left=2)]
    if result["milliseconds"]:
        lines += ["", "Milliseconds a candidate-step, 40 at once:", ""]
        lines += columns(
            ("dataset", "model", *NAMES.values(), "WOSM / DPAdam"),
            [
                (
                    *(row["dataset"], row["model"]),
                    *(f"{row['milliseconds'][grid]:.4f}" for grid in NAMES),
                    f"{row['milliseconds'][WOSM] / row['milliseconds'][ADAM]:.3f}",
                )
                for row in result["milliseconds"]
            ],
            left=2,
        )
    return "\n".join(lines)


def picture(result: Result) -> Picture:
    panels = []
    for row in result["panels"]:
        lines = [
            _line(row, grid, part)
            for grid in NAMES
            if grid in row["best"]
            for part in ("best", "median")
        ]
        panels.append(accuracy_panel(row, lines))
    return Picture(
        "Figure 8: adaptive optimizers over training",
        panels,
        "Best and median over the clip norms 0.1, 0.2, 0.5 and 1 by the rows that score them. "
        "15 points of accuracy in each panel.",
        columns=3,
        shared_legend=True,
        simulation=True,
    )


def _line(row: Result, grid: str, part: str) -> Line:
    name = f"{NAMES[grid]}, {part}"
    style: Literal["solid", "dot"] = "solid" if part == "best" else "dot"
    return Line(name, row["steps"], row[part][grid], style, color=COLORS[grid])
