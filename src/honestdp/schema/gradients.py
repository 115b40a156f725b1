"""Fixed public features of images: oriented gradients, and the gradients of these.

For each image by itself, with no constant read from any image:

1. A side of more than 32 pixels is averaged down to 32.
2. At each pixel the difference of its neighbours, right less left and below less above, is written
   as a sum of the two nearest of eight directions: eight maps of amounts that are at least 0. The
   channels of a colour image are joined, as the root of the sum of their squares.
3. First order: each map averaged over 7 by 7 and over 4 by 4 cells, with windows that fall off
   linearly to the centres of the neighbouring cells.
4. Second order: each map averaged down to 14 by 14, steps 2 and 3 once more: 64 maps, averaged over
   4 by 4 cells.
5. The channels of a colour image, averaged over 4 by 4 cells.
6. Square roots; then each of these three blocks, or four, less its own mean and divided by its own
   norm.

Together they have norm 1; those of a grey image without contrast are 0. This is a histogram of
oriented gradients (Dalal and Triggs 2005) with the second layer of a scattering transform (Bruna
and Mallat 2013), made of differences instead of wavelets.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]

LARGEST, MIDDLE = 32, 14  # pixels a side of the images, and of the maps of the second order
BLOCKS = (("fine", 1, 7), ("coarse", 1, 4), ("turning", 2, 4))  # name, order, cells a side
COLOUR_CELLS = 4  # a side
DIRECTIONS = 8
FAINT = 1e-6  # the norm of a block, pixels being in [0, 1], below which it counts as 0
IMAGES = 128  # handled at once


def gradient_features(pixels: NDArray[np.floating], size: tuple[int, int], channels: int) -> Floats:
    """Compute the features of images.

    Args:
        pixels: [images, height * width * channels], finite numbers in [0, 1]: row by row, the
            channels of a pixel side by side.
        size: (height, width).
        channels: 1 for grey, 3 for colour.

    Returns:
        [images, features], rows of norm 1 or 0. Row i depends on image i alone, to the last bit.

    Example:
        >>> gradient_features(np.eye(8).reshape(1, 64), (8, 8), 1).shape
        (1, 1544)
    """
    made = np.empty((len(pixels), feature_count(size, channels)), dtype=np.float32)
    for first in range(0, len(pixels), IMAGES):
        some = pixels[first : first + IMAGES]
        # Images lie along the last axis, always as many: NumPy then treats every image alike,
        # whatever the number of rows.
        images = np.zeros((*size, channels, IMAGES), dtype=np.float32)
        images[..., : len(some)] = np.moveaxis(some.reshape(-1, *size, channels), 0, -1)
        made[first : first + IMAGES] = _features(images)[:, : len(some)].T
    return made


def feature_count(size: tuple[int, int], channels: int) -> int:
    """The number of features of images of this (height, width) and number of channels."""
    return len(feature_names(size, channels))


@lru_cache
def feature_names(size: tuple[int, int], channels: int) -> tuple[str, ...]:
    """The name of each feature of images of this (height, width) and number of channels."""
    names = []
    for block, order, grid in BLOCKS:
        several = product(range(0, 360, 360 // DIRECTIONS), repeat=order)
        turns = [" then ".join(f"{degrees}°" for degrees in each) for each in several]
        names += [f"{block} {cell} {turn}" for cell in _cell_names(size, grid) for turn in turns]
    if channels > 1:
        for cell in _cell_names(size, COLOUR_CELLS):
            names += [f"colour {cell} channel {channel + 1}" for channel in range(channels)]
    return tuple(names)


def _cell_names(size: tuple[int, int], grid: int) -> list[str]:
    rows, columns = (min(grid, side) for side in size)
    return [f"cell {i + 1},{j + 1}" for i, j in product(range(rows), range(columns))]


def _features(images: Floats) -> Floats:
    """[features, image] of images [height, width, channel, image]."""
    images = _averaged(images, LARGEST)
    maps = _directions(images)  # [height, width, direction, channel, image]
    several = images.shape[2] > 1
    maps = np.sqrt(np.square(maps).sum(axis=3)) if several else maps[:, :, :, 0]
    orders = {1: maps, 2: _directions(_averaged(maps, MIDDLE))}
    blocks = [_averaged(orders[order], grid) for _, order, grid in BLOCKS]
    if several:
        blocks.append(_averaged(images, COLOUR_CELLS))
    parts = [_standardised(block.reshape(-1, block.shape[-1])) for block in blocks]
    return np.concatenate(parts) / np.float32(np.sqrt(len(parts)))


def _directions(maps: Floats) -> Floats:
    """The gradients of maps [height, width, ...] as amounts in eight directions, the third axis.

    A gradient is the sum of an axis and a diagonal: (5, 3) is 2 to the right and 3 of (1, 1).
    """
    padded = np.pad(maps, [(1, 1), (1, 1)] + [(0, 0)] * (maps.ndim - 2), mode="edge")
    right = padded[1:-1, 2:] - padded[1:-1, :-2]
    down = padded[2:, 1:-1] - padded[:-2, 1:-1]
    left, up = -right, -down
    made = np.empty((*maps.shape[:2], DIRECTIONS, *maps.shape[2:]), dtype=np.float32)
    for i, (along, across, next_along) in enumerate(
        [(right, down, down), (down, right, left), (left, up, up), (up, left, right)]
    ):
        made[:, :, 2 * i] = np.maximum(along - np.abs(across), 0)
        diagonal = np.minimum(np.maximum(along, 0), np.maximum(next_along, 0))
        made[:, :, 2 * i + 1] = diagonal * np.float32(np.sqrt(2))
    return made


def _averaged(maps: Floats, cells: int) -> Floats:
    """Maps [height, width, ...] averaged over cells by cells; a side that is smaller stays."""
    height, width = maps.shape[:2]
    shape = min(cells, height), min(cells, width)
    if shape == (height, width):
        return maps
    found = _windows(shape, (height, width)) @ maps.reshape(height * width, -1)
    return found.reshape(*shape, *maps.shape[2:])


@lru_cache
def _windows(cells: tuple[int, int], size: tuple[int, int]) -> csr_matrix:
    """Weights [cell, pixel] of means over cells."""
    both = []
    for count, pixels in zip(cells, size, strict=True):
        side = pixels / count
        centres, places = (np.arange(count) + 0.5) * side, np.arange(pixels) + 0.5
        falling = np.maximum(1 - np.abs(places - centres[:, None]) / side, 0)
        both.append(falling / falling.sum(axis=1, keepdims=True))
    return csr_matrix(np.kron(*both).astype(np.float32))


def _standardised(block: Floats) -> Floats:
    """Square roots of [feature, image], less the image's mean, with norm 1; a faint one is 0."""
    block = np.sqrt(block)
    block -= block.mean(axis=0, dtype=np.float64)
    norms = np.sqrt(np.square(block).sum(axis=0, dtype=np.float64))
    return block * np.divide(1, norms, out=np.zeros_like(norms), where=norms > FAINT)
