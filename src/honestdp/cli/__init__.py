"""The command line. Commands are found by `registry`; heavy imports happen inside them."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import typer

from honestdp import __version__
from honestdp.cli.console import MISFIT, Stopped
from honestdp.cli.registry import LazyGroup, at_fault
from honestdp.errors import BudgetError, InputError, MisfitError, SearchError

app = typer.Typer(
    name="honestdp",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Honest private machine learning: one (epsilon, delta) for training, tuning, scoring.\n\n"
    "Example: honestdp tune visits.csv --schema visits.toml --epsilon 1 --out run",
)

INTERRUPTED = 130

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
    """Run a command; an error is one line on stderr.

    Exit codes: 0 success; 1 internal error, of honestdp or of a plug-in; 2 wrong input; 3 the
    budget does not cover it; 4 the search ended without a model; 5 a table does not fit its schema
    (`honestdp check`; the check of `honestdp tune`, whose charge stands); 130 interrupted.
    """
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer's exit code for Ctrl-C
            raise Stopped("interrupted")
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message is the help text
            typer.echo(error.format_message())
            sys.exit(0)
        _stop(error.format_message(), 2)
    except BudgetError as error:
        _stop(str(error), 3)
    except MisfitError as error:
        _stop(str(error), MISFIT)
    except InputError as error:
        _stop(str(error), 2)
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        sys.exit(0)
    except OSError as error:
        _stop(f"{error.filename or 'file'}: {error.strerror or error}", 2)
    except (KeyboardInterrupt, Stopped, typer.Abort) as error:
        _stop(str(error) or "interrupted", INTERRUPTED)
    except SearchError as error:
        _stop(str(error), 1)
    except Exception as error:  # show only its type: its text may quote a row
        if os.environ.get("HONESTDP_DEBUG"):
            raise
        kind = type(error).__name__
        where = "HONESTDP_DEBUG=1 shows the traceback, and maybe rows"
        _stop(f"{at_fault(error)} ({kind}); {where}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _stop(message: str, code: int) -> NoReturn:
    line = " ".join(message.split())
    print(f"honestdp: {line}", file=sys.stderr)
    sys.exit(code)
