"""Atomic, durable writing of files; and the lock of a folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from honestdp.errors import fail

DRAFT = ".new"  # suffix of a file until it is complete
ANYONE = 0o666  # minus the umask, as for any new file


def replace_file(path: Path, content: bytes, mode: int = 0o600, *, shared: bool = False) -> None:
    """Write a file completely and durably, or not at all; an existing one is replaced.

    Args:
        path: The file. Until it is complete its name ends with DRAFT.
        content: What to write.
        mode: Its permissions, minus the umask; by default readable by its owner alone.
        shared: Whether other processes may write the same file at the same time: the last wins.

    Raises:
        OSError: If it cannot be written; an existing file is unchanged.
    """
    draft = path.with_name(path.name + (f".{os.getpid()}" if shared else "") + DRAFT)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the names of its files are on the disk.

    Does nothing on systems that cannot open folders.

    Raises:
        OSError: If the disk fails.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(handle)


# Some file systems (network drives) cannot sync a folder.
_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP)


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove these files and their drafts, and the folder if it is then empty."""
    for name in names:
        for place in (folder / name, folder / (name + DRAFT)):
            place.unlink(missing_ok=True)
    with suppress(OSError):  # it holds other files
        folder.rmdir()


def locked(path: Path) -> int:
    """Lock a file, and with it its folder, until the returned handle is closed or the process ends.

    Raises:
        InputError: If another process holds the lock.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on this system; the ledger still allows only one release
        pass
    except BlockingIOError:
        os.close(handle)
        raise fail("folder", str(path.parent.parent), "another process uses it") from None
    except BaseException:
        os.close(handle)
        raise
    return handle
