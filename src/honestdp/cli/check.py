"""`honestdp check`, for the keeper of a table; `honestdp schema check`, for public rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honestdp.cli.console import MISFIT, Console, new_file
from honestdp.cli.options import Decimal, Delimiter, Encoding, Json, Query, Quiet, Sheet, table_file

if TYPE_CHECKING:
    from honestdp.schema import TableFile
    from honestdp.schema.table_check import TableCheck

OWNER = 0o600


def command(
    data: Annotated[
        list[str],
        typer.Argument(help="The protected table: files, a folder or the URL of a database."),
    ],
    schema: Annotated[Path, typer.Option(help="What is declared about it.")],
    out: Annotated[
        Path | None,
        typer.Option(help="File for the counts, marked like them; by default none is written."),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    query: Query = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count what of a table does not fit its schema, for the keeper of the table only.

    The counts are exact and cost nothing, because they are not private: they are for whoever sees
    the rows anyway. Exit code 0: it fits; 5: it does not.

    Example: honestdp check visits.csv --schema visits.toml
    """
    console = Console(json_, quiet)
    with console.busy("counting"):
        table = table_file(data, delimiter, decimal, encoding, sheet, query)
        found = _found(table, schema, public=False)
    if out is None:
        console.answer(str(found), found.to_dict())
    else:
        with new_file(out, OWNER) as file:
            file.write((json.dumps(found.to_dict(), indent=2) if json_ else str(found)) + "\n")
        console.answer(found.headline, {"mark": found.mark, "fits": found.fits, "out": str(out)})
    raise typer.Exit(0 if found.fits else MISFIT)


def sample(
    schema: Annotated[Path, typer.Argument(help="The schema to try.")],
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="SAMPLE", help="Files, a folder or a URL with rows that are public."
        ),
    ],
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    query: Query = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try a schema on public rows: count what of them does not fit it.

    Give rows that nobody has to protect, such as made-up ones; for the protected table itself there
    is `honestdp check`. Exit code 0: they fit; 5: they do not.

    Example: honestdp schema check visits.toml sample.csv
    """
    console = Console(json_, quiet)
    with console.busy("counting"):
        table = table_file(data, delimiter, decimal, encoding, sheet, query)
        found = _found(table, schema, public=True)
    console.answer(str(found), found.to_dict())
    raise typer.Exit(0 if found.fits else MISFIT)


def _found(table: TableFile, schema: Path, *, public: bool) -> TableCheck:
    from honestdp.schema import Schema
    from honestdp.schema.check import check

    return check(Schema.load(schema, columns=table.names), table, public=public)
