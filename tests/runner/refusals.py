"""What every refusal of a run has to be: one line, no cell of the table, nothing changed."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from file_watch import FileWatch, opened
from tiny_runs import table

from honestdp.errors import InputError
from honestdp.ledger import Ledger

PLANTED = [str(age) for age in table()["age"]] + [j for j in table()["job"] if "odd" in j]


@contextmanager
def refused(*words: str) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """An `InputError` of one line with these words; neither it nor its traceback has a cell."""
    with pytest.raises(InputError) as caught:
        yield caught
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line, line
    shown = line + "".join(traceback.format_exception(caught.value))
    assert not [cell for cell in PLANTED if cell in shown]


@contextmanager
def unspent(ledger: Ledger) -> Iterator[None]:
    """The ledger's file stays as it is, to the byte, and nothing is left beside it."""
    before, beside = ledger.path.read_bytes(), sorted(ledger.path.parent.iterdir())
    yield
    assert ledger.path.read_bytes() == before
    assert sorted(ledger.path.parent.iterdir()) == beside


@contextmanager
def never_opened(path: Path) -> Iterator[None]:
    """Nobody opens this file; seen by the kernel, where there is Linux's inotify."""
    if sys.platform != "linux":
        yield
        return
    watch = FileWatch(path.parent)
    try:
        yield
        assert not opened(watch.events(), path)
    finally:
        watch.close()
