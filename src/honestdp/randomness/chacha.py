"""The ChaCha stream cipher (Bernstein 2008; layout of RFC 8439), compiled, many blocks at once.

One block is 16 words of 32 bits, a function of a 256-bit key, a 32-bit block counter and
a 96-bit nonce. We use it as a keyed random function: the key is a run's root, the nonce
names a stream (purpose, candidate, step). Two different names give streams that nobody
without the key can tell from independent uniform bits, and any part of any stream can be
had without drawing what comes before it. Twelve rounds, as in Rust's standard generator;
the best published attack reaches seven.

A *tile* is sixteen consecutive blocks, laid out word by word (`tile[w, i]` is word w of block
i): the compiler then runs the same operation on eight or sixteen blocks in one instruction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32

from honestdp.compiled import compiled
from honestdp.instructions import prefer_wide_vectors

ROUNDS = 12
BLOCKS = 16
TILE = 16 * BLOCKS  # words in a tile

Words = np.ndarray[Any, np.dtype[np.uint32]]


@compiled
def _rotate(x: Any, r: int) -> Any:
    return uint32(uint32(x << uint32(r)) | uint32(x >> uint32(32 - r)))


@compiled
def _quarter(a: Any, b: Any, c: Any, d: Any) -> Any:
    a = uint32(a + b)
    d = _rotate(uint32(d ^ a), 16)
    c = uint32(c + d)
    b = _rotate(uint32(b ^ c), 12)
    a = uint32(a + b)
    d = _rotate(uint32(d ^ a), 8)
    c = uint32(c + d)
    b = _rotate(uint32(b ^ c), 7)
    return a, b, c, d


@compiled
def _double_round(x: Any) -> Any:
    x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15 = x
    x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
    x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
    x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
    x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
    x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
    x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
    x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
    x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    return x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15


@compiled
def fill_tile(key: Any, purpose: Any, candidate: Any, step: Any, first: Any, out: Any) -> None:
    """Blocks first .. first+15 of the stream (purpose, candidate, step) into out[16, 16].

    The rounds are written out: a loop over them would keep the compiler from running
    several blocks in one instruction.
    """
    prefer_wide_vectors()
    c0, c1, c2, c3 = uint32(0x61707865), uint32(0x3320646E), uint32(0x79622D32), uint32(0x6B206574)
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    k4, k5, k6, k7 = key[4], key[5], key[6], key[7]
    for i in range(BLOCKS):
        counter = uint32(first + uint32(i))
        x = (c0, c1, c2, c3, k0, k1, k2, k3, k4, k5, k6, k7, counter, purpose, candidate, step)
        x = _double_round(x)
        x = _double_round(x)
        x = _double_round(x)
        x = _double_round(x)
        x = _double_round(x)
        x = _double_round(x)
        out[0, i] = uint32(x[0] + c0)
        out[1, i] = uint32(x[1] + c1)
        out[2, i] = uint32(x[2] + c2)
        out[3, i] = uint32(x[3] + c3)
        out[4, i] = uint32(x[4] + k0)
        out[5, i] = uint32(x[5] + k1)
        out[6, i] = uint32(x[6] + k2)
        out[7, i] = uint32(x[7] + k3)
        out[8, i] = uint32(x[8] + k4)
        out[9, i] = uint32(x[9] + k5)
        out[10, i] = uint32(x[10] + k6)
        out[11, i] = uint32(x[11] + k7)
        out[12, i] = uint32(x[12] + counter)
        out[13, i] = uint32(x[13] + purpose)
        out[14, i] = uint32(x[14] + candidate)
        out[15, i] = uint32(x[15] + step)


@compiled
def stream(key: Any, purpose: Any, candidate: Any, step: Any, out: Any) -> None:
    """The first out.size words of the stream, tile by tile."""
    tile = np.empty((16, BLOCKS), np.uint32)
    words = tile.reshape(TILE)
    for first in range(0, out.size, TILE):
        fill_tile(key, purpose, candidate, step, uint32(first // 16), tile)
        for i in range(min(TILE, out.size - first)):
            out[first + i] = words[i]
