"""A ward that no row has (issue 16): its weight is no longer noise, and everyone is told so."""

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
