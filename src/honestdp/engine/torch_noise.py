"""round(s X) in torch, on any device: the same bits, and so the same whole numbers, as compiled.

`randomness.normal` has the law and the error bound. Here logarithm, cosine and sine are torch's own
in float64, which err by at most two units in the last place (CUDA's and SLEEF's documentation):
less than the bound allows for. The pairs that stay in doubt are settled on the CPU, one by one.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from honestdp.randomness.chacha import BLOCKS, ROUNDS, TILE, Words
from honestdp.randomness.normal import GROUP, LEAST_RADIUS_UNIFORM, PAIRS, RELATIVE_ERROR, TILES
from honestdp.randomness.streams import settled_pair


def rounded_normals(
    key: Words,
    purpose: int,
    candidates: Words,
    step: int,
    scales: Tensor,
    count: int,
    device: torch.device,
) -> Tensor:
    """The first `count` of round(scale X) of each candidate's stream, [candidate, count]."""
    groups = -(-count // GROUP)
    words = _tiles(
        torch.from_numpy(key.view(np.int32)).to(device),
        purpose,
        torch.from_numpy(candidates.view(np.int32)).to(device),
        step,
        groups * TILES,
    ).view(len(candidates), groups, TILES, PAIRS)
    wide = scales.view(-1, 1, 1)
    made, doubt = _rounded(words, wide)
    for k, group, place in doubt.nonzero().tolist():
        name = np.uint32(purpose), candidates[k], np.uint32(step)
        pair = settled_pair(key, *name, group * PAIRS + place, float(scales[k]))
        made[k, group, 0, place], made[k, group, 1, place] = pair
    return made.view(len(candidates), groups * GROUP)[:, :count]


def _rounded(words: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers [candidate, group, 2, pair], and which pairs are in doubt; see `normal`."""
    a, b, c = words.unbind(2)
    u = ((a << 16 | c & 0xFFFF).double() + 0.5) * 2.0**-48
    f = (((b & 0x1FFFFFFF) << 16 | c >> 16).double() + 0.5) * 2.0**-45
    r = torch.sqrt(-2 * torch.log(u))
    reach, angle = scale * r, f * (torch.pi / 4)
    x, y = reach * torch.cos(angle), reach * torch.sin(angle)
    whole_x, whole_y = x.round(), y.round()
    powers = torch.frexp(u).exponent + torch.frexp(r).exponent - 2
    room = 0.5 - (reach * RELATIVE_ERROR + scale * torch.ldexp(torch.ones_like(r), -47 - powers))
    settled = ((x - whole_x).abs() < room) & ((y - whole_y).abs() < room)
    whole_x, whole_y = whole_x * (1 - 2 * (b >> 31 & 1)), whole_y * (1 - 2 * (b >> 30 & 1))
    swapped = (b >> 29 & 1) == 1
    made = torch.stack(
        [torch.where(swapped, whole_y, whole_x), torch.where(swapped, whole_x, whole_y)], 2
    )
    return made, ~(settled & (u >= LEAST_RADIUS_UNIFORM))


def _tiles(key: Tensor, purpose: int, candidates: Tensor, step: int, tiles: int) -> Tensor:
    """ChaCha in torch: [candidate, tile, word-major 256], unsigned words held in int64."""
    device = key.device
    shape = (len(candidates), tiles, BLOCKS)

    def word(value: int) -> Tensor:
        signed = value - 2**32 if value >= 2**31 else value
        return torch.full(shape, signed, dtype=torch.int32, device=device)

    counter = torch.arange(tiles * BLOCKS, device=device).to(torch.int32)
    start = [word(c) for c in (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)]
    start += [key[i].expand(shape) for i in range(8)]
    start += [counter.view(1, tiles, BLOCKS).expand(shape), word(purpose)]
    start += [candidates.view(-1, 1, 1).expand(shape), word(step)]
    x = list(start)

    def rotate(v: Tensor, r: int) -> Tensor:
        return (v << r) | ((v >> (32 - r)) & ((1 << r) - 1))

    def quarter(i: int, j: int, k: int, m: int) -> None:
        x[i] = x[i] + x[j]
        x[m] = rotate(x[m] ^ x[i], 16)
        x[k] = x[k] + x[m]
        x[j] = rotate(x[j] ^ x[k], 12)
        x[i] = x[i] + x[j]
        x[m] = rotate(x[m] ^ x[i], 8)
        x[k] = x[k] + x[m]
        x[j] = rotate(x[j] ^ x[k], 7)

    for _ in range(ROUNDS // 2):
        for column in range(4):
            quarter(column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            quarter(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    words = torch.stack([a + b for a, b in zip(x, start, strict=True)], dim=2)
    return (words.to(torch.int64) & 0xFFFFFFFF).view(len(candidates), tiles, TILE)
