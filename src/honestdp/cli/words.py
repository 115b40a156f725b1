"""`honestdp words`: what the words mean."""

from __future__ import annotations

from difflib import get_close_matches
from textwrap import fill
from typing import Annotated

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet
from honestdp.errors import fail
from honestdp.words import WORDS


def all_words() -> dict[str, str]:
    """All words, those of procedures after the word itself."""
    from honestdp.procedures import procedures

    own = {kind.name: kind.summary for kind in procedures if kind.summary}
    found: dict[str, str] = {}
    for name, text in WORDS.items():
        found[name] = text
        if name == "procedure":
            found |= own
    return found


def command(
    word: Annotated[
        list[str] | None,
        typer.Argument(help="One of them; none: all.", autocompletion=lambda: list(all_words())),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """What the words mean that plans, cards and reports use.

    Example: honestdp words noise multiplier
    """
    known = all_words()
    asked = " ".join(word or ()).lower().replace("_", " ")
    names = [
        name for name in known if not asked or asked.replace("-", " ") == name.replace("-", " ")
    ]
    if not names:
        near = get_close_matches(asked, known, 1)
        way = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise fail("word", asked, way)
    found = {name: known[name] for name in names}
    wide = max(map(len, found)) + 2
    lines = [
        fill(f"{name:<{wide}}{text}", 98, subsequent_indent=" " * wide)
        for name, text in found.items()
    ]
    Console(json_, quiet).answer("\n".join(lines), found)
