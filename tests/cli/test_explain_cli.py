"""`honestdp explain`."""

from __future__ import annotations

import json

from cli_calls import QUICK, complaint

import honestdp
from honestdp.text import SIMULATION


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
