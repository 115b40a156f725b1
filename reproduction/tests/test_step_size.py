"""DPAdam's effective step size: watched in stretches, resumed, and right on zero gradients."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from honestdp.engine import Candidate
from honestdp.errors import InputError
from honestdp_reproduction import step_size
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.store import Store

ZERO = Choice(datasets=("zero",))


def quiet(_: str, __: float) -> None:
    """Tells nobody."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_size, "STEPS", {"zero": 2000})
    monkeypatch.setattr(step_size, "ZERO_SHAPE", (500, 400))


@pytest.mark.usefixtures("short")
def test_on_zero_gradients_it_is_the_constant(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not trained yet"):
        step_size.result(ZERO, Store(tmp_path))
    step_size.run(ZERO, Store(tmp_path), quiet)
    found = step_size.result(ZERO, Store(tmp_path))
    for row in found["runs"][0]["clips"]:
        assert row["steps"] == list(range(100, 2001, 100))
        assert row["first_close"] == 100
        assert row["mean"][-1] == pytest.approx(1, abs=0.005)
        assert row["close"][-1] > 0.98
        assert row["left_mean"] == row["left_sampling"] == 0
        # 1.6 % in standard deviation, times 1.64: the quantiles of v's own fluctuation
        assert 0.95 < row["low"][-1] < 0.985 < 1.015 < row["high"][-1] < 1.05
    assert "never" not in step_size.text(found)
    assert step_size.picture(found).simulation


@pytest.mark.usefixtures("short")
def test_interrupted_goes_on_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_size, "STEPS", {"zero": 300})
    whole, parts = Store(tmp_path / "whole"), Store(tmp_path / "parts")
    step_size.run(ZERO, whole, quiet)

    def interrupt(_: str, share: float) -> None:
        if share == 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        step_size.run(ZERO, parts, interrupt)
    assert len(_clips(parts)) == 2
    step_size.run(ZERO, parts, quiet)
    assert _clips(parts) == _clips(whole)


def _clips(store: Store) -> Any:
    [name] = store.names("step-size")
    known = store.read("step-size", name, "clips")
    assert known is not None
    return known["clips"]


@pytest.mark.usefixtures("short")
def test_a_clip_norm_is_saved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_size, "STEPS", {"zero": 100})
    (which,) = step_size._wanted(ZERO)
    for _ in range(2):  # as two processes would
        step_size._add(which, 0, Store(tmp_path), lambda share: None)
    assert len(_clips(Store(tmp_path))) == 1


def test_it_is_trained_with_its_sigma(monkeypatch: pytest.MonkeyPatch) -> None:
    from honestdp.engine import train

    asked = set()

    def spy(model, rows, chosen, *rest, **more):
        asked.update(c.noise_multiplier for c in chosen)
        return train(model, rows, chosen, *rest, **more)

    monkeypatch.setattr("honestdp.engine.train", spy)
    step_size._watch(step_size.Watched("zero", 8.0, 100), 0, lambda share: None)
    assert asked == {8.0}


def test_stretches_equal_one_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watched candidate's moments are those of a training that nobody stops."""
    monkeypatch.setattr(step_size, "ZERO_SHAPE", (500, 20))
    few = step_size._watch(step_size.Watched("zero", 4.0, 300), 0, lambda share: None)
    monkeypatch.setattr(step_size, "EVERY", 300)
    once = step_size._watch(step_size.Watched("zero", 4.0, 300), 0, lambda share: None)
    assert [few[name][-1] for name in ("mean", "low", "high")] == [
        once[name][-1] for name in ("mean", "low", "high")
    ]


def test_ratio_of_the_noise_alone_is_one() -> None:
    candidate = Candidate(noise_multiplier=4.0, clip_norm=0.5)
    noise = 4.0 * 0.5 / 250
    second = torch.full((10,), noise**2 * (1 - 0.999**7))
    assert step_size.ratios(second, candidate, 7) == pytest.approx(
        {"mean": 1, "low": 1, "high": 1, "close": 1, "variance": 1}, rel=1e-6
    )
    assert step_size.ratios(4 * second, candidate, 7)["mean"] == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("step", [200, 2000])
def test_fluctuation_by_simulation(step: int) -> None:
    draws = torch.randn(step, 40_000, generator=torch.Generator().manual_seed(3)).square()
    weights = 0.999 ** torch.arange(step - 1, -1, -1.0)
    v = weights @ draws / weights.sum()
    expected = step_size.fluctuation(0.999, step)
    assert float(v.rsqrt().mean()) - 1 == pytest.approx(expected, rel=0.2)
    assert step_size.fluctuation(0.999, math.inf) == pytest.approx(0.000375, rel=0.01)


def test_what_gradients_leave_by_hand() -> None:
    """Two rows of one column and a bias: g_i = (p - y) (x, 1), clipped."""
    from honestdp.engine import Linear, examples

    rows = examples(torch.tensor([[0.0], [1.0]] * 500), torch.tensor([1, 0] * 500))
    candidate = Candidate(noise_multiplier=2.0, clip_norm=0.6)
    left = step_size._left(Linear(1, 2), rows, torch.zeros(2), candidate)
    gradients = torch.tensor([[0.0, -0.5], [0.5, 0.5]], dtype=torch.float64)
    gradients[1] *= 0.6 / gradients[1].norm()
    noise = 2 * (2.0 * 0.6 / 250) ** 2
    assert left["left_mean"] == pytest.approx(float(gradients.mean(0).square().sum()) / noise, 1e-4)
    sampled = (0.25 + 0.36) / 2 * 0.75 / 250
    assert left["left_sampling"] == pytest.approx(sampled / noise, 1e-4)


def test_committed_results_need_neither_torch_nor_data() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from honestdp_reproduction import step_size as e\n"
        "from honestdp_reproduction.experiment import Choice\n"
        "from honestdp_reproduction.store import SHIPPED, Store\n"
        "found = e.result(Choice(), Store(SHIPPED))\n"
        "print(e.text(found), e.picture(found).title)\n"
    )
    env = {k: v for k, v in os.environ.items() if k != "HONESTDP_DATA"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert "Theorem 3" in done.stdout
