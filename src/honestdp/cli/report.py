"""`honestdp report RUN`: the report of a run, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from honestdp.cli.config import TuneConfig
from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet
from honestdp.errors import InputError


def command(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    ledger: Annotated[
        Path | None, typer.Option(help="The data set's budget; by default the one of the run.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write RUN/report.html: the guarantee, the cost, the result.

    Example: honestdp report run --open
    """
    from honestdp.ledger import Ledger
    from honestdp.release.card import Card
    from honestdp.report.page import write_report

    console = Console(json_, quiet)
    place = ledger
    if ledger is None and not Card.load(run).mark:
        place = _named(run)
        if place is None:
            console.note("ledger: none given and none found; the report has no history of charges")
    with console.busy("drawing the report"):
        page = write_report(run, None if place is None else Ledger.inspect(place))
    console.answer(f"written: {page}", {"report": str(page)})
    if open_:
        typer.launch(page.absolute().as_uri())


def _named(run: Path) -> Path | None:
    """The ledger in the run's configuration, if it still exists."""
    from honestdp.run_files import CONFIG

    if not (run / CONFIG).is_file():
        return None
    try:
        place = TuneConfig.of(run / CONFIG, {}).path("ledger")
    except InputError:  # only a way to find it; the card is checked in any case
        return None
    return place if place is not None and place.exists() else None
