"""Class weights from the spec to the card, and every face that takes them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from honestdp import HonestSearch, InputError, Schema, Spec, make_plan, run
from honestdp.cli.config import TuneConfig
from honestdp.engine import Module
from honestdp.ledger import Ledger
from honestdp.metrics import metrics
from honestdp.runner.training import models_of

SCHEMA = Schema(
    name="rare",
    unit="one row",
    target={"column": "y", "classes": ["no", "yes"]},
    columns=[{"name": n, "kind": "numeric", "bounds": [-2, 2]} for n in ("a", "b")],
)
GRID = {"rule": "dpsgd", "learning_rate": 1.0, "clip_norm": 1.0}
SHARES = {"no": 0.9, "yes": 0.1}


def table(rows=400):
    draws = np.random.default_rng(0)
    a, b = draws.uniform(-2, 2, (2, rows))
    return {"a": a, "b": b, "y": np.where(a + b > 2, "yes", "no")}


def spec(schema=SCHEMA, **more):
    given = {"grid": GRID, "epsilon": 20.0, "steps": 30, "lot_size": 100, **more}
    return Spec(schema=schema, rows=400, **given)


def test_weights_reach_the_model_the_plan_and_the_card() -> None:
    plan = make_plan(spec(class_weight={"yes": 10}))
    assert plan.spec.class_weight == {"no": 1.0, "yes": 10.0}
    assert [model.loss.weights for model in models_of(plan)] == [(0.1, 1.0)]
    assert "class weights in the loss, public: no 0.1, yes 1" in str(plan)
    assert plan.public()["class_weight"] == {"no": 1.0, "yes": 10.0}
    plain = make_plan(spec())
    assert "class_weight" not in plain.public()
    assert (plan.epsilon, plan.noise_multiplier) == (plain.epsilon, plain.noise_multiplier)
    release, without = run(plan, table(), seed=1), run(plain, table(), seed=1)
    assert release.card.declared_public["class_weight"] == {"no": 1.0, "yes": 10.0}
    assert "class_weight" not in without.card.declared_public
    said = "the loss weighs classes by public numbers, before the clip"
    assert [said in one.card.prose() for one in (release, without)] == [True, False]
    heavy, light = ((one.predict(table()) == "yes").sum() for one in (release, without))
    assert heavy > light


def test_balanced_weights_follow_from_declared_shares() -> None:
    made = spec(class_weight="balanced", class_shares=SHARES)
    assert made.weights_of({}) == pytest.approx((1 / 9, 1.0))
    assert spec(class_weight={"no": 3, "yes": 3}).weights_of({}) is None
    assert spec(class_weight={"yes": 4}).weights_of({}) == (0.25, 1.0)
    assert make_plan(made).public()["class_shares"] == SHARES


def test_settings_of_one_grid_may_weigh_differently() -> None:
    grid = {**GRID, "class_weight": ["none", "balanced"]}
    plan = make_plan(spec(grid=grid, class_shares=SHARES, procedure="composition"))
    first, second = models_of(plan)
    assert (first.loss.weights, second.loss.weights) == (None, pytest.approx((1 / 9, 1.0)))
    found = {one.setting["class_weight"] for one in run(plan, table(), seed=1).candidates}
    assert found == {"none", "balanced"}
    own = make_plan(spec(grid={"class_weight": ["none", "balanced"]}, class_shares=SHARES,
                         procedure="composition"))  # fmt: skip
    assert {one["rule"] for one in own.grid.settings} == {"balanced"}  # the model's own rule


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"class_weight": {"maybe": 2.0}}, "class_weight='maybe': is none of the declared classes"),
        ({"class_weight": {"yes": 0}}, "class_weight=0: must be a number between 0.0001 and"),
        ({"class_weight": {"yes": -1.0}}, "class_weight=-1.0: must be a number between"),
        ({"class_weight": {"yes": float("inf")}}, "class_weight=inf: must be a number between"),
        ({"class_weight": {"yes": float("nan")}}, "class_weight=nan: must be a number between"),
        ({"class_weight": {"yes": 1e9}}, "must be a number between 0.0001 and 10000"),
        (
            {"class_weight": "balanced", "class_shares": {"no": 1 - 1e-10, "yes": 1e-10}},
            "is the largest share by the smallest; must be at most 1e+08",
        ),
        ({"class_weight": {"yes": "much"}}, "must be a number between"),
        ({"class_weight": {}}, "class_weight: is a dict; give a number by class"),
        ({"class_weight": [1.0, 2.0]}, "class_weight: is a list; give a number by class"),
        ({"class_weight": "even"}, "class_weight='even': must be \"balanced\""),
        ({"class_weight": "balanced"}, "would count protected rows; give class_shares="),
        ({"class_shares": {"yes": 0.1}}, "class_shares='no': has no share"),
        ({"class_shares": {"no": 0.9, "yes": 0.3}}, "class_shares=1.2: is their sum; must be 1"),
        ({"class_shares": {"no": 1.0, "yes": 0.0}}, "class_shares=1.0: must lie strictly"),
        ({"grid": {**GRID, "class_weight": "even"}}, 'must be "none" or "balanced"'),
        ({"grid": {**GRID, "class_weight": 5.0}}, "class_weight must be a text"),
        ({"grid": {**GRID, "class_weight": "balanced"}}, "would count protected rows"),
    ],
)
def test_wrong_weights_are_refused_in_one_line(given, words) -> None:
    with pytest.raises(InputError) as caught:
        spec(**given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_have_no_classes_to_weigh() -> None:
    numbers = Schema(name="n", unit="one row", target={"column": "y", "bounds": [0, 1]},
                     columns=list(SCHEMA.columns))  # fmt: skip
    for given in ({"class_weight": {"yes": 2.0}}, {"class_weight": "balanced"},
                  {"class_shares": SHARES}):  # fmt: skip
        with pytest.raises(InputError, match="is of classes; this target is a number"):
            spec(numbers, model="linear", **given)


def test_a_model_that_takes_none_is_refused_before_the_charge(tmp_path) -> None:
    class Deaf(Module):
        def weighted(self, weights):
            return self

    ledger = Ledger.create(tmp_path / "l", dataset="toy", schema=SCHEMA.fingerprint, epsilon=40.0,
                           delta=1e-3)  # fmt: skip
    plan = make_plan(spec(model=Deaf(nn.Linear(2, 1), 2), class_weight={"yes": 2.0}))
    with pytest.raises(InputError, match="class_weight: the loss of a Deaf does not take it"):
        run(plan, table(), ledger)
    assert not ledger.history()


@pytest.mark.parametrize("model", ["logistic", "mlp", "module"])
def test_every_model_trains_and_is_loaded_again(model, tmp_path) -> None:
    given = Module(nn.Linear(2, 1), 2) if model == "module" else model
    release = run(make_plan(spec(model=given, class_weight={"yes": 6.0})), table(), seed=1)
    release.save(tmp_path / "out")
    from honestdp import load

    again = load(tmp_path / "out", module=nn.Linear(2, 1) if model == "module" else None)
    assert np.array_equal(again.predict(table()), release.predict(table()))


def test_honest_search_takes_labels_and_refuses_weights_of_rows() -> None:
    schema = SCHEMA.model_copy(
        update={"target": SCHEMA.target.model_copy(update={"classes": ("0", "1")})}
    )
    X = np.random.default_rng(0).uniform(-2, 2, (400, 2))
    y = (X.sum(1) > 2).astype(int)
    search = HonestSearch(grid=GRID, epsilon=20.0, schema=schema, random_state=0, steps=30,
                          lot_size=100, class_weight={1: 6.0}, progress=False)  # fmt: skip
    search.fit(X, y)
    assert search.plan_.spec.class_weight == {"0": 1.0, "1": 6.0}
    search.set_params(class_weight="balanced", class_shares={0: 0.9, 1: 0.1})
    assert search.plan(400).spec.weights_of({}) == pytest.approx((1 / 9, 1.0))
    with pytest.raises(InputError, match=r"sample_weight: fit takes none; .* class_weight="):
        search.fit(X, y, sample_weight=np.ones(400))


def test_the_shell_takes_them_as_toml_and_as_json(tmp_path) -> None:
    file = tmp_path / "t.toml"
    file.write_text('metric = "auc"\nclass_weight = { yes = 6.0 }\n')
    assert TuneConfig.of(file, {}).facts == {"metric": "auc", "class_weight": {"yes": 6.0}}
    flags = {"class_weight": json.dumps({"yes": 6.0})}
    config = TuneConfig.of(None, flags, ["class_shares={no = 0.9, yes = 0.1}"])
    assert config.facts == {"class_weight": {"yes": 6.0}, "class_shares": SHARES}
    assert spec(**config.facts).weights_of({}) == (1 / 6, 1.0)
    stored = tmp_path / "s.toml"
    stored.write_text(config.to_toml(tmp_path))
    assert TuneConfig.of(stored, {}).facts == config.facts
    with pytest.raises(InputError, match="is not JSON"):
        TuneConfig.of(None, {"class_weight": "{yes: 6"})


def test_metrics_do_not_see_the_weights() -> None:
    """A score is of the answers, whatever the loss weighs."""
    from honestdp.engine import Linear, examples, score_units

    rows = examples(torch.randn(20, 2), torch.randint(0, 2, (20,)))
    params = torch.randn(2, 3)
    for name in ("accuracy", "log-loss", "brier"):
        plain, heavy = (
            score_units(metrics.get(name), model, params, rows)
            for model in (Linear(2, 2), Linear(2, 2).weighted((1.0, 9.0)))
        )
        assert torch.equal(plain, heavy)
