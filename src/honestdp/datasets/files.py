"""Where the files of the datasets are: a folder that HONESTDP_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

from honestdp.errors import InputError

FOLDER = "HONESTDP_DATA"


def path_of(name: str, home: str) -> Path:
    """A file of the data folder; one line that says where to get it, if it is not there."""
    folder = os.environ.get(FOLDER)
    path = Path(folder or "") / name
    if folder and path.is_file():
        return path
    where = f"{folder} holds no {name}" if folder else "is not set"
    raise InputError(f"{FOLDER}: {where}; {home}")
