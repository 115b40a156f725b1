"""The contract suite of optimizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
import torch

from honestdp.candidates import TUNABLE, Candidate
from honestdp.engine import Linear, Randomness, Schedule, examples, train
from honestdp.engine.kernels.update import update
from honestdp.errors import InputError
from honestdp.optimizers import Knobs, Optimizer, optimizers

PARAMETERS, LOTS, LOT_SIZE = 700, 10, 250.0
RESERVED = ("result", "params", "mean")  # what a training's state holds beside the rule's


def check_optimizer(kind: type[Optimizer], **hyperparameters: float) -> None:
    """Check that an optimizer keeps the contract of `honestdp.optimizers.Optimizer`.

    Its formula has the same result compiled and in torch, its state keeps its shapes and stays
    finite, no candidate depends on another, and an interrupted training has the same result as an
    uninterrupted one.

    Args:
        kind: The class. It need not be registered.
        hyperparameters: Values to check it with, besides its defaults; also learning_rate, if it
            needs a special one.

    Raises:
        AssertionError: If it breaks the contract; the message says what to change.

    Example:
        >>> from honestdp.optimizers.dpadam import DPAdam
        >>> check_optimizer(DPAdam, beta1=0.5)
    """
    with _registered(kind):
        rule = kind()
        _check_facts(rule)
        chosen = _candidates(rule, hyperparameters)
        knobs = rule.knobs(chosen, LOTS, LOT_SIZE)
        _check_coefficients(rule, knobs)
        _check_updates(rule, chosen)
        _check_training(rule, chosen)


@contextmanager
def _registered(kind: type[Optimizer]) -> Iterator[None]:
    if not (isinstance(kind, type) and issubclass(kind, Optimizer)):
        raise AssertionError("give a subclass of honestdp.optimizers.Optimizer, the class itself")
    if kind.__abstractmethods__:
        names = ", ".join(sorted(kind.__abstractmethods__))
        raise AssertionError(f"{kind.__name__} does not define {names}")
    for name in ("name", "summary", "formulas"):
        if not getattr(kind, name, None):
            raise AssertionError(f"{kind.__name__} does not define {name}")
    known = kind.name in optimizers
    if known and optimizers.get(kind.name) is not kind:
        raise AssertionError(f"another optimizer is called {kind.name!r}; choose another name")
    optimizers.register(kind)
    try:
        yield
    finally:
        if not known:
            optimizers.unregister(kind.name)


def _check_facts(rule: Optimizer) -> None:
    names = [*rule.slots, *rule.rates]
    assert len(set(names)) == len(names), f"slots and rates {names}: each needs its own name"
    taken = sorted(set(names) & set(RESERVED))
    assert not taken, f"slots and rates: {', '.join(taken)}: the name is taken; choose another"
    if rule.lots > 1:
        assert rule.between in rule.slots, (
            f"between={rule.between!r}: a rule that reads {rule.lots} lots per step must name the "
            "slot that holds the result between them"
        )
    for one in rule.hyperparameters:
        taken_name = one.name in (*TUNABLE, "hyperparameters", "sensitivity", "steps", "noise")
        assert not taken_name, f"hyperparameter {one.name}: the name is taken; choose another"
        try:
            one.check(one.name, one.default)
        except InputError as error:
            raise AssertionError(
                f"hyperparameter {one.name}: its check refuses its default: {error}"
            ) from None


def _candidates(rule: Optimizer, more: dict[str, float]) -> list[Candidate]:
    """Three with different noise and clipping, the last with the hyperparameters given."""
    facts: list[dict[str, Any]] = [
        {"noise_multiplier": 1.0},
        {"noise_multiplier": 4.0, "clip_norm": 0.3},
        {"noise_multiplier": 2.0, "clipping": "automatic", **more},
    ]
    rates: list[dict[str, Any]] = [{}, {"learning_rate": 0.1}]
    for rate in rates:  # some need one, some refuse one
        try:
            return [Candidate(rule=rule.name, row_norm=2.0, **{**rate, **one}) for one in facts]
        except InputError as error:
            reason = str(error)
    raise AssertionError(f"no candidate can be made, with and without a learning rate: {reason}")


def _check_coefficients(rule: Optimizer, knobs: Knobs) -> None:
    state = rule.init(torch.zeros(3, PARAMETERS), knobs)
    for t in range(1, 2 * rule.lots + 1):
        found = rule.coefficients(knobs, state, t)
        shapes = [np.shape(one) for one in found]
        assert all(shape == (3,) for shape in shapes), (
            f"coefficients: shapes {shapes} for 3 candidates; return arrays of one number each"
        )
        assert np.isfinite(found).all(), f"coefficients: not finite at lot {t}"
        taken = len(signature(rule.formula(t)).parameters)
        given = 2 + len(rule.slots) + len(found)
        assert taken == given, (
            f"formula of lot {t}: takes {taken} arguments, and is given {given}: the gradient, the "
            f"parameter, {len(rule.slots)} slots and {len(found)} coefficients"
        )


def _check_updates(rule: Optimizer, chosen: Sequence[Candidate]) -> None:
    """In torch, compiled, and every candidate by itself."""
    knobs = rule.knobs(chosen, LOTS, LOT_SIZE)
    draws = torch.Generator().manual_seed(0)
    params = torch.randn(3, PARAMETERS, generator=draws)
    state = rule.init(params, knobs)
    compiled, own = params.clone(), _copied(state)
    apart = [(params[k : k + 1].clone(), _one(state, k)) for k in range(3)]
    for t in range(1, 2 * rule.lots + 3):
        g = torch.randn(3, PARAMETERS, generator=draws) * 0.05 * (t % 4 > 0)  # nothing at times
        given = params.clone(), _copied(state)
        after, new = _updated(rule, g, params, state, knobs, t)
        assert torch.equal(given[0], params), "it writes into the parameters; return new ones"
        for name, value in state.items():
            assert torch.equal(given[1][name], value), f"it writes into {name}; return a new one"
        _check_state(rule, after, new, t)
        compiled, own = _compiled(rule, g, compiled, own, knobs, t)
        _check_close(
            after, new, compiled, own, f"lot {t}: the compiled formula and the one in torch differ"
        )
        for k in range(3):
            alone = rule.knobs(chosen[k : k + 1], LOTS, LOT_SIZE)
            apart[k] = _updated(rule, g[k : k + 1], *apart[k], alone, t)
            text = f"lot {t}: a candidate's update depends on the other candidates"
            _check_close(after[k : k + 1], _one(new, k), *apart[k], text)
        params, state = after, new


def _updated(
    rule: Optimizer, g: Any, params: Any, state: Any, knobs: Knobs, t: int
) -> tuple[Any, Any]:
    try:
        return rule.update(g, params, state, knobs, t)
    except InputError as error:
        raise AssertionError(f"lot {t}: {error}") from error
    except Exception as error:
        raise AssertionError(
            f"lot {t}: fails in torch ({type(error).__name__}: {error}); write the formula in "
            "plain arithmetic and finish in methods of tensors"
        ) from error


def _compiled(
    rule: Optimizer, g: Any, params: Any, state: Any, knobs: Knobs, t: int
) -> tuple[Any, Any]:
    params, state = params.clone(), _copied(state)
    slots = tuple(state[name].numpy() for name in rule.slots)
    table = rule.table(knobs, state, t)
    try:
        loop = update(rule.formula(t), len(slots))
        for k in range(3):
            loop(g[k].numpy(), params[k].numpy(), slots, k, 0, table[k])
    except Exception as error:
        raise AssertionError(
            f"lot {t}: its formula cannot be compiled ({type(error).__name__}); write it in plain "
            f"arithmetic, returning a tuple of the parameter and {len(slots)} slots: {error}"
        ) from error
    return rule.finish(params, state, knobs) if t % rule.lots == 0 else (params, state)


def _check_state(rule: Optimizer, params: Any, state: Any, t: int) -> None:
    wanted = dict.fromkeys(rule.slots, (3, PARAMETERS)) | dict.fromkeys(rule.rates, (3, 1))
    found = {name: tuple(value.shape) for name, value in state.items()}
    assert found == wanted, f"lot {t}: its state has the shapes {found}; must have {wanted}"
    assert tuple(params.shape) == (3, PARAMETERS), f"lot {t}: the shape of the parameters changes"
    for name, value in {"the parameters": params, **state}.items():
        assert value.dtype == torch.float32, (
            f"lot {t}: {name} become {value.dtype}; write constants as np.float32(...)"
        )
        assert torch.isfinite(value).all(), f"lot {t}: {name} are not finite on ordinary gradients"


def _check_close(params: Any, state: Any, other: Any, others: Any, text: str) -> None:
    pairs = {"parameters": (params, other)} | {n: (v, others[n]) for n, v in state.items()}
    for name, (a, b) in pairs.items():
        close = torch.isclose(a, b, rtol=1e-4, atol=1e-5)
        # A rounding may decide on which side of a threshold a few of them are.
        assert close.double().mean() >= 0.99, f"{text}, in {name}"


def _check_training(rule: Optimizer, chosen: Sequence[Candidate]) -> None:
    """Whole trainings: with others beside, and interrupted in the middle."""
    draws = np.random.default_rng(0)
    rows = examples(draws.standard_normal((60, 4)), draws.integers(0, 2, 60))
    model, schedule = Linear(4, 2), Schedule(steps=4 * rule.lots, lot_size=20)

    def trained(candidates: Sequence[Candidate], **more: Any) -> Any:
        streams = Randomness.simulation(1)
        return train(model, rows, candidates, schedule, streams, workers=1, **more)

    averaged = [Candidate(**{**_facts(one), "average": True}) for one in chosen]
    whole = trained([*chosen, *averaged])
    alone = trained(chosen[:1])
    assert torch.equal(alone.parameters(0), whole.parameters(0)), (
        "training: a candidate's result depends on the candidates that train with it"
    )
    for steps in (1, rule.lots, rule.lots + 1):
        calls = iter(range(10**6))

        def stop(steps: int = steps, calls: Iterator[int] = calls) -> bool:
            return next(calls) >= steps

        begun = trained([*chosen, *averaged], stop=stop)
        ended = trained([*chosen, *averaged], resume=begun)
        for i in range(6):
            assert torch.equal(ended.parameters(i), whole.parameters(i)), (
                f"training: interrupted after {steps} lots and resumed it has another result; keep "
                "all state in slots and rates, none in the optimizer"
            )


def _facts(one: Candidate) -> dict[str, Any]:
    return {name: getattr(one, name) for name in TUNABLE} | dict(one.hyperparameters)


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value.clone() for name, value in state.items()}


def _one(state: dict[str, Any], k: int) -> dict[str, Any]:
    return {name: value[k : k + 1].clone() for name, value in state.items()}
