"""A clipped sum by itself, for checks against other libraries and against hand computations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from honestdp.candidates import CLIP_NORMS
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples, examples
from honestdp.engine.grid import accumulator
from honestdp.engine.lots import Lots
from honestdp.engine.models import Model, size
from honestdp.engine.train import MEMORY
from honestdp.errors import InputError, between


def clipped_sum(
    model: Model,
    params: Tensor,
    X: Any,  # noqa: N803
    y: Any,
    clip_norm: float | Tensor | None,
    *,
    memory: int = MEMORY,
) -> ClippedSum:
    """Sum the clipped gradients of all rows, without noise.

    Not private, and no training calls it: it is for comparisons with other libraries and with
    computations by hand.

    Args:
        model: The model.
        params: Where to take the gradients, [candidate, parameter] or [parameter].
        X: The rows, as for `examples`, or examples.
        y: The targets; ignored if X holds examples.
        clip_norm: One for all candidates, or one for each; None: automatic clipping.
        memory: Bytes of work space for one chunk of the rows.

    Returns:
        The sum for each candidate.

    Raises:
        InputError: If the rows, the parameters or the clip norm do not fit the model.

    Example:
        >>> from honestdp.engine import Linear
        >>> model = Linear(features=1, classes=None)
        >>> clipped_sum(model, torch.zeros(2), [[3.0]], [-1.0], clip_norm=4.0).values
        tensor([[3., 1.]])
    """
    rows = X if isinstance(X, Examples) else examples(X, y)
    model.check(rows)
    model.check_sums(rows)
    params = torch.atleast_2d(params).contiguous()
    if params.shape[1] != size(model):
        raise InputError(
            f"params of shape {tuple(params.shape)}: the model has {size(model)} parameters"
        )
    count = len(params)
    if clip_norm is None:
        bound = torch.ones(count, dtype=torch.float64, device=rows.device)
    else:
        given = torch.as_tensor(clip_norm, dtype=torch.float64, device=rows.device)
        if given.shape not in ((), (1,), (count,)):
            raise InputError(
                f"clip_norm: {len(given)} for {count} candidates; give one, or one each"
            )
        for value in given.reshape(-1).tolist():
            between(*CLIP_NORMS, "clip_norm", value)
        bound = given.expand(count)
    automatic = torch.full((count,), clip_norm is None, device=rows.device)
    clip, lots = Clip(bound.contiguous(), automatic), Lots.everything(len(rows), count)
    with torch.no_grad():
        out = torch.empty_like(params, dtype=accumulator(len(rows)))
        return model.clipped_sum(params, rows, lots, clip, out, Buffers(memory, rows.device))
