"""What most of the paper's experiments share: a grid, trained on a dataset, scored on the way.

A training is one record of results: how many validation rows each candidate gets right, every so
many steps. It is saved after every few candidates, so an interrupted experiment goes on where it
was; a candidate's result depends on its place in the grid and on the training's seed alone. Several
experiments share trainings, and all pictures are drawn from these records.

These are simulations: seeded, scored without noise, on data declared public. They protect nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp_reproduction.experiment import (
    LOT_SIZE,
    WHAT,
    Job,
    ReportProgress,
    in_order,
    seed,
    timed,
)
from honestdp_reproduction.grids import GRIDS, candidates
from honestdp_reproduction.store import Store

if TYPE_CHECKING:  # pictures of saved results need no torch
    from honestdp.engine import Snapshot
    from honestdp_reproduction.data import Rows

TOGETHER = 40  # candidates trained between two saves

# Milliseconds a candidate-step takes here, for the time left (benchmarks/README.md).
_MILLISECONDS = {
    ("adult", "lr"): 0.04,
    ("adult-104", "lr"): 0.04,
    ("enron", "lr"): 0.06,
    ("enron-counts", "lr"): 0.06,
    ("enron-unit", "lr"): 0.06,
    ("gisette-standin", "lr"): 0.3,
    ("mnist", "lr"): 0.25,
    ("adult", "tlnn"): 0.35,
    ("mnist", "tlnn"): 1.5,
}


def milliseconds(dataset: str, model: str) -> float:
    """What a candidate-step may take, on the machine of the benchmarks."""
    return _MILLISECONDS.get((dataset, model), 2.0)


@dataclass(frozen=True)
class Training:
    """One grid on one dataset; the paper's sigma and T. every: steps between two scores."""

    dataset: str
    model: str
    grid: str
    sigma: float
    steps: int
    repetition: int = 1
    every: int = 100

    @property
    def name(self) -> str:
        return (
            f"{self.dataset}-{self.model}-{self.grid}-sigma{self.sigma:.12g}"
            f"-T{self.steps}-{self.repetition}"
        )

    @property
    def seed(self) -> int:
        return seed(self.name)

    @property
    def work(self) -> float:
        """Seconds it may take."""
        each = milliseconds(self.dataset, self.model)
        return len(GRIDS[self.grid]) * self.steps * each / 1000


@dataclass(frozen=True, eq=False)
class Curves:
    """correct [candidate, time], right at `steps` [time], of `rows` validation rows."""

    training: Training
    settings: list[dict[str, Any]]
    steps: list[int]
    correct: NDArray[np.int64]
    rows: int
    core_seconds: float

    @property
    def accuracy(self) -> NDArray[np.float64]:
        return self.correct / self.rows


def _settings(grid: str) -> list[dict[str, Any]]:
    return [dict(setting) for setting in GRIDS[grid].settings]


class Results:
    """The trainings in a store. what: the mark on each record, and what it counts."""

    what, collection = WHAT, "trainings"

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def place(self) -> Path:
        return self._store.folder / self.collection

    def count(self, seen: Snapshot, rows: Rows) -> list[int]:
        """How many validation rows each candidate gets right."""
        from honestdp.engine.score import correct

        return [int(n) for n in correct(seen.model, seen.parameters, rows.validation)]

    def path(self, training: Training) -> Path:
        return self._store.path(self.collection, training.name)

    def read(self, training: Training) -> dict[str, Any] | None:
        """What is known of a training, finished or not."""
        known = self._store.read(self.collection, training.name, "correct")
        if known is not None and (
            known.get("training") != asdict(training)
            or known.get("settings") != _settings(training.grid)
        ):
            raise InputError(f"{self.path(training)}: holds another training; use another folder")
        return known

    def save(self, training: Training, known: Mapping[str, Any]) -> None:
        self._store.save(self.collection, training.name, known, "correct")

    def missing(self, training: Training) -> int:
        """How many candidates have still to be trained."""
        known = self.read(training)
        return len(GRIDS[training.grid]) - (len(known["correct"]) if known else 0)

    def find(self, training: Training) -> Curves | None:
        """A finished training."""
        known = self.read(training)
        if known is None or len(known["correct"]) < len(GRIDS[training.grid]):
            return None
        return Curves(
            training,
            known["settings"],
            known["steps"],
            np.array(known["correct"]),
            known["rows"],
            known["core_seconds"],
        )


def train_all(trainings: Sequence[Training], results: Results, tell: ReportProgress) -> None:
    """Trains what is not there yet, in order."""
    in_order(training_jobs(trainings, results), tell)


def training_jobs(trainings: Sequence[Training], results: Results) -> Iterator[Job]:
    for training in trainings:
        share = results.missing(training) / len(GRIDS[training.grid])
        yield training.name, training.work * share, partial(_train, training, results)


def _train(training: Training, results: Results, tell: Callable[[float], None]) -> None:
    # Here, so that pictures of saved results need no torch.
    from honestdp.engine import Schedule, train
    from honestdp.randomness import Randomness
    from honestdp_reproduction.data import load

    rows = load(training.dataset, training.model)
    grid = candidates(training.grid, training.sigma)
    known = results.read(training) or {
        "what": results.what,
        "training": asdict(training),
        "settings": _settings(training.grid),
        "lot_size": LOT_SIZE,
        "train_rows": len(rows.train),
        "rows": len(rows.validation),
        "steps": [],
        "seed": training.seed,
        "seconds": 0.0,
        "core_seconds": 0.0,
        "correct": [],
    }
    first = len(known["correct"])
    # The compiler's time is not the training's.
    train(rows.model, rows.train, grid[:1], Schedule(2, LOT_SIZE), Randomness.simulation(0))
    randomness = Randomness.simulation(training.seed)
    for at in range(first, len(grid), TOGETHER):
        chosen = range(at, min(at + TOGETHER, len(grid)))

        def progress(done: int, total: int, chosen: range = chosen) -> None:
            tell((chosen.start - first + len(chosen) * done / total) / (len(grid) - first))

        with timed(known):
            trained = train(
                rows.model,
                rows.train,
                [grid[i] for i in chosen],
                Schedule(training.steps, LOT_SIZE),
                randomness,
                numbers=list(chosen),
                observe=lambda seen: results.count(seen, rows),
                observe_every=training.every,
                progress=progress,
            )
            found: dict[int, dict[int, int]] = {i: {} for i in chosen}
            for step, numbers, right in trained.record:
                for number, count in zip(numbers, right, strict=True):
                    found[number][step] = count
            known["steps"] = sorted(found[chosen.start])
            known["correct"] += [[found[i][step] for step in known["steps"]] for i in chosen]
        results.save(training, known)
