"""Sparse rows, packed for random access: a lot reads a few hundred rows from all over the table.

All that a kernel needs of a row lies side by side, from the start of a cache line: four
words of facts, then pairs of (column, value). At 14 non-zeros a row that is two cache lines, where
three arrays of columns, values and targets would be six, and reading them from memory is
most of the time of a step on a large table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

LINE = 16  # words of 32 bits in a cache line
FACTS = 4  # words before a row's entries: count, class, target, square


@dataclass(frozen=True, eq=False, repr=False)
class Sparse:
    """Row r starts at word starts[r]: its facts, then `count` pairs of column and value.

    Words are int32; values and the last two facts are the bits of a float32.
    """

    words: Tensor
    starts: Tensor
    width: int

    def to(self, device: torch.device | str) -> Sparse:
        return Sparse(self.words.to(device), self.starts.to(device), self.width)

    def dense(self, rows: Tensor) -> Tensor:
        """The given rows (any shape), written out: [*rows.shape, width]."""
        first = self.starts[rows.reshape(-1).long()]
        counts = self.words[first].long()
        device = self.words.device
        owner = torch.repeat_interleave(torch.arange(len(first), device=device), counts)
        offset = torch.arange(len(owner), device=device) - (counts.cumsum(0) - counts)[owner]
        place = first[owner] + FACTS + 2 * offset
        out = torch.zeros(len(first), self.width, dtype=torch.float32, device=device)
        out[owner, self.words[place].long()] = self.words.view(torch.float32)[place + 1]
        return out.view(*rows.shape, self.width)


def facts(targets: Tensor, present: Tensor, squares: Tensor) -> Tensor:
    """[n, 4] words a row: 0, its class (-1: none), its target and its square (0: absent)."""
    made = torch.zeros(len(targets), FACTS, dtype=torch.int32)
    made[:, 1] = -1
    made[:, 2] = targets.float().view(torch.int32)
    if not targets.is_floating_point():
        # What is outside int32 is outside every model's classes too.
        known = (targets >= 0) & (targets < 2**31)
        made[:, 1] = torch.where(known, targets, -1).to(torch.int32)
    made[:, 3] = torch.where(present > 0, squares, 0.0).view(torch.int32)
    return made


def pack(matrix: Any, known: Tensor) -> Sparse:
    """A SciPy CSR matrix without duplicate entries, and its rows' facts, as packed rows."""
    counts = np.diff(matrix.indptr).astype(np.int64)
    lines = -(-(FACTS + 2 * counts) // LINE)
    starts = LINE * (np.cumsum(lines) - lines)
    words = _aligned(LINE * int(lines.sum()))
    for fact in range(FACTS):
        words[starts + fact] = known[:, fact].numpy()
    words[starts] = counts
    owner = np.repeat(np.arange(len(counts)), counts)
    place = (starts + FACTS - 2 * matrix.indptr[:-1])[owner] + 2 * np.arange(len(owner))
    words[place] = matrix.indices
    words[place + 1] = matrix.data.astype(np.float32).view(np.int32)
    return Sparse(torch.from_numpy(words), torch.from_numpy(starts), int(matrix.shape[1]))


def _aligned(count: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Zeros that begin at a cache line. NumPy's, not torch's: it asks for large memory pages."""
    room = np.zeros(count + LINE, np.int32)
    skip = (-room.ctypes.data // 4) % LINE
    return room[skip : skip + count]
