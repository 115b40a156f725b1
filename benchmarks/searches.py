"""Searches among models and encodings, paid for, beside plans that search nothing: test scores.

    python benchmarks/searches.py                              what is not measured yet
    python benchmarks/searches.py --only Adult --epsilons 1 --lines default,random-subset --seeds 5
    python benchmarks/searches.py --markdown                   the saved results, for the page

Everything goes the way of a user: `make_plan(Spec(schema, rows, epsilon, ...))`, then
`run(plan, table, seed=...)`. So epsilon is the total, with all candidates and their scores. These
are SIMULATIONS, which protect nobody; the test rows are declared public. The lines:
  linear, default    one training, numbers as they are or as the plan encodes them
  both, mlp 32, ...  one training of each other candidate, with the whole epsilon: the best of them
                     on test rows is what a search would find if it were free
  GRID/PROCEDURE     a search, at hit probability 0.9 where the procedure has one
Grids are `models-4` and `encodings-3`. Words and images leave no number open, so there the grid is
`widths-3`: the default, and networks of 32 and 100 hidden units.
Saved after every run into results/searches.json; a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

from representation import Scores, measured, rows_of, scores, targets_of, wanted
from representation_data import Case, pinned
from saved import Saved
from searches_report import (
    CANDIDATES,
    DEFAULT,
    EPSILONS,
    GRIDS,
    LINEAR,
    OWN,
    PROCEDURES,
    SAME,
    TABLES,
    markdown,
    show,
)

from honestdp.datasets import Dataset
from honestdp.errors import InputError
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run
from honestdp.schema import Schema
from honestdp.text import SIMULATION

SEEDS = 10
RESULTS = Path(__file__).parent / "results"


class Bench:
    """One table, loaded once, and the plans of its lines."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.data = case.load()
        self.plan = cache(self._plan)
        self.linear = cache(self._linear)

    def _linear(self) -> Dataset:
        data = self.data if self.case.plain is None else self.case.plain()
        return data._replace(schema=pinned(data.schema))

    def rows(self, line: str) -> Dataset:
        return self.linear() if line == LINEAR else self.data

    def _plan(self, line: str, epsilon: float) -> Plan:
        data = self.rows(line)
        facts = {"schema": data.schema, "rows": rows_of(data.train), "epsilon": epsilon}
        # The test rows are public, so none are held out, as by `tune --test`.
        return make_plan(Spec(**facts, test_share=0.0, **options_of(line, data.schema)))

    def refused(self, line: str, epsilon: float) -> str | None:
        """Why there is no such line on this table; None if there is."""
        try:
            plan = self.plan(line, epsilon)
        except InputError as error:
            return str(error)
        same = plan.spec.encoding.columns == self.plan(DEFAULT, epsilon).spec.encoding.columns
        return SAME if line == LINEAR and same else None

    def score(self, line: str, epsilon: float, seed: int) -> dict[str, Any]:
        data, plan = self.rows(line), self.plan(line, epsilon)
        release = run(plan, data.train, seed=seed)
        truth = targets_of(data.schema, data.validation)
        found: Scores
        if data.schema.target.classes is None:
            predicted = release.predictor.predict(data.validation, warn=False)
            found = scores(data.schema.target.decode(truth), predicted)
        else:
            found = scores(truth, release.predictor.predict_proba(data.validation, warn=False))
        return found | {"won": won(release.predictor.setting)}


def won(setting: Mapping[str, Any]) -> str:
    """What the winner is, of what the grid chooses among."""
    names = ("model", "module__width", "encode")
    return " ".join(str(setting[name]) for name in names if name in setting)


def options_of(line: str, schema: Schema) -> dict[str, Any]:
    """The fields of `Spec` of a line."""
    if line in (LINEAR, DEFAULT):
        return {}
    if line in CANDIDATES:
        return {"grid": [CANDIDATES[line]], "procedure": "untuned"}
    grid, procedure = line.split("/")
    settings = GRIDS[grid]
    if not isinstance(settings, str):
        own = "linear" if schema.target.classes is None else "logistic"
        settings = [one | {"model": own} if one["model"] == OWN else one for one in settings]
    return {"grid": settings} | PROCEDURES[procedure]


def lines_of(case: Case) -> list[str]:
    """The lines of a table, the most telling ones first."""
    grids = TABLES[case.name]
    searches = [f"{grid}/{procedure}" for procedure, grid in product(PROCEDURES, grids)]
    return [DEFAULT, *CANDIDATES, LINEAR, *searches]


def cells(options: argparse.Namespace) -> Iterator[tuple[Bench, float, str]]:
    benches = [Bench(case) for name in TABLES for case in wanted(options.only) if case.name == name]
    for epsilon, bench in product(options.epsilons, benches):
        for line in lines_of(bench.case):
            if any(part in line for part in options.lines):
                yield bench, epsilon, line


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--only", help="tables whose name contains one of these, with commas")
    add("--lines", type=lambda text: text.split(","), default=[""], help="parts of lines' names")
    add("--epsilons", type=lambda text: [float(e) for e in text.split(",")], default=EPSILONS)
    add("--seeds", type=int, default=SEEDS, help="runs of each line")
    add("--fresh", action="store_true", help="forget what is saved")
    add("--markdown", action="store_true", help="show what is saved, for the page")
    add("--results", type=Path, default=RESULTS, help="folder of the results")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    saved = Saved(options.results / "searches.json", options.fresh, {"note": SIMULATION})
    if options.markdown:
        print(markdown(saved.rows))
        return 0
    try:
        todo = list(cells(options))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    for bench, epsilon, line in todo:
        key = {"data": bench.case.name, "epsilon": epsilon, "line": line}
        why = bench.refused(line, epsilon)
        if saved.find(**key) is None:
            noise = None if why else round(bench.plan(line, epsilon).noise_multiplier, 4)
            saved.rows.append(key | {"noise": noise, "refused": why, "runs": []})
        if why is None:
            one = partial(bench.score, line, epsilon)
            measured(saved, key, options.seeds, one)
    show(saved.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
