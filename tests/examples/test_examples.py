"""The examples run, as a reader would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
SAID = {
    "1_a_table.py": ("accuracy on the census' test rows: 0.8", "# Privacy card"),
    "2_a_pipeline.py": ("cross_val_score: All the 5 fits failed.",),
    "3_a_conv_net.py": ("chosen: {", "ReleasedCandidate(number=2"),
    "4_planning_only.py": ("grid: dpsgd-40", "untuned: epsilon"),
}


def test_all_are_here():
    assert [path.name for path in EXAMPLES] == list(SAID)


@pytest.mark.parametrize(
    "path",
    [p if p.stem[0] == "4" else pytest.param(p, marks=pytest.mark.slow) for p in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_it_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:honestdp", str(path)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in SAID[path.name]:
        assert words in done.stdout
