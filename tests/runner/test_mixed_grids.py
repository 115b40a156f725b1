"""Searches among models and encodings: each candidate reads rows as its model does."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from honestdp import load, make_plan
from honestdp.engine.examples import examples
from honestdp.engine.train import Schedule, train
from honestdp.privacy.run_count import RunCount
from honestdp.randomness import Randomness
from honestdp.release.card import Card
from honestdp.resume.journal import Journal
from honestdp.run_files import MODEL
from honestdp.runner.private_data import PrivateData, split
from honestdp.runner.run import run
from honestdp.runner.training import models_of
from honestdp.schema import Categorical, Numeric, Schema, Target
from search_tables import spec

ROWS = 400
GRID = [
    {"encode": "linear"},
    {"model": "mlp", "module__width": 3},
    {"encode": "bins"},
    {"model": "mlp", "module__width": 4},
    {"encode": "linear", "kappa": 1.0},
]
SCHEMA = Schema(
    name="mixed",
    columns=(
        Numeric(name="a", bounds="learn", outer=(0, 100)),
        Numeric(name="b", bounds=(0, 1)),
        Categorical(name="c", categories=("x", "y")),
    ),
    target=Target(column="z", classes=("no", "yes")),
)


def table() -> dict[str, list]:
    source = np.random.default_rng(1)
    a, b = source.uniform(0, 10, ROWS), source.uniform(0, 1, ROWS)
    answers = np.where((a > 3) & (a < 7), "yes", "no")  # a curve: numbers alone do not show it
    return {"a": a.tolist(), "b": b.tolist(), "c": ["xy"[i % 2] for i in range(ROWS)],
            "z": answers.tolist()}  # fmt: skip


def plan_of(procedure: str = "composition", **options):
    facts = {"rows": ROWS, "epsilon": 20.0, "steps": 60, "grid": GRID, "procedure": procedure}
    return make_plan(spec(SCHEMA, **{**facts, **options}))


def test_every_candidate_predicts_by_its_own_encoding(tmp_path):
    release = run(plan_of(), table(), seed=1, folder=tmp_path / "run")
    again = load(tmp_path / "run")
    widths = set()
    for one, other in zip(release.candidates, again.candidates, strict=True):
        assert one.schema == other.schema
        assert one.setting == other.setting
        widths.add(one.schema.width)
        np.testing.assert_array_equal(one.predict_proba(table()), other.predict_proba(table()))
    assert len(widths) > 1
    best = {one.setting.get("encode"): (one.predict(table()) == table()["z"]).mean()
            for one in release.candidates}  # fmt: skip
    assert best["bins"] > best["linear"] + 0.2
    assert release.winner.setting.get("encode") != "linear"
    assert release.effects() is not None or "model" in release.winner.setting


def test_each_trains_as_it_would_alone():
    """The same streams, rows and lots as one engine call for each candidate."""
    plan, randomness = plan_of(), Randomness.simulation(1)
    models, (rows, *_) = models_of(plan), split(plan)
    data = PrivateData.open(plan, table(), None, None, Randomness.simulation(1), Journal())
    release = run(plan, table(), seed=1)
    found = {str(dict(one.setting)): one.parameters for one in release.candidates}
    for i, setting in enumerate(plan.grid.settings):
        encoded = data.schemas[plan.spec.encoding_of(i)].encode(table())
        part = examples(encoded.inputs[rows], encoded.targets[rows])
        job = Schedule(plan.training.steps, plan.training.lot_size)
        alone = train([models[i]], part, [plan.candidates[i]], job, randomness, numbers=[i])
        assert torch.equal(alone.parameters(0), found[str(dict(setting))])


@pytest.mark.parametrize("procedure", ["random-repeats", "subset-tuning"])
def test_only_the_winner_leaves_and_files_have_one_length(procedure, monkeypatch):
    options = {"subset": 0.5} if procedure == "subset-tuning" else {}
    plan, lengths, winners = plan_of(procedure, mean_runs=2.0, steps=8, **options), set(), set()
    monkeypatch.setattr(RunCount, "draw_exactly", lambda self, uniform: 1)
    for seed in range(12):
        release = run(plan, table(), seed=seed)
        winners.add(str(dict(release.winner.setting)))
        lengths.add((release.winner.setting.get("encode"), len(release.files[MODEL])))
        assert release.candidates == ()
    assert len(winners) > 2
    # What is learnt has numbers of any length: beyond them the lengths are one
    assert max(n for _, n in lengths) - min(n for _, n in lengths) < 200


def test_the_card_says_what_was_chosen_among():
    plan = plan_of()
    card: Card = run(plan, table(), seed=1).card
    assert card.model == "logistic, mlp"
    assert card.declared_public["grid"] == [dict(one) for one in plan.grid.settings]
    assert len(card.declared_public["row_norm_of_settings"]) == len(GRID)
    assert "for mlp: " in card.preprocessing.what
    assert "a" in {one.about for one in card.learnt}
