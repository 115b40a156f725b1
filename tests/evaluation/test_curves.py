"""The points of plots from noisy counts: their intervals hold, their theorems too."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestdp import InputError
from honestdp.evaluation import evaluator
from honestdp.evaluation.binary import BINS
from honestdp.evaluation.classes import MOST_PAIRS
from honestdp.evaluation.counts import Counted, Refined
from honestdp.evaluation.curves import Interval, mean, rising, share
from honestdp.evaluation.drawn import curves_of
from honestdp.evaluation.numbers import PREDICTED
from honestdp.evaluation.numbers_curves import NumbersCurves

PART, WHOLE = np.array([1.0, 0.0]), np.ones(2)


@pytest.mark.parametrize(("rows", "p", "noise"), [
    (300, 0.3, 6.0), (300, 0.97, 6.0), (300, 0.02, 1.0), (40, 0.5, 4.0), (40, 0.95, 0.5),
    (2000, 0.999, 0.1), (25, 0.9, 6.0),
])  # fmt: skip
def test_the_interval_of_a_share_holds_as_often_as_it_says(rows, p, noise):
    draw, tries, held = np.random.default_rng(1), 2000, 0
    for _ in range(tries):
        hits = draw.binomial(rows, p)
        counts = np.array([hits, rows - hits]) + draw.normal(0, noise, 2)
        found = share(Counted(counts, noise), PART, WHOLE)
        held += found.low <= p <= found.high
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert 0.93 <= held / tries <= 0.99


def test_of_cells_that_are_refined_too():
    """The share of the second class above a threshold, from two levels of counts."""
    draw, tries, held = np.random.default_rng(2), 500, 0
    parent = 2 * np.arange(2)[:, None] + (np.arange(BINS) >= BINS // 2)[None, :]
    chances = np.full(2 * BINS, 0.5 / BINS)
    part, whole = np.zeros((2, 2, BINS))
    part[1, BINS // 3 :] = whole[1] = 1.0
    for _ in range(tries):
        exact = draw.multinomial(1500, chances).reshape(2, BINS)
        coarse = np.bincount(parent.ravel(), weights=exact.ravel())
        block = Refined(
            coarse + draw.normal(0, 6, 4), exact + draw.normal(0, 6, exact.shape), parent, 6.0
        )
        found = share(block, part.ravel(), whole.ravel())
        held += found.low <= 1 - BINS // 3 / BINS <= found.high
    assert 0.92 <= held / tries <= 0.98


def test_all_and_none_are_certain_and_nothing_is_not():
    block = Counted(np.array([3.0, 40.0]), 5.0)
    assert share(block, WHOLE, WHOLE) == (1.0, 1.0, 1.0)
    assert share(block, np.zeros(2), WHOLE) == (0.0, 0.0, 0.0)
    assert share(Counted(np.array([-3.0, 1.0]), 5.0), PART, WHOLE)[1:] == (0.0, 1.0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_a_curve_made_to_rise_stays_in_its_band(found):
    given_ = [Interval(*np.array(sorted(one))[[1, 0, 2]].tolist()) for one in found]
    made = rising(given_)
    for one, after in pairwise(made):
        assert all(a <= b + 1e-12 for a, b in zip(one, after, strict=True))
    assert all(one.low <= one.value + 1e-12 and one.value <= one.high + 1e-12 for one in made)
    ordered = [Interval(*sides) for sides in zip(*(sorted(s) for s in zip(*given_, strict=True)),
                                                 strict=True)]  # fmt: skip
    assert np.allclose(rising(ordered), ordered)


def evaluation(counts, classes=2, bounds=None, noise=1.0):
    of = evaluator(classes, bounds)
    shapes = {level.name: level.shape for level in of.levels}
    made = {name: np.asarray(counts.get(name, np.ones(shape))).reshape(shape) * 1.0
            for name, shape in shapes.items()}  # fmt: skip
    return of.evaluation(1000, noise, made)


def two_classes(scale=400.0):
    place = np.linspace(-3, 3, BINS)
    fine = scale * np.stack([np.exp(-((place + 1) ** 2)), np.exp(-((place - 1) ** 2))])
    half = BINS // 2
    coarse = np.stack([fine[:, :half].sum(1), fine[:, half:].sum(1)], axis=1)
    return evaluation({"class by answer": coarse, "class by score": fine}), fine


def test_the_plots_of_exact_counts_are_exact():
    found, fine = two_classes()
    plots = {one.name: one for one in curves_of(found, ("no", "yes")).plots()}
    roc = plots["roc"].points
    assert [one.x.value for one in roc] == pytest.approx(
        [fine[0, k:].sum() / fine[0].sum() for k in range(BINS, -1, -1)]
    )
    assert [one.y.value for one in roc] == pytest.approx(
        [fine[1, k:].sum() / fine[1].sum() for k in range(BINS, -1, -1)]
    )
    last = plots["precision-recall"].points[-1]
    assert last.x == (1.0, 1.0, 1.0)
    assert last.y.value == pytest.approx(fine[1].sum() / fine.sum())
    chances = plots["calibration"].points
    assert chances[0].x.low == 0.0
    assert chances[-1].x.high == 1.0
    for one, after in pairwise(chances):
        assert one.x.high == after.x.low
        assert one.x.low <= one.x.value <= one.x.high


def test_where_noise_is_all_little_is_drawn():
    found = evaluation({}, noise=50.0)
    assert curves_of(found, ("no", "yes")).plots() == []
    assert set(curves_of(found, ("no", "yes")).matrix().shares) == {None}


def test_the_matrix_has_a_row_for_each_class():
    pairs = np.array([[80.0, 20.0, 0.0], [0.0, 50.0, 0.0], [10.0, 0.0, 90.0]])
    found = evaluation({"class by answer": pairs}, classes=3)
    matrix = curves_of(found, ("a", "b", "c")).matrix()
    shares = [[one.value for one in row] for row in matrix.shares]
    assert np.allclose(shares, pairs / pairs.sum(1, keepdims=True))
    many = evaluation({}, classes=MOST_PAIRS + 1)
    assert curves_of(many, tuple(map(str, range(MOST_PAIRS + 1)))).matrix() is None


@pytest.mark.parametrize("error", [-0.9, -0.26, 0.0, 0.1, 0.37, 1.3])
def test_the_mean_error_by_predicted_value_is_right_for_even_predictions(error):
    """The theorem of `by_predicted`, on a fine grid of predictions: bins of width 1."""
    predicted = np.arange(PREDICTED, step=0.001)
    true = predicted + error
    inside = (true >= 0) & (true < PREDICTED)
    counts = np.zeros((PREDICTED, PREDICTED))
    np.add.at(counts, (predicted[inside].astype(int), true[inside].astype(int)), 1.0)
    found = evaluation({"predicted by value": counts}, None, (0.0, float(PREDICTED)))
    plot = NumbersCurves.by_predicted(curves_of(found, None, (0.0, float(PREDICTED))))
    for one in plot.points[2:-2]:  # the others lose rows at the ends of the range
        assert one.y.value == pytest.approx(error, abs=2e-3)


def test_the_mean_of_what_cells_stand_for():
    found = mean(Counted(np.array([10.0, 30.0]), 1.0), np.array([0.0, 4.0]))
    assert found.value == pytest.approx(3.0)
    assert 0.0 < found.low < 3.0 < found.high < 4.0


def test_counts_of_another_shape_are_refused():
    found, _ = two_classes()
    with pytest.raises(InputError, match="has no counts by right by class"):
        curves_of(found.model_copy(update={"kind": "classes"}), ("a", "b", "c")).plots()
