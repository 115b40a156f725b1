"""Rows of a benchmark, on disk after each of them, so that an interrupted run can go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from honestdp.files import ANYONE, replace_file
from honestdp_reproduction.machine import commit, machine

Row = dict[str, Any]


class Saved:
    """rows: what is measured so far. facts: what is true of all of them, written beside."""

    def __init__(self, path: Path, fresh: bool, facts: Row) -> None:
        self.path, self.facts = path, facts
        known = path.exists() and not fresh
        self.rows: list[Row] = json.loads(path.read_text())["rows"] if known else []

    def find(self, **wanted: Any) -> Row | None:
        """The first row with these values."""
        for row in self.rows:
            if all(row.get(name) == value for name, value in wanted.items()):
                return row
        return None

    def write(self) -> None:
        whole = self.facts | {"machine": machine(), "commit": commit(), "rows": self.rows}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, (json.dumps(whole, indent=1) + "\n").encode(), ANYONE)
