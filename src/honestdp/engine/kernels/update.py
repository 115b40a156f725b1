"""A step after the clipped sum, compiled: noise and formula in one pass over the parameters.

A kernel is compiled for every formula of every optimizer when it is first used, the library's own
and anybody's: `noisy_update(formula, slots)`.
"""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from honestdp.compiled import compiled, compiled_from, fingerprint
from honestdp.optimizers.base import Formula
from honestdp.randomness.chacha import TILE
from honestdp.randomness.normal import GROUP, PAIRS, TILES, fill_normals

BLOCK = 4 * GROUP  # parameters that stay in the first cache from noise to update


@compiled
def _add_noise(
    key: Any, purpose: Any, candidate: Any, step: Any, total: Any, scale: Any, unit: Any,
    first: Any, out: Any, words: Any, normals: Any, unsure: Any, place: Any, known: Any,
) -> Any:  # fmt: skip
    """out[j] = (total[first + j] + round(scale X)) * unit, X the stream's normals; `first` is a
    multiple of GROUP. Returns -1, or the number of a pair of normals that is in doubt and not
    among the `known` of the candidate at `place`."""
    if scale == 0:
        for j in range(out.size):
            out[j] = total[first + j] * unit
        return -1
    for start in range(0, out.size, GROUP):
        group = (first + start) // GROUP
        if fill_normals(key, purpose, candidate, step, group, scale, words, normals, unsure):
            for i in range(PAIRS):
                if unsure[i]:
                    pair = group * PAIRS + i
                    found = _known(known, place, pair)
                    if found < 0:
                        return pair
                    normals[i], normals[i + PAIRS] = known[found, 2], known[found, 3]
        end = min(GROUP, out.size - start)
        o = out[start : start + end]
        t = total[first + start : first + start + end]
        for i in range(end):
            o[i] = (t[i] + normals[i]) * unit
    return -1


@compiled
def _known(known: Any, place: Any, pair: Any) -> Any:
    for row in range(known.shape[0]):
        if known[row, 0] == place and known[row, 1] == pair:
            return row
    return -1


def _loop(g: Any, p: Any, slots: Any, k: Any, first: Any, c: Any) -> None:
    """One formula over candidate k's parameters p from `first` on. Stands for what `update` makes:
    every formula has a loop of its own."""
    raise NotImplementedError


def _noisy_update(
    key: Any, purpose: Any, candidates: Any, step: Any, total: Any, scales: Any, units: Any,
    params: Any, slots: Any, coefficients: Any, begin: Any, doubt: Any, known: Any,
) -> Any:  # fmt: skip
    """One step: the noisy mean of every candidate's sum, and what its rule makes of it.

    The noisy mean is (total[k] + round(scales[k] X)) * units[k], X the normals of candidate k's
    stream. params and each of the slots are [candidate, parameter].

    Returns whether it came to its end. Else `doubt` names the pair of normals (candidate's place,
    number) to settle, and it starts again at `begin`: no block is updated twice.
    """
    g = np.empty(BLOCK, np.float32)
    words, normals = np.empty(TILES * TILE, np.uint32), np.empty(GROUP)
    unsure = np.empty(PAIRS, np.bool_)
    at = begin[1]
    for k in range(begin[0], params.shape[0]):
        for first in range(at, params.shape[1], BLOCK):
            last = min(first + BLOCK, params.shape[1])
            mean = g[: last - first]
            pair = _add_noise(
                key, purpose, candidates[k], step, total[k], scales[k], units[k], first, mean,
                words, normals, unsure, k, known,
            )  # fmt: skip
            if pair >= 0:
                begin[0], begin[1], doubt[0], doubt[1] = k, first, k, pair
                return False
            _loop(mean, params[k, first:last], slots, k, first, coefficients[k])
        at = 0
    return True


@cache
def noisy_update(formula: Formula, slots: int) -> Any:
    """The compiled `_noisy_update` of a formula.

    Args:
        formula: As `Optimizer.formulas` has it.
        slots: How many slots it reads and returns.
    """
    loop, mark = update(formula, slots), fingerprint(formula)
    return compiled_from(_noisy_update, mark, keep=True, _loop=loop)


@cache
def update(formula: Formula, slots: int) -> Any:
    """The compiled loop of a formula: (g, p, slots, k, first, c) as in `_loop`.

    p and the slots are written, the slots [candidate, parameter] in the columns from `first` on.
    """
    mark = fingerprint(formula)
    coefficients = len(signature(formula).parameters) - 2 - slots
    scope: dict[str, Any] = {"formula": compiled_from(formula, mark, fast=True)}
    # In the name of this file, beside which numba keeps what it compiles.
    exec(compile(_text(slots, coefficients), __file__, "exec"), scope)
    return compiled_from(scope["loop"], mark, fast=True)


def _text(slots: int, coefficients: int) -> str:
    """The loop over one block of parameters, for so many slots and coefficients."""
    views = [f"s{j} = slots[{j}][k, first : first + g.size]" for j in range(slots)]
    state = "".join(f"s{j}[i], " for j in range(slots))
    # Many coefficients are read before the loop, which is faster; few in it, as LLVM then keeps
    # their products apart: the golden figures have their roundings.
    ahead = [f"c{j} = c[{j}]" for j in range(coefficients)] if coefficients > 2 else []
    numbers = "".join(f"c{j}, " if ahead else f"c[{j}], " for j in range(coefficients))
    lines = [
        "def loop(g, p, slots, k, first, c):",
        *(f"    {line}" for line in [*views, *ahead]),
        "    for i in range(g.size):",
        f"        (p[i], {state}) = formula(g[i], p[i], {state}{numbers})",
    ]
    return "\n".join(lines)
