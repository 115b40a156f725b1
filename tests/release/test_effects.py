"""The effects of a released linear model, and how much of them is noise."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import torch
from releases import NUMBERS, SCHEMA, released, table

import honestdp
from honestdp import InputError, Spec, make_plan
from honestdp.candidates import Candidate
from honestdp.engine.models import Linear
from honestdp.engine.noise_alone import noise_sd, simulated_noise_sd
from honestdp.engine.train import Schedule
from honestdp.release.effects import effects_of
from honestdp.release.predictor import Predictor
from honestdp.release.weight_noise import weight_noise_sd
from honestdp.runner.run import run
from honestdp.schema import (
    Boolean,
    Categorical,
    Column,
    Counts,
    Cross,
    Date,
    Entries,
    Hashed,
    Numeric,
    Ordinal,
    Representative,
    Schema,
    Target,
)
from honestdp.schema.cells import Cells

LINEAR = ("untuned", "learnt", "numbers", "composition", "pick", "repeats", "threshold", "subset")
THREE = SCHEMA.model_copy(update={"target": Target(column="y", classes=("a", "b", "c"))})


def predictor(schema: Schema, weights: Any = None, seed: int = 0) -> Predictor:
    """A linear model with these parameters, or with drawn ones."""
    classes = None if schema.target.classes is None else len(schema.target.classes)
    model = Linear(schema.width, classes)
    drawn = torch.from_numpy(np.random.default_rng(seed).standard_normal(model.parameters))
    parameters = drawn if weights is None else torch.as_tensor(weights)
    return Predictor({}, None, schema, model, parameters.float())


def outputs(of: Predictor, rows: dict[str, list[Any]]) -> Any:
    inputs = torch.from_numpy(of.schema.encode_inputs(rows, sparse=False))
    return of.model.outputs(of.parameters[None], inputs)[0].double().numpy()


@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS, THREE])
def test_effects_add_up_to_what_the_model_says(schema):
    """The base and one effect of each column are the model's own output for such a row."""
    one = predictor(schema)
    found = effects_of(one, None)
    for x, c in ((0.0, "a"), (10.0, "b"), (10.0, "(other)")):
        added = np.array(found.base)
        for effect in found:
            if effect.label in (f"{x:g}", c):
                added[found.classes.index(effect.class_)] += effect.contribution
        said = outputs(one, {"x": [x], "c": [c]})[0]
        if schema is NUMBERS:
            said = 5 + 5 * said  # the bounds are 0 and 10
        elif schema is THREE:
            said = said - said.mean()
        assert added == pytest.approx(said, abs=1e-5)


def test_bars_are_centred_and_lines_go_from_bound_to_bound():
    found = effects_of(predictor(SCHEMA, [3.0, 1.0, 2.0, 6.0, 0.5]), 0.3)
    assert [(c.column, c.kind, c.size) for c in found.columns] == [
        ("c", "bars", 5),
        ("x", "line", 3),
    ]
    bars, line = (column.effects for column in found.columns)
    assert [(e.label, e.contribution) for e in bars] == [("a", -2), ("b", -1), ("(other)", 3)]
    assert [(e.label, e.position, e.contribution) for e in line] == [
        ("0", 0, -1.5),
        ("10", 10, 1.5),
    ]
    assert {e.class_ for e in found} == {"yes"}
    assert found.base == (0.5 + 1.5 + 3,)
    assert bars[0].noise_sd == pytest.approx(0.3 * np.sqrt(2 / 3))
    assert line[0].noise_sd == pytest.approx(0.15)
    assert len(found) == 5 == len(list(found))
    assert found[0] == bars[0]
    json.dumps(found.to_dict(), allow_nan=False)
    assert found[0].to_dict()["class"] == "yes"


def test_the_noise_of_effects_is_that_of_noisy_weights():
    for schema in (SCHEMA, NUMBERS, THREE):
        drawn = [effects_of(predictor(schema, seed=seed), 1.0) for seed in range(120)]
        wanted = {(e.column, e.label, e.class_): e.noise_sd for e in drawn[0]}
        for key, sd in wanted.items():
            values = [e.contribution for one in drawn for e in one
                      if (e.column, e.label, e.class_) == key]  # fmt: skip
            assert np.std(values) == pytest.approx(sd, rel=0.25)


