"""Where results are kept: one compact file a collection, and loose files while experiments run.

A record is a JSON object with a name. While an experiment runs, each of its records is a file of
its own, FOLDER/COLLECTION/NAME.json, replaced as a whole whenever more of it is known: what is
killed loses what was not saved, and nothing else. When the experiment has finished, its
records move into FOLDER/COLLECTION.jsonl.gz, a line each: {"name": NAME, "record": {...}}. A loose
record is newer than a packed one of its name.

Every record says where it comes from: commits, versions, machine, date.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from honestdp.errors import InputError
from honestdp.files import ANYONE, replace_file

SHIPPED = Path(__file__).parent / "results"  # the results that come with this package
PACKED, DRAFT = ".jsonl.gz", ".new"


class Store:
    """The results in a folder, by collection and name.

    Args:
        folder: Where records are saved, and looked for.
        base: A store to read from where the folder has no such record; nothing is saved there.
    """

    def __init__(self, folder: Path, base: Store | None = None) -> None:
        self.folder, self._base = folder, base
        self._packed: dict[str, dict[str, str]] = {}  # as far as it was read
        self._used: set[str] = set()  # the collections that were read or saved

    def path(self, collection: str, name: str) -> Path:
        """Where a record is while it is loose, and how messages call it."""
        return self.folder / collection / f"{name}.json"

    def names(self, collection: str) -> list[str]:
        """The records of a collection, in order."""
        found = {*self._lines(collection), *self._loose(collection)}
        return sorted(found | set(self._base.names(collection) if self._base else ()))

    def read(self, collection: str, name: str, rows: str) -> dict[str, Any] | None:
        """A record, its own to change.

        Args:
            collection: The collection it is in.
            name: Its name.
            rows: The key of the list that grows while it runs.

        Returns:
            The record; None where there is none yet.

        Raises:
            InputError: if what is there is not a record with such rows.
        """
        path, lines = self.path(collection, name), self._lines(collection)
        self._used.add(collection)
        try:
            try:
                known = dict(json.loads(path.read_text()))
            except (FileNotFoundError, NotADirectoryError):
                if name not in lines:
                    return self._base.read(collection, name, rows) if self._base else None
                known = dict(json.loads(lines[name])["record"])
            known[rows] = list(known[rows])
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{path}: is no file of results; remove it") from None
        return known

    def save(self, collection: str, name: str, known: Mapping[str, Any], rows: str) -> None:
        """Save a record as `read` gives it, together with where it comes from.

        Args:
            collection: The collection it is in.
            name: Its name.
            known: The record.
            rows: The key of its list, which comes last and has a line an item.
        """
        facts = {**known, **_provenance(known)}
        lines = ",\n".join(_compact(row) for row in facts.pop(rows))
        head = "".join(f' "{key}": {json.dumps(value)},\n' for key, value in facts.items())
        self._used.add(collection)
        path = self.path(collection, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, f'{{\n{head} "{rows}": [\n{lines}\n ]\n}}\n'.encode())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold this while an experiment saves here. Loose records are packed at the end, unless it
        failed or was interrupted, or another process is still running here."""
        import fcntl

        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.pack()
        finally:
            os.close(lock)

    def pack(self) -> None:
        """Move the loose records of every collection that was used into one file each. No other
        process may be running here.

        A loose file is removed only after its packed copy is on the disk, so that nothing is lost
        whenever this is interrupted. A file that is not a record stays where it is.
        """
        for collection in sorted(self._used):
            lines, moved = dict(self._lines(collection)), []
            for name, path in self._loose(collection).items():
                with suppress(ValueError):
                    record = json.loads(path.read_text())
                    if isinstance(record, dict) and "commit" in record:
                        lines[name] = _compact({"name": name, "record": record})
                        moved.append(path)
            if moved:
                text = "".join(f"{lines[name]}\n" for name in sorted(lines))
                # Without the time: the same records give the same bytes.
                _replace(self._archive(collection), gzip.compress(text.encode(), mtime=0))
                self._packed.pop(collection)
            drafts = (self.folder / collection).glob(f"*.json.*{DRAFT}")  # of a killed process
            for path in (*moved, *drafts):
                path.unlink()
            with suppress(OSError):  # not there, or something else is in it
                (self.folder / collection).rmdir()

    def _archive(self, collection: str) -> Path:
        return self.folder / f"{collection}{PACKED}"

    def _loose(self, collection: str) -> dict[str, Path]:
        return {path.stem: path for path in (self.folder / collection).glob("*.json")}

    def _lines(self, collection: str) -> dict[str, str]:
        """The packed records by name, each as its line."""
        if collection not in self._packed:
            path = self._archive(collection)
            try:
                lines = gzip.decompress(path.read_bytes()).decode().splitlines()
                found = {json.loads(line)["name"]: line for line in lines}
            except (FileNotFoundError, NotADirectoryError):
                found = {}
            except (OSError, EOFError, ValueError, TypeError, KeyError):
                raise InputError(f"{path}: is no file of results; remove it") from None
            self._packed[collection] = found
        return self._packed[collection]


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _replace(path: Path, content: bytes) -> None:
    # A draft of its own: experiments may share their records, and run at the same time.
    replace_file(path, content, ANYONE, shared=True)


def _provenance(known: Mapping[str, Any]) -> dict[str, Any]:
    """Where a record comes from: the commit, the machine, the versions, the day; and the commits
    behind the part of it that was there before."""
    from honestdp_reproduction.machine import commit, machine

    found = {"commit": commit(), "machine": machine()}
    before = [*known.get("earlier_commits", ()), known.get("commit", found["commit"])]
    earlier = [each for each in dict.fromkeys(before) if each != found["commit"]]
    return found | ({"earlier_commits": earlier} if earlier else {})
