"""What other procedures would have cost, and this run on its own line."""

from __future__ import annotations

import pytest
from planned_cards import planned
from releases import GRID, SCHEMA

from honestdp import InputError
from honestdp.planning.costs import variants
from honestdp.report.figures import Costs
from honestdp.report.inputs import Declared
from honestdp.report.page import report_html
from honestdp.schema import Numeric


@pytest.mark.parametrize("facts", [
    {},
    {"grid": GRID},
    {"grid": GRID, "procedure": "composition"},
    {"grid": GRID, "procedure": "composition", "scores": False},
    {"grid": GRID, "procedure": "random-stopping"},
    {"grid": GRID, "procedure": "random-stopping", "bound": "liu-talwar", "epsilon": 40.0},
    {"grid": GRID, "procedure": "random-stopping", "hit_probability": 0.8},
    {"grid": GRID, "procedure": "random-repeats", "mean_runs": 2.0, "shape": "poisson"},
    {"grid": GRID, "procedure": "random-repeats", "hit_probability": 0.7, "shape": 0.5},
    {"grid": GRID, "procedure": "random-repeats", "hit_probability": 0.7, "shape": 0.0},
    {"grid": GRID, "procedure": "random-repeats", "cap": 4},
    {"grid": GRID, "procedure": "threshold", "threshold": 0.5, "cap": 5},
    {"grid": GRID, "procedure": "subset-tuning", "subset": 0.5, "mean_runs": 2.0},
    {"grid": GRID, "schema": SCHEMA.model_copy(update={"columns": (
        Numeric(name="x", bounds="learn", outer=(0.0, 20.0)), SCHEMA.columns[1])})},
])  # fmt: skip
def test_the_run_is_marked_on_its_own_line(facts, monkeypatch):
    monkeypatch.setattr("honestdp.report.figures.cost_lines", lambda inputs: [])
    card, plan = planned(**facts)
    costs = Costs(card, Declared.of(card))
    k, epsilon = costs.mark
    assert k == len(plan.grid)
    assert epsilon == plan.role_epsilons["training"]
    assert dict(zip(costs.own.x, costs.own.y, strict=True))[k] == pytest.approx(epsilon, rel=1e-12)
    assert costs.own.name.startswith(plan.procedure.name)


def test_a_line_that_misses_the_run_is_not_drawn(monkeypatch):
    monkeypatch.setattr("honestdp.report.figures.cost_lines", lambda inputs: [])
    card, _ = planned(grid=GRID, procedure="random-stopping")
    public = card.declared_public
    for change in ({"mean_runs": 9.0}, {"name": "composition"}):
        odd = {**public, "search": {**public["search"], **change}}
        page = report_html(card.model_copy(update={"declared_public": odd}))
        assert "could not be worked out from its card" in page
    unknown = {**public, "search": {**public["search"], "name": "magic"}}
    with pytest.raises(InputError, match="must be one of"):
        report_html(card.model_copy(update={"declared_public": unknown}))


def test_all_procedures_are_drawn_and_this_run_once():
    card, plan = planned(grid=GRID, procedure="random-repeats", hit_probability=0.7)
    costs = Costs(card, Declared.of(card))
    assert costs.hit == 0.7
    names = {line.name.split(" ")[0].rstrip(",") for line in (*costs.others, costs.own)}
    assert names == {option.name for option in variants(3)}
    assert costs.own.name not in {line.name for line in costs.others}
    for line in costs.others:
        if line.name == "untuned (pld)":
            assert line.y == [pytest.approx(line.y[0])] * len(line.y)
    traces = costs.figure["data"]
    assert traces[-1]["x"] == [3]
    assert traces[-1]["y"] == [plan.role_epsilons["training"]]
