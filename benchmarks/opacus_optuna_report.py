"""What `opacus_optuna.py` found, as a table: for the terminal, and for the pages that show it.

Reads the saved JSON alone; a test holds the page to it.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "docs" / "opacus-optuna.md", ROOT / "README.md")
BEGIN = "<!-- opacus_optuna.py --markdown writes here -->"
END = "<!-- and ends here -->"
OPTUNA, COMPOSED, SEARCH, UNTUNED = "optuna", "composed", "search", "untuned"
NAME = {
    OPTUNA: "Opacus + Optuna, as usual",
    COMPOSED: "Opacus + Optuna, made honest by composition",
    SEARCH: "honestdp, the same forty settings",
    UNTUNED: "honestdp, no grid",
}
HEADERS = (
    "", "ε reported", "ε spent by training", "ε spent by scoring", "noise multiplier",
    "test accuracy", "seconds of one core", "ms per candidate-step",
)  # fmt: skip

Row = dict[str, Any]


def table(path: Path) -> list[list[str]]:
    """One line a way, those not measured yet left out."""
    whole = json.loads(path.read_text())
    found = []
    for way in NAME:
        rows = [row for row in whole["rows"] if row["way"] == way]
        if rows:
            line = _study(whole, way, rows) if "score" in rows[0] else _search(whole, way, rows)
            found.append([NAME[way], *line])
    return found


def _study(whole: Row, way: str, rows: list[Row]) -> list[str]:
    """Of Optuna's trials: the winner is the one with the best score, as its user would have it."""
    facts, best = whole["ways"][way], max(rows, key=lambda row: row["score"])
    seconds = sum(row["seconds"] for row in rows)
    all_trials = facts["epsilon_of_all_trainings"]
    honest = way == COMPOSED
    return [
        f"{all_trials if honest else best['epsilon']:.2f}",
        f"{all_trials:.2f}",
        "within it" if honest else "no finite ε",
        f"{facts['noise_multiplier']:.2f}",
        f"{best['accuracy']:.4f}",
        f"{seconds:.0f}",
        f"{1000 * seconds / len(rows) / whole['steps']:.2f}",
    ]


def _search(whole: Row, way: str, rows: list[Row]) -> list[str]:
    facts, accuracies = whole["ways"][way], [row["accuracy"] for row in rows]
    steps = sum(row["trainings"] for row in rows) * facts["steps"]
    seconds = [row["seconds"] for row in rows]
    return [
        f"{facts['epsilon']:.2f}",
        f"{facts['epsilon']:.2f}",
        "within it" if way == SEARCH else "no scores",
        f"{facts['noise_multiplier']:.2f}",
        f"{mean(accuracies):.4f} ({min(accuracies):.4f} to {max(accuracies):.4f}, "
        f"{len(rows)} runs)",
        f"{mean(seconds):.0f}" if mean(seconds) >= 10 else f"{mean(seconds):.1f}",
        f"{1000 * sum(seconds) / steps:.3f}",
    ]


def markdown(path: Path) -> str:
    """The table, and what it was measured on."""
    whole = json.loads(path.read_text())
    machine, versions, sizes = whole["machine"], whole["versions"], whole["table"]
    lines = [
        "| " + " | ".join(HEADERS) + " |",
        "| --- |" + " ---: |" * (len(HEADERS) - 1),
        *("| " + " | ".join(line) + " |" for line in table(path)),
        "",
        f"Adult: {sizes['train']:,} rows train, {sizes['validation']:,} validate, "
        f"{sizes['test']:,} test rows are declared public; δ = {whole['delta']:g}; "
        f"{whole['trials']} trials; lots of {whole['lot_size']}, {whole['steps']} steps "
        f"({whole['ways'][UNTUNED]['steps']} steps without a grid). One thread each. "
        f"Opacus {versions['opacus']}, Optuna {versions['optuna']}, torch {machine['torch']}, "
        f"{machine['cores']} cores, load before {machine['load_before']:.1f}, {machine['date']}, "
        f"commit {whole['commit']}. SIMULATION, NOT PRIVATE: everything is seeded.",
    ]
    return "\n".join(lines)


def show(path: Path) -> None:
    for line in table(path):
        print(line[0])
        for header, cell in zip(HEADERS[1:], line[1:], strict=True):
            print(f"    {header}: {cell}")


def into_pages(text: str) -> None:
    """Between the two marks on every page that shows it."""
    for page in PAGES:
        old = page.read_text()
        start, end = old.index(BEGIN) + len(BEGIN), old.index(END)
        page.write_text(f"{old[:start]}\n\n{text}\n\n{old[end:]}")
        print(f"written: {page.name}")
