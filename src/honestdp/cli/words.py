"""`honestdp words`: the glossary."""

from __future__ import annotations

from difflib import get_close_matches
from textwrap import fill
from typing import Annotated

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet
from honestdp.errors import fail
from honestdp.glossary import GLOSSARY


def all_terms() -> dict[str, str]:
    """The glossary, with the procedures after "procedure"."""
    from honestdp.procedures import procedures

    own = {kind.name: kind.summary for kind in procedures if kind.summary}
    found: dict[str, str] = {}
    for name, text in GLOSSARY.items():
        found[name] = text
        if name == "procedure":
            found |= own
    return found


def command(
    word: Annotated[
        list[str] | None,
        typer.Argument(help="A term; by default all.", autocompletion=lambda: list(all_terms())),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain the terms that plans, cards and reports use.

    Example: honestdp words noise multiplier
    """
    known = all_terms()
    term = " ".join(word or ()).lower().replace("_", " ")
    names = [name for name in known if not term or term.replace("-", " ") == name.replace("-", " ")]
    if not names:
        near = get_close_matches(term, known, 1)
        way = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise fail("word", term, way)
    found = {name: known[name] for name in names}
    wide = max(map(len, found)) + 2
    lines = [
        fill(f"{name:<{wide}}{text}", 98, subsequent_indent=" " * wide)
        for name, text in found.items()
    ]
    Console(json_, quiet).answer("\n".join(lines), found)
