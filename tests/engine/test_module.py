"""Any nn.Module: gradients as a loop and Opacus have them; what cannot work is refused."""

from __future__ import annotations

import pytest
import torch
from opacus import GradSampleModule
from torch import nn
from torch.nn import functional

from honestdp.engine import (
    Candidate,
    Linear,
    Module,
    Randomness,
    Schedule,
    clipped_sum,
    correct,
    examples,
    predict,
    size,
    train,
)
from honestdp.engine.grid import row_limit
from honestdp.errors import InputError
from honestdp.units import UNITS


def conv_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(4, 6, 2, padding=1), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3),
    )  # fmt: skip


def made(net: nn.Module, x: torch.Tensor) -> nn.Module:
    net(x[:1])  # lazy layers take their shape
    return net


class Words(nn.Module):
    """An embedding, averaged, normalised, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 6)
        self.norm = nn.LayerNorm(6)
        self.last = nn.Linear(6, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.last(self.norm(self.table(tokens).mean(1)))


def cases():
    g = torch.Generator().manual_seed(0)
    images = torch.randn(23, 1, 9, 9, generator=g)
    tokens = torch.randint(0, 20, (23, 7), generator=g)
    table = torch.randn(23, 5, generator=g)
    return {
        "conv": (made(conv_net(), images), images, torch.randint(0, 3, (23,), generator=g), 3),
        "words": (Words(), tokens, torch.randint(0, 4, (23,), generator=g), 4),
        "log-odds": (nn.Linear(5, 1), table, torch.randint(0, 2, (23,), generator=g), 2),
        "two outputs": (nn.Linear(5, 2), table, torch.randint(0, 2, (23,), generator=g), 2),
        "regression": (nn.Linear(5, 1), table, torch.randn(23, generator=g), None),
    }


def loss(output: torch.Tensor, target: torch.Tensor, classes: int | None) -> torch.Tensor:
    if classes is None:
        return (output - target).square().sum() / 2
    if output.shape[-1] == 1:
        return functional.binary_cross_entropy_with_logits(output, target[None].float())
    return functional.cross_entropy(output, target)


def module(net: nn.Module, classes: int | None) -> Module:
    return Module(net, classes, tokens=20 if isinstance(net, Words) else None)


def row(net: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in net.parameters()])


@pytest.mark.parametrize("clip", [0.05, 50.0, None])
@pytest.mark.parametrize("name", cases())
def test_equal_to_a_loop(name, clip):
    net, X, y, classes = cases()[name]
    expected = torch.zeros_like(row(net))
    for x, target in zip(X, y, strict=True):
        net.zero_grad()
        loss(net(x[None])[0], target, classes).backward()
        g = torch.cat([p.grad.flatten() for p in net.parameters()])
        expected += g / (g.norm() + 0.01) if clip is None else g * min(1.0, clip / g.norm())
    found = clipped_sum(module(net, classes), torch.stack([row(net)] * 2), X, y, clip)
    for values in found.values:
        assert torch.allclose(values, expected, rtol=1e-3, atol=1e-4 * expected.abs().max())


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # Opacus'
@pytest.mark.parametrize("name", ["conv", "words"])
def test_equal_to_opacus(name):
    net, X, y, classes = cases()[name]
    start = row(net)
    found = clipped_sum(module(net, classes), start, X, y, 0.1).values[0]
    theirs = GradSampleModule(net, loss_reduction="sum")
    functional.cross_entropy(theirs(X), y, reduction="sum").backward()
    each = torch.cat([p.grad_sample.flatten(1) for p in theirs.parameters()], 1)
    expected = (each * (0.1 / each.norm(dim=1, keepdim=True)).clamp(max=1)).sum(0)
    assert torch.allclose(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("memory", [1, 100_000])
def test_chunks_change_nothing(memory):
    net, X, y, classes = cases()["conv"]
    params = torch.stack([row(net), row(net) * 0.5])
    whole = clipped_sum(Module(net, classes), params, X, y, 0.1).values
    assert torch.allclose(
        whole, clipped_sum(Module(net, classes), params, X, y, 0.1, memory=memory).values, atol=1e-5
    )


def test_a_module_is_the_built_in_model_where_they_are_the_same():
    g = torch.Generator().manual_seed(0)
    X, y = torch.randn(80, 5, generator=g), torch.randint(0, 2, (80,), generator=g)
    chosen = [Candidate(noise_multiplier=1.0), Candidate(noise_multiplier=0.5, clip_norm=0.1)]
    rows, schedule, start = examples(X, y), Schedule(10, 20), torch.zeros(2, 6)
    results = [
        train(model, rows, chosen, schedule, Randomness.simulation(0), initial=start).stacked
        for model in (Linear(5, 2), Module(nn.Linear(5, 1), 2))
    ]
    assert torch.allclose(*results, atol=1e-4)


def test_a_function_starts_every_candidate_apart_and_a_module_all_at_its_parameters():
    net, X, y, classes = cases()["two outputs"]
    still = [Candidate(rule="dpsgd", learning_rate=1e-30, noise_multiplier=0.0)] * 2
    rows, schedule = examples(X, y), Schedule(2, 5)

    def starts(model):
        return train(model, rows, still, schedule, Randomness.simulation(0)).stacked

    own = starts(Module(net, classes))
    assert torch.equal(own[0], row(net))
    assert torch.equal(own[1], row(net))
    drawn = starts(Module(lambda: nn.Linear(5, 2), classes))
    assert (drawn[0] != drawn[1]).all()
    assert torch.equal(drawn, starts(Module(lambda: nn.Linear(5, 2), classes)))
    before = torch.get_rng_state()
    Module(lambda: nn.Linear(5, 2), classes)
    assert torch.equal(before, torch.get_rng_state())  # torch's own generator is left alone


def test_frozen_parameters_stay():
    net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2))
    for p in net[0].parameters():
        p.requires_grad = False
    model = Module(net, 2)
    assert size(model) == 10
    X, y = cases()["two outputs"][1:3]
    trained = train(model, examples(X, y), [Candidate(noise_multiplier=1.0)], Schedule(3, 5),
                    Randomness.simulation(0))  # fmt: skip
    assert trained.parameters(0).shape == (10,)
    assert predict(model, trained.stacked, examples(X, y)).shape == (1, 23)


def test_any_loss():
    net, X, y, _ = cases()["regression"]
    model = Module(net, None, criterion=lambda z, t: (z.squeeze(-1) - t).abs())
    found = clipped_sum(model, row(net), X, y, 10.0).values[0]
    net.zero_grad()
    (net(X).squeeze(1) - y).abs().sum().backward()
    expected = torch.cat([p.grad.flatten() for p in net.parameters()])
    assert torch.allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["conv", "words", "two outputs"])
def test_a_target_outside_the_classes_contributes_nothing(name):
    net, X, y, classes = cases()[name]
    model, params = module(net, classes), row(net)
    expected = clipped_sum(model, params, X[2:], y[2:], 0.1).values
    y[0], y[1] = -1, classes
    assert torch.allclose(clipped_sum(model, params, X, y, 0.1).values, expected, atol=1e-5)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 3e38])
def test_an_example_without_a_finite_gradient_counts_as_zero(bad):
    net, X, y, classes = cases()["conv"]
    model, params = Module(net, classes), row(net)
    without = clipped_sum(model, params, X[1:], y[1:], 0.1).values
    X[0] = bad
    found = clipped_sum(model, params, X, y, 0.1).values
    assert torch.isfinite(found).all()
    assert (found - without).norm() <= 0.1 + 1e-5


def test_no_example_reaches_another():
    """A forward that looks at its whole batch sees one example: the gradient is its own."""

    class Centred(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = nn.Linear(5, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(x - x.mean(0, keepdim=True))

    net = Centred()
    X, y = cases()["two outputs"][1:3]
    both = clipped_sum(Module(net, 2), row(net), X[:2], y[:2], 1.0).values
    each = [
        clipped_sum(Module(net, 2), row(net), X[i : i + 1], y[i : i + 1], 1.0).values
        for i in (0, 1)
    ]
    assert torch.allclose(both, each[0] + each[1], atol=1e-6)

    # Nor a score: alone, a row is its own mean, and the bias decides.
    weights = torch.cat([torch.randn(10) * 100, torch.tensor([1.0, 0.0])])
    right = correct(Module(net, 2), weights[None], examples(X, y))
    assert right == (y == 0).sum()


def test_every_use_has_its_own_structure_around_the_same_tensors():
    """Two threads that shared one would put their parameters into each other's."""
    net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2))
    own = Module(net, 2)._copy()
    assert own is not net
    assert own[0] is not net[0]
    assert own[0].weight is net[0].weight


