"""Training: a result is its candidate's own, can be stopped and resumed, never raises on data."""

from __future__ import annotations

import threading

import numpy as np
import oracles
import pytest
import torch
from scipy import sparse, stats
from torch import nn

from honestdp.candidates import Candidate
from honestdp.engine import (
    Linear,
    Module,
    Randomness,
    Schedule,
    TwoLayer,
    cohort_training,
    correct,
    examples,
    named,
    noise,
    size,
    train,
)
from honestdp.errors import InputError
from honestdp.optimizers import optimizers

SCHEDULE = Schedule(steps=12, lot_size=20)


def candidate(rule: str = "dpadam", **more) -> Candidate:
    if rule == "dpadambc":
        more = {"variance_floor": 0.01} | more  # at a tiny floor it blows up rounding errors
    return oracles.candidate(rule, **more)


GRID = [
    *(candidate(rule) for rule in optimizers.names()),
    *(candidate(rule, average=True, clip_norm=0.3) for rule in optimizers.names()),
    candidate("dpsgd", learning_rate=0.7, clipping="automatic"),
    candidate("dpmomentum", momentum=0.5, noise_multiplier=3.0),
    candidate("dpadam", beta1=0.5, beta2=0.9, initial_scale=2.0),
]


def data(kind: str = "dense", n: int = 200, features: int = 9, classes: int = 3):
    g = torch.Generator().manual_seed(0)
    X = torch.randn(n, features, generator=g)
    y = torch.randint(0, classes, (n,), generator=g)
    return examples(sparse.csr_matrix(X.numpy()) if kind == "sparse" else X, y)


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(9, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 3))


MODELS = {
    "linear": Linear(9, 3),
    "two-layer": TwoLayer(9, 3, width=6),
    "module": Module(net, 3),
}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("model", ["linear", "two-layer"])
def test_batched_equals_one_by_one(model, kind):
    rows, model = data(kind), MODELS[model]
    together = train(model, rows, GRID, SCHEDULE, Randomness.simulation(5))
    for i, chosen in enumerate(GRID):
        alone = train(model, rows, [chosen], SCHEDULE, Randomness.simulation(5), numbers=[i])
        assert torch.allclose(together.parameters(i), alone.parameters(0), rtol=1e-3, atol=1e-4), (
            chosen
        )


def test_batched_equals_one_by_one_for_a_module():
    rows, model, grid = data(), MODELS["module"], GRID[:9]
    together = train(model, rows, grid, SCHEDULE, Randomness.simulation(5), workers=2)
    for i, chosen in enumerate(grid):
        alone = train(model, rows, [chosen], SCHEDULE, Randomness.simulation(5), numbers=[i])
        assert torch.allclose(together.parameters(i), alone.parameters(0), rtol=1e-3, atol=1e-4), (
            chosen
        )


def test_torch_alone_trains_the_same(monkeypatch):
    """What runs where there is no kernel (a GPU), run here."""
    rows, model = data(), MODELS["two-layer"]
    compiled = train(model, rows, GRID, SCHEDULE, Randomness.simulation(5))
    monkeypatch.setattr(cohort_training._Group, "_compiled", cohort_training._Group._in_torch)
    monkeypatch.setattr(noise.NoiseMaker, "noisy_mean", noise.NoiseMaker._in_torch)
    in_torch = train(model, rows, GRID, SCHEDULE, Randomness.simulation(5))
    for i, chosen in enumerate(GRID):
        expected = compiled.parameters(i)
        assert torch.allclose(in_torch.parameters(i), expected, rtol=1e-3, atol=1e-4), chosen


def test_place_and_company_do_not_matter():
    rows, model = data(), MODELS["two-layer"]
    first = train(model, rows, GRID, SCHEDULE, Randomness.simulation(1))
    order = np.random.default_rng(0).permutation(len(GRID))
    again = train(
        model, rows, [GRID[i] for i in order], SCHEDULE, Randomness.simulation(1),
        numbers=[int(i) for i in order], workers=1,
    )  # fmt: skip
    for place, i in enumerate(order):
        assert torch.allclose(again.parameters(place), first.parameters(i), rtol=1e-3, atol=1e-4)


def test_models_of_different_shape_train_in_one_call():
    models = [TwoLayer(9, 3, width=w) for w in (4, 6, 4)] + [Linear(9, 3)]
    rows, grid = data(), [candidate()] * 4
    together = train(models, rows, grid, SCHEDULE, Randomness.simulation(0))
    for i, model in enumerate(models):
        assert together.parameters(i).shape == (size(model),)
        alone = train(model, rows, grid[:1], SCHEDULE, Randomness.simulation(0), numbers=[i])
        assert torch.allclose(together.parameters(i), alone.parameters(0), atol=1e-4)


def test_candidates_start_apart_and_share_no_lot():
    """Two candidates with the same setting: different starts, different paths."""
    trained = train(
        MODELS["two-layer"], data(), [candidate()] * 2, SCHEDULE, Randomness.simulation(0)
    )
    assert (trained.parameters(0) != trained.parameters(1)).all()


