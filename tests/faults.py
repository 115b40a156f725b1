"""What several tests do to a system: take rights away, run programs of real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def unprivileged() -> Iterator[None]:
    """As somebody the permissions of a file mean something to."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def answer(program: Path, *arguments: object, timeout: float) -> Any:
    """The one line of JSON that a program ends with; it dies of what is not as it should be."""
    done = subprocess.run(
        [sys.executable, str(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # forks do not get along with its threads
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
