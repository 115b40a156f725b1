"""`honestdp ledger`."""

from __future__ import annotations

import json
from pathlib import Path

from cli_calls import QUICK, complaint

import honestdp
from honestdp import Ledger


def test_a_ledger_for_a_schema_with_wildcards(shell) -> None:
    text = Path("visits.toml").read_text().replace("[columns.age]", '[columns."ag*"]')
    Path("visits.toml").write_text(text)
    total = ("--schema", "visits.toml", "--epsilon", 2, "--delta", 1e-4)
    said = shell("ledger", "create", "visits.ledger", *total)
    assert "a wildcard needs the names of the table's columns" in complaint(said)
    assert shell("ledger", "create", "visits.ledger", *total, "--data", "visits.csv").code == 0
    said = shell("tune", "visits.csv", *QUICK, "--out", "run")
    assert said.code == 0
    assert honestdp.load("run").schema.input_names == ["age", "ward"]


def test_the_ledger(run, shell) -> None:
    ledger = Ledger.inspect("visits.ledger")
    said = shell("ledger", "show", "visits.ledger")
    assert "a total of epsilon 2" in said.out
    assert "released" in said.out
    found = json.loads(shell("ledger", "show", "visits.ledger", "--json").out)
    assert found["remaining"]["epsilon"] == ledger.remaining().epsilon
    (charge,) = found["charges"]
    assert charge["epsilon"] == ledger.history()[0].receipt.epsilon
    assert charge["released"] is True
    head = honestdp.Card.load(run).ledger.head
    assert shell("ledger", "verify", "visits.ledger", "--head", head).code == 0
    said = shell("ledger", "verify", "visits.ledger", "--head", "1323fdd4")
    assert "cut short or replaced" in complaint(said)
    assert "none.ledger" in complaint(shell("ledger", "show", "none.ledger"))
    Path("broken.ledger").write_bytes(Path("visits.ledger").read_bytes()[:-4000])
    assert "broken.ledger" in complaint(shell("ledger", "verify", "broken.ledger"))


def test_a_new_ledger(shell) -> None:
    words = ("ledger", "create", "mine.ledger", "--schema", "visits.toml", "--epsilon", 3)
    assert "Missing option" in complaint(shell(*words))
    found = json.loads(shell(*words, "--delta", 1e-6, "--json").out)
    assert found["head"] == Ledger.inspect("mine.ledger").head
    assert "already exists" in complaint(shell(*words, "--delta", 1e-6))
    assert "no charge" in shell("ledger", "show", "mine.ledger").out
