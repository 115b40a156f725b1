"""`check_executor`: whether an executor keeps the contract of `honestdp.executors.base`."""

from __future__ import annotations

from itertools import count

import numpy as np
import torch

from honestdp.candidates import Candidate
from honestdp.engine.examples import examples
from honestdp.engine.models import Linear, Model, TwoLayer
from honestdp.engine.train import Schedule, Trained
from honestdp.executors import Executor, Work
from honestdp.executors.local import LocalExecutor
from honestdp.randomness import Randomness

_STEPS = 12


def check_executor(executor: Executor) -> None:
    """Check that an executor gives the same parameters as `local`, paused or not.

    Args:
        executor: The executor, ready to train. It is closed at the end.

    Raises:
        AssertionError: If it breaks the contract; the message says how.

    Example:
        >>> check_executor(LocalExecutor(workers=2))
    """
    assert isinstance(executor, Executor), "give an executor: an object, not its class"
    assert isinstance(getattr(executor, "name", None), str), "name: an executor needs one, a text"
    for model in (Linear(4, 2), TwoLayer(4, 3, width=5), Linear(4, None)):
        work = _work(model)
        wanted = LocalExecutor(workers=1).train(work)
        found = _trained(executor, work)
        assert found.finished, "train: returned unfinished trainings although stop was not given"
        for i in range(len(work.candidates)):
            assert _same(found.parameters(i), wanted.parameters(i)), (
                f"train: candidate {i} of {model} has other parameters than local gives"
            )
        _check_pauses(executor, model, wanted.parameters(0))
    told: list[tuple[int, int]] = []
    _trained(executor, _work(Linear(4, 2), progress=lambda done, of: told.append((done, of))))
    ended = bool(told) and told[-1][0] == told[-1][1]
    assert ended, "train: the last call of progress must report all steps"
    executor.close()


def _check_pauses(executor: Executor, model: Model, wanted: torch.Tensor) -> None:
    calls = count()
    work = _work(model, stop=lambda: next(calls) % 4 == 3)
    found, rounds = None, 0
    while found is None or not found.finished:
        found, rounds = _trained(executor, work, found), rounds + 1
        assert rounds < 100, "train: makes no step between two pauses, so it never ends"
    assert _same(found.parameters(0), wanted), (
        "train: a training that was paused has other parameters"
    )


def _trained(executor: Executor, work: Work, begun: Trained | None = None) -> Trained:
    found: object = executor.train(work, begun)
    assert isinstance(found, Trained), (
        f"train: returned a {type(found).__name__}; return a Trained, as local does"
    )
    count, wanted = len(found.states), len(work.candidates)
    assert count == wanted, f"train: returned {count} states for {wanted} candidates"
    return found


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal up to the rounding of matrix products, which depends on how many train together."""
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def _work(model: Model, **more: object) -> Work:
    source = np.random.default_rng(0)
    x = source.random((200, 4), dtype=np.float32)
    classes = model.loss.classes
    y = source.integers(classes, size=200) if classes else source.random(200, dtype=np.float32)
    rates = (0.1, 0.5, 1.0)
    return Work(
        [model] * len(rates),
        examples(x, y),
        [Candidate(noise_multiplier=2.0, rule="dpsgd", learning_rate=rate) for rate in rates],
        Schedule(_STEPS, 20),
        Randomness.simulation(3),
        numbers=range(len(rates)),
        **more,  # type: ignore[arg-type]
    )
