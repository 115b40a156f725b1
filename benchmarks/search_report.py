"""What `search.py` shows of its searches: a table for each epsilon, and whether the claims hold."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from honestdp.text import SIMULATION, columns

AUTO, NON_PRIVATE, FREE = "none/auto", "non-private", "tuned for free"
ALLOWED = 0.016  # what auto may lose to the non-private line at epsilon = 1
README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- search.py --markdown writes here -->", "<!-- and ends here -->"
HEADERS = (
    "grid",
    "procedure",
    "bound",
    "noise",
    "runs",
    "hit",
    "accuracy",
    "sd",
    "min-max",
    "out",
    "seconds",
)
WORDS = 3  # columns

Row = dict[str, Any]
Names = Sequence[tuple[float, str]]  # (epsilon, grid/procedure)


@dataclass(frozen=True)
class Claim:
    """holds: None where it cannot be told yet."""

    text: str
    holds: bool | None

    def __str__(self) -> str:
        said = {True: "yes", False: "NO", None: "not decided"}[self.holds]
        return f"claim: {self.text}: {said}"


@dataclass(frozen=True)
class Spread:
    """Of the runs that ended with a model."""

    mean: float
    deviation: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, row: Row | None) -> Spread | None:
        found = [] if row is None else accuracies(row)
        if not found:
            return None
        deviation = statistics.stdev(found) if len(found) > 1 else math.nan
        return cls(statistics.mean(found), deviation, min(found), max(found), len(found))


def accuracies(row: Row) -> list[float]:
    return [run["accuracy"] for run in row["runs"] if run["accuracy"] is not None]


def missing(rows: Sequence[Row], expected: Names) -> list[str]:
    """What has not been measured twice, which a spread needs."""
    enough = {(r["epsilon"], r["name"]) for r in rows if r["not_run"] or len(r["runs"]) > 1}
    return [
        f"{name} at epsilon {epsilon:g}"
        for epsilon, name in expected
        if (epsilon, name) not in enough
    ]


def claims(rows: Sequence[Row], expected: Names) -> list[Claim]:
    found = [_best_claim(rows, expected, e) for e in dict.fromkeys(e for e, _ in expected)]
    return [*found, _near_claim(rows)]


def _best_claim(rows: Sequence[Row], expected: Names, epsilon: float) -> Claim:
    """Against the best mean of all rows, which flatters that row: it was picked for its luck."""
    text = f"at epsilon {epsilon:g} auto is within two standard errors of the best row"
    absent = missing(rows, [pair for pair in expected if pair[0] == epsilon])
    if absent:
        return Claim(f"{text} ({len(absent)} rows not measured twice yet)", None)
    best, auto = best_row(rows, epsilon), Spread.of(_find(rows, epsilon, AUTO))
    top = Spread.of(best)
    if best is None or auto is None or top is None:
        return Claim(f"{text} (no model came out)", None)
    gap = top.mean - auto.mean
    error = math.sqrt(top.deviation**2 / top.count + auto.deviation**2 / auto.count)
    return Claim(
        f"{text} ({auto.mean:.4f}; best is {shown_name(best)} with {top.mean:.4f}; "
        f"difference {gap:.4f}, standard error {error:.4f})",
        gap <= 2 * error,
    )


def _near_claim(rows: Sequence[Row]) -> Claim:
    text = f"at epsilon 1 auto is within {ALLOWED} of non-private logistic regression"
    auto = Spread.of(_find(rows, 1.0, AUTO))
    other = Spread.of(_find(rows, None, NON_PRIVATE))
    if auto is None or other is None:
        return Claim(f"{text} (not measured yet)", None)
    gap = other.mean - auto.mean
    figures = f"{auto.mean:.4f} and {other.mean:.4f}, difference {gap:.4f}"
    return Claim(f"{text} ({figures})", gap <= ALLOWED)


def best_row(rows: Sequence[Row], epsilon: float) -> Row | None:
    """The honest row with the best mean, of those that mostly end with a model."""
    found = {
        id(row): spread.mean
        for row in rows
        if row["epsilon"] == epsilon
        and row["name"] != FREE
        and (spread := Spread.of(row)) is not None
        and 2 * spread.count >= max(len(row["runs"]), 4)  # two at least: a spread needs them
    }
    return max((r for r in rows if id(r) in found), key=lambda r: found[id(r)], default=None)


def _find(rows: Sequence[Row], epsilon: float | None, name: str) -> Row | None:
    return next((r for r in rows if (r["epsilon"], r["name"]) == (epsilon, name)), None)


def shown_name(row: Row) -> str:
    grid = "" if row["grid"] == "none" else f" on {row['grid']}"
    return f"{row['procedure']}{grid}"


def cells(row: Row, best: Row | None) -> list[str]:
    plan = row.get("plan", {})
    noise = plan.get("noise_multiplier", row.get("noise_multiplier"))
    name = row["procedure"]
    if row.get("same_as"):
        grid, other = row["same_as"].split("/")
        name += f" (= {other if grid == row['grid'] else row['same_as']})"
    head = [
        row["grid"] if row["grid"] != "none" else "-",
        name,
        plan.get("bound", "-"),
        "-" if noise is None else f"{noise:.4g}",
        _number(row.get("expected_runs"), ",.0f"),
        _number(row.get("hit_probability"), ".2f"),
    ]
    spread = Spread.of(row)
    out = f"{len(accuracies(row))}/{len(row['runs'])}"
    seconds = [run["seconds"] for run in row["runs"]]
    if spread is None:
        said = "not run" if row["not_run"] else "nothing"
        return [*head, said, "-", "-", "-" if row["not_run"] else out, "-"]
    return [
        *head,
        f"{spread.mean:.4f}{'*' if row is best else ''}",
        "-" if math.isnan(spread.deviation) else f"{spread.deviation:.4f}",
        f"{spread.low:.4f}-{spread.high:.4f}",
        out,
        f"{statistics.mean(seconds):.1f}",
    ]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def tables(rows: Sequence[Row], expected: Names) -> list[tuple[str, list[list[str]], list[str]]]:
    """For each epsilon: a heading, the cells, and remarks on what was not run."""
    found = []
    for epsilon in dict.fromkeys(epsilon for epsilon, _ in expected):
        names = [name for e, name in expected if e == epsilon]
        here = [row for name in (*names, FREE) if (row := _find(rows, epsilon, name))]
        if not here:
            continue
        best = best_row(rows, epsilon)
        lines = [cells(row, best) for row in here]
        if non_private := _find(rows, None, NON_PRIVATE):
            lines.append(cells(non_private, None))
        remarks = [f"not run: {shown_name(r)}: {r['not_run']}" for r in here if r["not_run"]]
        found.append((f"total epsilon = {epsilon:g}, delta = 1e-6", lines, remarks))
    return found


def commits(rows: Sequence[Row]) -> str:
    found = dict.fromkeys(run["commit"] for row in rows for run in row["runs"])
    mixed = " (MIXED: --fresh measures all at one)" if len(found) > 1 else ""
    return f"commit {', '.join(found)}{mixed}" if found else "nothing measured"


def show(rows: Sequence[Row], expected: Names) -> None:
    print(f"{SIMULATION}. Adult, test accuracy; * the best honest row; {commits(rows)}")
    for heading, lines, remarks in tables(rows, expected):
        print(f"\n{heading}\n" + "\n".join([*columns(HEADERS, lines, left=WORDS), *remarks]))
    print()
    print("\n".join(map(str, claims(rows, expected))))


def markdown(rows: Sequence[Row], expected: Names) -> str:
    parts = []
    for heading, lines, remarks in tables(rows, expected):
        rule = ["---"] * WORDS + ["---:"] * (len(HEADERS) - WORDS)
        bold = [[f"**{c[:-1]}**" if c.endswith("*") else c for c in line] for line in lines]
        texts = ["| " + " | ".join(line) + " |" for line in (HEADERS, rule, *bold)]
        parts.append("\n".join([f"**{heading}** ({SIMULATION})", "", *texts]))
        parts.append("\n".join(f"- {remark}" for remark in remarks))
    parts.append("\n".join(f"- {claim}" for claim in claims(rows, expected)))
    parts.append(f"Measured at {commits(rows)}.")
    return "\n\n".join(part for part in parts if part)


def into_readme(text: str, rows: Sequence[Row], expected: Names) -> None:
    """Between its two marks in README.md; only a whole table goes there."""
    absent = missing(rows, expected)
    if absent:
        more = f"{absent[0]} and {len(absent) - 1} others" if len(absent) > 1 else absent[0]
        print(f"\nREADME.md is left alone: not measured twice yet: {more}", file=sys.stderr)
        return
    old = README.read_text()
    start, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    README.write_text(f"{old[:start]}\n\n{text}\n\n{old[end:]}")
    print(f"\nwritten: {README}", file=sys.stderr)
