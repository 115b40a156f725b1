"""How often a guess can be right: against long arithmetic, the total variation, and a mechanism
that reaches it."""

from __future__ import annotations

import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestdp.errors import InputError
from honestdp.privacy.guess import guess_chance, guess_chance_swapped

EPSILONS = st.floats(0, 1e4)
DELTAS = st.floats(1e-300, 0.999)


@given(EPSILONS, DELTAS)
def test_never_below_the_exact_value_and_close_to_it(epsilon, delta):
    with mp.workdps(60):
        e = mp.exp(mp.mpf(epsilon))
        exact = (e + mp.mpf(delta)) / (1 + e)
        found = guess_chance(epsilon, delta)
        assert found >= min(exact, mp.mpf(1)) or found == 1.0
        assert found <= exact * (1 + mp.mpf(3e-15))
    assert 0.5 <= found <= 1


@given(st.floats(0, 30), DELTAS)
def test_it_is_what_the_total_variation_allows(epsilon, delta):
    e = math.exp(epsilon)
    distance = (e - 1 + 2 * delta) / (e + 1)
    assert guess_chance(epsilon, delta) == pytest.approx((1 + distance) / 2, rel=1e-12)


@given(st.floats(0, 20), st.floats(1e-12, 0.9))
def test_randomized_response_that_sometimes_tells_reaches_it(epsilon, delta):
    """Outputs: the truth, told as such (delta), or a randomized answer. It is (epsilon, delta)-DP
    on every set of outputs, and the best guess is right as often as is said."""
    wrong = 1 / (1 + math.exp(epsilon))
    right = math.exp(epsilon) * wrong
    real = [delta, 0.0, (1 - delta) * right, (1 - delta) * wrong]
    null = [0.0, delta, (1 - delta) * wrong, (1 - delta) * right]
    for p, q in ((real, null), (null, real)):
        for chosen in range(16):
            inside = [i for i in range(4) if chosen >> i & 1]
            bound = math.exp(epsilon) * sum(q[i] for i in inside) + delta
            assert sum(p[i] for i in inside) <= bound * (1 + 1e-12)
    best = sum(max(p, q) for p, q in zip(real, null, strict=True)) / 2
    assert guess_chance(epsilon, delta) == pytest.approx(best, rel=1e-12)


@given(st.floats(0, 1e4), st.floats(0, 100), DELTAS)
def test_more_epsilon_never_means_fewer_right_guesses(epsilon, more, delta):
    assert guess_chance(epsilon, delta) <= guess_chance(epsilon + more, delta) * (1 + 1e-15)
    assert guess_chance(epsilon, delta) <= guess_chance_swapped(epsilon, delta) * (1 + 1e-15)


def test_known_values():
    assert guess_chance(0, 0) == pytest.approx(0.5)
    assert guess_chance(1, 1e-6) == pytest.approx(0.731058847, abs=1e-8)
    assert guess_chance(1e4, 0.5) == 1.0
    assert guess_chance_swapped(1, 1e-6) == pytest.approx(math.e**2 / (1 + math.e**2), abs=1e-5)
    assert guess_chance_swapped(1e4, 1e-6) == 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0.1), (math.nan, 0.1), (1, 1.0), (1, -0.1)])
def test_what_is_no_guarantee_is_refused(epsilon, delta):
    with pytest.raises(InputError):
        guess_chance(epsilon, delta)
