"""Polynomials in place of power series, and bits in place of a quotient: errors are as proved."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.randomness import logarithm, normal
from honestdp.randomness.polynomials import economized


@pytest.mark.parametrize("degree", [1, 2, 5, 9])
@pytest.mark.parametrize("top", [0.03, 1.0, 3.0])
def test_a_polynomial_misses_by_no_more_than_it_says(top, degree):
    """exp, everywhere on the interval; and the bound is no more than twice what is true."""
    with mpmath.workprec(300):
        found, error = economized([1 / mpmath.factorial(k) for k in range(60)], top, degree)
        worst = max(
            abs(mpmath.polyval(found[::-1], z) - mpmath.exp(z))
            for z in (mpmath.mpf(top) * i / 500 for i in range(501))
        )
        assert worst <= error <= 2 * worst + 2.0**-52
        cut = mpmath.exp(top) - sum(mpmath.mpf(top) ** k / math.factorial(k) for k in range(degree))
        assert error < cut


def test_the_polynomials_of_the_noise_are_as_good_as_its_proof_says():
    names = {0: "_C0 _C1 _C2 _C3 _C4 _C5 _C6", 1: "_S0 _S1 _S2 _S3 _S4 _S5"}
    for odd, true in ((0, mpmath.cos), (1, mpmath.sin)):
        coefficients = [getattr(normal, name) for name in names[odd].split()]
        with mpmath.workprec(200):
            for i in range(1, 1001):
                f = mpmath.mpf(i) / 1000
                made = mpmath.polyval(coefficients[::-1], f * f) * f**odd
                assert abs(made - true(mpmath.pi / 4 * f)) < 2.0**-48


def test_the_constants_of_the_logarithm_are_as_its_proof_says():
    with mpmath.workprec(200):
        root = mpmath.sqrt(mpmath.mpf(2))
        assert ((root - 1) / (root + 1)) ** 2 < logarithm._LARGEST_SQUARE
        assert float(-2 * mpmath.log(2)) == logarithm._MINUS_TWO_LOG_2


@settings(max_examples=300, deadline=None)
@given(u=st.floats(2.0**-49, 1 - 2.0**-49), r=st.floats(2.0**-24, 8.3))
def test_the_cell_of_the_radius_is_bounded_by_its_bits(u, r):
    """cell >= 2^-48 (1 + 2^-7) / (u r), and not much larger."""
    bits = int(np.float64(u).view(np.uint64)) + int(np.float64(r).view(np.uint64))
    cell = mpmath.mpf(float(np.uint64((normal._CELL - bits) % 2**64).view(np.float64)))
    with mpmath.workprec(200):
        true = 2.0**-48 / (mpmath.mpf(u) * mpmath.mpf(r))
        assert (1 + 2.0**-7) * true <= cell <= 1.3 * true
