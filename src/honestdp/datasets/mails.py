"""Mails: read from the published archive, and stored as lines of JSON."""

from __future__ import annotations

import gzip
import json
import tarfile
from hashlib import sha256
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from honestdp.datasets.download import MOST, NOTHING
from honestdp.errors import InputError

LABELS = {"ham": 0, "spam": 1}  # by the folder a mail is in
Mail = dict[str, Any]  # file, label, text


def from_tar(archive: bytes, url: str) -> list[Mail]:
    """The mails of an unpacked tar archive, ham first, by name; nothing is written to disk."""
    mails: list[Mail] = []
    room = MOST  # a sparse member may claim to be larger than the archive
    try:
        with tarfile.open(fileobj=BytesIO(archive), mode="r:") as members:
            for member in members:
                name = PurePosixPath(*PurePosixPath(member.name).parts[-2:])
                if not member.isreg() or name.suffix != ".txt" or str(name.parent) not in LABELS:
                    continue
                room -= member.size
                file = members.extractfile(member) if room >= 0 else None
                if file is None:
                    raise ValueError("more than there is room for")
                # Some mails are not UTF-8; every byte is a letter of Latin-1.
                text = file.read().decode("latin-1").replace("\r\n", "\n")
                mails.append({"file": str(name), "label": LABELS[str(name.parent)], "text": text})
    except Exception:
        raise InputError(f"{url}: is broken, or no archive of mails; {NOTHING}") from None
    return sorted(mails, key=lambda mail: str(mail["file"]))


def pack(mails: list[Mail]) -> bytes:
    lines = "".join(json.dumps(mail) + "\n" for mail in mails)
    return gzip.compress(lines.encode(), mtime=0)


def read_mails(packed: bytes) -> list[Mail]:
    with gzip.open(BytesIO(packed)) as file:
        return [json.loads(line) for line in file]


def mails_digest(mails: list[Mail]) -> str:
    """A digest that ignores white space, in which copies of the published mails differ."""
    found = sha256()
    for mail in mails:
        line = [mail["file"], mail["label"], " ".join(mail["text"].split())]
        found.update(json.dumps(line).encode() + b"\n")
    return found.hexdigest()
