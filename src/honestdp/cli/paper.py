"""`honestdp paper NAME`: the paper's figures and tables, computed anew."""

from __future__ import annotations

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The paper's figures and tables, each beside what was printed.\n\n"
    "Example: honestdp paper table3",
)
