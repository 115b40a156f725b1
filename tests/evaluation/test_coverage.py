"""Intervals hold the truth as often as they say: simulations of whole evaluations.

Nominal 95 %. Of `times` samples a right interval is below `least` less than once in 10^4.
"""

from __future__ import annotations

import numpy as np
import pytest
from populations import (
    Population,
    constant,
    many_classes,
    numbers,
    skewed,
    straight,
    two_classes,
)

POPULATIONS = {
    "census": lambda: two_classes(-1.5, 2.0),
    "shrunk scores": lambda: two_classes(-1.5, 2.0, 0.5),
    "a rare class": lambda: two_classes(-3.3, 1.2),
    "confident": lambda: two_classes(0.0, 4.0),
    "ten classes": lambda: many_classes(10, 2.0),
    "straight": lambda: numbers(straight),
    "skewed": lambda: numbers(skewed),
    "constant": lambda: numbers(constant),
}
# Never too narrow; they are wider where a share has hardly any rows, or rows may hide in the noise.
CAUTIOUS = {"precision", "mean absolute error", "root mean squared error", "R2"}


def check(population: Population, rows: int, deviation: float, times: int) -> None:
    least = 0.95 - 0.02 - 3.72 * np.sqrt(0.95 * 0.05 / times)
    found = population.coverage(rows, deviation, times)
    assert min(found.values()) > least, found
    usual = [share for name, share in found.items() if name not in CAUTIOUS]
    if usual:
        assert 0.93 <= np.mean(usual) <= 0.98, found


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "deviation"), [(1000, 8.0), (4500, 8.0), (4500, 25.0)])
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_hold_the_truth(name: str, rows: int, deviation: float) -> None:
    check(POPULATIONS[name](), rows, deviation, 400)


@pytest.mark.parametrize("name", ["census", "ten classes", "straight"])
def test_intervals_hold_the_truth_now_and_then(name: str) -> None:
    check(POPULATIONS[name](), 2000, 10.0, 100)


@pytest.mark.parametrize("name", ["census", "ten classes", "straight"])
def test_figures_of_many_rows_are_those_of_the_population(name: str) -> None:
    population = POPULATIONS[name]()
    (found,) = population.figures(100_000, 1.0, 1)
    for one in found:
        truth = population.truth[one.name]
        assert one.value == pytest.approx(truth, rel=0.03, abs=0.004), one
        assert one.low <= one.value <= one.high
