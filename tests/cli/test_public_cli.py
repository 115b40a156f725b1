"""`honestdp tune --public`: settings compared on public rows, one training paid for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from cli_calls import QUICK, complaint, visits

import honestdp
from honestdp import Card, Ledger
from honestdp.run_files import CONFIG, PRIVATE

GRID = '[{"encode": "linear"}, {"encode": "bins"}, {"encode": "linear", "kappa": 1.0}]'
OPEN = (*QUICK, "--grid", GRID, "--public", "open.csv")


@pytest.fixture
def opened(shell, tmp_path, monkeypatch):
    """The shell, with open.csv: public rows, each held out once."""
    monkeypatch.setattr("honestdp.runner.choosing.MOST_ROUNDS", 1)
    visits(tmp_path / "open.csv", 200, seed=5)
    return shell


def refused(said, *words: str) -> None:
    line = complaint(said)
    assert line.startswith("honestdp: public")
    for word in words:
        assert word in line, line
    assert not list(Path.cwd().glob("*.ledger"))
    assert not Path("run").exists()


def test_one_training_with_the_setting_that_public_rows_chose(opened) -> None:
    said = opened("tune", "visits.csv", *OPEN, "--out", "run", "--yes", "--test", "test.csv")
    assert said.code == 0
    assert "untuned: epsilon" in said.err
    assert "chosen among 3 settings on 200 public rows" in said.err
    ledger = Ledger.inspect("visits.ledger")
    assert honestdp.verify("run", ledger).released
    card = Card.load("run")
    choice = card.chosen_on
    assert (choice.rows, len(choice.compared)) == (200, 3)
    assert card.winner.setting == choice.setting
    (charge,) = ledger.history()
    assert charge.plan["chosen_on"] == choice.public()
    told = opened("card", "run").out
    assert "chosen among 3 settings on 200 public rows" in told
    assert "whoever is in them is not protected" in told
    assert choice.sha256 in told
    page = Path("run/report.html").read_text()
    assert "Chosen on public rows" in page
    assert f"{choice.compared[0].score:.4f}" in page
    stored = tomllib.loads((Path("run") / CONFIG).read_text())
    assert "public" not in stored  # the choice is stored instead
    assert json.loads(stored["chosen_on"]) == choice.public()


def test_it_costs_what_that_setting_costs_alone(opened) -> None:
    found = json.loads(opened("tune", "visits.csv", *OPEN, "--dry-run", "--json").out)
    alone = json.dumps(found["grid"])
    same = opened("tune", "visits.csv", *QUICK, "--grid", alone, "--dry-run", "--json")
    plain = json.loads(same.out)
    changed = {name for name in found if found[name] != plain.get(name)}
    assert changed == {"reason", "chosen_on"}
    assert not Path("visits.ledger").exists()


def test_a_file_names_public_rows_beside_it(opened, tmp_path) -> None:
    home = tmp_path / "specs"
    home.mkdir()
    (tmp_path / "open.csv").rename(home / "open.csv")
    text = f"public = 'open.csv'\nepsilon = 2\nsteps = 20\nlot_size = 50\ngrid = '{GRID}'\n"
    (home / "spec.toml").write_text(text)
    said = opened("tune", "visits.csv", "--spec", "specs/spec.toml", "--schema", "visits.toml",
                  "--dry-run", "--json")  # fmt: skip
    assert json.loads(said.out)["chosen_on"]["rows"] == 200


def test_an_interrupted_run_keeps_its_choice(opened, monkeypatch, tmp_path) -> None:
    """The public file may be gone, or say otherwise by then."""

    def pressed(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.private_data.split", pressed)
        assert opened("tune", "visits.csv", *OPEN, "--out", "run", "--yes").code != 0
    stored = tomllib.loads((tmp_path / "run" / PRIVATE / CONFIG).read_text())
    (tmp_path / "open.csv").unlink()
    assert opened("resume", "run").code == 0
    assert Card.load("run").chosen_on.public() == json.loads(stored["chosen_on"])
    assert len(Ledger.inspect("visits.ledger").history()) == 1


@pytest.mark.parametrize("copy", [False, True])
def test_the_table_itself_is_not_public(opened, tmp_path, copy) -> None:
    name = "visits.csv"
    if copy:
        name = "copy.csv"
        (tmp_path / name).write_bytes((tmp_path / "visits.csv").read_bytes())
    said = opened("tune", "visits.csv", *QUICK, "--grid", GRID, "--public", name, "--out", "run",
                  "--yes")  # fmt: skip
    refused(said, "is the protected table or a copy of it", "leave --public out")


def test_what_does_not_fit_is_refused_before_anything_is_charged(opened, tmp_path) -> None:
    def tune(*words: str):
        return opened("tune", "visits.csv", *words, "--out", "run", "--yes")

    refused(tune(*QUICK, "--public", "open.csv"), "there is one setting", "leave public out")
    rows = (tmp_path / "open.csv").read_text()
    (tmp_path / "open.csv").write_text(re.sub(r"(?m)^(\d+),", r"\1 years,", rows))
    refused(tune(*OPEN), "column 'age'", "not readable", "or leave them out")
    (tmp_path / "open.csv").write_text("".join(rows.splitlines(True)[:10]))
    refused(tune(*OPEN), "too few")
    (tmp_path / "open.csv").write_text(rows.replace("ward", "floor", 1))
    line = complaint(tune(*OPEN))
    assert "open.csv" in line
    assert "ward" in line
    assert not (tmp_path / "visits.ledger").exists()


def test_a_search_of_the_table_and_public_rows_are_two_ways(opened) -> None:
    said = opened("tune", "visits.csv", *OPEN, "--procedure", "random-subset", "--yes")
    line = complaint(said)
    assert "procedure='random-subset'" in line
    assert "leave one of the two out" in line
    said = opened("tune", "visits.csv", *OPEN, "--set", "hit_probability=0.5", "--yes")
    assert "hit_probability=0.5" in complaint(said)
    said = opened("tune", "visits.csv", *QUICK, "--set", "chosen_on=3", "--yes")
    assert "chosen_on" in complaint(said)
    said = opened("tune", "visits.csv", *QUICK, "--set", "chosen_on='{}'", "--yes")
    assert "chosen_on" in complaint(said)
    assert not list(Path.cwd().glob("*.ledger"))
