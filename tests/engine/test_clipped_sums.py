"""Clipped sums: equal to a loop over the examples and to Opacus, and bounded as they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from opacus import GradSampleModule
from oracles import as_module, flat_gradient, loop, loss_of
from scipy import sparse

from honestdp.engine import (
    Candidate,
    Linear,
    Randomness,
    Schedule,
    TwoLayer,
    clipped_sum,
    examples,
    size,
    train,
)
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip
from honestdp.engine.grid import block_limit, row_limit
from honestdp.engine.lots import Lots
from honestdp.units import UNITS

MODELS = [
    Linear(12, None),
    Linear(12, 2),
    Linear(12, 5),
    TwoLayer(12, None, width=7),
    TwoLayer(12, 2, width=9),
    TwoLayer(12, 4, width=16),
    TwoLayer(12, 3, width=8, activation=None),
]
KINDS = ["dense", "sparse", "torch", "torch sparse"]


def problem(model, rows: int = 41, candidates: int = 3, seed: int = 0):
    g = torch.Generator().manual_seed(seed)
    X = torch.randn(rows, model.features, generator=g)
    X *= torch.rand(rows, model.features, generator=g) < 0.4
    if model.loss.classes:
        y = torch.randint(0, model.loss.classes, (rows,), generator=g)
    else:
        y = torch.randn(rows, generator=g)
    return X, y, torch.randn(candidates, size(model), generator=g) * 0.7


def computed(kind: str, model, params, X, y, clip, memory: int = 1 << 20):
    """The sum by one of the engine's ways; "torch" is what runs where there is no kernel."""
    rows = examples(sparse.csr_matrix(X.numpy()) if "sparse" in kind else X, y)
    if "torch" not in kind:
        return clipped_sum(model, params, rows, None, clip).values
    count = len(params)
    bound = torch.ones(count, dtype=torch.float64) * (1.0 if clip is None else clip)
    how = Clip(bound, torch.full((count,), clip is None))
    lots, buffers = Lots.everything(len(rows), count), Buffers(memory, rows.device)
    out = torch.empty_like(params, dtype=torch.int64)
    return model.in_torch(params, rows, lots, how, out, buffers).values


def share(model, kind: str) -> float:
    """How much of the clip norm is used: less where rows are summed by matrix products."""
    products = "torch" in kind or (isinstance(model, TwoLayer) and kind == "dense")
    return (block_limit if products else row_limit)(size(model)) / UNITS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clip", [0.1, 1.0, 100.0, None])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_equal_to_a_loop_over_the_examples(model, clip, kind):
    X, y, params = problem(model)
    found = computed(kind, model, params, X, y, clip)
    for k in range(len(params)):
        expected = loop(model, params[k], X, y, clip, share(model, kind))
        rounding = len(X) * (1.0 if clip is None else clip) / UNITS
        atol = max(rounding, 1e-4 * expected.abs().max())
        assert torch.allclose(found[k], expected, rtol=1e-4, atol=atol)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # Opacus'
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_equal_to_opacus(model, kind):
    X, y, params = problem(model)
    found = computed(kind, model, params, X, y, 0.5)
    for k in range(len(params)):
        module = GradSampleModule(as_module(model, params[k]), loss_reduction="sum")
        outputs = module(X)
        sum(loss_of(model, z, t) for z, t in zip(outputs, y, strict=True)).backward()
        each = [p.grad_sample for p in module.parameters()]
        expected = torch.zeros(size(model))
        for i in range(len(X)):
            g = flat_gradient(model, {str(j): s[i] for j, s in enumerate(each)})
            expected += g * min(1.0, 0.5 * share(model, kind) / g.norm())
        assert torch.allclose(found[k], expected, rtol=1e-4, atol=1e-4 * expected.abs().max())


