"""Memory that is kept from step to step: fresh memory can cost more than the step."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Buffers:
    """Named float32 tensors, made once and handed out again. `memory` is what a chunk of a lot may
    take; every cohort has buffers of its own."""

    def __init__(self, memory: int, device: torch.device) -> None:
        self.memory, self.device = memory, device
        self._held: dict[str, Tensor] = {}

    def tensor(self, name: str, *shape: int) -> Tensor:
        """A tensor of this shape, with any content; the last one of this name is gone."""
        need = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.numel() < need:
            held = self._held[name] = torch.empty(need, dtype=torch.float32, device=self.device)
        return held[:need].view(shape)
