"""Draws of an exact law: bits are drawn until the result is certain, and then it is right."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.exact import Uniform
from honestdp.randomness.logarithm import LOG_ERROR, natural_log

ALPHA = 1e-6


def at(value: Fraction, asked: list[int] | None = None) -> Uniform:
    """The uniform number whose bits are those of `value`."""

    def bits(count: int) -> int:
        if asked is not None:
            asked.append(count)
        return math.floor(value * 2**count)

    return Uniform(bits)


reals = st.integers(1, 2**300 - 1).map(lambda whole: Fraction(whole, 2**300))


@settings(max_examples=300, deadline=None)
@given(u=reals, p=st.floats(2**-200, 1.0))
def test_a_coin_falls_as_real_numbers_say(u, p):
    assert at(u).below(p) == (u < Fraction(p))


@settings(max_examples=300, deadline=None)
@given(u=reals, count=st.integers(1, 10**9))
def test_an_index_is_the_one_of_real_numbers(u, count):
    assert at(u).index(count) == math.floor(u * count)


def next_to(value: mpmath.mpf, side: int) -> Fraction:
    """A number nearer to `value` than 100 bits can tell, on one side of it."""
    return Fraction(int(mpmath.floor(value * 2**400)) + side * 2**200, 2**400)


@settings(max_examples=100, deadline=None)
@given(q=st.sampled_from([1e-9, 0.004, 0.3, 0.999]), k=st.integers(1, 2000))
def test_a_gap_next_to_the_border_of_two_takes_more_bits_and_is_right(q, k):
    with mpmath.workprec(600):
        border = mpmath.exp(k * mpmath.log1p(-mpmath.mpf(q)))  # gap k or more: U at most this
        if border < mpmath.mpf(2) ** -150:
            return
        asked: list[int] = []
        assert at(next_to(border, -1), asked).geometric(q) == k
        assert at(next_to(border, 1)).geometric(q) == k - 1
        assert max(asked) > 64


@settings(max_examples=60, deadline=None)
@given(scale=st.sampled_from([0.5, 3.0, 2.0**20]), m=st.integers(-3, 40))
def test_gumbel_noise_next_to_a_whole_number_is_right(scale, m):
    with mpmath.workprec(600):
        border = mpmath.exp(-mpmath.exp(-mpmath.mpf(m) / scale))  # m or more: U at least this
        if border < mpmath.mpf(2) ** -150:
            return
        assert at(next_to(border, 1)).gumbel(scale) == m
        assert at(next_to(border, -1)).gumbel(scale) == m - 1


def test_gumbel_noise_has_its_law():
    scale, draws = 2.0, 4000
    found = np.array(
        [Randomness.simulation(k).uniform(Purpose.SCORES, 0, 0).gumbel(scale) for k in range(draws)]
    )
    edges = np.arange(-4, 12)
    chances = np.exp(-np.exp(-edges / scale))  # P(floor(s G) < edge)
    expected = np.diff(np.concatenate([[0.0], chances, [1.0]])) * draws
    counts = np.bincount(np.searchsorted(edges, found, side="right"), minlength=len(edges) + 1)
    assert stats.chisquare(counts, expected).pvalue > ALPHA


@pytest.mark.parametrize("probability", [0.1, 0.5, 1 / 3, 2**-20, 1.0, 1 - 2**-53])
def test_coins_have_their_probability(probability):
    found = Randomness.simulation(3).coins(Purpose.SUBSET, 0, 0, probability, 400_000)
    assert stats.binomtest(int(found.sum()), found.size, probability).pvalue > ALPHA


def test_a_coin_whose_first_bits_are_those_of_the_probability_is_settled_by_the_next(monkeypatch):
    source = Randomness.simulation(3)
    words = np.array([0, 0] * 400, np.uint32)
    monkeypatch.setattr(source, "words", lambda *name: words)
    found = source.coins(Purpose.SUBSET, 0, 0, 2.0**-65, 400)  # half of the first cell
    assert 120 < found.sum() < 280
    again = source.coins(Purpose.SUBSET, 0, 0, 2.0**-65, 400)
    assert (found == again).all()


def test_a_uniform_number_is_the_words_of_its_stream():
    source = Randomness.simulation(8)
    words = source.words(Purpose.COINS, 4, 0, 8)
    whole = int.from_bytes(words.astype(">u4").tobytes(), "big")
    taken = source.uniform(Purpose.COINS, 4, 0)._bits
    for count in (1, 31, 32, 33, 64, 200, 256):
        assert taken(count) == whole >> (256 - count)


def test_a_draw_that_is_never_settled_ends():
    with pytest.raises(RuntimeError, match="not settled by 65536 random bits"):
        Uniform(lambda count: 0).settle(lambda low, high, precision: None)


@settings(max_examples=400, deadline=None)
@given(u=st.floats(2.0**-60, 1 - 2.0**-53))
def test_the_logarithm_is_as_good_as_proved(u):
    """And ten times better: its bound has room."""
    with mpmath.workprec(200):
        exact = mpmath.log(mpmath.mpf(u))
        assert abs(mpmath.mpf(float(natural_log(u))) - exact) <= LOG_ERROR / 10 * abs(exact)
