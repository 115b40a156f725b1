"""Scores from parameters: how many rows a candidate gets right, how large its loss is.

These read data, so a score on protected rows is for an accounted mechanism, not for
a person. One row moves a count by at most 1 and a clipped loss by at most its bound. A candidate
whose parameters or outputs are not finite gets the worst score, the same for every data set.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from honestdp.engine.examples import Examples
from honestdp.engine.models import Model, size
from honestdp.errors import InputError, positive
from honestdp.units import UNITS

_ROOM = 1 << 22  # floats of inputs and outputs held at once


def correct(model: Model, params: Tensor, examples: Examples) -> Tensor:
    """How many rows each candidate predicts correctly, [candidate]; absent rows never count."""
    _classes(model)
    right = torch.zeros(len(params), dtype=torch.long, device=params.device)
    for outputs, targets, present in _outputs(model, params, examples):
        sound = torch.isfinite(outputs).all(-1) & (present > 0)
        right += ((model.loss.predicted(outputs) == targets) & sound).sum(1)
    return torch.where(_finite(params), right, 0)


def clipped_loss(model: Model, params: Tensor, examples: Examples, bound: float) -> Tensor:
    """Sum over rows of min(half the squared error, bound), [candidate]; absent rows count 0."""
    return clipped_loss_units(model, params, examples, bound) * (bound / UNITS)


def clipped_loss_units(model: Model, params: Tensor, examples: Examples, bound: float) -> Tensor:
    """The same in whole units of bound / UNITS, every row's loss rounded by itself: one row moves
    the sum by at most UNITS, whatever the others are."""
    if model.loss.classes:
        raise InputError("model: has classes, no real targets; use correct or predict")
    positive("bound", bound)
    total = torch.zeros(len(params), dtype=torch.long, device=params.device)
    for outputs, targets, present in _outputs(model, params, examples):
        losses = (outputs.squeeze(-1) - targets).double().square() * (UNITS / (2 * bound))
        losses = torch.nan_to_num(losses, nan=UNITS).clamp(max=UNITS)
        total += torch.where(present > 0, losses, 0.0).round().long().sum(1)
    return torch.where(_finite(params), total, UNITS * len(examples))


def predict(model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Predicted classes or values, [candidate, row]."""
    parts = [model.loss.predicted(z) for z, _, _ in _outputs(model, params, examples)]
    return torch.cat(parts, 1)


def probabilities(model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Predicted class probabilities, [candidate, row, class]."""
    _classes(model)
    parts = [model.loss.probabilities(z) for z, _, _ in _outputs(model, params, examples)]
    return torch.cat(parts, 1)


def _classes(model: Model) -> None:
    if not model.loss.classes:
        raise InputError("model: has real targets, no classes; use clipped_loss or predict")


def _finite(params: Tensor) -> Tensor:
    return torch.isfinite(params).all(1)


def _outputs(
    model: Model, params: Tensor, examples: Examples
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Outputs of a few candidates on a few rows at a time would need joining twice: rows are
    chunked, candidates not; each chunk is (outputs, targets, present)."""
    model.check(examples)
    if params.ndim != 2 or params.shape[1] != size(model):
        raise InputError(
            f"parameters of shape {tuple(params.shape)}: give [candidate, {size(model)}]"
        )
    each = torch.Size(examples.shape).numel() + len(params) * _widest(model)
    rows = max(1, _ROOM // each)
    with torch.no_grad():
        for first in range(0, len(examples), rows):
            chosen = torch.arange(first, min(first + rows, len(examples)), device=examples.device)
            outputs = model.outputs(params, examples.dense(chosen))
            yield outputs, examples.targets[chosen], examples.present[chosen]


def _widest(model: Model) -> int:
    """The floats a row needs in one candidate's layers: at most the biases there are."""
    return max((shape[-1] for _, shape in model.layout if shape), default=1)
