"""`honestdp schema`: a schema form to fill in, and code books."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from honestdp.cli.console import Console, new_file
from honestdp.cli.options import Decimal, Delimiter, Encoding, Json, Query, Quiet, Sheet, table_file
from honestdp.errors import InputError


def command(
    data: Annotated[
        list[str],
        typer.Argument(
            help="CSV, Parquet or xlsx files, a folder or the URL of a database; only headers are "
            "read. With --to-codebook a schema."
        ),
    ],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; by default the last.")
    ] = None,
    codebook: Annotated[
        Path | None,
        typer.Option(help="CSV or JSON file that declares columns; they are filled in."),
    ] = None,
    to_codebook: Annotated[
        Path | None,
        typer.Option(help="Write the columns of a schema as a code book: FILE.csv or FILE.json."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write it; else it is printed.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    query: Query = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a schema to fill in, from the header alone: no value is read.

    Example: honestdp schema visits.csv --target readmitted --out visits.toml
    """
    from honestdp.schema import Schema, from_header
    from honestdp.schema.codebook import write

    if to_codebook is not None:
        if target is not None or codebook is not None or out is not None or len(data) != 1:
            raise InputError("--to-codebook takes a schema and writes one file: nothing else")
        schema = Schema.load(data[0])
        text, out = write(to_codebook, schema.columns, schema.target), to_codebook
    else:
        table = table_file(data, delimiter, decimal, encoding, sheet, query)
        text = from_header(table, target=target, codebook=codebook)
    if out is None:
        typer.echo(json.dumps({"schema": text}, indent=2) if json_ else text, nl=json_)
        return
    with new_file(out) as file:
        file.write(text)
    console = Console(json_, quiet)
    if json_:
        console.answer("", {"out": str(out)})
    todo = "; fill it in from what is known without looking at the rows"
    console.note(f"written: {out}{'' if to_codebook else todo}")
