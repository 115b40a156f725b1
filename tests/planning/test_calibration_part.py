"""Calibration rows and the threshold: who gets them, what they cost, what is refused."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from honestdp import InputError, make_plan
from honestdp.planning.calibration_part import calibration_rows, public_threshold, threshold_of
from search_tables import NUMBERS, PROCEDURES, ROWS, asked, spec

QUICK = ("untuned", "composition", "pick", "random-stopping", "liu-talwar", "random-repeats")
SHARE = {"calibration_share": 0.1}


def test_the_rule_is_public() -> None:
    assert calibration_rows(32_561, 1.0, "auto", 2) == 1628
    assert calibration_rows(1999, 1.0, "auto", 2) == 0  # too little precision
    assert calibration_rows(999, 10.0, "auto", 2) == 0  # too few rows
    assert calibration_rows(32_561, 1.0, "auto", None) == 0  # a number
    assert calibration_rows(100, 0.1, 0.2, 3) == 20  # asked for


@pytest.mark.parametrize(
    ("threshold", "found"),
    [(0.3, 0.3), ("cost:4", 0.2), ("cost:0.25", 0.8), ("balanced", None), (None, None)],
)
def test_the_public_thresholds(threshold: object, found: float | None) -> None:
    assert public_threshold(threshold) == (found and pytest.approx(found))
    assert threshold_of(threshold, 0.07) == (0.07 if threshold == "balanced" else found)


def test_each_threshold_is_the_best_for_what_it_is_for() -> None:
    """Over rows whose probabilities are known, against every other threshold."""
    p = np.linspace(0.005, 0.995, 100) ** 2
    share, grid = p.mean(), np.linspace(0.001, 0.999, 999)

    def balanced(t: float) -> float:
        yes = p > t
        return (p[yes].sum() / p.sum() + (1 - p[~yes]).sum() / (1 - p).sum()) / 2

    def cost(t: float) -> float:
        yes = p > t
        return 4 * p[~yes].sum() + (1 - p[yes]).sum()

    assert balanced(share) == pytest.approx(max(map(balanced, grid)))
    assert cost(public_threshold("cost:4")) == pytest.approx(min(map(cost, grid)))  # type: ignore[arg-type]


BAD = [
    ({"calibration_share": 1.0}, "calibration_share=1.0: must be a share of the rows"),
    ({"calibration_share": -0.1}, "must be a share of the rows"),
    ({"calibration_share": True}, "must be a share of the rows"),
    ({"calibration_share": "some"}, "must be a share of the rows"),
    ({"calibration_share": 0.0001}, "leaves no rows to calibrate or to train on, of 400"),
    ({"calibration_share": 0.5, "test_share": 0.5}, "and test_share=0.5 leave no rows to train on"),
    ({"calibration_share": 0.1, "schema": NUMBERS}, "the target is a number"),
    ({"decision_threshold": 0}, "decision_threshold=0: must be a probability between 0 and 1"),
    ({"decision_threshold": 1.0}, "must be a probability between 0 and 1"),
    ({"decision_threshold": True}, "must be a probability between 0 and 1"),
    ({"decision_threshold": "half"}, "must be a probability between 0 and 1"),
    ({"decision_threshold": "cost:-1"}, "must be a probability between 0 and 1"),
    ({"decision_threshold": "cost:nan"}, "must be a probability between 0 and 1"),
    ({"decision_threshold": "cost:inf"}, "must be a probability between 0 and 1"),
    ({"decision_threshold": "balanced"}, "follows from counts of calibration rows"),
    ({"decision_threshold": "balanced", "calibration_share": "auto"}, "calibration rows"),
    ({"decision_threshold": 0.3, "schema": NUMBERS}, "is for two classes, the target is a number"),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_what_is_refused_in_one_line(given: dict, said: str) -> None:
    with pytest.raises(InputError) as error:
        spec(**given)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def gaussian_epsilon(noise: float, delta: float) -> float:
    """By Balle and Wang 2018, Theorem 8, in 40 digits; no code of the library."""
    with mpmath.workdps(40):
        mu = 1 / mpmath.mpf(noise)

        def over(epsilon: mpmath.mpf) -> mpmath.mpf:
            low, high = -epsilon / mu - mu / 2, -epsilon / mu + mu / 2
            return mpmath.ncdf(high) - mpmath.exp(epsilon) * mpmath.ncdf(low) - delta

        return float(mpmath.findroot(over, (0, 50), solver="bisect", tol=1e-20))


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PROCEDURES]
)
def test_it_costs_nothing_beyond_the_search_with_any_procedure(name: str) -> None:
    plan = make_plan(asked(name, **SHARE, test_share=0.1))
    costs = plan.role_epsilons
    assert costs["calibration"] <= max(costs["training"], costs.get("validation", 0.0))
    assert plan.epsilon <= plan.spec.epsilon
    assert plan.calibration_noise is not None
    alone = gaussian_epsilon(plan.calibration_noise, plan.delta)
    assert alone <= costs["calibration"] <= 1.00005 * alone  # rounded to the private side
    searched = plan.training.n + plan.validation_rows
    assert searched + plan.spec.calibration_rows + plan.spec.test_rows == ROWS
    for again in (copy.copy(plan), pickle.loads(pickle.dumps(plan))):
        assert again.public() == plan.public()


def test_noise_too_small_for_the_budget_is_refused() -> None:
    plan = make_plan(asked("untuned", **SHARE))
    with pytest.raises(InputError, match="its spec allows"):
        replace(plan, calibration_noise=0.5 * plan.calibration_noise)  # type: ignore[operator]
    with pytest.raises(InputError, match="calibration_noise=None: does not fit 40"):
        replace(plan, calibration_noise=None)


def test_a_count_has_the_noise_of_its_levels() -> None:
    two = make_plan(asked("untuned", **SHARE))
    assert two.calibration_count_noise == two.calibration_noise  # one level
    classes = ("no", "yes", "maybe")
    target = two.spec.schema.target.model_copy(update={"classes": classes})
    schema = two.spec.schema.model_copy(update={"target": target})
    three = make_plan(asked("untuned", **SHARE, schema=schema))
    assert three.calibrator is not None
    assert len(three.calibrator.levels) == 4
    assert three.calibration_count_noise == pytest.approx(2 * three.calibration_noise)  # type: ignore[operator]


def test_the_plan_says_so_and_one_without_is_as_before() -> None:
    plan = make_plan(asked("untuned", **SHARE, decision_threshold="cost:4"))
    assert plan.public()["calibration"] == {"rows": 40, "noise": plan.calibration_noise}
    assert plan.public()["decision_threshold"] == "cost:4"
    assert "probabilities corrected by counts of class" in str(plan)
    assert "'yes' where its probability is above 0.2 (for cost:4)" in str(plan)
    before = make_plan(asked("untuned"))
    assert not {"calibration", "decision_threshold"} & before.public().keys()
    assert "calibration" not in before.role_epsilons


def test_class_weights_are_not_undone_by_default() -> None:
    """A correction would move the answers back to where they were without weights."""
    given = {"rows": 4000, "epsilon": 2.0, "calibration_share": "auto"}
    assert spec(**given).calibration_rows == 200
    weighed = spec(**given, class_weight={"no": 1.0, "yes": 5.0})
    assert weighed.calibration_rows == 0
    assert "it would undo the class weights" in str(make_plan(weighed))
    wanted = spec(**{**given, "calibration_share": 0.1}, class_weight={"yes": 5.0})
    assert wanted.calibration_rows == 400
    grid = [{"class_weight": "none"}, {"class_weight": "balanced"}]
    shares = {"no": 0.9, "yes": 0.1}
    assert spec(**given, grid=grid, class_shares=shares).calibration_rows == 0
