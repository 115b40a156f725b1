"""Settings of one grid may choose their model and their encoding: what they share and what not."""

from __future__ import annotations

import pytest

from honestdp import InputError, make_plan
from honestdp.planning.grid import Grid
from honestdp.planning.pipelines import open_columns
from honestdp.planning.questions import AboutColumns, AboutNorms
from honestdp.privacy.events import Gaussian, Repeated
from honestdp.schema import Boolean, Categorical, Numeric, Schema, Target
from search_tables import spec

MODELS = [
    {"model": "logistic", "encode": "linear"},
    {"model": "logistic", "encode": "both"},
    {"model": "mlp", "module__width": 3},
    {"model": "mlp", "module__width": 5, "kappa": 1.0},
]


def schema(**changes) -> Schema:
    columns = (
        Numeric(name="a", bounds=(0, 1), **changes),
        Numeric(name="b", bounds=(0, 1), encode="linear"),
        Categorical(name="c", categories=("x", "y")),
    )
    return Schema(name="t", columns=columns, target=Target(column="z", classes=("no", "yes")))


def mixed(grid=MODELS, own: Schema | None = None, **options):
    return spec(own or schema(), grid=grid, procedure="composition", **options)


def test_each_setting_has_its_model_and_its_encoding():
    found = mixed()
    assert [(one.model, one.encode) for one in found.pipelines] == [
        ("logistic", "linear"), ("logistic", "both"), ("mlp", None)]  # fmt: skip
    assert found.pipeline_of == (0, 1, 2, 2)
    encoded = [one.schema.columns[0].encode_as for one in found.encodings]
    assert encoded == ["linear", "both", "spline"]
    declared = {one.schema.columns[1].encode_as for one in found.encodings}
    assert declared == {"linear"}  # what the schema says stays
    assert found.model_name == "logistic, mlp"


def test_settings_without_a_rule_are_the_models_own():
    grid = mixed().grid
    assert {one["rule"] for one in grid.settings} == {"balanced"}
    assert [one["kappa"] for one in grid.settings] == [3.0, 3.0, 3.0, 1.0]
    given = [{"model": "mlp", "rule": "dpsgd", "learning_rate": 0.5}]
    assert mixed(given).grid.settings[0] == given[0]


def test_rows_are_encoded_once_for_models_that_read_them_alike():
    found = mixed([{"model": "logistic"}, {"model": "mlp"}, {"encode": "spline"}])
    assert len(found.pipelines) == 3
    assert [found.encoding_of(i) for i in range(3)] == [0, 0, 1]


def test_products_of_models_and_encodings():
    grid = Grid.of({"model": ["logistic", "mlp"], "encode": ["linear", "bins"]})
    assert len(grid) == 4
    assert len(mixed(grid).encodings) == 2


def test_a_plan_of_one_pipeline_says_nothing_of_several():
    assert not {"encodings", "row_norms", "row_norm_of"} & make_plan(spec(schema())).public().keys()
    told = make_plan(mixed()).public()
    assert len(told["encodings"]) == len(told["row_norm_of"]) == 3
    words = str(make_plan(mixed()))
    assert "4 settings of logistic, numbers linear; logistic, numbers both; mlp" in words
    assert "encoding: for mlp: a as a curve" in words


def test_every_norm_that_is_learnt_is_paid_for():
    plain = [Numeric(name=f"v{i}", bounds=(0, 9), encode="linear") for i in range(9)]
    columns = (*plain, Numeric(name="w", bounds=(0, 9)))  # most of a row's norm is unknown
    own = schema().model_copy(update={"columns": columns})
    plan = make_plan(mixed([{"encode": "linear"}, {"encode": "spline"}], own))
    assert [one.learns_scale for one in plan.spec.encodings] == [True, True]
    norms = plan.questions.get(AboutNorms)
    assert norms.encodings == 2
    assert norms.event == Repeated(Gaussian(norms.noise_multiplier), 2)
    assert set(plan.learns) == {" rows", " 1  rows"}


def learnt(**more) -> Schema:
    column = Numeric(name="a", bounds="learn", outer=(0, 9), **more)
    return schema().model_copy(update={"columns": (column, *schema().columns[1:])})


def test_columns_that_are_alike_are_asked_about_once():
    plan = make_plan(mixed([{"model": "logistic"}, {"model": "mlp"}], learnt(encode="linear")))
    assert plan.questions.get(AboutColumns).columns == ("a",)
    plan = make_plan(mixed([{"encode": "linear"}, {"encode": "bins"}], learnt()))
    assert plan.questions.get(AboutColumns).columns == ("a", "a")
    assert [one.key for one in open_columns(plan.spec.encodings, "columns")] == ["a", " 1 a"]
    assert set(plan.learns) == {"a", " 1 a"}


@pytest.mark.parametrize(
    ("grid", "own", "message"),
    [
        ([{"encode": "waves"}], None, "encode='waves': must be one of linear, bins, both, spline"),
        ([{"encode": 3}], None, "grid: encode must be a text"),
        ([{"model": 3}], None, "grid: model must be a text"),
        ([{"model": "tree"}], None, "model='tree': must be one of"),
        ([{"model": "linear"}], None, "model='linear': the target has classes"),
        ([{"model": "logistic", "module__width": 3}], None, "module__width: logistic has no such"),
        ([{"model": "mlp", "kapa": 3}], None, "grid='kapa': cannot be tuned"),
        ([{"encode": "bins"}], Schema(name="t", columns=(Boolean(name="a"),),
         target=Target(column="z", classes=("no", "yes"))), "no column of the schema leaves"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_before_anything_is_charged(grid, own, message):
    from honestdp.runner.training import models_of

    with pytest.raises(InputError) as caught:
        models_of(make_plan(mixed(grid, own)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_named_grids_of_models_and_encodings():
    found = mixed("models-4")
    assert [(one.model, one.encode) for one in found.pipelines] == [
        ("logistic", "linear"), ("logistic", "both"), ("mlp", None)]  # fmt: skip
    assert [one.get("module__width") for one in found.grid.settings] == [None, None, 32, 100]
    found = mixed("encodings-3")
    assert [one.schema.columns[0].encode_as for one in found.encodings] == [
        "linear", "both", "spline"]  # fmt: skip
    number = schema().model_copy(update={"target": Target(column="z", bounds=(0, 1))})
    assert mixed("models-4", number).pipelines[0].model == "linear"
    assert {one.model for one in mixed("encodings-3", model="mlp").pipelines} == {"mlp"}
