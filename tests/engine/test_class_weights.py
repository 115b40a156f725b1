"""Weights of classes multiply a gradient before it is clipped: exact sums, every model."""

from __future__ import annotations

import math

import pytest
import torch
from adversarial import KINDS, PATHS, lot, models, parameters, rows_of, units, with_null
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import loop

from honestdp.engine import (
    Candidate,
    Linear,
    Module,
    Randomness,
    Schedule,
    TwoLayer,
    clipped_sum,
    examples,
    predict,
    size,
    train,
)
from honestdp.engine.grid import ROUNDING
from honestdp.engine.losses import Loss
from honestdp.errors import InputError
from honestdp.units import UNITS, WEIGHTS

LOSS_WEIGHTS = {2: (0.25, 7.0), 4: (1.0, 0.5, 9.0, 3.0)}


@settings(max_examples=20, deadline=None)
@given(
    path=st.sampled_from(PATHS),
    kind=st.sampled_from(sorted(KINDS)),
    classes=st.sampled_from([2, 4]),
    rows=st.sampled_from([1, 2, 9, 65]),
    clip=st.sampled_from([1e-6, 0.1, 1.0, 300.0, None]),
    least=st.sampled_from([WEIGHTS[0], 1e-4, 0.3, 1.0]),
    most=st.sampled_from([1.0, 37.3, WEIGHTS[1]]),
    scale=st.sampled_from([0.0, 1.0, 1e10, 1e30]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_record_moves_a_weighted_sum_by_at_most_its_sensitivity(
    path, kind, classes, rows, clip, least, most, scale, seed
) -> None:
    X, y = lot(kind, rows, seed, classes)
    params = parameters(classes, path[0], seed % 2**31, scale)
    weights = (least, most) * (classes // 2)
    record = seed % rows
    sums = [
        units(path, rows_of(*table, path[1]), params, clip, classes, weights=weights)
        for table in ((X, y), with_null(X, y, record))
    ]
    for row in sums[0] - sums[1]:
        assert int((row**2).sum()) <= UNITS**2


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_heavy_record_moves_it_by_no_more_than_the_clip_norm(path) -> None:
    """Clipped, however heavy: by nearly all of the clip norm, and never by more."""
    if path[0] == "embedding":
        return
    for classes in (2, 4):
        X, y = torch.full((1, 3), 2.0).numpy(), torch.zeros(1, dtype=torch.long).numpy()
        params = parameters(classes, path[0], 1, 0.3)
        weights = (WEIGHTS[1],) * classes
        found = units(path, rows_of(X, y, path[1]), params, 1.0, classes, weights=weights)
        for row in found:
            assert 0.99 * UNITS <= float((row**2).sum()) ** 0.5 <= UNITS * (1 - ROUNDING / 2)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("clip", [0.5, 100.0])
@pytest.mark.parametrize("name", ["linear", "two-layer", "module"])
def test_every_example_is_weighted_and_then_clipped(name, clip, classes) -> None:
    """Against autograd, one example at a time; every path; the weights of a setting of its own."""
    source = torch.Generator().manual_seed(2)
    X = torch.randn(12, 3, generator=source)
    y = torch.randint(-1, classes, (12,), generator=source)
    plain = {"linear": Linear(3, classes), "two-layer": TwoLayer(3, classes, width=5)}
    shape = plain.get(name) or models(classes)[name]
    weights = LOSS_WEIGHTS[classes]
    params = parameters(classes, name, 3, 0.5)
    for kind, gpu in (("dense", False), ("dense", True), ("sparse", False)):
        if (name, kind, gpu) not in PATHS:
            continue
        found = units((name, kind, gpu), rows_of(X.numpy(), y.numpy(), kind), params, clip,
                      classes, weights=weights)  # fmt: skip
        for row, given_params in zip(found, params, strict=True):
            wanted = torch.zeros(size(shape))
            for x, target in zip(X, y, strict=True):
                if target < 0:
                    continue
                g = _gradient(name, shape, given_params, x, target) * weights[target]
                wanted += g * min(1.0, clip / float(g.norm()))
            seen = torch.tensor([float(v) for v in row]) * (clip / UNITS)
            assert torch.allclose(seen, wanted, rtol=4e-3, atol=2e-3)


def _gradient(name, model, params, x, target):
    if name == "module":
        return clipped_sum(model, params, x[None], target[None], 100.0).values[0]
    return loop(model, params, x[None], target[None], 1e9)


def test_weights_of_one_change_nothing_and_predictions_never_change() -> None:
    source = torch.Generator().manual_seed(2)
    rows = examples(torch.randn(30, 3, generator=source), torch.randint(0, 2, (30,)))
    for model in (Linear(3, 2), TwoLayer(3, 2, width=4), models(2)["module"]):
        params = torch.randn(2, size(model), generator=source)
        of_one, heavy = model.weighted((1.0, 1.0)), model.weighted((1.0, 8.0))
        before = clipped_sum(model, params, rows, None, 1.0).units
        assert torch.equal(clipped_sum(of_one, params, rows, None, 1.0).units, before)
        assert not torch.equal(clipped_sum(heavy, params, rows, None, 1.0).units, before)
        assert torch.equal(predict(heavy, params, rows), predict(model, params, rows))
        assert heavy.loss.weights == (1.0, 8.0)
        assert model.loss.weights is None
    assert Linear(3, 2) != Linear(3, 2).weighted((1.0, 8.0))  # not trained in one cohort


def test_a_criterion_of_ones_own_is_weighted_too() -> None:
    net = models(2)["module"].module
    own = Module(net, 2, criterion=torch.nn.BCEWithLogitsLoss())
    params = parameters(2, "module", 3, 0.5)
    X = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    y = torch.tensor([0, 1, 1, 0, 1])
    for weights in ((1.0, 1.0), (0.2, 6.0)):
        ours = clipped_sum(Module(net, 2).weighted(weights), params, X, y, 100.0).values
        theirs = clipped_sum(own.weighted(weights), params, X, y, 100.0).values
        assert torch.allclose(ours, theirs, atol=1e-2)


def test_heavy_classes_are_found_more_often() -> None:
    """A rare class in the rows; with weights the model answers it."""
    source = torch.Generator().manual_seed(5)
    X = torch.randn(2000, 2, generator=source)
    y = (X[:, 0] + torch.randn(2000, generator=source) > 2.3).long()
    rows = examples(X, y)
    given = Candidate(noise_multiplier=0.5, rule="dpsgd", learning_rate=2.0, clip_norm=2.0)
    found = [
        int(predict(model, train(model, rows, [given], Schedule(100, 200.0),
                                 Randomness.simulation(0)).parameters(0)[None], rows).sum())
        for model in (Linear(2, 2), Linear(2, 2).weighted((0.5, 10.0)))
    ]  # fmt: skip
    assert found[1] > 3 * found[0]


@pytest.mark.parametrize("wrong", [(1.0,), (1.0, 0.0), (1.0, -2.0), (1.0, 1e5), (1.0, math.nan)])
def test_wrong_weights_are_refused(wrong) -> None:
    with pytest.raises(InputError, match="weights="):
        Loss.of(2, wrong)