def test_initial_parameters_and_scale():
    model, rows = MODELS["two-layer"], data()
    start = torch.randn(2, size(model))
    still = [candidate("dpsgd", learning_rate=1e-30)] * 2
    kept = train(model, rows, still, SCHEDULE, Randomness.simulation(0), initial=start)
    assert torch.equal(kept.stacked, start)
    scaled = [candidate("dpsgd", learning_rate=1e-30, initial_scale=s) for s in (0.0, 3.0)]
    drawn = train(model, rows, scaled, SCHEDULE, Randomness.simulation(0))
    assert drawn.parameters(0).abs().max() < 1e-25
    part = named(model, drawn.parameters(1))
    assert 2.5 / 3 < part["hidden_weight"].abs().max() <= 3 / 3
    assert part["weight"].abs().max() <= 3 / np.sqrt(6)


def test_the_divisor_is_the_expected_lot_and_the_noise_has_the_stated_scale():
    """On examples without gradient a step of DPSGD is noise of scale rate * sigma C/L, even when
    the lot is empty; 10^6 draws."""
    features, sigma, clip, lot = 4999, 3.0, 0.5, 0.5  # most lots are empty
    rows = examples(torch.zeros(50, features), torch.full((50,), -1))
    chosen = [candidate("dpsgd", noise_multiplier=sigma, clip_norm=clip, learning_rate=1.0)] * 20
    trained = train(Linear(features, 2), rows, chosen, Schedule(10, lot), Randomness.simulation(0))
    square = (trained.stacked.double() ** 2).sum().item() / (10 * (sigma * clip / lot) ** 2)
    assert 1e-6 < stats.chi2.cdf(square, trained.stacked.numel()) < 1 - 1e-6


def test_the_mean_gradient_is_over_the_expected_lot_not_the_drawn_one():
    """Every example pushes the bias by exactly C: the path counts the rows of all lots over L."""
    rows = examples(torch.zeros(400, 1), torch.ones(400, dtype=torch.long))
    chosen = [candidate("dpsgd", noise_multiplier=0.0, clip_norm=1e-3, learning_rate=1.0)] * 50
    trained = train(Linear(1, 2), rows, chosen, Schedule(1, 40), Randomness.simulation(0))
    counts = trained.stacked[:, 1].double().numpy() / 1e-3 * 40
    assert np.abs(counts - counts.round()).max() < 0.01
    assert len(set(counts.round())) > 10  # the lots have different sizes
    assert abs(counts.mean() - 40) < 5 * 6 / np.sqrt(50)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("at", [1, 5, 6, 7, 11])
def test_a_resumed_run_equals_an_uninterrupted_one(model, at):
    rows, model, grid = data(), MODELS[model], GRID[:14]
    whole = train(model, rows, grid, SCHEDULE, Randomness.simulation(3))
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > at

    part = train(model, rows, grid, SCHEDULE, Randomness.simulation(3), stop=stop, workers=1)
    assert not part.finished
    done = train(model, rows, grid, SCHEDULE, Randomness.simulation(3), resume=part, workers=2)
    assert done.finished
    assert whole.finished
    for i in range(len(grid)):
        assert torch.allclose(whole.parameters(i), done.parameters(i), rtol=1e-4, atol=1e-5), grid[
            i
        ]


def test_production_resumes_with_fresh_noise_and_uses_no_stream_twice():
    rows, model = data(), MODELS["linear"]
    steps = iter([False] * 4 + [True] * 100)
    randomness = Randomness()
    part = train(
        model, rows, [candidate()], SCHEDULE, randomness, stop=lambda: next(steps), workers=1
    )
    assert part.states[0].step == 4
    done = train(model, rows, [candidate()], SCHEDULE, randomness, resume=part)
    with pytest.raises(InputError, match="already used"):
        train(model, rows, [candidate()], SCHEDULE, randomness, resume=part)
    with pytest.raises(InputError, match="already used"):
        train(model, rows, [candidate()], SCHEDULE, randomness)
    other = train(model, rows, [candidate()], SCHEDULE, Randomness(), resume=part)
    assert (other.parameters(0) != done.parameters(0)).all()


def test_a_failure_in_the_middle_still_uses_up_its_streams():
    rows, model, randomness = data(), MODELS["linear"], Randomness()

    def fail(snapshot):
        raise RuntimeError("an observer's own mistake")

    with pytest.raises(RuntimeError, match="own mistake"):
        train(model, rows, [candidate()], SCHEDULE, randomness, observe=fail, observe_every=5)
    with pytest.raises(InputError, match="already used"):
        train(model, rows, [candidate()], SCHEDULE, randomness)


