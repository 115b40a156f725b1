"""Scikit-learn's own checks of an estimator, on simulations that infer their schema.

None is expected to fail: what a check needs of the data (classes, bounds, that no target is
missing) is read off it, which a simulation may.
"""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from honestdp import HonestSearch

EXPECTED_FAILURES: dict[str, str] = {}  # at most six, each with its privacy reason


def simulation(model: str, **options) -> HonestSearch:
    # A budget that hides nothing: the checks want a model that has learnt.
    setting = {"rule": "dpsgd", "learning_rate": 0.2, "clip_norm": 3.0}
    return HonestSearch(
        model, setting, epsilon=1e4, steps=300, schema="infer", random_state=0, **options
    )


@parametrize_with_checks(
    [simulation("logistic"), simulation("linear")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_check(estimator, check) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [simulation("mlp", module__width=8)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_check_of_a_network(estimator, check) -> None:
    check(estimator)


def test_no_more_than_six_failures_are_expected() -> None:
    assert len(EXPECTED_FAILURES) <= 6
