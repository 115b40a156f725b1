"""Write what docs/paper.md repeats of the results: the claims, what was run, the times, pictures.

python tools/paper_page.py [--pictures]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from honestdp.report.picture import save
from honestdp_reproduction import verdict
from honestdp_reproduction.cli.experiments import EXPERIMENTS
from honestdp_reproduction.experiment import DATASETS, Choice
from honestdp_reproduction.store import SHIPPED, Store

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "paper.md"
IMAGES = ROOT / "docs" / "images" / "paper"
RESULTS = Store(SHIPPED)
ENGINE = ROOT / "benchmarks" / "results" / "engine.json"
ACCOUNTING = ("fig1", "fig-candidates", "table3")

OTHER_LOTS = ("balanced",)  # up to 4,000 rows a lot, where Opacus was measured at 250

# The benchmark whose shapes are those of a dataset; zero gradients have Adult's columns.
SHAPES = {
    "adult-104": "adult",
    "enron-counts": "enron",
    "enron-unit": "enron",
    "gisette-standin": "gisette",
    "zero": "adult",
}


def module(name: str) -> Any:
    return import_module(f"honestdp_reproduction.{name.replace('-', '_')}")


def table(headers: list[str], rows: list[list[str]], right: int = 0) -> str:
    """`right`: how many of the last columns are numbers."""
    left = len(headers) - right
    lines = ["| " + " | ".join(headers) + " |", "|" + "---|" * left + "---:|" * right]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def claims() -> str:
    rows = []
    for number, claim in enumerate(verdict.claims(RESULTS), start=1):
        shown = f"[picture](images/paper/{claim.picture}.png)<br>" if claim.picture else ""
        rows.append(
            [
                str(number),
                f"{claim.says}<br>*{claim.place}*",
                f"{claim.measured}<br>*holds if:* {claim.rule}",
                f"**{claim.verdict}**",
                f"{shown}`{claim.command}`",
            ]
        )
    return table(["", "the paper says", "measured here", "verdict", "see"], rows)


def opacus_milliseconds() -> dict[str, float]:
    """Opacus' best mode, a candidate-step, by workload."""
    best: dict[str, float] = {}
    for row in json.loads(ENGINE.read_text())["rows"]:
        if row["system"].startswith("opacus"):
            name, took = row["workload"], row["ms_per_candidate_step"]
            best[name] = min(best.get(name, took), took)
    return best


def work(name: str) -> tuple[Counter[str], float]:
    """Candidate-steps by dataset and model, and the seconds they took on one core."""
    if name in ("defaults", "advantage", "pruning", "adaptive", "threshold"):
        found = module(name).result(Choice(), RESULTS)
        return Counter(found["candidate_steps"]), sum(found["core_seconds"].values())
    steps: Counter[str] = Counter()
    seconds = 0.0
    collection, part, rows, of = RECORDS[name]
    for record in RESULTS.names(collection):
        if part not in record:
            continue
        known = RESULTS.read(collection, record, rows)
        assert known is not None
        dataset, count = of(known)
        steps[f"{dataset}-lr"] += count
        # One thread: no more than the wall clock, where cores were not counted.
        seconds += known.get("core_seconds", known["seconds"])
    return steps, seconds


# Where the records of an experiment are (collection, part of their names, key of their rows), and
# what each says of its work: dataset, candidate-steps.
RECORDS: dict[str, tuple[str, str, str, Callable[[Any], tuple[str, int]]]] = {
    "step-size": (
        *("step-size", "", "clips"),
        lambda f: (f["watched"]["dataset"], len(f["clips"]) * f["watched"]["steps"]),
    ),
    "honest-frontier": (
        *("pools", "", "trained"),
        lambda f: (f["pool"]["dataset"], len(f["trained"]) * f["pool"]["steps"]),
    ),
    "balanced": (
        *("balanced", "-epsilon", "trained"),
        lambda f: (
            f["setup"]["dataset"],
            len(f["trained"]) * len(f["kappas"]) * f["setup"]["steps"],
        ),
    ),
    **{
        f"heatmap-{dataset}": (
            *("heatmaps", f"{dataset}-", "candidates"),
            lambda f: (f["map"]["dataset"], len(f["candidates"]) * f["map"]["steps"]),
        )
        for dataset in ("synthetic", "enron")
    },
}


def times() -> str:
    """Time here, and Opacus' for as many candidate-steps of the same shape, both on two cores."""
    theirs = opacus_milliseconds()
    rows = []
    for name in EXPERIMENTS:
        steps, seconds = work(name)
        hours = [_opacus(what, count, theirs) for what, count in steps.items()]
        known = [each for each in hours if each is not None]
        rows.append(
            [
                f"`{name}`",
                f"{steps.total() / 1e6:.1f}",
                f"{seconds / 2 / 60:.1f}",
                f"{sum(known):.1f}" if len(known) == len(hours) and name not in OTHER_LOTS else "-",
            ]
        )
    return table(
        ["experiment", "million candidate-steps", "minutes here", "hours with Opacus"],
        rows,
        right=3,
    )


def _opacus(what: str, count: int, theirs: Mapping[str, float]) -> float | None:
    """Hours; None where no benchmark has this shape (the synthetic data)."""
    dataset, _, model = what.rpartition("-")
    workload = f"{SHAPES.get(dataset, dataset)}-{model}"
    return count * theirs[workload] / 3.6e6 if workload in theirs else None


def was_run() -> str:
    """What the shared trainings were; the other experiments say it in words."""
    rows = [
        [
            f"`{name}`",
            ", ".join(DATASETS[dataset] for dataset in block.datasets),
            ", ".join(block.models),
            ", ".join(f"{sigma:g}" for sigma in block.sigmas),
            ", ".join(f"{grid} {times} x" for grid, times in block.repetitions.items()),
        ]
        for name in EXPERIMENTS
        for block in getattr(module(name), "RUN", ())
    ]
    return table(["experiment", "data", "models", "σ", "grids and repetitions"], rows)


PARTS = {"claims": claims, "run": was_run, "times": times}


def page(old: str) -> str:
    """The page with every part between its two marks written anew."""
    for name, made in PARTS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = old.split(begin)
        old = f"{before}{begin}\n\n{made()}\n\n{end}{rest.split(end)[1]}"
    return old


def pictures() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in ACCOUNTING:
        save(module(name).picture(module(name).compute()), IMAGES / f"{name}.png")
    for name in EXPERIMENTS:
        found = module(name).result(Choice(), RESULTS)
        save(module(name).picture(found), IMAGES / f"{name}.png")


if __name__ == "__main__":
    if "--pictures" in sys.argv:
        pictures()
    PAGE.write_text(page(PAGE.read_text()))
