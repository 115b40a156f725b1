"""`honestdp report`: finds the run's ledger, refuses another's, says where the page is."""

from __future__ import annotations

import json
import sys

import pytest
from releases import new_ledger, plan_of, released, table

from honestdp.cli import main
from honestdp.runner.run import run


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr("honestdp.report.figures.cost_lines", lambda inputs: [])


@pytest.fixture
def report(monkeypatch, capsys):
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["honestdp", "report", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return call


@pytest.fixture
def finished(tmp_path):
    """A run with its ledger beside it, as `honestdp tune` leaves them."""
    ledger = new_ledger(tmp_path / "run.ledger")
    release = run(plan_of("repeats"), table(), ledger)
    release.save(tmp_path / "run")
    (tmp_path / "run" / "asked.toml").write_text(f'ledger = "{tmp_path / "run.ledger"}"\n')
    return tmp_path / "run"


def test_it_finds_the_ledger_of_the_run(report, finished):
    code, out, err = report(finished, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"report": str(finished / "report.html")}
    assert "stands behind every word" in (finished / "report.html").read_text("utf-8")


def test_it_takes_the_ledger_that_was_named(report, finished):
    moved = finished.with_name("elsewhere.ledger")
    finished.with_suffix(".ledger").rename(moved)
    (finished / "asked.toml").write_text(f'ledger = "{moved}"\n')
    assert report(finished, "-q")[0] == 0
    assert "stands behind every word" in (finished / "report.html").read_text("utf-8")


@pytest.mark.parametrize("asked", [None, "out = [", 'nonsense = "x"', 'ledger = "gone.ledger"'])
def test_without_a_ledger_it_says_so(report, finished, asked):
    finished.with_suffix(".ledger").unlink()
    (finished / "asked.toml").unlink()
    if asked is not None:
        (finished / "asked.toml").write_text(asked)
    code, out, err = report(finished)
    assert (code, out) == (0, f"written: {finished / 'report.html'}\n")
    assert err.startswith("ledger: none")
    assert "No ledger was at hand" in (finished / "report.html").read_text("utf-8")


def test_what_does_not_fit_is_one_line(report, finished, tmp_path):
    other = new_ledger(tmp_path / "other.ledger")
    missing = tmp_path / "no.ledger"
    for words in ((finished, "--ledger", other.path), (finished, "--ledger", missing),
                  (tmp_path / "nowhere",), (tmp_path,)):  # fmt: skip
        code, out, err = report(*words)
        assert (code, out) == (2, "")
        assert err.startswith("honestdp: ")
        assert len(err.splitlines()) == 1
    assert not (finished / "report.html").exists()


def test_a_simulation_needs_no_ledger(report, tmp_path):
    run(plan_of("repeats"), table(), seed=1).save(tmp_path / "run")
    code, _, err = report(tmp_path / "run")
    assert (code, err) == (0, "")
    assert report(tmp_path / "run", "--ledger", released("repeats")[1].path)[0] == 2
