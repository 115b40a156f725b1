"""Standard normals from a stream's words, by Box and Muller (1958): compiled, and in torch.

Two words a, b make two normals `r cos(phi), r sin(phi)`: `r = sqrt(-2 ln u)` with u from 40 bits
(a, and the low byte of b: the radius reaches 7.5, beyond what 1e12 draws show), phi from the 24
other bits. Both versions use the same bits, so they differ by float32 rounding alone. The
compiled one needs no library call, so that eight normals are made in one go (1.9 ns each).

A sum with noise is rounded to a grid before anything else is made of it. As it comes it tells more
than its size: floating-point noise has gaps, and which numbers `sum + noise` can be at all depends
on the sum; one low digit may tell two sums apart for certain (Mironov 2012). The grid's step is
the power of two next below a thousandth of the noise, so it is public, and thousands of values
of the noise fall on each of its points. Sum and rounding are in float64; a point too far out
for float32 is then rounded once more, which reads nothing but the point.

What the grid does not mend: the noise is still made of finitely many numbers, and is no exact
discrete Gaussian. It ends at 7.5. Where the radius takes few values, beyond 6.6 (a pair in 4e9)
and, compiled, within two steps of 0 (a pair in 1e6), the two normals of a pair, looked at
together, lie on circles that the grid still shows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numba import float32, float64, int32, uint32

from honestdp.compiled import compiled, compiled_fast
from honestdp.randomness.chacha import BLOCKS, ROUNDS, TILE, fill_tile

_HALF = TILE // 2


@compiled_fast
def _logarithm(u: Any) -> Any:
    """ln u in float32 for 0 < u <= 1, to two units in the last place (Cephes' logf)."""
    bits = np.float32(u).view(np.int32)
    exponent = int32(bits - int32(0x3F3504F3)) >> int32(23)  # mantissa in [sqrt(1/2), sqrt(2))
    x = float32(np.int32(bits - int32(exponent << int32(23))).view(np.float32) - float32(1))
    square = float32(x * x)
    p = float32(7.0376836292e-2)
    p = p * x + float32(-1.1514610310e-1)
    p = p * x + float32(1.1676998740e-1)
    p = p * x + float32(-1.2420140846e-1)
    p = p * x + float32(1.4249322787e-1)
    p = p * x + float32(-1.6668057665e-1)
    p = p * x + float32(2.0000714765e-1)
    p = p * x + float32(-2.4999993993e-1)
    p = p * x + float32(3.3333331174e-1)
    e = float32(exponent)
    y = p * x * square + e * float32(-2.12194440e-4) - float32(0.5) * square
    return x + y + e * float32(0.693359375)


@compiled_fast
def _quarter_sine(f: Any) -> Any:
    """sin(pi f / 2) in float32 for 0 <= f <= 1, to 2e-7 (a Chebyshev fit)."""
    s = f * f
    p = float32(-0.004674150608479977) + s * float32(0.0001516751217423007)
    p = float32(0.07968991994857788) + s * p
    p = float32(-0.6459637880325317) + s * p
    return f * (float32(1.5707963705062866) + s * p)


@compiled_fast
def _normals(words: Any, out: Any) -> None:
    """One tile of words to normals: the first half holds the cosines, the second the sines."""
    for i in range(_HALF):
        a = words[i]
        b = words[i + _HALF]
        high = float32(int32(a >> uint32(8)))
        low = float32(int32(a & uint32(255))) + float32(int32(b & uint32(255))) * float32(2**-8)
        u = (high + (low + float32(2**-9)) * float32(2**-8)) * float32(2**-24)
        radius = np.sqrt(max(float32(-2) * _logarithm(u), float32(0)))
        f = float32(int32((b >> uint32(8)) & uint32(0x3FFFFF))) * float32(2**-22) + float32(2**-23)
        x_sign = float32(1) - float32(int32((b >> uint32(30)) & uint32(1))) * float32(2)
        y_sign = float32(1) - float32(int32(b >> uint32(31))) * float32(2)
        out[i] = radius * x_sign * _quarter_sine(float32(1) - f)
        out[i + _HALF] = radius * y_sign * _quarter_sine(f)


@compiled_fast
def _grid(scale: Any) -> Any:
    """The step of the grid for noise of this scale: 2^floor(log2(scale / 1024)), exactly."""
    return math.ldexp(1.0, math.frexp(float64(scale))[1] - 11)


@compiled_fast
def add_normals(
    key: Any, purpose: Any, candidate: Any, step: Any,
    total: Any, scale: Any, divisor: Any, first: Any, out: Any,
) -> None:  # fmt: skip
    """out[j] = (total[first + j] + scale * z[first + j]) / divisor, z the stream's normals, the
    sum on the grid; at scale 0 it is as it was. `first` is a multiple of the tile's 256 words."""
    inverse = 1 / float64(divisor)
    if scale == 0:
        for j in range(out.size):
            out[j] = total[first + j] * inverse
        return
    grid = _grid(scale)
    fine, wide, mean = 1 / grid, float64(scale), grid * inverse
    tile = np.empty((16, BLOCKS), np.uint32)
    words = tile.reshape(TILE)
    z = np.empty(TILE, np.float32)
    for start in range(0, out.size, TILE):
        fill_tile(key, purpose, candidate, step, uint32((first + start) // 16), tile)
        _normals(words, z)
        end = min(TILE, out.size - start)
        o = out[start : start + end]
        t = total[first + start : first + start + end]
        for i in range(end):
            o[i] = np.rint((t[i] + wide * z[i]) * fine) * mean


@compiled
def noisy_means(
    key: Any, purpose: Any, candidates: Any, step: Any,
    total: Any, scales: Any, divisor: Any, out: Any,
) -> None:  # fmt: skip
    """out[k] = (total[k] + scales[k] * normals of candidate k's stream) / divisor, on the grid."""
    for k in range(out.shape[0]):
        add_normals(key, purpose, candidates[k], step, total[k], scales[k], divisor, 0, out[k])


def normals(
    key: torch.Tensor, purpose: int, candidates: torch.Tensor, step: int, count: int
) -> torch.Tensor:
    """The first `count` normals of each candidate's stream, [candidate, count], on any device.

    `key` is eight words and `candidates` one each, as int32 tensors on the device.
    """
    tiles = -(-count // TILE)
    words = _tiles(key, purpose, candidates, step, tiles)
    a, b = words[:, :, :_HALF], words[:, :, _HALF:]
    u = a.to(torch.float64) * 256 + (b & 255) + 0.5
    radius = torch.sqrt(-2 * torch.log(u * 2.0**-40))
    angle = (((b >> 8) & 0x3FFFFF).to(torch.float64) + 0.5) * (torch.pi / 2 * 2.0**-22)
    x = radius * torch.cos(angle) * (1 - 2 * ((b >> 30) & 1))
    y = radius * torch.sin(angle) * (1 - 2 * (b >> 31))
    z = torch.cat([x, y], dim=2).reshape(len(candidates), tiles * TILE)
    return z[:, :count].to(torch.float32)


def on_grid(noisy: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Sums with noise of these scales, both float64, on the grid; at scale 0 as they were."""
    steps = scales / torch.frexp(scales).mantissa / 2048
    return torch.where(scales > 0, torch.round(noisy / steps) * steps, noisy)


def _tiles(
    key: torch.Tensor, purpose: int, candidates: torch.Tensor, step: int, tiles: int
) -> torch.Tensor:
    """ChaCha in torch: [candidate, tile, word-major 256], unsigned words held in int64."""
    device = key.device
    shape = (len(candidates), tiles, BLOCKS)

    def word(value: int) -> torch.Tensor:
        signed = value - 2**32 if value >= 2**31 else value
        return torch.full(shape, signed, dtype=torch.int32, device=device)

    counter = torch.arange(tiles * BLOCKS, device=device).to(torch.int32)
    start = [word(c) for c in (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)]
    start += [key[i].expand(shape) for i in range(8)]
    start += [counter.view(1, tiles, BLOCKS).expand(shape), word(purpose)]
    start += [candidates.view(-1, 1, 1).expand(shape), word(step)]
    x = list(start)

    def rotate(v: torch.Tensor, r: int) -> torch.Tensor:
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
