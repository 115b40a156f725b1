"""Write docs/command-line.md: every command's own help, from the command line itself.

python tools/command_line.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
WIDTH = 96
INTRO = """\
# Command line

What `honestdp COMMAND --help` says, of every command. (Written by `tools/command_line.py`; a test
holds it to the commands.)

Results go to standard output, everything else to standard error; `--json` makes the result one JSON
object, `--quiet` leaves out the words on the way. What you got wrong is one line and exit code 2; a
search that failed is 1, an interrupted one 130.
"""


def page() -> str:
    """The whole page."""
    from honestdp.cli import app

    parts = [INTRO]
    for name, command in _commands("honestdp", typer.main.get_command(app)):
        context = command.context_class(command, info_name=name, terminal_width=WIDTH)
        text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        parts.append(f"## {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, found in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {inner}", found)


if __name__ == "__main__":
    PAGE.write_text(page())
