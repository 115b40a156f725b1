"""The laws of K against their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact import SixtyDigits, run_probabilities

from honestdp.errors import InputError
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import (
    Binomial,
    Capped,
    Poisson,
    TruncatedNegativeBinomial,
    geometric,
    logarithmic,
)
from honestdp.randomness.exact import Uniform

SHAPES = (-0.999, -0.5, -1e-9, 0.0, 1e-9, 0.5, 1.0, 1 + 1e-9, 2.0, 50.0)
GAMMAS = (0.01, 0.3, 0.9, 1.0)

UNCAPPED: tuple[RunCount, ...] = (
    *(TruncatedNegativeBinomial(shape, gamma) for shape in SHAPES for gamma in GAMMAS),
    *(Poisson(0.01), Poisson(1.0), Poisson(40.0), Poisson(1000.0)),
    *(Binomial(1, 0.3), Binomial(2, 1.0), Binomial(40, 0.5), Binomial(500, 0.999)),
)
LAWS: tuple[RunCount, ...] = (
    *UNCAPPED,
    *(Capped(law, cap) for law in UNCAPPED for cap in (1, 2, 30)),
)
TAILS = np.array([0.0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999])

every_law = pytest.mark.parametrize("law", LAWS, ids=str)


def defined(law: RunCount) -> tuple[np.ndarray, np.ndarray]:
    p = run_probabilities(law)
    return np.arange(len(p)), p


@every_law
def test_probabilities(law: RunCount) -> None:
    k, p = defined(law)
    assert law.probabilities(len(p) - 1) == pytest.approx(p, rel=1e-9, abs=1e-14)
    assert law.probabilities(len(p) - 1).sum() == pytest.approx(1, rel=1e-9)
    assert len(law.probabilities(0)) == 1
    assert law.probability_of_none() == pytest.approx(p[0], rel=1e-9, abs=1e-14)
    if law.maximum is not None:
        assert law.maximum >= k[p > 0][-1]
        assert law.probabilities(law.maximum + 5)[law.maximum + 1 :].sum() == 0


@every_law
def test_generating_function(law: RunCount) -> None:
    k, p = defined(law)
    x = 1 - TAILS
    assert law.mean == pytest.approx(np.sum(k * p), rel=1e-9)
    assert law.pgf_tail(TAILS) == pytest.approx((x[:, None] ** k) @ p, rel=1e-9, abs=1e-13)
    derivative = (x[:, None] ** (k[1:] - 1)) @ (k[1:] * p[1:])
    assert np.exp(law.log_derivative_tail(TAILS)) == pytest.approx(derivative, rel=1e-9)
    # Numbers in, numbers out: the bounds call these with both.
    assert np.shape(law.pgf_tail(0.3)) == np.shape(law.log_derivative_tail(0.3)) == ()


@every_law
def test_at_the_far_end(law: RunCount) -> None:
    """f(0) = P(K = 0), f'(0) = P(K = 1)."""
    _, p = defined(law)
    assert law.pgf_tail(1.0) == pytest.approx(p[0], rel=1e-9, abs=1e-13)
    assert np.exp(law.log_derivative_tail(1.0)) == pytest.approx(p[1], rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1e-3, 0.5, 0.99, 1 - 1e-5])
@pytest.mark.parametrize("shape", [*SHAPES[:-1], 20.0])
def test_truncated_negative_binomial_with_sixty_digits(shape: float, gamma: float) -> None:
    law, true = TruncatedNegativeBinomial(shape, gamma), SixtyDigits(shape, gamma)
    assert law.mean == pytest.approx(float(true.derivative(0)), rel=1e-9)
    for u in (0.0, 1e-12, 1e-6, 0.01, 0.5, 1.0):
        assert float(law.pgf_tail(u)) == pytest.approx(float(true.pgf_tail(u)), rel=1e-9, abs=1e-12)
        log_derivative = float(mpmath.log(true.derivative(u)))
        assert float(law.log_derivative_tail(u)) == pytest.approx(log_derivative, abs=1e-9)


@pytest.mark.parametrize("cap", [1, 2, 3, 50, 1000])
@pytest.mark.parametrize("gamma", [1e-4, 0.05, 0.7, 1.0])
def test_capped_geometric_in_closed_form_equals_its_table(gamma: float, cap: int) -> None:
    closed = Capped(geometric(gamma), cap)
    p = closed.probabilities(cap)
    k = np.arange(cap + 1)
    tails = np.append(TAILS, 1.0)
    x = 1 - tails
    assert closed.pgf_tail(tails) == pytest.approx((x[:, None] ** k) @ p, rel=1e-9, abs=1e-13)
    derivative = (x[:, None] ** (k[1:] - 1)) @ (k[1:] * p[1:])
    assert np.exp(closed.log_derivative_tail(tails)) == pytest.approx(derivative, rel=1e-9)
    assert closed.mean == pytest.approx(np.sum(k * p), rel=1e-9)


