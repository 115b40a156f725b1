"""Grids by name: the paper's stay as they are, ours follow the task, or are refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score
from torch import nn

from honestdp import Grid, HonestSearch, InputError, Schema, make_plan, run
from honestdp.engine.models import Module
from honestdp.models import describe
from honestdp.models.base import balanced
from honestdp.planning.named_grids import NAMED, GridFacts
from honestdp.planning.spec import Spec
from honestdp.schema import Counts, Numeric, Text
from search_tables import NUMBERS, SCHEMA

PAPER = ("dpsgd-40", "dpmomentum-280", "dpadam-4", "dpadamwosm")
WIDE = SCHEMA.model_copy(update={"columns": (*SCHEMA.columns, Text(name="note", buckets=64))})
FACTS = [
    GridFacts(describe(model, 9, classes), classes, wide)
    for model, classes in (("logistic", 2), ("linear", None), ("mlp", 3), ("mlp", None))
    for wide in (False, True)
]


def settings(name: str, schema: Schema, **more: object) -> list[dict[str, object]]:
    spec = Spec(schema=schema, rows=400, epsilon=1.0, grid=name, **more)
    assert isinstance(spec.grid, Grid)
    return [dict(setting) for setting in spec.grid.settings]


def test_the_papers_grids_are_the_same_for_every_task() -> None:
    for name in PAPER:
        assert all(NAMED[name].grid(facts) == Grid.of(name) for facts in FACTS)
    assert len(Grid.of("dpsgd-40")) == 40
    assert Grid.of("dpadam-4") == Grid.product(rule="dpadam", clip_norm=[0.1, 0.2, 0.5, 1.0])
    assert dict(Grid.of("dpsgd-40").settings[-1]) == {
        "rule": "dpsgd", "learning_rate": 1.0, "clip_norm": 1.0,
    }  # fmt: skip


def test_every_named_grid_has_as_many_settings_as_it_says() -> None:
    for name, named in NAMED.items():
        assert named.name == name
        assert named.summary
        assert all(len(named.grid(facts)) == len(named) for facts in FACTS)


def test_classes_of_an_ordinary_table_have_what_ledgers_hold() -> None:
    expected = [{"rule": "balanced", "kappa": k, "average": True} for k in (1.0, 2.0, 4.0, 8.0)]
    assert settings("kappa-4", SCHEMA) == settings("kappa-4", SCHEMA, model="mlp") == expected
    assert settings("balanced", SCHEMA) == [{"rule": "balanced", "kappa": 3.0, "average": True}]


@pytest.mark.parametrize(
    ("schema", "default"), [(NUMBERS, balanced(None)), (WIDE, balanced(2, True))]
)
def test_other_tasks_have_kappas_around_their_own_default(schema: Schema, default: dict) -> None:
    made = settings("kappa-4", schema)
    kappas = [setting.pop("kappa") for setting in made]
    assert kappas == pytest.approx([default["kappa"] * (n / 3) for n in (1, 2, 4, 8)])
    rest = {name: value for name, value in default.items() if name != "kappa"}
    assert made == [rest] * 4
    assert settings("balanced", schema) == [default]


def test_whether_rows_are_wide_is_what_the_default_goes_by() -> None:
    counts = tuple(Counts(name=f"w{i}") for i in range(3))
    schema = SCHEMA.model_copy(update={"columns": counts})
    plan = make_plan(Spec(schema=schema, rows=400, epsilon=1.0))
    assert settings("balanced", schema) == [dict(s) for s in plan.grid.settings]


def test_without_the_facts_it_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"grid='kappa-4': .*give the name itself as grid="):
        Grid.of("kappa-4")
    with pytest.raises(
        InputError, match=r"grid='kappa-5': is no known grid; choose one of dpsgd-40, .*kappa-4"
    ):
        Grid.of("kappa-5")
    with pytest.raises(InputError, match="grid='kappa-5': is no known grid"):
        settings("kappa-5", SCHEMA)


def test_a_model_whose_inputs_have_no_known_norm_is_refused() -> None:
    net = Module(nn.Linear(SCHEMA.width, 1), classes=2)
    said = r"grid='kappa-4': .*unknown for the model Linear of .*; take dpadam-4, or leave"
    with pytest.raises(InputError, match=said):
        settings("kappa-4", SCHEMA, model=net)
    assert len(settings("dpadam-4", SCHEMA, model=net)) == 4
    rows = {name: [0.0] * 4 for name in SCHEMA.input_names}
    search = HonestSearch(
        nn.Linear(SCHEMA.width, 1), "kappa-4", epsilon=1.0, schema=SCHEMA, random_state=0
    )
    with pytest.raises(InputError, match=said):
        search.fit(rows, [SCHEMA.target.classes[0]] * 4)


def test_every_candidate_of_kappa_4_learns_a_regression() -> None:
    """With the kappas of classes two of the four have an R2 below 0 here."""
    inputs = np.random.default_rng(5).random((2000, 4))
    table = np.column_stack([inputs, inputs.sum(axis=1)])
    columns = [Numeric(name=f"x{i}", bounds=(0, 1), encode="linear") for i in range(4)]
    schema = Schema(name="sum", target={"column": "y", "bounds": [0, 4]}, columns=columns)
    asked = {"schema": schema, "rows": 1500, "epsilon": 5.0, "procedure": "composition"}
    release = run(make_plan(Spec(grid="kappa-4", **asked)), table[:1500], seed=1)
    kappas = set()
    for one in release.candidates:
        kappas.add(one.setting["kappa"])
        assert r2_score(table[1500:, -1], one.predict(table[1500:], warn=False)) > 0.8
    assert len(kappas) == 4
