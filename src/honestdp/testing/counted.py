"""What `check_metric` asks further of a metric that follows from counts of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from honestdp.engine.losses import Loss
from honestdp.evaluation.counts import Level
from honestdp.metrics import Metric
from honestdp.units import UNITS

_ROWS = 40


def check_counts(metric: Metric, loss: Loss) -> None:
    """Check the cells, the estimate and the pick of a counted metric.

    Args:
        metric: The metric.
        loss: What the outputs of made-up models mean.

    Raises:
        AssertionError: If it breaks the contract; the message says how.
    """
    classes = loss.classes or None
    level = metric.level(classes)
    assert isinstance(level, Level), f"level: is a {type(level).__name__}, must be a Level"
    assert metric.bound == 1, f"bound: is {metric.bound}; a row counts 1"
    source = torch.Generator().manual_seed(0)
    outputs = torch.randn(3, _ROWS, loss.outputs, generator=source)
    if loss.classes:
        targets = torch.randint(-1, loss.classes, (_ROWS,), generator=source)
    else:
        targets = torch.rand(_ROWS, generator=source) * 2 - 1
    found = _cells(level, loss, outputs, targets)
    _check_rows(level, loss, outputs, targets)
    for k in range(3):
        alone = _cells(level, loss, outputs[k : k + 1], targets)[0]
        assert torch.equal(alone, found[k]), "level: cells depend on other candidates"
    _check_estimate(metric, level, classes)
    counts = [_counts(level, cells) for cells in found]
    if metric.picks(classes):
        for cells, before in zip(found, counts, strict=True):
            _check_pick(metric, classes, cells, before)


def _cells(level: Level, loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    try:
        found = level.cells(loss, outputs, targets)
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise AssertionError(f"level: its cells fail ({reason}); no row may raise") from error
    whole = isinstance(found, Tensor) and found.dtype in (torch.int64, torch.int32)
    assert whole, "level: cells must be a tensor of whole numbers"
    assert found.shape in (outputs.shape[:2], targets.shape), (
        f"level: cells of shape {tuple(found.shape)}, must be {tuple(outputs.shape[:2])}"
    )
    return found.expand(outputs.shape[:2])


def _check_rows(level: Level, loss: Loss, outputs: Tensor, targets: Tensor) -> None:
    found = _cells(level, loss, outputs, targets)
    for row in (0, 5, _ROWS - 1):
        changed, targets_too = outputs.clone(), targets.clone()
        changed[:, row] = 3.0
        targets_too[row] = (targets[row] + 1) % loss.classes if loss.classes else 0.5
        moved = (_cells(level, loss, changed, targets_too) != found).any(0)
        moved[row] = False
        assert not moved.any(), f"level: a change of row {row} moves other rows to other cells"


def _counts(level: Level, cells: Tensor) -> NDArray[np.int64]:
    inside = cells[(cells >= 0) & (cells < level.size)]
    return np.bincount(inside.numpy(), minlength=level.size).astype(np.int64)


def _check_estimate(metric: Metric, level: Level, classes: int | None) -> None:
    """Noisy counts may be anything: no class at all, or fewer rows than none."""
    source = np.random.default_rng(0)
    made: list[Any] = [np.zeros(level.size), np.full(level.size, -3.0)]
    made += [source.normal(0, 5, level.size) for _ in range(20)]
    for counts in made:
        value = metric.score(counts, 5.0, classes)
        sound = isinstance(value, float) and math.isfinite(value)
        assert sound, "estimate: must be a finite number, whatever the noisy counts are"


def _check_pick(
    metric: Metric, classes: int | None, cells: Tensor, before: NDArray[np.int64]
) -> None:
    whole = metric.pick_units(before * UNITS, _ROWS, classes)
    for cell in sorted(set(cells.tolist())):
        if not 0 <= cell < len(before):
            continue
        fewer = before.copy()
        fewer[cell] -= 1
        fall = whole - metric.pick_units(fewer * UNITS, _ROWS, classes)
        assert 0 <= fall <= UNITS, (
            f"pick_count: falls by {fall / UNITS:.4g} when a row of cell {cell} goes; must be "
            "between 0 and 1"
        )
