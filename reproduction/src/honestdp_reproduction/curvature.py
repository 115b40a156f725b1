"""How curved a table's logistic loss is: how long a step can be before it swings away.

Gradient descent near an optimum is stable while the step size times the largest eigenvalue is
below 2. Of what? Of the loss' Hessian, were gradients not clipped; of the Jacobian of the mean
clipped gradient, as they are. An example that is clipped hardly pulls otherwise when the parameters
move, and sure predictions are flat, so the second one is far smaller.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.autograd.functional import jvp

from honestdp_reproduction.balanced_show import CLIP_NORM
from honestdp_reproduction.data import Rows

MOST_ROWS = 10_000  # of a table, for the curvature at its optimum


@cache
def smoothness(rows: Rows) -> float:
    """The largest eigenvalue that the loss' Hessian can have, gradients not clipped.

    That of X'X/n, X with the bias's 1, times 1/4 for two classes and 1/2 for more. Two classes
    start there: at zero parameters it is the Hessian.
    """
    inputs = rows.train

    def image(vector: Tensor) -> Tensor:
        found = torch.zeros_like(vector)
        for first in range(0, len(inputs), 4096):
            x = _inputs(rows, first, min(first + 4096, len(inputs)))
            found += x.T @ (x @ vector)
        return found / len(inputs)

    start = torch.ones(1 + inputs.shape[0], dtype=torch.float64)
    return _largest(image, start) / (4 if rows.model.loss.classes == 2 else 2)


def clipped_curvature(rows: Rows) -> float:
    """The largest eigenvalue of the Jacobian of the mean clipped gradient at the optimum, which
    scikit-learn finds without privacy."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    count = min(len(rows.train), MOST_ROWS)
    x, targets = _inputs(rows, 0, count), rows.train.targets[:count]
    model = LogisticRegression(max_iter=200)
    with warnings.catch_warnings():  # near the optimum is enough
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x[:, 1:].numpy(), targets.numpy())
    optimum = torch.tensor(np.column_stack([model.intercept_, model.coef_]).T)  # [input, output]
    norms = x.norm(dim=1, keepdim=True)
    two = rows.model.loss.classes == 2

    def gradient(parameters: Tensor) -> Tensor:
        outputs = x @ parameters
        if two:
            error = torch.sigmoid(outputs) - targets[:, None]
        else:
            wanted = torch.nn.functional.one_hot(targets, outputs.shape[1])
            error = torch.softmax(outputs, 1) - wanted
        length = error.norm(dim=1, keepdim=True) * norms
        return x.T @ (error * (CLIP_NORM / length).clamp(max=1.0)) / count

    start = torch.randn(optimum.shape, dtype=torch.float64, generator=torch.manual_seed(0))
    return _largest(lambda v: jvp(gradient, optimum, v)[1], start)


def _inputs(rows: Rows, first: int, last: int) -> Tensor:
    """Rows with the bias's 1 before them."""
    x = rows.train.dense(torch.arange(first, last)).double()
    return torch.cat([torch.ones(len(x), 1, dtype=x.dtype), x], 1)


def _largest(image: Callable[[Tensor], Tensor], vector: Tensor) -> float:
    """Power iteration: far more of it than three digits need here."""
    found = 0.0
    for _ in range(50):
        vector = vector / vector.norm()
        vector = image(vector)
        found = float(vector.norm())
    return found
