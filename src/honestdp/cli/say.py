"""How commands speak: results on stdout (JSON if wanted), all else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer


@dataclass(frozen=True)
class Voice:
    """json: nothing but one JSON object on stdout. quiet: no words on the way."""

    json: bool
    quiet: bool

    def note(self, words: str) -> None:
        """On the way: for people."""
        if not self.quiet and not self.json:
            typer.echo(words, err=True)

    def answer(self, words: str, facts: Mapping[str, Any]) -> None:
        """In the end."""
        typer.echo(json.dumps(facts, indent=2) if self.json else words)

    def heading(self, words: str) -> None:
        if not self.quiet and not self.json:
            typer.secho(words, err=True, bold=sys.stderr.isatty())
