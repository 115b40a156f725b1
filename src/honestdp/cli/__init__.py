"""The command line: one file a command. Heavy imports happen inside the commands."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import typer

from honestdp import __version__
from honestdp.cli import ledger, look, paper, plan, report, tune
from honestdp.errors import InputError, SearchError

app = typer.Typer(
    name="honestdp",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Honest private machine learning: one (epsilon, delta) for training, tuning, scoring.\n\n"
    "Example: honestdp plan --n 36177 --lot-size 250 --steps 2500 --candidates 40 --epsilon 1",
)
app.command("tune")(tune.command)
app.command("resume")(tune.resume)
app.command("plan")(plan.command)
app.command("schema")(look.schema)
app.command("predict")(look.predict)
app.command("card")(look.card)
app.command("report")(report.command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(paper.app, name="paper")

# typer's own errors (unknown option, not a number, ...) share this base, which it does not export.
_UsageError: Any = typer.BadParameter.__mro__[2]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"honestdp {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def main() -> None:
    """Run a command; whatever the user got wrong is one line on stderr and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message is the help text
            typer.echo(error.format_message())
            sys.exit(0)
        _stop(error.format_message(), 2)
    except InputError as error:
        _stop(str(error), 2)
    except OSError as error:
        _stop(f"{error.filename or 'file'}: {error.strerror or error}", 2)
    except (KeyboardInterrupt, typer.Abort) as error:
        _stop(str(error) or "interrupted", 130)
    except SearchError as error:
        _stop(str(error), 1)
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)


def _stop(message: str, code: int) -> NoReturn:
    line = " ".join(message.split())
    print(f"honestdp: {line}", file=sys.stderr)
    sys.exit(code)
