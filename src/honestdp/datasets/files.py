"""Where the files of the datasets are, and that they hold what they should.

A file is known by the SHA-256 of its content (arrays, mails), not of its bytes: one that another
library has packed is as good. Messages say nothing of what is in a file.
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
class Kept(Generic[Content]):
    """A file of the data folder. called: what it should hold, in words. get: how to come by it, in
    words. digest: the SHA-256 of its content, of which `sha256` is the right one."""

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
        """What a file holds, if it is the right one."""
        try:
            found = self.read(packed)
            right = self.digest(found) == self.sha256
        except Exception:  # of any kind; its words may quote what is in the file
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
