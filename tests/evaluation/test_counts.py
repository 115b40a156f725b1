"""What follows from noisy counts: consistent levels, gradients, means over bins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from honestdp.evaluation import evaluator, evaluators
from honestdp.evaluation.binary import BINS, MIDDLES, auc, right_of_hundred
from honestdp.evaluation.counts import (
    Counted,
    Refined,
    estimate,
    even,
    nonnegative,
    weights,
)
from honestdp.evaluation.numbers import ERROR_EDGES, visible


def test_fine_counts_add_up_to_the_better_estimate_of_coarse_ones() -> None:
    """Against generalised least squares, the best linear unbiased estimate by Gauss and Markov."""
    source = np.random.default_rng(0)
    parent = np.array([0, 0, 0, 1, 1])
    coarse, fine = source.normal(size=2) + 9, source.normal(size=5) + 3
    block = Refined(coarse, fine, parent, 2.0)
    known = np.vstack([np.eye(5), np.eye(2)[:, parent]])  # counts of both levels from fine ones
    expected = np.linalg.lstsq(known, np.concatenate([fine, coarse]), rcond=None)[0]
    assert np.allclose(block.counts, expected)
    form = source.normal(size=5)
    inverse = np.linalg.inv(known.T @ known)
    assert block.noise_variance(form) == pytest.approx(4.0 * form @ inverse @ form)


def test_the_deviation_is_that_of_repeated_draws() -> None:
    source, shares = np.random.default_rng(1), np.array([0.5, 0.3, 0.2])

    def share(counts: np.ndarray) -> float:
        return float(counts[0] / counts.sum())

    found = [
        estimate(share, Counted(source.multinomial(2000, shares) + source.normal(0, 20, 3), 20.0))
        for _ in range(4000)
    ]
    spread = np.std([one.value for one in found])
    assert np.mean([one.deviation for one in found]) == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("rate", [-0.5, 0.0, 0.5])
def test_weights_of_bins_follow_the_density(rate: float) -> None:
    """Of rows of density (1 + rate x) / 2, all but the ends, whose neighbours are missing."""

    def integral(function: Callable[[float], float], low: float, high: float) -> float:
        return float(integrate.quad(lambda x: function(x) * (1 + rate * x) / 2, low, high)[0])

    edges = np.linspace(-1, 1, 9)
    shares = [integral(lambda x: 1.0, low, high) for low, high in pairwise(edges)]
    truth = integral(np.exp, -1, 1)
    plain, better = (float(np.dot(shares, rule(edges, np.exp))) for rule in (even, weights))
    assert abs(plain - truth) < 0.01
    assert abs(better - truth) <= abs(plain - truth) * 0.6 + 0.002


def test_counts_below_zero_are_moved_to_the_nearest_possible() -> None:
    found = nonnegative(np.array([5.0, -3.0, 2.0]))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(4.0)
    assert nonnegative(np.array([-5.0, -3.0])).sum() == pytest.approx(1.0)


def test_auc_of_binned_scores_is_that_of_the_scores() -> None:
    """Two normal laws one deviation apart: Phi(1 / sqrt(2))."""
    edges = np.concatenate([[-np.inf], (MIDDLES[1:] + MIDDLES[:-1]) / 2, [np.inf]])
    counts = 1e5 * np.array([np.diff(stats.norm.cdf(edges, at)) for at in (-0.5, 0.5)])
    assert auc(counts) == pytest.approx(stats.norm.cdf(1 / np.sqrt(2)), abs=0.003)
    assert auc(counts[::-1]) == pytest.approx(stats.norm.cdf(-1 / np.sqrt(2)), abs=0.02)
    assert auc(np.zeros((2, BINS))) == 0.0


def test_noise_alone_has_no_visible_bins() -> None:
    source, bins = np.random.default_rng(2), len(ERROR_EDGES) - 1
    found = [visible(source.normal(0, 10, bins), 10.0) for _ in range(200)]
    assert np.mean(found) < 4
    counts = np.zeros(bins)
    counts[:9] = 1000.0
    assert visible(counts, 10.0) == 9


def test_every_kind_of_target_has_one() -> None:
    kinds = [evaluator(2, None), evaluator(5, None), evaluator(None, (0.0, 10.0))]
    assert [one.kind for one in kinds] == list(evaluators)


@pytest.mark.parametrize("classes", [2, 3, None])
def test_nothing_but_noise_gives_figures_that_are_possible(classes: int | None) -> None:
    """An evaluation never raises, whatever the noise was: an error would tell."""
    one, source = evaluator(classes, (0.0, 1.0)), np.random.default_rng(3)
    for scale in (0.0, 1.0, 50.0, 1e6):
        counts = {
            level.name: np.round(source.normal(0, scale, level.shape)) for level in one.levels
        }
        groups = [("a", np.round(source.normal(0, scale, one.grouped.shape)))]
        found = one.evaluation(10, max(scale, 1.0), counts, "c", groups)
        assert found == type(found).model_validate_json(found.model_dump_json())
        assert str(found)
        for figure in (*found.figures, *found.groups[0].figures):
            assert np.isfinite([figure.value, figure.low, figure.high]).all()
            assert figure.low <= figure.value <= figure.high, figure


def test_a_model_that_is_no_better_than_one_answer_is_not_praised() -> None:
    one = evaluator(2, None)
    answers, scores = np.zeros((2, 2)), np.zeros((2, BINS))
    answers[:, 0] = scores[:, 0] = [940.0, 60.0]  # always "no"
    found = one.evaluation(1000, 1.0, {"class by answer": answers, "class by score": scores})
    assert "not shown to be better than always the same answer" in found.sentence
    assert found["balanced accuracy"].value == pytest.approx(0.5, abs=0.01)
    assert found["accuracy"].baseline == pytest.approx(0.94, abs=0.01)
    assert right_of_hundred(found["accuracy"].model_copy(update={"baseline": None}))
