"""`check_metric`: whether a metric keeps the contract of `honestdp.metrics.base`."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from honestdp.engine.losses import Loss
from honestdp.metrics import Metric
from honestdp.testing.counted import check_counts

_ODD = (math.nan, math.inf, -math.inf, 1e30, -1e30, 1e-42, 0.0)


def check_metric(metric: Metric) -> None:
    """Check that a metric keeps its contract: one row changes a sum by at most its bound.

    Args:
        metric: The object that is registered.

    Raises:
        AssertionError: If it breaks the contract; the message says how.

    Example:
        >>> from honestdp.metrics import metrics
        >>> check_metric(metrics.get("accuracy"))
    """
    assert isinstance(metric, Metric), "give an object of a subclass of Metric, as is registered"
    for name in ("name", "summary", "label", "meaning", "summed"):
        assert isinstance(getattr(metric, name, None), str), f"{name}: must be a text"
    bound = getattr(metric, "bound", None)
    number = isinstance(bound, (int, float)) and 0 < bound < math.inf
    assert number, f"bound: {bound} is not a finite number above 0"
    for name in ("of_classes", "larger_is_better"):
        assert isinstance(getattr(metric, name, None), bool), f"{name}: must be True or False"
    some = [classes for classes in (2, 5, None) if metric.suits(classes)]
    assert some, "suits: it is for no target; say for which numbers of classes it is"
    for classes in some:
        _check_values(metric, Loss.of(classes))
        if metric.level(classes) is not None:
            check_counts(metric, Loss.of(classes))
    value = metric.from_score(metric.as_score(0.25, 80), 80)
    assert math.isclose(value, 0.25), f"from_score(as_score(0.25, 80), 80): is {value}"
    better, worse = (0.3, 0.2) if metric.larger_is_better else (0.2, 0.3)
    assert metric.as_score(better, 10) > metric.as_score(worse, 10), (
        "as_score: a better value must have a larger score"
    )


def _check_values(metric: Metric, loss: Loss) -> None:
    source = torch.Generator().manual_seed(0)
    outputs = torch.randn(3, 40, loss.outputs, generator=source)
    for i, odd in enumerate(_ODD):
        outputs[:, i] = odd
    if loss.classes:
        targets = torch.randint(-1, loss.classes, (40,), generator=source)
    else:
        targets = torch.rand(40, generator=source) * 2 - 1
        targets[:3] = math.nan
    found = _values(metric, loss, outputs, targets)
    _check_rows(metric, loss, outputs, targets)
    _check_rows(metric, loss, outputs[:, len(_ODD) :], targets[len(_ODD) :])
    sound = found[:, len(_ODD) :]
    assert ((sound >= 0) & (sound <= metric.bound)).any(), (
        f"values: all lie outside [0, {metric.bound}] and would be clipped; check the bound"
    )
    alone = torch.cat([_values(metric, loss, outputs[k : k + 1], targets) for k in range(3)])
    assert torch.allclose(alone, found, equal_nan=True), "values: depend on other candidates"


def _check_rows(metric: Metric, loss: Loss, outputs: Tensor, targets: Tensor) -> None:
    found = _values(metric, loss, outputs, targets)
    for row in (0, 5, len(targets) - 1):
        changed, targets_too = outputs.clone(), targets.clone()
        changed[:, row] = 3.0
        targets_too[row] = (targets[row] + 1) % loss.classes if loss.classes else 0.5
        others = torch.arange(len(targets)) != row
        same = _values(metric, loss, changed, targets_too)[:, others]
        assert torch.equal(
            torch.nan_to_num(same, nan=-1.0), torch.nan_to_num(found[:, others], nan=-1.0)
        ), f"values: a change of row {row} changes the values of other rows"


def _values(metric: Metric, loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    try:
        found = metric.values(loss, outputs, targets)
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise AssertionError(f"values: fails ({reason}); no row may raise") from error
    wanted = tuple(outputs.shape[:2])
    real = isinstance(found, Tensor) and not found.is_complex()
    assert real, f"values: is a {type(found).__name__}; return a tensor of real numbers"
    assert found.shape == wanted, f"values: shape {tuple(found.shape)}, must be {wanted}"
    return found.double()
