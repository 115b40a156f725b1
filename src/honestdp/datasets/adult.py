"""The census table Adult (Becker and Kohavi 1996): embedded, so a first run needs no download."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.csv import read_csv

from honestdp.datasets.dataset import Dataset, split
from honestdp.errors import fail
from honestdp.schema import Schema

TRAINS = 32_561  # the census' own training rows; the others are its test rows
VIEWS = ("honest", "paper", "paper-doubled")

View = Literal["honest", "paper", "paper-doubled"]


def adult(view: View = "honest") -> Dataset:
    """Load Adult: 48,842 persons of 1994; predict who earns more than 50,000 dollars.

    Cells are as in the census, `?` if unknown.

    Args:
        view: "honest": every row, bounds and categories from the code book, 108 encoded columns;
            the census' own 32,561 training rows and 16,281 test rows. "paper": as in the paper:
            rows with a `?` dropped (45,222 are left), bounds and categories read from the rest, 104
            encoded columns, 80/20 by a fixed permutation; for research only, as dropping rows and
            reading bounds is not paid for. "paper-doubled": the same with every categorical column
            twice, which gives the paper's 202 columns.

    Returns:
        The schema, the rows to protect, the rows to test on.

    Raises:
        InputError: If there is no such view.
    """
    if view not in VIEWS:
        raise fail("view", view, f"must be one of {', '.join(VIEWS)}")
    with as_file(files("honestdp.datasets")) as folder:
        schema = Schema.load(folder / "adult.toml")
        table = read_csv(folder / "adult.csv.gz")
    if view == "honest":
        return Dataset(schema, table[:TRAINS], table[TRAINS:])
    return _paper(schema, table, doubled=view == "paper-doubled")


def _paper(schema: Schema, table: Any, doubled: bool) -> Dataset:
    categorical = [column.name for column in schema.columns if column.kind == "categorical"]
    known = [pc.not_equal(table[name], "?") for name in categorical]
    while len(known) > 1:
        known = [pc.and_(known[0], known[1]), *known[2:]]
    table = table.filter(known[0])
    columns: list[dict[str, Any]] = []
    for column in schema.columns:
        cells = table[column.name]
        if column.name in categorical:
            there = sorted(pc.unique(cells).to_pylist())
            columns.append({"kind": "categorical", "name": column.name, "categories": there})
        else:
            ends = pc.min_max(cells).as_py()
            bounds = [float(ends["min"]), float(ends["max"])]
            columns.append({"kind": "numeric", "name": column.name, "bounds": bounds})
    name = "adult as in the paper"
    if doubled:
        name += ", doubled"
        for facts in [c for c in columns if c["kind"] == "categorical"]:
            again = f"{facts['name']} again"
            columns.append(facts | {"name": again})
            table = table.append_column(again, table[facts["name"]])
    made = Schema.model_validate(
        {
            "name": name,
            "unit": schema.unit,
            "target": schema.target.model_dump(),
            "columns": columns,
        }
    )
    trains, validates = split(table.num_rows)
    return Dataset(made, table.take(pa.array(trains)), table.take(pa.array(validates)))
