"""The rules: equal to their twins without noise, to NOTES' formulas, and compiled to themselves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from oracles import as_module, candidate, loss_of

from honestdp.engine import Linear, Randomness, Schedule, TwoLayer, examples, size, train
from honestdp.engine.kernels.update import update
from honestdp.optimizers import optimizer, optimizers
from honestdp.optimizers.balanced import balanced_rate

NO_CLIP = 8.0  # larger than any gradient here, and still a fine grid


def rows(features: int = 6, classes: int = 3, n: int = 30):
    g = torch.Generator().manual_seed(0)
    return examples(
        torch.randn(n, features, generator=g), torch.randint(0, classes, (n,), generator=g)
    )


TWINS = {
    "dpsgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "dpmomentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "dpadam": lambda p: torch.optim.Adam(p, lr=1e-3),
}


@pytest.mark.parametrize("model", [Linear(6, 3), TwoLayer(6, 3, width=8)], ids=str)
@pytest.mark.parametrize("rule", TWINS)
def test_without_noise_and_clipping_a_rule_is_its_twin(rule, model):
    data, steps = rows(), 50
    start = torch.randn(size(model), generator=torch.Generator().manual_seed(1)) * 0.3
    module = as_module(model, start)
    optimizer = TWINS[rule](module.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        outputs = module(data.inputs)
        losses = [loss_of(model, z, t) for z, t in zip(outputs, data.targets, strict=True)]
        torch.stack(losses).mean().backward()
        optimizer.step()
    expected = torch.cat(
        [(p.T if p.ndim == 2 else p).detach().flatten() for p in module.parameters()]
    )
    trained = train(
        model,
        data,
        [candidate(rule, noise_multiplier=0.0, clip_norm=NO_CLIP)],
        Schedule(steps, len(data)),
        Randomness.simulation(0),
        initial=[start],
    )
    assert torch.allclose(trained.parameters(0), expected, atol=1e-5, rtol=1e-4)


def run(rule: str, gradients, params, steps: int, lot: float = 250.0, **more):
    """The pure rule over given gradients [step, parameter]; returns parameters after each."""
    chosen = [candidate(rule, **more)]
    the = optimizer(rule)
    knobs = the.knobs(chosen, steps, lot)
    at = torch.tensor([params], dtype=torch.float32)
    state = the.init(at, knobs)
    path = []
    for t, g in enumerate(gradients, 1):
        at, state = the.update(torch.tensor([g], dtype=torch.float32), at, state, knobs, t)
        path.append(at[0].tolist())
    return path, state


def test_adam_without_second_moments_by_hand():
    gradients = [[1.0, -2.0], [0.5, 0.5], [-1.0, 3.0]]
    path, _ = run("dpadamwosm", gradients, [0.0, 1.0], 3, noise_multiplier=4.0, clip_norm=0.5)
    effective = 1e-3 / (4.0 * 0.5 / 250 + 1e-8)
    m, theta = np.zeros(2), np.array([0.0, 1.0])
    for t, g in enumerate(gradients, 1):
        m = 0.9 * m + 0.1 * np.array(g)
        theta = theta - effective * m / (1 - 0.9**t)
        assert path[t - 1] == pytest.approx(theta.tolist(), rel=1e-5)


def test_adam_bias_corrected_by_hand():
    gradients = [[0.1, -0.2], [0.05, 0.0], [-0.1, 1e-3]]
    sigma, clip, floor = 4.0, 1.0, 1e-6
    path, _ = run(
        "dpadambc", gradients, [0.0, 1.0], 3,
        noise_multiplier=sigma, clip_norm=clip, variance_floor=floor,
    )  # fmt: skip
    m, v, theta = np.zeros(2), np.zeros(2), np.array([0.0, 1.0])
    for t, g in enumerate(gradients, 1):
        m = 0.9 * m + 0.1 * np.array(g)
        v = 0.999 * v + 0.001 * np.array(g) ** 2
        corrected = np.maximum(v / (1 - 0.999**t) - (sigma * clip / 250) ** 2, floor)
        theta = theta - 1e-3 * (m / (1 - 0.9**t)) / np.sqrt(corrected)
        assert path[t - 1] == pytest.approx(theta.tolist(), rel=1e-4)


def adadp(gradients, theta, steps, rate=1e-3):
    """NOTES section 3, word for word: lots in pairs, whole step against two half steps."""
    theta = np.array(theta, float)
    path = []
    tolerance = math.sqrt(len(theta) / (2 * steps))
    for a, b in zip(gradients[0::2], gradients[1::2], strict=True):
        whole = theta - rate * np.array(a)
        half = theta - rate / 2 * np.array(a)
        second = half - rate / 2 * np.array(b)
        error = np.linalg.norm((whole - second) / np.maximum(1, np.abs(whole)))
        rate *= np.clip(math.sqrt(tolerance / error), 0.9, 1.1)
        theta = theta if error > tolerance else second
        path.append(theta.tolist())
    return path, rate


@pytest.mark.parametrize("size_of_gradient", [1.0, 300.0, 5000.0])
def test_adadp_is_its_transcription(size_of_gradient):
    rng = np.random.default_rng(0)
    gradients = (rng.standard_normal((40, 12)) * size_of_gradient).tolist()
    start = rng.standard_normal(12).tolist()
    path, state = run("adadp", gradients, start, 40)
    expected, rate = adadp(gradients, start, 40)
    assert np.allclose(path[1::2], expected, rtol=1e-4, atol=1e-4)
    assert state["rate"].item() == pytest.approx(rate, rel=1e-4)


def test_adadp_refuses_a_pair_that_is_not_finite():
    path, state = run("adadp", [[1.0, 1.0], [float("nan"), 1.0]], [0.5, 0.5], 2)
    assert path[-1] == [0.5, 0.5]
    assert state["rate"].item() == pytest.approx(0.9e-3)


@pytest.mark.parametrize(("sigma", "clip"), [(4.0, 1.0), (2.0, 0.5)])
def test_adadp_settles_at_the_rate_of_the_notes(sigma, clip):
    """Noise alone, |theta| < 1: the controller drifts to L/(sigma C sqrt(T))."""
    d, steps, lot = 400, 4000, 250.0
    data = examples(torch.zeros(5000, d - 1), torch.full((5000,), -1))  # no gradient at all
    seen = []
    model = Linear(d - 1, 2)
    chosen = candidate("adadp", noise_multiplier=sigma, clip_norm=clip)
    state = train(
        model, data, [chosen], Schedule(steps, lot), Randomness.simulation(0),
        observe=lambda s: seen.append(s.parameters.abs().max().item()),
        stop=lambda: len(seen) >= 20,
    )  # fmt: skip
    assert max(seen) < 1
    rate = state.states[0].tensors["rate"].item()
    assert rate == pytest.approx(lot / (sigma * clip * math.sqrt(steps)), rel=0.1)


@pytest.mark.parametrize(
    ("sigma", "clip"),
    [
        (4.0, 1.0),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [(8.0, 0.1), (2.0, 3.0)]),
    ],
)
def test_adams_step_size_converges_to_the_theorem(sigma, clip):
    """Theorem 3: on zero gradients DPAdam moves by first moment times 1e-3/(sigma C/L + 1e-8)."""
    d, lot = 499, 250.0  # a mean over as many parameters is known to 0.2 %
    data = examples(torch.zeros(3000, d), torch.full((3000,), -1))
    chosen = candidate("dpadam", noise_multiplier=sigma, clip_norm=clip)
    found = []

    def observe(snapshot):
        found.append(snapshot.parameters[0].clone())

    steps = 4000  # beta2's memory is 1,000 steps
    whole = train(
        Linear(d, 2), data, [chosen], Schedule(steps, lot), Randomness.simulation(1),
        observe=observe, observe_every=1, stop=lambda: len(found) >= steps - 1,
    )  # fmt: skip
    step = found[-2] - found[-1]
    first = whole.states[0].tensors["first"] / (1 - 0.9**steps)
    effective = (step @ first / (first @ first)).item()
    assert effective == pytest.approx(1e-3 / (sigma * clip / lot + 1e-8), rel=0.01)


def test_balanced_rate_is_the_formula():
    rate = balanced_rate(2.0, 250, 1.66, 1.0, 2500, 3.1)
    assert rate == pytest.approx(2 * 250 / (1.66 * math.sqrt(2500) * 3.1))
    chosen = [candidate("balanced", noise_multiplier=1.66, row_norm=3.1)]
    knobs = optimizer("balanced").knobs(chosen, 2500, 250)
    assert knobs.learning_rate[0] == rate


def test_balanced_noise_moves_a_logit_by_kappa():
    """What the rule promises: the whole training's noise moves a row of norm B by kappa."""
    features, steps, norm = 400, 300, 5.0
    data = examples(torch.zeros(2000, features), torch.full((2000,), -1))
    chosen = [candidate("balanced", noise_multiplier=3.0, row_norm=norm, kappa=2.0)] * 20
    trained = train(
        Linear(features, 2), data, chosen, Schedule(steps, 100), Randomness.simulation(0)
    )
    moved = trained.stacked[:, :features].std().item() * norm
    assert moved == pytest.approx(2.0, rel=0.05)


