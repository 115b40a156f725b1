"""`honestdp plan`: what an honest search costs, before any data is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet, number, whole
from honestdp.errors import InputError, fail

if TYPE_CHECKING:
    from honestdp.planning.table import CostTable


def command(
    n: Annotated[
        int | None,
        typer.Option(
            "--n", parser=whole, metavar="N", help="Records in the training part (public)."
        ),
    ] = None,
    lot_size: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="N", help="Expected lot size; by default from n and epsilon."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="N", help="Steps of every run; by default from n and epsilon."
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="N", help="Hyperparameter candidates to choose from; default 4."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="X", help="Total delta; default 10^(floor(log10(1/n)) - 1)."
        ),
    ] = None,
    noise_multiplier: Annotated[
        float | None,
        typer.Option(parser=number, metavar="X", help="Noise of every run: answers epsilon."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="X", help="Total epsilon: answers the noise multiplier."
        ),
    ] = None,
    hit_probability: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="X", help="Draw the best candidate at least this often."
        ),
    ] = None,
    subset: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="X", help="Share of records subset-tuning tunes on; default 0.1."
        ),
    ] = None,
    json_: Json = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw cost against candidates: FILE.html or FILE.png.")
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Serve an interactive page to this machine only; Ctrl-C ends."
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="With --serve: the port; 0 is any.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="With --serve: open the browser.")] = False,
    quiet: Quiet = False,
) -> None:
    """What an honest hyperparameter search costs under every known procedure. Reads no data.

    Example: honestdp plan --n 36177 --lot-size 250 --steps 2500 --candidates 40 --epsilon 1
    """
    facts: dict[str, Any] = {"n": n, "lot_size": lot_size, "steps": steps, "candidates": candidates}
    facts |= {"delta": delta, "noise_multiplier": noise_multiplier, "epsilon": epsilon}
    facts |= {"hit_probability": hit_probability}
    facts |= {} if subset is None else {"subset": subset}
    if serve:
        if json_ or plot is not None:
            raise InputError("--serve is a page; leave out --json and --plot")
        given = {name: value for name, value in facts.items() if value is not None}
        _serve(given, port, open_, quiet)
        return
    if port or open_:
        raise InputError("--port and --open go with --serve")
    usual = _fill_in(facts)
    if plot is not None:
        from honestdp.report.picture import check_target

        check_target(plot)
    console = Console(json_, quiet)
    with console.busy("computing"):
        from honestdp.planning.costs import cost_table

        table = cost_table(**facts)
    if json_:
        typer.echo(json.dumps(table.to_dict(), indent=2))
    else:
        _show(table)
        for line in usual:
            console.note(line)
    if plot is not None:
        from honestdp.report.cost_plot import draw

        draw(table, plot)
        console.note(f"drawn: {plot}")


def _fill_in(facts: dict[str, Any]) -> list[str]:
    """What nobody gave, as a plan of the default model has it; what to say of it."""
    from honestdp.planning.defaults import USUAL_CANDIDATES, usual_training
    from honestdp.planning.likely import guess
    from honestdp.procedures.base import HIT_PROBABILITY

    n, epsilon = facts["n"], facts["epsilon"]
    known = (
        isinstance(n, int) and isinstance(epsilon, float) and 2 <= n < 1e15 and 0 < epsilon < 1e6
    )
    filled = [name for name in ("steps", "lot_size", "candidates") if facts[name] is None]
    if filled and isinstance(n, int) and n < 2:
        raise fail("n", n, "must be at least 2")
    if filled and isinstance(epsilon, float) and not known and n is not None:
        raise fail("epsilon", epsilon, "must be a number above 0, such as 1")
    for name in ("n", *filled):
        if facts[name] is None and not (known or name == "candidates"):
            option = f"--{name.replace('_', '-')}"
            also = "" if name == "n" else "--epsilon, from which it follows, "
            raise InputError(f"Missing option '{option}'; give it, {also}or --serve to try values")
    if facts["candidates"] is None:
        facts["candidates"] = USUAL_CANDIDATES
        if facts["hit_probability"] is None:  # searches are compared at the same one
            facts["hit_probability"] = HIT_PROBABILITY
    if facts["steps"] is None or facts["lot_size"] is None:
        usual = usual_training(n, epsilon, facts["lot_size"], facts["steps"])
        facts["lot_size"], facts["steps"] = usual
    said = ", ".join(f"{name.replace('_', ' ')} {facts[name]}" for name in filled)
    lines = [f"of the default model, as nothing else was given: {said}"] if filled else []
    likely = guess(n, epsilon) if known and filled else None
    return [*lines, *([] if likely is None else [f"likely: {likely}"])]


def _serve(start: dict[str, Any], port: int, open_: bool, quiet: bool) -> None:
    from honestdp.planner.answers import read
    from honestdp.planner.serve import Server
    from honestdp.planner.serve import serve as run

    server = Server(read({name: str(value) for name, value in start.items()}), port)
    typer.echo(server.address)  # even with --quiet: without it there is nothing to open
    if not quiet:
        typer.echo("Open it in a browser on this machine; Ctrl-C ends it.", err=True)
    if open_:
        typer.launch(server.address)
    run(server)


def _show(table: CostTable) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if console.width < 100 or not console.is_terminal:
        typer.echo(str(table))
        return
    console.print(str(table.inputs))
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for i, header in enumerate(table.headers):
        drawn.add_column(header, justify="left" if i < 3 else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*table.cells(row), style="green" if table.is_smallest(row) else "dim")
    console.print(drawn)
    console.print("* the smallest bound on its procedure and shape", style="dim")
    for note in (table.bets, *table.notes):
        console.print(note, style="dim")
