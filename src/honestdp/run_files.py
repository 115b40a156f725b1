"""The names of the files in a run's folder. Never rename one: old runs must stay readable."""

from __future__ import annotations

from pathlib import Path

# The files of a finished run. The card is written last: if it exists, the others do.
CARD, MODEL, TENSORS = "card.json", "model.json", "model.safetensors"
FILES = (TENSORS, MODEL, CARD)
# Written by the command line: the run's configuration, results on public rows, the report.
CONFIG, TESTED, REPORT = "asked.toml", "test.json", "report.html"
PRIVATE = ".private"  # subfolder of a run that is not finished
STATE = "state"  # in it: how far the run has come


def way_to(folder: Path, otherwise: str) -> str:
    """The remedy if a file of a finished run is missing."""
    unfinished = (folder / PRIVATE).is_dir()
    return "its run is not finished: resume it" if unfinished else otherwise
