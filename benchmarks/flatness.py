"""How flat the optimum of each constant of the default encoding is: default plans, one changed.

    python benchmarks/flatness.py               what is not measured yet
    python benchmarks/flatness.py --markdown    the saved results, for docs/representation.md

Simulations, scored on test rows declared public; total epsilon, with all that is learnt. AUC for
two classes, accuracy for more, R2 for numbers. Saved after every cell into results/flatness.json.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from representation import RESULTS, rows_of, scores, targets_of
from representation_data import friedman, numbers
from saved import Saved
from sklearn.datasets import make_friedman1

from honestdp import datasets
from honestdp.datasets import Dataset
from honestdp.planning import defaults, encoding
from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run
from honestdp.schema import Numeric

SEEDS = 5
EPSILONS = (0.3, 1.0, 3.0)


def learnt(data: Dataset) -> Dataset:
    """Every bound is to be learnt within a range ten times as wide."""
    columns = []
    for column in data.schema.columns:
        if isinstance(column, Numeric):
            low, high = column.bounds
            outer = (low - 4.5 * (high - low), high + 4.5 * (high - low))
            column = column.model_copy(update={"bounds": "learn", "outer": outer})
        columns.append(column)
    return data._replace(schema=data.schema.model_copy(update={"columns": tuple(columns)}))


def wide(columns: int) -> Dataset:
    """Friedman's function of five of so many uniform columns: 25,000 made-up rows."""
    inputs, targets = make_friedman1(25_000, n_features=columns, noise=1.0, random_state=1)
    return numbers(f"friedman {columns}", inputs, targets, [(0, 1)] * columns, (0, 30))


@contextmanager
def changed(modules: tuple[Any, ...], name: str, value: Any) -> Iterator[None]:
    """A constant changed in every module that reads it."""
    before = [getattr(module, name) for module in modules]
    for module in modules:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, old in zip(modules, before, strict=True):
            setattr(module, name, old)


PIECES = encoding.PIECES
# Constant: the modules that read it, its name, the values, the default, the tables.
Constant = tuple[tuple[Any, ...], str, tuple[Any, ...], Any, dict[str, Callable[[], Dataset]]]
CONSTANTS: dict[str, Constant] = {
    "share for bounds": (
        (), "learn_share", (0.01, 0.02, 0.05, 0.1, 0.2), 0.05,
        {"Adult": lambda: learnt(datasets.adult()), "Friedman": lambda: learnt(friedman())},
    ),
    "share for the norm of rows": (
        (defaults,), "NORM_SHARE", (0.001, 0.003, 0.01, 0.03, 0.1), 0.01,
        {"Gisette stand-in": datasets.gisette, "ENRON as numbers": datasets.enron},
    ),
    "share for categories": (
        (encoding, defaults), "CATEGORY_SHARE", (0.005, 0.01, 0.02, 0.04, 0.08), 0.02,
        {"Adult": datasets.adult},
    ),
    "32 pieces from": (
        (encoding,), "PIECES",
        tuple(((least, 32), *PIECES[1:]) for least in (2000.0, 4000.0, 8000.0, 1e9)), PIECES,
        {"Adult": datasets.adult, "Friedman": friedman},
    ),
    "curves from": (
        (encoding,), "ANY", (1.0, 2.0, 4.0, 8.0, 32.0), 4.0,
        {f"Friedman of {n} columns": partial(wide, n) for n in (50, 150)},
    ),
    "curves up to": (
        (encoding,), "MOST_CURVES", (50, 100, 200, 400), 200,
        {f"Friedman of {n} columns": partial(wide, n) for n in (80, 150, 300)},
    ),
}  # fmt: skip


def shown(value: Any) -> str:
    """A value as a key: of pieces, where 32 begin."""
    return f"{value[0][0]:g}" if isinstance(value, tuple) else f"{value:g}"


def measure(name: str, table: str, data: Dataset, saved: Saved) -> None:
    modules, field, values, _, _ = CONSTANTS[name]
    truth = targets_of(data.schema, data.validation)
    for epsilon in EPSILONS:
        for value in values:
            key = {"constant": name, "data": table, "epsilon": epsilon, "value": shown(value)}
            if saved.find(**key):
                continue
            more = {} if modules else {field: value}
            facts = {"rows": rows_of(data.train), "epsilon": epsilon}
            with changed(modules, field, value) if modules else nullcontext():
                plan = make_plan(Spec(schema=data.schema, **facts, **more))
                found = [score(plan, data, truth, seed) for seed in range(SEEDS)]
            saved.rows.append(key | {"scores": [round(one, 5) for one in found]})
            saved.write()
            print(*key.values(), statistics.fmean(found), file=sys.stderr, flush=True)


def score(plan: Any, data: Dataset, truth: Any, seed: int) -> float:
    release = run(plan, data.train, seed=seed)
    if data.schema.target.classes is None:
        answers = release.predictor.predict(data.validation, warn=False)
        return scores(data.schema.target.decode(truth), answers)["r2"]
    found = scores(truth, release.predictor.predict_proba(data.validation, warn=False))
    return found.get("auc", found["accuracy"])


def markdown(saved: Saved) -> None:
    print("| constant | table | values | ε = 0.3 | 1 | 3 |\n|---|---|---|---|---|---|")
    for name, (_, _, values, default, tables) in CONSTANTS.items():
        for table in tables:
            marked = [f"**{shown(v)}**" if v == default else shown(v) for v in values]
            cells = []
            for epsilon in EPSILONS:
                rows = [
                    saved.find(constant=name, data=table, epsilon=epsilon, value=shown(v))
                    for v in values
                ]
                found = ["-" if row is None else f"{np.mean(row['scores']):.3f}" for row in rows]
                cells.append(" / ".join(found))
            print(f"| {name} | {table} | {' / '.join(marked)} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a constant's name")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    saved = Saved(RESULTS / "flatness.json", False, {"note": "SIMULATIONS"})
    if options.markdown:
        markdown(saved)
        return
    for name, (*_, tables) in CONSTANTS.items():
        for table, load in tables.items():
            if options.only in name:
                measure(name, table, load(), saved)


if __name__ == "__main__":
    main()
