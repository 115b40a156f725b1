"""Files of their owner's alone: written whole and on the disk, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from honestdp.errors import fail

DRAFT = ".new"  # what a file is called until it is whole


def replace_file(path: Path, content: bytes, *, mode: int = 0o600, draft: str = DRAFT) -> None:
    """Write a file as a whole: after a crash it holds what it held before, or all of `content`.

    Args:
        path: The file.
        content: What it will hold.
        mode: Its permissions, less the umask.
        draft: What its name ends with until it is whole; processes that may write the same file at
            the same time need drafts of their own.
    """
    unfinished = path.with_name(path.name + draft)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove these files, their drafts, and the folder if it is then empty."""
    for name in names:
        for place in (folder / name, folder / (name + DRAFT)):
            place.unlink(missing_ok=True)
    with suppress(OSError):  # another's file is in it
        folder.rmdir()


def locked(path: Path) -> int:
    """A lock that goes with the process: only one works in a folder at a time."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such thing on this system; the ledger still lets only one release
        pass
    except BlockingIOError:
        os.close(handle)
        raise fail("folder", str(path.parent.parent), "another process works in it") from None
    except BaseException:
        os.close(handle)
        raise
    return handle
