"""What the shell says of how good a model is: before it is paid, after it, and on the card."""

from __future__ import annotations

import json

from cli_calls import QUICK

from honestdp import load
from honestdp.evaluation.words import NOT_QUALITY, UNMEASURED

HELD = ("--test-share", "0.4", "--groups", "ward")
GRID = '{"rule": "dpsgd", "learning_rate": [0.1, 1.0]}'


def test_plan_result_json_and_card_say_it(shell) -> None:
    said = shell("tune", "visits.csv", *QUICK, *HELD, "--out", "run", "--yes")
    assert "evaluation: counts of 120 further rows, and by ward, each with noise" in said.err
    assert "groups make the noise of every count 1.22 times as large" in said.err
    found = load("run").evaluation
    assert found.unit == "visits"
    for line in str(found).splitlines():
        assert line in said.out
        assert line in shell("card", "run").out
    sealed = json.loads(shell("card", "run", "--json").out)["evaluation"]
    assert sealed == found.model_dump(mode="json")
    told = shell("tune", "visits.csv", *QUICK, *HELD, "--seed", 1, "--out", "other", "--json")
    assert json.loads(told.out)["evaluation"] == load("other").evaluation.model_dump(mode="json")


def test_nobody_measured_it(shell) -> None:
    held = ("--grid", GRID, "--procedure", "composition")
    said = shell("tune", "visits.csv", *QUICK, *held, "--out", "run", "--yes")
    assert "too few to hold some out" in said.err
    assert UNMEASURED in said.out
    assert UNMEASURED in shell("card", "run").out
    score = f"{load('run').card.winner.noisy_score:.4f}"
    for text in (said.out, shell("card", "run").out):
        assert f"{score} ({NOT_QUALITY})" in text or f"({NOT_QUALITY})" in text.split(score)[1]
    tested = shell("tune", "visits.csv", *QUICK, "--seed", 1, "--out", "b", "--test", "test.csv")
    assert UNMEASURED not in tested.out


def test_auto_asks_for_the_public_rule_even_beside_public_rows(shell) -> None:
    held = ("--test", "test.csv", "--test-share", "auto", "--dry-run")
    assert "too few to hold some out" in shell("tune", "visits.csv", *QUICK, *held).err
    without = ("--test", "test.csv", "--dry-run")
    assert "hold some out" not in shell("tune", "visits.csv", *QUICK, *without).err
