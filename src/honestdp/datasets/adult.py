"""The census table Adult (Becker and Kohavi 1996): embedded, so a first run needs no download."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any, NamedTuple

from pyarrow.csv import read_csv

from honestdp.schema import Schema

TRAINS = 32_561  # the census' own training rows; the others are its test rows


class Dataset(NamedTuple):
    """schema: what is public. train: the rows to protect. test: rows declared public, for a look
    at the result; tables of pyarrow."""

    schema: Schema
    train: Any
    test: Any


def adult() -> Dataset:
    """48,842 persons of 1994: who earns more than 50,000 dollars? Cells are as the census has them,
    `?` where it did not know."""
    with as_file(files("honestdp.datasets")) as folder:
        schema = Schema.load(folder / "adult.toml")
        table = read_csv(folder / "adult.csv.gz")
    return Dataset(schema, table[:TRAINS], table[TRAINS:])
