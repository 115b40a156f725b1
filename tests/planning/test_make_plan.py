"""Plans: what is done is what was priced, within the budget, from public facts alone."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from torch import nn

from honestdp import Grid, InputError, make_plan
from honestdp.candidates import Candidate
from honestdp.engine import Linear, Module, TwoLayer, size
from honestdp.metrics.squared_error import SquaredError
from honestdp.planning.costs import default_delta
from honestdp.planning.plan import NO_PORTFOLIO
from honestdp.planning.questions import AboutColumns, AboutNorms, gaussian_mu
from honestdp.planning.role_costs import RoleCosts, Scoring, free_noise, priced_after
from honestdp.planning.spec import Spec
from honestdp.privacy import guarantee
from honestdp.privacy.events import Composition as Several
from honestdp.privacy.events import Gaussian, Pure, Repeated, Selection, training
from honestdp.privacy.runs import Capped, Poisson, geometric
from honestdp.privacy.spending import Budget
from honestdp.procedures.composition import Composition
from honestdp.procedures.random_repeats import RandomRepeats
from honestdp.procedures.subset_tuning import SubsetTuning
from honestdp.procedures.threshold import Threshold
from honestdp.procedures.untuned import Untuned
from honestdp.schema import Numeric
from search_tables import GRID, NUMBERS, PROCEDURES, SCHEMA, asked, spec


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_plan_costs_no_more_than_asked_on_either_side(name):
    plan = make_plan(asked(name))
    assert 0.9 * 3.0 < plan.epsilon <= 3.0
    assert plan.delta == 1e-4
    assert all(0 < cost <= 3.0 for cost in plan.role_epsilons.values())
    assert ("validation" in plan.role_epsilons) == (name != "untuned")
    assert plan.training.n == (400 if name == "untuned" else 320)
    json.dumps(plan.public(), allow_nan=False)
    shown = float(str(plan).split()[2])
    assert plan.epsilon <= shown <= plan.epsilon * 1.001


def test_both_sides_go_through_the_whole_procedure():
    plan = make_plan(asked("random-repeats"))
    law = geometric(1 / 4)
    train = training(40 / 320, plan.noise_multiplier, 20)
    score = Gaussian(plan.role_costs.scoring.noise)
    for side, run in {"training": train, "validation": score}.items():
        alone = guarantee.profile(Selection(run, law)).epsilon(1e-4)
        assert plan.role_epsilons[side] == pytest.approx(alone, rel=1e-6)
    plan = make_plan(asked("composition"))
    counts = Repeated(Gaussian(plan.role_costs.scoring.noise), 4)  # all four, jointly
    assert plan.role_epsilons["validation"] == guarantee.epsilon(counts, 1e-4)
    plan = make_plan(asked("pick"))
    assert plan.role_costs.scoring.event == Pure(
        math.nextafter(1 / plan.role_costs.scoring.noise, 1)
    )
    assert plan.role_epsilons["validation"] <= 1 / plan.role_costs.scoring.noise


@pytest.mark.parametrize("name", [name for name in PROCEDURES if name != "untuned"])
def test_scores_are_as_exact_as_they_are_free(name):
    """No dearer than training at any order; a tenth more precise, they would be somewhere."""
    plan = make_plan(asked(name))
    sides = plan.role_costs
    both, train = sides.curve(1e-4), sides.procedure.curve(sides.training, sides.training, 1e-4)
    known = dict(zip(train.orders.tolist(), train.values.tolist(), strict=True))
    assert all(v <= known[a] * (1 + 1e-9) for a, v in zip(both.orders, both.values, strict=True))
    run = guarantee.rdp_curve(sides.training)
    cheap = guarantee.rdp_curve(type(sides.scoring.event)(_sharper(sides.scoring)))
    count = 4 if name == "pick" else 1
    at = np.intersect1d(run.orders, cheap.orders)
    gap = [cheap.at(at)[i] - count * run.at(at)[i] for i in range(len(at))]
    assert max(gap) > 0


def _sharper(scoring) -> float:
    return 1.1 / scoring.noise if scoring.kind == "pick" else scoring.noise / 1.1


def test_the_ledger_is_charged_the_larger_side_at_every_order():
    event = training(0.1, 2.0, 30)
    noise = free_noise(Composition(4), "pld", event, 1e-5)
    dearer = RoleCosts.of(Composition(4), "pld", event, noise / 3)
    assert dearer.epsilon(1e-5)["validation"] > dearer.epsilon(1e-5)["training"]
    score = guarantee.rdp_curve(Repeated(Gaussian(dearer.scoring.noise), 4))
    found = dearer.curve(1e-5)
    at = np.intersect1d(found.orders, score.orders)
    assert np.all(found.at(at) >= score.at(at))


def test_a_dearer_score_is_charged(monkeypatch):
    """Were scores ever dearer than training, the plan would say so, or not be made."""
    monkeypatch.setattr("honestdp.planning.make.free_noise", lambda *given: free_noise(*given) / 3)
    with pytest.raises(InputError, match=r"plan costs epsilon=.*, its spec allows 3"):
        make_plan(asked("composition"))


def test_liu_talwar_enters_as_a_pair_and_is_dearer():
    paper, ours = make_plan(asked("liu-talwar")), make_plan(asked("random-stopping"))
    assert paper.spending.slack == paper.delta
    assert ours.spending.slack == 0
    assert paper.noise_multiplier > 1.5 * ours.noise_multiplier
    assert paper.procedure.law == ours.procedure.law == Capped(geometric(1 / 4), 185)


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_changed_plan_is_priced_anew(name):
    plan = make_plan(asked(name))
    for field, value in {
        "noise_multiplier": plan.noise_multiplier * 0.99,
        "score_noise": 0.01,
        "spec": replace(plan.spec, rows=200),  # a larger share of the rows in every lot
        "bound": "magic",
    }.items():
        with pytest.raises(InputError):
            replace(plan, **{field: value})
    more = replace(plan, noise_multiplier=2 * plan.noise_multiplier)
    assert more.epsilon <= plan.epsilon
    for field in ("training", "role_costs", "spending", "questions", "grid"):
        with pytest.raises((TypeError, ValueError)):
            replace(plan, **{field: getattr(plan, field)})


def test_a_procedure_is_for_its_grid_and_has_scores_or_none():
    plan = make_plan(asked("random-repeats"))
    with pytest.raises(InputError, match="is for 5 settings"):
        replace(plan, procedure=RandomRepeats(5, geometric(0.25)))
    with pytest.raises(InputError, match="score_noise=None"):
        replace(plan, score_noise=None)
    with pytest.raises(InputError, match="plan costs"):
        replace(plan, procedure=RandomRepeats(4, geometric(0.001)))
    with pytest.raises(InputError, match="untuned trains one"):  # four for the price of one
        replace(plan, procedure=Untuned(4), bound="pld", score_noise=None)
    with pytest.raises(InputError, match="needs a winner"):
        replace(plan, procedure=SubsetTuning(4, Poisson(2000.0), 0.3))
    with pytest.raises(InputError, match="threshold=None"):
        replace(plan, procedure=Threshold(4, 0.25))
    with pytest.raises(InputError, match="would make"):
        replace(plan, procedure=RandomRepeats(4, geometric(1e-7)))


@pytest.mark.parametrize("delta", [1e-5, 3e-5, 1e-8, 1e-6, 7e-7])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.3])
def test_shares_never_add_up_to_more_than_the_whole(delta, share):
    learn = SCHEMA.model_copy(
        update={"columns": (*SCHEMA.columns, Numeric(name="w", outer=(0.0, 9.0), bounds="learn"))}
    )
    plan = make_plan(spec(learn, delta=delta, learn_share=share))
    assert plan.delta <= delta
    assert plan.epsilon <= 3.0
    assert Budget(3.0, delta).covers([plan.spending])


def test_learnt_bounds_pay_their_share():
    learn = SCHEMA.model_copy(
        update={"columns": (*SCHEMA.columns, Numeric(name="w", outer=(0.0, 9.0), bounds="learn"))}
    )
    plan, plain = make_plan(spec(learn)), make_plan(spec())
    learning = plan.questions.get(AboutColumns)
    assert learning.columns == ("w",)
    share = 1 / learning.noise_multiplier**2 / gaussian_mu(3.0, 1e-4) ** 2
    assert share == pytest.approx(0.05)
    assert plan.role_epsilons["training"] < plan.epsilon <= 3.0
    assert plan.delta == 1e-4
    assert plain.noise_multiplier < plan.noise_multiplier < 1.1 * plain.noise_multiplier
    assert "learnt with noise: w" in str(plan)
    curve = guarantee.rdp_curve(learning.event)
    orders = plan.spending.curve.orders
    assert np.all(plan.spending.curve.values >= curve.at(orders))


def test_laws_have_names():
    for name, shape in {"geometric": 1.0, "logarithmic": 0.0}.items():
        named, plain = (asked("random-repeats", shape=given) for given in (name, shape))
        assert make_plan(named).procedure == make_plan(plain).procedure


def test_what_is_public_cannot_be_changed():
    plan = make_plan(asked("composition", grid="dpadam-4"))
    with pytest.raises(TypeError):
        plan.grid.settings[0]["clip_norm"] = 9.0
    with pytest.raises(TypeError):
        plan.role_epsilons["training"] = 0.0


def test_auto_takes_the_least_noise_and_says_why():
    assert make_plan(spec()).procedure.name == "untuned"
    assert "no grid given" in make_plan(spec()).reason
    assert "one setting" in make_plan(spec(grid="dpadamwosm")).reason
    plan = make_plan(spec(grid=GRID))
    rivals = [
        make_plan(asked("composition")),
        make_plan(asked("random-repeats", shape=1.0, hit_probability=0.9)),
        make_plan(asked("random-repeats", shape="poisson", hit_probability=0.9)),
        make_plan(asked("random-subset", hit_probability=0.9)),
    ]
    assert plan.noise_multiplier <= min(rival.noise_multiplier for rival in rivals)
    assert plan.procedure.hit_probability >= 0.9
    assert f"{plan.noise_multiplier:.3g}" in plan.reason
    few = make_plan(spec(grid=GRID, most_runs=4))
    assert few.procedure.name == "random-subset"
    with pytest.raises(InputError, match=r"most_runs=2.*no search among 4 settings"):
        make_plan(spec(grid=GRID, most_runs=2))


@pytest.mark.parametrize(
    ("grid", "rows", "chosen"),
    [
        (GRID, 20_000, "subset-tuning"),
        (GRID, 9_990, "random-subset"),  # a tenth is too few to choose on
        ([{"model": "logistic"}, {"model": "mlp"}], 20_000, "random-subset"),
        ({"model": "mlp", "module__width": [4, 8]}, 20_000, "random-subset"),
        ({"model": "mlp", "clip_norm": [0.3, 1.0]}, 20_000, "subset-tuning"),
    ],
    ids=["steps", "few rows", "models", "sizes", "one model"],
)
def test_a_tenth_of_the_rows_is_searched_where_its_best_is_the_best_for_all(grid, rows, chosen):
    plan = make_plan(Spec(schema=SCHEMA, rows=rows, epsilon=1.0, grid=grid))
    assert plan.procedure.name == chosen
    assert plan.procedure.hit_probability == pytest.approx(0.9, abs=1e-5)


def test_too_many_settings_for_any_search_are_told_the_limit_on_runs():
    """Not that random-subset prices no more than 50, which is no way out."""
    rates = [i / 1000 for i in range(1, 10_001)]
    with pytest.raises(InputError, match=r"most_runs=1000.*among 10000 settings.*fewer settings"):
        make_plan(spec(grid={"rule": "dpsgd", "learning_rate": rates}))


@pytest.mark.parametrize("name", ["hit_probability", "most_runs"])
def test_options_that_have_a_field_may_be_given_either_way(name):
    value = {"hit_probability": 0.5, "most_runs": 4}[name]
    by_field, by_option = spec(**{name: value}), spec(procedure_options={name: value})
    assert getattr(by_option, name) == getattr(by_field, name) == value
    assert by_option.procedure_options == by_field.procedure_options == {}
    with pytest.raises(InputError, match="cap=3: random-subset has no such option"):
        spec(procedure="random-subset", procedure_options={"cap": 3})


def test_a_plan_without_a_grid_says_why_no_other_model_is_tried():
    plan = make_plan(spec())
    assert str(plan).count(NO_PORTFOLIO) == 1
    assert NO_PORTFOLIO not in json.dumps(plan.public())  # fingerprints of such plans stay
    chosen = spec(grid=GRID), spec(grid="dpadamwosm"), spec(procedure="untuned")
    for one in (*chosen, spec(model=Module(nn.Linear(SCHEMA.width, 1), classes=2))):
        assert NO_PORTFOLIO not in str(make_plan(one))


def test_the_defaults_are_functions_of_public_facts():
    opened = tuple(c.model_copy(update={"encode_as": None}) for c in SCHEMA.columns[:2])
    left = {"columns": (*opened, SCHEMA.columns[2]), "row_scale": None}
    schema = SCHEMA.model_copy(update=left)  # leaves its encoding open
    given = {"schema": schema, "rows": 39073, "epsilon": 1.0}
    plan = make_plan(Spec(**given))
    assert (plan.training.steps, plan.training.lot_size) == (976, 625)
    assert 2 <= plan.noise_multiplier <= 3
    assert plan.delta == default_delta(39073) == 1e-6
    assert make_plan(Spec(**given, model="mlp")).training.steps == 2930
    assert make_plan(Spec(**given, grid="dpadam-4")).training.steps == 2500
    assert make_plan(Spec(schema=SCHEMA, rows=500, epsilon=0.1)).training.steps == 300
    assert make_plan(Spec(schema=SCHEMA, rows=10**7, epsilon=8)).training.steps == 6000
    assert plan.row_norm == (3.0, "follows from the schema")
    assert [column.encode_as for column in plan.spec.encoding.columns[:2]] == ["spline", "spline"]
    assert plan.spec.encoding.row_scale == pytest.approx(3 / (1 + 2 * 2 / 3) ** 0.5)
    declared = schema.model_copy(update={"row_norm": 2.0})
    assert make_plan(spec(declared)).spec.encoding.row_scale == 1.5
    assert make_plan(spec(declared, grid=GRID)).row_norm == (2.0, "declared")
    numbers = schema.model_copy(update={"columns": SCHEMA.columns[:2]})
    learnt = make_plan(spec(numbers))
    assert learnt.row_norm == (3.0, "learnt with noise")
    assert learnt.questions.get(AboutNorms) is not None


@pytest.mark.parametrize("model", ["logistic", "mlp"])
@pytest.mark.parametrize("classes", [2, 3])
def test_model_sizes_agree_with_the_engine(model, classes):
    target = SCHEMA.target.model_copy(update={"classes": ("a", "b", "c")[:classes]})
    schema = SCHEMA.model_copy(update={"target": target})
    plain = spec(schema, model=model)
    built = (TwoLayer if model == "mlp" else Linear)(plain.encoding.width, classes)
    assert plain.parameters == size(built)
    own = (TwoLayer if model == "mlp" else Linear)(schema.width, classes)  # reads no curves
    assert spec(schema, model=own).parameters == size(own)


def test_regression_has_a_plan():
    plan = make_plan(asked("composition", schema=NUMBERS))
    assert plan.spec.model == "linear"
    assert plan.sensitivity == SquaredError.bound
    assert "clipped losses" in str(plan)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": float("nan")}, "epsilon=nan"),
        ({"rows": 0}, "rows=0"),
        ({"rows": 2.5}, "rows=2.5"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"model": "forest"}, "model='forest': must be one of"),
        ({"model": "linear"}, "the target has classes"),
        ({"model": object()}, "model: is a object"),
        ({"model": Linear(4, 3)}, "predicts something else than the schema's 2 classes"),
        ({"schema": NUMBERS, "model": "logistic"}, "the target is a number"),
        ({"procedure": "magic"}, "procedure='magic'"),
        ({"procedure": "composition", "shape": 1.0}, "shape=1.0: composition has no such option"),
        ({"threshold": 0.8}, "threshold=0.8: auto has no such option; threshold has"),
        ({"procedure": "threshold"}, "threshold=None"),
        ({"procedure": "untuned", "grid": GRID}, "untuned trains one"),
        ({"procedure": "random-repeats", "mean_runs": 2, "hit_probability": 0.5}, "one of the two"),
        ({"procedure": "random-repeats", "mean_runs": 0.5}, "mean_runs=0.5"),
        ({"procedure": "random-repeats", "mean_runs": 1e9}, "would make 1e+09 runs"),
        ({"procedure": "random-repeats", "shape": -2.0}, "shape=-2.0"),
        ({"procedure": "random-repeats", "bound": "liu-talwar"}, "does not hold for random"),
        ({"procedure": "subset-tuning", "shape": "poisson"}, "the final training needs a winner"),
        ({"procedure": "subset-tuning", "subset": 1e-4}, "its lots would hold 0.004 rows"),
        ({"procedure": "composition", "scores": 1}, "scores=1"),
        ({"grid": []}, "grid: is empty"),
        ({"grid": {}}, "grid: is empty"),
        ({"grid": {"learning_rate": []}}, "grid: is empty"),
        ({"grid": "dpsgd-41"}, "grid='dpsgd-41': is no known grid"),
        ({"grid": 7}, "grid: is a int"),
        ({"grid": {"noise_multiplier": [1]}}, "grid='noise_multiplier': cannot be tuned"),
        ({"grid": {"rule": "dpsgd"}}, "learning_rate=None: dpsgd needs one"),
        ({"grid": {"rule": ["dpadam"], "clip_norm": [np.ones(2)]}}, "clip_norm is a ndarray"),
        ({"lot_size": 500}, "lot_size=500"),
        ({"validation": 0.0001, "procedure": "composition"}, "too few to train on some"),
        ({"validation": 1.0}, "validation=1.0"),
        ({"split_seed": "x"}, "split_seed='x'"),
        ({"split_seed": -(2**53) - 1}, "must be at most 9007199254740992 in size"),
        ({"split_seed": 10**5000}, "split_seed=a number of thousands of digits"),
        ({"epsilon": 1e-6, "delta": 1e-12, "rows": 10**4}, "no noise reaches it"),
        ({"epsilon": 1e300}, "needs almost no noise"),
        ({"delta": 0.0}, "delta=0.0"),
        ({"steps": 2**33}, "steps=8589934592: must be at most"),
        ({"rows": 2**31}, "rows=2147483648: must be at most 2147483647"),
        ({"procedure": ["untuned"]}, "procedure=<list>"),
        ({"model": Linear}, "model: is a ABCMeta"),
        ({"grid": {1: [2]}}, "grid: its keys must be names"),
        ({"grid": [5]}, "grid: is a list"),
        ({"procedure": "random-repeats", "shape": np.ones(2)}, "shape="),
        ({"procedure": "composition", "bound": ""}, "bound=''"),
        ({"procedure": "random-repeats", "shape": -0.9, "mean_runs": 5e4}, "give a cap"),
        ({"procedure": "subset-tuning", "subset": 1 - 1e-9}, "its lots would hold"),
        ({"grid": GRID, "lot_size": 390}, "lot_size=390"),
    ],
)  # fmt: skip
def test_bad_specs_are_one_line(options, said):
    with pytest.raises(InputError) as caught:
        make_plan(spec(**options))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rows", [20, 49, 400])
def test_a_delta_of_one_in_the_rows_is_refused(rows):
    """Also where delta * rows is rounded to less than 1, as 1/49 * 49 is."""
    facts = {"schema": SCHEMA, "rows": rows, "epsilon": 1.0}
    for delta in (1 / rows, 0.9):
        with pytest.raises(InputError) as caught:
            Spec(**facts, delta=delta)
        assert str(caught.value).startswith(f"delta={delta!r}: must be below 1 in {rows} rows")
        assert str(caught.value).endswith(f"leave it out for {default_delta(rows):g}")
    assert Spec(**facts, delta=np.nextafter(1 / rows, 0)).delta < 1 / rows
    assert Spec(**facts, delta=default_delta(rows)).delta == default_delta(rows)


def test_grids():
    assert [len(Grid.of(n)) for n in ("dpsgd-40", "dpmomentum-280", "dpadam-4")] == [40, 280, 4]
    assert len(Grid.product(rule="dpadam", clip_norm=[0.1, 1.0], beta1=[0.8, 0.9])) == 4
    grid = Grid.of([{"rule": "dpadam", "module__width": np.int64(3)}, {"rule": "balanced"}])
    assert [c.rule for c in grid.candidates(2.0, 1.5)] == ["dpadam", "balanced"]
    assert all(c.noise_multiplier == 2.0 for c in grid.candidates(2.0, 1.5))
    assert grid.model_options(0) == {"width": 3}
    assert Grid.of(grid) is grid


@pytest.mark.parametrize("delta", [1e-13, 1e-20, 1e-60])
@pytest.mark.parametrize("name", ["untuned", "composition", "random-repeats", "threshold"])
def test_delta_has_no_floor(name, delta):
    """The noise has no end of its tail, so a delta may be as small as anyone wants."""
    plan = make_plan(asked(name, delta=delta))
    assert plan.delta <= delta
    assert plan.noise_multiplier > make_plan(asked(name, delta=1e-12)).noise_multiplier


def test_noise_that_cannot_be_drawn_exactly_is_refused_before_it_is_paid_for():
    with pytest.raises(InputError, match=r"learn_share: needs noise above 1e\+06 for what is"):
        AboutColumns(2e6, ("x",))
    with pytest.raises(InputError, match="noise_multiplier=2000000"):
        Candidate(noise_multiplier=2e6)
    for kind in ("scores", "pick"):
        with pytest.raises(InputError, match=r"score_noise=2000000.0: must be at most 1e\+06"):
            Scoring.of(kind, 2e6)


def test_a_procedure_that_inherits_its_event_and_does_more_pays_for_it():
    @dataclass(frozen=True)
    class Twice(Composition):
        def price(self, bound, run, final, delta):
            return guarantee.epsilon(Repeated(run, 2 * self.candidates), delta, bound)

        def curve(self, run, final, delta):
            return guarantee.rdp_curve(Repeated(run, 2 * self.candidates))

    event = training(0.01, 2.0, 100)
    alone, question = (event, event), Gaussian(20.0)
    search = priced_after(Twice(4), "pld", None, alone, 1e-6)
    assert search < priced_after(Twice(4), "pld", question, alone, 1e-6)
    tight = guarantee.epsilon(Several(question, Repeated(event, 4)), 1e-6)
    assert priced_after(Composition(4), "pld", question, alone, 1e-6) == tight
