"""Download a dataset from its public home, only when the caller requests it.

The download is held in memory, up to a limit, until its content is checked. Only then is a file
written, completely or not at all.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from contextlib import suppress
from gzip import GzipFile
from io import BytesIO
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from honestdp.datasets.files import FOLDER, Content, DataFile
from honestdp.errors import InputError, fail
from honestdp.files import DRAFT, replace_file

TIMEOUT = 60.0  # seconds without a byte
MOST = 100 << 20  # bytes, packed or not: twice the largest file
NOTHING = "nothing was saved; try again later"


def opened(url: str) -> IO[bytes]:
    """Open a URL; the only place that uses the network."""
    return urlopen(Request(url, headers={"User-Agent": "honestdp"}), timeout=TIMEOUT)


def loaded(file: DataFile[Content], fetch: Callable[[], bytes], download: bool) -> Content:
    """Load a file's content; if the file is missing and `download` is set, fetch it."""
    path = file.path()
    if not download or os.path.exists(path):  # an existing file is never overwritten
        return file.load()
    if not os.path.isdir(path.parent):
        raise fail(FOLDER, str(path.parent), "is not a folder; make it, then download again")
    packed = fetch()
    content = file.checked(packed, f"{file.file} as fetched", NOTHING)
    _save(path, packed)
    return content


def unpacked(url: str) -> bytes:
    """The content of the gzip file at this address."""
    packed = _fetched(url)
    try:
        with GzipFile(fileobj=BytesIO(packed)) as stream:
            found = stream.read(MOST + 1)
    except Exception:
        raise InputError(f"{url}: broke off, or is no gzip file; {NOTHING}") from None
    return _within(found, url)


def _fetched(url: str) -> bytes:
    try:
        with opened(url) as answer:
            found = answer.read(MOST + 1)
    except Exception as error:  # no network, no answer, one that is not HTTP
        raise InputError(
            f"{url}: cannot be fetched ({_why(error)}); {NOTHING}, or copy the saved file into the "
            f"folder {FOLDER} from a machine that has it"
        ) from None
    return _within(found, url)


def _why(error: Exception) -> str:
    """A short reason; a server's own may be of any length."""
    if isinstance(error, HTTPError):
        error.close()
        return f"status {error.code}"
    inner = error.reason if isinstance(error, URLError) else error
    reason = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return " ".join(str(reason).split())[:100]


def _within(found: bytes, url: str) -> bytes:
    if len(found) > MOST:
        raise InputError(f"{url}: above {MOST} bytes, so it is something else; {NOTHING}")
    return found


def _save(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except BaseException as error:
        with suppress(OSError):
            path.with_name(path.name + DRAFT).unlink()
        if isinstance(error, OSError):
            raise fail(
                FOLDER, str(path.parent), f"cannot be written to ({_why(error)}); name another"
            ) from None
        raise
