"""`honestdp simulate`: rows made up from a schema alone, to try a plan on."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honestdp.cli.console import Console, new_file
from honestdp.cli.options import Json, Quiet
from honestdp.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

STDOUT = Path("-")


def command(
    schema: Annotated[Path, typer.Argument(help="What is declared about the table.")],
    rows: Annotated[int, typer.Option(help="How many rows to make up.")] = 1000,
    seed: Annotated[int, typer.Option(help="The same seed makes up the same rows.")] = 0,
    signal: Annotated[
        bool,
        typer.Option(
            "--signal",
            help="Let the target depend on some columns by a linear rule, made up too, so that a "
            "model can learn something; else it is drawn on its own.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="CSV file to write, - for stdout; by default made-up-SCHEMA.csv."),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make up rows from a schema alone, to try a plan on: no data is read.

    A run on them is a run like any other: give `tune` a --seed too, so that it is a simulation and
    charges no ledger. How good its model is says nothing about the real table.

    Example: honestdp simulate visits.toml --rows 5000 --signal
    """
    from honestdp.schema import Schema
    from honestdp.schema.simulate import STAMP, make_up

    console = Console(json_, quiet)
    if json_ and out == STDOUT:
        raise InputError("--json: cannot share stdout with the rows; give --out a file")
    with console.busy("making up rows"):
        made = make_up(Schema.load(schema), rows, seed, signal)
        text = _csv(made.table)
    path = Path(f"made-up-{schema.stem}.csv") if out is None else out
    if path == STDOUT:
        typer.echo(text, nl=False)
    else:
        with new_file(path) as file:
            file.write(text)
    target = made.table.column_names[-1]
    how = f"depends on {_listed(made.depends_on)} by a made-up linear rule" if signal else ""
    console.warn(f"{STAMP} ({rows} rows of {schema}, seed {seed})")
    console.note(f"{target} {how or 'is drawn on its own; --signal makes it depend on columns'}")
    if path != STDOUT:
        trial = f"honestdp tune {path} --schema {schema} --epsilon 1 --seed 1"
        facts = {"mark": STAMP, "out": str(path), "rows": rows, "seed": seed}
        console.answer(
            f"written: {path}\ntry it: {trial}", {**facts, "depends_on": list(made.depends_on)}
        )


def _csv(table: pa.Table) -> str:
    from pyarrow.csv import write_csv

    sink = BytesIO()
    write_csv(table, sink)
    return sink.getvalue().decode()


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - 8
    return ", ".join(names if more <= 0 else [*names[:8], f"{more} more"])