def test_what_a_forward_pass_keeps_does_not_reach_the_next():
    class Remembers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last, self.calls = nn.Linear(5, 2), 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return self.last(x) * self.calls

    net = Remembers()
    X, y = cases()["two outputs"][1:3]
    params = row(net)
    whole = clipped_sum(Module(net, 2), params, X, y, 1.0).values
    assert torch.allclose(
        clipped_sum(Module(net, 2), params, X, y, 1.0, memory=1).values, whole, atol=1e-5
    )


def test_an_unknown_token_contributes_nothing_and_raises_nothing():
    net, X, y, classes = cases()["words"]
    model, params = module(net, classes), row(net)
    expected = clipped_sum(model, params, X[3:], y[3:], 0.1).values
    right = correct(model, params[None], examples(X[3:], y[3:]))
    X[0, 2], X[1, 0], X[2, 6] = 20, -1, 2**40
    assert torch.allclose(clipped_sum(model, params, X, y, 0.1).values, expected, atol=1e-5)
    assert correct(model, params[None], examples(X, y)) == right
    with pytest.raises(InputError, match="how many tokens"):
        clipped_sum(Module(net, classes), params, X, y, 0.1)


def test_a_parameter_without_axes():
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(2.0))
            self.last = nn.Linear(5, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.scale * self.last(x)

    X, y = cases()["log-odds"][1:3]
    trained = train(Module(Scaled(), 2), examples(X, y), [Candidate(noise_multiplier=1.0)] * 2,
                    Schedule(3, 5), Randomness.simulation(0))  # fmt: skip
    assert trained.stacked.shape == (2, 7)


def test_a_norm_of_many_parameters_is_not_too_small():
    """A float32 sum of squares over millions of parameters would lose per mille of the norm."""
    net = nn.Linear(300_000, 5)
    X, y = torch.rand(2, 300_000), torch.tensor([0, 1])
    found = clipped_sum(Module(net, 5), torch.zeros(1, 1_500_005), X[:1], y[:1], 1e-3)
    used = row_limit(1_500_005) / UNITS
    assert found.values.double().norm().item() == pytest.approx(1e-3 * used, rel=1e-6)


REFUSED = {
    "BatchNorm2d.*GroupNorm": lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)),
    "BatchNorm1d.*GroupNorm": lambda: nn.BatchNorm1d(5),
    "Dropout.*leave it out": lambda: nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.5)),
    "LSTM.*Linear": lambda: nn.LSTM(5, 3),
    "InstanceNorm1d.*track_running_stats=False": lambda: nn.InstanceNorm1d(
        5, track_running_stats=True
    ),
    "nothing to train": nn.ReLU,
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_private_is_refused_with_the_way_out(words):
    with pytest.raises(InputError, match=words) as caught:
        Module(REFUSED[words](), 2)
    assert "\n" not in str(caught.value)


