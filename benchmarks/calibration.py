"""Probabilities as trained, and corrected by noisy counts of a twentieth of the rows.

    python benchmarks/calibration.py            the table of docs/calibration.md (3 minutes)
    python benchmarks/calibration.py --seeds 1

Everything goes the way of a user: `make_plan(Spec(...))`, then `run(plan, table, seed=...)`. The
rows that are counted do not train, so what they cost in accuracy is in the table. These are
SIMULATIONS; the census' test rows are declared public. Tables: Adult, Adult with 6 % of the larger
income, and Adult with another column to predict; each whole, and a tenth of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.datasets import adult
from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run
from honestdp.schema import Schema, Target

Floats = NDArray[np.float64]
EPSILONS = (0.3, 1.0, 3.0)
GROUPS = 15


def tables() -> Iterator[tuple[str, Schema, Any, Any]]:
    """Name, schema, rows to protect, rows to test on."""
    schema, train, test = adult()
    yield "Adult", schema, train, test
    yield "Adult, 6 % positives", schema, rare(train, schema), rare(test, schema)
    for name in ("marital-status", "education"):
        column = next(one for one in schema.columns if one.name == name)
        others = [one for one in schema.columns if one.name not in (name, "education-num")]
        target = Target(column=name, classes=column.categories)  # type: ignore[attr-defined]
        other = Schema(name=name, unit=schema.unit, columns=tuple(others), target=target)
        yield f"{name}, {len(target.classes or ())} classes", other, train, test


def rare(table: Any, schema: Schema, share: float = 0.06) -> Any:
    """The table with so few rows of the second class that they are this share."""
    positive = np.array(table[schema.target.column].to_pylist()) == schema.target.classes[1]  # type: ignore[index]
    kept = round(share / (1 - share) * int((~positive).sum()))
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(positive))[:kept]
    return table.take(np.sort(np.concatenate([np.flatnonzero(~positive), chosen])))


def figures(p: Floats, truth: NDArray[np.int64], answers: NDArray[np.int64]) -> list[float]:
    """Expected calibration error, log loss, Brier score, accuracy, balanced accuracy."""
    two = p.shape[1] == 2
    sure = p[:, 1] if two else p.max(1)
    event = truth == 1 if two else p.argmax(1) == truth
    parts = np.array_split(np.argsort(sure, kind="stable"), GROUPS)
    gaps = [len(one) * abs(sure[one].mean() - event[one].mean()) for one in parts]
    own = np.clip(p[np.arange(len(p)), truth], 1e-12, 1)
    brier = (p**2).sum(1) - 2 * own + 1
    recalls = [(answers[truth == k] == k).mean() for k in np.unique(truth)]
    return [
        sum(gaps) / len(p),
        float(-np.log(own).mean()),
        float(brier.mean() / (2 if two else 1)),
        float((answers == truth).mean()),
        float(np.mean(recalls)),
    ]


def measured(schema: Schema, table: Any, test: Any, seed: int, **options: Any) -> list[float]:
    """The figures of one run on public rows."""
    plan = make_plan(Spec(schema=schema, rows=table.num_rows, **options))
    release = run(plan, table, seed=seed)
    places = {name: i for i, name in enumerate(schema.target.classes or ())}
    cells = test[schema.target.column].to_pylist()
    known = np.array([cell in places for cell in cells])
    truth = np.array([places.get(cell, 0) for cell in cells])[known]
    p = release.predict_proba(test, warn=False).astype(float)[known]
    answers = np.array([places[one] for one in release.predict(test, warn=False)])[known]
    return figures(p, truth, answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    ways: tuple[dict[str, Any], ...] = ({}, {"calibration_share": 0.05})
    print(
        "| table | rows | ε | ECE | log loss | Brier score | accuracy |\n|---|---:|---:|"
        + "---|" * 4
    )
    for name, schema, train, test in tables():
        for rows in (train.num_rows, train.num_rows // 10):
            for epsilon in EPSILONS:
                shown = []
                for way in ways:
                    found = []
                    for seed in range(seeds):
                        order = np.random.default_rng(seed).permutation(train.num_rows)[:rows]
                        part = train.take(np.sort(order))
                        found.append(measured(schema, part, test, seed, epsilon=epsilon, **way))
                    shown.append(np.mean(found, axis=0))
                before, after = shown
                cells = [f"{a:.4f} → {b:.4f}" for a, b in zip(before[:4], after[:4], strict=True)]
                print(f"| {name} | {rows} | {epsilon:g} | {' | '.join(cells)} |", flush=True)
    _, schema, train, test = list(tables())[1]
    print("\n| threshold | ε | accuracy | balanced accuracy |\n|---|---:|---:|---:|")
    for threshold in (None, "balanced", "cost:5"):
        for epsilon in EPSILONS:
            options = {"epsilon": epsilon, "calibration_share": 0.05}
            runs = [
                measured(schema, train, test, seed, **options, decision_threshold=threshold)
                for seed in range(seeds)
            ]
            accuracy, balanced = np.mean(runs, axis=0)[3:]
            print(f"| {threshold or 0.5} | {epsilon:g} | {accuracy:.4f} | {balanced:.4f} |")


if __name__ == "__main__":
    main()
