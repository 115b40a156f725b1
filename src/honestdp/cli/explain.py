"""`honestdp explain`: what each column adds to the prediction of a released linear model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet

if TYPE_CHECKING:
    from rich.table import Table

    from honestdp.release.effects import ColumnEffect, Effect, Effects

TOP = 20  # columns shown without --all
WIDE = 160  # characters of a line that no terminal cuts


def command(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    all_: Annotated[
        bool, typer.Option("--all", help=f"Show all columns, not only the {TOP} largest.")
    ] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print what each column adds to the prediction of a linear model, the largest effect first.

    It costs nothing: it is computed from what was released. "noise" is the standard deviation that
    the noise of the training alone gives such an effect.

    Example: honestdp explain run
    """
    console = Console(json_, quiet)
    with console.busy("reading the model"):
        from honestdp.release.card import Card
        from honestdp.release.saved import load_effects

        effects, mark = load_effects(run), Card.load(run).mark
    if json_:
        console.answer("", {**({"mark": mark} if mark else {}), **effects.to_dict()})
        return
    shown = effects.columns if all_ else effects.columns[:TOP]
    if mark:
        typer.echo(mark)
    _print(_table(effects, shown))
    noted = [f"{one.column}: {note}" for one in shown for note in one.notes]
    for line in (f"Effects are in {effects.unit}.", effects.note, *noted):
        if line:
            typer.echo(line)
    hidden = len(effects.columns) - len(shown)
    if hidden:
        some = "1 smaller column is" if hidden == 1 else f"{hidden} smaller columns are"
        console.note(f"{some} not shown; --all shows all")


def _print(table: Table) -> None:
    """As wide as the terminal; elsewhere wide enough for a line each."""
    from rich.console import Console as RichConsole

    screen = RichConsole(highlight=False)
    if not screen.is_terminal:
        screen.width = WIDE
    screen.print(table)


def _table(effects: Effects, shown: tuple[ColumnEffect, ...]) -> Table:
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("column", overflow="fold")
    for name in ("effect", "noise"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("lowest at", "highest at"):
        table.add_column(name, overflow="fold")
    for one in shown:
        low = min(one.effects, key=lambda effect: effect.contribution)
        high = max(one.effects, key=lambda effect: effect.contribution)
        noise = "unknown" if one.noise_sd is None else f"\u00b1 {one.noise_sd:.2g}"
        ends = (_end(effects, low), _end(effects, high))
        table.add_row(Text(one.column), f"{one.size:.3g}", noise, *map(escape, ends))
    return table


def _end(effects: Effects, effect: Effect) -> str:
    of = f" (for {effect.class_})" if len(effects.classes) > 1 else ""
    return f"{effect.label}{of}: {effect.contribution:+.2g}"
