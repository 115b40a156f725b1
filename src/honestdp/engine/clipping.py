"""Per-example clipping: a sum of clipped gradients, and how far one example can move it.

`clip_norm` C: example i enters as `g_i * min(1, C/||g_i||)` (Abadi et al. 2016). Automatic
(Bu et al. 2023): `g_i / (||g_i|| + 0.01)`, whose norm is below 1. Adding or removing
one example, or replacing it by a null record, therefore moves the sum by at most C
(or 1) in Euclidean norm: its *sensitivity*, which travels with the sum.

Gradients are float32, their norms float64; the bound is taken smaller by `ROUNDING`, more than
ten times the largest error found: the sensitivity holds as stated. (How a float32 sum rounds is
not covered.) A gradient that is not finite counts as zero, the same for every example, whatever its
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from honestdp.candidates import Candidate

ROUNDING = 1e-5
AUTOMATIC_OFFSET = 0.01
# A layer's input beyond would bring the rounding of tiny gradients back to size.
LARGEST_SQUARE = 3e38
SMALLEST = 1.2e-38  # a factor below has lost digits in float32 and may round up: it counts as zero


@dataclass(frozen=True, eq=False)
class ClippedSum:
    """values [candidate, parameter]: sums over each candidate's lot. One example moves row k by at
    most sensitivity[k]. Sensitive: in a training only `noise.NoiseMaker` may read the values."""

    values: Tensor
    sensitivity: Tensor


@dataclass(frozen=True, eq=False)
class Clip:
    """How each candidate clips: `bound` [candidate], `automatic` [candidate] (bool)."""

    bound: Tensor
    automatic: Tensor

    def of(self, candidates: slice) -> Clip:
        """How some of the candidates clip."""
        return Clip(self.bound[candidates], self.automatic[candidates])

    @classmethod
    def by(cls, candidates: Sequence[Candidate], device: torch.device) -> Clip:
        return cls(
            torch.tensor([c.sensitivity for c in candidates], dtype=torch.float32, device=device),
            torch.tensor([c.clipping == "automatic" for c in candidates], device=device),
        )

    def factors(self, norms: Tensor) -> Tensor:
        """What to multiply each gradient by, from norms [candidate, example]; 0 where the norm is
        not finite, and then `finite` removes what 0 times NaN leaves."""
        bound = (1 - ROUNDING) * self.bound.unsqueeze(1).to(norms.dtype)
        automatic = bound / (norms + AUTOMATIC_OFFSET)
        by_norm = torch.clamp(bound / norms, max=1.0)
        factor = torch.where(self.automatic.unsqueeze(1), automatic, by_norm)
        return torch.where(torch.isfinite(norms) & (factor >= SMALLEST), factor, 0.0).float()


def finite(values: Tensor) -> Tensor:
    """In place: what is not finite becomes 0. A single NaN would poison the whole sum."""
    return torch.nan_to_num_(values, nan=0.0, posinf=0.0, neginf=0.0)
