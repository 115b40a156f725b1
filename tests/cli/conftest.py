"""A shell to call `honestdp` in, and a finished run to look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_calls import QUICK, shell

__all__ = ["run", "shell"]


@pytest.fixture
def run(shell) -> Path:
    """The folder of a finished run."""
    assert shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--quiet").code == 0
    return Path("run")