@pytest.mark.parametrize("kind", ["torch", "torch sparse"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_chunks_change_nothing(model, kind):
    X, y, params = problem(model)
    whole = computed(kind, model, params, X, y, 0.5)
    for memory in (1, 3000):
        assert torch.allclose(whole, computed(kind, model, params, X, y, 0.5, memory), atol=1e-5)


def test_a_long_lot_is_read_to_its_end():
    model = TwoLayer(6, 3, width=5)
    X, y, params = problem(model, rows=1400)  # the kernel holds 512 at once
    found = computed("sparse", model, params, X, y, 0.5)
    assert torch.allclose(found, computed("torch", model, params, X, y, 0.5), atol=0.05)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    which=st.sampled_from(range(len(MODELS))),
    kind=st.sampled_from(KINDS),
    clip=st.sampled_from([1e-3, 0.1, 1.0, 30.0, None]),
    scale=st.sampled_from([1e-4, 1.0, 1e3, 1e12, 1e30]),
    weight=st.sampled_from([1e-20, 1.0, 1e10, 1e19, 1e30]),
)
def test_one_example_moves_the_sum_by_at_most_the_sensitivity(
    seed, which, kind, clip, scale, weight
):
    """Whatever the example: it is the whole of a lot of one."""
    model = MODELS[which]
    X, y, params = problem(model, rows=1, seed=seed)
    found = computed(kind, model, params * weight, X * scale, y, clip)
    assert torch.isfinite(found).all()
    assert (found.double().norm(dim=1) <= (1.0 if clip is None else clip)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model",
    [Linear(20_000, 2), Linear(784, 10), TwoLayer(3000, 2), TwoLayer(50, 2, width=3000)],
    ids=str,
)
def test_a_clipped_example_is_as_long_as_the_theorem_allows(model, kind):
    """Its norm is the limit that `grid` proves, to what rounding its coordinates can change."""
    limit = share(model, kind) * UNITS
    for seed in range(3):
        X, y, params = problem(model, rows=1, candidates=1, seed=seed)
        found = computed(kind, model, params * 0.01, X * 10.0**seed, y, 1e-4)  # not saturated
        units = found.double().norm().item() / 1e-4 * UNITS
        assert abs(units - limit) < size(model) ** 0.5 / 2 + 1
        assert units <= UNITS


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_sensitivity_travels_with_the_sum(model):
    X, y, params = problem(model)
    assert clipped_sum(model, params, X, y, torch.tensor([0.1, 2.0, 3.0])).sensitivity.tolist() == (
        pytest.approx([0.1, 2.0, 3.0])
    )
    assert clipped_sum(model, params, X, y, None).sensitivity.tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 3e38])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_an_example_without_a_finite_gradient_counts_as_zero(model, bad, kind):
    X, y, params = problem(model)
    without = computed(kind, model, params, X[1:], y[1:], 0.5)
    X[0, :4] = bad
    found = computed(kind, model, params, X, y, 0.5)
    assert torch.isfinite(found).all()
    moved = (found - without).norm(dim=1)
    assert (moved <= 0.5 + 1e-4).all()
    if not np.isfinite(bad):
        assert (moved <= 1e-5).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_target_that_means_nothing_contributes_nothing(model, kind):
    X, y, params = problem(model)
    keep = torch.ones(len(y), dtype=torch.bool)
    keep[[0, 7, 20]] = False
    expected = computed(kind, model, params, X[keep], y[keep], 0.5)
    if model.loss.classes:
        y[0], y[7], y[20] = -1, model.loss.classes, 10**9
    else:
        y[0], y[7], y[20] = float("nan"), float("inf"), -float("inf")
    assert torch.allclose(computed(kind, model, params, X, y, 0.5), expected, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tiny_loss_gradient_times_a_huge_row_is_clipped(kind):
    """In float32 the square of the small one is 0, and their product would go unclipped."""
    model = Linear(2, None)
    X, y = torch.tensor([[1.2e19, 1.2e19]]), torch.tensor([2e-23])
    found = computed(kind, model, torch.zeros(1, 3), X, y, 1e-5)
    assert found.double().norm() <= 1e-5
    assert found.double().norm() > 0.99e-5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", [3e25, 1e20, 1e15, -7e24])
@pytest.mark.parametrize("x", [1.57e19, 1e18, 3e10])
def test_a_factor_too_small_for_float32_counts_as_zero(x, target, kind):
    for model in (Linear(1, None), TwoLayer(1, None, width=3)):
        params = torch.full((1, size(model)), 1e-3)
        found = computed(kind, model, params, torch.tensor([[x]]), torch.tensor([target]), 1.0)
        assert found.double().norm() <= 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [1.7e19, 1e15, 1e30])
