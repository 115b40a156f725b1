"""Which candidates train together. It changes the time only: a candidate's result is its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from honestdp.candidates import Candidate
from honestdp.engine.models import Model, size

# Bytes of parameters a cohort may have: it bounds the work space. From 2 to 16 MB the time is the
# same (benchmarks/README.md).
CACHE = 8 << 20
LARGEST = 64


@dataclass(frozen=True)
class Cohort:
    """Candidates of one model, at one step, ordered by rule. `members` index the caller's list."""

    model: Model
    step: int
    members: tuple[int, ...]


def cohorts(
    models: Sequence[Model], candidates: Sequence[Candidate], steps: Sequence[int], workers: int
) -> list[Cohort]:
    """Splits candidates (at `steps`) into cohorts of equal shape, evenly over the workers."""
    alike: dict[tuple[Model, int], list[int]] = {}
    for index, key in enumerate(zip(models, steps, strict=True)):
        alike.setdefault(key, []).append(index)
    made = []
    for (model, step), members in alike.items():
        members.sort(key=lambda i: (candidates[i].rule, candidates[i].average))
        most = min(LARGEST, max(1, CACHE // (4 * size(model))))
        count = workers * math.ceil(len(members) / (most * workers))
        count = min(count, len(members))
        for part in range(count):
            chosen = members[part * len(members) // count : (part + 1) * len(members) // count]
            made.append(Cohort(model, step, tuple(chosen)))
    return made


def default_workers(device: torch.device) -> int:
    """One worker a core, each with single-threaded kernels: two threads on one small product
    lose more than they win. A GPU is fed by one."""
    return torch.get_num_threads() if device.type == "cpu" else 1
