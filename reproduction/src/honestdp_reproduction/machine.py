"""What a result was measured on: the class of machine, the versions, the commit. No names of it."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
import numpy
import scipy
import sklearn
import torch

from honestdp.version import __version__

# What else ran in the last minute; Windows does not say.
LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "honestdp": __version__,
        "numpy": numpy.__version__,
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
        "numba": numba.__version__,
        "scipy": scipy.__version__,
        "scikit_learn": sklearn.__version__,
        "dp_accounting": version("dp-accounting"),
        "date": date.today().isoformat(),
        "load_before": LOAD,
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


@cache  # what runs is what was read at the start
def commit() -> str:
    """The commit the code is at; with a + where its sources have been changed since. "unknown"
    where it is not in its own repository: an installed copy may lie in someone else's."""

    def git(*words: str) -> str:
        here = Path(__file__).parent
        try:
            done = subprocess.run(["git", *words], cwd=here, capture_output=True, text=True)
        except OSError:
            return ""
        return done.stdout.strip()

    if not git("ls-files", "--", Path(__file__).name):
        return "unknown"
    sources = (":/src", ":/reproduction/src/*.py", ":/benchmarks/*.py")
    changed = git("status", "--porcelain", "--", *sources)
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
