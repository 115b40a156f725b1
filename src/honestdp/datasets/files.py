"""The files of the datasets: where they are, and the check of their content.

A file is identified by the SHA-256 of its content (arrays, mails), not of its bytes: it may have
been packed by another library. Messages never quote the content of a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError, fail

FOLDER = "HONESTDP_DATA"

Content = TypeVar("Content")
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class DataFile(Generic[Content]):
    """A file of the data folder. called: A description of its content. get: How to get it, for
    messages. read: Parses it. digest: Computes the SHA-256 of the content; `sha256` is the right
    one."""

    file: str
    called: str
    get: str
    read: Callable[[bytes], Content]
    digest: Callable[[Content], str]
    sha256: str

    def path(self) -> Path:
        folder = os.environ.get(FOLDER)
        if not folder:
            raise InputError(f"{FOLDER}: not set; set it to the folder for {self.file}: {self.get}")
        return Path(folder) / self.file

    def load(self) -> Content:
        path = self.path()
        try:
            packed = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise fail(FOLDER, str(path.parent), f"holds no {self.file}: {self.get}") from None
        except OSError as error:
            raise InputError(f"{FOLDER}/{self.file}: {error.strerror}; make it readable") from None
        return self.checked(packed, f"{FOLDER}/{self.file}", f"remove it: {self.get}")

    def checked(self, packed: bytes, where: str, remedy: str) -> Content:
        """The content of a file; raises InputError unless its digest is right."""
        try:
            found = self.read(packed)
            right = self.digest(found) == self.sha256
        except Exception:  # its text may quote the content of the file
            raise InputError(f"{where}: is broken, or another kind of file; {remedy}") from None
        if not right:
            raise InputError(f"{where}: is not {self.called} (checksum); {remedy}")
        return found


def read_arrays(packed: bytes) -> Arrays:
    """Inputs and targets of an npz file. What else is in it is not read."""
    with np.load(BytesIO(packed)) as file:
        return {name: file[name] for name in ("X", "y")}


def arrays_digest(arrays: Arrays) -> str:
    found = sha256()
    for name, array in arrays.items():
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
