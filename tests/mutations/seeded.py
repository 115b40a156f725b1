"""Seeded bugs: one line of a copy of the source changed, and the test that must notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Mutant(NamedTuple):
    name: str
    file: str
    good: str
    bad: str
    caught_by: str


def name(mutant: Mutant) -> str:
    """A test's id."""
    return mutant.name.replace(" ", "-")


def check_line(mutant: Mutant) -> None:
    """The line to change is there, once."""
    text = (ROOT / "src" / "honestdp" / mutant.file).read_text()
    assert text.count(mutant.good) == 1, "the line has moved; mend the mutant"


def check_caught(mutant: Mutant, folder: Path) -> None:
    """The test named fails on a copy of the source, made in `folder`, that has the bug."""
    source = folder / "src"
    # Without what Python and numba keep: nothing of the sound source may be run.
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    target = source / "honestdp" / mutant.file
    target.write_text(target.read_text().replace(mutant.good, mutant.bad))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", mutant.caught_by],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 1, f"survived {mutant.caught_by}: {done.stdout[-500:]}"
