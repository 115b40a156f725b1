"""The tables of a `tune`: the protected one, and public rows to test and to choose on.

Only the header and the number of rows are read of the protected table.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from honestdp.cli.config import READING, TuneConfig
from honestdp.errors import InputError, fail

if TYPE_CHECKING:
    from honestdp.schema import Schema, TableFile


def tables_of(config: TuneConfig) -> tuple[Schema, Any, Any, TableFile | None]:
    """The schema, the table (only the header of a file is read), public rows to test on, and public
    rows to choose on."""
    from honestdp.schema import Schema, TableFile
    from honestdp.schema.files import same_table

    data, place, test = config.places("data"), config.path("schema"), config.places("test")
    open_ = config.places("public")
    reading = {name: config.values[name] for name in READING if name in config.values}
    if data is None:
        if place is not None:
            raise InputError("data: none, but a schema; give the CSV or Parquet file too")
        from honestdp.datasets import adult

        schema, table, rows = adult()
        chosen = None if open_ is None else _public_rows(open_, reading)
        return schema, table, rows if test is None else _public_rows(test, reading), chosen
    table = TableFile(data, **reading)
    if place is None:
        way = f"honestdp schema {' '.join(map(_quoted, data))} --out schema.toml"
        raise InputError(f"schema: none; `{way}` writes one to fill in; give it as --schema")
    schema = Schema.load(place, table.names)
    goal = schema.target.column
    if config.values.get("target") not in (None, goal):
        raise fail("target", config.values["target"], f"the schema's target is {goal!r}")
    tested = None if test is None else _public_rows(test, reading)
    chosen = None if open_ is None else _public_rows(open_, reading)
    for file in (table, tested, chosen):  # before anything is charged
        if file is not None:
            file.check([goal])  # first: without a header, a wildcard's names would be cells
            file.check([*schema.input_names, goal])
    for name, file, what in (("test", tested, "accuracy"), ("public", chosen, "best setting")):
        if file is not None and same_table(table, file):
            why = f"is the protected table or a copy of it, whose {what} is not paid for"
            raise fail(name, str(file), f"{why}; give public rows, or leave --{name} out")
    return schema, table, tested, chosen


def _public_rows(places: list[str], reading: Mapping[str, str]) -> TableFile:
    """Public rows: written like the table, as far as that fits them; a query is in their URL."""
    from honestdp.schema import TableFile
    from honestdp.schema.sources.opening import options_of

    fitting = options_of(places) - {"query"}
    return TableFile(places, **{name: v for name, v in reading.items() if name in fitting})


def _quoted(place: str) -> str:
    """A path or a URL as the shell reads it; without its password."""
    from honestdp.schema.sources.urls import without_secrets

    return shlex.quote(without_secrets(place))


def count_rows(config: TuneConfig, table: Any, schema: Schema) -> int:
    """Count the rows; raises InputError, before anything is charged, if the user gave another
    number."""
    from honestdp.schema import TableFile

    wanted = [*schema.input_names, schema.target.column]
    found = table.count_rows(wanted) if isinstance(table, TableFile) else len(table)
    if not found:
        raise InputError(f"{table}: holds a header and no rows; give a table")
    if config.values.get("rows", found) != found:
        raise fail("rows", config.values["rows"], f"the table has {found}; leave it out")
    return found


def is_adult(config: TuneConfig) -> bool:
    """Whether the table is the one that comes with honestdp."""
    return config.places("data") is None
