"""`honestdp paper ...`: what this package adds to the command line.

An entry point of the group `honestdp.commands` names `app`. Heavy imports happen in the commands.
"""

from __future__ import annotations

import typer

from honestdp_reproduction.cli import experiments, figures

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The paper's figures and tables, and what it would show today.\n\n"
    "Example: honestdp paper table3",
)
figures.add_to(app)
experiments.add_to(app)
