"""How commands speak: results on stdout (JSON if wanted), all else on stderr.

Colours and moving parts only on a terminal, and not where NO_COLOR is set: rich sees to both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from honestdp.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console as RichConsole


class Stopped(Exception):  # noqa: N818
    """Someone pressed Ctrl-C; the message says how to go on. Typer would swallow that of an
    `Interrupted`."""


@dataclass(frozen=True)
class Console:
    """json: nothing but one JSON object on stdout. quiet: no words on the way."""

    json: bool
    quiet: bool

    @property
    def silent(self) -> bool:
        return self.json or self.quiet

    def note(self, words: str, style: str | None = None) -> None:
        """On the way: for people."""
        if not self.silent:
            _stderr().print(words, style=style, markup=False, soft_wrap=True)

    @contextmanager
    def busy(self, words: str) -> Iterator[None]:
        """Says what takes a while; on a terminal it moves, elsewhere nothing is shown."""
        terminal = _stderr()
        if self.silent or not terminal.is_terminal:
            yield
        else:
            with terminal.status(words):
                yield

    def answer(self, words: str, facts: Mapping[str, Any]) -> None:
        """In the end."""
        typer.echo(json.dumps(facts, indent=2) if self.json else words)


def _stderr() -> RichConsole:
    from rich.console import Console as RichConsole

    return RichConsole(stderr=True, highlight=False)


@contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """A text file to write; raises InputError if there is one of this name already."""
    try:
        with open(path, "x", encoding="utf-8", newline="") as file:
            yield file
    except FileExistsError:
        raise InputError(f"{path}: is there already; choose another name") from None
