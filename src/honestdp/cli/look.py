"""`honestdp schema`, `predict`, `card`: what to fill in, what a model says, what was promised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from honestdp.cli.options import Json, Quiet
from honestdp.cli.say import Voice
from honestdp.errors import InputError


def schema(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file; only its header is read.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write it; else it is printed.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """A schema to fill in, from the header alone: no value is read.

    Example: honestdp schema visits.csv --out visits.toml
    """
    from honestdp.schema import from_header

    text = from_header(data, target=target)
    if out is not None:
        if out.exists():
            raise InputError(f"{out}: is there already; choose another name")
        out.write_text(text)
        Voice(json_, quiet).answer(f"written: {out}; fill it in", {"out": str(out)})
        return
    typer.echo(json.dumps({"schema": text}) if json_ else text, nl=json_)


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with raw rows.")],
    probabilities: Annotated[bool, typer.Option(help="Those of every class too.")] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; else it is printed.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """What a saved model says of raw rows, one line each.

    Example: honestdp predict run new-visits.csv --out answers.csv
    """
    import csv
    import sys

    from honestdp.release.saved import load

    found = load(run)
    answers = found.predict(data).tolist()
    column = found.schema.target.column
    classes = found.schema.target.classes or ()
    chances = found.predict_proba(data).tolist() if probabilities and classes else None
    if json_:
        typer.echo(json.dumps({column: answers, "probabilities": chances}))
        return
    header = [column, *(f"p({name})" for name in classes if chances)]
    rows = [[a, *(chances[i] if chances else [])] for i, a in enumerate(answers)]
    with open(out, "w", newline="") if out else sys.stdout as file:
        csv.writer(file).writerows([header, *rows])
    if out:
        Voice(json_, quiet).note(f"written: {out}, {len(rows)} rows")


def card(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a card.json.")],
    ledger: Annotated[Path | None, typer.Option(help="Check it against this ledger.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """What was promised about a release, in sentences; checked, if a ledger is named.

    Example: honestdp card run --ledger run.ledger
    """
    from honestdp.release.card import Card, verify

    found = Card.load(run)
    if ledger is not None:
        from honestdp.ledger import Ledger

        known = found.declared_public.get("schema_fingerprint", "")
        name = found.ledger.dataset if found.ledger else ""
        verify(run, Ledger.open(ledger, schema=str(known), dataset=name))
    words = found.prose() + ("" if ledger is None else "\nThe ledger stands behind every word.\n")
    typer.echo(found.to_json().decode() if json_ else words, nl=False)
