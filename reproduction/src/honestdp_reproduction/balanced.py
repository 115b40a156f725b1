"""balanced: is kappa = 3, averaged, as good as a step size tuned for free?

The balanced rule sizes DPSGD's steps by public facts: `alpha = kappa L / (sigma C sqrt(T) B)`. Here
every kappa of a wide range is trained at one total epsilon, for several lot sizes and step counts.
DPSGD tuned for free is the best of the same trainings by the test rows (at one clip norm; the
learning rate is all that is tuned), so the rule's loss is never below 0, and flatters the free one
a little.

One training gives both results, the last parameters and the mean of the second half's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from honestdp.errors import InputError
from honestdp.planning.costs import default_delta
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import noise_multiplier
from honestdp.privacy.events import training
from honestdp_reproduction.balanced_show import CLIP_NORM, MUCH, picture, text
from honestdp_reproduction.experiment import (
    WHAT,
    Choice,
    ReportProgress,
    Result,
    in_order,
    seed,
    timed,
)
from honestdp_reproduction.store import Store

if TYPE_CHECKING:
    from torch import Tensor

    from honestdp.engine import Snapshot
    from honestdp_reproduction.data import Rows

__all__ = ["picture", "result", "run", "text"]

COLLECTION = "balanced"
# The rule's kappas, its default of 3, and what else is tuned for free.
KAPPAS = (1 / 16, 1 / 8, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0)
STEPS = (500, 2500)
LARGE, SMALL = (250, 1000, 4000), (100, 250, 1000)


@dataclass(frozen=True)
class Table:
    """lots: their sizes. epsilon: 4 for tables of few rows, where 1 leaves little to see."""

    dataset: str
    lots: tuple[int, ...]
    epsilon: float
    repetitions: int
    clip_norm: float = CLIP_NORM


TABLES = (
    Table("adult-104", LARGE, 1.0, 3),
    Table("mnist", LARGE, 1.0, 1),
    Table("enron", SMALL, 4.0, 2),
    Table("enron-counts", SMALL, 4.0, 2),
    # Rows so short that a clip norm of 1 is above nearly all gradients, and one that is not.
    Table("enron-unit", SMALL, 4.0, 2),
    Table("enron-unit", SMALL, 4.0, 2, clip_norm=0.2),
    Table("gisette-standin", SMALL, 4.0, 1),
)


@dataclass(frozen=True)
class Setup:
    """One record: every kappa at one lot size and number of steps."""

    dataset: str
    lot_size: int
    steps: int
    epsilon: float
    clip_norm: float = CLIP_NORM

    @property
    def name(self) -> str:
        clip = "" if self.clip_norm == CLIP_NORM else f"-C{self.clip_norm:g}"
        return f"{self.dataset}-epsilon{self.epsilon:g}{clip}-L{self.lot_size}-T{self.steps}"

    def read(self, store: Store) -> dict[str, Any] | None:
        known = store.read(COLLECTION, self.name, "trained")
        if known is not None and (
            known.get("setup") != asdict(self) or known.get("kappas") != list(KAPPAS)
        ):
            place = store.path(COLLECTION, self.name)
            raise InputError(f"{place}: holds another setup; use another folder")
        return known


def setups(choice: Choice) -> Iterator[tuple[Setup, int]]:
    """What is trained, and how often."""
    known = tuple(dict.fromkeys(table.dataset for table in TABLES))
    choice.check(known, sigmas=False)
    for table in TABLES:
        if table.dataset in (choice.datasets or known):
            for lot_size in table.lots:
                for steps in STEPS:
                    setup = Setup(table.dataset, lot_size, steps, table.epsilon, table.clip_norm)
                    yield setup, choice.repetitions or table.repetitions


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    todo = []
    for setup, repetitions in setups(choice):
        known = setup.read(store)
        first = len(known["trained"]) if known else 0
        todo += [(setup, repetition) for repetition in range(first, repetitions)]
    jobs = [
        (setup.name, setup.steps * setup.lot_size, partial(_train, setup, repetition, store))
        for setup, repetition in todo
    ]
    in_order(jobs, tell)
    for dataset in dict.fromkeys(setup.dataset for setup, _ in setups(choice)):
        _save_curvature(dataset, store)


def _train(setup: Setup, repetition: int, store: Store, tell: Callable[[float], None]) -> None:
    from honestdp.engine import Candidate, Schedule, correct, train
    from honestdp.randomness import Randomness
    from honestdp_reproduction.data import load

    rows = load(setup.dataset, "lr")
    known = setup.read(store) or _facts(setup, rows)
    if len(known["trained"]) != repetition:
        return  # another process was faster
    noise, norm = known["noise_multiplier"], known["row_norm"]
    candidates = [
        Candidate(
            noise_multiplier=noise,
            rule="balanced",
            kappa=kappa,
            row_norm=norm,
            clip_norm=setup.clip_norm,
        )
        for kappa in KAPPAS
    ]
    schedule, randomness = Schedule(setup.steps, setup.lot_size), Randomness.simulation
    # The compiler's time is not the training's.
    train(rows.model, rows.train, candidates, Schedule(2, setup.lot_size), randomness(0))
    numbers = [repetition * len(KAPPAS) + i for i in range(len(KAPPAS))]
    mean = Mean(setup.steps)
    with timed(known):
        trained = train(
            rows.model,
            rows.train,
            candidates,
            schedule,
            randomness(known["seed"]),
            numbers=numbers,
            observe=mean.observe,
            observe_every=1,
            progress=lambda done, total: tell(done / total),
        )
        counts = {
            "last": correct(rows.model, trained.stacked, rows.validation).tolist(),
            "averaged": correct(rows.model, mean.of(numbers), rows.validation).tolist(),
        }
    known["trained"].append(counts)
    store.save(COLLECTION, setup.name, known, "trained")


class Mean:
    """The mean of the second half's parameters, as the engine's `average` has it."""

    def __init__(self, steps: int) -> None:
        self._half = steps // 2
        self._found: dict[int, Tensor] = {}

    def observe(self, seen: Snapshot) -> None:
        taken = seen.step - self._half
        if taken > 0:
            for number, parameters in zip(seen.numbers, seen.parameters, strict=True):
                known = self._found.setdefault(number, parameters.clone())
                known.lerp_(parameters, 1 / taken)

    def of(self, numbers: list[int]) -> Tensor:
        import torch

        return torch.stack([self._found[number] for number in numbers])


def _facts(setup: Setup, rows: Rows) -> dict[str, Any]:
    from honestdp_reproduction.curvature import smoothness

    n = len(rows.train)
    delta, q = default_delta(n), setup.lot_size / n
    squares = rows.train.squares.double() - 1  # without the bias's input of 1
    noise = noise_multiplier(
        lambda sigma: guarantee.epsilon(training(q, sigma, setup.steps), delta), setup.epsilon
    )
    return {
        "what": WHAT,
        "setup": asdict(setup),
        "n": n,
        "test_rows": len(rows.validation),
        "delta": delta,
        "noise_multiplier": noise,
        "guarantee": guarantee.epsilon(training(q, noise, setup.steps), delta),
        "row_norm": float(squares.mean().sqrt()),
        "smoothness": smoothness(rows),
        "seed": seed(setup.name),
        "kappas": list(KAPPAS),
        "seconds": 0.0,
        "core_seconds": 0.0,
        "trained": [],
    }


def _curvature(dataset: str, store: Store) -> dict[str, Any] | None:
    return store.read(COLLECTION, f"{dataset}-curvature", "clipped_curvature")


def _save_curvature(dataset: str, store: Store) -> None:
    """Of each table once: it depends on nothing that is tuned."""
    from honestdp_reproduction.curvature import clipped_curvature, smoothness
    from honestdp_reproduction.data import load

    if _curvature(dataset, store) is None:
        rows = load(dataset, "lr")
        facts = {"what": WHAT, "dataset": dataset, "smoothness": smoothness(rows)}
        found = facts | {"clipped_curvature": [clipped_curvature(rows)]}
        store.save(COLLECTION, f"{dataset}-curvature", found, "clipped_curvature")


def result(choice: Choice, store: Store) -> Result:
    return {
        "what": WHAT,
        "points": [_point(setup, count, store) for setup, count in setups(choice)],
    }


def _point(setup: Setup, repetitions: int, store: Store) -> dict[str, Any]:
    """Accuracies by kappa, and what the rule loses against the best of them."""
    known = setup.read(store)
    curved = _curvature(setup.dataset, store)
    if known is None or curved is None or len(known["trained"]) < repetitions:
        place = store.path(COLLECTION, setup.name)
        raise InputError(f"{place}: not trained yet; run the experiment first")
    trained, kappas = known.pop("trained")[:repetitions], known["kappas"]
    accuracy = {
        kind: np.array([one[kind] for one in trained]) / known["test_rows"]
        for kind in ("averaged", "last")
    }
    means = {kind: found.mean(0) for kind, found in accuracy.items()}
    free = max(float(found.max()) for found in means.values())
    rate = setup.lot_size / (
        known["noise_multiplier"] * setup.clip_norm * np.sqrt(setup.steps) * known["row_norm"]
    )  # at kappa = 1
    stability = [float(kappa * rate * known["smoothness"]) for kappa in kappas]
    point = {
        "repetitions": repetitions,
        **{kind: found.tolist() for kind, found in means.items()},
        "spread": {
            kind: (found.max(0) - found.min(0)).tolist() for kind, found in accuracy.items()
        },
        "free": free,
        "best_kappa": {kind: kappas[int(found.argmax())] for kind, found in means.items()},
        "loss": {
            kind: {f"{kappa:g}": free - float(found[kappas.index(kappa)]) for kappa in (2.0, 3.0)}
            for kind, found in means.items()
        },
        "stability": stability,
        # Where steps swing away from the optimum, in the same units; known for clip norm 1.
        "limit": 2 * known["smoothness"] / curved["clipped_curvature"][0]
        if setup.clip_norm == CLIP_NORM
        else None,
        "breaks": {kind: _breaks(found, kappas, stability) for kind, found in means.items()},
    }
    return known | asdict(setup) | point


def _breaks(
    found: np.ndarray[Any, np.dtype[np.float64]], kappas: list[float], stability: list[float]
) -> dict[str, float] | None:
    """The first kappa above the best one that loses half a point against it, and how far its
    steps are beyond the curvature; None where none does."""
    best = int(found.argmax())
    for i in range(best + 1, len(kappas)):
        if found[best] - found[i] > MUCH:
            return {"kappa": kappas[i], "stability": stability[i]}
    return None
