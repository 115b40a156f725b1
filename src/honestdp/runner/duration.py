"""How long a plan's trainings will take on this machine, measured on made-up rows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix

from honestdp.engine.examples import examples
from honestdp.engine.models import Model
from honestdp.engine.train import Schedule, train
from honestdp.planning.pipelines import RowEncoding
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness
from honestdp.runner.training import models_of

LEAST_SECONDS = 0.1  # of a measurement
MOST_ROWS, MOST_CELLS = 20_000, 20_000_000


def expected_seconds(plan: Plan, workers: int | None = None) -> float:
    """Measure a few steps of every setting on made-up rows; scale to the expected number of runs.

    Reads no data. What the number of runs turns out to be is secret; this is their mean.

    Args:
        plan: The plan.
        workers: Number of threads, as `run` takes it.

    Returns:
        The expected seconds of training; reading and encoding rows come on top.
    """
    models = models_of(plan)
    runs = plan.procedure.expected_runs or 1.0
    each = [_of_one(plan, i, model, workers) for i, model in enumerate(models)]
    return runs * sum(each) / len(each)


def in_words(seconds: float) -> str:
    """A rough duration as text.

    Args:
        seconds: The duration.
    """
    for unit, length in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.2g} {unit}"
    return "a second" if seconds < 1.5 else f"{seconds:.2g} seconds"


def _made_up(encoding: RowEncoding, rows: int) -> Any:
    """Inputs of the form that a model will read; a sparse row has some two cells a column."""
    width, source = encoding.schema.width, np.random.default_rng(0)
    if not (encoding.may_be_sparse and encoding.schema.sparse):
        return source.random((rows, width), np.float32) / np.float32(width**0.5)
    each = min(width, 2 * len(encoding.schema.columns))
    places = np.sort(source.integers(0, width, (rows, each), np.int32), 1).ravel()
    cells = np.full(rows * each, each**-0.5, np.float32)
    made = csr_matrix((cells, places, np.arange(rows + 1) * each), (rows, width))
    made.sum_duplicates()
    return made


def _of_one(plan: Plan, setting: int, model: Model, workers: int | None) -> float:
    encoding = plan.spec.encodings[plan.spec.encoding_of(setting)]
    rows = max(2, min(plan.training.n, MOST_ROWS, MOST_CELLS // max(encoding.schema.width, 1)))
    made = _made_up(encoding, rows)
    classes = plan.spec.classes
    targets = torch.zeros(rows) if classes is None else torch.zeros(rows, dtype=torch.long)
    source, lot = examples(made, targets), min(plan.training.lot_size, rows / 2)
    candidate, steps = plan.candidates[setting], 2
    while True:  # the first time compiles, and does not count
        counts, steps = steps > 2, min(2 * steps, plan.training.steps)
        began = time.perf_counter()
        train(
            model, source, [candidate], Schedule(steps, lot),
            Randomness.simulation(0), workers=workers,
        )  # fmt: skip
        took = time.perf_counter() - began
        if counts and (took >= LEAST_SECONDS or steps == plan.training.steps):
            return took * plan.training.steps / steps * plan.training.lot_size / lot
