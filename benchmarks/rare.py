"""What a search finds on a table with 6 % of rare rows, by the metric that it chooses by.

    python benchmarks/rare.py                               measure, save, print
    python benchmarks/rare.py --procedure random-subset     another search
    python benchmarks/rare.py --markdown                    the saved results, for docs/metrics.md

Adult with 6 % of high incomes (`honestdp.datasets.adult_rare`), and a grid of 12 settings that
differ in step size, clip norm and class weight. By `composition` all of them are trained and paid
for, so that what differs is the metric alone. Beside it the default, one setting that needs no
tuning, with and without class weights. These are SIMULATIONS, which protect nobody; the winner is
tried on rows declared public. Saved into results/rare.json.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from honestdp.datasets import adult_rare
from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run

RESULTS = Path(__file__).parent / "results" / "rare.json"
METRICS = ("accuracy", "log-loss", "balanced-accuracy", "auc")
GRID = {
    "rule": "dpsgd",
    "learning_rate": [0.01, 0.1, 1.0],
    "clip_norm": [0.1, 1.0],
    "class_weight": ["none", "balanced"],
}
UNTUNED: dict[str, dict[str, Any]] = {
    "nothing (untuned)": {},
    "nothing (untuned), balanced": {"class_weight": "balanced"},
}
FIGURES = ("accuracy", "balanced accuracy", "AUC", "found")
Runs = list[dict[str, float]]


def measured(procedure: str, epsilon: float, seeds: int) -> dict[str, Runs]:
    """Figures of the released models on public test rows, by what is chosen by."""
    schema, table, test = adult_rare()
    rare = schema.target.classes[1]
    shares = {schema.target.classes[0]: 0.94, rare: 0.06}
    there = np.array(test[schema.target.column].to_pylist()) == rare
    ways = {name: {"grid": GRID, "procedure": procedure, "metric": name} for name in METRICS}
    found: dict[str, Runs] = {}
    for name, more in {**ways, **UNTUNED}.items():
        facts = {"schema": schema, "rows": table.num_rows, "class_shares": shares}
        plan = make_plan(Spec(**facts, epsilon=epsilon, **more))
        found[name] = []
        for seed in range(seeds):
            p = run(plan, table, seed=seed).predict_proba(test)[:, 1]
            found[name].append(
                {
                    "accuracy": float(((p > 0.5) == there).mean()),
                    "balanced accuracy": float(balanced_accuracy_score(there, p > 0.5)),
                    "AUC": float(roc_auc_score(there, p)),
                    "found": float((p > 0.5)[there].mean()),
                }
            )
        print(f"{procedure}, epsilon {epsilon:g}, {name}: {_line(found[name])}", flush=True)
    return found


def _line(runs: Runs) -> str:
    cells = []
    for name in FIGURES:
        values = [run[name] for run in runs]
        cells.append(f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})")
    return " | ".join(cells)


def markdown(saved: dict[str, dict[str, dict[str, Runs]]]) -> str:
    """The saved results as a table: means, with the smallest and the largest of the seeds."""
    lines = [f"| search | ε | chosen by | {' | '.join(FIGURES)} |", "|" + " --- |" * 7]
    for procedure, by_epsilon in saved.items():
        for epsilon, ways in by_epsilon.items():
            for name, runs in ways.items():
                lines.append(f"| {procedure} | {epsilon} | {name} | {_line(runs)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--epsilons", default="1,3")
    parser.add_argument("--procedure", default="composition")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not given.markdown:
        warnings.simplefilter("ignore")  # cells of the test rows that are in no category
        for epsilon in given.epsilons.split(","):
            made = measured(given.procedure, float(epsilon), given.seeds)
            saved.setdefault(given.procedure, {})[epsilon] = made
            RESULTS.write_text(json.dumps(saved, indent=1) + "\n")
    print(markdown(saved))


if __name__ == "__main__":
    main()
