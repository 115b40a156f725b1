"""`coef_` and `intercept_` of a released linear model, in scikit-learn's shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp.release.effects import linear_part
from honestdp.release.saved import Released


def coefficients(release: Released, order: NDArray[Any] | None) -> tuple[Any, Any]:
    """The weights of the encoded columns, and the intercept.

    Args:
        release: The release.
        order: The place in the schema of each of `classes_`; None where a number is predicted.

    Returns:
        [1, column] and [1] for two classes: the log-odds of the second of `classes_`. [class,
        column] and [class] for more. [column] and a number in the target's unit for regression.

    Raises:
        AttributeError: If the model is not linear, diverged, or there is none.
    """
    try:
        weight, bias = linear_part(release.predictor)
    except InputError as error:
        raise AttributeError(f"no coef_, intercept_, feature_names_out_: {error}") from None
    bounds = release.schema.target.bounds
    if order is None:
        assert bounds is not None
        low, high = bounds
        half = (high - low) / 2  # an output of -1 stands for the lower bound, 1 for the upper
        return weight[:, 0] * half, float(bias[0] * half + (low + half))
    if len(order) == 2:  # one output: the log-odds of the schema's second class
        sign = 1.0 if order[1] == 1 else -1.0
        return sign * weight.T, sign * bias
    return np.ascontiguousarray(weight.T[order]), bias[order]
