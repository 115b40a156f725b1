"""The warm process that runs tests on sources with bugs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from seeded import Warm, warmed


@pytest.fixture(scope="session")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """One for each process of xdist; what they know of the sound source they share."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    passed = shared / "passed"
    passed.mkdir(exist_ok=True)
    with warmed(passed) as process:
        yield process
