"""Options that several commands share, and parsers with helpful errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from honestdp.schema import TableFile

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
NoCheck = Annotated[
    bool,
    typer.Option("--no-check", help="Train without asking first, with noise, if the table fits."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress messages.")]

Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="MARK", help="Separator of a CSV file: ; or tab. By default as in its header."
    ),
]
Decimal = Annotated[
    str | None, typer.Option(metavar="MARK", help="Decimal mark: a point (the default) or a comma.")
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Of a CSV file, such as latin-1. By default UTF-8, or as its header."),
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook; by default the first.")]
Query = Annotated[
    str | None, typer.Option(metavar="SQL", help="Query to a database; its rows are the table.")
]


def table_file(
    data: list[str],
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    sheet: str | None,
    query: str | None,
) -> TableFile:
    """The table that a command is given, written as its options say."""
    from honestdp.schema import TableFile

    return TableFile(
        data, delimiter=delimiter, decimal=decimal, encoding=encoding, sheet=sheet, query=query
    )


def whole(text: str) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number; write one like 40") from None


def number(text: str) -> float:
    try:
        return float(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; write one like 0.5") from None
