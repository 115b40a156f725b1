"""Training losses over the paper's grid of learning rate and clip norm: trained, saved, read.

A map is one optimizer on one dataset: 30 x 30 candidates, each with the mean loss over all training
rows at its end and the share of rows whose gradient is then longer than its clip norm. It is saved
every few candidates, so an interrupted one goes on where it was; a candidate's result depends on
its place in the grid and on the map's seed alone. Simulations, scored without noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp_reproduction.experiment import (
    LOT_SIZE,
    WHAT,
    Choice,
    ReportProgress,
    in_order,
    rounded,
    seed,
    timed,
)
from honestdp_reproduction.store import Store

if TYPE_CHECKING:  # pictures of saved maps need no torch
    from torch import Tensor

    from honestdp.engine import Examples, Model

GRID = tuple(float(f"{digit}e{scale}") for scale in range(-4, 2) for digit in (1, 2, 4, 5, 8))
SIGMA = 4.0
TOGETHER = 150  # candidates trained between two saves

# Theorem 2 speaks of the average of all iterates; ours is of the second half, the paper's map of
# the last.
OPTIMIZERS = {
    "dpsgd": {"rule": "dpsgd"},
    "dpsgd-averaged": {"rule": "dpsgd", "average": True},
    "dpadam": {"rule": "dpadam"},
}
# Milliseconds a candidate-step takes, for the time left.
_MILLISECONDS = {"synthetic": 0.03, "enron": 0.1}


@dataclass(frozen=True)
class Map:
    dataset: str
    optimizer: str
    steps: int
    sigma: float = SIGMA
    repetition: int = 1
    grid: tuple[float, ...] = field(default_factory=lambda: GRID)

    @property
    def name(self) -> str:
        place = f"{self.dataset}-{self.optimizer}-sigma{self.sigma:.12g}"
        return f"{place}-T{self.steps}-{self.repetition}"

    @property
    def settings(self) -> list[tuple[float, float]]:
        """(rate, clip) of each candidate, in the order they are trained."""
        return [(rate, clip) for rate in self.grid for clip in self.grid]

    @property
    def facts(self) -> dict[str, Any]:
        return asdict(self) | {"grid": list(self.grid)}


@dataclass(frozen=True, eq=False)
class Found:
    """A finished map: [rate, clip] each. problem: what is known of the data (`problem`)."""

    map: Map
    losses: NDArray[np.float64]
    clipped: NDArray[np.float64]
    problem: dict[str, Any]


def wanted(dataset: str, repetitions: Mapping[int, int], choice: Choice) -> list[Map]:
    """All maps of a dataset: so many repetitions of each number of steps."""
    choice.check((dataset,))
    return [
        Map(dataset, optimizer, steps, sigma, repetition)
        for steps, usual in repetitions.items()
        for sigma in choice.sigmas or (SIGMA,)
        for repetition in range(1, (choice.repetitions or usual) + 1)
        for optimizer in OPTIMIZERS
    ]


class Maps:
    """The maps in a store."""

    collection = "heatmaps"

    def __init__(self, store: Store) -> None:
        self._store = store

    def path(self, which: Map) -> Path:
        return self._store.path(self.collection, which.name)

    def read(self, which: Map) -> dict[str, Any] | None:
        known = self._store.read(self.collection, which.name, "candidates")
        if known is not None and known.get("map") != which.facts:
            raise InputError(f"{self.path(which)}: holds another map; use another folder")
        return known

    def save(self, which: Map, known: Mapping[str, Any]) -> None:
        self._store.save(self.collection, which.name, known, "candidates")

    def done(self, which: Map) -> int:
        known = self.read(which)
        return len(known["candidates"]) if known else 0

    def get(self, which: Map) -> Found:
        known = self.read(which)
        if known is None or len(known["candidates"]) < len(which.settings):
            raise InputError(f"{self.path(which)}: not trained yet; run the experiment first")
        rows = np.array(
            [[math.inf if v is None else v for v in row] for row in known["candidates"]]
        )
        shape = (len(which.grid), len(which.grid))
        losses, clipped = (column.reshape(shape) for column in rows.T)
        return Found(which, losses, clipped, known["problem"])


def train_all(chosen: Sequence[Map], maps: Maps, tell: ReportProgress) -> None:
    """Trains what is not there yet, in order."""
    in_order(
        (
            (
                one.name,
                (len(one.settings) - maps.done(one))
                * one.steps
                * _MILLISECONDS.get(one.dataset, 1.0),
                partial(_train, one, maps),
            )
            for one in chosen
        ),
        tell,
    )


def _train(which: Map, maps: Maps, tell: Callable[[float], None]) -> None:
    from honestdp.engine import Candidate, Schedule, train
    from honestdp.randomness import Randomness

    model, rows = load(which.dataset)
    every = [
        Candidate(
            noise_multiplier=which.sigma,
            learning_rate=rate,
            clip_norm=clip,
            **OPTIMIZERS[which.optimizer],  # type: ignore[arg-type]
        )
        for rate, clip in which.settings
    ]
    known = maps.read(which) or {
        "what": WHAT,
        "map": which.facts,
        "candidate": "[mean loss over the training rows, share of them clipped at the end]; "
        "rate by rate, and for each clip norm by clip norm; null: not finite",
        "lot_size": LOT_SIZE,
        "problem": problem(which.dataset),
        "seed": seed(which.name),
        "seconds": 0.0,
        "core_seconds": 0.0,
        "candidates": [],
    }
    first = len(known["candidates"])
    # The compiler's time is not the training's.
    train(model, rows, every[:1], Schedule(2, LOT_SIZE), Randomness.simulation(0))
    randomness = Randomness.simulation(seed(which.name))
    for at in range(first, len(every), TOGETHER):
        chosen = range(at, min(at + TOGETHER, len(every)))

        def progress(done: int, total: int, chosen: range = chosen) -> None:
            tell((chosen.start - first + len(chosen) * done / total) / (len(every) - first))

        with timed(known):
            trained = train(
                model,
                rows,
                [every[i] for i in chosen],
                Schedule(which.steps, LOT_SIZE),
                randomness,
                numbers=list(chosen),
                progress=progress,
            )
            clips = [which.settings[i][1] for i in chosen]
            known["candidates"] += scored(model, trained.stacked, rows, clips)
        maps.save(which, known)


@cache
def load(dataset: str) -> tuple[Model, Examples]:
    """The rows to train on. synthetic: y as it is, not scaled; linear regression with a bias."""
    from honestdp.datasets import synthetic
    from honestdp.engine import Linear, examples
    from honestdp_reproduction import data

    if dataset != "synthetic":
        loaded = data.load(dataset, "lr")
        return loaded.model, loaded.train
    table = synthetic().train
    return Linear(table.shape[1] - 1, None), examples(table[:, :-1], table[:, -1])


def scored(
    model: Model, params: Tensor, rows: Examples, clips: Sequence[float]
) -> list[list[float | None]]:
    """Mean loss (squared error, or logistic) and share of clipped rows, in float64, to 6 digits."""
    import torch

    exact, bound = params.double(), torch.tensor(clips, dtype=torch.float64).unsqueeze(1)
    loss, clipped = (torch.zeros(len(params), dtype=torch.float64) for _ in (0, 1))
    few = max(1, (1 << 22) // (len(params) + rows.shape[0]))
    for part in torch.arange(len(rows)).split(few):
        outputs, targets = model.outputs(exact, rows.dense(part).double()), rows.targets[part]
        errors = model.loss.gradient(outputs, targets).squeeze(-1)
        if model.loss.classes:
            sign = 1 - 2 * targets.double()
            loss += torch.nn.functional.softplus(sign * outputs.squeeze(-1)).sum(1)
        else:
            loss += errors.square().sum(1)
        clipped += (errors.abs() * rows.squares[part].double().sqrt() > bound).sum(1)
    pairs = zip((loss / len(rows)).tolist(), (clipped / len(rows)).tolist(), strict=True)
    return [[rounded(a) if math.isfinite(a) else None, rounded(b)] for a, b in pairs]


@cache
def problem(dataset: str) -> dict[str, Any]:
    """What Theorem 2 asks of the data, and what explains where it fails: not private, all of it.

    distance: R, from zero to the optimum. smoothness: the largest curvature of the loss that is
    descended (half the squared error, or the logistic loss). first_gradients: quantiles of the
    examples' gradient norms at the start. one_direction: see `_one_direction`.
    """
    import torch

    model, rows = load(dataset)
    x = torch.cat([rows.dense(torch.arange(len(rows))), torch.ones(len(rows), 1)], 1).double()
    norms = rows.squares.double().sqrt()
    curvature = float(torch.linalg.matrix_norm(x, 2)) ** 2 / len(rows)
    if not model.loss.classes:
        from honestdp.datasets.synthetic import DIMENSIONS, WEIGHT

        known: dict[str, Any] = {
            "loss": "mean squared error",
            "distance": rounded(WEIGHT * math.sqrt(DIMENSIONS)),
            "distance_is": "10 sqrt(10), exact: the weights that made y, and a bias of 0",
            "smoothness": rounded(curvature),
        }
        errors = rows.targets.double().abs()
    else:
        known = {
            "loss": "mean logistic loss",
            "distance": rounded(_penalised(x.numpy(), rows.targets.numpy())),
            "distance_is": "norm of a non-private fit, penalised by half its squared norm: without "
            "a penalty the optimum of separable rows is at infinity, so R is a choice",
            "smoothness": rounded(curvature / 4),
            "one_direction": _one_direction(x.numpy(), rows.targets.numpy(), norms.numpy()),
        }
        errors = torch.full_like(norms, 0.5)
    quantiles = np.quantile((errors * norms).numpy(), [0.1, 0.5, 0.9])
    return known | {
        "rows": len(rows),
        "parameters": x.shape[1],
        "parameters_are": "the columns and a bias, which the paper's model has not",
        "first_gradients": [rounded(float(q)) for q in quantiles],
    }


def _penalised(x: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    from sklearn.linear_model import LogisticRegression

    fit = LogisticRegression(C=1.0, max_iter=2000).fit(x[:, :-1], y)
    return float(np.hypot(np.linalg.norm(fit.coef_), fit.intercept_[0]))


def _one_direction(
    x: NDArray[np.float64], y: NDArray[np.int64], norms: NDArray[np.float64]
) -> dict[str, float]:
    """A clip norm far below all gradients leaves of each its direction, and a logistic gradient
    never turns round: noise aside, training then goes straight, rate * C * T far along the mean
    direction u. How far is best, and the loss there."""
    from scipy.optimize import minimize_scalar

    sign = 2.0 * y - 1
    margins = sign * (x @ ((sign / norms) @ x / len(x)))
    best = minimize_scalar(
        lambda log: float(np.logaddexp(0, -margins * math.exp(log)).mean()), bounds=(-5, 8)
    )
    return {"travel": rounded(math.exp(best.x)), "loss": rounded(best.fun)}
