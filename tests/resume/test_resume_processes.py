"""Kills and Ctrl-C of real processes: what was paid for comes to one release, whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import answer

PROGRAM = Path(__file__).parent / "resume_processes.py"


@pytest.mark.parametrize(
    "kills",
    [pytest.param(60, marks=pytest.mark.slow), pytest.param(150, marks=pytest.mark.nightly)],
)
def test_killed_again_and_again(tmp_path, kills):
    found = answer(PROGRAM, "kill", tmp_path, kills, 1, timeout=900)
    assert found["kills"] >= kills
    assert found.get("with work kept", 0) > 0


def test_interrupted_and_gone_on_with(tmp_path):
    found = answer(PROGRAM, "interrupt", tmp_path, timeout=120)
    folder = str(tmp_path / "run")
    assert found["said"] == (
        f"interrupted; charge 1 stands. Run again with folder={folder!r} to go on where it was"
    )
    assert max(found["steps"]) > 0
    assert found["charges"] == 1
