"""Benchmarks are run by hand, now and then: they must not rot in between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.slow
def test_they_still_find_what_they_import() -> None:
    names = [path.stem for path in FOLDER.glob("*.py")]
    assert len(names) > 5
    code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import {', '.join(names)}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
