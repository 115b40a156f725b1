"""Ledgers, cards and model files written by earlier versions still open, verify and report.

Each folder holds a ledger and one run of each procedure, on made-up rows, written by version 0.1.0:

format-1: at commit d26db19, where procedures and events stood in files as Python writes them.
format-2: at commit dcf61bf, where they are dicts. Its cards name their metric and procedure, and
    hold nothing else about them.
checked: at commit bd8d645, the first whose ledgers hold checks, stops, amendments and moves. One
    run, whose table did not fit and whose schema was corrected.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from honestdp import Card, Ledger, Schema, load, verify
from honestdp.datasets import adult
from honestdp.ledger.plans import procedure_name
from honestdp.privacy import formats
from honestdp.procedures import procedures
from honestdp.report.page import report_html

HERE = Path(__file__).parent
FORMATS = {"format-1": 1, "format-2": 2}
NAMES = {"pick": "composition"}  # runs that are not called like their procedure
RUNS = sorted(str(place.relative_to(HERE)) for place in HERE.glob("format-*/*") if place.is_dir())


def runs_of(version: str) -> list[str]:
    return [Path(run).name for run in RUNS if run.startswith(f"{version}/")]


def facts_of(run: str) -> dict[str, Any]:
    return json.loads((HERE / run / "card.json").read_text())


def copied(version: str, folder: Path) -> Ledger:
    """A copy of the ledger: opening one may write beside it."""
    shutil.copy(HERE / version / "visits.ledger", folder)
    return Ledger.inspect(folder / "visits.ledger")


@pytest.mark.parametrize("run", RUNS)
def test_they_are_of_their_format(run: str) -> None:
    facts = facts_of(run)
    number = FORMATS[Path(run).parent.name]
    assert facts["format"] == number
    assert isinstance(facts["declared_public"]["procedure"], str if number == 1 else dict)


@pytest.mark.parametrize("version", FORMATS)
def test_the_ledger_opens_and_names_its_procedures(version: str, tmp_path: Path) -> None:
    ledger = copied(version, tmp_path)
    ledger.verify()
    found = {procedure_name(charge.plan) for charge in ledger.history()}
    assert found == {NAMES.get(run, run) for run in runs_of(version)}
    assert len(runs_of(version)) == len(ledger.history()) == 7
    assert all(charge.released for charge in ledger.history())
    assert 0 < ledger.remaining().epsilon < ledger.opening.epsilon


def test_procedures_and_events_of_format_2_are_made_again(tmp_path: Path) -> None:
    for charge in copied("format-2", tmp_path).history():
        facts = charge.plan["procedure"]
        assert procedures.get(facts["name"]).from_dict(facts).to_dict() == facts
        for event in charge.plan["events"].values():
            assert event is None or formats.to_dict(formats.from_dict(event)) == event


@pytest.mark.parametrize("version", FORMATS)
def test_the_schema_is_the_one_the_ledger_is_for(version: str, tmp_path: Path) -> None:
    fingerprint = Schema.load(HERE / version / "visits.toml").fingerprint
    assert fingerprint == copied(version, tmp_path).opening.schema


OLD_SCHEMA = """
name = "old"
unit = "one person"
row_norm = 1.5
target = { column = "y", bounds = [-1, 9.5] }

[columns]
a = { kind = "numeric", bounds = [0, 100], missing = 20 }
b = { kind = "numeric", bounds = "learn", outer = [-5, 5], quantiles = [0.05, 0.95] }
c = { kind = "categorical", categories = ["x", "y"], other = true, missing = "x" }
d = { kind = "categorical", categories = ["1"] }
"""


def test_fields_added_since_leave_old_fingerprints_alone() -> None:
    """The fingerprints are those of version 0.1.0 at commit d7dfe7f: its ledgers still open."""
    old = "deae8b52016526817f0e3fc276219154175319df5be97bc15a67cc19aabfa88a"
    schema = Schema.from_toml(OLD_SCHEMA)
    assert schema.fingerprint == old
    of_adult = "7ce32e9eb68f052f298a53ab2df46aae5e2c9c46d471a560e0d827a7baaf01ab"
    assert adult().schema.fingerprint == of_adult
    columns = schema.columns
    added = [
        {"row_scale": 0.5},
        {"target": schema.target.model_copy(update={"ignore_case": True})},
        *({"columns": (columns[0].model_copy(update=facts), *columns[1:])}
          for facts in ({"encode_as": "spline"}, {"bins": 3}, {"edges": "log"}, {"scale": (0, 1)})),
        {"columns": (*columns[:3], columns[3].model_copy(update={"ignore_case": True}))},
    ]  # fmt: skip
    found = {schema.model_copy(update=facts).fingerprint for facts in added}
    assert len(found - {old}) == len(added)


@pytest.mark.parametrize("run", RUNS)
def test_a_card_verifies_and_reports(run: str, tmp_path: Path) -> None:
    version, name = Path(run).parts
    ledger = copied(version, tmp_path)
    charge = verify(HERE / run, ledger)
    card = Card.load(HERE / run)
    assert card.format == FORMATS[version]
    assert card.metric.name == "accuracy"
    assert card.metric.meaning == "share of right answers"
    assert card.releases_all == (card.procedure in ("untuned", "composition"))
    assert card.guarantee.epsilon == charge.receipt.epsilon
    assert NAMES.get(name, name) in card.prose()
    page = report_html(card, ledger)
    assert "could not be worked out" not in page
    assert ("<dt>Threshold</dt>" in page) == (name == "threshold")


@pytest.mark.parametrize("version", FORMATS)
def test_a_model_from_before_rows_were_scaled_reads_rows_as_it_did(version: str) -> None:
    """Its numbers are numbers, not curves, and its rows are as long as they were."""
    folder = HERE / version / "untuned"
    held = json.loads((folder / "model.json").read_text())["schema"]
    assert "row_scale" not in held
    assert not {"encode", "encode_as", "bins", "edges"} & set(held["columns"][0])
    winner = load(folder).winner
    assert winner is not None
    assert winner.schema.row_scale is None
    rows = winner.schema.encode_inputs({"age": [25, None], "ward": ["b", "x"]}, sparse=False)
    assert rows.tolist() == [[0.25, 0, 1, 0], [0.5, 0, 0, 1]]


@pytest.mark.parametrize("run", RUNS)
def test_a_model_predicts(run: str) -> None:
    released = load(HERE / run)
    rows = pd.DataFrame({"age": [10, 90], "ward": ["a", "x"]})
    if released.winner is not None:
        assert set(released.predict(rows)) <= {"no", "yes"}


def test_a_ledger_with_checks_opens(tmp_path: Path) -> None:
    ledger = copied("checked", tmp_path)
    ledger.check_is_for(Schema.load(HERE / "checked" / "visits.toml"))
    (charge,) = ledger.history()
    assert [asking.stopped for asking in charge.askings] == [True, False]
    assert charge.checks_left == 1
    assert verify(HERE / "checked" / "run", ledger).receipt == charge.receipt
    assert "asked 2 times; 3 are paid for" in str(Card.load(HERE / "checked" / "run"))
