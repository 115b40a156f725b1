"""The results that come with the package, unpacked so that a test can remove some."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from honestdp_reproduction.store import SHIPPED, Store


def unpacked(folder: Path, *collections: str) -> Store:
    """Loose copies in a folder of the shipped records of these collections; of all, if none."""
    for archive in SHIPPED.glob("*.jsonl.gz"):
        collection = archive.name.split(".")[0]
        if collection in (collections or (collection,)):
            (folder / collection).mkdir(parents=True)
            for line in gzip.decompress(archive.read_bytes()).splitlines():
                found = json.loads(line)
                path = folder / collection / f"{found['name']}.json"
                path.write_text(json.dumps(found["record"]))
    return Store(folder)
