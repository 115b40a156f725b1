"""Ledgers, cards and model files written by earlier versions still open, verify and report.

format-1/: a ledger and one run of each procedure, written by version 0.1.0 at commit d26db19,
where procedures and events stood in files as Python writes them. Made-up rows.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from honestdp import Card, Ledger, Schema, load, verify
from honestdp.ledger.plans import procedure_name
from honestdp.report.page import report_html

OLD = Path(__file__).parent / "format-1"
RUNS = sorted(place.name for place in OLD.iterdir() if place.is_dir())
NAMES = {"pick": "composition"}  # runs that are not called like their procedure


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A copy: opening one may write beside it."""
    shutil.copy(OLD / "visits.ledger", tmp_path)
    return Ledger.inspect(tmp_path / "visits.ledger")


def test_they_are_of_format_1() -> None:
    for run in RUNS:
        card = json.loads((OLD / run / "card.json").read_text())
        assert card["format"] == 1
        assert isinstance(card["declared_public"]["procedure"], str)


def test_the_ledger_opens_and_names_its_procedures(ledger: Ledger) -> None:
    ledger.verify()
    found = {procedure_name(charge.plan) for charge in ledger.history()}
    assert found == {NAMES.get(run, run) for run in RUNS}
    assert all(charge.released for charge in ledger.history())
    assert 0 < ledger.remaining().epsilon < ledger.opening.epsilon


def test_the_schema_is_the_one_the_ledger_is_for(ledger: Ledger) -> None:
    assert Schema.load(OLD / "visits.toml").fingerprint == ledger.opening.schema


@pytest.mark.parametrize("run", RUNS)
def test_a_card_verifies_and_reports(run: str, ledger: Ledger) -> None:
    charge = verify(OLD / run, ledger)
    card = Card.load(OLD / run)
    assert card.format == 1
    assert card.metric.name == "accuracy"
    assert card.releases_all == (card.procedure in ("untuned", "composition"))
    assert card.guarantee.epsilon == charge.receipt.epsilon
    assert NAMES.get(run, run) in card.prose()
    page = report_html(card, ledger)
    assert "could not be worked out" not in page
    assert ("<dt>Threshold</dt>" in page) == (run == "threshold")


@pytest.mark.parametrize("run", RUNS)
def test_a_model_predicts(run: str) -> None:
    released = load(OLD / run)
    rows = pd.DataFrame({"age": [10, 90], "ward": ["a", "x"]})
    if released.winner is not None:
        assert set(released.predict(rows)) <= {"no", "yes"}
