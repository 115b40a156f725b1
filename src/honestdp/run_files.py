"""The files of a run's folder, by name. They are kept for years: never rename one."""

from __future__ import annotations

from pathlib import Path

# What is in a finished run's folder. The card comes last: where it is, all is.
CARD, MODEL, TENSORS = "card.json", "model.json", "model.safetensors"
FILES = (TENSORS, MODEL, CARD)
# Beside them, where the command line made it: the configuration of the run, what public rows said
# of the model, and the page to look at.
CONFIG, TESTED, REPORT = "asked.toml", "test.json", "report.html"
PRIVATE = ".private"  # the folder in it of a run that is not finished


def way_to(folder: Path, otherwise: str) -> str:
    """What to do about a file that a finished run's folder should hold."""
    unfinished = (folder / PRIVATE).is_dir()
    return "its run is not finished: resume it" if unfinished else otherwise
