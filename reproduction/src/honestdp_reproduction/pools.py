"""Pools: every setting of a grid, trained some times at one noise, with its counts kept.

What a search does on top of its trainings (how many runs, which settings, noise on scores) can then
be played over and over without training again. A pool is one record, named after what it holds and
saved after every few trainings: what was interrupted goes on, and lines that train alike share it.

These are simulations: seeded, counted without noise, on rows declared public. They protect nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp_reproduction.experiment import WHAT, seed, timed
from honestdp_reproduction.grids import FRONTIER_GRIDS
from honestdp_reproduction.store import Store

if TYPE_CHECKING:  # pictures of saved pools need no torch
    from honestdp.candidates import Candidate
    from honestdp.engine import Examples, Model, Schedule

Counts = NDArray[np.int64]
Trains = Callable[[int], "Material"]  # what a repetition trains on

TOGETHER = 40  # trainings between two saves


@dataclass(frozen=True)
class Pool:
    """What is trained alike. rows: "all" those that are searched on, its "training" part, a random
    "subset" of them or the "rest". row_norm: what balanced steps are sized by."""

    dataset: str
    grid: str
    rows: str
    noise_multiplier: float
    lot_size: float
    steps: int
    row_norm: float | None = None

    @property
    def name(self) -> str:
        return (
            f"{self.dataset}-{self.grid}-{self.rows}-sigma{self.noise_multiplier:g}"
            f"-L{self.lot_size:g}-T{self.steps}"
        )

    @property
    def seed(self) -> int:
        return seed(self.name)

    @property
    def settings(self) -> int:
        return len(FRONTIER_GRIDS[self.grid])


@dataclass(frozen=True, eq=False)
class Material:
    """What one repetition of a pool trains, on what, and what counts it."""

    model: Model
    candidates: Sequence[Candidate]
    train: Examples
    schedule: Schedule
    validation: Examples | None
    test: Examples


@dataclass(frozen=True, eq=False)
class Counted:
    """How many rows each training gets right, [repetition, setting], without noise; a validation
    count where there are such rows."""

    pool: Pool
    validation: Counts | None
    test: Counts
    test_rows: int

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """On the test rows, [repetition, setting]."""
        return self.test / self.test_rows


class Pools:
    """The pools in a store."""

    collection = "pools"

    def __init__(self, store: Store) -> None:
        self._store = store

    def path(self, pool: Pool) -> Path:
        return self._store.path(self.collection, pool.name)

    def read(self, pool: Pool) -> dict[str, Any] | None:
        known = self._store.read(self.collection, pool.name, "trained")
        if known is not None and (
            known.get("pool") != asdict(pool) or known.get("settings") != _settings(pool)
        ):
            raise InputError(f"{self.path(pool)}: holds another pool; use another folder")
        return known

    def missing(self, pool: Pool, repetitions: int) -> int:
        """How many trainings have still to be done."""
        known = self.read(pool)
        return max(0, repetitions * pool.settings - (len(known["trained"]) if known else 0))

    def get(self, pool: Pool, repetitions: int) -> Counted:
        """The first repetitions of a pool."""
        known = self.read(pool)
        if known is None or self.missing(pool, repetitions):
            raise InputError(f"{self.path(pool)}: not trained yet; run the experiment first")
        rows = np.array(known["trained"][: repetitions * pool.settings], dtype=object)
        counts = rows.reshape(repetitions, pool.settings, -1)
        return Counted(
            pool,
            counts[:, :, 2].astype(np.int64) if known["scored"] else None,
            counts[:, :, 3].astype(np.int64),
            known["test_rows"],
        )

    def fill(
        self, pool: Pool, repetitions: int, trains: Trains, tell: Callable[[float], None]
    ) -> None:
        """Trains what is missing. A training depends on its pool, repetition and setting alone."""
        left = self.missing(pool, repetitions)
        known = self.read(pool) or {
            "what": WHAT,
            "pool": asdict(pool),
            "settings": _settings(pool),
            "seed": pool.seed,
            "columns": ["repetition", "setting", "validation count", "test count"],
            "seconds": 0.0,
            "core_seconds": 0.0,
            "trained": [],
        }
        total = left
        for numbers in self._chunks(pool, len(known["trained"]), repetitions):
            material = trains(numbers.start // pool.settings)
            before = total - left

            def report(done: int, steps: int, n: int = len(numbers), before: int = before) -> None:
                tell((before + n * done / steps) / total)

            _compile(material)  # whose time is not the training's
            with timed(known):
                rows = _trained(pool, material, numbers, report)
            known["scored"] = material.validation is not None
            known["test_rows"] = len(material.test)
            known["trained"] += rows
            left -= len(numbers)
            self._store.save(self.collection, pool.name, known, "trained")

    @staticmethod
    def _chunks(pool: Pool, first: int, repetitions: int) -> Iterator[range]:
        """Numbers of trainings, some at a time; of one repetition where rows are drawn for it."""
        last = repetitions * pool.settings
        while first < last:
            end = min(first + TOGETHER, last)
            if pool.rows in ("subset", "rest"):
                end = min(end, (first // pool.settings + 1) * pool.settings)
            yield range(first, end)
            first = end


def _settings(pool: Pool) -> list[dict[str, Any]]:
    return [dict(setting) for setting in FRONTIER_GRIDS[pool.grid].settings]


def _compile(material: Material) -> None:
    from honestdp.engine import train
    from honestdp.randomness import Randomness

    short = replace(material.schedule, steps=2)
    candidates = material.candidates[:1]
    train(material.model, material.train, candidates, short, Randomness.simulation(0))


def _trained(
    pool: Pool, material: Material, numbers: range, tell: Callable[[int, int], None]
) -> list[list[int | None]]:
    from honestdp.engine import correct, train
    from honestdp.randomness import Randomness

    settings = [number % pool.settings for number in numbers]
    chosen = [material.candidates[setting] for setting in settings]
    found = train(
        material.model,
        material.train,
        chosen,
        material.schedule,
        Randomness.simulation(pool.seed),
        numbers=list(numbers),
        progress=tell,
    ).stacked
    right = correct(material.model, found, material.test).tolist()
    scored: list[int | None] = [None] * len(settings)
    if material.validation is not None:
        scored = correct(material.model, found, material.validation).tolist()
    return [
        [number // pool.settings, setting, validation, test]
        for number, setting, validation, test in zip(numbers, settings, scored, right, strict=True)
    ]