@every_law
def test_draw_inverts_the_distribution_function(law: RunCount) -> None:
    p = run_probabilities(law)
    below = np.cumsum(p)
    for k in [i for i in range(min(len(p), 200)) if p[i] > 1e-9]:
        start = below[k] - p[k]
        for share in (0.001, 0.5, 0.999):
            assert law.draw(float(start + share * p[k])) == k
    for uniform in (2.0**-54, 1 - 2.0**-53):
        found = law.draw(uniform)
        assert 0 <= found <= (2 * len(p) + 64 if law.maximum is None else law.maximum)


@every_law
def test_cumulative_is_the_sum_of_the_definition(law: RunCount) -> None:
    p = run_probabilities(law)
    for k in (0, 1, 2, 7, 29, 30, 60):
        exact = float(law._at(k))
        assert exact == pytest.approx(math.fsum(p[: k + 1]), rel=1e-9, abs=1e-13)


def uniform_at(value: Fraction, asked: list[int] | None = None) -> Uniform:
    def bits(count: int) -> int:
        if asked is not None:
            asked.append(count)
        return math.floor(value * 2**count)

    return Uniform(bits)


@every_law
def test_k_is_exact_next_to_the_steps_of_its_distribution_function(law: RunCount) -> None:
    """Nearer to a step than 100 bits can tell, K is still the right one on both sides."""
    with mpmath.workprec(500):
        steps = {k: law._at(k) for k in range(8)}
        for k in range(1, 8):
            before, here = steps[k - 1], steps[k]
            if not 1e-9 < here < 1 - 1e-9 or here == before:
                continue
            whole = int(mpmath.floor(here * 2**300))
            asked: list[int] = []
            below = Fraction(whole - 2**150, 2**300)
            assert law.draw_exactly(uniform_at(below, asked)) == k
            assert max(asked) > 64
            above = law.draw_exactly(uniform_at(Fraction(whole + 2**150, 2**300)))
            assert above > k
            assert law._at(above) > here
            assert above == k + 1 or law._at(above - 1) == here
    for share in (0.11, 0.53, 0.87):
        assert law.draw_exactly(uniform_at(Fraction(share))) == law.draw(share)


def test_a_law_of_ones_own_is_what_its_floats_say() -> None:
    class Two(RunCount):
        mean = 1.25
        maximum = 2

        def pgf_tail(self, u):
            return 0.75 * (1 - u) + 0.25 * (1 - u) ** 2

        def log_derivative_tail(self, u):
            return np.log(0.75 + 0.5 * (1 - u))

        def probabilities(self, largest):
            return np.array([0.0, 0.75, 0.25, *[0.0] * largest])[: largest + 1]

    border = Fraction(3, 4)
    near = Fraction(1, 2**90)
    assert Two().draw_exactly(uniform_at(border - near)) == 1
    assert Two().draw_exactly(uniform_at(border + near)) == 2
    assert Two().draw_exactly(uniform_at(1 - near)) == 2


@pytest.mark.parametrize("rate", [1500.0, 2000.0, 1e5])
def test_draw_where_small_k_have_no_weight_at_all(rate: float) -> None:
    for law in (Poisson(rate), Capped(Poisson(rate), 20_000)):
        middle = min(rate, law.maximum or rate)
        assert law.draw(0.5) == pytest.approx(middle, rel=0.01)
        assert law.draw(1e-9) > 0.8 * middle


@pytest.mark.parametrize("law", UNCAPPED, ids=str)
def test_beyond_is_the_tail_from_above(law: RunCount) -> None:
    p = run_probabilities(law)
    for largest in (1, 5, 50, 500):
        tail = math.fsum(p[largest + 1 :])
        assert law.beyond(largest) >= tail * (1 - 1e-9) - 1e-15
    assert law.beyond(10 * len(p)) < 1e-6


@pytest.mark.parametrize("uniform", [0.0, 1.0, -1.0, math.nan])
def test_draw_wants_a_uniform_draw(uniform: float) -> None:
    with pytest.raises(InputError, match="uniform"):
        geometric(0.1).draw(uniform)


