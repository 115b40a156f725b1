"""Scores from parameters: sums of a metric over rows.

These read data, so a score on protected rows is for an accounted mechanism, not for
a person. One row moves a sum by at most the metric's bound. A candidate whose parameters are not
finite gets the worst score, the same for every data set; a row whose outputs are not, the worst
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from honestdp.engine.examples import Examples
from honestdp.engine.models import Model, size
from honestdp.errors import InputError, fail, one_line
from honestdp.metrics import Metric, metrics
from honestdp.units import UNITS

Cells = Callable[[Any, Tensor, Tensor], Tensor]
_ROOM = 1 << 22  # floats of inputs and outputs held at once


def score_units(metric: Metric, model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Sum a metric's values over the rows. Sensitive.

    Every row's value is clipped to [0, bound] and rounded by itself, so one row changes a sum by at
    most UNITS, whatever the others are. Rows that are not present count 0.

    Args:
        metric: The metric.
        model: The model.
        params: [candidate, parameter].
        examples: The rows.

    Returns:
        The sums, [candidate], in whole units of the metric's bound / UNITS.

    Raises:
        InputError: If the metric is not for such a model, or if the rows or parameters do not fit
            the model.
    """
    _check_suits(metric, model)
    worst = metric.worst / metric.bound * UNITS
    total = torch.zeros(len(params), dtype=torch.long, device=params.device)
    for outputs, targets, present in _outputs(model, params, examples):
        values = _values(metric, model, outputs, targets).double() * (UNITS / metric.bound)
        values = torch.where(outputs.isfinite().all(-1), values, worst)
        values = torch.nan_to_num(values, nan=worst).clamp(0, UNITS)
        total += torch.where(present > 0, values, 0.0).round().long().sum(1)
    return torch.where(_finite(params), total, round(worst) * len(examples))


