"""A ledger and a table for the tests of `run`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import new_ledger, one_training, search, write_csv

from honestdp.ledger import Ledger
from honestdp.planning.plan import Plan


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """With room for a plan or two."""
    return new_ledger(tmp_path / "one.ledger", 1.0)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "table.csv")


@pytest.fixture(scope="session")
def plan() -> Plan:
    return search()


@pytest.fixture(scope="session")
def training() -> Plan:
    return one_training()