def test_a_far_cap_changes_nothing() -> None:
    for law in (geometric(0.1), logarithmic(0.1), Poisson(3.0), Binomial(10, 0.3)):
        capped = Capped(law, 1000)
        assert capped.mean == pytest.approx(law.mean, rel=1e-9)
        assert capped.pgf_tail(TAILS) == pytest.approx(law.pgf_tail(TAILS), rel=1e-9)
    assert Capped(Binomial(10, 0.3), 1000).maximum == 10


@pytest.mark.parametrize("shape", [-0.3, 0.0, 1e-9, 0.5, 1.0, 3.0, 50.0])
@pytest.mark.parametrize("mean", [1.0, 1.5, 40.0, 1e4])
def test_from_mean(shape: float, mean: float) -> None:
    law = TruncatedNegativeBinomial.from_mean(shape, mean)
    assert law.shape == shape
    assert law.mean == pytest.approx(mean, rel=1e-7)
    assert law.mean >= mean * (1 - 1e-9)  # never fewer runs than asked for


@pytest.mark.parametrize("shape", [-0.02, 0.0, 1e-9, 0.5, 1.0, 3.0, 50.0])
@pytest.mark.parametrize("probability", [0.05, 0.35, 0.9])
def test_from_hit_probability(shape: float, probability: float) -> None:
    law = TruncatedNegativeBinomial.from_hit_probability(shape, 40, probability)
    assert law.hit_probability(40) == pytest.approx(probability, rel=1e-7)
    assert law.hit_probability(40) >= probability * (1 - 1e-9)


def test_one_run_may_already_hit_often_enough() -> None:
    assert TruncatedNegativeBinomial.from_hit_probability(0.5, 4, 0.2).gamma == 1


def test_poisson_from_hit_probability() -> None:
    assert Poisson.from_hit_probability(40, 0.9).hit_probability(40) == pytest.approx(0.9)


def test_hit_probabilities_of_the_notes() -> None:
    """The chance that a search with 40 runs on average ever draws the one best of 40."""
    logarithmic_40 = TruncatedNegativeBinomial.from_mean(0.0, 40)
    assert logarithmic_40.hit_probability(40) == pytest.approx(0.3446, abs=5e-5)  # notes: 0.35
    assert geometric(1 / 40).hit_probability(40) == pytest.approx(0.51, abs=0.005)
    assert Poisson(40.0).hit_probability(40) == pytest.approx(0.63, abs=0.005)
    needed = TruncatedNegativeBinomial.from_hit_probability(1.0, 40, 0.9)
    assert needed.mean == pytest.approx(351, abs=0.5)


def test_the_mean_counts_runs() -> None:
    """The hit probability, by drawing: 1 - E[(1 - 1/k)^K]."""
    for law in LAWS:
        k, p = defined(law)
        assert law.hit_probability(7) == pytest.approx(1 - np.sum(p * (6 / 7) ** k), rel=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        *(lambda x=x: TruncatedNegativeBinomial(x, 0.5) for x in (-1, -1.5, math.nan, math.inf)),
        *(lambda x=x: geometric(x) for x in (0, -0.1, 1.1, math.nan, math.inf, True, "half")),
        *(lambda x=x: Poisson(x) for x in (0, -1, math.nan, math.inf, None)),
        *(lambda x=x: Binomial(x, 0.5) for x in (0, -3, 2.5, math.nan, math.inf)),
        *(lambda x=x: Binomial(3, x) for x in (0, -0.1, 1.1, math.nan)),
        *(lambda x=x: Capped(geometric(0.5), x) for x in (0, -1, 1.5, math.nan, math.inf)),
        lambda: Capped(Capped(geometric(0.5), 3), 2),
        lambda: Capped(Poisson(3.0), 10**6),
        *(lambda x=x: TruncatedNegativeBinomial.from_mean(0.5, x) for x in (0.5, math.nan)),
        lambda: TruncatedNegativeBinomial.from_mean(-0.99, 1e6),  # no gamma reaches it
        lambda: TruncatedNegativeBinomial.from_mean(-1, 40),
        *(lambda x=x: Poisson.from_hit_probability(40, x) for x in (0, 1, math.nan)),
        lambda: TruncatedNegativeBinomial.from_hit_probability(1.0, 40, 1.0),
        lambda: TruncatedNegativeBinomial.from_hit_probability(1.0, 0, 0.5),
        lambda: geometric(0.5).hit_probability(0),
    ],
)
def test_conditions(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()
