"""The saved results of the experiments beyond the paper can be shown anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "results"
SAVED = """
import sys
from pathlib import Path
from honestdp.paper import MODULE as experiment
from honestdp.paper.experiment import Choice
from honestdp.text import SIMULATION
result = experiment.result(Choice(), Path(sys.argv[1]))
assert SIMULATION in result["what"] and SIMULATION in experiment.text(result)
assert experiment.picture(result).simulation
assert not {"torch", "numba"} & sys.modules.keys()
print(len(experiment.picture(result).panels))
"""


@pytest.mark.parametrize(("module", "panels"), [("honest_frontier", "4"), ("balanced", "14")])
def test_saved_results_are_shown_without_torch_and_data(module: str, panels: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "HONESTDP_DATA"}
    done = subprocess.run(
        [sys.executable, "-c", SAVED.replace("MODULE", module), str(RESULTS)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.stdout.strip(), done.stderr) == (panels, "")
