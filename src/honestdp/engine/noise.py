"""The only maker of a noisy gradient: here, or compiled into an update (`kernels.update`) with
what `stated` says.

`g = (sum + N(0, (noise_multiplier * sensitivity)^2 I)) / L`: the Gaussian mechanism on a clipped
sum, divided by the *expected* lot size, which is public; an empty lot gives noise alone. The noisy
sum is rounded to a grid (`normal` says why) before it is divided. What leaves here is private, and
everything computed from it is post-processing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from honestdp.engine.clipping import ClippedSum
from honestdp.engine.normal import noisy_means, normals, on_grid
from honestdp.randomness import Purpose, Randomness

Array = np.ndarray[Any, np.dtype[Any]]


class NoiseMaker:
    """Makes the noise of a cohort: candidate k's from the streams of its own number."""

    def __init__(
        self, candidates: Array, multipliers: Tensor, expected_lot: float, randomness: Randomness
    ) -> None:
        self.candidates, self.multipliers = candidates, multipliers
        self.expected_lot, self.key = expected_lot, randomness.key

    def stated(self, total: ClippedSum, step: int, rows: slice) -> tuple[Any, ...]:
        """What a compiled maker is given for candidates `rows`: streams, sums, scales, divisor."""
        streams = (self.key, np.uint32(Purpose.NOISE), self.candidates[rows], np.uint32(step))
        scales = self._scales(total, rows).numpy()
        return *streams, total.values[rows].numpy(), scales, self.expected_lot

    def noisy_mean(self, total: ClippedSum, step: int, rows: slice) -> Tensor:
        """The noisy means of candidates `rows`."""
        if total.values.device.type != "cpu":
            return self._in_torch(total, step, rows)
        out = torch.empty_like(total.values[rows])
        noisy_means(*self.stated(total, step, rows), out.numpy())
        return out

    def _in_torch(self, total: ClippedSum, step: int, rows: slice) -> Tensor:
        part = total.values[rows]
        key = torch.from_numpy(self.key.view(np.int32)).to(part.device)
        numbers = torch.from_numpy(self.candidates[rows].view(np.int32)).to(part.device)
        z = normals(key, Purpose.NOISE, numbers, step, part.shape[1])
        scales = self._scales(total, rows).double().unsqueeze(1)
        return (on_grid(part + scales * z, scales) / self.expected_lot).float()

    def _scales(self, total: ClippedSum, rows: slice) -> Tensor:
        return self.multipliers[rows] * total.sensitivity[rows]
