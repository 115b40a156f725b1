"""`honestdp card`: the privacy card of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet


def command(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a card.json.")],
    ledger: Annotated[Path | None, typer.Option(help="Check it against this ledger.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the privacy card of a release in sentences, and check it if a ledger is given.

    Example: honestdp card run --ledger visits.ledger
    """
    from honestdp.release.card import Card

    found = Card.load(run)
    if ledger is not None:
        from honestdp.ledger import Ledger
        from honestdp.release.verify import verify

        verify(run, Ledger.inspect(ledger))
    typer.echo(found.to_json().decode() if json_ else found.prose(), nl=False)
    if ledger is not None:
        Console(json_, quiet).note(
            "checked: the ledger holds this charge, and released exactly this card"
        )
