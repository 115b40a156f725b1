"""`honestdp predict`: predictions of a saved model for raw rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import IO, Annotated

import typer

from honestdp.cli.console import Console, new_file
from honestdp.cli.options import Decimal, Delimiter, Encoding, Json, Query, Quiet, Sheet, table_file
from honestdp.errors import InputError


def command(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    data: Annotated[
        list[str],
        typer.Argument(
            help="Raw rows: CSV, Parquet or xlsx files, a folder or the URL of a database. Say as "
            "for `tune` how they are written."
        ),
    ],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Print the probability of every class too.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; else it is printed.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    query: Query = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the predictions of a saved model for raw rows, one line each.

    Cells that the schema does not expect (unknown categories, numbers outside the bounds, texts in
    place of numbers) are counted on stderr, one line per column.

    Example: honestdp predict run new-visits.csv --out answers.csv
    """
    console = Console(json_, quiet)
    with console.busy("predicting"):
        from honestdp.release.saved import load
        from honestdp.release.unexpected import unexpected
        from honestdp.schema import open_rows

        found = load(run)
        table = table_file(data, delimiter, decimal, encoding, sheet, query)
        rows = open_rows(found.schema, table)
        answers = found.predict(rows, warn=False).tolist()
        column, classes = found.schema.target.column, found.schema.target.classes
        if probabilities and classes is None:
            raise InputError("probabilities: this model predicts a number, not classes")
        chances = found.predict_proba(rows, warn=False).tolist() if probabilities else None
        odd = unexpected(found.schema, rows)
    for line in odd:
        console.warn(line)
    if json_ and out is None:
        typer.echo(json.dumps({column: answers, **({"probabilities": chances} if chances else {})}))
        return
    header = [column, *(f"p({name})" for name in classes or () if chances)]
    lines = [[answer, *(chances[i] if chances else [])] for i, answer in enumerate(answers)]
    if out is None:
        _write(typer.get_text_stream("stdout"), header, lines)
        return
    with new_file(out) as file:
        _write(file, header, lines)
    if json_:
        console.answer("", {"out": str(out), "rows": len(lines)})
    console.note(f"written: {out}, {len(lines)} rows")


def _write(file: IO[str], header: list[str], lines: list[list[object]]) -> None:
    csv.writer(file, lineterminator="\n").writerows([header, *lines])
