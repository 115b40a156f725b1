"""`honestdp card`: the privacy card of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet
from honestdp.errors import fail


def _formats() -> list[str]:
    from honestdp.release.card_formats import card_formats

    return list(card_formats.names())


def command(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a card.json.")],
    ledger: Annotated[Path | None, typer.Option(help="Check it against this ledger.")] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="prose (the default), json, registry (a record for the Differential Privacy "
            "Deployments Registry), model-card (for the Hugging Face Hub), or one of a package.",
            autocompletion=_formats,
        ),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the privacy card of a release in sentences or in another format, and check it if a
    ledger is given.

    Example: honestdp card run --ledger visits.ledger
    """
    from honestdp.release.card import Card
    from honestdp.release.card_formats import card_formats

    if json_ and format_ not in (None, "json"):
        raise fail("format", format_, "--json is a format too; leave one out")
    kind = card_formats.get("json" if json_ else format_ or "prose")
    found = Card.load(run)
    if ledger is not None:
        from honestdp.ledger import Ledger
        from honestdp.release.verify import verify

        verify(run, Ledger.inspect(ledger))
    typer.echo(kind.text(found), nl=False)
    console, missing = Console(json_, quiet), kind.missing(found)
    if missing:
        console.note(f"not on the card: {', '.join(missing)}; fill it in")
    if ledger is not None:
        console.note("checked: the ledger holds this charge, and released exactly this card")
