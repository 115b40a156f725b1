"""Shared by all tests: where the real data lie, and that they are not silently skipped."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """A shell starts its background jobs with Ctrl-C ignored; the tests mean it as usual."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What is imported stays: the garbage collector need not look at it after every few tests."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no name for a test: gzip's hold the time, so that two workers would differ."""
    return argname if isinstance(val, bytes) else None


def _data_folder() -> Path | None:
    named = os.environ.get("HONESTDP_DATA")
    return Path(named) if named and Path(named).is_dir() else None


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real datasets; tests that use it carry the mark `data`."""
    folder = _data_folder()
    if folder is None:
        pytest.skip("set HONESTDP_DATA to the folder with the datasets")
    return folder


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without the mark, the check below would not see that a data test was skipped."""
    if "data_folder" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("data"):
        pytest.fail(f"{item.nodeid} reads real data; mark it with pytest.mark.data", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, object]:
    """A data test that skips although the files are there is a failure, not a skip."""
    report = yield
    if report.skipped and item.get_closest_marker("data") and _data_folder() is not None:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped although HONESTDP_DATA is there"
    return report
