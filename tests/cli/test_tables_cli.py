"""Tables as people have them, from the shell: options, several files, queries, no password."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import tomllib
from pathlib import Path

import pytest
from cli_calls import QUICK, complaint

from honestdp import Ledger
from honestdp.schema.sources.sqlite import SqliteSource

QUERY = "SELECT age, ward, readmitted FROM visits ORDER BY id"


def rows(name: str = "visits.csv") -> list[list[str]]:
    with open(name, newline="") as file:
        return list(csv.reader(file))


def database(name: str = "visits.db", source: str = "visits.csv") -> None:
    connection = sqlite3.connect(name)
    connection.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, age, ward, readmitted)")
    cells = [(age, ward, back) for age, ward, _, back in rows(source)[1:]]
    connection.executemany("INSERT INTO visits (age, ward, readmitted) VALUES (?, ?, ?)", cells)
    connection.commit()
    connection.close()


def european(name: str) -> None:
    """As a German Excel saves it."""
    head, *lines = rows()
    text = "\r\n".join(";".join([f"{line[0]},0", *line[1:]]) for line in lines)
    Path(name).write_bytes((";".join(head) + "\r\n" + text).encode("utf-16"))


def winner(shell, *words: object) -> dict[str, object]:
    said = shell("tune", *words, *QUICK, "--seed", 3, "--test", "test.csv", "--json")
    assert said.code == 0, said
    return {**json.loads(said.out), "out": None}


def test_one_table_written_in_many_ways_gives_one_model(shell) -> None:
    expected = winner(shell, "visits.csv", "--out", "a")
    european("european.csv")
    head, *lines = Path("visits.csv").read_text().splitlines()
    Path("parts").mkdir()
    Path("parts/1.csv").write_text("\n".join([head, *lines[:100]]) + "\n")
    Path("parts/2.csv").write_text("\n".join([head, *lines[100:]]) + "\n")
    database()
    assert winner(shell, "european.csv", "--out", "b", "--decimal", ",") == expected
    assert winner(shell, "parts/1.csv", "parts/2.csv", "--out", "c") == expected
    assert winner(shell, "parts", "--out", "d") == expected
    url = ("sqlite:///visits.db", "--query", QUERY)
    assert winner(shell, *url, "--out", "e") == expected
    assert winner(shell, f"{url[0]}?query={QUERY}", "--out", "f") == expected
    answers = {
        shell("predict", "a", *places).out
        for places in (["visits.csv"], ["european.csv", "--decimal", ","], ["parts"], url,
                       ["parts/1.csv", "parts/2.csv"])
    }  # fmt: skip
    assert len(answers) == 1


def test_how_it_is_written_is_stored_for_resume(shell, monkeypatch) -> None:
    from honestdp.runner.training import Trainer

    european("european.csv")
    Path("more.csv").write_bytes(Path("european.csv").read_bytes())
    usual = Trainer.train

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "train", interrupted)
    words = ("--decimal", ",", "--delimiter", ";", "--encoding", "utf-16", "--yes")
    said = shell("tune", "european.csv", "more.csv", *QUICK, *words, "--out", "my/run")
    assert said.code == 130, said
    kept = tomllib.loads(Path("my/run/.private/asked.toml").read_text())
    assert kept["data"] == ["../../european.csv", "../../more.csv"]
    assert (kept["decimal"], kept["delimiter"], kept["encoding"]) == (",", ";", "utf-16")
    assert Path("visits.ledger").is_file()  # named after the schema
    monkeypatch.setattr(Trainer, "train", usual)
    assert shell("resume", "my/run").code == 0
    assert len(Ledger.inspect("visits.ledger").history()) == 1


def test_no_password_is_written_anywhere(shell, monkeypatch, tmp_path) -> None:
    """With a stand-in for a server: a database file, whatever the address."""
    from honestdp.runner.training import Trainer
    from honestdp.schema.sources.sql import DatabaseSource

    database()
    asked: list[str] = []

    def answer(self: DatabaseSource, statement: str) -> object:
        asked.append(self._address)
        return SqliteSource.answer(stand_in, statement)

    from honestdp.schema.sources import TableOptions

    stand_in = SqliteSource(f"sqlite:///{tmp_path}/visits.db", TableOptions(query=QUERY))
    monkeypatch.setattr(DatabaseSource, "answer", answer)
    url = "postgresql://me:s3cretive@host/d?sslmode=require&sslpassword=s3cretive"
    usual = Trainer.train

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "train", interrupted)
    said = [shell("tune", url, "--query", QUERY, *QUICK, "--out", "run", "--yes")]
    assert asked[0] == url
    assert said[0].code == 130, said[0]
    kept = tomllib.loads(Path("run/.private/asked.toml").read_text())
    assert kept["data"] == "postgresql://me@host/d?sslmode=require"
    said.append(shell("tune", url, "--query", QUERY, "--epsilon", 1))
    assert "honestdp schema 'postgresql://me@host/d?sslmode=require'" in complaint(said[-1])
    monkeypatch.setattr(Trainer, "train", usual)
    said.append(shell("resume", "run"))
    assert said[-1].code == 0, said[-1]
    assert asked[-1] == "postgresql://me@host/d?sslmode=require"
    said.append(shell("card", "run"))
    assert not [one for one in said if "s3cretive" in one.out + one.err]
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"s3cretive" not in path.read_bytes()


def test_a_relative_database_is_found_again(shell, monkeypatch, tmp_path) -> None:
    database()
    said = shell("tune", "sqlite:///visits.db", "--query", QUERY, *QUICK, "--out", "run", "--yes")
    assert said.code == 0
    kept = tomllib.loads(Path("run/asked.toml").read_text())
    assert kept["data"] == "sqlite:///../visits.db"
    assert kept["query"] == QUERY
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    Path("spec.toml").write_text('data = "sqlite:///../visits.db"\nschema = "../visits.toml"\n')
    words = ("--epsilon", 1, "--query", QUERY, "--dry-run", "--json")
    monkeypatch.chdir(tmp_path)
    assert json.loads(shell("tune", "--spec", "elsewhere/spec.toml", *words).out)["rows"] == 300


def test_one_file_of_the_table_is_no_public_test(shell) -> None:
    database()
    os.link("visits.csv", "copy.csv")
    Path("both").mkdir()
    for name in ("visits.csv", "test.csv"):
        Path("both", name).write_bytes(Path(name).read_bytes())
    for data, test in (
        (["visits.csv", "test.csv"], "copy.csv"),
        (["both"], "visits.csv"),
        (["visits.csv"], "both"),
        (["sqlite:///visits.db", "--query", QUERY], f"sqlite:///./visits.db?query={QUERY}"),
    ):
        said = shell("tune", *data, *QUICK, "--out", "run", "--test", test, "--yes")
        assert "is the protected table or a copy of it" in complaint(said)
    assert not Path("visits.ledger").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("visits.csv", "--delimiter", ";;"), "delimiter=';;': must be one character"),
        (("visits.csv", "--delimiter", ";"), "no column 'readmitted'"),
        (("visits.csv", "--decimal", "x"), "decimal='x': must be . or ,"),
        (("visits.csv", "--encoding", "x"), "encoding='x': is not a known encoding"),
        (("visits.csv", "--query", QUERY), "query: visits.csv is a CSV file, which has none"),
        (("visits.csv", "visits.csv"), "visits.csv: is given twice"),
        (("visits.csv", "none.csv"), "none.csv: cannot be read"),
        (("sqlite:///none.db",), "none.db: there is no such database file"),
    ],
)
def test_wrong_options_are_one_line_before_anything_is_charged(words, said, shell) -> None:
    assert said in complaint(shell("tune", *words, *QUICK, "--out", "run", "--yes"))
    assert not Path("visits.ledger").exists()


def test_a_form_from_several_files_and_from_a_query(shell) -> None:
    database()
    url = ("sqlite:///visits.db", "--query", QUERY)
    for words in (["visits.csv", "test.csv"], ["visits.csv", "--delimiter", ","], url):
        said = shell("schema", *words)
        assert said.code == 0, said
        assert 'name = "visits"' in said.out
        assert 'column = "readmitted"' in said.out
