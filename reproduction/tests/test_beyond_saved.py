"""The saved results of the experiments beyond the paper can be shown anywhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SAVED = """
import sys
from honestdp_reproduction import MODULE as experiment
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.store import SHIPPED, Store
from honestdp.text import SIMULATION
result = experiment.result(Choice(), Store(SHIPPED))
assert SIMULATION in result["what"] and SIMULATION in experiment.text(result)
assert experiment.picture(result).simulation
assert not {"torch", "numba"} & sys.modules.keys()
print(len(experiment.picture(result).panels))
"""


@pytest.mark.parametrize(("module", "panels"), [("honest_frontier", "4"), ("balanced", "14")])
def test_saved_results_are_shown_without_torch_and_data(module: str, panels: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "HONESTDP_DATA"}
    done = subprocess.run(
        [sys.executable, "-c", SAVED.replace("MODULE", module)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.stdout.strip(), done.stderr) == (panels, "")
