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
