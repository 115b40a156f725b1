"""Output of commands: results on stdout (optionally JSON), everything else on stderr.

Colours and animations only on a terminal without NO_COLOR; rich handles both.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from honestdp.errors import InputError
from honestdp.files import ANYONE

if TYPE_CHECKING:
    from rich.console import Console as RichConsole


MISFIT = 5  # exit code of a table that does not fit its schema


class Stopped(Exception):  # noqa: N818
    """Ctrl-C; the message says how to resume. (Typer would swallow the message of an
    `Interrupted`.)"""


@dataclass(frozen=True)
class Console:
    """json: print one JSON object on stdout and nothing else. quiet: print no progress messages."""

    json: bool
    quiet: bool

    @property
    def silent(self) -> bool:
        return self.json or self.quiet

    def note(self, text: str, style: str | None = None) -> None:
        """Print a progress message."""
        if not self.silent:
            _stderr().print(text, style=style, markup=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """Print a line that somebody who reads the result should see: with --json too."""
        if not self.quiet:
            _stderr().print(text, style="yellow", markup=False, soft_wrap=True)

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Show a spinner with a text during the block; nothing if stderr is not a terminal."""
        terminal = _stderr()
        if self.silent or not terminal.is_terminal:
            yield
        else:
            with terminal.status(text):
                yield

    def answer(self, text: str, facts: Mapping[str, Any]) -> None:
        """Print the result: the text, or the facts as JSON."""
        typer.echo(json.dumps(facts, indent=2) if self.json else text)


def _stderr() -> RichConsole:
    from rich.console import Console as RichConsole

    return RichConsole(stderr=True, highlight=False)


@contextmanager
def new_file(path: Path, mode: int = ANYONE) -> Iterator[IO[str]]:
    """Open a new text file with these permissions, minus the umask; raises InputError if the file
    exists."""

    def opened(place: str, flags: int) -> int:
        return os.open(place, flags, mode)

    try:
        with open(path, "x", encoding="utf-8", newline="", opener=opened) as file:
            yield file
    except FileExistsError:
        raise InputError(f"{path}: already exists; choose another name") from None


def line(question: str) -> str:
    """Ask for a line on a terminal; no answer is an empty one."""
    try:
        return str(typer.prompt(question, "", prompt_suffix=" ", show_default=False, err=True))
    except typer.Abort:
        typer.echo(err=True)
        return ""


def agrees(question: str) -> bool:
    """Ask on a terminal; no answer is a no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        return False  # stdin is closed
    finally:
        if not sys.stdin.isatty():  # no newline was typed
            typer.echo(err=True)