@pytest.mark.parametrize("clip", [1e-12, 1e-7, 1e-3, 1.0])
def test_a_hidden_layer_of_any_size_is_bounded(clip, weight, kind):
    """Candidates with diverged weights are clipped too."""
    model = TwoLayer(1, None, width=1)
    for x, target in ((1e19, 1e-8), (1.0, 1e-8), (1e10, 1e20)):
        params = torch.tensor([[weight, 0.0, 1e-30, 0.0]])
        found = computed(kind, model, params, torch.tensor([[x]]), torch.tensor([target]), clip)
        assert found.double().norm() <= clip


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")  # torch's
def test_tables_of_every_make_are_the_same():
    X, y, params = problem(Linear(12, 3))
    expected = clipped_sum(Linear(12, 3), params, X, y, 1.0).values
    coo = X.to_sparse()
    for made in (X.numpy(), X.double(), X.tolist(), coo, coo.to_sparse_csr(), sparse.coo_array(X)):
        found = clipped_sum(Linear(12, 3), params, made, y.numpy().astype(np.int8), 1.0).values
        assert torch.allclose(found, expected, atol=1e-5)


def test_what_float32_cannot_hold_warns_of_nothing():
    big = sparse.csr_matrix(np.array([[1e300, 1.0]]))
    assert (clipped_sum(Linear(2, None), torch.zeros(3), big, [1.0], 1.0).values == 0).all()


def test_the_default_type_of_torch_does_not_matter():
    model, chosen = TwoLayer(12, 3), [Candidate(noise_multiplier=1.0)] * 2
    X, y, _ = problem(model)
    torch.set_default_dtype(torch.float64)
    try:
        trained = train(model, examples(X, y), chosen, Schedule(2, 5), Randomness.simulation(0))
        assert trained.stacked.dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [Linear(12, None), TwoLayer(12, None, width=7)], ids=str)
def test_whole_numbers_are_real_targets_too(model, kind):
    X, _, params = problem(model)
    whole = torch.arange(len(X)) - 20
    expected = computed(kind, model, params, X, whole.float(), 0.5)
    assert torch.equal(computed(kind, model, params, X, whole, 0.5), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_diverged_candidate_does_not_touch_the_others(kind):
    model = TwoLayer(12, 3, width=5)
    X, y, params = problem(model)
    expected = computed(kind, model, params, X, y, 1.0)
    params[1] = float("nan")
    found = computed(kind, model, params, X, y, 1.0)
    assert torch.isfinite(found).all()
    assert (found[1] == 0).all()
    assert torch.allclose(found[[0, 2]], expected[[0, 2]], atol=1e-5)


def test_a_column_stored_twice_is_its_sum():
    """Else the norm would come from the parts and be too small: a clip that does not bound."""
    model = Linear(3, 2)
    twice = sparse.csr_matrix(
        (np.array([3.0, 4.0, 1.0], np.float32), np.array([1, 1, 2]), np.array([0, 3])), shape=(1, 3)
    )
    params, y = torch.zeros(1, 4), torch.tensor([1])
    found = clipped_sum(model, params, twice, y, 1.0).values
    assert torch.allclose(found, clipped_sum(model, params, [[0.0, 7.0, 1.0]], y, 1.0).values)
    assert twice.nnz == 3  # the caller's matrix is as it was


def test_an_empty_row_and_an_empty_matrix_have_their_bias():
    model = Linear(4, 2)
    empty = sparse.csr_matrix((5, 4), dtype=np.float32)
    found = clipped_sum(model, torch.zeros(1, 5), empty, torch.ones(5, dtype=torch.long), 1.0)
    assert found.values[0].tolist() == pytest.approx([0, 0, 0, 0, -2.5], rel=1e-4)