@pytest.mark.parametrize("rule", optimizers.names())
def test_tail_average_is_the_mean_of_the_second_half(rule):
    """t > T/2; for ADADP after accepted and rejected pairs alike."""
    rows, model = data(), MODELS["linear"]
    schedule = Schedule(steps=10, lot_size=20)
    path = {}

    def observe(snapshot):
        path[snapshot.step] = snapshot.parameters[0].clone()

    train(model, rows, [candidate(rule)], schedule, Randomness.simulation(2),
          observe=observe, observe_every=1)  # fmt: skip
    taken = [t for t in path if t > 5 and t % (2 if rule == "adadp" else 1) == 0]
    expected = torch.stack([path[t] for t in taken]).mean(0)
    averaged = train(
        model, rows, [candidate(rule, average=True)], schedule, Randomness.simulation(2)
    )
    assert torch.allclose(averaged.parameters(0), expected, atol=1e-5)


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_tail_average_of_few_steps(steps):
    rows, model, path = data(), MODELS["linear"], {}

    def observe(snapshot):
        path[snapshot.step] = snapshot.parameters[0].clone()

    schedule = Schedule(steps, 20)
    train(
        model,
        rows,
        [candidate()],
        schedule,
        Randomness.simulation(2),
        observe=observe,
        observe_every=1,
    )
    averaged = train(model, rows, [candidate(average=True)], schedule, Randomness.simulation(2))
    expected = torch.stack([path[t] for t in path if t > steps / 2]).mean(0)
    assert torch.allclose(averaged.parameters(0), expected, atol=1e-5)


def test_record_and_progress():
    rows, model = data(), MODELS["two-layer"]
    told = []
    trained = train(
        model, rows, GRID, SCHEDULE, Randomness.simulation(0),
        observe=lambda s: s.parameters.clone(), observe_every=5,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert {step for step, _, _ in trained.record} == {5, 10, 12}
    assert [step for step, _, _ in trained.record] == sorted(step for step, _, _ in trained.record)
    last = {}
    for step, numbers, seen in trained.record:
        assert seen.shape == (len(numbers), size(model))
        if step == 12:
            last |= dict(zip(numbers, seen, strict=True))
    assert sorted(last) == list(range(len(GRID)))
    for i in range(len(GRID)):
        assert torch.equal(last[i], trained.parameters(i))
    assert told[-1] == (12 * len(GRID), 12 * len(GRID))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_snapshot_stays_as_it_was():
    seen = []

    def observe(snapshot):
        seen.append((snapshot.parameters, snapshot.parameters.clone()))

    train(MODELS["linear"], data(), [candidate()], SCHEDULE, Randomness.simulation(0),
          observe=observe, observe_every=1)  # fmt: skip
    assert all(torch.equal(kept, copy) for kept, copy in seen)


@pytest.mark.parametrize("model", MODELS)
def test_a_candidate_that_diverges_ends_with_the_worst_score(model):
    rows, model = data(), MODELS[model]
    grid = [candidate("dpsgd", learning_rate=1e38, noise_multiplier=100.0), candidate("dpsgd")]
    trained = train(model, rows, grid, SCHEDULE, Randomness.simulation(0))
    scores = correct(model, trained.stacked, rows)
    assert scores[0] == 0
    assert scores[1] > 0
    alone = train(model, rows, grid[1:], SCHEDULE, Randomness.simulation(0), numbers=[1])
    assert torch.allclose(alone.parameters(0), trained.parameters(1), atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_no_value_in_the_data_raises(model):
    g = torch.Generator().manual_seed(0)
    X = torch.randn(60, 9, generator=g)
    X[0], X[1], X[2], X[3] = float("nan"), float("inf"), 3e38, -float("inf")
    y = torch.randint(0, 3, (60,), generator=g)
    y[4:8] = torch.tensor([-1, 3, 10**12, -(2**62)])
    trained = train(MODELS[model], examples(X, y), GRID[:7], SCHEDULE, Randomness.simulation(0))
    assert torch.isfinite(trained.stacked).all()


def test_the_same_control_flow_on_neighbouring_data():
    """Same lots, same steps, same calls, whatever the rows hold."""

    def calls(value: float) -> list:
        told = []
        X = torch.full((60, 9), value)
        train(
            MODELS["two-layer"], examples(X, torch.zeros(60, dtype=torch.long)), GRID, SCHEDULE,
            Randomness.simulation(0), progress=lambda *p: told.append(p), workers=1,
        )  # fmt: skip
        return told

    assert calls(0.0) == calls(1e30) == calls(float("nan"))


def test_threads_are_given_back():
    before = torch.get_num_threads(), threading.active_count()
    train(MODELS["linear"], data(), GRID, SCHEDULE, Randomness.simulation(0), workers=2)
    assert (torch.get_num_threads(), threading.active_count()) == before


def test_memory_holds_no_more_than_one_cohort_beyond_the_results():
    """What a finished candidate leaves behind is its parameters alone."""
    trained = train(MODELS["linear"], data(), GRID, SCHEDULE, Randomness.simulation(0))
    assert all(state.tensors == {} for state in trained.states)
