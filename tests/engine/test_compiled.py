"""Compiled kernels are kept between runs, but never beyond a change of what they call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CODE = """
import torch
from honestdp.engine import Linear, clipped_sum
found = clipped_sum(Linear(2, None), torch.zeros(3), [[3.0, 4.0]], [1.0], 0.5)
print(round(found.values.norm().item(), 3))
"""


@pytest.mark.slow
def test_a_kernel_does_not_outlive_the_rule_it_was_made_with(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))

    def norm() -> float:
        done = subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    assert norm() == 0.5
    rule = tmp_path / "src" / "honestdp" / "engine" / "kernels" / "loss.py"
    rule.write_text(rule.read_text().replace("limit / norm)", "limit / norm / 2)"))
    assert norm() == 0.25


OUTSIDE = """
import numpy as np
from honestdp.optimizers import Optimizer, optimizers

FACTOR = np.float32(1)


def formula(g, p, rate):
    return (p - FACTOR * rate * g,)


@optimizers.register
class Mine(Optimizer):
    name = "mine"
    summary = "DPSGD times a factor"
    usual_rate = 1.0
    formulas = (formula,)

    def coefficients(self, knobs, state, t):
        return (knobs.learning_rate,)
"""
STEP = """
import torch, mine
from honestdp.engine import Candidate, Linear, Randomness, Schedule, examples, train
from honestdp.engine.kernels.update import noisy_update
rows = examples([[3.0, 4.0]], [1.0])
one = Candidate(noise_multiplier=0.0, rule="mine")
made = train(Linear(2, None), rows, [one], Schedule(1, 1), Randomness.simulation(0))
kernel = noisy_update(mine.formula, 0)
print(round(made.parameters(0).norm().item(), 3), sum(kernel.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_a_formula_from_outside_is_kept_until_it_changes(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "mine.py").write_text(OUTSIDE)

    def norm() -> tuple[float, bool]:
        done = subprocess.run(
            [sys.executable, "-c", STEP],
            env={**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}:{tmp_path}"},
            capture_output=True,
            text=True,
            check=True,
        )
        found, hits = done.stdout.split()
        return float(found), int(hits) > 0

    assert norm() == (1.0, False)
    assert norm() == (1.0, True)
    (tmp_path / "mine.py").write_text(OUTSIDE.replace("np.float32(1)", "np.float32(2)"))
    assert norm() == (2.0, False)
