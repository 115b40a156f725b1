"""Metrics from counts of rows: exact sensitivities, estimates, the pick, whole searches."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from outside import SCHEMA, table
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score

from honestdp import InputError, Spec, choose_on_public, make_plan, run
from honestdp.engine import Linear, examples, size
from honestdp.engine.score import measured_units
from honestdp.evaluation.counts import Level
from honestdp.ledger import Ledger
from honestdp.metrics import metrics
from honestdp.metrics.counted import CountedMetric, area, ordered_pairs
from honestdp.procedures import Draw
from honestdp.randomness import Randomness
from honestdp.report.page import report_html
from honestdp.runner.scoring import noisy_scores
from honestdp.schema.target import Target
from honestdp.testing import check_metric
from honestdp.units import UNITS

GRID = {"rule": "dpsgd", "learning_rate": [0.01, 1.0]}
COUNTED = ("auc", "balanced-accuracy")
OF_CLASSES = (*COUNTED, "accuracy", "log-loss", "brier")
OF_NUMBERS = ("squared_error", "mae", "rmse")


def rows(classes, n=60):
    source = torch.Generator().manual_seed(3)
    X = torch.randn(n, 4, generator=source)
    if classes is None:
        return X, torch.rand(n, generator=source) * 2 - 1
    return X, torch.randint(0, classes, (n,), generator=source)


def parameters(model, count=5):
    return 2 * torch.randn(count, size(model), generator=torch.Generator().manual_seed(4))


CASES = [(name, 2) for name in OF_CLASSES] + [(name, None) for name in OF_NUMBERS]
CASES += [(name, 4) for name in OF_CLASSES if name != "auc"]
NULL = {2: -1, 4: -1, None: float("nan")}


@pytest.mark.parametrize(("name", "classes"), CASES)
def test_one_record_moves_what_is_measured_by_at_most_the_units(name, classes) -> None:
    """Neighbours, in whole numbers: a record and a null record in its place, every row in turn,
    with the adversary's inputs too. The l2 norm is at most UNITS, and sums move one way."""
    X, y = rows(classes)
    model, metric = Linear(4, classes), metrics.get(name)
    params = parameters(model)
    params[4, 0] = float("nan")
    odd = (None, float("nan"), 1e30, -1e30, 1e-42, 0.0)
    largest = 0
    for row, value in product(range(0, 60, 7), odd):
        here, there = X.clone(), y.clone()
        if value is not None:
            here[row] = value
        with_it = measured_units(metric, model, params, examples(here, there))
        kept = torch.arange(60) != row
        without = measured_units(metric, model, params, examples(here[kept], there[kept]))
        if classes is None:  # a null record is a row without a target
            there[row] = NULL[classes]
            null = measured_units(metric, model, params, examples(here, there))
            assert torch.equal(null[:4], without[:4])
        moved = (with_it - without)[: 4 if not isinstance(metric, CountedMetric) else 5]
        squares = (moved.double() ** 2).sum(1)
        assert (squares <= float(UNITS) ** 2).all()
        assert (moved >= 0).all() or (moved <= 0).all()
        largest = max(largest, float(squares.max()) ** 0.5)
    assert largest > (0.9 * UNITS if name in (*COUNTED, "accuracy") else 0)


def test_the_values_are_those_that_the_names_promise() -> None:
    """Without noise: scikit-learn's, the AUC to the width of its bins."""
    X, y = rows(2, 4000)
    model = Linear(4, 2)
    params = torch.tensor([[0.5, -1.0, 0.2, 0.0, -1.5]])
    y = (torch.rand(4000, generator=torch.Generator().manual_seed(1))
         < torch.sigmoid(model.outputs(params, X)[0, :, 0])).long()  # fmt: skip
    p = torch.sigmoid(model.outputs(params, X)[0, :, 0]).double().numpy()
    wanted = {
        "auc": roc_auc_score(y, p),
        "balanced-accuracy": balanced_accuracy_score(y, p > 0.5),
        "log-loss": log_loss(y, p),
        "brier": brier_score_loss(y, p),
        "accuracy": float(((p > 0.5) == y.numpy()).mean()),
    }
    for name, value in wanted.items():
        metric = metrics.get(name)
        units = measured_units(metric, model, params, examples(X, y))[0].double().numpy()
        score = metric.score(units * metric.bound / UNITS, 0.0, 2)
        found = metric.from_score(score, 4000)
        assert math.isclose(found, value, abs_tol=3e-3 if name == "auc" else 1e-5), name


