"""Scores: counts that one row moves by at most one, and the worst for what is not finite."""

from __future__ import annotations

import pytest
import torch
from scipy import sparse

from honestdp.engine import (
    Linear,
    TwoLayer,
    correct,
    examples,
    predict,
    probabilities,
    score_units,
    size,
)
from honestdp.engine import score as scores
from honestdp.errors import InputError
from honestdp.metrics import metrics
from honestdp.units import UNITS


def clipped_loss(model, params, rows):
    return score_units(metrics.get("squared_error"), model, params, rows) * (0.5 / UNITS)


def table(classes: int | None, n: int = 57):
    g = torch.Generator().manual_seed(0)
    X = torch.randn(n, 6, generator=g)
    y = torch.randint(0, classes, (n,), generator=g) if classes else torch.randn(n, generator=g)
    return X, y


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("model", [Linear(6, 2), Linear(6, 4), TwoLayer(6, 3, width=5)], ids=str)
def test_counts_are_counts(model, kind, monkeypatch):
    X, y = table(model.loss.classes)
    rows = examples(sparse.csr_matrix(X.numpy()) if kind == "sparse" else X, y)
    params = torch.randn(4, size(model), generator=torch.Generator().manual_seed(1))
    found = correct(model, params, rows)
    for k in range(4):
        assert found[k] == (predict(model, params[k : k + 1], rows)[0] == y).sum()
    p = probabilities(model, params, rows)
    assert p.shape == (4, 57, model.loss.classes)
    assert torch.allclose(p.sum(-1), torch.ones(4, 57), atol=1e-5)
    assert torch.equal(p.argmax(-1), predict(model, params, rows))
    monkeypatch.setattr(scores, "_ROOM", 100)  # in many chunks
    assert torch.equal(correct(model, params, rows), found)


def test_cells_hold_the_rows_that_fall_into_them(monkeypatch):
    """By class and answer; one row moves one count by one, a null row none."""
    model = Linear(6, 3)
    X, y = table(3)
    params = torch.randn(4, size(model), generator=torch.Generator().manual_seed(1))

    def cells(loss, outputs, targets):
        return 3 * targets + loss.predicted(outputs)

    found = scores.cell_counts(cells, 9, model, params, examples(X, y))
    assert torch.equal(
        found.view(4, 3, 3).diagonal(dim1=1, dim2=2).sum(1), correct(model, params, examples(X, y))
    )
    assert found.sum(1).tolist() == [57] * 4
    monkeypatch.setattr(scores, "_ROOM", 100)  # in many chunks
    assert torch.equal(scores.cell_counts(cells, 9, model, params, examples(X, y)), found)
    X[3] = float("nan")
    moved = scores.cell_counts(cells, 9, model, params, examples(X, y)) - found
    assert moved.abs().sum(1).max() <= 2
    y[3] = -1
    without = scores.cell_counts(cells, 9, model, params, examples(X, y))
    assert without.sum(1).tolist() == [56] * 4
    assert (found - without).min() >= 0


def test_one_row_moves_a_count_by_at_most_one_and_a_null_row_never_counts():
    model = Linear(6, 3)
    X, y = table(3)
    params = torch.randn(5, size(model))
    before = correct(model, params, examples(X, y))
    for value in (float("nan"), 1e30, 0.0):
        X[3], y[3] = value, -1
        after = correct(model, params, examples(X, y))
        assert ((before - after) >= 0).all()
        assert ((before - after) <= 1).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_diverged_candidate_has_the_worst_score(bad):
    X, y = table(2)
    params = torch.zeros(2, 7)
    params[1, 3] = bad
    found = correct(Linear(6, 2), params, examples(X, y))
    assert found[0] > 0
    assert found[1] == 0
    X, y = table(None)
    losses = clipped_loss(Linear(6, None), params, examples(X, y))
    assert losses[1] == 0.5 * 57
    assert losses[0] < losses[1]


def test_clipped_loss_is_bounded_row_by_row():
    model = Linear(6, None)
    X, y = table(None)
    params = torch.randn(3, 7)
    found = clipped_loss(model, params, examples(X, y))
    outputs = predict(model, params, examples(X, y))
    expected = ((outputs - y) ** 2 / 2).clamp(max=0.5).sum(1)
    assert torch.allclose(found.float(), expected, rtol=1e-4)
    X[0] = 1e30
    moved = clipped_loss(model, params, examples(X, y)) - found
    assert (moved.abs() <= 0.5 + 1e-9).all()


def test_wrong_questions_are_one_line():
    X, y = table(None)
    with pytest.raises(InputError, match="not for a model of numbers"):
        correct(Linear(6, None), torch.zeros(1, 7), examples(X, y))
    with pytest.raises(InputError, match=r"\[candidate, 7\]"):
        predict(Linear(6, None), torch.zeros(1, 8), examples(X, y))
    X, y = table(3)
    with pytest.raises(InputError, match="not for a model of 3 classes"):
        clipped_loss(Linear(6, 3), torch.zeros(1, 21), examples(X, y))