def test_outputs_must_fit_the_classes():
    X, y = cases()["two outputs"][1:3]
    for net, classes in ((nn.Linear(5, 1), 3), (nn.Linear(5, 2), 3), (nn.Linear(5, 3), None)):
        with pytest.raises(InputError, match="outputs a row for"):
            clipped_sum(Module(net, classes), row(net), X, y, 1.0)


def test_what_would_fail_on_some_rows_fails_before_any():
    X, y = cases()["two outputs"][1:3]
    with pytest.raises(InputError, match="does not train"):
        clipped_sum(
            Module(nn.Linear(5, 1), 3, criterion=functional.cross_entropy),
            torch.zeros(6),
            X,
            y,
            1.0,
        )
    with pytest.raises(InputError, match="does not train"):
        clipped_sum(
            Module(nn.Linear(5, 2), None, criterion=functional.nll_loss), torch.zeros(12), X, y, 1.0
        )
    net, X, y, _ = cases()["words"]
    with pytest.raises(InputError, match="does not train"):
        clipped_sum(Module(net, 4, tokens=21), row(net), X, y, 1.0)


def test_what_a_module_raises_on_data_is_not_told():
    class Picky(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = nn.Linear(5, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape[0] == 1 and Picky.strict:
                raise ValueError("98765")
            return self.last(x)

        strict = False

    X, y = cases()["two outputs"][1:3]
    model, params = Module(Picky(), 2), torch.zeros(1, 12)
    x = examples(X, y)
    Picky.strict = True
    with pytest.raises(InputError, match="raised ValueError on a row") as caught:
        model._gradients_of_data(params, x.inputs[None], x.targets[None])
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_memory_counts_what_the_layers_put_out():
    net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 7 * 7, 3))
    rows = examples(cases()["conv"][1], cases()["conv"][2])
    assert Module(net, 3)._activations(rows) == 3 * 8 * 49 + 2 * 3  # and once more for the whole


def test_wrong_shapes_are_one_line():
    X, y = cases()["conv"][1:3]
    with pytest.raises(InputError, match="does not train on inputs of shape") as caught:
        clipped_sum(Module(nn.Linear(5, 3), 3), torch.zeros(18), X, y, 1.0)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"not a torch\.nn\.Module"):
        Module(lambda: 3, 3)


def test_scores_of_modules():
    net, X, y, classes = cases()["two outputs"]
    expected = (net(X).argmax(1) == y).sum().item()
    assert correct(Module(net, classes), row(net)[None], examples(X, y)).tolist() == [expected]
