"""The two wheels: the library's holds the library alone, the reproduction's its results too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RUN = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"


def built(sources: Path, folder: Path) -> zipfile.ZipFile:
    """The wheel of a copy of these sources: building leaves files beside them."""
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(sources / "src", folder / "src", ignore=skipped)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(sources / name, folder)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--wheel-dir", str(folder), str(folder)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.mark.slow
def test_two_wheels_are_all_it_takes(tmp_path: Path) -> None:
    library = built(ROOT, tmp_path / "library")
    paper = built(ROOT / "reproduction", tmp_path / "paper")
    packages = {name.split("/")[0] for name in library.namelist()}
    assert packages == {"honestdp", "honestdp-0.1.0.dist-info"}
    assert not [name for name in library.namelist() if "paper" in name or "jsonl" in name]
    assert "honestdp/datasets/adult.csv.gz" in library.namelist()
    shipped = [name for name in paper.namelist() if name.endswith(".jsonl.gz")]
    assert len(shipped) == len(list((ROOT / "reproduction").glob("src/*/results/*.gz"))) > 5

    def honestdp(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", RUN, *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
            capture_output=True,
            text=True,
            timeout=300,
        )

    for wheel in (library, paper):
        wheel.extractall(tmp_path / "installed")
    shown = honestdp("paper", "honest-frontier", "--show")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "SIMULATION" in shown.stdout
    assert "Example: honestdp paper table3" in honestdp("paper", "--help").stdout
