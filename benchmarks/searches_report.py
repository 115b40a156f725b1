"""What `searches.py` compares, and its table: for the terminal, and for docs/searches.md."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import mean
from typing import Any

from representation_report import commits, figure, markdown_table
from saved import Row

from honestdp.text import SIMULATION, columns

LINEAR, DEFAULT, SAME = "linear", "default", "the same plan as default"
EPSILONS = (1.0, 3.0, 0.3)  # the most telling first
HIT = 0.9
OWN = "the model of the target"
SMALL: dict[str, Any] = {"model": "mlp", "module__width": 32}
LARGE: dict[str, Any] = {"model": "mlp", "module__width": 100}
# What grids choose among beside LINEAR and DEFAULT, each as a setting of its own.
CANDIDATES: dict[str, dict[str, Any]] = {
    "mlp 32": SMALL,
    "both": {"encode": "both"},
    "mlp 100": LARGE,
}
GRIDS: dict[str, Any] = {
    "models-4": "models-4",
    "encodings-3": "encodings-3",
    "widths-3": [{"model": OWN}, SMALL, LARGE],
    "default or mlp 32": [{"model": OWN}, SMALL],
}
PROCEDURES: dict[str, dict[str, Any]] = {
    "random-subset": {"procedure": "random-subset", "hit_probability": HIT},
    "subset-tuning": {"procedure": "subset-tuning", "hit_probability": HIT},
    "composition": {"procedure": "composition"},
    "random-repeats": {"procedure": "random-repeats", "hit_probability": HIT},
    "liu-talwar": {
        "procedure": "random-stopping",
        "hit_probability": HIT,
        "bound": "liu-talwar",
    },
}
_PAIR = "default or mlp 32"
_NUMBERS, _BLOCKS = (_PAIR, "models-4", "encodings-3"), (_PAIR, "widths-3")
# The grids of each table, the most telling table first.
TABLES: dict[str, tuple[str, ...]] = {
    "Adult": _NUMBERS,
    "Friedman regression": _NUMBERS,
    "ENRON as counts": _BLOCKS,
    "Gisette stand-in": _NUMBERS,
    "Synthetic regression": _NUMBERS,
    "Diabetes regression": _NUMBERS,
    "MNIST as images": _BLOCKS,
}
# The candidates of each grid, by line.
AMONG = {
    "models-4": (LINEAR, "both", "mlp 32", "mlp 100"),
    "encodings-3": (LINEAR, "both", DEFAULT),
    "widths-3": (DEFAULT, "mlp 32", "mlp 100"),
    _PAIR: (DEFAULT, "mlp 32"),
}


def values(row: Row | None) -> list[float]:
    """Accuracies, or R2 where numbers are predicted."""
    runs = [] if row is None else row["runs"]
    return [run["accuracy"] if "accuracy" in run else run["r2"] for run in runs]


SINGLE = (LINEAR, DEFAULT, *CANDIDATES)
SINGLE_HEADERS = ["table", "score", "ε", *SINGLE]
SEARCH_HEADERS = ["table", "grid", "ε", DEFAULT, "best for free", *PROCEDURES]
LEFT = 2


class Found:
    """The runs so far, by table, epsilon and line."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = {(row["data"], row["epsilon"], row["line"]): row for row in rows}

    def values(self, data: str, epsilon: float, line: str) -> list[float]:
        row = self._rows.get((data, epsilon, line))
        if row is not None and row.get("refused") == SAME:
            return self.values(data, epsilon, DEFAULT)
        return values(row)

    def cell(self, data: str, epsilon: float, line: str) -> str:
        """Mean, standard error and number of runs."""
        row = self._rows.get((data, epsilon, line))
        if row is not None and row.get("refused"):
            return "as default" if row["refused"] == SAME else "refused"
        return with_count(values(row))

    def free(self, data: str, epsilon: float, grid: str) -> str:
        """The candidate of a grid with the best mean, if all were measured."""
        known = {line: self.values(data, epsilon, line) for line in AMONG[grid]}
        if not all(known.values()):
            return "-"
        best = max(known, key=lambda line: mean(known[line]))
        return f"{mean(known[best]):.4f} ({best})"


def with_count(found: Sequence[float]) -> str:
    return f"{figure(found)} ({len(found)})" if found else "-"


def singles(rows: Sequence[Row]) -> list[list[str]]:
    """A line for each table and epsilon: every candidate as the only one."""
    found, lines = Found(rows), []
    for data, epsilon in product(TABLES, sorted(EPSILONS)):
        score = "R²" if "regression" in data else "accuracy"
        cells = [found.cell(data, epsilon, line) for line in SINGLE]
        if set(cells) != {"-"}:
            lines.append([data, score, f"{epsilon:g}", *cells])
    return lines


def searches(rows: Sequence[Row]) -> list[list[str]]:
    """A line for each table, grid and epsilon of which a search was measured."""
    found, lines = Found(rows), []
    for data in TABLES:
        for grid, epsilon in product(TABLES[data], sorted(EPSILONS)):
            cells = [found.cell(data, epsilon, f"{grid}/{how}") for how in PROCEDURES]
            if set(cells) != {"-"}:
                own = with_count(found.values(data, epsilon, DEFAULT))
                free = found.free(data, epsilon, grid)
                lines.append([data, grid, f"{epsilon:g}", own, free, *cells])
    return lines


def show(rows: Sequence[Row]) -> None:
    told = "Test rows, mean ± standard error over noise seeds (their number)"
    print(f"{SIMULATION}. {told}; {commits(rows)}")
    print("\n".join(columns(SINGLE_HEADERS, singles(rows), left=LEFT)))
    print("\n".join(["", *columns(SEARCH_HEADERS, searches(rows), left=LEFT)]))


def markdown(rows: Sequence[Row]) -> str:
    told = "Mean ± standard error over noise seeds (their number); -: not measured yet"
    parts = [
        "One training with the whole ε:",
        markdown_table(SINGLE_HEADERS, singles(rows)),
        "Searches, all paid for:",
        markdown_table(SEARCH_HEADERS, searches(rows)),
        f"{SIMULATION}. {told}; {commits(rows)}.",
    ]
    return "\n\n".join(parts)
