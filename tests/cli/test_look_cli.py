"""`honestdp schema`, `predict`, `card`, `ledger`: looking at what there is."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_calls import QUICK, complaint

import honestdp
from honestdp import Ledger, Schema
from honestdp.privacy.attack import AttackBounds
from honestdp.privacy.guess import guess_chance
from honestdp.text import SIMULATION, in_100


@pytest.fixture
def run(shell) -> Path:
    assert shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes", "--quiet").code == 0
    return Path("run")


def test_a_schema_from_the_header_alone(shell, tmp_path) -> None:
    printed = shell("schema", "visits.csv", "--target", "ward").out
    assert 'column = "ward"' in printed
    assert "\ndoctor = {}\n" in printed
    assert json.loads(shell("schema", "visits.csv", "--json").out)["schema"].startswith("# The")
    said = shell("schema", "visits.csv", "--target", "ward", "--out", "mine.toml")
    assert (said.out, Path("mine.toml").read_text()) == ("", printed)
    assert "mine.toml: already exists" in complaint(shell("schema", "visits.csv", "--out",
                                                            "mine.toml"))  # fmt: skip
    assert "target='sex'" in complaint(shell("schema", "visits.csv", "--target", "sex"))
    assert "none.csv: cannot be read" in complaint(shell("schema", "none.csv"))


def test_a_code_book_in_and_out(shell) -> None:
    assert shell("schema", "visits.toml", "--to-codebook", "book.csv").code == 0
    words = "north|south"
    assert f"ward,categorical,,,{words},true" in Path("book.csv").read_text()
    said = shell("schema", "visits.csv", "--codebook", "book.csv", "--out", "mine.toml")
    assert (said.code, said.out) == (0, "")
    text = Path("mine.toml").read_text()
    Path("mine.toml").write_text(text.replace("doctor = {}", 'doctor = { kind = "unused" }'))
    assert Schema.load("mine.toml").columns == Schema.load("visits.toml").columns
    again = shell("schema", "visits.toml", "--to-codebook", "book.csv")
    assert "book.csv: already exists" in complaint(again)
    both = shell("schema", "visits.toml", "--to-codebook", "b.csv", "--target", "ward")
    assert "--to-codebook takes a schema" in complaint(both)
    Path("book.csv").write_text("name,kind\nage,numeric\n")
    said = shell("schema", "visits.csv", "--codebook", "book.csv")
    assert "book.csv: 'age': bounds is missing" in complaint(said)


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


def test_a_table_without_a_header_shows_no_cell(shell) -> None:
    text = Path("visits.toml").read_text().replace("[columns.age]", '[columns."*"]')
    Path("visits.toml").write_text(text)
    Path("visits.csv").write_text("34,Quokkazyx,yes\n35,north,no\n")  # `shell` looks for it
    assert "no column 'readmitted'" in complaint(shell("tune", "visits.csv", *QUICK, "--yes"))


def test_predictions(run, shell) -> None:
    expected = honestdp.load(run).predict("test.csv").tolist()
    lines = list(csv.reader(shell("predict", "run", "test.csv").out.splitlines()))
    assert lines == [["readmitted"], *([one] for one in expected)]
    assert json.loads(shell("predict", "run", "test.csv", "--json").out) == {"readmitted": expected}
    shell("predict", "run", "test.csv", "--probabilities", "--out", "answers.csv")
    header, *rows = csv.reader(Path("answers.csv").read_text().splitlines())
    assert header == ["readmitted", "p(no)", "p(yes)"]
    chances = honestdp.load(run).predict_proba("test.csv")
    assert [[float(cell) for cell in row[1:]] for row in rows] == chances.tolist()
    found = json.loads(shell("predict", "run", "test.csv", "--json", "--out", "more.csv").out)
    assert found == {"out": "more.csv", "rows": 100}
    Path("empty.csv").write_text("age,ward\n")
    assert "holds no row" in complaint(shell("predict", "run", "empty.csv"))
    said = shell("predict", "run", "test.csv", "--out", "answers.csv")
    assert "answers.csv: already exists" in complaint(said)
    assert "none.csv: cannot be read" in complaint(shell("predict", "run", "none.csv"))
    assert "cannot be read; give a run's folder" in complaint(shell("predict", ".", "test.csv"))
    Path("other.csv").write_text("age\n1\n")
    assert "no column 'ward'" in complaint(shell("predict", "run", "other.csv"))


def test_predictions_tell_of_cells_that_the_schema_does_not_expect(run, shell) -> None:
    Path("odd.csv").write_text("age,ward\n20,north\n130,attic\nold,cellar\n,north\n")
    lines = [
        "age: 1 of 4 cells is not readable, 1 of 4 cells is outside the bounds",
        "ward: 2 of 4 cells are not among the categories",
    ]
    said = shell("predict", "run", "odd.csv", "--probabilities")
    assert said.err.splitlines() == lines
    assert len(said.out.splitlines()) == 5
    said = shell("predict", "run", "odd.csv", "--json")
    assert said.err.splitlines() == lines
    assert len(json.loads(said.out)["readmitted"]) == 4
    assert shell("predict", "run", "odd.csv", "--quiet").err == ""


def test_explain(run, shell) -> None:
    said = shell("explain", "run")
    heads, *rows = said.out.splitlines()
    assert heads.split() == ["column", "effect", "noise", "lowest", "at", "highest", "at"]
    assert {row.split()[0] for row in rows[:2]} == {"age", "ward"}
    assert rows[2] == "Effects are in log-odds of readmitted = yes."
    assert said.err == ""
    found = json.loads(shell("explain", "run", "--json").out)
    assert found == honestdp.load(run).effects().to_dict()
    assert "cannot be read; give a run's folder" in complaint(shell("explain", "."))


def test_explain_a_network_and_a_simulation(shell) -> None:
    words = ("tune", "visits.csv", *QUICK, "--yes", "--quiet")
    assert shell(*words, "--out", "net", "--model", "mlp").code == 0
    assert "a network with one hidden layer, which is not linear" in complaint(
        shell("explain", "net")
    )
    assert shell(*words, "--out", "made-up", "--seed", 1).code == 0
    assert shell("explain", "made-up").out.splitlines()[0] == SIMULATION
    assert json.loads(shell("explain", "made-up", "--json").out)["mark"] == SIMULATION


def test_explain_shows_the_largest_columns(run, shell, monkeypatch) -> None:
    monkeypatch.setattr("honestdp.cli.explain.TOP", 1)
    said = shell("explain", "run")
    assert "1 smaller column is not shown; --all shows all" in said.err
    assert len(said.out.splitlines()) == 3
    assert len(shell("explain", "run", "--all").out.splitlines()) == 4


def test_the_card(run, shell) -> None:
    said = shell("card", "run", "--ledger", "visits.ledger")
    assert said.out == honestdp.Card.load(run).prose()
    assert "checked: the ledger holds this charge" in said.err
    assert honestdp.Card.from_json(shell("card", "run", "--json").out) == honestdp.Card.load(run)
    text = (run / "card.json").read_text()
    (run / "card.json").write_text(text.replace('"one visit"', '"one person"'))
    said = shell("card", "run", "--ledger", "visits.ledger")
    assert "is not what the ledger says has left" in complaint(said)
    assert said.out == ""
    assert "cannot be read" in complaint(shell("card", "none"))


def test_the_ledger(run, shell) -> None:
    ledger = Ledger.inspect("visits.ledger")
    said = shell("ledger", "show", "visits.ledger")
    assert "a total of epsilon 2" in said.out
    assert "released" in said.out
    found = json.loads(shell("ledger", "show", "visits.ledger", "--json").out)
    assert found["remaining"]["epsilon"] == ledger.remaining().epsilon
    attack = found["attack"]
    assert attack.pop("worst_case") == guess_chance(2.0, ledger.opening.delta)
    assert AttackBounds.from_dict(attack) == ledger.attack()
    assert 0.5 < attack["success"] < 0.7
    assert f"right at most {in_100(attack['success'])} times in 100" in said.out
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
    shown = shell("ledger", "show", "mine.ledger").out
    assert "no charge" in shown
    assert "right at most 50 times in 100 with all that was charged so far" in shown
    assert "at most 95.3 with all that this ledger may ever grant" in shown
