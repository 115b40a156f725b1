"""Clipped sums on a grid of whole numbers: one record moves one by at most UNITS, exactly.

A sum is held in units of C / UNITS, C being the clip norm and UNITS = 2^20. The theorem, for a lot
whose rows are fixed and a record that is replaced, in its place, by a null record:

    the two sums, vectors of whole numbers, differ by at most UNITS in Euclidean norm,

however many rows the lot has, in whatever order, blocks and threads they are added. It rests on
four facts, each true of every path (the kernels, torch on any device, modules):

1. Whole numbers are added, so the sum has no rounding and no order. A row adds at most UNITS to a
   coordinate, so int32 holds LARGEST_INT32_LOT rows, and int64 the 2^31 that a table may have.
2. A null record adds zeros, and nothing of what another row adds depends on the record: a row's
   outputs, gradient, norm and factor are computed from that row and the parameters alone. (A
   matrix product may round another way for other shapes or places in memory, never for other
   values in other rows.) Compiled products are rounded by one explicit fused multiply-add, so
   where among its neighbours a row stands changes nothing either.
3. A row's contribution v (in units, before rounding) has norm at most `limit`: its factor is
   limit / norm or less. Factor, two products and the stored norm of an input are float32, with
   relative errors of at most 2^-24 each, and the norm of P numbers is summed in float64 and errs
   by P 2^-53: below 2^-20 in all for up to MOST_PARAMETERS. Where a product
   underflows, a coordinate errs by less than 2^-60 units, since an input of a norm above 2^64
   counts as zero. ROUNDING = 2^-20 covers all of it.
4. Rounding costs what `limit` leaves free. With P coordinates:
   - *Each row by itself* (compiled kernels, module gradients, biases): every coordinate of v moves
     by at most 1/2, so the rounded row has norm at most |v| + sqrt(P)/2. So
     limit + sqrt(P)/2 <= UNITS (1 - ROUNDING).
   - *Blocks of BLOCK rows* (matrix products): a product in float32 errs in every coordinate by at
     most g * sum_i |v_i|, g = BLOCK u / (1 - BLOCK u), u = 2^-24, in any order of addition, fused
     or not (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1; of
     conventional products, which BLAS makes: no Strassen's). Rows keep
     their places, so the record's block alone changes; its product moves by at most
     |v| + 2 g BLOCK limit, and rounding two numbers moves their distance by at most 1:
     limit (1 + 2 g BLOCK) + sqrt(P) <= UNITS (1 - ROUNDING).
   The limit for blocks is below the one for rows, so a path may mix both.

The noise is whole units too (`noise`), and one unit of the released mean is C / UNITS / L: a public
factor, applied after the noise.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from honestdp.engine.kernels.gradients import add_rounded, add_scaled
from honestdp.errors import InputError
from honestdp.units import UNITS

ROUNDING = 2.0**-20
LARGEST_INT32_LOT = 2**11 - 1
BLOCK = 64
MOST_PARAMETERS = 2**32
_COARSE = (
    "torch: multiplies float32 matrices in fewer bits, which clipped sums cannot take; call "
    "torch.set_float32_matmul_precision('highest'), and look for such settings of MKL, oneDNN or "
    "CUDA"
)


def row_limit(parameters: int) -> float:
    """The norm to clip to, in units, where every row is rounded by itself."""
    _check_size(parameters)
    return UNITS * (1 - ROUNDING) - math.sqrt(parameters) / 2


def block_limit(parameters: int) -> float:
    """The norm to clip to, in units, where products of BLOCK rows are rounded."""
    _check_size(parameters)
    error = BLOCK * 2.0**-24
    moved = 1 + 2 * BLOCK * error / (1 - error)
    return (UNITS * (1 - ROUNDING) - math.sqrt(parameters)) / moved


def _check_size(parameters: int) -> None:
    if parameters > MOST_PARAMETERS:
        raise InputError(
            f"model: has {parameters} parameters; sums are whole multiples of a millionth of the "
            f"clip norm, too coarse for more than {MOST_PARAMETERS}; take a smaller model"
        )


def accumulator(longest: int) -> torch.dtype:
    """The type that holds the sum of a lot of this many rows without overflow."""
    return torch.int32 if longest <= LARGEST_INT32_LOT else torch.int64


def check_products(device: torch.device) -> None:
    """Raise InputError unless torch multiplies float32 matrices in float32.

    Faster settings, of torch or of the libraries under it, round the entries to 10 bits or fewer,
    and the bound of a block fails. So a product of made-up numbers is tried, and held to the bound.
    """
    if torch.get_float32_matmul_precision() != "highest":
        raise InputError(_COARSE)
    numbers = torch.arange(BLOCK * 384, dtype=torch.float64, device=device)
    entries = (numbers * 7919 % 2**23 + 2**23) * 2.0**-24  # all 24 bits of a float32
    left, right = entries.view(1, BLOCK, 384).split([256, 128], 2)
    made = torch.bmm(left.float().transpose(1, 2), right.float())
    exact = torch.bmm(left.transpose(1, 2), right)
    error = BLOCK * 2.0**-24
    if ((made - exact).abs() > error / (1 - error) * exact).any():
        raise InputError(_COARSE)


def add_rows(units: Tensor, first: int, rows: Tensor) -> None:
    """units[:, first : first + width] += sum over rows [candidate, row, width], each rounded."""
    if has_kernels(units):
        add_rounded(rows.contiguous().numpy(), units.numpy(), first)
    else:
        _add_whole(units, first, rows)


def add_scaled_rows(units: Tensor, first: int, rows: Tensor, factors: Tensor) -> None:
    """The same of rows times factors [candidate, row]; a row of factor 0 may hold anything."""
    if has_kernels(units):
        add_scaled(rows.numpy(), factors.numpy(), units.numpy(), first)
    else:
        counts = (factors > 0).unsqueeze(2)  # where, not times zero: zero times NaN is NaN
        _add_whole(units, first, torch.where(counts, rows * factors.unsqueeze(2), 0.0))


def has_kernels(units: Tensor) -> bool:
    """Whether compiled code can reach it; else torch does the work, on whatever device."""
    return units.device.type == "cpu"


def _add_whole(units: Tensor, first: int, rows: Tensor) -> None:
    units[:, first : first + rows.shape[2]] += rows.round().to(units.dtype).sum(1)


def add_products(units: Tensor, first: int, left: Tensor, right: Tensor, buffers: Any) -> None:
    """Adds left^T right, block by block, at column `first` of units [candidate, parameter].

    left [candidate, row, a], right [candidate, row, b]: what the rows' contributions are the outer
    products of. A block's product is rounded and added as whole numbers.
    """
    candidates, count, a = left.shape
    b = right.shape[2]
    product = buffers.tensor("product", candidates, a, b)
    for start in range(0, count, BLOCK):
        rows = slice(start, min(start + BLOCK, count))
        torch.bmm(left[:, rows].transpose(1, 2), right[:, rows], out=product)
        add_rows(units, first, product.view(candidates, 1, a * b))
