"""Under best-of-K procedures K, the losers and their scores leave nowhere.

K is forced to 1, 50 and 600, in production, and all that can be seen from outside is compared:
the release to its last field and byte of memory, its text, progress, output, logs, the ledger.
"""

from __future__ import annotations

import dataclasses
import io
import logging
import re
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest
import torch

from honestdp import Ledger, files, make_plan
from honestdp.errors import SearchError
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Tabulated
from honestdp.runner.run import run
from search_tables import PROCEDURES, SCHEMA, asked, table

SEALED = [name for name, (_, shows_all) in PROCEDURES.items() if not shows_all]
FORCED = (1, 50, 600)


def form(value: object, seen: tuple[int, ...] = ()) -> object:
    """All of an object but its numbers: types, names, lengths, bytes of memory."""
    if id(value) in seen:
        return "again"
    seen = (*seen, id(value))
    if isinstance(value, torch.Tensor):
        return ("tensor", tuple(value.shape), value.untyped_storage().nbytes(), str(value.dtype))
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.dtype.str, form(value.base, seen))
    if value is None or isinstance(value, (bool, int, float)):
        return type(value).__name__
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{32,64}|[-+.e\d]+", "#", value)
    if isinstance(value, bytes):
        return ("bytes", len(value))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(form(item, seen) for item in value))
    if isinstance(value, dict):
        return {str(key): form(item, seen) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        fields = {f.name: form(getattr(value, f.name), seen) for f in dataclasses.fields(value)}
        return (type(value).__name__, fields, form(vars(value), seen))
    if hasattr(value, "__dict__"):
        return (type(value).__name__, form(vars(value), seen))
    return type(value).__name__


def forced(runs: int):
    """A draw of K that is always this, or the most that a law given as a table has."""

    def draw(self, uniform):
        return min(runs, self.maximum) if type(self) is Tabulated else runs

    return draw


def outside(name: str, runs: int, folder, monkeypatch) -> dict[str, object]:
    """Everything that can be seen of a search whose K is forced."""
    monkeypatch.setattr(RunCount, "draw_exactly", forced(runs))
    # So that there is a winner even where a procedure may end with nothing.
    plan = make_plan(asked(name, threshold=1e-9) if "threshold" in name else asked(name))
    path = folder / "toy.ledger"
    ledger = Ledger.create(path, schema=SCHEMA, epsilon=3.0, delta=1e-4)
    run(plan, table(), seed=1)  # so that numba has compiled, and logged, what it has to
    said, progress, records = io.StringIO(), [], []
    written = set()
    write = files.replace_file

    def noted(path, content, *how):
        write(path, content, *how)
        held = [f for f in path.parent.iterdir() if f.name != "lock"]
        written.update((f.name, f.stat().st_size, oct(f.stat().st_mode)) for f in held)

    monkeypatch.setattr("honestdp.resume.journal.replace_file", noted)
    handler = logging.Handler()
    handler.emit = records.append
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            release = run(plan, table(), ledger, folder=folder / "run", progress=progress.append)
    finally:
        logging.getLogger().removeHandler(handler)
    return {
        "release": form(dataclasses.replace(release, plan=None)),
        "repr": form(repr(release)),
        "winner": form(repr(release.winner)),
        "settings": len(repr(release.winner.setting)) < 80,
        "progress": progress,
        "said": said.getvalue(),
        "logs": [record.getMessage() for record in records],
        "history": form([vars(charge) for charge in ledger.history()]),
        "files": sorted((f.name, f.stat().st_size) for f in folder.rglob("*") if f.is_file()),
        "private files": sorted(written),
    }


@pytest.mark.parametrize("name", SEALED)
def test_one_run_looks_like_fifty_and_like_six_hundred(name, tmp_path, monkeypatch):
    found = []
    for runs in FORCED:
        folder = tmp_path / str(runs)
        folder.mkdir()
        found.append(outside(name, runs, folder, monkeypatch))
    assert found[0] == found[1] == found[2]
    assert found[0]["said"] == ""
    assert found[0]["logs"] == []
    assert found[0]["progress"] == [("opening", None), ("searching", None)]


@pytest.mark.parametrize("name", SEALED)
def test_a_failure_inside_does_not_tell_how_far_it_was(name, tmp_path, monkeypatch):
    told = []
    for runs in FORCED:

        def breaks(*given, runs=runs, **named):
            raise ValueError(f"broken after {runs} runs on 0.123")

        monkeypatch.setattr(RunCount, "draw_exactly", forced(runs))
        monkeypatch.setattr("honestdp.runner.run.noisy_scores", breaks)
        ledger = Ledger.create(
            tmp_path / f"{runs}.ledger", schema=SCHEMA, epsilon=3.0,
            delta=1e-4,
        )  # fmt: skip
        with pytest.raises(SearchError) as caught:
            run(make_plan(asked(name)), table(), ledger)
        assert caught.value.__cause__ is caught.value.__context__ is None
        told.append(str(caught.value))
        (charge,) = ledger.history()
        assert not charge.released
    assert told[0] == told[1] == told[2]
    assert "0.123" not in told[0]
    with pytest.raises(ValueError, match="broken after"):  # nobody's secret
        run(make_plan(asked(name)), table(), seed=1)


@pytest.mark.parametrize("name", ["composition", "untuned"])
def test_a_failure_quotes_no_row_where_all_is_shown_either(name, tmp_path, monkeypatch):
    def breaks(*given, **named):
        raise ValueError("cannot take [0.123, 0.456]")

    monkeypatch.setattr("honestdp.runner.run.noisy_scores", breaks)
    ledger = Ledger.create(tmp_path / "l", schema=SCHEMA, epsilon=3.0, delta=1e-4)
    with pytest.raises(SearchError, match=r"ValueError.*receipt=ledger.charge\(1\)") as caught:
        run(make_plan(asked(name)), table(), ledger)
    assert caught.value.__context__ is None
    assert "0.123" not in str(caught.value)


def test_composition_tells_how_far_it_is():
    progress = []
    run(make_plan(asked("composition")), table(), seed=1, progress=progress.append)
    shares = [share for _, share in progress if share is not None]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_files_are_equally_long_whoever_wins():
    plan = make_plan(asked("random-stopping"))  # its rates are written with three and four digits
    releases = [run(plan, table(), seed=seed) for seed in range(12)]
    assert {r.winner.setting["learning_rate"] for r in releases} >= {0.01, 4.0}
    lengths = [{name: len(held) for name, held in r.files.items()} for r in releases]
    assert lengths == lengths[:1] * 12
