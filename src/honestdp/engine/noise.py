"""The only maker of a noisy gradient.

`g = (sum + N(0, (noise_multiplier * sensitivity)^2 I)) / L`: the Gaussian mechanism on a clipped
sum, divided by the *expected* lot size, which is public; an empty lot gives noise alone. What
leaves here is private, and everything computed from it is post-processing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from honestdp.engine.clipping import ClippedSum
from honestdp.engine.normal import add_normals, normals
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.chacha import TILE

Array = np.ndarray[Any, np.dtype[Any]]


class NoiseMaker:
    """Makes the noise of a cohort: candidate k's from the streams of its own number."""

    def __init__(
        self, candidates: Array, multipliers: Tensor, expected_lot: float, randomness: Randomness
    ) -> None:
        self.candidates, self.multipliers = candidates, multipliers
        self.expected_lot, self.key = expected_lot, randomness.key

    def noisy_mean(self, total: ClippedSum, step: int, rows: slice, columns: slice) -> Tensor:
        """The noisy means of candidates `rows`, in columns that start at a multiple of 256."""
        scale = self.multipliers[rows] * total.sensitivity[rows]
        if columns.start % TILE:
            raise ValueError(f"columns start at {columns.start}, not at a multiple of {TILE}")
        if total.values.device.type != "cpu":
            return self._in_torch(total.values[rows, columns], scale, step, rows, columns.start)
        out = torch.empty(len(scale), columns.stop - columns.start)
        add_normals(
            self.key,
            np.uint32(Purpose.NOISE),
            self.candidates[rows],
            np.uint32(step),
            columns.start,
            total.values[rows].numpy(),
            scale.numpy(),
            self.expected_lot,
            out.numpy(),
        )
        return out

    def _in_torch(self, part: Tensor, scale: Tensor, step: int, rows: slice, first: int) -> Tensor:
        key = torch.from_numpy(self.key.view(np.int32)).to(part.device)
        numbers = torch.from_numpy(self.candidates[rows].view(np.int32)).to(part.device)
        z = normals(key, Purpose.NOISE, numbers, step, first, part.shape[1])
        return (part + scale.unsqueeze(1) * z) / self.expected_lot
