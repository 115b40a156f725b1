"""`honestdp check` and `honestdp schema check`: tables that would cost a budget for nothing."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_calls import complaint

from honestdp.schema.table_check import KEEPER

Cells = dict[str, str]


def changed(change: Callable[[Cells], Cells], delimiter: str = ",") -> Path:
    """visits.csv with every row changed, as bad.csv."""
    with open("visits.csv", newline="") as file:
        rows = [change(row) for row in csv.DictReader(file)]
    with open("bad.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return Path("bad.csv")


def upper(row: Cells) -> Cells:
    return row | {"readmitted": row["readmitted"].upper()}


def commas(row: Cells) -> Cells:
    return row | {"age": f"{row['age']},5"}


def empty(row: Cells) -> Cells:
    return row | {"age": "", "ward": ""}


STORIES = {
    "upper-case classes": (upper, ",", "readmitted", "300 of these cells differ from the schema in "
                           "upper and lower case alone: add ignore_case = true"),
    "decimal commas": (commas, ";", "age", "300 of these cells look like 1,5: if that is a decimal "
                       "comma, give --decimal ,"),
    "all missing": (empty, ",", "age", "300 of 300 cells are missing"),
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_a_typo_is_found_before_it_costs_the_budget(story, shell) -> None:
    change, delimiter, column, hint = STORIES[story]
    bad = changed(change, delimiter)
    said = shell("check", bad, "--schema", "visits.toml")
    assert said.code == 5
    assert said.err == ""
    assert said.out.splitlines()[0] == KEEPER
    assert f"PROBLEM: {column}: {hint}" in said.out
    assert said.out.splitlines()[-1].startswith(f"verdict: does not fit the schema: '{column}'")
    public = shell("schema", "check", "visits.toml", bad)
    assert public.code == 5
    assert public.out == said.out.removeprefix(KEEPER + "\n")


def test_a_sound_table(shell) -> None:
    said = shell("check", "visits.csv", "--schema", "visits.toml")
    assert said.code == 0
    assert "not used by the schema: 'doctor'" in said.out
    assert "300 rows, encoded as 4 numbers each" in said.out
    assert said.out.splitlines()[-1] == "verdict: fits the schema, with 1 note"
    assert sorted(os.listdir()) == ["test.csv", "visits.csv", "visits.toml"]  # nothing is written


def test_json(shell) -> None:
    facts = json.loads(shell("check", "visits.csv", "--schema", "visits.toml", "--json").out)
    assert next(iter(facts)) == "mark"
    assert facts["mark"] == KEEPER
    assert facts["fits"] is True
    assert facts["unused"] == ["doctor"]
    assert facts["columns"][0] == {
        "name": "age", "kind": "number", "missing": 0, "unreadable": 0, "unknown": 0, "clipped": 0,
        "constant": False, "fits": True, "findings": [],
    }  # fmt: skip
    assert sum(facts["target"]["classes"].values()) == 300
    public = json.loads(shell("schema", "check", "visits.toml", "visits.csv", "--json").out)
    assert public == {name: value for name, value in facts.items() if name != "mark"}


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_file_is_marked_too_and_for_its_owner_alone(words, shell) -> None:
    bad = changed(upper)
    said = shell("check", bad, "--schema", "visits.toml", "--out", "counts", *words)
    assert said.code == 5
    assert KEEPER in said.out
    assert "300" not in said.out  # the counts are in the file
    written = Path("counts").read_text()
    assert KEEPER in written.splitlines()[1 if words else 0]
    assert "300 of 300" in written
    assert Path("counts").stat().st_mode & 0o077 == 0
    again = shell("check", bad, "--schema", "visits.toml", "--out", "counts")
    assert "counts: already exists" in complaint(again)


def test_what_is_wrong_is_one_line(shell) -> None:
    assert "--schema" in complaint(shell("check", "visits.csv"))
    assert "none.csv: cannot be read" in complaint(
        shell("check", "none.csv", "--schema", "visits.toml")
    )
    Path("short.csv").write_text("age,ward\n1,north\n")
    assert "no column 'readmitted'" in complaint(
        shell("schema", "check", "visits.toml", "short.csv")
    )
    assert "SAMPLE" in complaint(shell("schema", "check", "visits.toml"))


def test_no_cell_is_shown(shell) -> None:
    """`shell` looks for the planted word in all that is said."""
    bad = changed(lambda row: dict.fromkeys(row, "Quokkazyx"))
    assert shell("check", bad, "--schema", "visits.toml").code == 5
    assert shell("check", bad, "--schema", "visits.toml", "--json").code == 5
    assert shell("schema", "check", "visits.toml", bad).code == 5


def test_a_form_is_still_one_word(shell) -> None:
    assert "readmitted" in shell("schema", "visits.csv").out
    os.rename("visits.csv", "check")
    assert "readmitted" in shell("schema", "./check").out
    assert "schema check" in shell("--help").out