class Binned(Column):
    """A number as bins of equal width and as itself; not registered, as effects do not ask."""

    kind: Literal["binned"] = "binned"
    edges: ClassVar[list[float]] = [0, 1, 2, 4]

    @property
    def encoded_names(self) -> list[str]:
        return [*(f"{self.name} in [{a}, {b})" for a, b in zip(self.edges, self.edges[1:])), "x"]  # noqa: B905

    @property
    def entries(self) -> int:
        return 2

    def encode(self, cells: Cells) -> Entries:
        values = np.clip(cells.numbers(), 0, 4)
        places = np.minimum(np.searchsorted(self.edges, values, side="right") - 1, 2)
        positions = np.column_stack([places, np.full(len(cells), 3)])
        return Entries(positions, np.column_stack([np.ones(len(cells)), values / 4]))

    def representatives(self) -> list[Representative]:
        middles = (np.array(self.edges[1:]) + self.edges[:-1]) / 2
        return [Representative(f"{m:g}", float(m), float(m)) for m in middles]


def test_a_number_with_bins_and_a_slope_is_one_curve():
    schema = SCHEMA.model_copy(update={"columns": (Binned(name="x"),)})
    found = effects_of(predictor(schema, [1.0, 0.0, 2.0, 4.0, 0.0]), 1.0)
    (column,) = found.columns
    assert column.kind == "curve"
    assert [e.position for e in column.effects] == [0.5, 1.5, 3.0]
    at = np.array([1 + 0.5, 0 + 1.5, 2 + 3.0])
    assert [e.contribution for e in column.effects] == pytest.approx(at - at.mean())


def test_a_kind_that_represents_nothing_shows_its_weights():
    class Plain(Binned):
        def representatives(self) -> list[Representative]:
            return []

    schema = SCHEMA.model_copy(update={"columns": (Plain(name="x"),)})
    (column,) = effects_of(predictor(schema, [1.0, 0.0, 2.0, 4.0, 0.0]), 0.5).columns
    assert column.kind == "bars"
    assert [e.contribution for e in column.effects] == [1, 0, 2, 4]
    assert {e.noise_sd for e in column.effects} == {0.5}
    assert column.effects[3].label == "x"


@pytest.mark.parametrize("kind", LINEAR)
def test_of_a_release_and_of_its_files(kind, tmp_path):
    release, _ = released(kind)
    found = release.effects()
    release.save(tmp_path / "run")
    assert honestdp.load(tmp_path / "run").effects() == found
    assert {column.column for column in found.columns} == {"x", "c"}
    assert all(effect.noise_sd > 0 for effect in found)


@pytest.mark.parametrize("kind", ["mlp", "module"])
def test_nothing_is_invented_for_networks(kind):
    with pytest.raises(InputError, match="is not linear"):
        released(kind)[0].effects()


def test_every_kind_of_column_has_effects():
    columns = (
        Numeric(name="n", bounds=(0, 100), encode="both", bins=4, missing="own"),
        Numeric(name="s", bounds=(0, 100), scale=(50, 10)),
        Boolean(name="b"), Ordinal(name="o", categories=["S", "M", "L"]), Counts(name="w"),
        Date(name="d", first="2020-01-01", last="2021-12-31"), Hashed(name="h", buckets=5),
        Categorical(name="c", categories=["x", "y"]), Cross(name="b and c", columns=["b", "c"]),
    )  # fmt: skip
    schema = Schema(name="all", columns=columns, target=SCHEMA.target, row_scale=0.5)
    one = predictor(schema)
    found = {column.column: column for column in effects_of(one, 0.1).columns}
    assert set(found) == {column.name for column in columns}
    assert {name: column.kind for name, column in found.items()} == {
        "n": "curve", "s": "curve", "b": "bars", "o": "bars", "w": "bars", "d": "bars",
        "h": "bars", "c": "bars", "b and c": "bars",
    }  # fmt: skip
    curve = found["n"].effects
    assert [e.label for e in curve] == ["0 to 25", "25 to 50", "50 to 75", "75 to 100", "(missing)"]
    assert [e.position for e in found["s"].effects] == [0, 30, 70, 100]
    rows = {"n": [12.5, None], "s": [1] * 2, "b": ["yes"] * 2, "o": ["S"] * 2, "w": [0] * 2,
            "d": ["2020-01-01"] * 2, "h": ["x"] * 2, "c": ["x"] * 2}  # fmt: skip
    said = outputs(one, rows)[:, 0]
    assert curve[0].contribution - curve[4].contribution == pytest.approx(said[0] - said[1], 1e-4)
    assert len(found["h"].effects) == 5
    assert "kind count are those before" in effects_of(one, None).note


