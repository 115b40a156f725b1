"""The table of `representation.py`: for the terminal, and for docs/representation.md."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import mean, stdev

from representation_data import CASES, Case
from representation_learnt import ENCODINGS, OUTER, TARGETS
from saved import Row

from honestdp.text import SIMULATION, columns

DEFAULT, LINEAR, NON_PRIVATE, LEARNT = "default", "linear", "non-private", "learnt"
EPSILONS = (0.3, 1.0, 3.0)
SHOWN = {"accuracy": "accuracy", "auc": "AUC", "r2": "R²"}
HEADERS = ["table", "score", "ε", "goal", "default", "runs", "linear", "non-private"]
LEFT = 2


def table(rows: Sequence[Row]) -> list[list[str]]:
    """A line for each table, score and epsilon that was measured; peers have lines of their own."""
    lines = []
    for case in CASES:
        here = [row for row in rows if row["data"] == case.name]
        for score, shown in SHOWN.items():
            for at, epsilon in enumerate(EPSILONS):
                cells = {row["how"]: row for row in here if row["epsilon"] == epsilon}
                found = values(cells.get(DEFAULT), score)
                if found:
                    lines.append(_line(case, shown, score, at, cells))
    return lines


def values(row: Row | None, score: str) -> list[float]:
    return [] if row is None else [run[score] for run in row["runs"] if score in run]


def reached(case: Case, score: str, at: int, found: Sequence[float]) -> str:
    """The goal, and whether the mean is there."""
    if score not in case.goals:
        return "-"
    goal = case.goals[score][at]
    short = goal - mean(found)
    return f"{goal:.3f} met" if short <= 0 else f"{goal:.3f} short by {short:.4f}"


def _line(case: Case, shown: str, score: str, at: int, cells: dict[str, Row]) -> list[str]:
    found = values(cells[DEFAULT], score)
    goal = reached(case, score, at, found)
    return [
        case.name, shown, f"{EPSILONS[at]:g}", goal, figure(found), str(len(found)),
        _linear(cells.get(LINEAR), score), figure(values(cells.get(NON_PRIVATE), score)),
    ]  # fmt: skip


def _linear(row: Row | None, score: str) -> str:
    if row is not None and row.get("same"):
        return "the same plan"
    return figure(values(row, score))


def figure(found: Sequence[float]) -> str:
    """The mean, and its standard error."""
    if not found:
        return "-"
    error = f" ± {stdev(found) / len(found) ** 0.5:.4f}" if len(found) > 1 else ""
    return f"{mean(found):.4f}{error}"


def peers(rows: Sequence[Row]) -> list[list[str]]:
    lines = []
    for row in rows:
        if row["how"] in (DEFAULT, LINEAR, NON_PRIVATE, LEARNT) or not row["runs"]:
            continue
        version = row["runs"][0]["version"]
        own = next(
            r
            for r in rows
            if (r["data"], r["how"], r["epsilon"]) == (row["data"], DEFAULT, row["epsilon"])
        )
        cells = [row["data"], row["how"], f"{row['epsilon']:g}", str(len(row["runs"]))]
        for score in ("accuracy", "auc"):
            cells += [figure(values(row, score)), figure(values(own, score))]
        lines.append([*cells, version])
    return lines


PEER_HEADERS = [
    "table", "peer", "ε", "runs", "accuracy", "default's", "AUC", "default's", "version",
]  # fmt: skip


def learnt(rows: Sequence[Row]) -> list[list[str]]:
    """AUC with declared bounds and with learnt ones, by outer range, of every encoding."""
    lines = []
    for target, encoding in product(TARGETS, ENCODINGS):
        here = {
            row["outer"]: row
            for row in rows
            if (row["data"], row["how"], row.get("encoding")) == (target, LEARNT, encoding)
        }
        if here:
            cells = [figure(values(here.get(outer), "auc")) for outer in OUTER]
            lines.append([target, encoding, *cells])
    return lines


LEARNT_HEADERS = ["target", "encoding", *OUTER]


def commits(rows: Sequence[Row]) -> str:
    found = dict.fromkeys(run["commit"] for row in rows for run in row["runs"])
    return f"commit {', '.join(found)}" if found else "nothing measured"


def show(rows: Sequence[Row]) -> None:
    print(f"{SIMULATION}. Test rows, mean ± standard error over noise seeds; {commits(rows)}")
    print("\n".join(columns(HEADERS, table(rows), left=LEFT)))
    if found := peers(rows):
        print("\n".join(["", *columns(PEER_HEADERS, found, left=LEFT)]))
    if found := learnt(rows):
        print("\n".join(["", *columns(LEARNT_HEADERS, found, left=LEFT)]))


def markdown(rows: Sequence[Row]) -> str:
    parts = [markdown_table(HEADERS, table(rows))]
    if found := peers(rows):
        parts.append(markdown_table(PEER_HEADERS, found))
    if found := learnt(rows):
        parts += [
            "AUC where bounds are learnt, by outer range:",
            markdown_table(LEARNT_HEADERS, found),
        ]
    parts.append(f"{SIMULATION}. Mean ± standard error over noise seeds; {commits(rows)}.")
    return "\n\n".join(parts)


def markdown_table(headers: list[str], lines: list[list[str]]) -> str:
    rule = ["---"] * LEFT + ["---:"] * (len(headers) - LEFT)
    return "\n".join("| " + " | ".join(line) + " |" for line in (headers, rule, *lines))
