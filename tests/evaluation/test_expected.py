"""What a plan says of its evaluation before it is paid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from releases import NUMBERS, SCHEMA

from honestdp import Spec, cost_table, make_plan
from honestdp.evaluation import evaluator
from honestdp.evaluation.expected import expected
from honestdp.planning.evaluation_words import evaluation_note

BINARY = evaluator(2, None)


@pytest.mark.parametrize("rows", [200, 3000])
@pytest.mark.parametrize("noise", [2.0, 12.0])
def test_no_accuracy_has_a_wider_interval(rows, noise):
    found = expected(BINARY, rows, noise)
    worst = 0.0
    for p in np.linspace(0.5, 1.0, 11):
        wrong = 1 - p
        counts = rows * np.array([[0.8 * p, 0.2 * wrong], [0.8 * wrong, 0.2 * p]])
        one = BINARY.group_figures(counts, noise)[0]
        worst = max(worst, one.value - one.low)
    assert worst <= (found.half or math.inf) * (1 + 1e-6)
    formula = max(0.25 / rows + (noise / rows) ** 2, 2 * (noise / rows) ** 2)
    assert (found.half or 1.0) == pytest.approx(1.96 * math.sqrt(formula), rel=1e-3)


def test_few_rows_say_nothing():
    assert expected(BINARY, 30, 12.0).precision == "too roughly to say"
    assert expected(evaluator(None, (0.0, 10.0)), 20, 9.0).precision == "too roughly to say"


def planned(**facts):
    known = {"schema": SCHEMA, "rows": 4000, "epsilon": 1.0, "test_share": 0.2, "steps": 50}
    return make_plan(Spec(**{**known, **facts}))


def test_plans_say_it_and_what_groups_cost():
    plan, by = planned(), planned(groups="c")
    assert by.count_noise == pytest.approx(plan.count_noise * math.sqrt(1.5), rel=2e-3)
    assert f"accuracy will be known {plan.expected_evaluation.precision} (95 %)" in str(plan)
    assert "by c: to within " in str(by)
    assert "groups make the noise of every count 1.22 times as large" in str(by)
    assert "by c" not in str(plan)
    assert planned(test_share=0).expected_evaluation is None
    numbers = planned(schema=NUMBERS)
    assert "a mean absolute error of 1" in str(numbers)
    assert "will be known to within" in str(numbers)


def test_the_table_of_costs_says_it_where_noise_can_be_drawn():
    facts = {"n": 36177, "lot_size": 250, "steps": 2500, "candidates": 1}
    note = cost_table(**facts, epsilon=1.0).notes[-1]
    assert note.startswith("Evaluation: ")
    assert "(4020)" in note
    assert evaluation_note(36177, 1.0, 1e-6) == note
    assert evaluation_note(4, 1.0, 1e-6) is None
    assert evaluation_note(36177, math.inf, 1e-6) is None
    assert evaluation_note(36177, 1e-9, 1e-300) is None
