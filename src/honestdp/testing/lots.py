"""Adversarial lots that break a naive floating-point sum; a clipped sum must withstand them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def huge_and_tiny(draws: np.random.Generator, shape: Shape) -> Any:
    return draws.choice([1e18, -1e18, 1e-18, -1e-18, 1.0], shape)


def alternating(draws: np.random.Generator, shape: Shape) -> Any:
    signs = np.where(np.arange(shape[0]) % 2, -1.0, 1.0).reshape(-1, *[1] * (len(shape) - 1))
    return signs * draws.choice([1.0, 1 + 2.0**-23, 1e-4], shape)


def powers_of_two(draws: np.random.Generator, shape: Shape) -> Any:
    return draws.choice([-1, 1], shape) * 2.0 ** draws.integers(-30, 30, shape)


def half_units(draws: np.random.Generator, shape: Shape) -> Any:
    """Contributions in the middle between two whole units, or next to it."""
    whole = draws.integers(-3, 4, shape) + 0.5
    return whole * 2.0**-20 * (1 + draws.integers(-2, 3, shape) * 2.0**-23)


def subnormal(draws: np.random.Generator, shape: Shape) -> Any:
    return draws.choice([1e-45, -1e-40, 1e-38, 1.2e-38, 0.0], shape)


def not_finite(draws: np.random.Generator, shape: Shape) -> Any:
    return draws.choice([np.nan, np.inf, -np.inf, 3e38, 1.0, 1.0, 1.0], shape)


def absorbed(draws: np.random.Generator, shape: Shape) -> Any:
    """Rows of 1 that add up to a power of two, beside the first, then rows of half a unit in the
    last place of a float32 sum there. With the first row such a sum stays where it is; without it
    it follows them: the lot that broke sums in float32."""
    top = int(np.log2(max(2, shape[0] // 2)))
    values = np.where(np.arange(shape[0]) <= 2**top, 1.0, -(2.0 ** (top - 24)))
    return np.broadcast_to(values.reshape(-1, *[1] * (len(shape) - 1)), shape).copy()


KINDS: dict[str, Callable[..., Any]] = {
    made.__name__: made
    for made in (
        huge_and_tiny, alternating, powers_of_two, half_units, subnormal, not_finite, absorbed
    )
}  # fmt: skip


def lot(kind: str, rows: int, seed: int, features: int, classes: int | None) -> tuple[Any, Any]:
    """Inputs [rows, features] and targets of one kind; real targets are as wild as the inputs.

    Args:
        kind: One of KINDS.
        rows: How many.
        seed: Of the draws.
        features: How many columns the inputs have.
        classes: How many classes the targets have; None: numbers.
    """
    draws = np.random.default_rng(seed)
    X = KINDS[kind](draws, (rows, features))  # noqa: N806
    if kind == "absorbed":
        X[:] = 0.0
    if classes is None:
        return X, -KINDS[kind](draws, (rows,))
    return X, draws.integers(0, classes, rows)


def with_null(X: Any, y: Any, record: int) -> tuple[Any, Any]:  # noqa: N803
    """The same lot with a null record in the place of one."""
    X, y = X.copy(), y.copy()  # noqa: N806
    X[record] = 0.0
    y[record] = -1 if y.dtype.kind == "i" else np.nan
    return X, y