def test_a_model_of_no_numbers_is_as_good_as_a_guess() -> None:
    X, y = rows(2)
    params = torch.full((1, 5), float("nan"))
    for name in COUNTED:
        metric = metrics.get(name)
        counts = measured_units(metric, Linear(4, 2), params, examples(X, y))[0].numpy() / UNITS
        assert metric.score(counts, 0.0, 2) == 0.5


def test_errors_of_numbers() -> None:
    X, y = rows(None)
    model = Linear(4, None)
    params = torch.tensor([[0.1, 0.2, -0.1, 0.0, 0.1]])
    error = (model.outputs(params, X)[0, :, 0] - y).double().numpy()
    wanted = {
        "mae": np.minimum(abs(error), 1).mean(),
        "rmse": math.sqrt(np.minimum(error**2, 1).mean()),
    }
    for name, value in wanted.items():
        metric = metrics.get(name)
        units = measured_units(metric, model, params, examples(X, y))[0].double().numpy()
        found = metric.from_score(metric.score(units / UNITS, 0.0, None), 60)
        assert math.isclose(found, value, rel_tol=1e-5)
        assert metric.as_score(0.1, 60) > metric.as_score(0.2, 60)
    assert metrics.get("rmse").from_score(3.0, 60) == 0.0  # a noisy sum below zero


def test_the_pick_counts_pairs_and_one_row_lowers_it_by_at_most_one() -> None:
    """All small tables of two classes and three bins: every row in turn, exactly."""
    for flat in product(range(3), repeat=6):
        counts = np.array(flat, dtype=np.int64).reshape(2, 3)
        n = int(counts.sum())
        if n == 0:
            continue
        part, whole = ordered_pairs(counts, n)
        pairs = sum(
            counts[1, i] * counts[0, j] * (2 * (i > j) + (i == j))
            for i in range(3) for j in range(3)
        )  # fmt: skip
        assert (part, whole) == (pairs, 2 * n)
        for place in zip(*np.nonzero(counts), strict=True):
            fewer = counts.copy()
            fewer[place] -= 1
            assert 0 <= part - ordered_pairs(fewer, n)[0] <= whole
            for name in COUNTED:
                metric = metrics.get(name)
                if name == "balanced-accuracy" and (counts[:, 2].any() or fewer[:, 2].any()):
                    continue
                shape = (2, 3) if name == "auc" else (2, 2)
                before, after = (
                    wide(metric, one[:, : shape[1]]) if name == "auc" else one[:, :2]
                    for one in (counts, fewer)
                )
                fall = metric.pick_units(before.ravel() * UNITS, n, 2) - metric.pick_units(
                    after.ravel() * UNITS, n, 2
                )
                assert 0 <= fall <= UNITS


def wide(metric, counts):
    """Three bins among those of the metric."""
    found = np.zeros(metric.level(2).shape, dtype=np.int64)
    found[:, [0, 5, 9]] = counts
    return found


def test_a_pick_has_the_order_of_the_value() -> None:
    source = np.random.default_rng(0)
    for name in COUNTED:
        metric, n, found = metrics.get(name), 400, []
        shape = metric.level(2).shape
        for _ in range(20):
            if name == "auc":
                p = source.dirichlet(np.ones(shape[1]), 2)
                counts = np.array(
                    [source.multinomial(size, q) for size, q in zip((370, 30), p, strict=True)]
                )
            else:
                right = source.integers(0, (371, 31))
                counts = np.array([(370 - right[0], right[0]), (30 - right[1], right[1])])
            value = metric.estimate(counts.astype(float), 0.0)
            found.append((metric.pick_units(counts.ravel() * UNITS, n, 2), value))
        found.sort()
        values = [value for _, value in found]
        assert all(b >= a - 1e-9 for a, b in pairwise(values))


def test_the_estimates_are_sound_where_a_class_is_rare() -> None:
    """Unbiased where the class can be told from noise; near a guess, never any number, where it
    cannot."""
    source, s = np.random.default_rng(1), 4.0
    auc, balanced = metrics.get("auc"), metrics.get("balanced-accuracy")
    for positives in (0, 3, 30, 300):
        exact = np.zeros(auc.level(2).shape)
        exact[0, 2:7] = 900, 900, 900, 200, 100
        exact[1, 3:8] = np.array([0.1, 0.2, 0.3, 0.2, 0.2]) * positives
        truth = area(exact, 0.0)
        found = [auc.estimate(exact + source.normal(0, s, exact.shape), s) for _ in range(600)]
        wanted, width = {0: (0.5, 0.05), 3: (0.5, 0.1), 30: (truth, 0.12)}.get(
            positives, (truth, 0.005)
        )
        assert abs(np.mean(found) - wanted) < width
        assert max(abs(value - 0.5) for value in found) < 0.75
        hits = np.array([[300.0, 2700.0], [0.4 * positives, 0.6 * positives]])
        many = [balanced.estimate(hits + source.normal(0, s, (2, 2)), s) for _ in range(600)]
        if positives == 300:
            assert abs(np.mean(many) - 0.75) < 0.005
        assert max(map(abs, many)) < 2.0


