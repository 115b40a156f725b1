"""How commands speak: results on stdout (JSON if wanted), all else on stderr.

Colours and moving parts only on a terminal, and not where NO_COLOR is set: rich sees to both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


class Stopped(Exception):  # noqa: N818
    """Someone pressed Ctrl-C; the message says how to go on. Typer would swallow that of an
    `Interrupted`."""


@dataclass(frozen=True)
class Voice:
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
        console = _stderr()
        if self.silent or not console.is_terminal:
            yield
        else:
            with console.status(words):
                yield

    def answer(self, words: str, facts: Mapping[str, Any]) -> None:
        """In the end."""
        typer.echo(json.dumps(facts, indent=2) if self.json else words)


def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
