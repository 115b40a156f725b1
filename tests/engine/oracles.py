"""Independent computations that the engine is held against: autograd, one example at a time."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from honestdp.engine import Candidate, Linear, TwoLayer, named


def candidate(rule: str = "dpadam", **more) -> Candidate:
    """A candidate of this rule, with what the rule cannot do without."""
    given = {"noise_multiplier": 1.0, "rule": rule}
    if rule in ("dpsgd", "dpmomentum"):
        given["learning_rate"] = 0.1
    if rule == "balanced":
        given["row_norm"] = 2.0
    return Candidate(**(given | more))


def as_module(model, params: torch.Tensor) -> nn.Module:
    """The same network in torch.nn, with these parameters (one row)."""
    part = named(model, params)
    outputs = model.loss.outputs

    def linear(weight, bias, width):
        layer = nn.Linear(model.features if width is None else width, weight.shape[1])
        layer.weight.data, layer.bias.data = weight.T.clone(), bias.clone()
        return layer

    if isinstance(model, Linear):
        return nn.Sequential(linear(part["weight"], part["bias"], None))
    assert isinstance(model, TwoLayer)
    assert part["weight"].shape == (model.width, outputs)
    first = linear(part["hidden_weight"], part["hidden_bias"], None)
    last = linear(part["weight"], part["bias"], model.width)
    return nn.Sequential(first, nn.ReLU() if model.activation else nn.Identity(), last)


def flat_gradient(model, gradients: dict[str, torch.Tensor]) -> torch.Tensor:
    """Gradients of `as_module`'s parameters in the order of a row of ours."""
    parts = [g.T if g.ndim == 2 else g for g in gradients.values()]
    return torch.cat([p.flatten() for p in parts])


def loss_of(model, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """One example's loss."""
    if not model.loss.classes:
        return (output.squeeze(-1) - target).square().sum() / 2
    if model.loss.classes == 2 and output.shape[-1] == 1:
        return functional.binary_cross_entropy_with_logits(output.squeeze(-1), target.float())
    return functional.cross_entropy(output, target)


def loop(
    model, params: torch.Tensor, X: torch.Tensor, y: torch.Tensor, clip, share: float = 1.0
) -> torch.Tensor:
    """The clipped sum by autograd, example by example; clip None: automatic. `share`: how much of
    the clip norm is used, as some of it is kept for rounding (`engine.grid`)."""
    module = as_module(model, params)
    total = torch.zeros(params.shape[-1], dtype=torch.float64)
    for x, target in zip(X, y, strict=True):
        if model.loss.classes and not 0 <= target < model.loss.classes:
            continue
        module.zero_grad()
        loss_of(model, module(x), target).backward()
        g = flat_gradient(model, {n: p.grad for n, p in module.named_parameters()}).double()
        norm = g.norm()
        if not torch.isfinite(norm):
            continue
        factor = 1 / (norm + 0.01) * share if clip is None else min(1.0, share * clip / norm)
        total += g * factor
    return total.float()
