"""The only maker of a noisy gradient: here, or compiled into an update (`kernels.update`) with
what `stated` says.

`g = (S + round(s X)) * C / UNITS / L`: S is a clipped sum in whole units (`grid`), X standard
normal and s = noise_multiplier * UNITS: noise_multiplier times the sum's sensitivity. As S is
whole, S + round(s X) = round(S + s X): the Gaussian mechanism on a clipped sum, rounded after the
noise. Rounding, and everything computed from it, is post-processing, so what accountants say of the
Gaussian mechanism holds as it stands: sums are exact, and round(s X) is drawn exactly
(`randomness.normal`), in its tails too. L is the *expected* lot size, which is public; an empty lot
gives noise alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from honestdp.engine.clipping import ClippedSum
from honestdp.engine.kernels.update import noisy_update
from honestdp.engine.torch_noise import rounded_normals
from honestdp.optimizers.dpsgd import sgd
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.streams import settled_pair
from honestdp.units import UNITS

Array = np.ndarray[Any, np.dtype[Any]]
NOTHING_SETTLED = np.empty((0, 4))


class NoiseMaker:
    """Makes the noise of a cohort: candidate k's from the streams of its own number.

    multipliers: [candidate], float64.
    """

    def __init__(
        self, candidates: Array, multipliers: Array, expected_lot: float, randomness: Randomness
    ) -> None:
        self.candidates, self.multipliers = candidates, multipliers
        self.expected_lot, self.key = expected_lot, randomness.key

    def stated(self, total: ClippedSum, step: int, rows: slice) -> tuple[Any, ...]:
        """What a compiled maker is given for candidates `rows`: streams, sums, the noise's scales
        and what a unit of the mean is."""
        streams = (self.key, np.uint32(Purpose.NOISE), self.candidates[rows], np.uint32(step))
        return *streams, total.units.numpy()[rows], self._scales(rows), self._unit(total, rows)

    def settled(self, step: int, rows: slice, doubt: Array) -> Array:
        """The pair of normals that a kernel left in doubt, as a row of what is settled: the
        candidate's place, the pair's number, its two whole numbers."""
        place, pair = int(doubt[0]), int(doubt[1])
        stream = np.uint32(Purpose.NOISE), self.candidates[rows][place], np.uint32(step)
        scale = float(self._scales(rows)[place])
        return np.array([[place, pair, *settled_pair(self.key, *stream, pair, scale)]], float)

    def noisy_mean(self, total: ClippedSum, step: int, rows: slice) -> Tensor:
        """The noisy means of candidates `rows`."""
        if total.units.device.type != "cpu":
            return self._in_torch(total, step, rows)
        # DPSGD from 0 at rate -1.
        out = torch.zeros(total.units[rows].shape, dtype=torch.float32)
        rate = np.full((len(out), 1), -1, np.float32)
        self.until_settled(noisy_update(sgd, 0), total, step, rows, out.numpy(), (), rate)
        return out

    def until_settled(
        self, kernel: Any, total: ClippedSum, step: int, rows: slice, *rest: Any
    ) -> None:
        """Runs a kernel to its end: it stops where a normal is in doubt, and goes on from the
        block it stopped in once that one is settled."""
        stated = self.stated(total, step, rows)
        begin, doubt, known = np.zeros(2, np.int64), np.zeros(2, np.int64), NOTHING_SETTLED
        before = begin.copy()
        while not kernel(*stated, *rest, begin, doubt, known):
            if (begin != before).any():  # a block further: what was settled is behind it
                before, known = begin.copy(), NOTHING_SETTLED
            known = np.concatenate([known, self.settled(step, rows, doubt)])

    def _in_torch(self, total: ClippedSum, step: int, rows: slice) -> Tensor:
        part = total.units[rows]
        numbers = self.candidates[rows]
        scales = torch.from_numpy(self._scales(rows)).to(part.device)
        noise = rounded_normals(
            self.key, Purpose.NOISE, numbers, step, scales, part.shape[1], part.device
        )
        unit = torch.from_numpy(self._unit(total, rows)).unsqueeze(1).to(part.device)
        return ((part + noise) * unit).float()

    def _scales(self, rows: slice) -> Array:
        """The noise's standard deviations, in units."""
        return self.multipliers[rows] * UNITS

    def _unit(self, total: ClippedSum, rows: slice) -> Array:
        """What a unit of the sum is in the mean."""
        sensitivity: Array = total.sensitivity.numpy(force=True)[rows]
        return sensitivity / UNITS / self.expected_lot