def test_a_model_that_diverged_and_a_row_norm():
    with pytest.raises(InputError, match="not finite"):
        effects_of(predictor(SCHEMA, [np.nan] * 5), None)
    scaled = SCHEMA.model_copy(update={"row_norm": 2.0})
    assert "scaled to norm 2" in effects_of(predictor(scaled), None).note
    assert effects_of(predictor(SCHEMA), None).note == ""


RULES = ["dpsgd", "dpmomentum", "dpadam", "dpadamwosm", "dpadambc", "adadp"]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 7, 60])
def test_the_formula_of_dpsgd_is_what_null_rows_give(average, steps):
    one = Candidate(noise_multiplier=3.0, rule="dpsgd", learning_rate=0.7, clip_norm=0.2,
                    average=average)  # fmt: skip
    schedule = Schedule(steps=steps, lot_size=20)
    known, found = noise_sd(one, schedule, 9), simulated_noise_sd(one, schedule, 9)
    assert found == pytest.approx(known, rel=0.03)
    if not average:
        assert known == pytest.approx(0.7 * 3 * 0.2 / 20 * np.sqrt(steps))
    elif steps == 60:
        assert known == pytest.approx(0.7 * 3 * 0.2 / 20 * np.sqrt(steps * 2 / 3), rel=0.01)


def test_balanced_moves_a_logit_by_kappa():
    one = Candidate(noise_multiplier=3.0, rule="balanced", row_norm=2.5, kappa=2.0)
    assert noise_sd(one, Schedule(steps=50, lot_size=20), 9) == pytest.approx(2.0 / 2.5)


def spread_of_runs(**facts: Any) -> tuple[float, float]:
    """The standard deviation of released weights on rows without targets, and what is stated."""
    wards = Categorical(name="c", categories=[str(i) for i in range(400)])
    schema = SCHEMA.model_copy(update={"columns": (Numeric(name="x", bounds=(0, 1)), wards)})
    spec = {"schema": schema, "rows": 60, "epsilon": 2.0, "delta": 1e-4, "steps": 12, "lot_size": 8}
    rows = {"x": [0.5] * 60, "c": ["1"] * 60, "y": ["?"] * 60}
    found = [run(make_plan(Spec(**spec | facts)), rows, seed=seed) for seed in range(4)]
    weights = torch.cat([one.predictor.parameters for one in found])
    stated = found[0].effects().noise_sd
    assert stated is not None
    return float(weights.std()), stated / (found[0].schema.row_scale or 1.0)


@pytest.mark.parametrize("setting", [
    {}, *({"rule": rule, "learning_rate": 0.3} for rule in RULES),
    {"rule": "dpadam", "average": True},
], ids=lambda setting: "-".join(map(str, setting.values())) or "default")  # fmt: skip
def test_the_stated_noise_is_that_of_whole_runs_on_null_rows(setting):
    grid = {"grid": [setting]} if setting else {}
    found, stated = spread_of_runs(**grid)
    assert stated == pytest.approx(found, rel=0.05)


def test_the_stated_noise_of_a_subsets_winner():
    grid = [{"rule": "dpsgd", "learning_rate": 0.3}] * 2
    facts = {"procedure": "subset-tuning", "subset": 0.5, "mean_runs": 2.0}
    found, stated = spread_of_runs(grid=grid, **facts)
    assert stated == pytest.approx(found, rel=0.05)


def test_a_card_without_the_facts_states_no_noise():
    card = released("untuned")[0].card
    setting = card.winner.setting
    assert weight_noise_sd(card, setting, 5) > 0
    for name in ("noise_multiplier", "steps", "lot_size", "row_norm"):
        facts = {n: v for n, v in card.declared_public.items() if n != name}
        less = card.model_copy(update={"declared_public": facts})
        assert weight_noise_sd(less, setting, 5) is None
    assert weight_noise_sd(card, {"rule": "of another package"}, 5) is None
    many = card.model_copy(update={"declared_public": {**card.declared_public, "steps": 2**31}})
    assert weight_noise_sd(many, {"rule": "dpadamwosm"}, 5) is None  # would take for ever


def test_the_largest_effect_is_first():
    rows = table()
    release = run(make_plan(Spec(schema=SCHEMA, rows=60, epsilon=200.0, delta=1e-4)), rows, seed=1)
    found = release.effects()
    assert found.columns[0].column == "x"
    assert found.columns[0].size > 5 * found.columns[0].noise_sd
    assert found.columns[0].effects[-1].contribution > 0
