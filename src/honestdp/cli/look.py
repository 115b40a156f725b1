"""`honestdp schema`, `predict`, `card`: what to fill in, what a model says, what was promised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from honestdp.cli.options import Json, Quiet
from honestdp.cli.say import Voice
from honestdp.errors import InputError


def schema(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file; only its header is read.")],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; by default the last.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write it; else it is printed.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """A schema to fill in, from the header alone: no value is read.

    Example: honestdp schema visits.csv --target readmitted --out visits.toml
    """
    from honestdp.schema import from_header

    text = from_header(data, target=target)
    if out is None:
        typer.echo(json.dumps({"schema": text}, indent=2) if json_ else text, nl=json_)
        return
    with _new_file(out) as file:
        file.write(text)
    voice = Voice(json_, quiet)
    if json_:
        voice.answer("", {"out": str(out)})
    voice.note(f"written: {out}; fill it in from what is known without looking at the rows")


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with raw rows.")],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Those of every class too.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; else it is printed.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """What a saved model says of raw rows, one line each.

    Example: honestdp predict run new-visits.csv --out answers.csv
    """
    voice = Voice(json_, quiet)
    with voice.busy("predicting"):
        from honestdp.release.saved import load
        from honestdp.schema import open_rows

        found = load(run)
        rows = open_rows(found.schema, data)
        answers = found.predict(rows).tolist()
        column, classes = found.schema.target.column, found.schema.target.classes
        if probabilities and classes is None:
            raise InputError("probabilities: this model predicts a number, not classes")
        chances = found.predict_proba(rows).tolist() if probabilities else None
    if json_ and out is None:
        typer.echo(json.dumps({column: answers, **({"probabilities": chances} if chances else {})}))
        return
    header = [column, *(f"p({name})" for name in classes or () if chances)]
    lines = [[answer, *(chances[i] if chances else [])] for i, answer in enumerate(answers)]
    if out is None:
        _write(typer.get_text_stream("stdout"), header, lines)
        return
    with _new_file(out) as file:
        _write(file, header, lines)
    if json_:
        voice.answer("", {"out": str(out), "rows": len(lines)})
    voice.note(f"written: {out}, {len(lines)} rows")


def card(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a card.json.")],
    ledger: Annotated[Path | None, typer.Option(help="Check it against this ledger.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """What was promised about a release, in sentences; checked, if a ledger is named.

    Example: honestdp card run --ledger visits.ledger
    """
    from honestdp.release.card import Card, verify

    found = Card.load(run)
    if ledger is not None:
        from honestdp.ledger import Ledger

        verify(run, Ledger.inspect(ledger))
    typer.echo(found.to_json().decode() if json_ else found.prose(), nl=False)
    if ledger is not None:
        Voice(json_, quiet).note("checked: the ledger holds this charge, and this card to the word")


@contextmanager
def _new_file(path: Path) -> Iterator[IO[str]]:
    try:
        with open(path, "x", encoding="utf-8", newline="") as file:
            yield file
    except FileExistsError:
        raise InputError(f"{path}: is there already; choose another name") from None


def _write(file: IO[str], header: list[str], lines: list[list[object]]) -> None:
    import csv

    csv.writer(file, lineterminator="\n").writerows([header, *lines])
