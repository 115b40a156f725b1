"""Instructions numba has no name for: they do what they are for, and change no result."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numba import TypingError, njit

from honestdp.instructions import fused_multiply_add, prefer_wide_vectors


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_product_and_a_sum_are_rounded_once(kind):
    @njit
    def fused(a, b, c):
        return fused_multiply_add(a, b, c)

    near = kind(1) + np.finfo(kind).eps
    product = Fraction(float(near)) ** 2
    assert fused(near, near, -kind(near * near)) == float(product - Fraction(float(near * near)))
    assert fused(near, near, -kind(near * near)) != 0


def test_numbers_of_two_types_are_refused():
    @njit
    def fused(a, b, c):
        return fused_multiply_add(a, b, c)

    with pytest.raises(TypingError):
        fused(np.float32(1), 1.0, 1.0)


def test_wide_vectors_are_asked_for_and_change_no_result():
    def narrow(x, out):
        for i in range(x.size):
            out[i] = x[i] * 3.5 + 1.25

    def wide(x, out):
        prefer_wide_vectors()
        for i in range(x.size):
            out[i] = x[i] * 3.5 + 1.25

    x = np.random.default_rng(0).standard_normal(1003)
    made = [np.empty_like(x), np.empty_like(x)]
    first, second = njit(narrow), njit(wide)
    first(x, made[0])
    second(x, made[1])
    assert (made[0] == made[1]).all()
    assert "prefer-vector-width" not in str(first.inspect_llvm())
    assert "prefer-vector-width" in str(second.inspect_llvm())
