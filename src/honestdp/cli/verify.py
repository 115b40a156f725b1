"""`honestdp verify`: whether a card is genuine, by its ledger or by a head; in a browser too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from honestdp.cli.console import Console, new_file
from honestdp.cli.options import Json, Quiet
from honestdp.errors import InputError


def command(
    run: Annotated[
        Path | None, typer.Argument(help="A run's folder, or a card.json; none with --page.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger of the table.")] = None,
    head: Annotated[
        str | None, typer.Option(help="The ledger's head, from where it was published.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="Write a page, FILE.html, in which anybody can check a card offline."),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check that a card is genuine: by the ledger that it was charged to, or by its head alone.

    Example: honestdp verify run --ledger visits.ledger
    """
    console = Console(json_, quiet)
    if page is not None:
        if run is not None or ledger is not None or head is not None:
            raise InputError("--page: the page is the same for every card; leave out all others")
        _write(page, console)
        return
    if run is None:
        raise InputError("run: none; give a run's folder or a card.json, or --page FILE")
    if ledger is None and head is None:
        raise InputError("ledger: none, and no head; give --ledger FILE, or --head HASH")
    said, facts = _by_head(run, str(head)) if ledger is None else _by_ledger(run, ledger, head)
    console.answer(f"holds: {said}", {"holds": True, **facts})


def _by_ledger(run: Path, place: Path, head: str | None) -> tuple[str, dict[str, Any]]:
    from honestdp.ledger import Ledger
    from honestdp.release.verify import verify
    from honestdp.text import small, up

    ledger = Ledger.inspect(place)
    if head is not None:
        ledger.verify(head)
    receipt = verify(run, ledger).receipt
    said = (
        f"charge {receipt.id} of {place} paid epsilon {up(receipt.epsilon)} and delta "
        f"{small(receipt.delta)}, and released exactly this card"
    )
    facts = {"charge": receipt.id, "epsilon": receipt.epsilon, "delta": receipt.delta}
    return said, {"by": "ledger", **facts}


def _by_head(run: Path, head: str) -> tuple[str, dict[str, Any]]:
    from honestdp.release.verify import verify_head

    verify_head(run, head)
    said = "exactly this card left at this head; what was charged before, the ledger shows"
    return said, {"by": "head"}


def _write(page: Path, console: Console) -> None:
    from honestdp.report.verify_page import verify_page

    with new_file(page) as file:
        file.write(verify_page())
    said = f"written: {page}; open it in a browser, and drop a card.json into it"
    console.answer(said, {"page": str(page)})
