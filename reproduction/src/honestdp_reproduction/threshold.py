"""threshold: where a model of two classes is wrong, does it rank the rows wrongly, or cut them at
the wrong place?

The trainings of Figures 7 and 8 once more, seed for seed. Each model's bias is moved to where it
is best on the training rows, and the validation rows are counted again. Moving it reads the
training rows without paying: a look at why, not something to release.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from honestdp.report.picture import Line, Picture
from honestdp.text import columns
from honestdp_reproduction import adaptive, advantage
from honestdp_reproduction.experiment import MODELS, WHAT, Choice, ReportProgress, Result, in_order
from honestdp_reproduction.experiment_trainings import (
    Block,
    Panels,
    accuracy_panel,
    selected_trainings,
    shown,
    to_list,
)
from honestdp_reproduction.pruning import mean_accuracy
from honestdp_reproduction.store import Store
from honestdp_reproduction.trainings import Results, Training, training_jobs

if TYPE_CHECKING:
    from honestdp.engine import Snapshot
    from honestdp_reproduction.data import Rows

TABLES = ("adult", "enron", "enron-counts", "gisette-standin")
TWO_CLASSES = (*TABLES, "adult-104", "enron-unit")
NAMES = {advantage.SGD: "DPSGD", **adaptive.NAMES}
COLORS = {advantage.SGD: advantage.COLORS[advantage.SGD], **adaptive.COLORS}
RUN = (Block(TABLES, ("lr",), (4.0,), dict.fromkeys(NAMES, 1)),)


class Moved(Results):
    """Trainings counted with their bias moved."""

    what = f"{WHAT}; the bias is moved to where the training rows have it best"
    collection = "thresholds"

    def count(self, seen: Snapshot, rows: Rows) -> list[int]:
        from honestdp.engine import probabilities

        train, validation = (
            probabilities(seen.model, seen.parameters, part)[..., 1].double().numpy()
            for part in (rows.train, rows.validation)
        )
        known, wanted = rows.train.targets.numpy(), rows.validation.targets.numpy()
        return [
            int(((scores > cut(own, known)) == wanted).sum())
            for own, scores in zip(train, validation, strict=True)
        ]


def cut(scores: NDArray[Any], targets: NDArray[Any]) -> float:
    """The threshold above which calling a row 1 is right most often, midway between two scores
    (in float64, which has room between any two of float32)."""
    order = np.argsort(scores)
    ranked, ones = scores[order], targets[order]
    # Right when the first k are called 0: the zeros among them, and the ones behind.
    right = np.concatenate([[0], np.cumsum(1 - 2 * ones)]) + ones.sum()
    edges = np.concatenate([[-np.inf], ranked, [np.inf]])
    right[edges[1:] == edges[:-1]] = -1  # equal scores cannot be told apart
    k = int(right.argmax())
    return float((edges[k] + edges[k + 1]) / 2)


def _wanted(choice: Choice) -> list[Training]:
    choice.check(TWO_CLASSES, MODELS)
    if choice.given:
        choice = replace(choice, datasets=choice.datasets or TABLES)
    return selected_trainings(choice, RUN)


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    wanted = _wanted(choice)
    both = (training_jobs(wanted, kind(store)) for kind in (Results, Moved))
    in_order(chain.from_iterable(both), tell)


def result(choice: Choice, store: Store) -> dict[str, Any]:
    wanted = _wanted(choice)
    plain, moved = (Panels.of(wanted, kind(store)) for kind in (Results, Moved))
    return {
        "experiment": "threshold",
        "what": Moved.what,
        "panels": [
            {
                "dataset": dataset,
                "model": model,
                "sigma": sigma,
                "steps": next(iter(grids.values()))[0].steps,
                "best": _best(plain.found.get((dataset, model, sigma), {})),
                "moved": _best(grids),
            }
            for (dataset, model, sigma), grids in moved.found.items()
        ],
        "not_run": [*plain.missing, *moved.missing],
        "core_seconds": moved.core_seconds,
        "candidate_steps": moved.candidate_steps,
    }


def _best(grids: dict[str, Any]) -> dict[str, list[float]]:
    """At each time the best of the grid."""
    return {grid: to_list(mean_accuracy(kept).max(axis=0)) for grid, kept in grids.items()}


def text(result: Result) -> str:
    lines = ["threshold: is it the ranking that is wrong, or where it is cut?", result["what"]]
    for words, early in (
        ("The best of each grid after the last step, as trained / with its bias moved:", False),
        ("The same, mean of the first tenth of the steps:", True),
    ):
        rows = [
            (
                *(row["dataset"], row["model"], f"{row['sigma']:g}"),
                *(
                    " / ".join(shown(row[part].get(grid), early) for part in ("best", "moved"))
                    for grid in NAMES
                ),
            )
            for row in result["panels"]
        ]
        headers = ("dataset", "model", "sigma", *NAMES.values())
        lines += ["", words, "", *columns(headers, rows, left=2)]
    return "\n".join(lines)


def picture(result: Result) -> Picture:
    panels = []
    for row in result["panels"]:
        lines = []
        for grid, name in NAMES.items():
            moved = f"{name}, bias moved"
            if grid in row["best"]:
                lines.append(Line(name, row["steps"], row["best"][grid], color=COLORS[grid]))
            if grid in row["moved"]:
                values = row["moved"][grid]
                lines.append(Line(moved, row["steps"], values, "dot", color=COLORS[grid]))
        panels.append(accuracy_panel(row, lines))
    return Picture(
        "Ranked wrongly, or cut at the wrong place?",
        panels,
        "Best of 40 (DPSGD) and 4 (the others) candidates by the rows that score them; dotted: "
        "with every model's bias moved to where it is best on the training rows, which is not "
        "private. 15 points of accuracy in each panel.",
        columns=2,
        shared_legend=True,
        simulation=True,
    )
