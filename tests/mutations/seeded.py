"""Seeded bugs: one line of a copy of the source changed, and the test that must notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PACKAGES = {"honestdp": ROOT / "src", "honestdp_reproduction": ROOT / "reproduction" / "src"}


class Mutant(NamedTuple):
    name: str
    file: str
    good: str
    bad: str
    caught_by: str
    by_slow: bool = False  # the test that notices may be one of the slow ones


def name(mutant: Mutant) -> str:
    """A test's id."""
    return mutant.name.replace(" ", "-")


def with_package(file: str) -> Path:
    """A mutant's file below the folder of its package: the library's, unless it says otherwise."""
    named = Path(file)
    return named if named.parts[0] in PACKAGES else Path("honestdp", named)


def check_line(mutant: Mutant) -> None:
    """The line to change is there, once."""
    path = with_package(mutant.file)
    text = (PACKAGES[path.parts[0]] / path).read_text()
    assert text.count(mutant.good) == 1, "the line has moved; mend the mutant"


class Copies:
    """Copies of the source to put bugs in.

    Kernels are compiled anew for a copy of its own where the bug is in what they are made from
    (see honestdp.compiled); all other bugs share a copy, and with it what numba has compiled.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shared = folder / "shared"

    def of(self, mutant: Mutant) -> Path:
        if mutant.file.startswith(("engine/", "randomness/")) or "/" not in mutant.file:
            return _copied(Path(tempfile.mkdtemp(dir=self._folder)) / "src")
        return self._shared if self._shared.is_dir() else _copied(self._shared)


def _copied(place: Path) -> Path:
    # Without what Python and numba keep: nothing of the sound source may be run.
    skipped = shutil.ignore_patterns("__pycache__")
    for sources in PACKAGES.values():
        shutil.copytree(sources, place, ignore=skipped, dirs_exist_ok=True)
    return place


def check_caught(mutant: Mutant, copies: Copies) -> None:
    """The test named fails on a copy of the source that has the bug."""
    source = copies.of(mutant)
    target = source / with_package(mutant.file)
    sound = target.read_text()
    target.write_text(sound.replace(mutant.good, mutant.bad))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
             *(["-m", "slow or not slow"] if mutant.by_slow else []), mutant.caught_by],
            cwd=ROOT,
            # No byte code is kept: two bugs of one length within a second would look the same.
            env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=900,
        )  # fmt: skip
    finally:
        target.write_text(sound)
    assert done.returncode == 1, f"survived {mutant.caught_by}: {done.stdout[-500:]}"
