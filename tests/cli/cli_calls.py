"""`honestdp` called as the shell calls it, in this process: what it says, and its exit code."""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from honestdp.cli import app, main

SCHEMA = """\
name = "visits"
unit = "one visit"

[target]
column = "readmitted"
classes = ["no", "yes"]

[columns.age]
kind = "numeric"
bounds = [0, 100]

[columns.ward]
kind = "categorical"
categories = ["north", "south"]
other = true
"""
QUICK = ("--schema", "visits.toml", "--epsilon", "2", "--steps", "20", "--lot-size", "50")


class Said(NamedTuple):
    code: int
    out: str
    err: str


Shell = Callable[..., Said]


def visits(path: Path, rows: int = 300, seed: int = 0) -> None:
    """A made-up table: the old in the north come back."""
    source = random.Random(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "ward", "doctor", "readmitted"])
        for _ in range(rows):
            age, ward = source.randrange(100), source.choice(["north", "south", "attic", ""])
            back = age > 50 and ward == "north"
            writer.writerow([age, ward, "Quokkazyx", "yes" if back else "no"])


def complaint(said: Said, code: int = 2) -> str:
    """The one line that a call ended with."""
    assert said.code == code, said
    lines = [line for line in said.err.splitlines() if line.startswith("honestdp: ")]
    assert len(lines) == 1, said
    assert said.err.splitlines()[-1].endswith(lines[0])
    return lines[0]


@pytest.fixture
def shell(capfd, monkeypatch, tmp_path) -> Shell:
    """Calls in a folder with visits.csv, visits.toml and test.csv."""
    monkeypatch.chdir(tmp_path)
    visits(tmp_path / "visits.csv")
    visits(tmp_path / "test.csv", 100, seed=1)
    (tmp_path / "visits.toml").write_text(SCHEMA)

    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["honestdp", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert "Quokkazyx" not in out + err
        return Said(int(done.value.code or 0), out, err)

    return call


def commands(
    group: Any = None, before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, by the words that call it; plug-ins too."""
    group = typer.main.get_command(app) if group is None else group
    for name, found in group.commands.items():
        if hasattr(found, "commands"):
            yield from commands(found, (*before, name))
        else:
            yield (*before, name), found
