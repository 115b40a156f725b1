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
from honestdp.engine.normal import TILE, add_normals, normals
from honestdp.randomness import Purpose, Randomness

Array = np.ndarray[Any, np.dtype[Any]]


class NoiseMaker:
    """Makes the noise of a cohort: candidate k's from the streams of its own number."""

    def __init__(
        self, candidates: Array, multipliers: Tensor, expected_lot: float, randomness: Randomness
    ) -> None:
        self.candidates, self.multipliers = candidates, multipliers
        self.expected_lot, self.key = expected_lot, randomness.key

    def noisy_mean(self, total: ClippedSum, step: int, columns: slice, rows: slice) -> Tensor:
        """Columns (from a multiple of 256) of the noisy means of candidates `rows`."""
        part = total.values[rows, columns]
        scale = self.multipliers[rows] * total.sensitivity[rows]
        if part.device.type == "cpu":
            return self._compiled(part, scale, step, columns.start, rows)
        key = torch.from_numpy(self.key.view(np.int32)).to(part.device)
        numbers = torch.from_numpy(self.candidates[rows].view(np.int32)).to(part.device)
        z = normals(key, Purpose.NOISE, numbers, step, columns.start, part.shape[1])
        return (part + scale.unsqueeze(1) * z) / self.expected_lot

    def _compiled(
        self, part: Tensor, scale: Tensor, step: int, first: int, rows: slice
    ) -> Tensor:
        if first % TILE:
            raise ValueError(f"columns start at {first}, not at a multiple of {TILE}")
        out = torch.empty(part.shape, dtype=part.dtype, device=part.device)
        add_normals(
            self.key,
            np.uint32(Purpose.NOISE),
            self.candidates[rows],
            np.uint32(step),
            first,
            part.numpy(),
            scale.numpy(),
            self.expected_lot,
            out.numpy(),
        )
        return out
