"""Compiled kernels are kept between runs, but never beyond a change of what they call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from honestdp import compiled

ROOT = Path(__file__).parent.parent
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


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """A small package in place of ours: a kernel, what it imports, and what it does not."""
    folder = tmp_path / "small"
    (folder / "inner").mkdir(parents=True)
    for name, text in {
        "kernel.py": "from small import inner\nif True:\n    from small.rule import clip\n",
        "rule.py": "import math\nimport small.limit\n",
        "limit.py": "LIMIT = 1\n",
        "inner/__init__.py": "WIDTH = 8\n",
        "other.py": "from small.kernel import run\n",
    }.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(compiled, "_FOLDER", folder)
    forget()
    yield folder
    forget()


def forget() -> None:
    compiled._stamp.cache_clear()
    compiled._imported.cache_clear()


@pytest.mark.parametrize(
    ("file", "matters"),
    [
        ("kernel.py", True),
        ("rule.py", True),
        ("limit.py", True),
        ("inner/__init__.py", True),
        ("other.py", False),
    ],
)
def test_a_kernel_belongs_to_all_that_its_file_imports(package, file, matters) -> None:
    before = compiled._stamp(package / "kernel.py")
    (package / file).write_text((package / file).read_text() + "X = 1\n")
    forget()
    assert (compiled._stamp(package / "kernel.py") != before) == matters


def test_names_that_depend_on_where_a_file_lies_are_refused(package) -> None:
    (package / "rule.py").write_text("from .limit import LIMIT\n")
    with pytest.raises(ImportError, match=r"rule.py: a compiled module must use absolute imports"):
        compiled._stamp(package / "kernel.py")


def test_a_kernel_belongs_to_how_it_is_compiled() -> None:
    kinds = (compiled.compiled, compiled.compiled_fused, compiled.compiled_fast)
    stamps = {kind(forget)._cache._cache_file._source_stamp for kind in kinds}
    assert len(stamps) == 3


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
