"""Options that several commands share, and parsers with helpful errors."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress messages.")]


def whole(text: str) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number; write one like 40") from None


def number(text: str) -> float:
    try:
        return float(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; write one like 0.5") from None
