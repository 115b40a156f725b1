"""Per-example clipping: a sum of clipped gradients, and how far one example can move it.

`clip_norm` C: example i enters as `g_i * min(1, C/||g_i||)` (Abadi et al. 2016). Automatic
(Bu et al. 2023): `g_i / (||g_i|| + 0.01)`, whose norm is below 1. Adding or removing
one example, or replacing it by a null record, therefore moves the sum by at most C
(or 1) in Euclidean norm: its *sensitivity*, which travels with the sum.

Sums are whole numbers of units, C / UNITS each, and the bound holds for them exactly: `grid` has
the theorem. Gradients are clipped to a little less than C, which leaves room for every rounding. A
gradient that is not finite counts as zero, the same for every example, whatever its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from honestdp.candidates import Candidate
from honestdp.units import UNITS

AUTOMATIC_OFFSET = 0.01
# A hidden layer with a larger squared norm counts as not finite: times such an input, the rounding
# error of a tiny gradient would not be tiny.
LARGEST_SQUARE = 3e38
SMALLEST = 1.2e-38  # a factor below has lost digits in float32 and may round up: it counts as zero


@dataclass(frozen=True, eq=False)
class ClippedSum:
    """Sums of clipped gradients, one per candidate. Sensitive: no noise has been added.

    In a training only `noise.NoiseMaker` may read the units.

    Attributes:
        units: [candidate, parameter], whole numbers. A unit of candidate k is sensitivity[k] /
            UNITS, and one example changes row k by at most UNITS in Euclidean norm.
        sensitivity: [candidate], the most that one example can change a sum.
    """

    units: Tensor
    sensitivity: Tensor

    @property
    def values(self) -> Tensor:
        """The sums in the units of the gradients, [candidate, parameter]."""
        return (self.units * (self.sensitivity / UNITS).unsqueeze(1)).float()


@dataclass(frozen=True, eq=False)
class Clip:
    """How each candidate clips: `bound` [candidate] (float64), `automatic` [candidate] (bool)."""

    bound: Tensor
    automatic: Tensor

    @cached_property
    def scale(self) -> Tensor:
        """Units in a gradient of norm 1, [candidate]."""
        return UNITS / self.bound

    def of(self, candidates: slice) -> Clip:
        """How some of the candidates clip."""
        return Clip(self.bound[candidates], self.automatic[candidates])

    @classmethod
    def by(cls, candidates: Sequence[Candidate], device: torch.device) -> Clip:
        return cls(
            torch.tensor([c.sensitivity for c in candidates], dtype=torch.float64, device=device),
            torch.tensor([c.clipping == "automatic" for c in candidates], device=device),
        )

    def factors(self, norms: Tensor, limit: float) -> Tensor:
        """What brings each gradient to units, clipped at `limit` of them, from norms [candidate,
        example]; 0 where the norm is not finite, and then `finite` removes what 0 times NaN
        leaves. The same rule compiled: `kernels.loss.clip_factor`."""
        automatic = limit / (norms + AUTOMATIC_OFFSET)
        by_norm = torch.minimum(limit / norms, self.scale.unsqueeze(1))
        factor = torch.where(self.automatic.unsqueeze(1), automatic, by_norm)
        return torch.where(torch.isfinite(norms) & (factor >= SMALLEST), factor, 0.0).float()


def finite(values: Tensor) -> Tensor:
    """In place: what is not finite becomes 0. A single NaN would poison the whole sum."""
    return torch.nan_to_num_(values, nan=0.0, posinf=0.0, neginf=0.0)
