"""`honestdp simulate`: a file of made-up rows that says so, and that `tune` reads."""

from __future__ import annotations

import json
from pathlib import Path

from cli_calls import QUICK, complaint

from honestdp.schema.simulate import STAMP


def test_it_writes_rows_that_tune_reads(shell) -> None:
    said = shell("simulate", "visits.toml", "--rows", "200", "--signal")
    assert said.code == 0
    assert said.err.startswith(f"{STAMP} (200 rows of visits.toml, seed 0)")
    assert "readmitted depends on age, ward by a made-up linear rule" in said.err
    assert said.out.splitlines() == [
        "written: made-up-visits.csv",
        "try it: honestdp tune made-up-visits.csv --schema visits.toml --epsilon 1 --seed 1",
    ]
    header, *rows = Path("made-up-visits.csv").read_text().splitlines()
    assert header == '"age","ward","readmitted"'
    assert len(rows) == 200
    assert shell("check", "made-up-visits.csv", "--schema", "visits.toml").code == 0
    tuned = shell("tune", "made-up-visits.csv", *QUICK, "--seed", "1", "--out", "trial")
    assert tuned.code == 0
    assert "SIMULATION" in tuned.out
    assert not list(Path().glob("*.ledger"))


def test_stdout_json_and_seeds(shell) -> None:
    said = shell("simulate", "visits.toml", "--rows", "3", "--out", "-")
    assert said.out.count("\n") == 4
    assert "drawn on its own; --signal" in said.err
    facts = json.loads(
        shell(
            "simulate", "visits.toml", "--rows", "3", "--seed", "0", "--json", "--out", "a.csv"
        ).out
    )
    assert facts == {"mark": STAMP, "out": "a.csv", "rows": 3, "seed": 0, "depends_on": []}
    assert Path("a.csv").read_text() == said.out
    assert (
        shell("simulate", "visits.toml", "--seed", "1", "--rows", "3", "--out", "-").out != said.out
    )
    quiet = shell("simulate", "visits.toml", "--rows", "3", "--out", "-", "--quiet")
    assert (quiet.out, quiet.err) == (said.out, "")


def test_what_is_refused(shell) -> None:
    assert "rows=0" in complaint(shell("simulate", "visits.toml", "--rows", "0"))
    assert "seed=-1" in complaint(shell("simulate", "visits.toml", "--seed", "-1"))
    both = shell("simulate", "visits.toml", "--out", "-", "--json")
    assert "--json: cannot share stdout" in complaint(both)
    assert "nowhere.toml" in complaint(shell("simulate", "nowhere.toml"))
    assert not Path("made-up-visits.csv").exists()
    assert "already exists" in complaint(shell("simulate", "visits.toml", "--out", "visits.csv"))
    Path("wild.toml").write_text(
        'name = "w"\ntarget = { column = "y", classes = ["a", "b"] }\n'
        'columns = { "word *" = { kind = "counts" } }\n'
    )
    assert "wildcard" in complaint(shell("simulate", "wild.toml"))
