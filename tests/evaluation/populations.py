"""Populations with known figures, and noisy counts of samples of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata

from honestdp.engine.losses import Loss
from honestdp.evaluation import Evaluator, Figure, evaluator

SIZE = 200_000


@dataclass(frozen=True)
class Population:
    """Rows as an evaluator sees them.

    evaluator: Of their target. cells: The cell of every row, by level. truth: Their figures.
    """

    evaluator: Evaluator
    cells: dict[str, np.ndarray]
    truth: dict[str, float]

    @classmethod
    def of(
        cls, classes: int | None, outputs: np.ndarray, targets: np.ndarray, truth: dict[str, float]
    ) -> Population:
        found, loss = evaluator(classes, (-1.0, 1.0)), Loss.of(classes)
        kind = torch.float32 if classes is None else torch.long
        given = torch.tensor(outputs, dtype=torch.float32)[None], torch.tensor(targets, dtype=kind)
        cells = {level.name: level.cells(loss, *given) for level in found.levels}
        own = {name: one.expand(1, len(targets))[0].numpy() for name, one in cells.items()}
        return cls(found, own, truth)

    def figures(
        self, rows: int, deviation: float, times: int, seed: int = 0
    ) -> Iterator[list[Figure]]:
        """The figures of several samples."""
        source = np.random.default_rng(seed)
        for _ in range(times):
            chosen = source.integers(0, SIZE, rows)
            counts = {}
            for level in self.evaluator.levels:
                exact = np.bincount(self.cells[level.name][chosen], minlength=level.size)
                noise = np.round(source.normal(0, deviation, level.size))
                counts[level.name] = (exact + noise).reshape(level.shape)
            yield self.evaluator.figures(counts, deviation)

    def coverage(self, rows: int, deviation: float, times: int) -> dict[str, float]:
        """The share of samples whose interval holds the truth, by figure."""
        hits = dict.fromkeys(self.truth, 0)
        for figures in self.figures(rows, deviation, times):
            for one in figures:
                hits[one.name] += one.low <= self.truth[one.name] <= one.high
        return {name: count / times for name, count in hits.items()}


def two_classes(offset: float, slope: float, factor: float = 1.0) -> Population:
    """Scores that are `factor` times the true log-odds, which are normal."""
    source = np.random.default_rng(1)
    odds = offset + slope * source.normal(size=SIZE)
    y = (source.random(SIZE) < 1 / (1 + np.exp(-odds))).astype(int)
    z = np.clip(factor * odds, -8, 8)  # scores beyond count as these
    p, answer, ranks, n = 1 / (1 + np.exp(-z)), z > 0, rankdata(z), y.sum()
    recall, specificity = answer[y == 1].mean(), 1 - answer[y == 0].mean()
    truth = {
        "accuracy": (answer == y).mean(),
        "balanced accuracy": (recall + specificity) / 2,
        "sensitivity": recall,
        "specificity": specificity,
        "precision": y[answer].mean(),
        "AUC": (ranks[y == 1].sum() - n * (n + 1) / 2) / (n * (SIZE - n)),
        "log loss": np.logaddexp(0, np.where(y == 1, -z, z)).mean(),
        "Brier score": ((p - y) ** 2).mean(),
        "mean probability minus share": (p - y).mean(),
    }
    return Population.of(2, z[:, None], y, truth)


def many_classes(classes: int, signal: float) -> Population:
    source = np.random.default_rng(2)
    y = source.choice(classes, SIZE, p=np.arange(1, classes + 1) * 2 / classes / (classes + 1))
    z = source.normal(size=(SIZE, classes))
    z[np.arange(SIZE), y] += signal
    own = z[np.arange(SIZE), y] - np.log(np.exp(z).sum(1))
    answer = z.argmax(1)
    truth = {
        "accuracy": (answer == y).mean(),
        "balanced accuracy": np.mean([(answer[y == k] == k).mean() for k in range(classes)]),
        "log loss": -own.mean(),
    }
    return Population.of(classes, z, y, truth)


def numbers(draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]) -> Population:
    """draw: predictions and targets, both in [-1, 1]."""
    z, y = draw(np.random.default_rng(3))
    error = np.abs(z - y)
    truth = {
        "mean absolute error": error.mean(),
        "root mean squared error": np.sqrt((error**2).mean()),
        "R2": 1 - (error**2).mean() / y.var(),
    }
    return Population.of(None, z[:, None], y, truth)


def straight(source: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = 0.4 * source.normal(size=SIZE)
    return np.clip(x, -1, 1), np.clip(x + 0.1 * source.normal(size=SIZE), -1, 1)


def skewed(source: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """As incomes: nearly all in a tenth of the range."""
    x = source.exponential(size=SIZE)
    return np.clip(-0.9 + 0.1 * x, -1, 1), np.clip(
        -1 + 0.1 * x * source.exponential(size=SIZE), -1, 1
    )


def constant(source: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Always the mean, of targets spread evenly."""
    return np.zeros(SIZE), source.uniform(-1, 1, SIZE)
