"""What the kernel saw of a folder, in order: which file was opened, made or removed (inotify).

It sees the opens of C++ code too, which Python's audit hooks do not, needs no help from the
process that is watched, and what a killed process did before it died is all there. Equal events in
a row are merged by the kernel: whether a file was opened is known, how often is not.
"""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from typing import NamedTuple

OPENED, MADE, REMOVED = 0x20, 0x100, 0x200
_OVERFLOW = 0x4000
_HEAD = struct.Struct("iIII")


class Event(NamedTuple):
    kind: int
    name: str


class FileWatch:
    """Watches one folder from now on."""

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watch = libc.inotify_add_watch(self._handle, os.fsencode(folder), OPENED | MADE | REMOVED)
        if self._handle < 0 or watch < 0:
            raise OSError(ctypes.get_errno(), "inotify cannot watch the folder")

    def close(self) -> None:
        os.close(self._handle)

    def events(self) -> list[Event]:
        """Everything since the last call."""
        found: list[Event] = []
        while True:
            try:
                block = os.read(self._handle, 1 << 16)
            except BlockingIOError:
                return found
            at = 0
            while at < len(block):
                _, kind, _, length = _HEAD.unpack_from(block, at)
                at += _HEAD.size
                assert not kind & _OVERFLOW, "events were lost"
                found.append(Event(kind, os.fsdecode(block[at : at + length].rstrip(b"\0"))))
                at += length


def opened(events: list[Event], path: Path) -> bool:
    return any(event.kind & OPENED and event.name == path.name for event in events)


def opened_before_commit(events: list[Event], path: Path, ledger: Path) -> bool:
    """Whether the file was opened before the first commit to the ledger; SQLite commits by
    removing its journal."""
    for event in events:
        if event.kind & REMOVED and event.name == f"{ledger.name}-journal":
            return False
        if event.kind & OPENED and event.name == path.name:
            return True
    return False
