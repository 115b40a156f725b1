"""What a search finds on a table with 6 % of rare rows, by the metric that it chooses by.

    python benchmarks/rare.py                       measure, save into results/rare.json, print
    python benchmarks/rare.py --seeds 2 --epsilons 1
    python benchmarks/rare.py --markdown            the saved results, for docs/metrics.md

Adult with 6 % of high incomes (`honestdp.datasets.adult_rare`), a grid of 12 settings that differ
in step size, clip norm and class weight, searched by `random-subset` as a user would
(`make_plan`, `run`). Beside it the default, one setting that needs no tuning, with and without
class weights. These are SIMULATIONS, which protect nobody; the winner is tried on rows declared
public.
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
METRICS = ("accuracy", "log-loss", "brier", "balanced-accuracy", "auc")
GRID = {
    "rule": "dpsgd",
    "learning_rate": [0.01, 0.1, 1.0],
    "clip_norm": [0.1, 1.0],
    "class_weight": ["none", "balanced"],
}
WAYS: dict[str, dict[str, Any]] = {
    **{name: {"grid": GRID, "procedure": "random-subset", "metric": name} for name in METRICS},
    "untuned": {},
    "untuned, balanced": {"class_weight": "balanced"},
}
FIGURES = ("accuracy", "balanced accuracy", "AUC", "found")


def measured(epsilon: float, seeds: int) -> dict[str, list[dict[str, float]]]:
    """Figures of the released models on public test rows, by way and seed."""
    schema, table, test = adult_rare()
    rare = schema.target.classes[1]
    shares = {schema.target.classes[0]: 0.94, rare: 0.06}
    there = np.array(test[schema.target.column].to_pylist()) == rare
    found: dict[str, list[dict[str, float]]] = {}
    for name, more in WAYS.items():
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
        print(f"epsilon {epsilon:g}, {name}: {_line(found[name])}", flush=True)
    return found


def _line(runs: list[dict[str, float]]) -> str:
    cells = []
    for name in FIGURES:
        values = [run[name] for run in runs]
        cells.append(f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})")
    return " | ".join(cells)


def markdown(saved: dict[str, Any]) -> str:
    """The saved results as a table: means, with the smallest and the largest of the seeds."""
    lines = [f"| epsilon | chosen by | {' | '.join(FIGURES)} |", "|---" * 6 + "|"]
    for epsilon, ways in saved.items():
        lines += [f"| {epsilon} | {name} | {_line(runs)} |" for name, runs in ways.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--epsilons", default="1,3")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    if not given.markdown:
        warnings.simplefilter("ignore")  # cells of the test rows that are in no category
        made = {e: measured(float(e), given.seeds) for e in given.epsilons.split(",")}
        RESULTS.write_text(json.dumps(made, indent=1) + "\n")
    print(markdown(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
