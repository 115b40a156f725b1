"""What the default encoding of a plan gains: scores on test rows, beside plain numbers.

    python benchmarks/representation.py                        what is not measured yet
    python benchmarks/representation.py --only Adult,MNIST --seeds 2
    python benchmarks/representation.py --peers OTHER_VENV/bin/python
    python benchmarks/representation.py --markdown             the saved results, for the page

Everything goes the way of a user: `make_plan(Spec(schema, rows, epsilon))` without a setting by
hand, then `run(plan, table, seed=...)`. So epsilon is the total, with all that is learnt before the
training. These are SIMULATIONS, which protect nobody; the test rows are declared public. Beside the
default plan:
  linear       the same, but every numeric column pinned to `encode = "linear"`; words and images
               are declared as plain numbers between bounds
  non-private  scikit-learn's logistic (for numbers: ridge) regression on the default's encoded rows
  learnt       bounds, edges and scales that are learnt, on two made-up tables, against declared
               ones (representation_learnt.py)
  peers        DP-EBM (interpret) and diffprivlib's logistic regression, with --peers: they run in
               the Python of another environment, as they are no dependencies of this project
Saved after every run into results/representation.json; a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from representation_data import CASES, Case, pinned
from representation_learnt import ENCODINGS, EPSILON, OUTER, TARGETS, outputs
from representation_peers import PEERS, peer_scores
from representation_report import DEFAULT, LEARNT, LINEAR, NON_PRIVATE, markdown, show
from saved import Row, Saved
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score

from honestdp.datasets import Dataset
from honestdp.errors import InputError
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run
from honestdp.schema import Categorical, Schema
from honestdp.schema.encode import open_rows
from honestdp.schema.learn import ROW_NORM
from honestdp.schema.scaling import squared_norms
from honestdp.text import SIMULATION
from honestdp_reproduction.machine import commit

EPSILONS = (0.3, 1.0, 3.0)
SEEDS = 10
RESULTS = Path(__file__).parent / "results"

Scores = dict[str, float]


class Bench:
    """One table, loaded once, and its plans."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.data = case.load()
        self.plan = cache(self._plan)
        self.linear = cache(self._linear)
        self._fits: list[tuple[Any, Scores]] = []  # by the columns' encoding

    def _linear(self) -> Dataset:
        data = self.data if self.case.plain is None else self.case.plain()
        return data._replace(schema=pinned(data.schema))

    def _plan(self, how: str, epsilon: float) -> Plan:
        data = self.linear() if how == LINEAR else self.data
        return make_plan(Spec(schema=data.schema, rows=rows_of(data.train), epsilon=epsilon))

    def same(self, epsilon: float) -> bool:
        """Whether the default encodes numbers as they are anyway."""
        one, other = (self.plan(how, epsilon).spec.encoding for how in (DEFAULT, LINEAR))
        return one.columns == other.columns

    def private(self, how: str, epsilon: float, seed: int) -> Scores:
        data = self.linear() if how == LINEAR else self.data
        release = run(self.plan(how, epsilon), data.train, seed=seed)
        truth = targets_of(data.schema, data.validation)
        if data.schema.target.classes is None:
            found = release.predictor.predict(data.validation, warn=False)
            return scores(data.schema.target.decode(truth), found)
        return scores(truth, release.predictor.predict_proba(data.validation, warn=False))

    def encoded(self, epsilon: float) -> tuple[Any, NDArray[Any], Any, NDArray[Any]]:
        """Inputs and targets to train on and to test on, as the default plan encodes them; where
        it learns their scale, theirs is exact, and no category counts as rare."""
        schema = self.plan(DEFAULT, epsilon).spec.encoding
        columns = tuple(
            one.model_copy(update={"rare": "keep"}) if isinstance(one, Categorical) else one
            for one in schema.columns
        )
        schema = schema.model_copy(update={"columns": columns})
        train, test = (schema.encode(rows) for rows in (self.data.train, self.data.validation))
        factor = np.float32(ROW_NORM / np.sqrt(squared_norms(train.inputs).mean()))
        return train.inputs * factor, train.targets, test.inputs * factor, test.targets

    def non_private(self, epsilon: float) -> Scores:
        columns = self.plan(DEFAULT, epsilon).spec.encoding.columns
        known = [found for encoding, found in self._fits if encoding == columns]
        if known:
            return known[0]
        inputs, targets, test, truth = self.encoded(epsilon)
        if self.data.schema.target.classes is None:
            found = scores(truth, Ridge(alpha=1.0).fit(inputs, targets).predict(test))
        else:
            model = LogisticRegression(max_iter=1000).fit(inputs, targets)
            found = scores(truth, model.predict_proba(test))
        self._fits.append((columns, found))
        return found


