"""The evaluation of a release: what it counts, what one row can change, and what it costs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from honestdp import HonestSearch, InputError, Ledger, load, make_plan, verify
from honestdp.engine.models import size
from honestdp.engine.score import _outputs
from honestdp.evaluation import evaluator
from honestdp.planning.test_part import test_rows as rows_to_test
from honestdp.privacy import guarantee
from honestdp.privacy.events import Gaussian
from honestdp.procedures import Draw, Outcome
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner.evaluating import evaluate
from honestdp.runner.private_data import PrivateData, split
from honestdp.runner.run import run
from honestdp.runner.training import models_of
from honestdp.schema import Categorical, Numeric, Schema, Target
from search_tables import NUMBERS, PROCEDURES, SCHEMA, asked, spec, table

TESTED = {"test_share": 0.25}


@pytest.fixture
def without_noise(monkeypatch):
    """Counts as they are, and a run whose noise does not depend on the rows."""
    monkeypatch.setattr(Randomness, "rounded_normals", lambda *given: np.zeros(given[-1], np.int64))


def counts_of(release) -> dict[str, np.ndarray]:
    found = release.evaluation
    return {name: level.array() for name, level in found.levels.items()}


@pytest.mark.parametrize("name", PROCEDURES)
def test_every_procedure_is_evaluated(name, without_noise):
    plan = make_plan(asked(name, **TESTED))
    rows, release = table(), run(plan, table(), seed=7)
    if release.winner is None:
        assert release.evaluation is None
        return
    held = split(plan).test
    answers = release.predict({key: [cells[i] for i in held] for key, cells in rows.items()})
    truth = np.array(rows["y"])[held]
    expected = [
        [((truth == y) & (answers == a)).sum() for a in ("no", "yes")] for y in ("no", "yes")
    ]
    assert counts_of(release)["class by answer"].tolist() == expected
    assert counts_of(release)["class by score"].sum() == len(held) == release.evaluation.rows


@pytest.mark.parametrize("name", ["composition", "subset-tuning"])
def test_rows_of_no_part_see_it(name, without_noise):
    """Test rows neither train nor choose: whatever they hold, the model is the same."""
    plan = make_plan(asked(name, **TESTED))
    held, rows = set(split(plan).test.tolist()), table()
    others = {**rows, "y": ["no" if i in held else y for i, y in enumerate(rows["y"])],
              "x": [0.5 if i in held else x for i, x in enumerate(rows["x"])]}  # fmt: skip
    first, second = run(plan, rows, seed=1), run(plan, others, seed=1)
    assert torch.equal(first.winner.parameters, second.winner.parameters)
    assert first.winner.noisy_score == second.winner.noisy_score
    assert counts_of(first)["class by answer"][1].sum() > 0
    assert counts_of(second)["class by answer"][1].sum() == 0


@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS], ids=["classes", "numbers"])
def test_one_row_moves_one_count_of_each_level_by_one(schema, without_noise):
    plan = make_plan(spec(schema, groups="c", **TESTED))
    numbers = schema is NUMBERS
    rows, place = table(numbers=numbers), int(split(plan).test[3])
    full = run(plan, rows, seed=1).evaluation
    empty = {name: [None if i == place else cell for i, cell in enumerate(cells)]
             for name, cells in rows.items()}  # fmt: skip
    null = run(plan, empty, seed=1).evaluation
    for name, level in full.levels.items():
        moved = level.array() - null.levels[name].array()
        assert sorted(moved.ravel().tolist()) == [*[0] * (moved.size - 1), 1], name
    assert sum(level.array().sum() for level in full.levels.values()) > 0


def groups_of(plan, rows, without: int | None = None) -> np.ndarray:
    """The counts by group, [group, cell]."""
    seen = []
    one = evaluator(plan.spec.classes, plan.spec.schema.target.bounds)
    watched = SimpleNamespace(
        levels=one.levels, grouped=one.grouped,
        evaluation=lambda n, noise, counts, column, groups, unit: seen.append((column, groups)),
    )  # fmt: skip
    if without is not None:
        rows = {name: [None if i == without else cell for i, cell in enumerate(cells)]
                for name, cells in rows.items()}  # fmt: skip
    randomness = Randomness.simulation(1)
    data = PrivateData.open(plan, rows, None, None, randomness, Journal())
    own = SimpleNamespace(evaluator=watched, count_noise=plan.count_noise, spec=plan.spec)
    kept = [Outcome(Draw(0, 0), torch.zeros(5), 0.0, 0.0)]
    evaluate(own, models_of(plan), kept, data, randomness)
    ((column, groups),) = seen
    assert column == "c"
    assert [name for name, _ in groups] == ["a", "b"]
    return np.array([counts for _, counts in groups])


def test_a_row_is_counted_in_its_own_group_alone(without_noise):
    plan = make_plan(spec(groups="c", **TESTED))
    rows, held = table(), split(plan).test
    found = groups_of(plan, rows)
    for place, group in enumerate("ab"):
        own = sum(rows["c"][i] == group for i in held)
        assert found[place].sum() == own > 0
    moved = found - groups_of(plan, rows, without=int(held[0]))
    assert sorted(np.abs(moved).ravel())[-2:] == [0, 1]


@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS], ids=["classes", "numbers"])
def test_a_group_without_rows_has_none(schema, without_noise):
    plan = make_plan(spec(schema, groups="c", **TESTED))
    rows = {**table(numbers=schema is NUMBERS), "c": ["a"] * 400}
    assert groups_of(plan, rows).sum((1, *range(2, groups_of(plan, rows).ndim))).tolist() == [
        100,
        0,
    ]


def test_groups_cost_noise_and_no_epsilon():
    alone, by = make_plan(spec(**TESTED)), make_plan(spec(groups="c", **TESTED))
    assert by.test_noise == alone.test_noise
    assert alone.count_noise == pytest.approx(alone.test_noise * np.sqrt(2))
    assert by.count_noise == pytest.approx(by.test_noise * np.sqrt(3))
    assert by.epsilon == alone.epsilon
    assert by.public()["evaluation"] == {"rows": 100, "noise": by.test_noise, "groups": "c"}


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_test_row_pays_no_more_than_others(name):
    """In epsilon and at every order; with a hundredth less noise it would."""
    plan = make_plan(asked(name, **TESTED))
    costs = plan.role_epsilons
    assert costs["test"] <= max(costs["training"], costs.get("validation", 0.0))
    assert plan.epsilon <= plan.spec.epsilon
    both = plan.role_costs
    without = replace(both, testing=None)
    assert (
        both.curve(plan.delta).values <= without.curve(plan.delta).at(both.curve(plan.delta).orders)
    ).all()


def test_a_dearer_evaluation_is_charged():
    plan = make_plan(spec(**TESTED))
    with pytest.raises(InputError, match="plan costs epsilon"):
        replace(plan, test_noise=plan.test_noise / 4)
    cheap = make_plan(replace(plan.spec, epsilon=12.0))
    paid = replace(plan, spec=replace(plan.spec, epsilon=50.0), test_noise=plan.test_noise / 4)
    assert paid.epsilon > plan.epsilon
    assert paid.spending.epsilon == pytest.approx(paid.role_epsilons["test"])
    assert cheap.test_noise < plan.test_noise


def test_the_ledger_is_charged_the_dearest_role():
    """Composed with others, an evaluation costs what its curve says."""
    plan = make_plan(spec(**TESTED))
    dear = replace(plan, spec=replace(plan.spec, epsilon=50.0), test_noise=plan.test_noise / 4)
    own = guarantee.rdp_curve(Gaussian(dear.test_noise))
    found = dear.role_costs.curve(plan.delta)
    assert (found.values >= own.at(found.orders)).all()


def test_a_plan_without_test_rows_has_no_noise_for_them():
    plan = make_plan(spec())
    assert plan.test_noise is None
    assert plan.evaluator is None
    assert "evaluation" not in plan.public()
    with pytest.raises(InputError, match="test_noise"):
        replace(plan, test_noise=3.0)


def test_a_module_and_numbers_are_evaluated(without_noise):
    wards = SCHEMA.model_copy(update={"target": Target(column="y", classes=("a", "b", "c"))})
    search = HonestSearch(
        lambda: nn.Linear(4, 3), schema=wards, epsilon=50.0, delta=1e-4, random_state=1, steps=5,
        test_share=0.2,
    )  # fmt: skip
    search.fit({**table(), "y": ["a", "b", "c", "a"] * 100})
    assert set(counts_of(search.release_)) == {
        "right", "right by class", "probability of the class", "class by answer",
    }  # fmt: skip
    assert search.evaluation_["accuracy"].baseline is not None
    release = run(make_plan(spec(NUMBERS, **TESTED)), table(numbers=True), seed=1)
    assert release.evaluation["R2"].unit == "number"
    assert "off by" in release.evaluation.sentence


def test_it_is_released_paid_for_and_kept(tmp_path):
    ledger = Ledger.create(tmp_path / "l.ledger", schema=SCHEMA, epsilon=3.0, delta=1e-4)
    release = run(make_plan(spec(groups="c", **TESTED)), table(), ledger, folder=tmp_path / "run")
    verify(tmp_path / "run", ledger)
    again = load(tmp_path / "run").card.evaluation
    assert again == release.evaluation == release.card.evaluation
    assert [one.group for one in again.groups] == ["a", "b"]
    (access,) = [one for one in release.card.covered if "test rows" in one.what]
    assert access.noise == release.plan.count_noise
    assert "test rows neither train nor choose" in release.card.prose()


def test_the_rule_for_its_size():
    assert rows_to_test(999, 10.0, "auto") == 0
    assert rows_to_test(1000, 2.0, "auto") == 100
    assert rows_to_test(10_000, 0.1, "auto") == 0
    assert rows_to_test(48842, 1.0, "auto") == 4884
    assert rows_to_test(100, 0.1, 0.3) == 30


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"test_share": 1.0}, "test_share"),
        ({"test_share": -0.1}, "test_share"),
        ({"test_share": "often"}, "test_share"),
        ({"test_share": True}, "test_share"),
        ({"test_share": float("nan")}, "test_share"),
        ({"test_share": 0.001}, "leaves no rows to test"),
        ({"test_share": 0.5, "validation": 0.6, "grid": "kappa-4"}, "rows|validation"),
        ({"groups": "c"}, "test_share"),
        ({"groups": "q", "test_share": 0.1}, "no column of the schema"),
        ({"groups": "x", "test_share": 0.1}, "no declared categories"),
        ({"groups": 3, "test_share": 0.1}, "groups"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_charged(given, words):
    with pytest.raises(InputError, match=words) as found:
        make_plan(spec(**given))
    assert "\n" not in str(found.value)


def test_groups_are_refused_where_there_are_no_test_rows():
    with pytest.raises(InputError, match=r"groups='c': are of test rows, and 400 rows"):
        make_plan(spec(groups="c", test_share="auto"))


def test_a_group_is_read_in_place():
    """24 equal rows, and an edge between what they give in a batch of 24 and in one of 23: were the
    rows of a group packed together, one record that leaves would move the 23 others."""
    wide = tuple(Numeric(name=f"n{i}", bounds=(0.0, 1.0), encode="linear") for i in range(20))
    group = Categorical(name="c", categories=("a", "b"), rare="keep")
    schema = Schema(name="wide", columns=(*wide, group), target=SCHEMA.target, row_scale=1.0)
    plan = make_plan(spec(schema, groups="c", model="mlp", rows=120, steps=4, test_share=0.2))
    source = np.random.default_rng(0)
    rows = {f"n{i}": [float(x)] * 120 for i, x in enumerate(source.random(20))}
    rows |= {"c": ["a"] * 120, "y": ["yes"] * 120}
    left = int(split(plan).test[0])
    gone = {name: [None if i == left else x for i, x in enumerate(cells)]
            for name, cells in rows.items()}  # fmt: skip
    (model,) = models_of(plan)
    for seed in range(5):
        parameters = torch.randn(1, size(model), generator=torch.Generator().manual_seed(seed))
        counts = []
        for table_ in (rows, gone):
            data = PrivateData.open(plan, table_, None, None, Randomness.simulation(1), Journal())
            first = data.of(Draw(0, 0)).test.groups[0]
            counts.append(torch.cat([part for part, _, _ in _outputs(model, parameters, first)], 1))
        full, null = (one.flatten() for one in counts)
        assert len(full) == len(null) == 24
        assert (full != null).sum() <= 1
