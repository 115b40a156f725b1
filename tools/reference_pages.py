"""Write the pages that repeat what the code says: every command's own help, and the words.

python tools/reference_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

DOCS = Path(__file__).parent.parent / "docs"
WIDTH = 96
INTRO = """\
# Command line

What `honestdp COMMAND --help` prints, for every command. (Written by `tools/reference_pages.py`; a
test compares it with the commands.)

Results go to standard output, everything else to standard error; `--json` prints the result as one
JSON object, `--quiet` leaves out progress and notes. An error is one line and an exit code:

| code | means |
|---:|---|
| 0 | done |
| 1 | a search failed; its charge stands, and `honestdp resume` uses it |
| 2 | an argument or a file is wrong; unless the line says otherwise, nothing was spent |
| 3 | the budget does not cover it; nothing was spent |
| 4 | the search ended without a model (no candidate reached the threshold) |
| 5 | the table does not fit its schema (`honestdp check`, or the check that `tune` pays for) |
| 130 | interrupted; the line says how to resume |

`honestdp paper` comes with the package `honestdp-reproduction` (the folder `reproduction/`). Any
package can add a command: an entry point of the group `honestdp.commands`.

Names of commands, options, procedures, models and grids complete on Tab after
`honestdp --install-completion`.
"""
WORDS_INTRO = """\
# Words

The terms of plans, cards and reports; `honestdp words` prints the same in the shell.

| word | means |
|---|---|
"""


def words() -> str:
    from honestdp.cli.words import all_terms

    return WORDS_INTRO + "".join(f"| **{word}** | {text} |\n" for word, text in all_terms().items())


def commands() -> str:
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


PAGES = {"command-line.md": commands, "words.md": words}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (DOCS / name).write_text(made())