def plan(**more):
    given = {"grid": GRID, "procedure": "composition", "epsilon": 20.0, **more}
    return make_plan(Spec(schema=SCHEMA, rows=300, steps=20, lot_size=50, **given))


PROCEDURES = (
    {"procedure": "composition"},
    {"procedure": "composition", "scores": False},
    {"procedure": "random-stopping"},
    {"procedure": "random-repeats", "mean_runs": 3},
    {"procedure": "random-subset"},
    {"procedure": "threshold", "threshold": 0.01, "hit_probability": 0.9},
    {"procedure": "subset-tuning", "subset": 0.3, "mean_runs": 3},
)


@pytest.mark.parametrize(
    "name",
    [
        "auc",
        pytest.param("balanced-accuracy", marks=pytest.mark.slow),
        pytest.param("log-loss", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "how",
    [*PROCEDURES[:3], *(pytest.param(how, marks=pytest.mark.slow) for how in PROCEDURES[3:])],
    ids=lambda how: "-".join(map(str, how.values())),
)
def test_every_procedure_takes_every_metric(name, how) -> None:
    made = plan(metric=name, **how)
    metric = metrics.get(name)
    told = metric.picked if made.procedure.scoring == "pick" else metric.summed
    assert told in str(made)
    release = run(made, table(), seed=1)
    card = release.card
    assert card.metric.name == name
    score = None if release.winner is None else release.winner.noisy_score
    assert (score is None) == (how.get("scores") is False or release.winner is None)
    report_html(card)
    if name != "log-loss" and score is not None:
        assert -0.5 < score < 1.5
        assert card.declared_public["metric_is_mean"] is False


class First(CountedMetric):
    """The difference of two counts, to see their noise: independent, or it would be less."""

    name = "first"
    summary = label = meaning = summed = "a count"
    of_classes = larger_is_better = True

    def level(self, classes):
        return Level("class", (2,), lambda loss, z, y: y)

    def estimate(self, counts, noise):
        assert noise == self.noise
        return float(counts[0] - counts[1]) / 2**0.5


@pytest.mark.parametrize("cells", [lambda loss, z, y: y.sum(), lambda loss, z, y: y[None].T])
def test_cells_of_another_shape_are_never_counted(cells) -> None:
    X, y = rows(2)
    metric = type("Wrong", (First,), {"level": lambda s, k: wrong(cells)})()
    with pytest.raises(InputError, match="one number per candidate and row"):
        measured_units(metric, Linear(4, 2), torch.zeros(3, 5), examples(X, y))


def test_every_count_has_the_noise_that_is_paid_for() -> None:
    """Of one candidate, over many draws; and the scores are made of noisy counts, of no others."""
    made = plan(metric="auc")
    First.noise = made.score_noise
    X, y = rows(2)
    model = Linear(2, 2)
    params = [torch.zeros(3)] * 4000
    draws = [Draw(i, 0) for i in range(4000)]
    part = examples(X[:, :2], y)
    metrics.register(First())
    try:
        plan_of_it = plan(metric="first")
        found = noisy_scores(
            plan_of_it, [model], params, draws, [part] * 4000, Randomness.simulation(5)
        )
    finally:
        metrics.unregister("first")
    assert plan_of_it.score_noise == made.score_noise
    exact = float((y == 0).sum() - (y == 1).sum()) / 2**0.5
    assert abs(found.mean() - exact) < 5 * made.score_noise / 4000**0.5
    assert abs(found.std() / made.score_noise - 1) < 0.06
    params = [torch.tensor([1.0, -1.0, 0.0])] * 200
    seen = noisy_scores(made, [model], params, draws[:200], [part] * 200, Randomness.simulation(6))
    assert seen.std() > 0.01
    assert len(set(seen.tolist())) > 190


@pytest.mark.parametrize("name", ["auc", "balanced-accuracy", "rmse"])
def test_settings_are_compared_on_public_rows_by_it(name) -> None:
    """Without noise, over the rows of all folds."""
    numbers = SCHEMA.model_copy(update={"target": Target(column="y", bounds=(0, 1))})
    rows = table(200)
    if name == "rmse":
        rows["y"] = (rows["a"] + rows["b"] + 4) / 8
    given = {"grid": GRID, "steps": 20, "lot_size": 50, "metric": name, "epsilon": 20.0}
    spec = Spec(schema=numbers if name == "rmse" else SCHEMA, rows=300, **given)
    chosen = choose_on_public(spec, rows, seed=1).chosen_on
    assert chosen is not None
    weak, strong = (one.score for one in chosen.compared)
    assert chosen.metric == name
    assert chosen.setting["learning_rate"] == 1.0
    assert 0 <= strong <= 1
    assert (strong < weak) if name == "rmse" else (strong > 0.8 and strong > weak)


def test_what_does_not_fit_is_refused_before_the_charge() -> None:
    three = SCHEMA.model_copy(
        update={"target": SCHEMA.target.model_copy(update={"classes": ("a", "b", "c")})}
    )
    with pytest.raises(InputError, match="metric='auc': does not suit the target; accuracy, bal"):
        Spec(schema=three, rows=300, epsilon=1.0, metric="auc")
    for name in ("mae", "rmse"):
        with pytest.raises(InputError, match=f"metric='{name}': does not suit the target"):
            plan(metric=name)
    spec = Spec(schema=three, rows=300, epsilon=20.0, grid=GRID, procedure="composition",
                scores=False, metric="balanced-accuracy", steps=20, lot_size=50)  # fmt: skip
    with pytest.raises(InputError, match="cannot pick without scores; leave out") as caught:
        make_plan(spec)
    assert "\n" not in str(caught.value)


class Top(CountedMetric):
    """One of one's own, in one file: how often the surest tenth is right."""

    name = "top"
    summary = "Of the rows surest to be of class 1, the share that is."
    of_classes = True
    larger_is_better = True
    label = "precision at the top"
    meaning = "share of sure answers that are right"
    summed = "counts of sure answers by class"

    def suits(self, classes):
        return classes == 2

    def level(self, classes):
        def cells(loss, outputs, targets):
            sure = outputs.squeeze(-1) > 1
            return targets.where(sure & (targets >= 0), -1)

        return Level("class of sure answers", (2,), cells)

    def estimate(self, counts, noise):
        return float(counts[1] / max(counts.sum(), 1.0, 4 * noise))


@pytest.fixture
def top():
    metrics.register(Top())
    yield
    metrics.unregister("top")


def test_one_of_ones_own_is_one_file(top) -> None:
    check_metric(Top())
    release = run(plan(metric="top"), table(), seed=1)
    assert "precision at the top" in release.card.prose()
    with pytest.raises(InputError, match="metric='top': cannot pick"):
        plan(metric="top", scores=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"estimate": lambda s, c, noise: float(c[1]) / float(c.sum() or math.nan)},
            "must be a finite number",
        ),
        ({"estimate": lambda s, c, noise: math.nan}, "must be a finite number"),
        ({"bound": 2.0}, "a row counts 1"),
        (
            {"level": lambda s, k: wrong(lambda loss, z, y: (z.squeeze(-1) > z.mean()).long())},
            "other",
        ),
        ({"level": lambda s, k: wrong(lambda loss, z, y: z.squeeze(-1))}, "whole numbers"),
        ({"level": lambda s, k: wrong(lambda loss, z, y: y.sum())}, "shape"),
        (
            {"picks": lambda s, k: True, "pick_count": lambda s, c, n: (2 * int(c[1]), 1)},
            "falls by 2 when",
        ),
        (
            {"picks": lambda s, k: True, "pick_count": lambda s, c, n: (-int(c[1]), 1)},
            "falls by -1 when",
        ),
    ],
)
def test_what_breaks_the_contract_is_told(change, words) -> None:
    with pytest.raises(AssertionError, match=words):
        check_metric(type("Broken", (Top,), change)())


def wrong(cells):
    return Level("wrong", (2,), cells)


@pytest.mark.parametrize(
    "cells",
    [
        lambda loss, z, y: y.sum(),
        lambda loss, z, y: (z.squeeze(-1) > z.mean()).long(),
        lambda loss, z, y: z.squeeze(-1),
        lambda loss, z, y: y.unsqueeze(-1),
    ],
)
def test_cells_of_other_rows_are_refused_before_the_charge(cells, tmp_path) -> None:
    metrics.register(type("Top", (Top,), {"level": lambda s, k: wrong(cells)})())
    try:
        ledger = Ledger.create(tmp_path / "l", dataset="toy", schema=SCHEMA.fingerprint,
                               epsilon=40.0, delta=1e-3)  # fmt: skip
        with pytest.raises(InputError) as caught:
            run(plan(metric="top"), table(), ledger)
        assert "\n" not in str(caught.value)
        assert not ledger.history()
    finally:
        metrics.unregister("top")