def rows_of(table: Any) -> int:
    return table.num_rows if hasattr(table, "num_rows") else table.shape[0]


def targets_of(schema: Schema, table: Any) -> NDArray[Any]:
    return schema.target.encode(open_rows(schema, table).cells(schema.target.column))


def scores(truth: NDArray[Any], predicted: NDArray[Any]) -> Scores:
    """R2 of numbers; accuracy of classes and, of two, the area under the curve."""
    if predicted.ndim == 1:
        return {"r2": float(r2_score(truth, predicted))}
    found = {"accuracy": float((predicted.argmax(1) == truth).mean())}
    if predicted.shape[1] == 2:
        found["auc"] = float(roc_auc_score(truth, predicted[:, 1]))
    return found


def measured(saved: Saved, key: Row, seeds: int, measure: Callable[[int], Row]) -> None:
    """Bring a cell to so many runs, each saved as soon as it is there."""
    row = saved.find(**key)
    if row is None:
        row = key | {"runs": []}
        saved.rows.append(row)
    for seed in range(len(row["runs"]), seeds):
        began = time.perf_counter()
        found = measure(seed)
        seconds = round(time.perf_counter() - began, 2)
        row["runs"].append({"seed": seed, "commit": commit()} | found | {"seconds": seconds})
        saved.write()
        told = " ".join(f"{name} {value}" for name, value in row["runs"][-1].items())
        print(*key.values(), told, file=sys.stderr, flush=True)


def measure_case(bench: Bench, saved: Saved, options: argparse.Namespace) -> None:
    name = bench.case.name
    for epsilon in EPSILONS:
        for how in (DEFAULT, LINEAR):
            key = {"data": name, "how": how, "epsilon": epsilon}
            if how == LINEAR and (bench.case.no_linear or bench.same(epsilon)):
                if saved.find(**key) is None:
                    saved.rows.append(key | {"runs": [], "same": not bench.case.no_linear})
                continue
            measured(saved, key, options.seeds, lambda s, h=how, e=epsilon: bench.private(h, e, s))
        if not options.private_only:
            key = {"data": name, "how": NON_PRIVATE, "epsilon": epsilon}
            measured(saved, key, 1, lambda _, e=epsilon: bench.non_private(e))
        if options.peers is not None and bench.case.peers:
            measure_peers(bench, saved, epsilon, options)


def measure_peers(bench: Bench, saved: Saved, epsilon: float, options: argparse.Namespace) -> None:
    encoded, plan = bench.encoded(epsilon), bench.plan(DEFAULT, epsilon)
    for peer in PEERS:
        key = {"data": bench.case.name, "how": peer, "epsilon": epsilon}
        measured(
            saved,
            key,
            options.seeds,
            lambda seed, p=peer: peer_scores(options.peers, p, bench.data, encoded, plan, seed),
        )


def measure_learnt(saved: Saved, seeds: int) -> None:
    """Learnt bounds within outer ranges of all widths."""

    def one(target: str, encoding: str, outer: str, seed: int) -> Row:
        truth, predicted, bounds = outputs(target, encoding, outer, seed)
        return scores(truth, predicted) | {"largest cost": float(f"{bounds['cost'][1]:.4g}")}

    for cell in product(TARGETS, ENCODINGS, OUTER):
        key = {"data": cell[0], "how": LEARNT, "encoding": cell[1], "outer": cell[2]}
        key["epsilon"] = EPSILON
        measured(saved, key, seeds, lambda seed, cell=cell: one(*cell, seed))


def wanted(only: str | None) -> Iterator[Case]:
    parts = (only or "").split(",")
    for case in CASES:
        if any(part.strip().lower() in case.name.lower() for part in parts):
            yield case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", help="tables whose name contains one of these, with commas")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="runs of each cell")
    parser.add_argument("--peers", help="Python of an environment with interpret and diffprivlib")
    parser.add_argument("--private-only", action="store_true", help="no scikit-learn")
    parser.add_argument("--fresh", action="store_true", help="forget what is saved")
    parser.add_argument("--markdown", action="store_true", help="show what is saved, for the page")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    facts = {"note": SIMULATION, "scikit-learn": sklearn.__version__}
    saved = Saved(options.results / "representation.json", options.fresh, facts)
    if options.markdown:
        print(markdown(saved.rows))
        return 0
    for case in wanted(options.only):
        try:
            bench = Bench(case)
        except InputError as error:
            print(error, file=sys.stderr)
            return 2
        measure_case(bench, saved, options)
    if any(part.strip().lower() in LEARNT for part in (options.only or "").split(",")):
        measure_learnt(saved, options.seeds)
    show(saved.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
