"""`honestdp schema`: a schema form to fill in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from honestdp.cli.console import Console, new_file
from honestdp.cli.options import Json, Quiet


def command(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file; only its header is read.")],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; by default the last.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write it; else it is printed.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a schema to fill in, from the header alone: no value is read.

    Example: honestdp schema visits.csv --target readmitted --out visits.toml
    """
    from honestdp.schema import from_header

    text = from_header(data, target=target)
    if out is None:
        typer.echo(json.dumps({"schema": text}, indent=2) if json_ else text, nl=json_)
        return
    with new_file(out) as file:
        file.write(text)
    console = Console(json_, quiet)
    if json_:
        console.answer("", {"out": str(out)})
    console.note(f"written: {out}; fill it in from what is known without looking at the rows")
