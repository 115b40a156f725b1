"""The check of `honestdp tune`: three tables that would have cost a budget for nothing, each put
right in two ways on the same charge."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_calls import complaint

from honestdp import Ledger, load, verify

ROWS = 3000
SCHEMA = """\
name = "visits"
[target]
column = "readmitted"
classes = ["no", "yes"]
[columns.age]
kind = "numeric"
bounds = [0, 100]
encode = "linear"
[columns.dose]
kind = "numeric"
bounds = [0, 10]
encode = "linear"
"""
HEADER = ["age", "dose", "readmitted"]
TUNE = ("tune", "table.csv", "--schema", "table.toml", "--epsilon", "2", "--steps", "100",
        "--out", "run", "--yes")  # fmt: skip


def rows(seed: int = 0, count: int = ROWS) -> list[list[Any]]:
    source = random.Random(seed)
    found = []
    for _ in range(count):
        age, dose = source.uniform(0, 100), source.uniform(0, 10)
        back = "yes" if age / 100 + dose / 10 > 1 else "no"
        found.append([f"{age:.3f}", f"{dose:.3f}", back])
    return found


def write(path: str, cells: list[list[Any]], header: list[str] = HEADER) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([header, *cells])


def upper(row: list[Any]) -> list[Any]:
    return [*row[:2], row[2].upper()]


def commas(row: list[Any]) -> list[Any]:
    return [row[0].replace(".", ","), row[1].replace(".", ","), row[2]]


def empty(row: list[Any]) -> list[Any]:
    return ["", "", row[2], *row[:2]]


def with_classes() -> str:
    return SCHEMA.replace('"no", "yes"', '"NO", "YES"')


def other_bounds() -> str:
    return SCHEMA.replace("bounds = [0, 10]", "bounds = [0, 10.5]")


def other_columns() -> str:
    return SCHEMA.replace("columns.age", "columns.AGE").replace("columns.dose", "columns.DOSE")


# What is wrong with a row, what the message says, a schema and options that fit the table as it is
STORIES: dict[str, tuple[Callable[[list[Any]], list[Any]], str, Callable[[], str], tuple[str, ...]]]
STORIES = {
    "upper case": (upper, "most rows have no known target 'readmitted'", with_classes, ()),
    "decimal commas": (commas, "most cells of 'age', 'dose' are not as declared", other_bounds,
                       ("--decimal", ",")),
    "all missing": (empty, "most rows hold few cells that are as declared", other_columns, ()),
}  # fmt: skip
every_story = pytest.mark.parametrize(
    "story",
    ["upper case", *(pytest.param(one, marks=pytest.mark.slow) for one in list(STORIES)[1:])],
)


def header_of(story: str) -> list[str]:
    return [*HEADER, "AGE", "DOSE"] if story == "all missing" else HEADER


def set_up(story: str) -> None:
    write("table.csv", [STORIES[story][0](row) for row in rows()], header_of(story))
    Path("table.toml").write_text(SCHEMA)


def stopped(shell: Any, story: str) -> Ledger:
    """The run ends with exit code 5, and its charge is kept."""
    line = complaint(shell(*TUNE), 5)
    assert STORIES[story][1] in line
    assert "charge 1 stands and pays for the next attempt" in line
    assert "`honestdp resume run`" in line
    ledger = Ledger.inspect("table.ledger")
    (charge,) = ledger.history()
    assert charge.stopped
    assert "stopped by a check" in shell("ledger", "show", "table.ledger").out
    return ledger


def accuracy(names: tuple[str, str], spelt: Callable[[str], str]) -> float:
    """Of the released model, on other rows."""
    cells = [[float(age), float(dose), spelt(back)] for age, dose, back in rows(9, 500)]
    table = {name: [row[i] for row in cells] for i, name in enumerate(names)}
    found = load("run").predict(table)
    return sum(a == row[2] for a, row in zip(found, cells, strict=True)) / len(cells)


@every_story
def test_the_table_is_corrected(story: str, shell) -> None:
    set_up(story)
    ledger = stopped(shell, story)
    left = ledger.remaining()
    header = header_of(story)
    write("table.csv", [[*row, "", ""][: len(header)] for row in rows()], header)
    said = shell("resume", "run")
    assert said.code == 0
    assert "Charge 1 was stopped by the check of its table and pays for this run" in said.err
    assert ledger.remaining() == left
    (charge,) = ledger.history()
    assert (charge.released, len(charge.askings)) == (True, 2)
    assert verify("run", ledger).receipt.id == 1
    assert accuracy(("age", "dose"), str) > 0.8


@every_story
def test_the_schema_is_corrected(story: str, shell) -> None:
    set_up(story)
    ledger = stopped(shell, story)
    left = ledger.remaining()
    _, _, schema, options = STORIES[story]
    Path("new.toml").write_text(schema())
    again = [word.replace("table.toml", "new.toml") for word in TUNE]
    assert "honestdp ledger amend" in complaint(shell(*again, *options))
    refused = shell("ledger", "amend", "table.ledger", "--schema", "new.toml", "--quiet")
    assert "--yes amends it" in complaint(refused)
    assert shell("ledger", "amend", "table.ledger", "--schema", "new.toml", "--yes").code == 0
    dry = shell(*again, *options, "--dry-run")
    assert "charge 1 of table.ledger, which a check stopped, would pay for it" in dry.out
    said = shell(*again, *options)
    assert said.code == 0
    assert "Charge 1 was stopped by the check of its table and pays for this run" in said.err
    assert ledger.remaining() == left
    assert len(ledger.history()) == 1
    assert verify("run", ledger).receipt.id == 1
    names = ("AGE", "DOSE") if story == "all missing" else ("age", "dose")
    assert accuracy(names, str.upper if story == "upper case" else str) > 0.8
    assert load("run").card.declared_public["schema_fingerprint"] == ledger.opening.schema


def test_counts_for_scripts_and_three_checks(shell) -> None:
    set_up("upper case")
    for left in (2, 1, 0):
        said = shell(*TUNE, "--json")
        found = json.loads(said.out)
        assert said.code == 5
        assert (found["charge"], found["checks_left"]) == (1, left)
        assert abs(found["noisy_counts"]["no known target"] - ROWS) < ROWS / 4
    write("table.csv", rows())
    assert "3 checks that it pays for are used" in complaint(shell("resume", "run"))
    shown = json.loads(shell("ledger", "show", "table.ledger", "--json").out)
    assert shown["charges"][0]["checks"] == {"asked": 3, "stopped": 3, "left": 0}
    assert shell("resume", "run", "--no-check").code == 0
    assert Ledger.inspect("table.ledger").charge(1).released


def test_no_check_uses_a_stopped_charge_too(shell) -> None:
    set_up("upper case")
    ledger = stopped(shell, "upper case")
    write("table.csv", rows())
    assert shell(*TUNE, "--no-check").code == 0
    (charge,) = ledger.history()
    assert (charge.released, len(charge.askings)) == (True, 1)


def test_no_check_from_the_start(shell) -> None:
    set_up("upper case")
    dry = shell(*TUNE, "--no-check", "--dry-run")
    assert "checked before training" not in dry.err
    assert "checked before training" in shell(*TUNE, "--dry-run").err
    said = shell(*TUNE, "--no-check")
    assert said.code == 0  # trained on nothing, as asked
    assert "check" not in Ledger.inspect("table.ledger").charge(1).plan


def test_a_simulation_stops_with_the_same_code(shell) -> None:
    set_up("upper case")
    said = shell(*TUNE[:-1], "--seed", "1")
    assert "a simulation: nothing was charged" in complaint(said, 5)
    assert not Path("table.ledger").exists()
