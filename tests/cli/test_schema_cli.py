"""`honestdp schema`."""

from __future__ import annotations

import json
from pathlib import Path

from cli_calls import QUICK, complaint

from honestdp import Schema


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


def test_a_table_without_a_header_shows_no_cell(shell) -> None:
    text = Path("visits.toml").read_text().replace("[columns.age]", '[columns."*"]')
    Path("visits.toml").write_text(text)
    Path("visits.csv").write_text("34,Quokkazyx,yes\n35,north,no\n")  # `shell` looks for it
    assert "no column 'readmitted'" in complaint(shell("tune", "visits.csv", *QUICK, "--yes"))
