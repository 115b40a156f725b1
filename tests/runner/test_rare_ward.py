"""A ward or a year that no row has (issue 16): its weight is no longer noise, and all are told."""

from __future__ import annotations

import numpy as np
import pytest

from honestdp import Schema, make_plan
from honestdp.cli.explain import command
from honestdp.planning.spec import Spec
from honestdp.report.page import report_html
from honestdp.runner.run import run

ROWS = 4000


def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    age, ward = rng.integers(0, 100, ROWS), rng.choice(["surgery", "medicine"], ROWS)
    back = age + 20 * (ward == "surgery") + rng.normal(0, 15, ROWS) > 60
    return {"age": age, "ward": ward, "back": np.where(back, "yes", "no")}


def planned(model: str = "logistic", **facts):
    ward = {"kind": "categorical", "name": "ward", **facts}
    ward["categories"] = ["surgery", "medicine", "made up"]
    age = {"kind": "numeric", "name": "age", "bounds": [0.0, 100.0]}
    target = {"column": "back", "classes": ["no", "yes"]}
    schema = {"name": "visits", "target": target, "columns": [age, ward]}
    facts = {"schema": Schema.model_validate(schema), "model": model}
    return make_plan(Spec(rows=ROWS, epsilon=1.0, steps=100, **facts))


def probability(release, ward: str | None) -> float:
    row = {"age": [50], "ward": [ward]}
    return float(release.predictor.predict_proba(row, warn=False)[0, 1])


@pytest.mark.parametrize("model", ["logistic", "mlp"])
@pytest.mark.parametrize("other", [False, True])
def test_a_made_up_ward_predicts_as_an_unknown_one(model, other):
    plan, rows = planned(model, other=other), table()
    for seed in range(5):
        release = run(plan, rows, seed=seed)
        assert release.schema.columns[1].rare == ("made up",)
        assert release.schema.columns[1].rare_other is other
        assert probability(release, "made up") == probability(release, "no such ward")
        assert probability(release, "made up") == probability(release, None)
        assert probability(release, "surgery") > probability(release, "medicine")


def test_kept_it_has_a_weight_of_noise():
    """Which was so before."""
    plan, rows = planned(rare="keep"), table()
    found = [run(plan, rows, seed=seed) for seed in range(3)]
    assert all(probability(one, "made up") != probability(one, None) for one in found)


def with_years(**facts):
    """A plan and its rows: all of 2023 and 2024, of a schema that goes on to 2029."""
    day = {"kind": "date", "name": "day", "first": "2020-01-01", "last": "2029-12-31", **facts}
    schema = planned().spec.schema.model_dump(mode="json", exclude={"row_scale"})
    schema = Schema.model_validate(schema | {"columns": [*schema["columns"], day]})
    plan = make_plan(Spec(rows=ROWS, epsilon=1.0, steps=100, schema=schema))
    months = np.random.default_rng(6).integers(0, 24, ROWS)
    days = [f"{2023 + month // 12}-{1 + month % 12:02d}-15" for month in months]
    return plan, table() | {"day": np.array(days)}


def test_a_year_that_no_row_has_says_no_more_than_its_position():
    plan, rows = with_years()
    release = run(plan, rows, seed=0)
    rare = {*map(str, range(2020, 2030))} - {"2023", "2024"}
    assert set(release.schema.columns[2].rare) == rare
    day = [one for one in release.effects() if one.column == "day"]
    noted = {one.label for one in day if one.note}
    assert noted == {f"day {year}" for year in rare}
    assert {(one.contribution, one.noise_sd) for one in day if one.note} == {(0.0, 0.0)}
    # From 2026 to 2027 nothing but the position changes: both days are Fridays.
    row = {"age": [50, 50, 50], "ward": ["surgery"] * 3}
    row["day"] = ["2026-01-02", "2027-01-01", "2027-12-31"]
    inputs = release.schema.encode_inputs(row, sparse=False)
    first, last = np.flatnonzero(inputs[0] != inputs[1]), np.flatnonzero(inputs[1] != inputs[2])
    names = release.schema.encoded_names
    assert [names[at] for at in first] == ["day"]
    assert [names[at] for at in last] == ["day", "day Jan", "day Dec"]


def test_card_effects_explain_and_report_say_so(tmp_path, capsys):
    release = run(planned(), table(), seed=1, folder=tmp_path / "run")
    noted = {one.label: one.note for one in release.effects() if one.column == "ward"}
    few = "too few rows for a weight of its own"
    assert noted == {"surgery": "", "medicine": "", "made up": few}
    (fact,) = release.card.learnt
    assert (fact.about, fact.values, fact.share) == ("ward", {"rare": ["made up"]}, 0.02)
    assert "encoded as zeros: made up" in release.card.prose()
    page = report_html(release.card, effects=release.effects())
    assert f"ward: {few}: made up." in page
    assert "encoded as zeros: made up" in page
    command(tmp_path / "run")
    assert f"ward: {few}: made up" in capsys.readouterr().out
