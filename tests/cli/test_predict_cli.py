"""`honestdp predict`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from cli_calls import complaint

import honestdp


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