def test_automatic_clipping_uses_one_for_the_clip_norm():
    the, chosen = optimizer("dpadamwosm"), candidate("dpadamwosm", clip_norm=1.0)
    by_norm = the.knobs([chosen], 10, 250)
    automatic = the.knobs([replace(chosen, clip_norm=7.0, clipping="automatic")], 10, 250)
    assert automatic.noise.tolist() == by_norm.noise.tolist()


@pytest.mark.parametrize("rule", optimizers.names())
def test_compiled_and_torch_updates_are_equal(rule):
    """Three candidates with their own numbers, four lots."""
    chosen = [
        candidate(rule, noise_multiplier=s, clip_norm=c, momentum=m, beta1=m, beta2=b)
        for s, c, m, b in ((1.0, 1.0, 0.9, 0.999), (4.0, 0.3, 0.5, 0.9), (2.0, 2.0, 0.0, 0.0))
    ]
    the = optimizer(rule)
    knobs = the.knobs(chosen, 10, 250.0)
    g = torch.Generator().manual_seed(0)
    params = torch.randn(3, 700, generator=g)
    state = the.init(params, knobs)
    mine, own = params.clone(), {name: value.clone() for name, value in state.items()}
    for t in range(1, 5):
        gradient = torch.randn(3, 700, generator=g) * 0.05
        params, state = the.update(gradient, params, state, knobs, t)
        slots = tuple(own[name].numpy() for name in the.slots)
        table = the.table(knobs, own, t)
        for k in range(3):
            loop = update(the.formula(t), len(slots))
            loop(gradient[k].numpy(), mine[k].numpy(), slots, k, 0, table[k])
        if t % the.lots == 0:
            mine, own = the.finish(mine, own, knobs)
        assert torch.allclose(mine, params, rtol=1e-4, atol=1e-5)
        for name, value in state.items():
            assert torch.allclose(own[name], value, rtol=1e-4, atol=1e-6), name


def test_a_rule_says_how_many_lots_it_reads():
    for name in optimizers.names():
        assert optimizer(name).lots == (2 if name == "adadp" else 1)