def measured_units(metric: Metric, model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Measure what a metric's scores are made of, for every candidate. Sensitive.

    One row moves the numbers of a candidate by at most UNITS in the l2 norm: a sum of values by at
    most UNITS (`score_units`), or one count by one row, which is UNITS. Rows are counted as if
    outputs that are not finite were 0, the output of a model that knows nothing.

    Args:
        metric: The metric.
        model: The model.
        params: [candidate, parameter].
        examples: The rows.

    Returns:
        [candidate, number], in whole units: the sum of values, negated if smaller is better, or the
        counts.

    Raises:
        InputError: As for `score_units`.
    """
    level = metric.level(model.loss.classes or None)
    if level is None:
        found = score_units(metric, model, params, examples).unsqueeze(1)
        return found if metric.larger_is_better else -found
    _check_suits(metric, model)
    return cell_counts(level.cells, level.size, model, params, examples) * UNITS


def _check_suits(metric: Metric, model: Model) -> None:
    if not metric.suits(model.loss.classes or None):
        raise fail("metric", metric.name, f"is not for a model of {_targets(model)}")


def cell_counts(
    cells: Cells, count: int, model: Model, params: Tensor, examples: Examples
) -> Tensor:
    """Count the rows of each cell, for every candidate. Sensitive.

    A row is in one cell at most, by its own outputs and target, so one row moves the counts of a
    candidate by at most 1, in one place. Rows that are not present are in none.

    Args:
        cells: Gives the number of every row's cell, [candidate, row], from the model's loss, its
            outputs (0 where they are not finite) and the targets; a number outside [0, count) is no
            cell.
        count: Number of cells.
        model: The model.
        params: [candidate, parameter].
        examples: The rows.

    Returns:
        The counts, [candidate, cell].
    """
    found = torch.zeros(len(params), count + 1, dtype=torch.long, device=params.device)
    for outputs, targets, present in _outputs(model, params, examples):
        finite = torch.where(outputs.isfinite(), outputs, 0.0)
        cell = _cells(cells, model, finite, targets)
        inside = (cell >= 0) & (cell < count) & (present > 0)
        cell = torch.where(inside, cell, count)  # one more, for those in none
        found.scatter_add_(1, cell, torch.ones_like(cell))
    return found[:, :count]


def check_metric_values(metric: Metric, model: Model) -> None:
    """Check a metric on made-up rows, before anything is paid.

    Raises:
        InputError: If it fails, if its values or cells have another shape than [candidate, row], or
            if those of a row depend on another row.
    """
    loss, source = model.loss, torch.Generator().manual_seed(0)
    level = metric.level(loss.classes or None)

    def of_rows(outputs: Tensor, targets: Tensor) -> Tensor:
        if level is None:
            return _values(metric, model, outputs, targets)
        return _cells(level.cells, model, outputs, targets)

    # A large change moves a mean of all rows past most of them.
    for candidates, rows, change in ((2, 8, 1.0), (2, 8, 1e3), (2, 8, -1e3), (1, 1, 1.0)):
        outputs = torch.randn(candidates, rows, loss.outputs, generator=source)
        targets = loss.predicted(outputs)[0]
        changed, others = outputs.clone(), targets.clone()
        changed[:, 0] += change
        others[0] = (targets[0] + 1) % loss.classes if loss.classes else 0.5
        try:
            with torch.no_grad():
                found = of_rows(outputs, targets)[:, 1:].double()
                again = of_rows(changed, others)[:, 1:].double()
        except InputError:
            raise
        except Exception as error:  # raised by the code of the metric; these rows are made up
            reason = one_line(error)
            raise fail("metric", metric.name, f"fails on made-up rows ({reason})") from error
        if not torch.allclose(found, again, equal_nan=True):
            remedy = "the value of a row depends on another row; compute each from its own row"
            raise fail("metric", metric.name, remedy)


def _cells(cells: Cells, model: Model, outputs: Tensor, targets: Tensor) -> Tensor:
    """The cell of every row, [candidate, row]. Another shape would be broadcast, so that one row
    moved the counts of others."""
    found = cells(model.loss, outputs, targets)
    if not isinstance(found, Tensor) or found.shape not in (outputs.shape[:2], targets.shape):
        raise InputError("cells: must be a tensor of one number per candidate and row")
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        raise InputError("cells: must be whole numbers; give a tensor of integers")
    return found.expand(outputs.shape[:2]).long()


def _values(metric: Metric, model: Model, outputs: Tensor, targets: Tensor) -> Tensor:
    """The values of a metric, [candidate, row].

    Any other shape would be broadcast: one number for all rows would be counted once per row, so
    that a single record could change a sum by more than the bound. The message shows no shape, as
    the number of rows may be secret.
    """
    found = metric.values(model.loss, outputs, targets)
    if not isinstance(found, Tensor) or found.shape != outputs.shape[:2] or found.is_complex():
        remedy = "its values must be a tensor of one real number per candidate and row"
        raise fail("metric", metric.name, f"{remedy}, [candidate, row]")
    return found


def correct(model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Count the rows that each candidate predicts correctly. Sensitive.

    Args:
        model: The model, of classes.
        params: [candidate, parameter].
        examples: The rows; those that are not present never count as correct.

    Returns:
        The counts, [candidate].
    """
    return score_units(metrics.get("accuracy"), model, params, examples) // UNITS


def _targets(model: Model) -> str:
    return f"{model.loss.classes} classes" if model.loss.classes else "numbers"


def predict(model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Predict classes or values.

    Args:
        model: The model.
        params: [candidate, parameter].
        examples: The rows; their targets are ignored.

    Returns:
        Class numbers, or values if the model has no classes, [candidate, row].
    """
    parts = [model.loss.predicted(z) for z, _, _ in _outputs(model, params, examples)]
    return torch.cat(parts, 1)


def probabilities(model: Model, params: Tensor, examples: Examples) -> Tensor:
    """Predict the probability of every class.

    Args:
        model: The model, of classes.
        params: [candidate, parameter].
        examples: The rows; their targets are ignored.

    Returns:
        Probabilities, [candidate, row, class].

    Raises:
        InputError: If the model has no classes.
    """
    _classes(model)
    parts = [model.loss.probabilities(z) for z, _, _ in _outputs(model, params, examples)]
    return torch.cat(parts, 1)


def _classes(model: Model) -> None:
    if not model.loss.classes:
        raise InputError("model: has real targets, no classes; use predict")


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
            if outputs.shape != (len(params), len(chosen), model.loss.outputs):
                raise InputError("model: its outputs must be of shape [candidate, row, output]")
            yield outputs, examples.targets[chosen], examples.present[chosen]


def _widest(model: Model) -> int:
    """The floats a row needs in one candidate's layers: at most the biases there are."""
    return max((shape[-1] for _, shape in model.layout if shape), default=1)
