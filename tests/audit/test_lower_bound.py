"""The lower bound on epsilon: near the truth where that is known, rarely above it, as promised."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from honestdp.audit import LowerBound, epsilon_lower_bound
from honestdp.errors import InputError


def gaussian_epsilon(shift: float, delta: float) -> float:
    """Balle and Wang 2018, Theorem 5: of a standard normal moved by `shift`."""

    def excess(e: float) -> float:
        moved = norm.cdf(shift / 2 - e / shift)
        return moved - math.exp(e) * norm.cdf(-shift / 2 - e / shift) - delta

    return brentq(excess, 0, 50)


def answers(rng: np.random.Generator, epsilon: float, truth: bool, count: int) -> np.ndarray:
    """Randomised response: the truth with probability e^epsilon / (1 + e^epsilon)."""
    honest = rng.random(count) < 1 / (1 + math.exp(-epsilon))
    return np.where(honest, truth, not truth).astype(float)


@pytest.mark.parametrize("shift", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("delta", [0.01, 0.05])
def test_near_the_truth_for_a_gaussian(shift: float, delta: float) -> None:
    rng = np.random.default_rng(0)
    found = epsilon_lower_bound(rng.normal(shift, 1, 20_000), rng.normal(0, 1, 20_000), delta)
    truth = gaussian_epsilon(shift, delta)
    assert 0.6 * truth < found.epsilon < truth


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_near_the_truth_for_randomised_response(epsilon: float) -> None:
    rng = np.random.default_rng(1)
    yes, no = (answers(rng, epsilon, truth, 50_000) for truth in (True, False))
    assert 0.8 * epsilon < epsilon_lower_bound(yes, no, 0.0).epsilon < epsilon


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_above_the_truth_no_oftener_than_promised(confidence: float) -> None:
    """Randomised response is as bad as it may be, and its event is always found."""
    rng, truth, audits = np.random.default_rng(2), 1.0, 300
    wrong = 0
    for _ in range(audits):
        yes, no = (answers(rng, truth, said, 400) for said in (True, False))
        wrong += epsilon_lower_bound(yes, no, 0.0, confidence).epsilon > truth
    allowed = 1 - confidence
    assert wrong <= audits * allowed + 4 * math.sqrt(audits * allowed)


def test_luck_with_one_of_many_events_does_not_last() -> None:
    """None of them tells two equal laws apart; the luckiest is chosen, then counted anew."""
    rng, audits = np.random.default_rng(3), 200
    wrong = 0
    for _ in range(audits):
        one, other = rng.random((2, 60))
        wrong += epsilon_lower_bound(one, other, 0.0, 0.8, 0.5).epsilon > 0
    assert wrong <= audits * 0.2 + 4 * math.sqrt(audits * 0.2)


def test_both_samples_and_both_sides_are_tried() -> None:
    """A rare event of one sample alone: only the ratio with it on top tells them apart."""
    rng = np.random.default_rng(4)
    usual, odd = rng.random(8000), rng.random(8000)
    odd[rng.random(8000) < 0.05] = 2.0
    found = epsilon_lower_bound(odd, usual, 0.01)
    assert found.epsilon > 2
    assert (found.above, found.likelier) == (True, "first")
    swapped = epsilon_lower_bound(usual, odd, 0.01)
    assert (swapped.epsilon, swapped.likelier) == (found.epsilon, "second")
    mirrored = epsilon_lower_bound(-odd, -usual, 0.01)
    assert mirrored.epsilon > 2
    assert (mirrored.above, mirrored.likelier) == (False, "first")


def test_by_hand() -> None:
    """All of the 900 draws left say yes, none of the other 900: limits in closed form."""
    found = epsilon_lower_bound([1.0] * 1200, [0.0] * 1200, 0.01, 0.999)
    never = 1 - 0.0005 ** (1 / 900)
    assert found.epsilon == pytest.approx(math.log((1 - never - 0.01) / never))
    assert found == LowerBound(found.epsilon, 0.0, True, "first")


def test_the_same_law_and_what_delta_forgives_are_nothing() -> None:
    rng = np.random.default_rng(5)
    same = rng.normal(size=4000)
    assert epsilon_lower_bound(same, same, 0.0).epsilon < 0.01
    rare = np.where(rng.random(4000) < 0.03, 9.0, 0.0)
    assert epsilon_lower_bound(rare, np.zeros(4000), 0.05).epsilon == 0


def test_infinities_are_numbers() -> None:
    """Such as that of a search that ended with nothing."""
    lost = np.r_[np.full(500, -math.inf), np.zeros(500)]
    np.random.default_rng(6).shuffle(lost)
    assert epsilon_lower_bound(lost, np.zeros(1000), 0.01).epsilon > 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"first": [1.0, math.nan]}, "first: holds NaN"),
        ({"second": [1.0]}, "second: of shape"),
        ({"first": [[1.0, 2.0], [3.0, 4.0]]}, "first: of shape"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"delta": -0.1}, "delta=-0.1"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"choosing": 0.0}, "choosing=0.0"),
    ],
)
def test_bad_input(change: dict, said: str) -> None:
    good = {"first": [1.0, 2.0], "second": [1.0, 2.0], "delta": 0.1}
    with pytest.raises(InputError, match=said):
        epsilon_lower_bound(**(good | change))
