"""How much of what rows allow the default plan keeps, by number of rows and epsilon.

    python benchmarks/learning_curves.py             what is not measured yet
    python benchmarks/learning_curves.py --package   writes the figures that `honestdp` guesses from

A plan's guess of how good its model will be (`honestdp.planning.likely`) comes from these curves:
default plans on some rows of public tables, simulated. "Kept" is (score - plain) / (best - plain):
the score is AUC for two classes, accuracy for more, R2 for numbers; plain is that of a model that
always gives the same answer, best that of scikit-learn's on all rows, without privacy, in the same
encoding. Saved after every run into results/learning_curves.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from representation import RESULTS, Bench, rows_of, targets_of
from representation_data import Case, friedman
from saved import Saved

import honestdp.planning.likely
from honestdp import datasets
from honestdp.errors import InputError
from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run

CASES = (
    Case("Adult", datasets.adult),
    Case("ENRON as counts", partial(datasets.enron, view="counts")),
    Case("Gisette stand-in", datasets.gisette),
    Case("MNIST as numbers", datasets.mnist),
    Case("Synthetic regression", datasets.synthetic),
    Case("Friedman regression", friedman),
)
PRODUCTS = (300, 1000, 3000, 10_000, 30_000, 100_000)  # rows times epsilon
EPSILONS = (0.3, 1.0, 3.0)
SEEDS = 3


def figure(found: dict[str, float]) -> float:
    return found.get("auc", found.get("accuracy", found.get("r2", 0.0)))


def plain(targets: Any, found: dict[str, float]) -> float:
    if "auc" in found:
        return 0.5
    return float(np.bincount(targets).max() / len(targets)) if "accuracy" in found else 0.0


def first(table: Any, rows: int) -> Any:
    """Loaders permute rows, so the first ones are a sample."""
    return table.slice(0, rows) if hasattr(table, "slice") else table[:rows]


def measure(case: Case, saved: Saved) -> None:
    bench = Bench(case)
    whole, total = bench.data, rows_of(bench.data.train)
    best = figure(bench.non_private(1.0))
    for product in PRODUCTS:
        for epsilon in EPSILONS:
            rows = round(product / epsilon)
            key = {"data": case.name, "rows": rows, "epsilon": epsilon}
            if not 200 <= rows <= total or saved.find(**key):
                continue
            bench.data = whole._replace(train=first(whole.train, rows))
            plan = make_plan(Spec(schema=whole.schema, rows=rows, epsilon=epsilon))
            kept = []
            for seed in range(SEEDS):
                release = run(plan, bench.data.train, seed=seed)
                kept.append(score_of(bench, release, best))
            saved.rows.append(key | {"kept": [round(one, 4) for one in kept]})
            saved.write()
            print(*key.values(), kept, file=sys.stderr, flush=True)


def score_of(bench: Bench, release: Any, best: float) -> float:
    from representation import scores

    data = bench.data
    truth = targets_of(data.schema, data.validation)
    if data.schema.target.classes is None:
        found = scores(
            data.schema.target.decode(truth), release.predictor.predict(data.validation, warn=False)
        )
    else:
        found = scores(truth, release.predictor.predict_proba(data.validation, warn=False))
    always = plain(truth, found)
    return (figure(found) - always) / (best - always)


def package(saved: Saved) -> None:
    """The mean of every cell, for the library."""
    cells = [
        [row["data"], row["rows"], row["epsilon"], round(float(np.mean(row["kept"])), 3)]
        for row in saved.rows
    ]
    place = Path(honestdp.planning.likely.__file__).with_name("learning_curves.json")
    note = "Simulations by benchmarks/learning_curves.py: table, rows, epsilon, share kept."
    lines = ",\n".join(f"  {json.dumps(cell)}" for cell in sorted(cells))
    place.write_text(f'{{"note": {json.dumps(note)}, "cells": [\n{lines}\n]}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="part of a table's name")
    parser.add_argument("--package", action="store_true")
    options = parser.parse_args()
    saved = Saved(RESULTS / "learning_curves.json", False, {"note": "SIMULATIONS"})
    for case in CASES:
        if not options.package and options.only.lower() in case.name.lower():
            try:
                measure(case, saved)
            except InputError as error:
                print(f"{case.name}: {error}", file=sys.stderr)
    if options.package:
        package(saved)


if __name__ == "__main__":
    main()
